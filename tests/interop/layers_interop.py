# SPDX-License-Identifier: MIT OR Apache-2.0
"""Forward passes: every layer computes what PyTorch computes, with the weights of a file that PyTorch wrote.

usage: layers_interop.py [--long] [--only WORD]

Layers, settings and sizes are random, from fixed seeds. --only takes the families with WORD in their name.
"""

import pathlib
import random
import sys
import tempfile
import warnings

import torch

import layers_attention_cases
import layers_basic_cases
import layers_function_cases
import layers_image_cases
import layers_recurrent_cases
import layers_wrong_cases as wrong
from layers_common import NAMES, bracketed, difference, of_16_bits, run_cases, verdict
from suite import Suite

FAMILIES = {**layers_basic_cases.FAMILIES, **layers_image_cases.FAMILIES, **layers_recurrent_cases.FAMILIES,
            **layers_attention_cases.FAMILIES, **layers_function_cases.FAMILIES}
SHOWN = 4  # failures of a family; the others are counted


def make_cases(name, make, count):
    """Settings that PyTorch refuses are not cases."""
    cases, seed = [], 0
    while len(cases) < count:
        seed += 1
        if seed > 40 * count:
            raise RuntimeError(f"{name}: PyTorch refuses nearly all cases")
        rng = random.Random(f"{name} {seed}")
        torch.manual_seed(rng.randrange(2 ** 31))
        try:
            case = make(rng)
        except (RuntimeError, ValueError, IndexError):
            continue
        if case is None:
            continue
        case.wrapped = bool(case.state) and rng.random() < 0.5
        case.zero_copy = bool(case.state) and rng.random() < 0.3
        cases.append(case)
    return cases


def derived_families():
    """Cases of the others with other inputs."""
    sources = list({**layers_basic_cases.FAMILIES, **layers_image_cases.FAMILIES,
                    **layers_recurrent_cases.FAMILIES, **layers_attention_cases.FAMILIES}.values())
    computing = [one for one in sources if one is not layers_attention_cases.attention_functions] + [
        layers_function_cases.along_a_dimension, layers_function_cases.over_a_dimension, layers_function_cases.matmul]
    return {
        "inputs of 16 bits": lambda rng: of_16_bits(rng, rng.choice(computing)),
        "wrong inputs": lambda rng: wrong.wrong_input(rng, rng.choice(sources)(rng)),
        "wrong masks and states": lambda rng: wrong.wrong_mask(rng, rng.choice(sources)(rng)),
        "wrong shapes of functions": wrong.wrong_function,
        "wrong indices": wrong.out_of_table,
    }


def count_other_rule(cases, results):
    """Of the cases that PyTorch computes differently with recompute_scale_factor, how many we compute by which rule."""
    apart = [(case, result) for case, result in zip(cases, results)
             if case.other is not None and not close(case.other, case.expected[0])]
    if apart:
        ours = [result[0] if isinstance(result, list) else None for _, result in apart]
        print(f"  PyTorch's two rules for a scale differ in {len(apart)} of them: as by default"
              f" {sum(one is not None and close(one, case.expected[0]) for one, (case, _) in zip(ours, apart))},"
              f" as with recompute_scale_factor"
              f" {sum(one is not None and close(one, case.other) for one, (case, _) in zip(ours, apart))}")


def close(one, other):
    apart = difference(one, other, False)
    return not isinstance(apart, str) and apart <= 1e-5


def check_family(suite, name, make, count):
    cases = make_cases(name, make, count)
    with tempfile.TemporaryDirectory() as folder:
        results = run_cases(cases, pathlib.Path(folder))
    failures, worst = 0, {}
    for case, result in zip(cases, results):
        what, apart = verdict(case, result)
        if what is None and case.expected is None and "[" in case.words and len(bracketed(result)) < 2:
            what = f"the error names one shape: {result}"
        for tensor in case.expected or []:
            worst[NAMES[tensor.dtype]] = max(worst.get(NAMES[tensor.dtype], 0.0), apart)
        if what is None:
            suite.passed += 1
            continue
        failures += 1
        if failures <= SHOWN:
            suite.check(f"{name}: {case}", False, what)
        else:
            suite.failed += 1
    numbers = ", ".join(f"{dtype} {worst[dtype]:.1e}" for dtype in ("F32", "F64") if dtype in worst)
    print(f"{name}: {len(cases)} cases, {failures} failures" + (f"; largest difference {numbers}" if numbers else ""))
    count_other_rule(cases, results)


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    suite = Suite()
    count = 1000 if "--long" in sys.argv else 200
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    for name, make in {**FAMILIES, **derived_families()}.items():
        if only in name:
            with suite.case(name):
                check_family(suite, name, make, count)
    suite.finish()


if __name__ == "__main__":
    sys.exit(main())
