# SPDX-License-Identifier: MIT OR Apache-2.0
"""Burnpack against the real thing: burn-pack 0.22.1 and burn-store 0.21.0, and, in the long form,
burn-store 0.19.1, 0.20.1 and 0.22.1.

usage: burnpack_interop.py [--long]

The same content written by them and by us is the same file, to the byte, and each reads the other's. On
purpose different from Burn:

* The CPU backend takes the codes of small floats (E4M3, E5M2, E2M1) for integers. We take them for the
  floats that they are.
* The CPU backend of 0.21 and older takes blocks of several dimensions for runs of as many values. We take
  them for blocks, as every later release does.
* A file of 0.19 that does not name its release, and may as well be the front of a later one, is refused.
"""

import hashlib
import json
import math
import pathlib
import random
import re
import struct
import sys
import tempfile

import numpy as np

import burnpack_cases
from models_interop import check_load, check_report
from packs import (BARE_BOOL, DTYPES, ONLY_COPIED, VALUE_BITS, Pack, Scheme, Tensor, random_pack, read_lines,
                   write_lines)
from safetensors_interop import DTYPES as SAFETENSORS_DTYPES
from suite import BURN_PEERS, BURNPACK_PEER, BURNPACK_PROBE, TOOL, Suite, check_verdicts, exit_code, run
from zoo import OURS, PROGRAMS, RENAMED_BY_BURN, Program, contents_of, file_of, parameters


METADATA_OF_0_19 = {"format": "burnpack", "producer": "burn", "version": "0.19.1"}


class Peer:
    """A crate as a program. Stores read neither metadata nor scalars, and make ids up; the one of 0.19
    cannot list a file."""

    def __init__(self, name, path, release):
        self.name = name
        self.path = path
        self.release = release
        self.is_store = path != BURNPACK_PEER

    def pack(self, pack, out, folder):
        write_lines(folder / "lines", pack.lines_of(self.release))
        run(self.path, "pack", folder / "lines", out)

    def check_lists(self, suite, what, path, pack):
        if self.release == "0.19":
            return
        expected = pack.sorted().lines_of(self.release)
        listed = read_lines(run(self.path, "list", path))
        if self.is_store:
            expected, listed = expected[2:], listed[2:]
            for wanted, line in zip(expected, listed):
                if wanted["param_id"] is None:
                    line["param_id"] = None
        suite.equal(f"{what}, listed by {self.name}", listed, expected)


def peers():
    found = [Peer("burn-pack 0.22.1", BURNPACK_PEER, "0.22")] if BURNPACK_PEER else []
    return found + [Peer(f"burn-store {release}", path, release)
                    for release, path in BURN_PEERS.items() if release != "0.22"]


def dtypes_of(release):
    return [dtype for dtype in DTYPES
            if release not in BARE_BOOL or dtype not in ("Bool(U8)", "Bool(U32)")]


def pack_by_us(pack, out, folder, release):
    write_lines(folder / "lines", pack.lines())
    run(BURNPACK_PROBE, "pack", folder / "lines", out, release)


def hash_by_tool(path):
    """What our tool says of a file, by name, and the metadata."""
    answer = json.loads(run(TOOL, "hash", "--json", path))
    if "error" in answer:
        raise RuntimeError(answer["error"])
    tensors = {}
    for entry in answer["tensors"]:
        scheme = entry["file_dtype"] if entry["dtype"] == "qfloat" else None
        tensors[entry["name"]] = (entry["dtype"], scheme, entry["shape"], entry.get("param_id"),
                                  entry["sha256"])
    return tensors, answer.get("metadata") or {}


def check_read(suite, what, path, pack, release):
    """We read what a peer wrote."""
    suite.equal(f"{what}, hash", hash_by_tool(path), (pack.summary(), pack.metadata))
    suite.equal(f"{what}, listed", read_lines(run(BURNPACK_PROBE, "list", path)),
                pack.sorted().lines_read(release))


