# SPDX-License-Identifier: MIT OR Apache-2.0
"""Float conversions against numpy and ml_dtypes, exhaustively where a type is small.

usage: casts.py [--long]

All NaNs are alike: the sign and payload of a NaN are compared nowhere. On purpose different from
ml_dtypes:

* float64 is rounded once. ml_dtypes goes through float32 and so rounds twice; here the reference for
  float64 is the nearest entry of the table of all values of the type, ties to even.
* NaN in a type that has none (f4e2m1, f6e2m3, f6e3m2) is negative zero. ml_dtypes gives negative zero
  for a NaN with sign bit 0 and positive zero for one with sign bit 1.
* f8e8m0: zero of either sign is the smallest power, 2^-127, where ml_dtypes gives NaN.
"""

import sys
import warnings

import ml_dtypes
import numpy as np

from suite import PROBE, Suite, run

TYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e8m0": ml_dtypes.float8_e8m0fnu,
    "f4e2m1": ml_dtypes.float4_e2m1fn,
    "f6e2m3": ml_dtypes.float6_e2m3fn,
    "f6e3m2": ml_dtypes.float6_e3m2fn,
    "f32": np.float32,
    "f64": np.float64,
}
BITS = {"f4e2m1": 4, "f6e2m3": 6, "f6e3m2": 6, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}
SMALL = [name for name in TYPES if name not in ("f32", "f64")]
SUB_BYTE = [name for name in TYPES if BITS.get(name, 8) < 8]


def unsigned(name):
    return np.dtype(f"u{max(BITS.get(name, 8), 8) // 8}")


def every_value(name):
    """All values of a small type, in the order of their bits."""
    return np.arange(1 << BITS.get(name, 8), dtype=unsigned(name)).view(TYPES[name])


def convert(values, source, target, scalar):
    """What the library makes of values of one type in another."""
    options = ["--scalar"] if scalar else []
    output = run(PROBE, "convert", source, target, *options, stdin=values.tobytes())
    return np.frombuffer(output, dtype=unsigned(target))


