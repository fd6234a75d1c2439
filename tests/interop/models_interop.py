# SPDX-License-Identifier: MIT OR Apache-2.0
"""Typed models through SafeTensors files, against burn-store 0.21.0 and the Python package.

usage: models_interop.py [--long]

The same model is written down for both, and files and loads are compared with what zoo.py says they must
be, and so with each other. On purpose different from burn-store 0.21.0:

* InstanceNorm and RmsNorm are renamed for PyTorch as the other norms are.
* A tensor that is taken under another name (the weight of a norm for gamma) is not unused.
* A parameter that the filter leaves out is skipped, whether or not the file has it, and so never missing.
* Filters see the module's own paths and containers when saving too. burn-store shows them the names that
  the adapter gives, and no containers.
* Half precision casts f32 to f16 when saving and f16 to f32 when loading. burn-store casts either way in
  both directions, so that loading an f32 file gives f16.
* Data of another kind than the parameter's is refused. burn-store takes anything for integer and boolean
  parameters, and its backend aborts on integers for a float parameter.
* u8 and u32 for a boolean parameter, in which some store booleans, become booleans. burn-store keeps them.
* u16, 8-bit floats and complex numbers somewhere in a file are no reason to refuse all of it.
* Names that remapping makes equal are refused. burn-store keeps one of them when loading and panics when
  saving.
* A file in PyTorch's layout says format=pt in its metadata, as Hugging Face's do.
* The names of a file may choose the alternative of an enum; the probe turns that off.
* A refused load leaves the model as it was. burn-store leaves what it had applied by then.
"""

import hashlib
import pathlib
import random
import sys
import tempfile

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from models_cases import (DTYPES_OF_BURN, NAMES_WITH_INDICES, REMAPS, RULES_FOR_UNUSUAL_NAMES, SAVED,
                          UNUSUAL_NAMES)
from safetensors_interop import DTYPES, PYTHON_DTYPES, header_of, python_bytes, read_by_python
from suite import Suite, exit_code
from zoo import (BURN, BURN_PEER, HALVED, OURS, PROGRAMS, RENAMED_BY_US, contents_of, file_of, parameters,
                 zeros)

# So that burn-store finds what we rename and it does not.
REMAP_FOR_BURN = ["--remap", r"^(instance_norm|rms_norm)\.weight$", "$1.gamma",
                  "--remap", r"^(instance_norm|rms_norm)\.bias$", "$1.beta"]
WITHOUT_OUR_RENAMES = ["--regex", "^[^ir]"]


def check_report(suite, what, report, applied, skipped=(), missing=(), unused=(), errors=()):
    suite.check(f"{what}: goes well", report["ok"], report.get("error"))
    wanted = {"applied": list(applied), "skipped": sorted(skipped), "missing": sorted(missing),
              "unused": sorted(unused), "errors": list(errors)}
    for key, value in wanted.items():
        suite.equal(f"{what}: {key}", report.get(key), value)


def check_all_loaded(suite, what, report, model):
    """Every parameter has its own values."""
    check_report(suite, what, report, [parameter.path for parameter in model])
    suite.equal(f"{what}: contents", report["tensors"],
                contents_of((parameter.path, parameter.values) for parameter in model))


def check_refused(suite, what, report, code, model):
    """We refuse a load and leave the model alone."""
    suite.equal(f"{what}: refused", (report["ok"], report.get("code")), (False, code))
    suite.equal(f"{what}: the model is as it was", report["tensors"], zeros(model))


def check_walk(suite):
    for options in ([], ["--skip-enum-variants"]):
        with suite.case("the walk"):
            ours = OURS("collect", *options)
            suite.check("there are parameters", len(ours) > 50)
            if BURN_PEER:
                burn = BURN("collect", *options)
                suite.equal(f"number of parameters {options}", len(ours), len(burn))
                for entry, theirs in zip(ours, burn):
                    suite.equal(f"{theirs['path']} {options}", entry, theirs)


