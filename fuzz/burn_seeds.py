# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds of Burn's formats: Burnpack and older records, and what they are made of."""

import gzip
import json
import struct


def data_of(count):
    return bytes((37 * i + 11) % 256 for i in range(count))


def cbor_head(major, number):
    for info, code, limit in ((24, ">B", 2**8), (25, ">H", 2**16), (26, ">I", 2**32),
                              (27, ">Q", 2**64)):
        if number < 24:
            return bytes([major << 5 | number])
        if number < limit:
            return bytes([major << 5 | info]) + struct.pack(code, number)
    raise ValueError(number)


def cbor(value):
    """CBOR of a value; bytes are taken as CBOR that is already there."""
    if isinstance(value, bytes):
        return value
    if value is None or isinstance(value, bool):
        return {None: b"\xf6", False: b"\xf4", True: b"\xf5"}[value]
    if isinstance(value, int):
        return cbor_head(0, value) if value >= 0 else cbor_head(1, -1 - value)
    if isinstance(value, float):
        return b"\xfb" + struct.pack(">d", value)
    if isinstance(value, str):
        return cbor_head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return cbor_head(4, len(value)) + b"".join(cbor(item) for item in value)
    entries = value.items() if isinstance(value, dict) else value  # a tuple may repeat keys
    return cbor_head(5, len(entries)) + b"".join(cbor(k) + cbor(v) for k, v in entries)


def chunked(text, size=2):
    """A text of indefinite length."""
    parts = [text[i:i + size] for i in range(0, len(text), size)]
    return b"\x7f" + b"".join(cbor(part) for part in parts) + b"\xff"


def endless(value):
    """A list or dict of indefinite length."""
    if isinstance(value, list):
        return b"\x9f" + b"".join(cbor(item) for item in value) + b"\xff"
    return b"\xbf" + b"".join(cbor(k) + cbor(v) for k, v in value.items()) + b"\xff"


PACK_BYTES = {"F64": 8, "F32": 4, "Flex32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2,
              "I8": 1, "U64": 8, "U32": 4, "U16": 2, "U8": 1, "Bool": 1}


def pack_file(metadata, data=b"", aligned=True, size=None, version=1):
    """A Burnpack file with this metadata, right or wrong."""
    text = cbor(metadata)
    head = b"NRUB" + struct.pack("<HI", version, len(text) if size is None else size) + text
    return head + (b"\0" * (-len(head) % 256) if aligned else b"") + data


def descriptor(dtype, shape, begin, end, **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end], **more}


def pack(tensors, metadata=None, scalars=None, aligned=True):
    """A good file: tensors are (name, dtype, shape, bytes)."""
    entries, data = {}, b""
    for i, (name, dtype, shape, size) in enumerate(tensors):
        data += b"\0" * (-len(data) % 256) if aligned else b""
        ids = {"param_id": 7307477237661669944 + i} if i % 2 == 0 else {}
        entries[name] = descriptor(dtype, shape, len(data), len(data) + size, **ids)
        data += data_of(size)
    parts = {"tensors": entries}
    if metadata:
        parts["metadata"] = metadata
    if scalars:
        parts["scalars"] = scalars
    return pack_file(parts, data, aligned)


def block(*sizes):
    return {"storage": list(sizes) + [1] * (5 - len(sizes)), "len": len(sizes)}


def old_scheme(value, store, level, param="F32"):
    return {"QFloat": {"value": value, "param": param, "store": store, "level": level,
                       "mode": "Symmetric"}}


def new_scheme(value, store, tensor=None, block_level=None, mode="Symmetric"):
    return {"QFloat": {"value": value, "store": store, "mode": mode, "tensor": tensor,
                       "block": block_level}}


def said(release):
    return {"format": "burnpack", "producer": "burn", "version": release}