class Table:
    """The finite values of a small type from zero up, in the order of their bits, as float64."""

    def __init__(self, name):
        self.name = name
        values = every_value(name).astype(np.float64)
        if name != "f8e8m0":
            values = values[: len(values) // 2]
        self.values = values[np.isfinite(values)]
        self.sign_bit = 0 if name == "f8e8m0" else 1 << (BITS.get(name, 8) - 1)
        # One more step, as if the exponent had no end: beyond its middle numbers overflow.
        step = self.values[-1] if name == "f8e8m0" else self.values[-1] - self.values[-2]
        steps = np.append(self.values, self.values[-1] + step)
        self.middles = (steps[:-1] + steps[1:]) / 2

    def encode(self, x):
        """Bits of the nearest value, ties to even, with overflow and NaN as the type has them. In f8e8m0
        ties go up, and so does all that lies between its two smallest powers."""
        size = np.abs(x)
        code = np.searchsorted(self.middles, size, side="left")
        tie = (code < len(self.middles)) & (size == self.middles[np.minimum(code, len(self.middles) - 1)])
        code += tie & ((code % 2 == 1) | (self.name == "f8e8m0"))
        if self.name == "f8e8m0":
            code[(size > self.values[0]) & (size < self.values[1])] = 1
        overflow = code >= len(self.values)
        sign = np.where(np.signbit(x), self.sign_bit, 0)
        if self.name in SUB_BYTE:
            code[overflow] = len(self.values) - 1
            return np.where(np.isnan(x), self.sign_bit, sign | code)
        infinity = len(self.values)  # where the type has one; otherwise these bits are no matter
        nan = self.nan_bits()
        code = np.where(overflow, infinity if self.has_infinity() else nan, code)
        result = sign | code
        if self.name.endswith("fnuz"):
            result = np.where(code == 0, 0, result)
        nans = np.isnan(x) | (overflow & (not self.has_infinity()))
        if self.name == "f8e8m0":
            nans |= x < 0
        return np.where(nans, nan, result)

    def has_infinity(self):
        return bool(np.isinf(every_value(self.name).astype(np.float32)).any())

    def nan_bits(self):
        return int(np.flatnonzero(np.isnan(every_value(self.name).astype(np.float32)))[0])


def equal_but_for_nan(name, left, right):
    """Elementwise: the same bits, or both NaN."""
    dtype = TYPES[name]
    left, right = left.astype(unsigned(name)), right.astype(unsigned(name))
    same = left == right
    if name in SUB_BYTE:
        return same
    return same | (np.isnan(left.view(dtype)) & np.isnan(right.view(dtype)))


def first_difference(x, got, expected, same):
    at = int(np.flatnonzero(~same)[0])
    return (f"{np.count_nonzero(~same)} differ, first {x[at]!r} ({x[at].tobytes()[::-1].hex()}):"
            f" got {got[at]:#x}, expected {expected[at]:#x}")


def check_decoding(suite, source, target, scalar):
    x = every_value(source)
    got = convert(x, source, target, scalar)
    expected = x.astype(TYPES[target]).view(unsigned(target))
    same = equal_but_for_nan(target, got, expected)
    suite.check(f"{source} to {target}, every value{', one by one' if scalar else ''}", same.all(),
                "" if same.all() else first_difference(x, got, expected, same))


def interesting(name, dtype):
    """Every value of a type, the middles between neighbours, and what lies one step beside these."""
    table = Table(name)
    points = np.concatenate([table.values, table.middles, [0.0, np.inf, np.nan],
                             every_value("f16").astype(np.float64)]).astype(dtype)
    points = np.concatenate([points, np.nextafter(points, dtype(np.inf)),
                             np.nextafter(points, dtype(-np.inf))])
    return np.concatenate([points, -points])


def peer_encode(name, x):
    """What numpy or ml_dtypes makes of float32 values, with the differences listed above."""
    expected = x.astype(TYPES[name]).view(unsigned(name))
    if name in SUB_BYTE:
        expected = np.where(np.isnan(x), Table(name).sign_bit, expected)
    if name == "f8e8m0":
        expected = np.where(x == 0, 0, expected)
    return expected


def check_encoding(suite, what, x, source, name, expected, scalar):
    got = convert(x, source, name, scalar)
    same = equal_but_for_nan(name, got, expected)
    suite.check(f"{source} to {name}, {what}{', one by one' if scalar else ''}", same.all(),
                "" if same.all() else first_difference(x, got, expected, same))


def random_doubles(generator, count):
    """Any sign and digits, with exponents where the small types live and a little beyond."""
    significand = generator.integers(0, 1 << 52, count, dtype=np.uint64)
    exponent = generator.integers(1023 - 160, 1023 + 140, count, dtype=np.uint64)
    sign = generator.integers(0, 2, count, dtype=np.uint64)
    return (sign << np.uint64(63) | exponent << np.uint64(52) | significand).view(np.float64)


def main():
    warnings.simplefilter("ignore")  # overflow is what is being looked at
    long = "--long" in sys.argv[1:]
    suite = Suite()
    generator = np.random.default_rng(20)

    for source in SMALL:
        for target in ("f32", "f64"):
            for scalar in (False, True):
                check_decoding(suite, source, target, scalar)

    for name in SMALL:
        table = Table(name)
        near32 = interesting(name, np.float32)
        near64 = interesting(name, np.float64)
        for scalar in (False, True):
            check_encoding(suite, "values, middles and their neighbours", near32, "f32", name,
                           peer_encode(name, near32), scalar)
            check_encoding(suite, "values, middles and their neighbours", near64, "f64", name,
                           table.encode(near64), scalar)
            x = random_doubles(generator, 4_000_000 if long else 400_000)
            check_encoding(suite, "random", x, "f64", name, table.encode(x), scalar)

    # Random bits of float32, in portions that bound the memory taken.
    portion = 4_000_000
    for number in range(50 if long else 5):
        x = generator.integers(0, 1 << 32, portion, dtype=np.uint32).view(np.float32)
        for name in SMALL:
            check_encoding(suite, f"random, portion {number + 1}", x, "f32", name,
                           peer_encode(name, x), scalar=False)
            if long:
                check_encoding(suite, f"random, portion {number + 1}", x, "f32", name,
                               peer_encode(name, x), scalar=True)

    # From one small type to another: exact values are rounded once.
    for source in SMALL:
        x = every_value(source)
        wide = x.astype(np.float64)
        for target in SMALL:
            check_encoding(suite, "every value", x, source, target, Table(target).encode(wide),
                           scalar=False)

    suite.finish()


if __name__ == "__main__":
    main()
