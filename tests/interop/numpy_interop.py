# SPDX-License-Identifier: MIT OR Apache-2.0
"""NumPy's files against NumPy: what it saves and we read, what we write and it loads.

usage: numpy_interop.py [--long]
"""

import hashlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile

import ml_dtypes
import numpy as np

from suite import TOOL, Suite, exit_code, run

# NumPy's code: ours.
DTYPES = {
    "b1": "bool", "u1": "u8", "i1": "i8", "u2": "u16", "i2": "i16", "u4": "u32", "i4": "i32", "u8": "u64",
    "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128",
}
IN_SAFETENSORS = [code for code in DTYPES if code != "c16"]
SHAPES = [(), (1,), (7,), (0,), (2, 3), (3, 0, 2), (1, 4, 1), (2, 3, 4, 5)]


def values(generator, code, shape):
    """Any bits, but for booleans, which are 0 and 1."""
    dtype = np.dtype(code)
    count = int(np.prod(shape)) * dtype.itemsize
    data = generator.integers(0, 2 if dtype.kind == "b" else 256, count, dtype=np.uint8)
    return np.frombuffer(data.tobytes(), dtype=dtype).reshape(shape)


def plain(array):
    """Row by row, little-endian: what we hash and write."""
    return np.array(array, dtype=array.dtype.newbyteorder("<"), order="C")


def entry(array):
    return (DTYPES[array.dtype.str[1:]], list(array.shape), hashlib.sha256(plain(array).tobytes()).hexdigest())


def hashed(path):
    """What the tool says of a file, and what it skipped."""
    answer = json.loads(run(TOOL, "hash", "--json", path))
    tensors = {one["name"]: (one["dtype"], one["shape"], one["sha256"]) for one in answer["tensors"]}
    return tensors, answer


def every_kind(generator):
    """Arrays of every plain dtype, shape, byte order and order of elements, by name."""
    arrays = {}
    for code in DTYPES:
        for order in "<>":
            for shape in SHAPES:
                name = f"{code}/{'little' if order == '<' else 'big'}/{len(arrays)}"
                array = values(generator, order + code, shape)
                arrays[name] = array
                arrays[name + "/fortran"] = np.asfortranarray(array).reshape(shape, order="F")
                if len(shape) > 1:
                    arrays[name + "/turned"] = array.T
    return arrays


def same(left, right):
    return (left.dtype == right.dtype and left.shape == right.shape and
            left.tobytes() == right.tobytes())


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


def check_reading(suite, arrays, folder):
    expected = {name: entry(array) for name, array in arrays.items()}
    for what, save in (("savez", np.savez), ("savez_compressed", np.savez_compressed)):
        path = folder / f"{what}.npz"
        save(path, **arrays)
        with suite.case(what):
            tensors, answer = hashed(path)
            suite.equal(what, tensors, expected)
            suite.equal(f"{what}, format", (answer["format"], answer["container"]), ("numpy", "npz"))
            suite.equal(f"{what}, notes", (answer["notes"], answer["skipped"]), ([], []))
    with suite.case("savez into a pipe"):
        pipe = Pipe()
        np.savez(pipe, **arrays)
        (folder / "pipe.npz").write_bytes(pipe.data)
        suite.equal("savez into a pipe", hashed(folder / "pipe.npz")[0], expected)
    path = folder / "one.npy"
    for name, array in arrays.items():
        with suite.case(f"save, {name}"):
            np.save(path, array)
            tensors, answer = hashed(path)
            suite.equal(f"save, {name}", tensors, {"": entry(array)})
            suite.equal(f"save, {name}: format", (answer["format"], answer["container"]), ("numpy", "npy"))


def check_versions(suite, generator, folder):
    path = folder / "version.npy"
    array = values(generator, "<f4", (5, 3))
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(path, "wb") as file:
            np.lib.format.write_array(file, array, version=version)
        with suite.case(f"version {version}"):
            suite.equal(f"version {version}", hashed(path)[0], {"": entry(array)})