def check_saved_and_loaded(suite, model, folder):
    """Every program loads what every program saves."""
    for how, options in SAVED.items():
        for writer in PROGRAMS:
            what = f"saved by {writer.name} {how}"
            path = folder / "saved.safetensors"
            with suite.case(what):
                suite.equal(what, writer("save", path, *options), {"ok": True})
                file = file_of(model, options, writer.renamed)
                suite.equal(f"{what}, read by Python", read_by_python(path), file)
                suite.equal(f"{what}, keys", [reader("keys", path) for reader in PROGRAMS],
                            [sorted(file)] * len(PROGRAMS))
                for reader in PROGRAMS:
                    check_load(suite, f"{what}, loaded by {reader.name}", path, model, options,
                               (writer, reader))
        if BURN_PEER:
            check_same_bytes(suite, model, options, folder)


def check_load(suite, what, path, model, options, writer_and_reader):
    writer, reader = writer_and_reader
    unused = []
    more = []
    if reader is BURN and "--pytorch" in options:
        if writer is OURS:
            suite.check(f"{what}: refused for norms that Burn does not rename",
                        "rms_norm.gamma" in BURN("load", path, *options).get("error", ""))
            more = REMAP_FOR_BURN
        unused = {parameter.name(options, BURN.renamed) for parameter in model} - {
            parameter.place(options) for parameter in model}
    report = reader("load", path, *options, *more)
    check_report(suite, what, report, [parameter.place(options) for parameter in model], unused=unused)
    suite.equal(f"{what}: contents", report["tensors"],
                contents_of((parameter.path, parameter.loaded(options)) for parameter in model))


def check_same_bytes(suite, model, options, folder):
    """Where names are the same, so are the files to the byte, but for the metadata."""
    files = []
    for program in PROGRAMS:
        path = folder / "bytes.safetensors"
        program("save", path, *options, *WITHOUT_OUR_RENAMES)
        header, _, start = header_of(path.read_bytes())
        metadata = header.pop("__metadata__")
        suite.equal(f"metadata of {program.name}", sorted(metadata), ["format", "producer", "version"])
        marked = program is OURS and "--pytorch" in options
        suite.equal(f"format of {program.name}", metadata["format"], "pt" if marked else "safetensors")
        files.append((list(header.items()), path.read_bytes()[start:]))
    suite.equal(f"the files of both, {options}", files[0], files[1])
    suite.check(f"the files of both, {options}: most of the model", len(files[0][0]) > len(model) / 2)


def check_metadata(suite, folder):
    path = folder / "metadata.safetensors"
    for program in PROGRAMS:
        with suite.case("metadata"):
            given = {"who": "\u00e9\n\"", "format": "pt"}
            program("save", path, "--metadata", "who", given["who"], "--metadata", "format", "pt")
            with safe_open(path, "np") as opened:
                metadata = opened.metadata()
            metadata.pop("producer")
            metadata.pop("version")
            suite.equal(f"metadata given to {program.name}", metadata, given)


def check_python(suite, model, folder):
    """The Python package in its own words, as arrays."""
    path = folder / "python.safetensors"
    with suite.case("as arrays"):
        OURS("save", path)
        with safe_open(path, "np") as opened:
            for parameter in model:
                array = opened.get_tensor(parameter.path)
                suite.check(f"{parameter.path} as an array", array.dtype == parameter.values.dtype and
                            np.array_equal(array, parameter.values))
        save_file({parameter.path: parameter.values for parameter in model}, path, {"made_by": "Python"})
        for program in PROGRAMS:
            check_all_loaded(suite, f"saved by Python, loaded by {program.name}", program("load", path),
                             model)


def check_half_of_full(suite, model, folder):
    """An f32 file loaded with the adapter for half precision, and an f16 file without."""
    path = folder / "full.safetensors"
    half = [(parameter.path, parameter.values.astype(np.float16)
             if parameter.container in HALVED else parameter.values) for parameter in model]
    full = [(parameter.path, parameter.values) for parameter in model]
    with suite.case("half precision"):
        OURS("save", path)
        for program, expected in zip(PROGRAMS, (full, half)):
            suite.equal(f"a full file in half precision, loaded by {program.name}",
                        program("load", path, "--half")["tensors"], contents_of(expected))
        OURS("save", path, "--half")
        for program in PROGRAMS:
            suite.equal(f"a half file as it is, loaded by {program.name}",
                        program("load", path)["tensors"], contents_of(half))


