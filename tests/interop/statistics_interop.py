# SPDX-License-Identifier: MIT OR Apache-2.0
"""Statistics and differences against NumPy: random tensors of every dtype, sizes 0, 1 and many, with NaN,
infinities, denormals and negative zeros.

usage: statistics_interop.py [--long]
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

from suite import TOOL, Suite, run

# Ours: NumPy's, and SafeTensors' (c128 has none and goes through .npz).
DTYPES = {
    "bool": (np.bool_, "BOOL"), "u8": (np.uint8, "U8"), "i8": (np.int8, "I8"), "u16": (np.uint16, "U16"),
    "i16": (np.int16, "I16"), "u32": (np.uint32, "U32"), "i32": (np.int32, "I32"), "u64": (np.uint64, "U64"),
    "i64": (np.int64, "I64"), "f16": (np.float16, "F16"), "bf16": (ml_dtypes.bfloat16, "BF16"),
    "f32": (np.float32, "F32"), "f64": (np.float64, "F64"), "c64": (np.complex64, "C64"),
    "c128": (np.complex128, None), "f8e4m3fn": (ml_dtypes.float8_e4m3fn, "F8_E4M3"),
    "f8e5m2": (ml_dtypes.float8_e5m2, "F8_E5M2"), "f8e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, "F8_E4M3FNUZ"),
    "f8e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, "F8_E5M2FNUZ"), "f8e8m0": (ml_dtypes.float8_e8m0fnu, "F8_E8M0"),
    "f4e2m1": (ml_dtypes.float4_e2m1fn, "F4"),
}
SIZES = [0, 1, 2, 3, 32, 33, 1000, 4096, 4097, 100_000]
BINS = 13
INTEGERS = [name for name in DTYPES if name[0] in "ui" or name == "bool"]
COMPLEX = ["c64", "c128"]


def random_bits(generator, name, count):
    """Any bits: all values of small types, and NaN, infinities and denormals of the others."""
    dtype = np.dtype(DTYPES[name][0])
    if name == "bool":
        return generator.integers(0, 2, count, dtype=np.uint8).view(np.bool_)
    if name == "f4e2m1":
        return generator.integers(0, 16, count, dtype=np.uint8).view(dtype)
    return np.frombuffer(generator.bytes(count * dtype.itemsize), dtype=dtype).copy()


def weights(generator, name, count):
    """Numbers as models have them, some zeros among them."""
    dtype = np.dtype(DTYPES[name][0])
    if name in INTEGERS:
        return random_bits(generator, name, count)
    numbers = generator.normal(0.01, 0.5, count)
    if name in COMPLEX:
        numbers = numbers + 1j * generator.normal(0, 0.5, count)
    if count:
        numbers[:: 7] = 0
    return numbers.astype(dtype)


def with_specials(array):
    """NaN, infinities, denormals and negative zero in a few places."""
    specials = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e-40, 1e-7], dtype=np.float64)
    array = array.copy()
    for place, special in zip(range(0, array.size, 5), specials):
        array[place] = special.astype(array.dtype)
    return array


def data_of(name, array):
    if name != "f4e2m1":
        return array.tobytes()
    codes = array.view(np.uint8)
    return (codes[0::2] | codes[1::2] << 4).tobytes()


def write_safetensors(path, tensors):
    header, data = {}, b""
    for key, (name, array) in tensors.items():
        part = data_of(name, array)
        header[key] = {"dtype": DTYPES[name][1], "shape": list(array.shape),
                       "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def write(folder, stem, tensors):
    """The file, in SafeTensors where that has the dtypes."""
    if any(DTYPES[name][1] is None for name, _ in tensors.values()):
        np.savez(folder / f"{stem}.npz", **{key: array for key, (_, array) in tensors.items()})
        return folder / f"{stem}.npz"
    write_safetensors(folder / f"{stem}.safetensors", tensors)
    return folder / f"{stem}.safetensors"


def numbers_of(name, array):
    """What the statistics are about: numbers, or magnitudes of complex ones, in the widest type."""
    if name in COMPLEX:
        parts = np.stack([array.real, array.imag])
        # NumPy calls inf + nan j both.
        return np.where(np.isnan(parts).any(axis=0), np.nan, np.hypot(*parts.astype(np.longdouble)))
    if name in INTEGERS:
        return array.astype(np.longdouble)
    return array.astype(np.float64).astype(np.longdouble)


def close(got, expected, scale):
    """Infinities are strings in JSON, and beyond the doubles of the tool."""
    if got is None:
        return False
    got, expected = float(got), float(expected)
    return got == expected or abs(got - expected) <= 1e-12 * float(scale)


def check_statistics(suite, what, name, array, got):
    numbers = numbers_of(name, array)
    finite = numbers[np.isfinite(numbers)]
    suite.equal(f"{what}: counts",
                (got["count"], got["zeros"], got["nan"], got["positive_infinity"], got["negative_infinity"]),
                (array.size, int((numbers == 0).sum()), int(np.isnan(numbers).sum()),
                 int(np.isposinf(numbers).sum()), int(np.isneginf(numbers).sum())))
    if not finite.size:
        suite.equal(f"{what}: nothing finite", [got[key] for key in ("min", "max", "mean", "std", "abs_max")],
                    [None] * 5)
        suite.equal(f"{what}: l2 of nothing", got["l2"], 0)
        return
    scale = np.abs(finite).max()
    if name in INTEGERS:
        suite.equal(f"{what}: range", (got["min"], got["max"]), (int(array.min()), int(array.max())))
        suite.equal(f"{what}: abs_max", got["abs_max"], max(abs(int(array.min())), abs(int(array.max()))))
    elif name in COMPLEX:
        for key, expected in (("min", finite.min()), ("max", finite.max()), ("abs_max", scale)):
            suite.check(f"{what}: {key}", close(got[key], expected, expected), got[key])
    else:
        suite.equal(f"{what}: range", (got["min"], got["max"], got["abs_max"]),
                    (float(finite.min()), float(finite.max()), float(scale)))
    mean = finite.mean()
    suite.check(f"{what}: mean", close(got["mean"], mean, scale), (got["mean"], mean))
    deviation = np.sqrt(((finite - mean) ** 2).mean())
    suite.check(f"{what}: std", close(got["std"], deviation, scale), (got["std"], deviation))
    l2 = np.sqrt((finite ** 2).sum())
    suite.check(f"{what}: l2", close(got["l2"], l2, l2), (got["l2"], l2))
    # NumPy cannot bin a range that a double does not hold.
    doubles = finite.astype(np.float64)
    if name not in COMPLEX and doubles.min() < doubles.max() and math.isfinite(doubles.max() - doubles.min()):
        counts, _ = np.histogram(doubles, bins=BINS, range=(doubles.min(), doubles.max()))
        suite.equal(f"{what}: histogram", got["histogram"]["counts"], counts.tolist())
        suite.equal(f"{what}: its ends", (got["histogram"]["low"], got["histogram"]["high"]),
                    (doubles.min(), doubles.max()))


def statistics(path):
    answer = json.loads(run(TOOL, "stat", "--json", "--bins", str(BINS), path))
    return {tensor["name"]: tensor["statistics"] for tensor in answer["tensors"]}


def check_dtype(suite, generator, folder, name):
    tensors = {}
    for size in SIZES:
        if name == "f4e2m1":
            size += size % 2
        tensors[f"bits.{size}"] = (name, random_bits(generator, name, size))
        tensors[f"weights.{size}"] = (name, weights(generator, name, size))
        if name not in INTEGERS + COMPLEX:
            tensors[f"specials.{size}"] = (name, with_specials(weights(generator, name, size)))
    with suite.case(name):
        answers = statistics(write(folder, name, tensors))
        for key, (_, array) in tensors.items():
            check_statistics(suite, f"{name}, {key}", name, array, answers[key])


def check_extremes(suite, folder):
    """Doubles whose squares overflow or vanish, constants, and sums that cancel."""
    largest = np.finfo(np.float64).max
    arrays = {
        "huge": [1e200, -3e200, 5e199], "largest": [largest, -largest], "overflow": [largest, largest, largest],
        "tiny": [3e-320, 4e-320, 0], "mixed": [1e300, 1, -1e300, 1e-300], "constant": [0.1] * 10_000,
        "cancels": [1e8, -1e8] * 5000 + [1], "offset": (1e9 + np.arange(10_000) / 1e4).tolist(),
    }
    tensors = {key: ("f64", np.array(numbers)) for key, numbers in arrays.items()}
    wide = np.array([2**63 - 1, -2**63, 2**53 + 1], dtype=np.int64)
    tensors["wide"] = ("i64", wide)
    tensors["natural"] = ("u64", np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64))
    with suite.case("extremes"):
        answers = statistics(write(folder, "extremes", tensors))
        for key, (name, array) in tensors.items():
            check_statistics(suite, key, name, array, answers[key])


def check_long(suite, generator, folder):
    """More than one worker's share."""
    array = generator.normal(0, 1, 5_000_001).astype(np.float32)
    array[4_321_000] = np.nan
    with suite.case("long"):
        path = write(folder, "long", {"t": ("f32", array)})
        check_statistics(suite, "long", "f32", array, statistics(path)["t"])


