# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes burnpack-VERSION/, mpk-VERSION/ and burn-safetensors-VERSION/ with the programs of tests/interop
that releases of Burn are built into, and what those releases read in them.

usage: make_burn.py FOLDER

The environment names the programs, as for the suites of tests/interop. A release without one is left as it
is.
"""

import hashlib
import json
import pathlib
import random
import shutil
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))

from packs import (BARE_BOOL, DTYPES, Pack, Scheme, Tensor, random_data, random_pack, read_lines,  # noqa: E402
                   write_lines)
from suite import BURN_PEERS, BURNPACK_PEER, run  # noqa: E402
from truth import write_truth  # noqa: E402

VERSIONS = {"0.19": "0.19.1", "0.20": "0.20.1", "0.21": "0.21.0", "0.22": "0.22.1"}
ZOO_FILES = {
    "zoo": [], "zoo_metadata": ["--metadata", "note", "\u00fcml\u00e4uts", "--metadata", "", "empty key"],
    "zoo_filtered": ["--regex", r"^(linear|counts|mask)"], "zoo_remapped": ["--remap", r"^list\.", "layers."],
}
# Nothing of 0.19 says which ids a file has; those of running state do not follow from the model.
ZOO_FILES_OF_0_19 = {
    "zoo": ["--regex", "^[^b]"], "zoo_metadata": [*ZOO_FILES["zoo_metadata"], "--regex", "^[^b]"],
    "zoo_filtered": ZOO_FILES["zoo_filtered"],
}
ADAPTED_ZOO_FILES = {"zoo_half": ["--half"], "zoo_pytorch": ["--pytorch"]}
NAMES = ["", ".", "a.b", "with space", "\u00fcml\u00e4ut", "\u4e2d\u6587", "\U0001F525", 'quote"',
         "line\nbreak", "\0", "n" * 23, "n" * 24, "n" * 255, "n" * 256]
IDS = [None, 0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63, 2**64 - 1]


def tensor(name, param_id=1, data=bytes(range(4))):
    return Tensor(name, "U8", [len(data)], param_id, data)


def described(line, param_id):
    """A tensor of a list as an entry of the truth."""
    data = bytes.fromhex(line["data"])
    about = {"dtype": line["dtype"], "shape": line["shape"], "bytes": len(data),
             "sha256": hashlib.sha256(data).hexdigest(),
             "param_id": None if param_id is None else str(param_id)}
    if isinstance(line["dtype"], dict):
        about["dtype"], about["dtype_detail"] = next(iter(line["dtype"])), line["dtype"]
    return about


class Packs:
    """The Burnpack files of a release."""

    def __init__(self, root, release, work):
        self.release, self.work = release, work
        self.version = VERSIONS[release]
        self.folder = root / f"burnpack-{self.version}"
        self.store = BURN_PEERS.get(release)
        # burn-pack is the writer of 0.22, and reads what 0.21 wrote with what a store does not show.
        self.packer = BURNPACK_PEER if release == "0.22" else self.store
        self.truth = {}
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def path(self, name):
        return self.folder / f"{name}.bpk"

    def list(self, path):
        return [line for line in read_lines(run(self.packer, "list", path)) if "name" in line]

    def read_back(self, name, metadata, ids):
        """Metadata and ids are those that were written where no reader shows them."""
        path, scalars = self.path(name), {}
        if self.release in ("0.21", "0.22"):
            metadata, scalars, *lines = read_lines(run(BURNPACK_PEER, "list", path))
            metadata, scalars = metadata["metadata"], scalars["scalars"]
            ids = {line["name"]: line["param_id"] for line in lines}
        about = {"version": self.version, "metadata": metadata,
                 "tensors": {line["name"]: described(line, ids.get(line["name"], line["param_id"]))
                             for line in self.list(path)}}
        if scalars:
            about["scalars"] = {key: {"Float": {"f64_bits": value["Float"]}} if "Float" in value else value
                                for key, value in scalars.items()}
        self.truth[path.name] = about

    def pack(self, name, pack):
        write_lines(self.work / "lines", pack.lines_of(self.release))
        run(self.packer, "pack", self.work / "lines", self.path(name))
        self.read_back(name, pack.metadata, {one.name: one.param_id for one in pack.tensors})

    def save(self, name, options):
        metadata = {"format": "burnpack", "producer": "burn", "version": self.version}
        given = [options[at + 1:at + 3] for at, word in enumerate(options) if word == "--metadata"]
        run(self.store, "save", self.path(name), *options)
        if self.release != "0.19":
            self.read_back(name, metadata | dict(given), {})
            return
        # This release lists no file: what it puts into a model, which keeps its own ids.
        answer = json.loads(run(self.store, "load", self.path(name), "--partial"))
        tensors = {one["path"]: {"dtype": one["dtype"], "shape": one["shape"], "sha256": one["sha256"],
                                 "bytes": count(one["shape"]) * (1 if one["dtype"] == "bool" else 4),
                                 "param_id": str(id_of(one["path"]))}
                   for one in answer["tensors"] if one["path"] in answer["applied"]}
        self.truth[self.path(name).name] = {"version": self.version, "metadata": metadata | dict(given),
                                            "tensors": tensors}

    def quantize(self, name, schemes, shape, rng):
        """Numbers that Burn itself quantized."""
        numbers = struct.pack(f"<{count(shape)}f", *(rng.uniform(-2, 2) for _ in range(count(shape))))
        tensors = [Tensor(f"q{i}", scheme, shape, 7 + i, numbers) for i, scheme in enumerate(schemes)]
        write_lines(self.work / "lines", Pack(tensors).lines_of(self.release))
        run(self.store, "quantize", self.work / "lines", self.path(name))
        self.read_back(name, {}, {})

    def finish(self):
        write_truth(self.folder, self.truth)
        print(f"{self.folder.name}: {len(self.truth)} files")


def id_of(path):
    """Of a parameter of the model (zoo.rs)."""
    hashed = 0xCBF29CE484222325
    for byte in path.encode():
        hashed = (hashed ^ byte) * 0x100000001B3 % 2**64
    return hashed


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def every_dtype(release, rng):
    names = [dtype for dtype in DTYPES if release not in BARE_BOOL or dtype not in ("Bool(U8)", "Bool(U32)")]
    return [Tensor(dtype, dtype, [2, 3], 5, random_data(rng, dtype, 6)) for dtype in names]


def write_headers(packs):
    """Headers that end just before, at and after a multiple of 256."""
    packs.pack("header", Pack([tensor("a")], {"pad": "x" * 100}))
    lacking = 256 - 10 - int.from_bytes(packs.path("header").read_bytes()[6:10], "little")
    for name, beyond in (("header_before_256", -1), ("header_at_256", 0), ("header_after_256", 1)):
        packs.pack(name, Pack([tensor("a")], {"pad": "x" * (100 + lacking + beyond)}))


def write_edges(packs, rng):
    packs.pack("dtypes", Pack(every_dtype(packs.release, rng)))
    packs.pack("names", Pack([tensor(name, i) for i, name in enumerate(NAMES)]))
    packs.pack("param_ids", Pack([tensor(str(i), param_id) for i, param_id in enumerate(IDS)]))
    packs.pack("empty", Pack([]))
    packs.pack("metadata", Pack([tensor("w")], {"": "", "k": "v", "long": "x" * 300, "\u00fc": "\U0001F525"}))
    packs.pack("padding", Pack([tensor(f"t{size}", 1, bytes(size % 256 for _ in range(size)))
                                for size in (0, 1, 255, 256, 257, 3)]))
    packs.pack("ranks", Pack([Tensor(f"r{rank}", "F32", [1] * rank, rank, struct.pack("<f", rank))
                              for rank in (0, 1, 2, 5, 8, 24)]))
    packs.pack("zero_elements", Pack([tensor("before"), Tensor("none", "F32", [3, 0], 2, b""), tensor("z")]))
    packs.pack("reverse_order", Pack([tensor(name, i) for i, name in enumerate("zyxba")]))
    packs.pack("many", Pack([tensor(f"layers.{i}.weight", i, i.to_bytes(4, "little")) for i in range(60)]))
    for number in (1, 2):
        packs.pack(f"random_{number}", random_pack(rng, [dtype for dtype in DTYPES if dtype in (
            "F32", "F16", "I64", "U8")], packs.release))


def write_quantized(packs, rng):
    """By Burn's backend for the CPU, as far as the release quantizes."""
    packs.quantize("quantized_tensor", [Scheme("Q8S", tensor="F32"), Scheme("Q8F", tensor="F32")], [4, 16], rng)
    packs.quantize("quantized_block", [Scheme("Q8S", block=(16,)), Scheme("Q8F", block=(8,))], [4, 16], rng)
    if packs.release == "0.22":
        packs.quantize("quantized_small", [Scheme("Q4S", tensor="F32"), Scheme("Q2S", block=(16,)),
                                           Scheme("Q8S", tensor="F16"),
                                           Scheme("Q8S", block=(8,), block_param="BF16")], [4, 16], rng)


