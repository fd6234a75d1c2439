# SPDX-License-Identifier: MIT OR Apache-2.0
"""Burnpack files at the edge of the format, sorted by who reads them."""

import struct


class Raw(bytes):
    """CBOR as it is."""


def head(major, number, width=None):
    """The head of an item, as short as can be unless it is given a width in bytes."""
    if width is None:
        width = 0 if number < 24 else next(size for size in (1, 2, 4, 8) if number < 256**size)
    if width == 0:
        return bytes([major << 5 | number])
    return bytes([major << 5 | {1: 24, 2: 25, 4: 26, 8: 27}[width]]) + number.to_bytes(width, "big")


def cbor(value):
    if isinstance(value, Raw):
        return bytes(value)
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", False: b"\xf4", True: b"\xf5"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, dict):
        return map_of(value.items())
    return head(4, len(value)) + b"".join(map(cbor, value))


def map_of(pairs):
    """A map, also with a key twice."""
    pairs = list(pairs)
    return Raw(head(5, len(pairs)) + b"".join(cbor(key) + cbor(value) for key, value in pairs))


def indefinite(major, *items):
    return Raw(bytes([major << 5 | 31]) + b"".join(map(cbor, items)) + b"\xff")


def tagged(tag, value):
    return Raw(head(6, tag) + cbor(value))


def file_of(metadata, data=b"", size=None, version=1, magic=b"NRUB"):
    """A file with this metadata."""
    metadata = cbor(metadata)
    start = magic + version.to_bytes(2, "little")
    start += (len(metadata) if size is None else size).to_bytes(4, "little") + metadata
    return start + bytes(-len(start) % 256) + data