def differences(path_a, path_b, *options):
    done = subprocess.run([TOOL, "diff", "--json", *options, path_a, path_b], capture_output=True, check=False)
    answer = json.loads(done.stdout)
    if done.returncode != (0 if answer["equal"] else 1):
        raise RuntimeError(f"exit code {done.returncode}")
    return {one["name"]: one for one in answer["differences"]}


def parts_of(name, array):
    """The numbers in the widest type, with both parts of complex ones."""
    if name in COMPLEX:
        return array.astype(np.clongdouble)
    return numbers_of(name, array)


def check_difference(suite, what, a, b, got, atol, rtol):
    """`a` and `b` are (dtype, array)."""
    left, right = parts_of(*a), parts_of(*b)
    both_nan = np.isnan(left) & np.isnan(right)
    differs = ~((left == right) | both_nan)
    if not differs.any():
        return suite.check(f"{what}: equal", a[0] != b[0] or got is None, got)
    finite = np.isfinite(left) & np.isfinite(right)
    distance = np.abs(np.where(finite, left - right, 0))
    beyond = differs & ~(finite & (distance <= atol + rtol * np.abs(right)))
    kind = "dtype" if a[0] != b[0] else "values" if beyond.any() else "close"
    if not suite.check(f"{what}: kind", got is not None and got["kind"] == kind, (got, kind)):
        return False
    found = got["distance"]
    suite.equal(f"{what}: counts", (found["elements"], found["differing"], found["beyond"], found["not_finite"]),
                (left.size, int(differs.sum()), int(beyond.sum()), int((differs & ~finite).sum())))
    if beyond.any():
        suite.equal(f"{what}: first", found["first_at"], [int(np.argmax(beyond))])
    measured = np.where(differs & finite, distance, 0).astype(np.float64)
    if measured.any():
        suite.check(f"{what}: max abs", close(found["max_abs"], measured.max(), measured.max()), found["max_abs"])
        if a[0] not in COMPLEX:
            suite.equal(f"{what}: its place", found["max_abs_at"], [int(np.argmax(measured))])
    left, right = np.where(finite, left, 0), np.where(finite, right, 0)
    norms = [np.sqrt((np.abs(one) ** 2).sum()) for one in (left, right, left - right)]
    if norms[0] > 0 and norms[1] > 0 and norms[0] < 1e300 and norms[1] < 1e300:
        relative = norms[2] / norms[0]
        suite.check(f"{what}: relative L2", abs(found["relative_l2"] - float(relative)) <= 1e-12 * max(1, relative),
                    (found["relative_l2"], relative))
        cosine = (left * np.conj(right)).real.sum() / norms[0] / norms[1]
        suite.check(f"{what}: cosine", abs(found["cosine"] - float(cosine)) <= 1e-12, (found["cosine"], cosine))
    return True


