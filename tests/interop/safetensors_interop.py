# SPDX-License-Identifier: MIT OR Apache-2.0
"""SafeTensors against the real thing: the Python package and, where there is cargo, the Rust crate.

usage: safetensors_interop.py [--long]
"""

import ctypes
import hashlib
import json
import os
import pathlib
import random
import sys
import tempfile

import safetensors
from safetensors import TensorSpec, safe_open

import safetensors_cases
from suite import PROBE, RUST_PEER, TOOL, Suite, check_verdicts, exit_code, run

# The file's spelling: (bits, ours, the Python package's; it has no name for the F6 types).
DTYPES = {
    "BOOL": (8, "bool", "bool"),
    "F4": (4, "f4e2m1", "float4_e2m1fn_x2"),
    "F6_E2M3": (6, "f6e2m3", None),
    "F6_E3M2": (6, "f6e3m2", None),
    "U8": (8, "u8", "uint8"),
    "I8": (8, "i8", "int8"),
    "F8_E5M2": (8, "f8e5m2", "float8_e5m2"),
    "F8_E4M3": (8, "f8e4m3fn", "float8_e4m3fn"),
    "F8_E8M0": (8, "f8e8m0", "float8_e8m0fnu"),
    "F8_E4M3FNUZ": (8, "f8e4m3fnuz", "float8_e4m3fnuz"),
    "F8_E5M2FNUZ": (8, "f8e5m2fnuz", "float8_e5m2fnuz"),
    "I16": (16, "i16", "int16"),
    "U16": (16, "u16", "uint16"),
    "F16": (16, "f16", "float16"),
    "BF16": (16, "bf16", "bfloat16"),
    "I32": (32, "i32", "int32"),
    "U32": (32, "u32", "uint32"),
    "F32": (32, "f32", "float32"),
    "C64": (64, "c64", "complex64"),
    "F64": (64, "f64", "float64"),
    "I64": (64, "i64", "int64"),
    "U64": (64, "u64", "uint64"),
}
PYTHON_DTYPES = [name for name, (_, _, python) in DTYPES.items() if python]

NAME_PIECES = ["layer", ".", "weight", "0", "10", "_", "/", "\\", '"', "'", " ", "\t", "\n", "\b", "\f",
               "\r", "\x01", "\x1f", "\x7f", "{}", "[", ":,", "\u00e9", "\u2028", "\u4e2d\u6587",
               "\U0001F525", "\U0001F468\u200D\U0001F469"]


# A model here is a dict: name -> (the file's dtype, shape, bytes).


def random_text(rng, pieces):
    return "".join(rng.choices(NAME_PIECES, k=rng.randint(0, pieces)))