def burnpack_seeds():
    plain = [(name.lower(), name, [2, 3], 6 * size) for name, size in PACK_BYTES.items()]
    two = [("a.weight", "F32", [3, 4], 48), ("a.bias", "F32", [3], 12)]
    weight = descriptor("F32", [2], 0, 8)
    yield "dtypes_0", pack(plain[:7])
    yield "dtypes_1", pack(plain[7:])
    yield "bool_stores", pack([("a", {"Bool": "Native"}, [3], 3), ("b", {"Bool": "U8"}, [2], 2),
                               ("c", {"Bool": "U32"}, [2], 8), ("d", {"Bool": "Bits"}, [9], 2)])
    yield "burn_0_19", pack(two + [("m", "Bool", [2], 2)], said("0.19.1"), aligned=False)
    yield "burn_0_19_one", pack([("w", "U8", [256], 256)], said("0.19.0"), aligned=False)
    yield "burn_0_19_silent", pack([("w", "U8", [7], 7)], aligned=False)
    yield "burn_0_20", pack(two + [("m", "Bool", [2], 2)], said("0.20.1"))
    yield "burn_0_21", pack(two + [("m", {"Bool": "Native"}, [2], 2)], said("0.21.0"))
    yield "burn_0_22_pre", pack(two, said("0.22.0-pre.2"), {"lr": {"Float": 0.001}})
    yield "burn_0_22", pack(two, said("0.22.1"),
                            {"epoch": {"UInt": 3}, "step": {"Int": -7}, "ok": {"Bool": True},
                             "nan": {"Float": b"\xf9\x7e\x01"}, "half": {"Float": b"\xf9\x3c\x00"},
                             "single": {"Float": b"\xfa\x47\x7f\xf0\x00"}})
    yield "quantized_0_19", pack([("t", old_scheme("Q8F", "U32", "Tensor"), [2, 4], 12),
                                  ("n", old_scheme("Q8S", "Native", "Tensor", "F16"), [4], 6)],
                                 said("0.19.1"), aligned=False)
    yield "quantized_0_20", pack([
        ("a", old_scheme("Q4S", {"PackedU32": 0}, "Tensor"), [3, 3], 16),
        ("b", old_scheme("Q8S", "Native", {"Block": block(2, 4)}, "BF16"), [4, 8], 40),
        ("c", old_scheme("E2M1", {"PackedNative": 0}, "Tensor", "UE8M0"), [2, 3], 5)])
    yield "quantized_0_22_pre", pack([
        ("a", old_scheme("Q2F", {"PackedU32": 1},
                         {"BlockTensor": {"block": block(16), "global": "F32"}}, "UE4M3"),
         [32, 2], 16 + 4 + 4)])
    yield "quantized_0_22", pack([
        ("a", new_scheme("Q8F", {"PackedU32": 0}), [5], 12),
        ("b", new_scheme("Q2S", {"PackedU32": 0}, "F16"), [17], 10),
        ("c", new_scheme("E4M3", {"PackedU32": 0}, "F32", {"size": block(4), "dtype": "F16"}),
         [2, 8], 16 + 8 + 4),
        ("d", new_scheme("E5M2", {"PackedNative": 0}, None, {"size": block(1, 4), "dtype": "F32"}),
         [2, 4], 8 + 8),
        ("e", new_scheme("Q4F", {"PackedU32": 1}, None, {"size": block(2, 2), "dtype": "BF16"}),
         [3, 2], 8 + 4),
        ("f", new_scheme("Q8S", "Native", mode="Lookup"), [], 5)])
    yield "quantized_unknown", pack([("a", {"QFloat": {"value": "Q3X", "bits": [1, {}]}}, [4], 3)])
    yield "quantized_no_block", pack([("a", new_scheme("Q8S", "Native", None,
                                                       {"size": block(0), "dtype": "F32"}),
                                       [4], 8)])
    yield "unknown_dtype", pack([("a", "F8", [3], 3), ("b", {"Complex": ["F32", 2]}, [1], 8)])
    yield "no_tensors", pack([])
    yield "no_tensors_cut", pack_file({"tensors": {}}, aligned=False)
    yield "scalar_and_empty", pack([("s", "I64", [], 8), ("none", "F16", [0, 7], 0)])
    yield "empty_after_metadata", pack([("none", "F16", [0], 0)], aligned=False)
    yield "high_rank", pack([("deep", "U16", [1, 2, 1, 3, 2, 1, 2], 48)])
    yield "utf8_name", pack([("caf\u00e9.\U0001f600", "U8", [1], 1), ("", "U8", [1], 1)])
    yield "bytes_after", pack(two) + b"more"
    yield "padding_dirty", pack(two).replace(b"\0\0\0\0", b"\0\1\0\0", 1)

    yield "any_order", pack_file({"scalars": {"x": {"Int": 1}}, "metadata": {"k": "v"}, "tensors": {
        "w": {"data_offsets": [0, 8], "param_id": None, "shape": [2], "dtype": "F32"}}},
        data_of(8))
    yield "unknown_keys", pack_file({"more": [1, {"a": -2.5}, b"\xf7"], "tensors": {
        "w": {**weight, "extra": {1: b"\x42ab", b"\xf4": b"\xc2\x49" + b"\1" * 9}}}}, data_of(8))
    yield "endless", pack_file(endless({"tensors": endless({chunked("weight"): endless(
        {"dtype": "F32", "shape": endless([2]), "data_offsets": endless([0, 8])})}),
        "metadata": endless({chunked("key"): chunked("value")}), "x": chunked("") + b""}),
        data_of(8))
    yield "tags", pack_file(b"\xd9\xd9\xf7" + cbor({"tensors": b"\xc1" + cbor({
        "w": b"\xc0" + cbor({"dtype": b"\xc5" + cbor("U8"), "shape": [b"\xc0\x02"],
                             "data_offsets": [b"\xc2\x40", b"\xc2\x41\x02"],
                             "param_id": b"\xc2\x48" + b"\xff" * 8})})}), data_of(2))
    yield "long_numbers", pack_file({"tensors": {"w": {
        "dtype": b"\x78\x02U8", "shape": [b"\x1b" + b"\0" * 7 + b"\2"],
        "data_offsets": [b"\x18\x00", b"\x19\x00\x02"], "param_id": b"\xf7"}}}, data_of(2))
    yield "words_as_bytes", pack_file({b"\x47tensors": {"w": {b"\x45dtype": "U8", "shape": [],
                                                              "data_offsets": [0, 1]}}}, b"\1")
    yield "trailing_metadata", pack_file(cbor({"tensors": {"w": weight}}) + b"\0junk", data_of(8))
    yield "version_0", pack_file({"tensors": {"w": weight}}, data_of(8), version=0)
    yield "name_twice", pack_file({"tensors": (("w", weight), ("v", descriptor("U8", [1], 8, 9)),
                                               ("w", descriptor("U8", [4], 256, 260)))},
                                  data_of(260))
    yield "keys_twice", pack_file({"tensors": {}, "metadata": (("k", "a"), ("k", "b")),
                                   "scalars": (("x", {"Int": 1}), ("x", {"Bool": False}))})
    yield "overlap", pack_file({"tensors": {"a": weight, "b": descriptor("U8", [6], 4, 10)}},
                               data_of(10))
    yield "wrong_size", pack_file({"tensors": {"a": descriptor("F32", [3], 0, 13)}}, data_of(13))

    yield "short", b"NRUB\1\0"
    yield "version_2", pack_file({"tensors": {}}, version=2)
    yield "huge_metadata", pack_file({"tensors": {}}, size=2**32 - 1)
    yield "metadata_cut", pack_file({"tensors": {"w": weight}}, aligned=False)[:-9]
    yield "data_cut", pack(two)[:-5]
    yield "no_tensor_map", pack_file({"metadata": {"k": "v"}})
    yield "part_twice", pack_file((("tensors", {}), ("tensors", {})))
    yield "field_twice", pack_file({"tensors": {"w": (("dtype", "U8"), ("dtype", "U8"))}})
    yield "field_missing", pack_file({"tensors": {"w": {"dtype": "U8", "shape": [1]}}})
    yield "backwards", pack_file({"tensors": {"w": descriptor("U8", [1], 9, 8)}}, data_of(9))
    yield "huge_offsets", pack_file({"tensors": {
        "w": descriptor("Raw", [1], 2**64 - 9, 2**64 - 1)}}, data_of(9))
    yield "huge_empty_offsets", pack_file({"tensors": {
        "w": descriptor("U8", [0], 2**64 - 1, 2**64 - 1)}}, data_of(9))
    yield "huge_shape", pack_file({"tensors": {
        "w": descriptor("F32", [2**32, 2**32], 0, 4)}}, data_of(4))
    yield "huge_announced", pack_file({"tensors": b"\xbb" + b"\xff" * 8})
    yield "rank_65", pack_file({"tensors": {"w": descriptor("U8", [1] * 65, 0, 1)}}, b"\1")
    yield "float_as_integer", pack_file({"tensors": {}, "scalars": {"x": {"Float": 1}}})
    yield "integer_too_large", pack_file({"tensors": {}, "scalars": {"x": {"Int": 2**63}}})
    for name, levels in (("deep", 127), ("too_deep", 128)):
        yield name, pack_file({"x": b"\x81" * levels + b"\0", "tensors": {}})
    yield "deep_dtype", pack_file({"tensors": {"w": descriptor(
        {"QFloat": {"level": {"BlockTensor": {"x": b"\x81" * 122 + b"\0"}}}}, [1], 0, 1)}}, b"\1")


