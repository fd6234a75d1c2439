# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds of forward_fuzz: layers whose settings, parameters and input fit each other."""

F32, F64, F16, BF16, I64 = 0, 2, 3, 4, 5


def tensor(*shape, dtype=F32):
    return bytes([dtype * 6 + len(shape), *shape, 3])


def maybe(content):
    return b"\x01" + content


def linear(width_in, width_out, dtype=F32):
    return tensor(width_in, width_out, dtype=dtype) + maybe(tensor(width_out))


def gate(width, hidden):
    return linear(width, hidden) + linear(hidden, hidden)


def each(value, rank):
    return bytes([value] * rank)


def convolution(rank, dtype=F32):
    # The kernel is 2 and the padding 1 at both ends, or in 3D, at each.
    sizes = each(2, rank) + each(1, rank) + each(1, rank)
    padding = b"\x02" + each(1, 3 if rank == 3 else 2 * rank)
    return (tensor(4, 3, *each(2, rank), dtype=dtype) + maybe(tensor(4)) + sizes + b"\x01" + padding +
            tensor(2, 3, *each(5, rank)))


def transposed(rank):
    sizes = each(2, rank) + each(2, rank) + each(1, rank)
    return (tensor(3, 4, *each(2, rank)) + maybe(tensor(4)) + sizes + b"\x01" + each(1, rank) + each(1, rank) +
            tensor(2, 3, *each(5, rank)))


def forward_seeds():
    half, eighth, zeros = b"\x04", b"\x01", b"\x00"
    layers = [
        ("linear", 0, linear(3, 4) + tensor(2, 3)),
        ("linear_f16", 0, linear(3, 4, F16) + tensor(2, 3, dtype=BF16)),
        ("linear_f64", 0, linear(3, 4) + tensor(2, 3, dtype=F64)),
        ("linear_of_nothing", 0, linear(0, 4) + tensor(2, 0)),
        *((f"conv{rank}d", rank, convolution(rank)) for rank in (1, 2, 3)),
        ("conv2d_bf16", 2, convolution(2, BF16)),
        *((f"conv_transpose{rank}d", 3 + rank, transposed(rank)) for rank in (1, 2, 3)),
        ("embedding", 7, tensor(7, 3) + tensor(1, 1, dtype=I64)),
        ("batch_norm", 8, tensor(3) * 4 + eighth + tensor(2, 3, 4)),
        ("layer_norm", 9, tensor(4) + maybe(tensor(4)) + eighth + tensor(2, 4)),
        ("group_norm", 10, maybe(tensor(4)) * 2 + eighth + b"\x02\x04\x01" + tensor(2, 4, 3)),
        ("instance_norm", 11, maybe(tensor(4)) * 2 + eighth + b"\x04\x01" + tensor(2, 4, 3)),
        ("rms_norm", 12, tensor(4) + eighth + tensor(2, 4)),
        ("max_pool1d", 13, b"\x03\x02\x01" + b"\x02\x01\x01" + b"\x01" + tensor(2, 3, 7)),
        ("max_pool2d", 14, each(3, 2) + each(2, 2) + each(1, 2) + b"\x02" + each(1, 4) + b"\x01" + tensor(2, 3, 7, 7)),
        ("avg_pool1d", 15, b"\x03\x02" + b"\x02\x01\x01" + b"\x01\x01" + tensor(2, 3, 7)),
        ("avg_pool2d", 16, each(3, 2) + each(2, 2) + b"\x02" + each(1, 4) + b"\x01\x00" + tensor(2, 3, 7, 7)),
        ("adaptive_avg_pool1d", 17, b"\x03" + tensor(2, 3, 7)),
        ("adaptive_avg_pool2d", 18, each(3, 2) + tensor(2, 3, 7, 5)),
        ("adaptive_max_pool1d", 19, b"\x03" + tensor(2, 3, 7)),
        ("adaptive_max_pool2d", 20, each(3, 2) + tensor(2, 3, 7, 5)),
        ("unfold", 21, each(2, 2) * 2 + each(1, 4) + tensor(2, 3, 5, 5)),
        ("interpolate1d", 22, maybe(b"\x05") + zeros + b"\x01\x01" + tensor(2, 3, 4)),
        ("interpolate2d", 23, zeros + maybe(b"\x10\x10") + b"\x02\x00" + tensor(2, 3, 4, 4)),
        ("positional", 24, b"\x05\x04\x07" + tensor(2, 3, 4)),
        ("rotary", 25, b"\x05\x04\x50" + tensor(2, 3, 4)),
        ("lstm", 26, gate(3, 2) * 4 + b"\x00\x07" + b"\x01\x00" + maybe(half) + b"\x06\x07" + tensor(2, 6, 3)),
        ("gru", 27, gate(3, 2) * 3 + b"\x01" + b"\x01\x01" + zeros + b"\x06\x07" + tensor(2, 6, 3)),
        ("unknown_activation", 27, gate(3, 2) * 3 + b"\x01" + b"\x01\x01" + zeros + b"\x0d\x07" + tensor(2, 6, 3)),
        ("heads_of_no_width", 28, linear(0, 0) * 4 + b"\xf3" + half + b"\x00" + tensor(2, 3, 0)),
        ("attention", 28, linear(4, 4) * 4 + b"\x02" + half + b"\x00" + tensor(2, 3, 4)),
        ("cross_attention", 29, linear(4, 4) + linear(3, 2) * 2 + linear(4, 4) + b"\x02" + half + b"\x01" + b"\x01" +
         tensor(2, 3, 4) + tensor(2, 5, 3)),
        ("prelu", 30, tensor(3) + tensor(2, 3, 4)),
    ]
    for name, place, content in layers:
        yield name, bytes([place]) + content