def check_skipped(suite, folder):
    """What is no tensor is listed with the reason, and the rest is read."""
    path = folder / "skipped.npz"
    good = np.arange(3)
    others = {
        "objects": np.array([{"a": 1}, None], dtype=object),
        "structured": np.zeros(2, dtype=[("a", "<f4"), ("b", "<i2", (2,))]),
        "unicode_fields": np.zeros(2, dtype=[("\u00e9", "<f4"), ("\u65e5", "<i2")]),
        "text": np.array(["abc", "d"]),
        "bytes": np.array([b"abc"]),
        "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
        "spans": np.array([5], dtype="timedelta64[ns]"),
    }
    if np.dtype(np.longdouble).itemsize > 8:
        others["long"] = np.zeros(2, dtype=np.longdouble)
        others["complex_long"] = np.zeros(2, dtype=np.clongdouble)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names of fields that ask for version 3.0
        np.savez(path, good=good, **others)
    with suite.case("what is no tensor"):
        tensors, answer = hashed(path)
        suite.equal("what is no tensor, the rest", tensors, {"good": entry(good)})
        suite.equal("what is no tensor", {one["name"] for one in answer["skipped"]}, set(others))
        suite.check("what is no tensor, reasons", all(one["reason"] for one in answer["skipped"]))
        suite.check("what is no tensor, strictly", exit_code(TOOL, "ls", "--strict", path) != 0)
        for name, array in others.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                np.save(folder / "lone.npy", array)
            answer = hashed(folder / "lone.npy")[1]
            suite.equal(f"{name} alone", (answer["tensors"], len(answer["skipped"])), ([], 1))


def check_opaque(suite, folder):
    """NumPy has no name for the types of ml_dtypes: their bits go through as they are."""
    path, copy = folder / "opaque.npz", folder / "opaque_copy.npz"
    arrays = {"b": np.arange(6).astype(ml_dtypes.bfloat16), "f": np.arange(4).astype(ml_dtypes.float8_e4m3fn)}
    np.savez(path, **arrays)
    with suite.case("opaque elements"):
        tensors, answer = hashed(path)
        suite.equal("opaque elements", tensors,
                    {name: (f"raw:<V{array.itemsize}", list(array.shape),
                            hashlib.sha256(array.tobytes()).hexdigest()) for name, array in arrays.items()})
        suite.check("opaque elements, note", answer["notes"])
        run(TOOL, "convert", path, "-f", "-o", copy)
        with np.load(copy) as loaded:
            for name, array in arrays.items():
                suite.equal(f"opaque elements, {name} written", loaded[name].tobytes(), array.tobytes())


def check_npz(suite, what, path, arrays):
    """NumPy, the zip module and unzip agree with what we wrote."""
    with np.load(path) as loaded:
        suite.equal(f"{what}: names", sorted(loaded.files), sorted(arrays))
        wrong = [name for name in loaded.files if not same(loaded[name], plain(arrays[name]))]
        suite.equal(f"{what}: arrays that differ", wrong, [])
    with zipfile.ZipFile(path) as archive:
        suite.equal(f"{what}: checksums", archive.testzip(), None)
        data = path.read_bytes()
        offsets = []
        for info in archive.infolist():
            head = data[info.header_offset:info.header_offset + 30]
            begin = info.header_offset + 30 + sum(
                int.from_bytes(head[at:at + 2], "little") for at in (26, 28))
            offsets.append(begin % 64)
            suite.check(f"{what}: {info.filename} is there",
                        data[begin:begin + info.file_size] == archive.read(info))
        suite.equal(f"{what}: alignment", set(offsets), {0})
    if unzip := shutil.which("unzip"):
        done = subprocess.run([unzip, "-tqq", path], capture_output=True, check=False)
        suite.equal(f"{what}: unzip -t", (done.returncode, done.stdout), (0, b""))