def random_model(rng, dtypes):
    model = {}
    for dtype in dtypes:
        for _ in range(rng.randint(1, 3)):
            shape = [rng.choice((0, 1, 1, 2, 3, 4, 5)) for _ in range(rng.randint(0, 6))]
            if DTYPES[dtype][0] < 8:
                shape.append(4 * rng.randint(0, 4))
            size = DTYPES[dtype][0]
            for dim in shape:
                size *= dim
            data = rng.randbytes(size // 8)
            if dtype == "BOOL":
                data = bytes(byte & 1 for byte in data)
            name = random_text(rng, 6)
            while name in model:
                name += random_text(rng, 6)
            model[name] = (dtype, shape, data)
    return model


def random_metadata(rng):
    """None, or one entry or several: the peers write several in no particular order."""
    return rng.choice((None, {random_text(rng, 5): random_text(rng, 20)},
                       {f"{i}{random_text(rng, 5)}": random_text(rng, 20) for i in range(5)}))


def python_bytes(model, metadata):
    """The file as the Python package writes it."""
    keep = []
    specs = {}
    for name, (dtype, shape, data) in model.items():
        buffer = ctypes.create_string_buffer(data, max(len(data), 1))
        keep.append(buffer)
        if dtype == "F4":  # the package takes the shape in bytes
            shape = [*shape[:-1], shape[-1] // 2]
        specs[name] = TensorSpec(dtype=DTYPES[dtype][2], shape=shape,
                                 data_ptr=ctypes.addressof(buffer), data_len=len(data))
    return safetensors.serialize(specs, metadata)


def rust_bytes(model, metadata, folder):
    """The file as the Rust crate writes it."""
    lines = [json.dumps({"metadata": metadata})] if metadata is not None else []
    for name, (dtype, shape, data) in model.items():
        lines.append(json.dumps({"name": name, "dtype": dtype, "shape": shape, "data": data.hex()}))
    (folder / "lines").write_text("\n".join(lines), encoding="utf-8")
    run(RUST_PEER, "pack", folder / "lines", folder / "packed")
    return (folder / "packed").read_bytes()


def read_by_python(path):
    tensors = safetensors.deserialize(path.read_bytes())
    return {name: (info["dtype"], info["shape"], bytes(info["data"])) for name, info in tensors}


def read_by_rust(path):
    """The model and its metadata."""
    lines = [json.loads(line) for line in run(RUST_PEER, "list", path).splitlines()]
    model = {line["name"]: (line["dtype"], line["shape"], bytes.fromhex(line["data"]))
             for line in lines[1:]}
    return model, lines[0]["metadata"]


def header_of(data):
    """The header of a file, the bytes of its text, and where the data starts."""
    size = int.from_bytes(data[:8], "little")
    text = data[8:8 + size]
    return json.loads(text), text, 8 + size


def with_sorted_metadata(data):
    """The same file with its metadata in the order of keys."""
    header, _, start = header_of(data)
    if "__metadata__" in header:
        header["__metadata__"] = dict(sorted(header["__metadata__"].items(),
                                             key=lambda item: item[0].encode()))
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[start:]


def summary(model):
    """What our tool should say of a model, by name."""
    return {name: (DTYPES[dtype][1], shape, hashlib.sha256(data).hexdigest())
            for name, (dtype, shape, data) in model.items()}


def hash_by_tool(path):
    """What our tool says of a file, by name, and the metadata."""
    answer = json.loads(run(TOOL, "hash", "--json", path))
    if "error" in answer:
        raise RuntimeError(answer["error"])
    tensors = {entry["name"]: (entry["dtype"], entry["shape"], entry["sha256"])
               for entry in answer["tensors"]}
    return tensors, answer.get("metadata") or None


def check_rewrite(suite, what, path, folder):
    """We write what the peer wrote, to the byte."""
    out = folder / "rewritten.safetensors"
    run(PROBE, "rewrite", path, out)
    original = path.read_bytes()
    expected = original
    if len(header_of(original)[0].get("__metadata__", {})) > 1:
        expected = with_sorted_metadata(original)
    suite.equal(f"{what}, written again", out.read_bytes(), expected)


def check_files_of_peers(suite, rng, folder, count):
    for number in range(count):
        metadata = random_metadata(rng)
        files = [("Python", random_model(rng, PYTHON_DTYPES), python_bytes)]
        if RUST_PEER:
            files.append(("Rust", random_model(rng, DTYPES),
                          lambda model, metadata: rust_bytes(model, metadata, folder)))
        for peer, model, make in files:
            path = folder / "theirs.safetensors"
            path.write_bytes(make(model, metadata))
            what = f"file {number} of {peer}"
            with suite.case(what):
                suite.equal(f"{what}, hash", hash_by_tool(path), (summary(model), metadata))
                check_rewrite(suite, what, path, folder)


def check_our_files(suite, folder, count):
    for seed in range(count):
        what = f"random file {seed}"
        with suite.case(what):
            path = folder / f"ours-{seed}.safetensors"
            run(PROBE, "random", str(seed), path)
            check_our_file(suite, what, path, folder)
            path.unlink()


def check_our_file(suite, what, path, folder):
    model = read_by_python(path)
    metadata = header_of(path.read_bytes())[0].get("__metadata__")
    suite.equal(f"{what}, dtypes", {dtype for dtype, _, _ in model.values()}, set(DTYPES))
    suite.equal(f"{what}, hash", hash_by_tool(path), (summary(model), metadata))
    if RUST_PEER:
        suite.equal(f"{what}, read by Rust", read_by_rust(path), (model, metadata))
        out = folder / "rust.safetensors"
        run(RUST_PEER, "rewrite", path, out)
        suite.equal(f"{what}, written by Rust", with_sorted_metadata(out.read_bytes()),
                    path.read_bytes())
    with safe_open(path, "np") as opened:
        suite.equal(f"{what}, metadata read by Python", opened.metadata(), metadata)
    # What Python can write of it comes out of us the same.
    part = {name: entry for name, entry in model.items() if entry[0] in PYTHON_DTYPES}
    partial = folder / "part.safetensors"
    partial.write_bytes(python_bytes(part, metadata))
    check_rewrite(suite, f"{what}, written by Python", partial, folder)
    check_alignment(suite, what, path, model, folder)


def check_alignment(suite, what, path, model, folder):
    out = folder / "aligned.safetensors"
    for alignment in (64, 4096):
        run(PROBE, "rewrite", path, out, "--align", str(alignment))
        _, text, start = header_of(out.read_bytes())
        suite.equal(f"{what}, data aligned to {alignment}", start % alignment, 0)
        shortest = len(text.rstrip(b" ")) + 8
        suite.check(f"{what}, no more padding than {alignment} needs", start - shortest < alignment)
        suite.equal(f"{what}, aligned to {alignment}, read by Python", read_by_python(out), model)
        if RUST_PEER:
            suite.equal(f"{what}, aligned to {alignment}, read by Rust", read_by_rust(out)[0], model)


def check_shards(suite, rng, folder):
    model = {}
    for layer in range(12):
        for part in ("weight", "bias"):
            data = rng.randbytes(4 * rng.randint(1, 600))
            model[f"layers.{layer}.{part}"] = ("F32", [len(data) // 4], data)
    model["large"] = ("U8", [20000], rng.randbytes(20000))
    for metadata in (None, {"format": "pt"}, {"format": "mlx", "made_by": "a test"}):
        what = f"shards with metadata {metadata}"
        single = folder / "single.safetensors"
        single.write_bytes(python_bytes(model, metadata))
        with suite.case(what), tempfile.TemporaryDirectory() as name:
            check_sharded_copy(suite, what, single, model, metadata, pathlib.Path(name))
        with suite.case(what), tempfile.TemporaryDirectory() as name:
            out = pathlib.Path(name) / "model.safetensors"
            run(PROBE, "rewrite", single, out, "--max-shard-size", str(1 << 30))
            suite.equal(f"{what}, one file when it fits one", os.listdir(name), [out.name])


def check_sharded_copy(suite, what, single, model, metadata, shards):
    limit = 5000
    files = run(PROBE, "rewrite", single, shards / "model.safetensors",
                "--max-shard-size", str(limit)).decode().splitlines()
    suite.equal(f"{what}, what was written", sorted(os.listdir(shards)),
                sorted(os.path.basename(file) for file in files))
    index_path = shards / "model.safetensors.index.json"
    suite.equal(f"{what}, the index comes last", files[-1], str(index_path))
    index = json.loads(index_path.read_text(encoding="utf-8"))
    total = sum(len(data) for _, _, data in model.values())
    suite.equal(f"{what}, total_size", index["metadata"]["total_size"], total)

    joined = {}
    count = len(files) - 1
    for number, file in enumerate(files[:-1], start=1):
        base = os.path.basename(file)
        suite.equal(f"{what}, name", base, f"model-{number:05d}-of-{count:05d}.safetensors")
        part = read_by_python(pathlib.Path(file))
        mapped = {name for name, shard in index["weight_map"].items() if shard == base}
        suite.equal(f"{what}, weight_map of {base}", mapped, set(part))
        size = sum(len(data) for _, _, data in part.values())
        suite.check(f"{what}, size of {base}", size <= limit or len(part) == 1, size)
        # Hugging Face's loaders ask each shard for its format.
        with safe_open(file, "np") as opened:
            suite.equal(f"{what}, metadata of {base}", opened.metadata(),
                        metadata or {"format": "pt"})
            for name in opened.keys():
                suite.equal(f"{what}, {name} as an array", opened.get_tensor(name).tobytes(),
                            model[name][2])
        joined |= part
    suite.equal(f"{what}, all together", joined, model)
    for place in (index_path, shards):
        suite.equal(f"{what}, hash of {place.name}", hash_by_tool(place)[0], summary(model))


def read_by_peers(path):
    """Whether each peer at hand reads the file."""
    def python_reads():
        try:
            read_by_python(path)
        except safetensors.SafetensorError:
            return False
        return True

    verdicts = {"Python": python_reads()}
    if RUST_PEER:
        verdicts["Rust"] = exit_code(RUST_PEER, "list", path) == 0
    return verdicts


def check_known_files(suite, folder):
    path = folder / "case.safetensors"
    check_verdicts(suite, safetensors_cases, path, read_by_peers, lambda what: suite.equal(
        f"{what}: hash", hash_by_tool(path)[0], summary(read_by_python(path))))


def main():
    count = 600 if "--long" in sys.argv[1:] else 100
    suite = Suite()
    rng = random.Random(8)
    if not RUST_PEER:
        print("NOT RUN: comparisons with the Rust crate (ANDIRON_RUST_PEER is not set)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_files_of_peers(suite, rng, folder, count)
        check_our_files(suite, folder, count)
        check_shards(suite, rng, folder)
        check_known_files(suite, folder)
    suite.finish()


if __name__ == "__main__":
    main()