def entry(dtype="U8", shape=(4,), offsets=(0, 4), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


FOUR = b"\x00\x01\x02\x03"


def one(tensor, data=FOUR, **more):
    """A file with one tensor."""
    return file_of({"tensors": {"a": tensor}, **more}, data)


def two(first, second):
    tensors = map_of([(first, entry()), (second, entry(offsets=(256, 260)))])
    return file_of({"tensors": tensors}, FOUR + bytes(252) + b"WXYZ")


def named(name):
    """A file with one tensor of this name."""
    return file_of({"tensors": map_of([(name, entry())])}, FOUR)


def extra(value):
    """A file with a part that nobody knows."""
    return file_of({"tensors": {}, "x": value})


def only_metadata(value):
    return file_of({"tensors": {}, "metadata": value})


def scalar(value):
    return file_of({"tensors": {}, "scalars": {"k": value}})


SCHEME = {"value": "Q8S", "store": "Native", "mode": "Symmetric", "tensor": None, "block": None}
OLD_SCHEME = {"value": "Q8S", "param": "F32", "store": "Native", "level": "Tensor", "mode": "Symmetric"}
Q = FOUR + bytes(4)


def quantized(scheme, data=Q):
    return one(entry({"QFloat": scheme}, offsets=(0, len(data))), data)


def in_blocks(storage, length, data):
    return quantized({**SCHEME, "block": {"size": {"storage": storage, "len": length}, "dtype": "F32"}}, data)


def without(scheme, *keys):
    return {key: value for key, value in scheme.items() if key not in keys}


A = one(entry())

REFUSED_BY_ALL = {
    "nothing": b"",
    "nine bytes": A[:9],
    "ten bytes": A[:10],
    "a cut header": A[:30],
    "no padding and no data": A[:10 + A[6]],
    "a cut padding": A[:200],
    "no data": A[:256],
    "cut data": A[:-1],
    "another magic": file_of({"tensors": {}}, magic=b"BURN"),
    "version 2": file_of({"tensors": {}}, version=2),
    "metadata past the end": file_of({"tensors": {}}, size=4000),
    "metadata of no bytes": file_of({"tensors": {}}, size=0),
    "immense metadata": file_of({"tensors": {}}, size=0xFFFFFFFF),
    "metadata over the limit": file_of({"tensors": {}}, size=(100 << 20) + 1),
    "metadata one byte short": file_of({"tensors": {"a": entry()}}, FOUR, size=A[6] - 1),
    "no tensors": file_of({"metadata": {}}),
    "an empty map": file_of({}),
    "a list": file_of([]),
    "null": file_of(None),
    "an unknown key that is a number": file_of(map_of([(1, 1), ("tensors", {})])),
    "tensors twice": file_of(map_of([("tensors", {}), ("tensors", {})])),
    "metadata twice": file_of(map_of([("tensors", {}), ("metadata", {"k": "v"}), ("metadata", {"k": "w"})])),
    "dtype twice": one(map_of([("dtype", "U8"), *entry().items()])),
    "no dtype": one({"shape": [4], "data_offsets": [0, 4]}),
    "no shape": one({"dtype": "U8", "data_offsets": [0, 4]}),
    "no offsets": one({"dtype": "U8", "shape": [4]}),
    "a tensor that is null": one(None),
    "a tensor that is a list": one(["U8", [4], [0, 4]]),
    "a negative id": one(entry(param_id=-1)),
    "an id that is a float": one(entry(param_id=1.0)),
    "an id that is text": one(entry(param_id="7")),
    "an id of 65 bits": one(entry(param_id=tagged(2, (2**64).to_bytes(9, "big")))),
    "an id as a negative bignum": one(entry(param_id=tagged(3, b"\x07"))),
    "a size that is a float": one(entry(shape=[4.0])),
    "a negative size": one(entry(shape=[-4])),
    "one offset": one(entry(offsets=(0,))),
    "offsets that run backwards": one(entry(shape=[0], offsets=(4, 0))),
    "immense offsets": one(entry(shape=[0], offsets=(2**64 - 1, 2**64 - 1))),
    "offsets beyond 64 bits after the header": one(entry(shape=[1], offsets=(2**64 - 2, 2**64 - 1))),
    "an empty tensor past the end": one(entry(shape=[0], offsets=(512, 512))),
    "too few bytes for the shape": one(entry(shape=[5])),
    "too many bytes for the shape": one(entry(shape=[3])),
    "a size beyond 64 bits": one(entry(shape=[2**63, 4])),
    "a size beyond 64 bits, times zero": one(entry(shape=[2**63, 4, 0], offsets=(0, 0))),
    "a name in pieces that part a letter": named(indefinite(3, Raw(b"\x61\xc3"), Raw(b"\x61\xa9"))),
    "a key in pieces": file_of(map_of([(indefinite(3, "ten", "sors"), {})])),
    "a dtype in pieces": one(entry(indefinite(3, "U", "8"))),
    "a map that never ends": file_of(Raw(b"\xbf\x67tensors\xa0")),
    "a name that is not UTF-8": named(Raw(b"\x61\xff")),
    "a surrogate": named(Raw(b"\x63\xed\xa0\x80")),
    "a name of bytes": named(b"a"),
    "a name that is a number": named(7),
    "metadata of numbers": only_metadata({"k": 1}),
    "metadata of bytes": only_metadata({"k": b"v"}),
    "metadata that is null": only_metadata(None),
    "metadata that is a list": only_metadata([]),
    "tensors that are null": file_of({"tensors": None}),
    "scalars that are null": file_of({"tensors": {}, "scalars": None}),
    "a reserved head": file_of(Raw(b"\xa1\x67tensors\xbc")),
    "a break out of place": extra(Raw(b"\xff")),
    "text in indefinite bytes": extra(indefinite(2, b"a", "b")),
    "an indefinite map of odd length": extra(indefinite(5, "a")),
    "unknown values 128 deep": extra(Raw(b"\x81" * 128 + b"\x00")),
    "unknown values 129 deep": extra(Raw(b"\x81" * 129 + b"\x00")),
    "unknown values 5000 deep": extra(Raw(b"\x81" * 5000 + b"\x00")),
    "a list that claims more than there is": extra(Raw(head(4, 2**40))),
    "text that claims more than there is": extra(Raw(head(3, 2**40))),
    "tensors that claim more than there is": file_of({"tensors": Raw(head(5, 2**40))}),
    "a dtype that is a number": one(entry(12)),
    "a dtype that is null": one(entry(None)),
    "a dtype as a map": one(entry({"U8": None})),
    "a dtype as a map of a unit": one(entry({"U8": []})),
    "a Bool in a map without an end": one(entry(indefinite(5, "Bool", "Native"))),
    "a Bool and more": one(entry({"Bool": "Native", "U8": None})),
    "an empty dtype": one(entry({})),
    "a scalar of another kind": scalar({"Text": "v"}),
    "a bare scalar": scalar(1),
    "a Float that is an integer": scalar({"Float": 1}),
    "an Int that is a float": scalar({"Int": 1.0}),
    "an Int beyond 63 bits": scalar({"Int": 2**63}),
    "an Int below -2^63": scalar({"Int": -2**63 - 1}),
    "a UInt that is negative": scalar({"UInt": -1}),
    "a Bool scalar of 1": scalar({"Bool": 1}),
    "a scalar of two kinds": scalar({"Int": 1, "UInt": 1}),
    "a scalar in a map without an end": scalar(indefinite(5, "Int", 1)),
    "an empty scalar": scalar({}),
}

REFUSED_BY_US_ALONE = {
    "three offsets": one(entry(offsets=(0, 4, 4))),
    "rank 65": one(entry(shape=[1] * 65, offsets=(0, 1))),
    "indefinite text in indefinite text": extra(indefinite(3, indefinite(3, "a"))),
    "a quantized dtype without its map": one(entry(tagged(13, Raw(cbor("QFloat") + cbor(SCHEME))),
                                                   offsets=(0, 8)), Q),
    "a name of 65537 bytes": file_of({"tensors": {"n" * 65537: entry()}}, FOUR),
}

READ_BY_US_ALONE = {
    "a simple value": extra(Raw(b"\xf0")),
    "a simple value of two bytes": extra(Raw(b"\xf8\xff")),
    "a reserved simple value": extra(Raw(b"\xf8\x01")),
    "tags 200 deep": extra(Raw(b"\xc1" * 200 + b"\x00")),
    "an unknown dtype": one(entry("F8")),
    "a dtype in small letters": one(entry("u8")),
    "a bare Bool": one(entry("Bool")),
    "Bool that is null": one(entry({"Bool": None})),
    "a Bool of another kind": one(entry({"Bool": "U16"})),
    "a Bool with a map": one(entry({"Bool": {"Native": None}})),
    "a quantized tensor without a mode": quantized(without(SCHEME, "mode")),
    "a quantized tensor of an unknown value": quantized({**SCHEME, "value": "Q3S"}),
    "a quantized tensor of an unknown mode": quantized({**SCHEME, "mode": "Asymmetric"}),
    "a quantized tensor of an unknown scale": quantized({**SCHEME, "tensor": "F64"}),
    "a block of 256": in_blocks([256, 1, 1, 1, 1], 1, Q),
    "a block with four extents": in_blocks([2, 1, 1, 1], 1, FOUR + bytes(8)),
    "the schema of 0.19": quantized({**OLD_SCHEME, "store": "U32"}),
}

READ_BY_ALL = {
    "a tensor": A,
    "version 0": file_of({"tensors": {}}, version=0),
    "no padding after an empty map of tensors": file_of({"tensors": {}})[:20],
    "keys in another order": file_of(
        {"metadata": {"k": "v"},
         "tensors": {"a": {"data_offsets": [0, 4], "param_id": 7, "shape": [4], "dtype": "U8"}}}, FOUR),
    "unknown keys": file_of({"x": [1, {"y": None}], "tensors": {"a": entry(z=1.5)}, "w": {}}, FOUR),
    "an unknown key of bytes": file_of(map_of([(b"x", 1), ("tensors", {})])),
    "a name twice": two("a", "a"),
    "a key of metadata twice": only_metadata(map_of([("k", "v"), ("k", "w")])),
    "a scalar twice": file_of({"tensors": {}, "scalars": map_of([("k", {"Int": 1}), ("k", {"Int": 2})])}),
    "names out of order": two("b", "a"),
    "an id that is null": one(entry(param_id=None)),
    "an id that is undefined": one(entry(param_id=Raw(b"\xf7"))),
    "the largest id": one(entry(param_id=2**64 - 1)),
    "an id as a bignum": one(entry(param_id=tagged(2, b"\x07"))),
    "an id as a bignum with zeros": one(entry(param_id=tagged(2, bytes(20) + b"\x07"))),
    "a size as a bignum": one(entry(shape=[tagged(2, b"\x04")])),
    "an offset as a bignum": one(entry(offsets=(0, tagged(2, b"\x04")))),
    "offsets of a list without an end": one({**entry(), "data_offsets": indefinite(4, 0, 4)}),
    "zero times a size beyond 64 bits": one(entry(shape=[0, 2**63, 4], offsets=(0, 0))),
    "data that does not start at 0": one(entry(offsets=(1, 5)), bytes(5)),
    "a gap": file_of({"tensors": {"a": entry(), "b": entry(offsets=(512, 516))}}, bytes(516)),
    "no padding between tensors": file_of({"tensors": {"a": entry(), "b": entry(offsets=(4, 8))}}, bytes(8)),
    "an overlap": file_of({"tensors": {"a": entry(), "b": entry(offsets=(2, 6))}}, bytes(6)),
    "the same bytes twice": file_of({"tensors": {"a": entry(), "b": entry()}}, FOUR),
    "bytes after the data": one(entry(), FOUR + b"more"),
    "zeros after the data": one(entry(), FOUR + bytes(252)),
    "padding that is not zero": A.replace(bytes(8), b"\xff" * 8, 1),
    "bytes after the metadata's map": file_of(Raw(cbor({"tensors": {"a": entry()}}) + b"\x00\xff"), FOUR),
    "a map without an end": file_of(indefinite(5, "tensors", {"a": entry()}), FOUR),
    "maps without an end": file_of(indefinite(5, "tensors", indefinite(5, "a", indefinite(
        5, "dtype", "U8", "shape", indefinite(4, 4), "data_offsets", [0, 4]))), FOUR),
    "metadata without an end": only_metadata(indefinite(5, "k", "v")),
    "a name in pieces": named(indefinite(3, "a", "b")),
    "metadata in pieces": only_metadata(map_of([(indefinite(3, "k"), indefinite(3, "v", "", "w"))])),
    "longer heads": file_of(Raw(
        head(5, 1, 8) + head(3, 7, 4) + b"tensors" + head(5, 1, 2) + head(3, 1, 1) + b"a"
        + cbor({"dtype": "U8", "shape": Raw(head(4, 1, 8) + head(0, 4, 8)),
                "data_offsets": Raw(head(4, 2, 1) + head(0, 0, 4) + head(0, 4, 2))})), FOUR),
    "tags": file_of(tagged(55799, map_of([("tensors", tagged(1, {"a": entry()}))])), FOUR),
    "a tagged name": named(tagged(0, "a")),
    "a tagged entry": one(tagged(5, entry())),
    "a tagged dtype": one(entry(tagged(9, "U8"))),
    "a tagged size": one(entry(shape=[tagged(9, 4)])),
    "tagged offsets": one({**entry(), "data_offsets": tagged(9, [0, 4])}),
    "a tagged id": one(entry(param_id=tagged(9, 4))),
    "indefinite bytes": extra(indefinite(2, b"a", b"b")),
    "unknown values 120 deep": extra(Raw(b"\x81" * 120 + b"\x00")),
    "unknown values 126 deep": extra(Raw(b"\x81" * 126 + b"\x00")),
    "unknown values 127 deep": extra(Raw(b"\x81" * 127 + b"\x00")),
    "a native Bool": one(entry({"Bool": "Native"})),
    "Bool bytes beyond 1": one(entry({"Bool": "Native"}), b"\x00\x01\x02\xff"),
    "Bool of four bytes": one(entry({"Bool": "U32"}, shape=[1])),
    "a quantized tensor": quantized(SCHEME),
    "a quantized tensor with an unknown field": quantized({**SCHEME, "new": 1}),
    "a quantized tensor without levels": quantized(without(SCHEME, "tensor", "block")),
    "a quantized tensor with too few bytes": quantized(SCHEME, Q[:-1]),
    "a quantized tensor with too many bytes": quantized(SCHEME, Q + b"\0"),
    "a quantized tensor packed along a dimension that it lacks":
        quantized({**SCHEME, "store": {"PackedU32": 1}}),
    "a block of more dimensions": in_blocks([2, 2, 1, 1, 1], 2, FOUR + bytes(8)),
    "a block of extent 0": in_blocks([0, 1, 1, 1, 1], 1, Q),
    "a block of length 6": in_blocks([2, 1, 1, 1, 1], 6, FOUR + bytes(8)),
    "a block of length 0": in_blocks([1, 1, 1, 1, 1], 0, Q),
    "a block with leading ones": in_blocks([1, 2, 1, 1, 1], 2, FOUR + bytes(8)),
    "the schema of 0.21": quantized(OLD_SCHEME),
    "an Int as a bignum": scalar({"Int": tagged(3, b"\x07")}),
    "a short Float": scalar({"Float": Raw(b"\xf9\x3c\x00")}),
    "a Float longer than need be": scalar({"Float": 1.0}),
    "a name of NUL": file_of({"tensors": {"\0": entry()}}, FOUR),
}