def cbor_seeds():
    def seed(script, *items):
        return bytes([len(script)]) + bytes(script) + b"".join(cbor(item) for item in items)

    (text, word, number, integer, floating, boolean, null, a_list, a_map, more, quick,
     skip) = range(12)
    numbers = [0, 23, 24, 255, 256, 65535, 65536, 2**32, 2**64 - 1]
    yield "numbers", seed([number] * 9, *numbers)
    yield "integers", seed([integer] * 6, -1, -24, -25, -(2**31), -(2**63), 2**63 - 1)
    yield "quick_numbers", seed([quick] * 9, *numbers)
    yield "bignums", seed([number, integer, number], b"\xc2\x48" + b"\xff" * 8, b"\xc3\x41\x07",
                          b"\xc1\xc2\x5f\x41\x01\x42\x02\x03\xff")
    yield "bignum_too_large", seed([number], b"\xc2\x49" + b"\x01" * 9)
    yield "halves", seed([floating] * 8, b"\xf9\x3c\x00", b"\xf9\x00\x01", b"\xf9\x80\x00",
                         b"\xf9\x7c\x00", b"\xf9\xfc\x00", b"\xf9\x7e\x00", b"\xf9\x7b\xff",
                         b"\xf9\x04\x00")
    yield "floats", seed([floating] * 5, b"\xfa\x47\x7f\xf0\x00", b"\xfa\x7f\x80\x00\x01",
                         b"\xfa\x00\x00\x00\x01", 0.001, b"\xfb\x7f\xf0" + b"\0" * 5 + b"\1")
    yield "simple", seed([boolean, boolean, null, null, skip, skip], True, False, None, b"\xf7",
                         b"\xf0", b"\xf8\xff")
    yield "texts", seed([text, word, quick, text, text], "dtype", "shape", "F32", chunked("names"),
                        "caf\u00e9 \U0001f600")
    yield "bytes", seed([word, skip, skip], b"\x45dtype", b"\x42\xff\xfe",
                        b"\x5f\x41\xff\x42\xfe\xfd\xff")
    yield "list", seed([a_list, more, number, more, number, more], [1, 2])
    yield "endless_list", seed([a_list, more, number, more, text, more], endless([1, "a"]))
    yield "map", seed([a_map, more, text, number, more, text, skip, more], {"a": 1, "b": [{}]})
    yield "endless_map", seed([a_map, more, word, number, more], endless({"a": 1}))
    yield "tags", seed([skip, text, a_list], b"\xd9\xd9\xf7\xc1\x01", b"\xc0" + cbor("t"),
                       b"\xdb" + b"\xff" * 8 + b"\x80")
    yield "deep", seed([skip], b"\x81" * 127 + b"\x80")
    yield "too_deep", seed([skip], b"\x9f" * 129 + b"\xff" * 129)
    yield "odd_map", seed([skip], b"\xbf\x01\xff")
    yield "wrong_chunk", seed([text, skip], b"\x7f\x41a\xff")
    yield "bad_utf8", seed([text], b"\x63\xed\xa0\x80")
    yield "split_character", seed([text], b"\x7f\x61\xc3\x61\xa9\xff")
    yield "reserved", seed([skip], b"\x1c")
    yield "lonely_end", seed([skip], b"\xff")
    yield "huge_list", seed([skip], b"\x9b" + b"\xff" * 8 + b"\1")
    yield "huge_map", seed([a_map, more, skip], b"\xbb" + b"\xff" * 8 + b"\1\2")
    yield "huge_text", seed([text], b"\x7b" + b"\xff" * 8 + b"abc")
    yield "cut", seed([number], b"\x1b\1\2")