def check_random_halves(suite, model, folder, rng):
    """Any f16 as f32, but for signalling NaNs, which some processors make quiet and software does not."""
    path = folder / "halves.safetensors"
    arrays = {}
    for parameter in model:
        bits = np.frombuffer(rng.randbytes(2 * parameter.values.size), np.uint16)
        bits = np.where(bits & 0x7C00 == 0x7C00, bits | 0x0200, bits).reshape(parameter.values.shape)
        halved = parameter.container in HALVED
        arrays[parameter.path] = bits.view(np.float16) if halved else parameter.values
    expected = [(name, array.astype(np.float32) if array.dtype == np.float16 else array)
                for name, array in arrays.items()]
    with suite.case("random halves"):
        save_file(arrays, path)
        for program in PROGRAMS:
            suite.equal(f"random halves, loaded by {program.name}",
                        program("load", path, "--half")["tensors"], contents_of(expected))


def check_pytorch_names(suite, model, folder):
    """A norm takes its own names before PyTorch's, and what it is not to take is not unused either."""
    path = folder / "pytorch.safetensors"
    options = ["--pytorch"]
    paths = [parameter.path for parameter in model]
    own = {parameter.path: parameter.stored(options) for parameter in model}
    renamed = {parameter.name(options, BURN.renamed): parameter.stored(options) for parameter in model}
    unused_by_burn = set(renamed) - set(paths)
    with suite.case("names of norms"):
        save_file(own, path)
        for program in PROGRAMS:
            check_all_loaded(suite, f"own names for PyTorch, loaded by {program.name}",
                             program("load", path, *options), model)
        listed = [name for name in paths if name.startswith("list.")]
        save_file(renamed, path)
        for program, unused in zip(PROGRAMS, ((), unused_by_burn)):
            check_report(suite, f"filtered for PyTorch, loaded by {program.name}",
                         program("load", path, *options, "--regex", r"^list\."), listed,
                         skipped=set(paths) - set(listed), unused=unused)
        save_file(own | {"layer_norm.weight": np.zeros(4, np.float32)}, path)
        for program in PROGRAMS:
            report = program("load", path, *options)
            what = f"both names, loaded by {program.name}"
            check_report(suite, what, report, paths, unused=["layer_norm.weight"])
            suite.equal(f"{what}: contents", report["tensors"],
                        contents_of((parameter.path, parameter.values) for parameter in model))