def write_scalars(packs):
    floats = {"zero": 0.0, "minus_zero": -0.0, "tenth": 0.1, "half": 0.5, "inf": float("inf"), "least": 5e-324,
              "largest": 1.7976931348623157e308, "65504": 65504.0, "65520": 65520.0}
    scalars = {f"f.{name}": {"Float": struct.pack(">d", number).hex()} for name, number in floats.items()}
    scalars |= {f"i.{number}": {"Int": number} for number in (0, -1, -24, -25, -256, -257, 2**63 - 1, -2**63)}
    scalars |= {f"u.{number}": {"UInt": number} for number in (0, 24, 65536, 2**64 - 1)}
    scalars |= {"b.true": {"Bool": True}, "b.false": {"Bool": False}, "f.nan": {"Float": "7ff8000000000000"}}
    packs.pack("scalars", Pack([tensor("w")], {}, scalars))
    packs.pack("scalars_only", Pack([], {}, {"step": {"UInt": 3}}))


def refusal(packs, path):
    try:
        packs.list(path)
    except RuntimeError as error:
        return str(error).strip().rpartition("\n")[2].rpartition("Error: ")[2]
    raise AssertionError(f"{path} is read")


def write_damaged(packs):
    """Files that Burn wrote and that were changed afterwards, as far as they say; it refuses them."""
    cut = packs.path("cut")
    cut.write_bytes(packs.path("names").read_bytes()[:-1])
    packs.truth[cut.name] = {"version": packs.version, "refused": refusal(packs, cut)}
    if packs.release == "0.21":  # of which the release reads the last
        packs.pack("corrupt_duplicate_names", Pack([tensor("w", 1), tensor("v", 2), tensor("w", 3, b"last")]))
        packs.truth["corrupt_duplicate_names.bpk"]["corrupt"] = "a name is there twice"
    if packs.release == "0.22":
        wrong = packs.path("corrupt_wrong_length")
        packs.pack("corrupt_wrong_length", Pack([Tensor("w", "F32", [4], 1, struct.pack("<4f", 1, 2, 3, 4))]))
        wrong.write_bytes(wrong.read_bytes().replace(b"\x65shape\x81\x04", b"\x65shape\x81\x03"))
        refusal(packs, wrong)
        about = packs.truth[wrong.name]
        about["corrupt"] = "the shape was [4], which is what the bytes are for"
        about["tensors"]["w"]["shape"] = [3]