def msgpack(value):
    """MessagePack of a value; a tuple holds MessagePack that is already there."""
    if isinstance(value, tuple):
        return value[0]
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        if value >= 0:
            forms = ((0xcc, ">B", 2**8), (0xcd, ">H", 2**16), (0xce, ">I", 2**32),
                     (0xcf, ">Q", 2**64))
            if value < 128:
                return bytes([value])
            return next(bytes([marker]) + struct.pack(code, value)
                        for marker, code, limit in forms if value < limit)
        forms = ((0xd0, ">b", 2**7), (0xd1, ">h", 2**15), (0xd2, ">i", 2**31), (0xd3, ">q", 2**63))
        if value >= -32:
            return bytes([value & 0xff])
        return next(bytes([marker]) + struct.pack(code, value)
                    for marker, code, limit in forms if value >= -limit)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, bytes):
        return b"\xc4" + bytes([len(value)]) + value
    if isinstance(value, str):
        text = value.encode()
        size = len(text)
        return (bytes([0xa0 | size]) if size < 32 else b"\xd9" + bytes([size])) + text
    count = len(value)
    if isinstance(value, list):
        head = bytes([0x90 | count]) if count < 16 else b"\xdc" + struct.pack(">H", count)
        return head + b"".join(msgpack(item) for item in value)
    head = bytes([0x80 | count]) if count < 16 else b"\xde" + struct.pack(">H", count)
    return head + b"".join(msgpack(k) + msgpack(v) for k, v in value.items())