def check_filters(suite, model, folder):
    path = folder / "filtered.safetensors"
    all_paths = [parameter.path for parameter in model]
    linear = [parameter.path for parameter in model if parameter.container == "Linear"]
    listed = [name for name in all_paths if name.startswith("list.")]
    lists = listed + [name for name in all_paths if name.startswith("array.")]

    for options, chosen in ((["--regex", r"^list\."], listed), (["--linear"], linear),
                            (["--regex", r"^list\.", "--regex", r"^array\."], lists),
                            (["--regex", r"^list\.", "--linear"], linear),
                            (["--regex", "nowhere"], [])):
        with suite.case(f"filter {options}"):
            OURS("save", path)
            for program in PROGRAMS:
                check_report(suite, f"filter {options}, loaded by {program.name}",
                             program("load", path, *options), chosen, skipped=set(all_paths) - set(chosen))

    with suite.case("filters without variants"):
        options = ["--skip-enum-variants", "--regex", r"^(dense|stages\.1)\.weight$"]
        OURS("save", path, "--skip-enum-variants")
        places = [parameter.place(options) for parameter in model]
        chosen = ["dense.weight", "stages.1.weight"]
        for program in PROGRAMS:
            check_report(suite, f"filters without variants, loaded by {program.name}",
                         program("load", path, *options), chosen, skipped=set(places) - set(chosen))

    with suite.case("a file of a part"):
        for program in PROGRAMS:
            what = f"a part, saved by {program.name}"
            program("save", path, "--regex", r"^list\.")
            suite.equal(what, sorted(read_by_python(path)), sorted(listed))
        lacking = set(all_paths) - set(listed)
        for program in PROGRAMS:
            what = f"a part, loaded by {program.name}"
            check_report(suite, what, program("load", path, "--partial"), listed, missing=lacking)
            suite.equal(f"{what}: refused", program("load", path)["ok"], False)
        refused = OURS("load", path)
        check_refused(suite, "a part", refused, "MissingTensor", model)
        suite.equal("a part: the error says what is missing", refused["missing"], sorted(lacking))

        # What the filter leaves out is not missing.
        check_report(suite, "a part and its filter", OURS("load", path, "--regex", r"^list\."), listed,
                     skipped=lacking)
        more = ["--regex", r"^list\.", "--regex", r"^array\.", "--partial"]
        check_report(suite, "a part and a wider filter", OURS("load", path, *more), listed,
                     skipped=set(all_paths) - set(lists), missing=set(lists) - set(listed))
        if BURN_PEER:
            refused = BURN("load", path, "--regex", r"^list\.")
            suite.equal("a part and its filter, Burn", refused["ok"], False)
            suite.check("a part and its filter, Burn: the model was changed",
                        refused["tensors"] != zeros(model))
            check_report(suite, "a part and a wider filter, Burn", BURN("load", path, *more), listed,
                         missing=lacking)

    with suite.case("filters when saving"):
        OURS("save", path, "--linear")
        suite.equal("linear layers", sorted(read_by_python(path)), sorted(linear))
        OURS("save", path, "--pytorch", "--regex", "gamma$")
        gammas = [parameter for parameter in model if parameter.path.endswith(".gamma")]
        suite.equal("filter before adapter", read_by_python(path),
                    file_of(gammas, ["--pytorch"], RENAMED_BY_US))
        if BURN_PEER:
            BURN("save", path, "--linear")
            suite.equal("linear layers, Burn", read_by_python(path), {})
            BURN("save", path, "--pytorch", "--regex", "gamma$")
            suite.equal("filter before adapter, Burn", sorted(read_by_python(path)),
                        ["instance_norm.gamma", "rms_norm.gamma"])


def remap_options(rules):
    return [word for pattern, replacement in rules for word in ("--remap", pattern, replacement)]


def check_remapping(suite, model, folder):
    path = folder / "remapped.safetensors"
    for rules in REMAPS:
        with suite.case(f"remapping {rules}"):
            check_remap_rules(suite, rules, model, path)
    with suite.case("remapping and back"):
        there, back = [(r"^list\.", "layers.")], [(r"^layers\.", "list.")]
        for writer in PROGRAMS:
            writer("save", path, *remap_options(there))
            for reader in PROGRAMS:
                check_all_loaded(suite, f"remapped by {writer.name}, loaded by {reader.name}",
                                 reader("load", path, *remap_options(back)), model)
    with suite.case("names made equal"):
        same = remap_options([(r"^array\.\d", "array.0")])
        OURS("save", path)
        check_refused(suite, "names made equal", OURS("load", path, *same), "NameCollision", model)
        before = path.read_bytes()
        suite.equal("names made equal, saved", OURS("save", path, *same).get("code"), "NameCollision")
        suite.check("names made equal, saved: the file is as it was", path.read_bytes() == before)
        if BURN_PEER:
            suite.equal("names made equal, Burn", BURN("load", path, *same, "--partial")["missing"],
                        ["array.1.bias", "array.1.weight"])
            suite.check("names made equal, saved by Burn", exit_code(BURN_PEER, "save", path, *same) != 0)


def check_remap_rules(suite, rules, model, path):
    options = remap_options(rules)
    OURS("save", path)
    lists = [program("keys", path, *options) for program in PROGRAMS]
    reports = [program("load", path, *options, "--partial", "--no-validate") for program in PROGRAMS]
    suite.equal(f"keys after {rules}", len(lists[0]), len(model))
    if BURN_PEER:
        suite.equal(f"keys after {rules}", lists[0], lists[1])
        for key in ("ok", "applied", "missing", "unused", "errors", "tensors"):
            suite.equal(f"load after {rules}: {key}", reports[0][key], reports[1][key])
        files = []
        for program in PROGRAMS:
            program("save", path, *options)
            files.append(read_by_python(path))
        suite.equal(f"save after {rules}", files[0], files[1])


