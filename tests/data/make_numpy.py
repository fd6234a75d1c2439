# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes numpy-VERSION/, and what NumPy reads in it.

usage: make_numpy.py FOLDER
"""

import hashlib
import io
import pathlib
import shutil
import sys
import warnings

import ml_dtypes
import numpy as np

from truth import entry, write_truth

DTYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", "c16"]


def values(generator, code, shape):
    """Any bits, but for booleans, which are 0 and 1."""
    dtype = np.dtype(code)
    count = int(np.prod(shape)) * dtype.itemsize
    data = generator.integers(0, 2 if dtype.kind == "b" else 256, count, dtype=np.uint8)
    return np.frombuffer(data.tobytes(), dtype=dtype).reshape(shape)


def described(array):
    """Row by row, little-endian."""
    plain = np.array(array, dtype=array.dtype.newbyteorder("<"), order="C")
    # NumPy has no name for the types of ml_dtypes, and keeps their bits.
    dtype = f"raw:{array.dtype.str}".replace("|", "<") if array.dtype.kind == "V" else plain.dtype.name
    return entry(dtype, array.shape, hashlib.sha256(plain.tobytes()).hexdigest())


def is_tensor(array):
    plain = array.dtype.kind in "?buifc" and array.dtype.itemsize <= (16 if array.dtype.kind == "c" else 8)
    return plain or (array.dtype.kind == "V" and array.dtype.names is None)


def read_back(path):
    """What NumPy loads: one array, or several by name."""
    loaded = np.load(path, allow_pickle=True)
    arrays = {"": loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    return {"tensors": {name: described(array) for name, array in arrays.items() if is_tensor(array)},
            "skipped": sorted(name for name, array in arrays.items() if not is_tensor(array))}


class Pipe(io.RawIOBase):
    """A file that can only be appended to, so that sizes follow the data."""

    def __init__(self):
        super().__init__()
        self.data = bytearray()

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def write_archives(folder, generator):
    little = {f"{code.strip('?') or 'bool'}.little": values(generator, "<" + code, (2, 3)) for code in DTYPES}
    big = {f"{code.strip('?') or 'bool'}.big": values(generator, ">" + code, (3, 2)) for code in DTYPES}
    np.savez(folder / "arrays.npz", **little)
    np.savez(folder / "big_endian.npz", **big)
    np.savez_compressed(folder / "deflated.npz", **little, **big, zeros=np.zeros(500, "f4"))
    shapes = {f"shape{i}": values(generator, "<f4", shape)
              for i, shape in enumerate([(), (1,), (0,), (3, 0, 2), (1, 4, 1), (2, 3, 2, 2)])}
    np.savez(folder / "shapes.npz", **shapes, turned=values(generator, "<f8", (2, 3, 4)).T,
             step=np.arange(12)[::5], **{"a/b.c": np.arange(2), "\u00fcml\u00e4ut": np.arange(1)})
    pipe = Pipe()
    np.savez(pipe, a=np.arange(3), b=np.ones((2, 2), "f2"))
    (folder / "pipe.npz").write_bytes(pipe.data)
    np.savez(folder / "opaque.npz", b=np.arange(6).astype(ml_dtypes.bfloat16),
             f=np.arange(4).astype(ml_dtypes.float8_e4m3fn))
    np.savez(folder / "skipped.npz", **{
        "good": np.arange(3), "objects": np.array([{"a": 1}, None], dtype=object),
        "text": np.array(["abc", "d"]), "structured": np.zeros(2, dtype=[("a", "<f4"), ("b", "<i2", (2,))]),
        "bytes": np.array([b"abc"]), "unicode_fields": np.zeros(2, dtype=[("\u00e9", "<f4")]),
        "dates": np.array(["2020-01-01"], dtype="datetime64[D]"), "long": np.zeros(2, dtype=np.longdouble)})


def write_arrays(folder, generator):
    np.save(folder / "fortran.npy", np.asfortranarray(values(generator, "<f4", (3, 4))))
    np.save(folder / "fortran_big.npy", np.asfortranarray(values(generator, ">i2", (2, 3, 4))))
    np.save(folder / "number.npy", np.array(3.5))
    np.save(folder / "none.npy", np.zeros((2, 0), "i8"))
    np.save(folder / "objects.npy", np.array([1, "a"], dtype=object))
    for major in (1, 2, 3):
        with open(folder / f"version{major}.npy", "wb") as file:
            np.lib.format.write_array(file, values(generator, "<f4", (5, 3)), version=(major, 0))


def main():
    warnings.simplefilter("ignore")  # names of fields that ask for version 3.0
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    release = ".".join(np.__version__.split(".")[:2])
    folder = pathlib.Path(sys.argv[1]) / f"numpy-{release}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    generator = np.random.default_rng(7)
    write_archives(folder, generator)
    write_arrays(folder, generator)
    files = sorted(path for path in folder.iterdir())
    write_truth(folder, {path.name: read_back(path) for path in files})
    print(f"{folder.name}: {len(files)} files, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