def msgpack_seeds():
    yield "numbers", b"".join(msgpack(n) for n in (
        0, 127, 128, 255, 256, 65535, 65536, 2**32, 2**64 - 1, -1, -32, -33, -128, -129, -(2**15),
        -(2**31), -(2**63)))
    yield "long_forms", (b"\xcc\x01\xcd\x00\x01\xce\0\0\0\1\xcf\0\0\0\0\0\0\0\1\xd0\x01\xd1\xff\xff"
                         b"\xd2\xff\xff\xff\xff\xd3\0\0\0\0\0\0\0\5")
    yield "floats", b"\xca\x3f\x80\0\0\xca\x7f\x80\0\1\xca\x7f\xc0\0\0" + msgpack(0.001)
    yield "simple", b"\xc0\xc2\xc3"
    yield "texts", msgpack("id") + msgpack("caf\u00e9") + msgpack("x" * 40) + b"\xda\0\2ab" + \
        b"\xdb\0\0\0\1c"
    yield "bytes", msgpack(b"\xff\0") + b"\xc5\0\1a\xc6\0\0\0\2bc"
    yield "extensions", b"\xd4\1a\xd5\2ab\xd6\3abcd\xc7\3\7abc\xc8\0\1\x05a\xc9\0\0\0\0\x06"
    yield "tree", msgpack({"a": [1, {"b": None}], "c": {"d": [True, -5, 1.5, b"x"]}})
    yield "long_lists", msgpack(list(range(20))) + msgpack({str(i): i for i in range(17)}) + \
        b"\xdd\0\0\0\1\0\xdf\0\0\0\1\0\0"
    yield "deep", b"\x91" * 127 + b"\x90"
    yield "too_deep", b"\x91" * 129 + b"\xc0"
    yield "bad_utf8", b"\xa2\xc3\x28"
    yield "no_value", b"\xc1"
    yield "huge_list", b"\xdd\xff\xff\xff\xff\0"
    yield "huge_text", b"\xdb\xff\xff\xff\xffabc"
    yield "cut", b"\xcf\1\2"


PARAM_ID = "72d17eukbtkma"


def record_metadata(release="0.21.0", float_type="f32", int_type="i32"):
    return {"float": float_type, "int": int_type,
            "format": "burn_core::record::file::NamedMpkFileRecorder<"
                      "burn_core::record::settings::FullPrecisionSettings>",
            "version": release, "settings": "FullPrecisionSettings"}


def tensor(dtype, shape, data):
    return {"bytes": data, "shape": shape, "dtype": dtype}


def param(dtype, shape, data, number=0):
    return {"id": PARAM_ID[:-1] + "abcdefgh"[number], "param": tensor(dtype, shape, data)}