def check_names(suite, folder):
    """Remapping and index closing of names that no model has."""
    path = folder / "names.safetensors"

    def write(names):
        path.write_bytes(python_bytes({name: ("U8", [1], b"x") for name in names}, None))

    write(UNUSUAL_NAMES)
    for rule in RULES_FOR_UNUSUAL_NAMES:
        with suite.case(f"unusual names after {rule}"):
            options = remap_options([rule])
            suite.equal(f"unusual names after {rule}", OURS("keys", path, *options),
                        BURN("keys", path, *options))
    for names in NAMES_WITH_INDICES:
        with suite.case(f"index gaps of {names}"):
            write(names)
            suite.equal(f"index gaps of {names}", OURS("keys", path, "--contiguous"),
                        BURN("keys", path, "--contiguous"))


def check_index_gaps(suite, model, folder):
    """Indices with gaps, as PyTorch's Sequential leaves them."""
    path = folder / "gaps.safetensors"

    def widened(name):
        words = [str(3 * int(word) + 1) if word.isdigit() else word for word in name.split(".")]
        return ".".join(words)

    save_file({widened(parameter.path): parameter.values for parameter in model}, path)
    for program in PROGRAMS:
        with suite.case("index gaps"):
            what = f"index gaps closed by {program.name}"
            suite.equal(f"{what}: keys", program("keys", path, "--contiguous"),
                        sorted(parameter.path for parameter in model))
            check_all_loaded(suite, what, program("load", path, "--contiguous"), model)
            gaps = {parameter.path for parameter in model if widened(parameter.path) != parameter.path}
            # The tensors of some index stand where another is wanted.
            present = {widened(name) for name in gaps}
            report = program("load", path, "--partial")
            suite.equal(f"index gaps left by {program.name}: missing", report["missing"],
                        sorted(gaps - present))
            suite.equal(f"index gaps left by {program.name}: unused", report["unused"],
                        sorted(present - gaps))


def check_misfits(suite, model, folder):
    """Tensors of another shape, and tensors without a place."""
    path = folder / "misfits.safetensors"
    arrays = {parameter.path: parameter.values for parameter in model}
    paths = list(arrays)
    wrong = {"linear.weight": np.zeros((4, 3), np.float32), "cube": np.zeros(24, np.float32),
             "mask": np.zeros((2, 6), bool)}
    with suite.case("misfits"):
        save_file(arrays | {"extra": arrays["cube"], "linear.extra": arrays["mask"]}, path)
        for program in PROGRAMS:
            check_report(suite, f"tensors without a place, loaded by {program.name}",
                         program("load", path), paths, unused=["extra", "linear.extra"])
        save_file(arrays | wrong, path)
        for program in PROGRAMS:
            what = f"other shapes, loaded by {program.name}"
            report = program("load", path, "--no-validate")
            check_report(suite, what, report, [name for name in paths if name not in wrong], errors=wrong)
            suite.equal(f"{what}: contents", report["tensors"], contents_of(
                (name, np.zeros_like(values) if name in wrong else values)
                for name, values in arrays.items()))
            suite.equal(f"{what}: refused", program("load", path)["ok"], False)
        check_refused(suite, "other shapes", OURS("load", path), "ShapeMismatch", model)


def kind_of(dtype):
    if dtype in ("BOOL", "BF16"):
        return "boolean" if dtype == "BOOL" else "float"
    return {"U": "integer", "I": "integer", "F": "float", "C": "complex"}[dtype[0]]