def write_packs(root, release, work):
    packs = Packs(root, release, work)
    rng = random.Random(release)
    files = ZOO_FILES_OF_0_19 if release == "0.19" else ZOO_FILES
    files = files | (ADAPTED_ZOO_FILES if release in ("0.21", "0.22") else {})
    for name, options in files.items():
        packs.save(name, options)
    if release != "0.19":
        write_edges(packs, rng)
        write_headers(packs)
        write_damaged(packs)
    if release in ("0.21", "0.22"):
        write_quantized(packs, rng)
    if release == "0.22":
        write_scalars(packs)
    packs.finish()


def write_records(root):
    folder = root / f"mpk-{VERSIONS['0.21']}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    truth = json.loads(run(BURN_PEERS["0.21"], "records", folder))
    write_truth(folder, truth)
    print(f"{folder.name}: {len(truth)} files")


def write_safetensors(root):
    version = VERSIONS["0.21"]
    folder = root / f"burn-safetensors-{version}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    truth = {}
    for name, options in (ZOO_FILES | ADAPTED_ZOO_FILES | {"zoo_variants": ["--skip-enum-variants"]}).items():
        path = folder / f"{name}.safetensors"
        run(BURN_PEERS["0.21"], "save", path, *options)
        lines = [line for line in read_lines(run(BURN_PEERS["0.21"], "list", path)) if "name" in line]
        tensors = {line["name"]: described(line, line["param_id"]) for line in lines}
        for about in tensors.values():  # the file has none
            del about["param_id"]
        truth[path.name] = {"version": version, "tensors": tensors}
    write_truth(folder, truth)
    print(f"{folder.name}: {len(truth)} files")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        for release in VERSIONS:
            needed = [BURN_PEERS.get(release)] + [BURNPACK_PEER] * (release in ("0.21", "0.22"))
            if all(needed):
                write_packs(root, release, pathlib.Path(name))
            else:
                print(f"NOT MADE: Burnpack files of {release}: the program is not there")
    if "0.21" in BURN_PEERS:
        write_records(root)
        write_safetensors(root)


if __name__ == "__main__":
    main()