def floats(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def net_record():
    """The record of the module that the target loads into."""
    return {"fc": {"weight": param("F32", [2, 3], floats(1, 2, 3, 4, 5, 6)),
                   "bias": param("F32", [3], floats(7, 8, 9), 1)},
            "norm": {"gamma": param("F32", [3], floats(1, 1, 1), 2),
                     "beta": param("F32", [3], floats(0, 0, 0), 3), "epsilon": None}}


def record(item, metadata=None):
    return msgpack({"metadata": metadata or record_metadata(), "item": item, "_b": []})


def with_lists(value):
    """The same tree with bytes as lists of numbers, as in JSON."""
    if isinstance(value, bytes):
        return list(value)
    if isinstance(value, dict):
        return {key: with_lists(item) for key, item in value.items()}
    return [with_lists(item) for item in value] if isinstance(value, list) else value


def json_record(item, metadata=None, indent=None):
    tree = {"metadata": metadata or record_metadata(), "item": with_lists(item), "_b": None}
    return json.dumps(tree, indent=indent).encode()


def bincode_count(number):
    if number <= 250:
        return bytes([number])
    return b"\xfb" + struct.pack("<H", number) if number < 2**16 else \
        b"\xfc" + struct.pack("<I", number)


def bincode_text(text):
    data = text.encode() if isinstance(text, str) else text
    return bincode_count(len(data)) + data


def bincode(*parts, release="0.19.0"):
    recorder = "burn_core::record::file::BinFileRecorder<FullPrecisionSettings>"
    head = ("f32", "i32", recorder, release, "FullPrecisionSettings")
    return b"".join(bincode_text(text) for text in head) + b"".join(parts)


def bincode_param(name, data, shape, code):
    return bincode_text(name) + bincode_text(data) + bincode_count(len(shape)) + \
        b"".join(bincode_count(dim) for dim in shape) + code


def record_seeds():
    net = net_record()
    yield "net", record(net)
    yield "net_json", json_record(net)
    yield "net_json_pretty", json_record(net, indent=2)
    yield "net_gz", gzip.compress(record(net), mtime=0)
    yield "net_json_gz", gzip.compress(json_record(net), mtime=0)
    yield "two_members", gzip.compress(record(net)[:99], mtime=0) + \
        gzip.compress(record(net)[99:], mtime=0)
    yield "gz_cut", gzip.compress(record(net), mtime=0)[:-9]
    yield "gz_damaged", gzip.compress(record(net), mtime=0)[:-8] + b"\0" * 8
    types = [(name, size) for name, size in PACK_BYTES.items()]
    yield "dtypes_0", record({d.lower(): param(d, [2], data_of(2 * n)) for d, n in types[:7]})
    yield "dtypes_1", record({d.lower(): param(d, [2], data_of(2 * n)) for d, n in types[7:]},
                             record_metadata("0.20.1"))
    yield "bools", record([param({"Bool": "Native"}, [2], b"\1\0"),
                           param({"Bool": "U8"}, [2], b"\1\0", 1),
                           param({"Bool": "U32"}, [1], b"\1\0\0\0", 2)])
    quantized = old_scheme("Q8S", "Native", "Tensor")
    yield "quantized", record({
        "a": param(quantized, [4], data_of(8)),
        "b": param(old_scheme("Q4S", {"PackedU32": 0}, {"Block": block(8)}, "F16"), [16],
                   data_of(12), 1)})
    yield "quantized_0_19", record({"a": param(old_scheme("Q8F", "U32", "Tensor"), [4],
                                               data_of(8))}, record_metadata("0.19.1"))
    yield "quantized_unknown", record({"a": param({"QFloat": {"value": "Q3X"}}, [4], b"abc")})
    yield "unknown_dtype", record({"a": param("F8", [3], b"abc")})
    yield "nested", record({"layers": [{"w": param("F32", [1], floats(i), i)} for i in range(3)],
                            "choice": {"Linear": {"w": param("I64", [1], b"\5" + b"\0" * 7, 4)}},
                            "none": None, "config": {"n": 3, "p": 0.5, "s": "x", "k": -1,
                                                     "t": True, "raw": b"ab"}})
    yield "bare_tensor", record(tensor("F32", [2], floats(1, 2)))
    yield "bare_in_list", record([tensor("F32", [], floats(1)), [], {}])
    yield "no_item", msgpack({"metadata": {"k": "v"}, "w": tensor("U8", [2], b"ab")})
    yield "item_first", msgpack({"item": {"w": param("U8", [2], b"ab")}, "metadata": {}})
    yield "no_tensor", record({"a": None})
    old = {"value": [1.0, 2.5], "shape": [2]}
    yield "old_floats", record({"w": {"id": PARAM_ID, "param": old}},
                               record_metadata("0.13.0"))
    yield "old_integers", json_record({"w": {"id": PARAM_ID, "param": {"value": [1, -2],
                                                                       "shape": {"dims": [2]}}}})
    yield "old_halves", record({"w": {"value": [15360, 16384], "shape": [2]},
                                "v": {"value": [-5], "shape": [1]}},
                               record_metadata("0.13.0", "half::binary16::f16", "i16"))
    yield "old_bools", record({"w": {"value": [True, False], "shape": [2]}})
    yield "old_doubles", record({"w": {"value": [2**40], "shape": [1]}},
                                record_metadata("0.13.0", "f64", "i64"))
    yield "values_of_no_tensor", record({"w": param("U8", [1], b"a"),
                                         "x": {"value": [1, 2], "other": 1},
                                         "y": {"bytes": b"abc"}, "z": {"value": ["a", 1]}})
    yield "large_values_of_no_tensor", record({"w": param("U8", [1], b"a"),
                                               "x": {"value": [2**40]}},
                                              record_metadata("0.21.0", "f64", "i64"))
    yield "param_before_id", record({"w": {"param": tensor("U8", [1], b"a"), "id": PARAM_ID}})
    yield "uuid", record({"w": {"id": "a56ce5cf-1c0e-4b3b-9d2e-1f6b0c7d8e9f",
                                "param": tensor("U8", [1], b"a")}})
    yield "foreign_id", record({"w": {"id": "mine", "param": tensor("U8", [1], b"a")}})
    yield "param_of_no_parameter", record({"w": {"id": 5, "param": tensor("U8", [1], b"a")},
                                           "v": {"id": "x", "param": None}})
    yield "dotted_keys", record({"a.b": param("U8", [1], b"a"), "a": {"c": param("U8", [1], b"b")},
                                 "": {"": param("U8", [1], b"c", 2)}})
    yield "dotted_collision", record({"a.b": param("U8", [1], b"a"),
                                      "a": {"b": param("U8", [1], b"b")}})
    yield "key_twice", msgpack({"item": (b"\x82\xa1w\xc0\xa1w\xc0",)})
    yield "trailing_bytes", record(net) + b"\xc0"
    yield "wrong_size", record({"w": param("F32", [2], b"abc")})
    yield "huge_shape", record({"w": param("F32", [2**32, 2**32], b"abcd")})
    yield "bad_shape", record({"w": param("F32", [-1], b"abcd")})
    yield "byte_too_large", json_record({}).replace(b'{}', b'{"bytes":[1,256]}')
    yield "extension", msgpack({"item": (b"\xd4\1a",)})
    yield "huge_bytes", msgpack({"item": {"bytes": (b"\xc6\xff\xff\xff\xffabc",)}})
    yield "huge_list", msgpack({"item": (b"\xdd\xff\xff\xff\xff\xc0",)})
    # Around the tree: the record, and above the leaf a parameter and a tensor.
    for name, levels in (("deep", 118), ("deeper", 123), ("too_deep", 130)):
        leaf = msgpack(param("U8", [1], b"a"))
        yield name, msgpack({"item": (b"\x91" * levels + leaf,)})
    yield "cut", record(net)[:-60]

    f32 = b"\1"
    weight = bincode_param(PARAM_ID, floats(1, 2, 3, 4, 5, 6), [2, 3], f32)
    threes = [bincode_param(PARAM_ID[:-1] + c, floats(1, 2, 3), [3], f32) for c in "abc"]
    yield "bincode", bincode(weight, b"\1", *threes, b"\0")
    yield "bincode_gz", gzip.compress(bincode(weight, b"\1", *threes, b"\0"), mtime=0)
    yield "bincode_uuid", bincode(bincode_param("a56ce5cf-1c0e-4b3b-9d2e-1f6b0c7d8e9f",
                                                floats(1, 2, 3, 4, 5, 6), [2, 3], f32), *threes)
    yield "bincode_bool", bincode(bincode_param(PARAM_ID, b"\1", [1], b"\x0d\0"), *threes,
                                  release="0.21.0")
    yield "bincode_quantized", bincode(bincode_param(PARAM_ID, b"abcd", [4], b"\x0e"))
    yield "bincode_too_few", bincode(weight, threes[0])
    yield "bincode_cut", bincode(weight, *threes)[:-20]
    yield "bincode_huge", bincode(bincode_text(PARAM_ID), b"\xfd" + b"\xff" * 8)