def random_tensor(rng, dtype, shape):
    data = rng.randbytes(int(np.prod(shape)) * DTYPES[dtype][0] // 8)
    return dtype, list(shape), bytes(byte & 1 for byte in data) if dtype == "BOOL" else data


def entry_of(path, tensor, kind):
    """What we hold after a load of a tensor for a parameter of that kind; None if it is refused."""
    dtype, shape, data = tensor
    if kind == "boolean" and dtype in ("U8", "U32"):
        numbers = np.frombuffer(data, DTYPES[dtype][2])
        dtype, data = "BOOL", (numbers != 0).tobytes()
    if kind_of(dtype) != kind:
        return None
    return {"path": path, "dtype": DTYPES[dtype][1], "shape": shape,
            "sha256": hashlib.sha256(data).hexdigest()}


def check_dtypes(suite, model, folder, rng):
    """Every dtype of a file for a parameter of each kind."""
    path = folder / "dtypes.safetensors"
    values = {parameter.path: parameter for parameter in model}
    for target in (values["cube"], values["counts"], values["mask"]):
        for dtype in PYTHON_DTYPES:
            shape = target.values.shape
            if DTYPES[dtype][0] < 8 and shape[-1] % 2:
                continue
            what = f"{dtype} for {target.path}"
            tensor = random_tensor(rng, dtype, shape)
            with suite.case(what):
                file = file_of(model, [], RENAMED_BY_US) | {target.path: tensor}
                path.write_bytes(python_bytes(file, None))
                check_dtype(suite, what, path, entry_of(target.path, tensor, target.kind), target, model)
                if BURN_PEER:
                    check_dtype_in_burn(suite, what, path, tensor, target)


def check_dtype(suite, what, path, entry, target, model):
    paths = [parameter.path for parameter in model]
    if entry:
        report = OURS("load", path)
        check_report(suite, what, report, paths)
        expected = contents_of((parameter.path, parameter.values) for parameter in model)
        suite.equal(f"{what}: contents", report["tensors"],
                    [entry if other["path"] == target.path else other for other in expected])
    else:
        check_refused(suite, what, OURS("load", path), "DTypeMismatch", model)
        check_report(suite, f"{what}, not validated", OURS("load", path, "--no-validate"),
                     [name for name in paths if name != target.path], errors=[target.path])


def check_dtype_in_burn(suite, what, path, tensor, target):
    dtype = tensor[0]
    if dtype not in DTYPES_OF_BURN:
        suite.equal(f"{what}, Burn: refused", BURN("load", path)["ok"], False)
    elif target.kind == "float" and kind_of(dtype) != "float":
        suite.check(f"{what}, Burn: fails", exit_code(BURN_PEER, "load", path) != 0)
    else:
        suite.check(f"{what}, Burn: taken as it is",
                    entry_of(target.path, tensor, kind_of(dtype)) in BURN("load", path)["tensors"])


def check_random_files(suite, model, folder, rng, count):
    """Any bytes in any dtype of the right kind, for every parameter."""
    path = folder / "random.safetensors"
    for number in range(count):
        what = f"random file {number}"
        file = {}
        for parameter in model:
            dtypes = [dtype for dtype in sorted(DTYPES_OF_BURN) if kind_of(dtype) == parameter.kind]
            file[parameter.path] = random_tensor(rng, rng.choice(dtypes), parameter.values.shape)
        with suite.case(what):
            path.write_bytes(python_bytes(file, None))
            expected = [entry_of(parameter.path, file[parameter.path], parameter.kind)
                        for parameter in model]
            for program in PROGRAMS:
                suite.equal(f"{what}, loaded by {program.name}", program("load", path)["tensors"], expected)


def main():
    suite = Suite()
    rng = random.Random(21)
    if not BURN_PEER:
        print("NOT RUN: comparisons with burn-store (ANDIRON_BURN_PEER is not set)")
    model = parameters()
    check_walk(suite)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_saved_and_loaded(suite, model, folder)
        check_metadata(suite, folder)
        check_python(suite, model, folder)
        check_half_of_full(suite, model, folder)
        check_random_halves(suite, model, folder, rng)
        check_pytorch_names(suite, model, folder)
        check_filters(suite, model, folder)
        check_remapping(suite, model, folder)
        if BURN_PEER:
            check_names(suite, folder)
        check_index_gaps(suite, model, folder)
        check_misfits(suite, model, folder)
        check_dtypes(suite, model, folder, rng)
        check_random_files(suite, model, folder, rng, 500 if "--long" in sys.argv[1:] else 50)
    suite.finish()


if __name__ == "__main__":
    main()