def check_pack(suite, what, pack, peer, folder):
    if peer.release == "0.19":
        pack = pack._replace(metadata=METADATA_OF_0_19 | pack.metadata)
    theirs, ours, again = folder / "theirs.bpk", folder / "ours.bpk", folder / "again.bpk"
    with suite.case(what):
        peer.pack(pack, theirs, folder)
        check_read(suite, f"{what} of {peer.name}", theirs, pack, peer.release)
        run(BURNPACK_PROBE, "rewrite", theirs, again, peer.release)
        peer.pack(pack.sorted(), theirs, folder)
        suite.same_bytes(f"{what} of {peer.name}, written again", again.read_bytes(), theirs.read_bytes())
        peer.check_lists(suite, f"{what}, written again", again, pack)
        made = Pack([tensor for tensor in pack.tensors if tensor.dtype not in ONLY_COPIED], pack.metadata,
                    pack.scalars)
        pack_by_us(made, ours, folder, peer.release)
        peer.pack(made, theirs, folder)
        suite.same_bytes(f"{what}, by us and by {peer.name}", ours.read_bytes(), theirs.read_bytes())
        peer.check_lists(suite, f"{what}, ours", ours, made)
        if not peer.is_store:
            run(peer.path, "rewrite", ours, theirs)
            pack_by_us(made.sorted(), again, folder, peer.release)
            suite.same_bytes(f"{what}, sorted", again.read_bytes(), theirs.read_bytes())


def check_random_packs(suite, peer, rng, folder, count):
    for number in range(count):
        check_pack(suite, f"pack {number}", random_pack(rng, dtypes_of(peer.release), peer.release), peer,
                   folder)


def tensor(name, param_id=None, data=bytes(range(4))):
    return Tensor(name, "U8", [len(data)], param_id, data)


def many_tensors(count):
    return [tensor(f"layers.{i}.weight", i, i.to_bytes(4, "little")) for i in range(count)]