def changed(generator, array):
    """Some elements replaced by others of the array."""
    other = array.copy()
    if array.size:
        places = generator.random(array.size) < 0.1
        other[places] = generator.permutation(array)[places]
    return other


def check_differences(suite, generator, folder):
    for name in DTYPES:
        tensors, others = {}, {}
        for size in SIZES:
            if name == "f4e2m1":
                size += size % 2
            for kind in (random_bits, weights):
                key = f"{kind.__name__}.{size}"
                tensors[key] = (name, kind(generator, name, size))
                others[key] = (name, changed(generator, tensors[key][1]))
        path_a, path_b = write(folder, "a", tensors), write(folder, "b", others)
        for atol, rtol in ((0, 0), (0.125, 0), (0, 0.5)):
            with suite.case(f"diff of {name}, {atol}, {rtol}"):
                found = differences(path_a, path_b, "--atol", str(atol), "--rtol", str(rtol))
                for key in tensors:
                    check_difference(suite, f"diff of {name}, {key}, {atol}, {rtol}", tensors[key], others[key],
                                     found.get(key), atol, rtol)


def check_other_dtypes(suite, generator, folder):
    """Every real dtype against every other."""
    real = [name for name in DTYPES if name not in COMPLEX]
    for name in real:
        tensors = {other: (name, weights(generator, name, 64)) for other in real if other != name}
        others = {other: (other, array.astype(np.float64).astype(DTYPES[other][0]))
                  for other, (_, array) in tensors.items()}
        with suite.case(f"{name} and others"):
            found = differences(write(folder, "a", tensors), write(folder, "b", others))
            for other in tensors:
                check_difference(suite, f"{name} and {other}", tensors[other], others[other], found.get(other), 0, 0)


def main():
    suite = Suite()
    np.seterr(all="ignore")
    seeds = range(20 if "--long" in sys.argv else 1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in seeds:
            generator = np.random.default_rng(seed)
            for dtype in DTYPES:
                check_dtype(suite, generator, folder, dtype)
            check_differences(suite, generator, folder)
            check_other_dtypes(suite, generator, folder)
        check_extremes(suite, folder)
        check_long(suite, generator, folder)
    suite.finish()


if __name__ == "__main__":
    main()
