# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds of NumPy's files, put together by hand."""

import io
import struct
import zipfile


def array_of(header, data=b"", major=1):
    """An array with any header."""
    text = header.encode("utf-8" if major == 3 else "latin-1")
    length = struct.pack("<H" if major == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([major, 0]) + length + text + data


def array(descr, shape, data=b"", order="False", major=1):
    """A good one, or one of which a single thing is wrong; `descr` has its quotes."""
    return array_of(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n", data, major)


def archive(entries, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as target:
        for name, content in entries.items():
            target.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


class Pipe(io.RawIOBase):
    """Cannot seek, so that sizes follow the data."""

    def __init__(self):
        super().__init__()
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def piped(entries):
    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w") as target:
        for name, content in entries.items():
            with target.open(zipfile.ZipInfo(name), "w", force_zip64=True) as entry:
                entry.write(content)
    return pipe.data


def numpy_seeds():
    floats = array("'<f4'", "(2, 3)", bytes(range(24)))
    yield "npy", floats
    yield "scalar", array("'<f8'", "()", bytes(8))
    yield "empty", array("'|b1'", "(0, 7)")
    yield "fortran", array("'<i2'", "(2, 3)", bytes(range(12)), "True")
    yield "big_endian", array("'>c8'", "(2,)", bytes(range(16)))
    yield "fortran_big_endian", array("'>u4'", "(2, 2)", bytes(range(16)), "True")
    yield "version_2", array("'<u1'", "(3,)", b"abc", major=2)
    yield "version_3", array("[('\u65e5', '<f4')]", "(1,)", b"1234", major=3)
    yield "objects", array("'|O'", "(1,)", b"\x80\x04N.")
    yield "structured", array("[('a', '<f4'), ('b', '<i2', (2,))]", "(1,)", bytes(8))
    yield "void", array("'<V2'", "(2, 2)", bytes(8))
    yield "void_fortran", array("'<V2'", "(2, 2)", bytes(8), "True")
    yield "long_integers", array("'<i8'", "(1L, 1L)", bytes(8))
    yield "any_order", array_of('{"shape":(1,),"descr":"<u1","fortran_order":False}', b"x")
    yield "cut", floats[:-1]
    yield "trailing", floats + b"more"
    yield "huge", array("'<f4'", "(18446744073709551615, 2)")
    yield "huge_empty", array("'<f4'", "(0, 18446744073709551615)")
    yield "negative", array("'<f4'", "(-1,)")
    yield "many_dims", array("'<u1'", "(" + "1, " * 64 + ")", b"x")
    yield "nested", array("[" * 40 + "]" * 40, "()")
    entries = {"a.npy": floats, "b/C.npy": array("'>i2'", "(2,)", b"1234"), "b/c.npy": floats,
               "o.npy": array("'|O'", "()", b"N."), "readme.txt": b"text", ".npy": array("'|u1'", "(1,)", b"x")}
    yield "npz", archive(entries)
    yield "npz_deflated", archive(entries, zipfile.ZIP_DEFLATED)
    yield "npz_piped", piped({"a.npy": floats, "b.npy": array("'|u1'", "(1,)", b"x")})
    yield "npz_empty", archive({})
    yield "npz_broken", archive({"a.npy": floats[:-1], "b.npy": b"none", "c.npy": floats})
    yield "npz_names", archive({"a.npy": floats, "a.npy.npy": floats})
