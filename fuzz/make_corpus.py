#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the seeds of the fuzz targets, fuzz/corpus/TARGET/NAME.

usage: fuzz/make_corpus.py
"""

import json
import pathlib
import struct
import zlib

import burn_seeds
import forward_seeds
import numpy_seeds
import pytorch_seeds
from burn_seeds import data_of

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"

DTYPE_BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8,
    "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
    "I32": 32, "U32": 32, "F32": 32, "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}


def file_of(header, data=b"", length=None):
    """A file with this header text, right or wrong."""
    text = header.encode() if isinstance(header, str) else header
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def model(tensors, metadata=None, padding=0):
    """A good file: tensors are (name, dtype, shape), laid out one after the other."""
    header = {} if metadata is None else {"__metadata__": metadata}
    offset = 0
    for name, dtype, shape in tensors:
        count = 1
        for dim in shape:
            count *= dim
        end = offset + count * DTYPE_BITS[dtype] // 8
        header[name] = entry(dtype, shape, offset, end)
        offset = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False) + " " * padding
    return file_of(text, data_of(offset))


def text_of(tensors):
    return json.dumps(tensors, separators=(",", ":"))


def safetensors_seeds():
    names = list(DTYPE_BITS)
    parts = [names[i::4] for i in range(4)]
    for number, dtypes in enumerate(parts):
        tensors = [(f"layers.{i}.{d.lower()}", d, [2, 4]) for i, d in enumerate(dtypes)]
        yield f"dtypes_{number}", model(tensors)
    matrix = entry("U8", [2, 3], 0, 6)
    good = model([("a.weight", "F32", [3, 4]), ("a.bias", "F32", [3])])
    yield "two_tensors", good
    yield "param_ids", model([("w", "F32", [2])], {"param_ids": '{"w":"72d17eukbtkma"}'})
    yield "no_tensors", file_of("{}")
    yield "scalar", model([("step", "I64", [])])
    yield "no_elements", model([("none", "F16", [0, 7]), ("one", "U8", [1])])
    yield "high_rank", model([("deep", "U16", [1, 2, 1, 3, 2, 1, 2])])
    yield "metadata", model([("w", "BF16", [4])], {"format": "pt", "note": "caf\u00e9"})
    yield "tied_by_metadata", model([("w", "U8", [2])], {"format": "pt", "lm_head": "w"})
    yield "metadata_null", file_of('{"__metadata__":null}')
    yield "metadata_last", file_of('{"w":' + text_of(entry("I8", [1], 0, 1)) +
                                   ',"__metadata__":{"k":"v"}}', b"\x05")
    yield "metadata_key_twice", file_of('{"__metadata__":{"k":"v","k":"w"}}')
    yield "space_padding", model([("w", "F64", [2])], padding=13)
    yield "nul_padding", file_of(b'{"w":' + text_of(matrix).encode() + b"}\0\0\0", data_of(6))
    yield "escapes", file_of(r'{"a\u00e9\ud83d\ude00\n\"":' + text_of(matrix) + "}", data_of(6))
    yield "nul_in_name", file_of(r'{"a\u0000b":' + text_of(matrix) + "}", data_of(6))
    yield "unknown_key", file_of('{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1],'
                                 '"extra":{"a":[1,-2.5e3,true,null,"x"]}}}', b"\x01")
    yield "unknown_dtype", file_of(text_of({"w": entry("Q4_K", [8], 0, 5)}), data_of(5))
    yield "out_of_order", file_of(text_of({"b": entry("U8", [2], 1, 3),
                                           "a": entry("U8", [1], 0, 1)}),
                                  data_of(3))
    yield "name_twice", file_of('{"w":' + text_of(matrix) + ',"\\u0077":' +
                                text_of(entry("U8", [2, 3], 6, 12)) + "}", data_of(12))
    yield "overlap", file_of(text_of({"a": matrix, "b": entry("U8", [4], 4, 8)}), data_of(8))
    yield "gap", file_of(text_of({"a": matrix, "b": entry("U8", [2], 8, 10)}), data_of(10))
    yield "trailing_bytes", good + b"more"
    yield "cut_data", good[:-5]
    yield "cut_header", good[:40]
    yield "huge_length", file_of("{}", length=2**63)
    yield "huge_shape", file_of(text_of({"w": entry("F32", [2**32, 2**32], 0, 4)}), data_of(4))
    yield "huge_empty_shape", file_of(text_of({"w": entry("F32", [0, 2**40, 2**40], 0, 0)}))
    yield "half_a_byte", file_of(text_of({"w": entry("F4", [3], 0, 2)}), data_of(2))


def json_seeds():
    yield "object", b'{"a": 1, "b": [true, false, null], "c": {"d": "e"}}'
    yield "numbers", b"[0, -1, 1.5, -0.0, 1e10, 1E-5, 9223372036854775807, 18446744073709551615]"
    yield "large_number", b"[1e308, 123456789012345678901234567890, 5e-324]"
    yield "too_large_number", b"1e999"
    yield "leading_zero", b"[01]"
    yield "strings", rb'["\"\\\/\b\f\n\r\t", "\u00e9", "\ud83d\ude00", ""]'
    yield "utf8", '["caf\u00e9", "\u65e5\u672c", "\U0001f600"]'.encode()
    yield "bad_utf8", b'["\xc3\x28"]'
    yield "lone_surrogate", rb'["\ud800"]'
    yield "control_character", b'["\x01"]'
    yield "key_twice", rb'{"a":1,"\u0061":2}'
    yield "deep", b"[" * 128 + b"]" * 128
    yield "too_deep", b"[" * 129 + b"]" * 129
    yield "white_space", b" \t\r\n { } \n"
    yield "trailing_comma", b"[1,]"
    yield "trailing_text", b"{} x"
    yield "nothing", b""
    yield "cut", b'{"a": ["b'
    yield "index", json.dumps({"metadata": {"total_size": 24},
                               "weight_map": {"w": "model-00001-of-00001.safetensors"}}).encode()


def layers_seeds():
    yield "rules", b"# andiron layers\nb.*.c  Linear  # weight [2, 3]\na  LayerNorm\n.  other\n"
    yield "first_counts", b"a Linear\n** BatchNorm\n"
    yield "wildcards", b"?.** PRelu\n**.c RmsNorm\n"
    yield "windows", b"a Linear\r\nb.* other\r\n"
    yield "no_kind", b"a # Linear"
    yield "unknown_kind", b"a linear"
    yield "tabs", b"\ta\t\tLinear\t#\t\n\n"
    yield "nothing", b""


def pattern_seeds():
    def seed(pattern, replacement, name):
        return "\n".join((pattern, replacement, name)).encode()

    yield "prefix", seed(r"^model\.", "", "model.layers.0.weight")
    yield "groups", seed(r"layers\.(\d+)\.(weight|bias)", "l$1.$2", "layers.12.weight")
    yield "named_group", seed(r"(?P<kind>gamma|beta)$", "${kind}_x$$", "norm.gamma")
    yield "group_name_runs_on", seed(r"(a)", "$1x", "banana")
    yield "empty_matches", seed(r"x*", "-", "abc")
    yield "any_character", seed(r"(?s).", "<$0>", "a\u00e9\u65e5\U0001f600")
    yield "classes", seed(r"[[:alpha:]_]+\d{1,3}[^.\]]*", "$0$0", "conv2d_1.weight")
    yield "unicode_classes", seed(r"\p{Greek}+|\pL|\P{L}", "u", "\u03b1\u03b2 x1")
    yield "perl_classes", seed(r"\d+\w*\s?\D\W\S", "$0", "12ab .c")
    yield "flags", seed(r"(?i)WEIGHT(?-i:x)?", "w", "Weightx")
    yield "lazy", seed(r"a+?b*?c{2,}?", "", "aabbcc")
    yield "anchors", seed(r"\A(?:a|b)\b.*\B\z", "$9", "a bc")
    yield "many_repeats", seed(r"((a{30}){30})", "$1", "a" * 100)
    yield "look_ahead", seed(r"(?=a)b", "", "ab")
    yield "back_reference", seed(r"(a)\1", "", "aa")
    yield "class_operators", seed(r"[a-z&&[^b]]", "", "abc")
    yield "escapes", seed(r"\x41\x{1F600}\u0041\n\t\.\-", "", "A\U0001f600A\n\t.-")
    yield "unclosed", seed(r"(a[b", "${", "ab")
    yield "glob", seed("encoder.*.weight", "", "encoder.0.weight")
    yield "glob_any_depth", seed("**.bias", "", "a.b.c.bias")
    yield "glob_one_character", seed("layers.?", "", "layers.7")
    yield "not_utf8", b"\xff+\n\xff$0\na\xff\xffb"
    yield "nothing", b""


def inflate_seeds():
    """How it is cut into pieces, then deflate data."""
    def deflated(content, level=9, strategy=zlib.Z_DEFAULT_STRATEGY):
        packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
        return packer.compress(content) + packer.flush()

    text = b"encoder.layers.0.weight encoder.layers.1.weight " * 20
    mixed = bytes((i * i * 7 + i // 3) % 251 for i in range(600))
    whole = b"\0\0"
    yield "dynamic_codes", whole + deflated(text + mixed)
    yield "fixed_codes", whole + deflated(text, 9, zlib.Z_FIXED)
    yield "stored", whole + deflated(mixed, 0)
    yield "runs", whole + deflated(b"a" * 3000, 9, zlib.Z_RLE)
    yield "literals_only", whole + deflated(mixed, 9, zlib.Z_HUFFMAN_ONLY)
    yield "far_back", whole + deflated(mixed + bytes(2000) + mixed)
    yield "byte_by_byte", b"\1\1" + deflated(text)
    yield "odd_pieces", b"\7\3" + deflated(mixed)
    yield "something_after", whole + deflated(b"a") + b"after"
    yield "cut", whole + deflated(text + mixed)[:-9]
    yield "wrong_stored_length", whole + b"\x01\x03\x00\xfc\xfeabc"
    yield "third_kind", whole + b"\x07"
    yield "too_far_back", whole + b"\x4b\x04\x12\x00"
    yield "no_codes", whole + b"\x05\xe0\x81\x00\x00\x00\x00\x00"
    yield "nothing", whole


def index_seeds():
    def index(weight_map, metadata=None):
        tree = {"weight_map": weight_map}
        if metadata is not None:
            tree = {"metadata": metadata, **tree}
        return json.dumps(tree).encode()

    a, b = "a.safetensors", "b.safetensors"
    yield "whole", index({"x": a, "y": a, "z": b}, {"total_size": 6})
    yield "other_home", index({"x": a, "y": b})
    yield "wrong_total", index({"x": a}, {"total_size": 7, "more": [1, "two", {}]})
    yield "negative_total", index({"x": a}, {"total_size": -1})
    yield "no_tensors", index({})
    yield "missing_tensor", index({"w": a})
    yield "wrong_shard", index({"x": b})
    yield "missing_shard", index({"x": "c.safetensors"})
    yield "name_twice", b'{"weight_map":{"x":"a.safetensors","\\u0078":"b.safetensors"}}'
    yield "parent_folder", index({"x": "../a.safetensors"})
    yield "absolute", index({"x": "/a.safetensors"})
    yield "backslash", index({"x": "..\\a.safetensors"})
    yield "subfolder", index({"x": "sub/a.safetensors"})
    yield "dot", index({"x": "./a.safetensors"})
    yield "nul_in_shard", b'{"weight_map":{"x":"a.safetensors\\u0000.safetensors"}}'
    yield "pickle_shard", index({"x": "pytorch_model.bin"})
    yield "number_for_shard", b'{"weight_map":{"x":1}}'
    yield "list_for_map", b'{"weight_map":["x"]}'
    yield "no_map", b'{"model_type":"llama"}'
    yield "cut", index({"x": a})[:-3]
    yield "metadata_text", b'{"metadata":"m","weight_map":{"x":"a.safetensors"}}'


def load_seeds():
    """The flags, then a tensor a line: a character for its shape, and its name."""
    names = []
    for i in range(3):
        names += [("0", f"layers.{i}.attention.weight"), ("2", f"layers.{i}.attention.bias"),
                  ("2", f"layers.{i}.norm.gamma"), ("2", f"layers.{i}.norm.beta")]
    names += [("1", "choice.Linear.weight"), ("3", "choice.Linear.bias"), ("4", "head.weight"),
              ("5", "head.bias")]
    transposed = {"0": "1", "1": "0"}

    def seed(flags, rename, shapes=None):
        lines = [(shapes or {}).get(shape, shape) + rename(name) for shape, name in names]
        return bytes([flags]) + "\n".join(lines).encode()

    yield "fits", seed(0, lambda name: name)
    yield "prefix", seed(0, lambda name: "module." + name)
    yield "pytorch", seed(16, lambda name: name.replace("gamma", "weight").replace("beta", "bias"),
                          transposed)
    yield "gpt", seed(8, lambda name: "transformer." + name.replace("layers", "h")
                      .replace("attention", "attn"))
    yield "gaps", seed(4, lambda name: name.replace("layers.2", "layers.7")
                       .replace("layers.1", "layers.4"))
    yield "wrapped", seed(1, lambda name: "state_dict.model." + name)


def bind_seeds():
    """A byte for the arena and the alignment, then a file that fits the model of the target."""
    def tensors(dtype):
        return [("layers.0.weight", dtype, [2, 2]), ("layers.0.bias", dtype, [3]), ("layers.1.weight", dtype, [2, 2]),
                ("layers.1.bias", "F32", []), ("turned", "I16", [3, 2]), ("other", "U8", [1])]

    for name, arena, dtype in (("aligned", 0xf0, "F32"), ("misaligned", 0xff, "F32"), ("half", 0xf0, "BF16"),
                               ("no_room", 0x10, "F16")):
        file = model([*tensors(dtype), ("mask", "BOOL", [2])])
        yield name, bytes([arena]) + file[:-2] + b"\x01\x00"
    sizes = [16, 12, 16, 4, 12, 1]
    entries = [(name, kind, shape, size) for (name, kind, shape), size in zip(tensors("F32"), sizes)]
    file = burn_seeds.pack([*entries, ("mask", {"Bool": "Native"}, [2], 2)])
    yield "burnpack", b"\xf0" + file[:-2] + b"\x01\x00"


def main():
    for target, seeds in (("safetensors_fuzz", safetensors_seeds()), ("json_fuzz", json_seeds()),
                          ("layers_fuzz", layers_seeds()), ("pattern_fuzz", pattern_seeds()), ("index_fuzz", index_seeds()),
                          ("regex_fuzz", pattern_seeds()), ("inflate_fuzz", inflate_seeds()),
                          ("load_fuzz", load_seeds()), ("bind_fuzz", bind_seeds()),
                          ("forward_fuzz", forward_seeds.forward_seeds()),
                          ("burnpack_fuzz", burn_seeds.burnpack_seeds()),
                          ("cbor_fuzz", burn_seeds.cbor_seeds()),
                          ("msgpack_fuzz", burn_seeds.msgpack_seeds()),
                          ("record_fuzz", burn_seeds.record_seeds()),
                          ("numpy_fuzz", numpy_seeds.numpy_seeds()),
                          ("zip_fuzz", pytorch_seeds.zip_seeds()),
                          ("pickle_fuzz", pytorch_seeds.pickle_seeds()),
                          ("pytorch_fuzz", pytorch_seeds.pytorch_seeds())):
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in seeds:
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
