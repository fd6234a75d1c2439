#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes files whose headers need as much stack as headers can: nested as deep as readers allow.

usage: nested.py FOLDER
"""

import pathlib
import struct
import sys

DEPTH = 120


def safetensors():
    deep = b"[" * DEPTH + b"1.5e3" + b"]" * DEPTH
    header = (b'{"layers.0.w\\u0065ight":{"note":' + deep + b',"dtype":"F32","shape":[4,4],"data_offsets":[0,64]}}')
    return struct.pack("<Q", len(header)) + header + bytes(64)


def text(value):
    return bytes([0x60 + len(value)]) + value


def burnpack():
    deep = b"\x9f\xa1" + text(b"k")
    value = deep * (DEPTH // 2) + b"\x01" + b"\xff" * (DEPTH // 2)
    # An integer as a byte string with a tag, in a shape and in a name of two pieces.
    name = b"\x7f" + text(b"layers.0.") + text(b"weight") + b"\xff"
    entry = (b"\xa4" + text(b"note") + value + text(b"dtype") + text(b"F32") + text(b"shape") + b"\x82\xc2\x41\x04\x04" +
             text(b"data_offsets") + b"\x82\x00\x18\x40")
    scalar = b"\xa1" + text(b"step") + b"\xa1" + text(b"Float") + b"\xf9\x00\x01"
    metadata = b"\xa2" + text(b"tensors") + b"\xa1" + name + entry + text(b"scalars") + scalar
    head = b"NRUB\x01\x00" + struct.pack("<I", len(metadata)) + metadata
    return head + bytes(-len(head) % 256) + bytes(64)


def main():
    folder = pathlib.Path(sys.argv[1])
    (folder / "nested.safetensors").write_bytes(safetensors())
    (folder / "nested.bpk").write_bytes(burnpack())


if __name__ == "__main__":
    main()