def edge_packs(long):
    """Content at the edges of the format, by what it is."""
    yield "nothing", Pack([])
    yield "metadata alone", Pack([], {"k": "v"})
    yield "an empty key and text", Pack([tensor("")], {"": ""})
    for size in (23, 24, 255, 256, 65535, 65536):
        text = "n" * (size % 2) + "\u00e9" * (size // 2)
        yield f"a name of {size} bytes", Pack([tensor(text)])
        yield f"metadata of {size} bytes", Pack([tensor("a")], {text: text})
    for count in (65535, 65536, 100_000) if long else ():
        yield f"{count} tensors", Pack(many_tensors(count))
    for count in (23, 24, 255, 256, 5000):
        many = many_tensors(count)
        yield f"{count} tensors", Pack(many)
        yield f"{count} tensors, the last first", Pack(many[::-1])
        yield f"{count} entries of metadata", Pack([], {str(i): str(i) for i in range(count)})
    for rank in (8, 23, 24):
        yield f"rank {rank}", Pack([Tensor("a", "F32", [1] * rank, 1, bytes(4))])
    for size in (0, 1, 255, 256, 257, 65535, 65536):
        yield f"{size} bytes and more", Pack([tensor("b", 1, bytes(size)), tensor("a", 2, b"\xff" * size),
                                              tensor("e", 3, b""), tensor("c", 4)])


def check_edges(suite, peer, folder, long):
    for what, pack in edge_packs(long):
        check_pack(suite, what, pack, peer, folder)


def header_size(path):
    return 10 + int.from_bytes(path.read_bytes()[6:10], "little")


def check_header_sizes(suite, peer, folder):
    """Headers that end just before, at and after a multiple of 256."""
    path = folder / "header.bpk"
    metadata = METADATA_OF_0_19 if peer.release == "0.19" else {}
    for blocks in (1, 2, 3, 257):
        # Long enough that one more byte of text is one more byte of header.
        text = "x" * max(24, 256 * blocks - 180)
        peer.pack(Pack([tensor("a", 1)], metadata | {"pad": text}), path, folder)
        lacking = 256 * blocks - header_size(path)
        for beyond in (-2, -1, 0, 1, 2):
            pack = Pack([tensor("a", 1)], metadata | {"pad": text + "x" * (lacking + beyond)})
            peer.pack(pack, path, folder)
            suite.equal(f"a header to the byte, {peer.name}", header_size(path), 256 * blocks + beyond)
            check_pack(suite, f"a header {beyond} beyond {blocks} blocks", pack, peer, folder)


def check_scalars(suite, peer, folder):
    floats = [0.0, -0.0, math.inf, -math.inf, math.nan, 0.1, 65504.0, 65505.0, 65519.0, 65520.0]
    floats += [sign * base * 2.0**power for sign in (1, -1) for base in (1, 1.5, 1 + 2**-10, 1 + 2**-11,
                                                                          1 + 2**-23, 1 + 2**-24)
               for power in (-1074, -1022, -150, -149, -148, -126, -25, -24, -23, -15, -14, 0, 15, 16, 127,
                             128, 1000)]
    numbers = [0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63 - 1]
    scalars = {f"f{i}": {"Float": struct.pack(">d", number).hex()} for i, number in enumerate(floats)}
    scalars |= {f"n{bits}": {"Float": bits} for bits in (
        "7ff0000000000001", "7ff4000000000000", "7ff8000000000001", "fff8000000000000", "7ff8000020000000",
        "7ff0000020000000", "7ff8040000000000", "7ff0040000000000", "ffffffffffffffff")}
    scalars |= {f"i{number}": {"Int": number} for number in numbers}
    scalars |= {f"m{number}": {"Int": -1 - number} for number in numbers}
    scalars |= {f"u{number}": {"UInt": number} for number in (*numbers, 2**63, 2**64 - 1)}
    scalars |= {"yes": {"Bool": True}, "no": {"Bool": False}, "": {"Int": 0}}
    check_pack(suite, "scalars", Pack([tensor("a")], {"k": "v"}, scalars), peer, folder)
    check_pack(suite, "scalars alone", Pack([], {}, scalars), peer, folder)


def comparable(lines):
    """A listing in our words, sorted by names. Of schemes, that they are there: those of older releases mean
    something else to Burn. Of NaNs the quiet kind: Burn makes it of any that is stored short."""
    for scalar in lines[1]["scalars"].values():
        if "Float" in scalar and math.isnan(struct.unpack(">d", bytes.fromhex(scalar["Float"]))[0]):
            scalar["Float"] = f"{int(scalar['Float'], 16) | 1 << 51:016x}"
    for line in lines[2:]:
        dtype = line["dtype"]
        if isinstance(dtype, dict):
            dtype = f"Bool({dtype['Bool']})" if "Bool" in dtype else "QFloat"
        line["dtype"] = dtype.partition("(")[0] if dtype.startswith("QFloat(") else dtype
    return lines[:2] + sorted(lines[2:], key=lambda line: line["name"].encode())


def check_same_content(suite, what, path):
    suite.equal(f"{what}: the same to both", comparable(read_lines(run(BURNPACK_PROBE, "list", path))),
                comparable(read_lines(run(BURNPACK_PEER, "list", path))))


def check_known_files(suite, folder):
    path = folder / "case.bpk"

    def compare(what):
        with suite.case(what):
            check_same_content(suite, what, path)

    check_verdicts(suite, burnpack_cases, path,
                   lambda path: {"Burn": exit_code(BURNPACK_PEER, "list", path) == 0}, compare)


def check_damaged_files(suite, rng, folder, count):
    """Headers with a byte or two changed: refused, or the same to both. Nothing breaks."""
    path = folder / "damaged.bpk"
    peer = peers()[0]
    read_by_both = 0
    for number in range(count):
        if number % 20 == 0:
            pack = random_pack(rng, rng.sample(list(DTYPES), k=3), "0.22")
            peer.pack(pack._replace(tensors=pack.tensors[:5]), path, folder)
            original = path.read_bytes()
            size = header_size(path)
        data = bytearray(original)
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(6, size)
            data[at] = rng.choice((rng.randrange(256), data[at] ^ 1, data[at] ^ 0x20))
        path.write_bytes(data)
        what = f"damaged file {number}"
        code, burn_code = exit_code(BURNPACK_PROBE, "list", path), exit_code(BURNPACK_PEER, "list", path)
        suite.check(f"{what}: our exit code", code in (0, 2), code)
        if code == burn_code == 0:
            read_by_both += 1
            with suite.case(what):
                check_same_content(suite, what, path)
    suite.check("some damaged files are read", read_by_both > count / 20)


def floats_of(lines):
    return {line["name"]: line["data"] for line in lines if "name" in line}


def check_dequantized(suite, what, peer, path, theirs):
    ours = floats_of(read_lines(run(BURNPACK_PROBE, "dequantize", path)))
    suite.check(f"{what}: there are tensors", len(ours) > 0)
    suite.equal(f"{what}: names", sorted(ours), sorted(theirs))
    for name, data in ours.items():
        suite.equal(f"{what}: {name} as {peer.name} has it, to the bit", data, theirs.get(name))


def quantized_shapes(release):
    """Shapes, and blocks that divide them; of several dimensions since 0.22."""
    yield [48], (16,)
    yield [3, 16], (4,)
    yield [2, 3, 32], (32,)
    yield [2, 2, 2, 16], (8,)
    if release == "0.22":
        yield [4, 16], (2, 8)
        yield [4, 6, 16], (3, 8)
        yield [4, 6, 16], (2, 1, 16)


def quantized_schemes(release, block):
    """Integers, which is what the CPU backend knows."""
    params = ("F32", "F16", "BF16", "UE8M0", "UE4M3") if release == "0.22" else ("F32",)
    for value in VALUE_BITS:
        if value.startswith("Q") and (release == "0.22" or VALUE_BITS[value] == 8):
            for param in params:
                yield Scheme(value, tensor=param)
                yield Scheme(value, block=block, block_param=param)
            if release == "0.22":
                yield Scheme(value, block=block, block_param="UE4M3", tensor="F32")


def check_quantized_by_burn(suite, peer, rng, folder):
    """Burn quantizes, and says what it takes the result for."""
    path = folder / "quantized.bpk"
    tensors = []
    for shape, block in quantized_shapes(peer.release):
        for scheme in quantized_schemes(peer.release, block):
            numbers = [rng.gauss(0, rng.choice((1e-3, 1, 1e3))) for _ in range(math.prod(shape))]
            tensors.append(Tensor(f"{len(tensors)} {scheme.text()} {shape}", scheme, shape, None,
                                  np.array(numbers, np.float32).tobytes()))
    what = f"quantized by {peer.name}"
    with suite.case(what):
        write_lines(folder / "lines", Pack(tensors).lines_of(peer.release))
        theirs = floats_of(read_lines(run(peer.path, "quantize", folder / "lines", path)))
        suite.equal(f"{what}: all of them", len(theirs), len(tensors))
        stored = hash_by_tool(path)[0]
        suite.equal(f"{what}: schemes", {name: entry[1] for name, entry in stored.items()},
                    {tensor.name: tensor.dtype.text() for tensor in tensors})
        check_dequantized(suite, what, peer, path, theirs)


def random_scales(rng, param, count):
    """Positive, and such that no product is infinite."""
    if param in ("UE8M0", "UE4M3"):
        return bytes(rng.randint(1, 0x7E) for _ in range(count))
    if param == "F16":
        return b"".join(struct.pack("<e", rng.uniform(2**-20, 100)) for _ in range(count))
    words = [struct.pack("<f", math.ldexp(rng.uniform(1, 2), rng.randint(-130, 60))) for _ in range(count)]
    return b"".join(word if param == "F32" else word[2:] for word in words)


def check_any_payload(suite, peer, rng, folder):
    """Any values and scales, also packed ones, whose lines fill whole words."""
    path = folder / "payload.bpk"
    tensors = []
    for shape, block in quantized_shapes(peer.release):
        for scheme in quantized_schemes(peer.release, block):
            stores = ("Native", "PackedU32") if VALUE_BITS[scheme.value] == 8 or peer.release == "0.22" else (
                "PackedU32",)
            for store in stores:
                stored = scheme._replace(store=store)
                count = stored.value_bytes(shape)
                data = rng.randbytes(count)
                if store == "Native" and VALUE_BITS[scheme.value] < 8:
                    half = 1 << VALUE_BITS[scheme.value] - 1
                    data = bytes(rng.randint(-half, half - 1) & 0xFF for _ in range(count))
                data += random_scales(rng, stored.scale_param(), stored.scales(shape))
                if stored.block and stored.tensor:
                    data += random_scales(rng, stored.tensor, 1)
                tensors.append(Tensor(f"{len(tensors)} {stored.text()} {shape}", stored, shape, None, data))
    what = f"any payload, by {peer.name}"
    with suite.case(what):
        pack_by_us(Pack(tensors), path, folder, peer.release)
        check_dequantized(suite, what, peer, path,
                          floats_of(read_lines(run(peer.path, "dequantize", path))))


def names_by_place(path):
    """The names in a file, in the order of their data."""
    tensors = json.loads(run(TOOL, "hash", "--json", path))["tensors"]
    return [entry["name"] for entry in sorted(tensors, key=lambda entry: entry["offset"])]


def check_saved_models(suite, model, options, folder):
    """Every program loads what every program saves."""
    path = folder / "model.bpk"
    for writer in PROGRAMS:
        what = f"model saved by {writer.name} {options}"
        with suite.case(what):
            suite.equal(what, writer("save", path, *options, "--metadata", "who", "\u00e9\n"),
                        {"ok": True})
            tensors, metadata = hash_by_tool(path)
            metadata.pop("version")
            producer = "andiron" if writer is OURS else "burn"
            suite.equal(f"{what}, metadata", metadata,
                        {"format": "burnpack", "producer": producer, "who": "\u00e9\n"})
            expected = file_of(model, options, writer.renamed)
            suite.equal(f"{what}, hash", {name: entry[:1] + entry[2:3] + entry[4:]
                                          for name, entry in tensors.items()},
                        {name: (SAFETENSORS_DTYPES[dtype][1], shape, hashlib.sha256(data).hexdigest())
                         for name, (dtype, shape, data) in expected.items()})
            suite.equal(f"{what}, order", names_by_place(path), list(expected))
            suite.check(f"{what}, ids", all(entry[3] for entry in tensors.values()))
            for reader in PROGRAMS:
                check_load(suite, f"{what}, loaded by {reader.name}", path, model, options,
                           (writer, reader))
            if not options:
                suite.equal(f"{what}, ids taken over", OURS("load", path)["ids"],
                            {name: entry[3] for name, entry in tensors.items()})


def check_parts_of_models(suite, model, folder):
    """Filters, names and what is missing."""
    path = folder / "part.bpk"
    paths = [parameter.path for parameter in model]
    listed = [name for name in paths if name.startswith("list.")]
    others = set(paths) - set(listed)
    for writer in PROGRAMS:
        with suite.case("parts"):
            writer("save", path)
            for reader in PROGRAMS:
                what = f"saved by {writer.name}, loaded by {reader.name}"
                check_report(suite, f"a part {what}", reader("load", path, "--regex", r"^list\."), listed,
                             skipped=others)
                refused = reader("load", path, "--remap", r"^list\.", "layers.")
                suite.equal(f"other names {what}", refused["ok"], False)
                check_report(suite, f"two rules {what}", reader("load", path, "--remap", r"^list\.", "a.",
                                                                "--remap", r"^a\.", "list."), paths)
            writer("save", path, "--regex", r"^list\.")
            for reader in PROGRAMS:
                what = f"saved in part by {writer.name}, loaded by {reader.name}"
                suite.equal(f"{what}: refused", reader("load", path)["ok"], False)
                check_report(suite, what, reader("load", path, "--partial"), listed, missing=others)


def names_in(release, names):
    """0.19 leaves the indices of tuples out of its names."""
    return [re.sub(r"^pair\.\d", "pair", name) for name in names] if release == "0.19" else names


def check_ids(suite, what, path, ids):
    """A load takes them over; Burn does not for running statistics."""
    stored = {name: entry[3] for name, entry in hash_by_tool(path)[0].items() if "running" not in name}
    suite.equal(f"{what}: ids", {name: ids[name] for name in stored}, stored)


def check_models_of(suite, model, program, release, folder):
    """Of one release: its files, and ours for it."""
    path = folder / "older.bpk"
    paths = [parameter.path for parameter in model]
    # The numbers follow from names.
    expected = [entry for entry in contents_of((parameter.path, parameter.values) for parameter in model)
                if names_in(release, [entry["path"]]) == [entry["path"]]]
    readers = [(program, ["--remap", r"^pair\.\d", "pair"], names_in(release, paths)),
               (OURS, ["--remap", r"^pair\.(weight|bias)$", "pair.0.$1", "--remap",
                       r"^pair\.(gamma|beta)$", "pair.1.$1"], paths)]
    for writer, options, names in ((program, [], names_in(release, paths)),
                                   (OURS, ["--release", release], paths)):
        what = f"model saved by {writer.name} for {release}"
        with suite.case(what):
            suite.equal(what, writer("save", path, *options), {"ok": True})
            suite.equal(f"{what}, order", names_by_place(path), names)
            for reader, rules, places in readers:
                report = reader("load", path, *(rules if names != places else []))
                check_report(suite, f"{what}, loaded by {reader.name}", report, places)
                suite.equal(f"{what}, loaded by {reader.name}: contents",
                            [entry for entry in report["tensors"] if entry in expected], expected)
                if release == "0.22":
                    check_ids(suite, f"{what}, loaded by {reader.name}", path, report["ids"])


def check_models(suite, folder):
    model = parameters()
    for options in ([], ["--pytorch"], ["--half"], ["--pytorch", "--half"]):
        check_saved_models(suite, model, options, folder)
    check_parts_of_models(suite, model, folder)
    for release, path in BURN_PEERS.items():
        check_models_of(suite, model, Program(f"Burn {release}", path, RENAMED_BY_BURN), release, folder)


def main():
    long = "--long" in sys.argv[1:]
    suite = Suite()
    rng = random.Random(22)
    if not BURNPACK_PEER:
        print("NOT RUN: comparisons with burn-pack (ANDIRON_BURNPACK_PEER is not set)")
    if not BURN_PEERS:
        print("NOT RUN: comparisons with burn-store (ANDIRON_BURN_PEER is not set)")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for peer in peers():
            check_random_packs(suite, peer, rng, folder, 300 if long else 50)
            check_edges(suite, peer, folder, long)
            check_header_sizes(suite, peer, folder)
            if peer.release == "0.22":
                check_scalars(suite, peer, folder)
        if BURNPACK_PEER:
            check_known_files(suite, folder)
            check_damaged_files(suite, rng, folder, 3000 if long else 300)
        for release in ("0.21", "0.22"):
            if release in BURN_PEERS:
                peer = Peer(f"burn-store {release}", BURN_PEERS[release], release)
                check_quantized_by_burn(suite, peer, rng, folder)
                check_any_payload(suite, peer, rng, folder)
        check_models(suite, folder)
    suite.finish()


if __name__ == "__main__":
    main()
