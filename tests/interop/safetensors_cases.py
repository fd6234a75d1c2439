# SPDX-License-Identifier: MIT OR Apache-2.0
"""SafeTensors files at the edge of the format, sorted by who reads them."""

import json


def file_of(header, data=b"", size=None):
    """A file with this header: text, bytes, or an object to be written as JSON."""
    if not isinstance(header, (str, bytes)):
        header = json.dumps(header)
    if isinstance(header, str):
        header = header.encode()
    return (len(header) if size is None else size).to_bytes(8, "little") + header + data


def entry(dtype="U8", shape=(4,), offsets=(0, 4), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


FOUR = b"\x00\x01\x02\x03"
A = '"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}'

REFUSED_BY_ALL = {
    "nothing": b"",
    "seven bytes": bytes(7),
    "a length alone": (60).to_bytes(8, "little"),
    "a length of zero": bytes(8),
    "an immense length": bytes.fromhex("3c00000000ffffff") + b"{}",
    "a header over the limit": file_of("{}", size=100_000_001),
    "a header past the end": file_of({"a": entry()}, size=4000),
    "text that is not UTF-8": file_of(b'{"\xff":1}'),
    "an open brace": file_of("{"),
    "a list": file_of("[]"),
    "a byte order mark": file_of(b"\xef\xbb\xbf{}"),
    "a comment": file_of("{}//"),
    "a comma too many": file_of("{" + A + ",}", FOUR),
    "bytes after the object": file_of("{" + A + "}x", FOUR),
    "zeros after the object": file_of(b"{" + A.encode() + b"}\0\0", FOUR),
    "single quotes": file_of("{" + A.replace('"', "'") + "}", FOUR),
    "a raw control character": file_of('{"a\n":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}', FOUR),
    "a lone surrogate": file_of(r'{"\ud800":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}', FOUR),
    "no dtype": file_of({"a": {"shape": [4], "data_offsets": [0, 4]}}, FOUR),
    "no shape": file_of({"a": {"dtype": "U8", "data_offsets": [0, 4]}}, FOUR),
    "no offsets": file_of({"a": {"dtype": "U8", "shape": [4]}}, FOUR),
    "one offset": file_of({"a": entry(offsets=(0,))}, FOUR),
    "three offsets": file_of({"a": entry(offsets=(0, 4, 4))}, FOUR),
    "a negative size": file_of({"a": entry(shape=(-4,))}, FOUR),
    "a fraction": file_of({"a": entry(shape=(4.0,))}, FOUR),
    "an exponent": file_of("{" + A.replace("[4]", "[4e0]") + "}", FOUR),
    "minus zero": file_of("{" + A.replace("[0,4]", "[-0,4]") + "}", FOUR),
    "a leading zero": file_of("{" + A.replace("[4]", "[04]") + "}", FOUR),
    "a size of 65 bits": file_of({"a": entry(shape=(2**64,))}, FOUR),
    "a size in quotes": file_of({"a": entry(shape=("4",))}, FOUR),
    "a tensor that is null": file_of({"a": None}),
    "offsets that start late": file_of({"a": entry(offsets=(1, 5))}, bytes(5)),
    "offsets that run backwards": file_of({"a": entry(shape=(0,), offsets=(4, 0))}, FOUR),
    "a gap": file_of({"a": entry(), "b": entry(offsets=(5, 9))}, bytes(9)),
    "an overlap": file_of({"a": entry(), "b": entry(offsets=(3, 7))}, bytes(7)),
    "the same bytes twice": file_of({name: entry() for name in "abcdefghij"}, FOUR),
    "bytes after the data": file_of({"a": entry()}, bytes(5)),
    "too few bytes": file_of({"a": entry()}, bytes(3)),
    "a size that disagrees": file_of({"a": entry("F32", (4,))}, FOUR),
    "sizes that overflow": file_of({"a": entry(shape=(2, 2**64 - 2))}, FOUR),
    "bits that overflow": file_of({"a": entry("F64", (2, 2**63 - 1))}, FOUR),
    "half a byte": file_of({"a": entry("F4", (1, 3), (0, 1))}, b"\0"),
    "offsets near 2^64": file_of({"a": entry(offsets=(0, 2**64 - 1), shape=(2**64 - 1,))}),
    "metadata that is a list": file_of({"__metadata__": [], "a": entry()}, FOUR),
    "metadata that is a number": file_of({"__metadata__": {"k": 1}, "a": entry()}, FOUR),
    "metadata that is nested": file_of({"__metadata__": {"k": {}}, "a": entry()}, FOUR),
    "metadata twice": file_of('{"__metadata__":{},"__metadata__":{},' + A + "}", FOUR),
    "a field twice": file_of("{" + A.replace('"shape"', '"dtype":"U8","shape"') + "}", FOUR),
}

# Read by the peers. We refuse them because readers of the format disagree on their meaning.
REFUSED_BY_US_ALONE = {
    "a name twice": file_of("{" + A + "," + A + "}", FOUR),
    "a name twice, once escaped": file_of("{" + A + "," + A.replace('"a"', r'"\u0061"') + "}", FOUR),
    "a metadata key twice": file_of('{"__metadata__":{"k":"1","k":"2"},' + A + "}", FOUR),
    "a tensor as a list": file_of('{"a":["U8",[4],[0,4]]}', FOUR),
    "a dtype as an object": file_of("{" + A.replace('"U8"', '{"U8":null}') + "}", FOUR),
}

# Refused by the peers. We list it, with the dtype as raw, and copy it as it is.
READ_BY_US_ALONE = {
    "an unknown dtype": file_of({"a": entry("F99", (4,))}, FOUR),
}

READ_BY_ALL = {
    "no tensors": file_of("{}"),
    "white space around": file_of("\t\n{}\r "),
    "white space within": file_of("{ " + A.replace(":", " :\n").replace(",", " ,\t") + " }", FOUR),
    "null metadata": file_of('{"__metadata__":null,' + A + "}", FOUR),
    "empty metadata": file_of('{"__metadata__":{},' + A + "}", FOUR),
    "a field we do not know": file_of({"a": entry(more={"x": [1, {}, None, 1e300]})}, FOUR),
    "a scalar": file_of({"a": entry("I32", ())}, FOUR),
    "an empty tensor": file_of({"a": entry("I32", (2, 0), (0, 0))}),
    "empty tensors between others": file_of(
        {"a": entry(), "b": entry(shape=(0,), offsets=(4, 4)), "c": entry(offsets=(4, 8)),
         "d": entry(shape=(0, 9), offsets=(4, 4)), "e": entry(shape=(0,), offsets=(8, 8))}, bytes(8)),
    "an immense but empty shape": file_of({"a": entry(shape=(0, 2**63, 4), offsets=(0, 0))}),
    "an empty name": file_of({"": entry()}, FOUR),
    "NUL in a name": file_of({"a\0b": entry()}, FOUR),
    "escapes": file_of(r'{"\u0061\/\ud83d\udd25":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}', FOUR),
    "data at an odd place": file_of('{"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}} ', FOUR),
    "tensors out of order": file_of({"b": entry(offsets=(4, 8)), "a": entry()}, bytes(range(8))),
}