def check_writing(suite, arrays, folder):
    theirs, ours = folder / "theirs.npz", folder / "ours.npz"
    np.savez(theirs, **arrays)
    with suite.case("npz to npz"):
        run(TOOL, "convert", theirs, "-f", "-o", ours)
        check_npz(suite, "npz to npz", ours, arrays)
        suite.equal("npz to npz, read by us", hashed(ours)[0], {name: entry(one) for name, one in arrays.items()})
    with suite.case("dry run"):
        target = folder / "never.npz"
        answer = json.loads(run(TOOL, "convert", "--dry-run", "--json", theirs, "-o", target))
        suite.equal("dry run, bytes", answer["bytes"], ours.stat().st_size)
        suite.check("dry run, no file", not target.exists())
    with suite.case("npz to safetensors to npz"):
        known = {name: one for name, one in arrays.items() if one.dtype.str[1:] in IN_SAFETENSORS}
        np.savez(theirs, **known)
        between = folder / "between.safetensors"
        run(TOOL, "convert", theirs, "-f", "-o", between)
        run(TOOL, "convert", between, "-f", "-o", ours)
        with np.load(ours) as loaded:
            suite.equal("npz to safetensors to npz: names", set(loaded.files), set(known))
            suite.check("npz to safetensors to npz: arrays",
                        all(same(loaded[name], plain(one)) for name, one in known.items()))
    for name, array in arrays.items():
        what = f"npy to npy, {name}"
        with suite.case(what):
            np.save(folder / "a.npy", array)
            run(TOOL, "convert", folder / "a.npy", "-f", "-o", folder / "b.npy")
            np.save(folder / "plain.npy", plain(array))
            suite.same_bytes(what, (folder / "b.npy").read_bytes(), (folder / "plain.npy").read_bytes())


def check_names(suite, folder):
    theirs, ours = folder / "names.npz", folder / "names_ours.npz"
    names = ["w", "W", "a/b.c", "\u00e9\u65e5\U0001f525", "with space", "dots..", "x.npy", "0", "a" * 1000]
    arrays = {name: np.array([number], "<i4") for number, name in enumerate(names)}
    np.savez(theirs, **arrays)
    with suite.case("names"):
        suite.equal("names", hashed(theirs)[0], {name: entry(one) for name, one in arrays.items()})
        run(TOOL, "convert", theirs, "-f", "-o", ours)
        check_npz(suite, "names", ours, arrays)


def check_many(suite, folder):
    """More entries than 16 bits can count."""
    theirs, ours = folder / "many.npz", folder / "many_ours.npz"
    arrays = {f"t{number}": np.array(number % 128, "<i1") for number in range(66_000)}
    np.savez(theirs, **arrays)
    with suite.case("many arrays"):
        run(TOOL, "convert", theirs, "-f", "-o", ours)
        with np.load(ours) as loaded:
            suite.equal("many arrays", len(loaded.files), len(arrays))
            suite.equal("many arrays, the last", int(loaded["t65999"]), 65999 % 128)


def check_refusals(suite, folder):
    two, one = folder / "two.npz", folder / "refused.npy"
    np.savez(two, a=np.zeros(1), b=np.zeros(1))
    suite.check("two arrays in .npy", exit_code(TOOL, "convert", two, "-f", "-o", one) != 0)
    suite.check("two arrays in .npy, no file", not one.exists())
    half = folder / "half.npy"
    np.save(half, np.zeros(1000))
    half.write_bytes(half.read_bytes()[:500])
    suite.check("half a file", exit_code(TOOL, "ls", half) != 0)


def check_large(suite, folder):
    """Beyond 4 GiB: sizes and offsets of 64 bits. The arrays are holes in a file."""
    theirs, ours = folder / "large.npy", folder / "large.npz"
    size = (4 << 30) + 5
    np.lib.format.open_memmap(theirs, mode="w+", dtype="<u1", shape=(size,))[-1] = 7
    with suite.case("a large array"):
        run(TOOL, "convert", theirs, "-f", "--no-sync", "-o", ours)
        with zipfile.ZipFile(ours) as archive:
            suite.equal("a large array: size", archive.infolist()[0].file_size, size + 128)
            suite.equal("a large array: checksum", archive.testzip(), None)
        suite.equal("a large array: read by us", hashed(ours)[0][""][2], hashed(theirs)[0][""][2])


def main():
    suite = Suite()
    generator = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        arrays = every_kind(generator)
        check_reading(suite, arrays, folder)
        check_writing(suite, arrays, folder)
        check_versions(suite, generator, folder)
        check_skipped(suite, folder)
        check_opaque(suite, folder)
        check_names(suite, folder)
        check_many(suite, folder)
        check_refusals(suite, folder)
        if "--long" in sys.argv[1:]:
            check_large(suite, folder)
    suite.finish()


if __name__ == "__main__":
    main()
