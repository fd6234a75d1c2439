# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes torch-VERSION/ with the torch at hand, and what that torch reads in it.

usage: make_torch.py FOLDER [--old]

With --old, only what differs from release to release: the newest torch makes the rest.
"""

import argparse
import collections
import gzip
import io
import json
import pathlib
import pickle
import random
import shutil
import sys
import warnings
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "interop"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
from torch import nn  # noqa: E402

import torch_models  # noqa: E402
from pytorch_cases import Net, Trained, trained  # noqa: E402
from pytorch_containers import (StorageSizes, chunking_planner, mixed_state, without_sharing,  # noqa: E402
                                zip_entries)
from pytorch_random import DTYPES, UNTYPED, Checkpoint  # noqa: E402
from pytorch_truth import DTYPES as OUR_NAMES  # noqa: E402
from pytorch_truth import SINCE_2_0, Listing, torch_name  # noqa: E402
from torch_tar import write_partial_tar, write_tar  # noqa: E402
from truth import entry, write_truth  # noqa: E402

TORCH_NAMES = {ours: theirs for theirs, ours in OUR_NAMES.items()}


def described(tensors):
    """A listing in the words of torch."""
    about = {}
    for name, tensor in tensors.items():
        shape = list(tensor.shape)
        if tensor.dtype == "f4e2m1":  # two to an element of torch's
            shape[-1] //= 2
        about[name] = entry(TORCH_NAMES.get(tensor.dtype, tensor.dtype), shape, tensor.sha256)
    return about


class Maker:
    def __init__(self, folder):
        self.folder = folder
        self.truth = {}

    def place(self, name):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def listed(self, name, listing):
        if not isinstance(listing, Listing):
            listing = Listing(listing)
        self.truth[name] = {"tensors": described(listing.tensors), "skipped": sorted(listing.skipped)}

    def read_back(self, name):
        """What torch reads, not what it was given to write."""
        self.listed(name, torch.load(str(self.folder / name), weights_only=False))

    def save(self, name, value, legacy=False, **options):
        torch.save(value, self.place(name), _use_new_zipfile_serialization=not legacy, **options)
        self.read_back(name)


def every_dtype():
    return {torch_name(dtype): Checkpoint(1).dense(dtype, [3, 4]) for dtype in DTYPES}


def views():
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    return {"whole": base, "turned": base.t(), "row": base[1], "column": base[:, 2], "step": base[::2, 1::3],
            "inner": base[1:3, 2:5], "flat": base.view(24), "expanded": torch.arange(3.0).expand(4, 3),
            "one": torch.tensor(7.5).expand(2, 2), "last": base[3:, 5:], "none": base[4:],
            "axes": torch.arange(24).reshape(2, 3, 4).permute(2, 0, 1)}


def plain(make):
    """State in memory as torch.save writes it, in both containers."""
    every = every_dtype()
    make.save("dtypes.pt", every)
    # torch writes its newest types into old containers, and cannot read them there.
    newest_names = {torch_name(dtype) for dtype in UNTYPED}
    make.save("dtypes_legacy.pt", {name: tensor for name, tensor in every.items() if name not in newest_names},
              legacy=True)
    make.save("dtypes_turned.pt", {name: tensor.t() for name, tensor in every.items()})
    make.save("shapes.pt", {str(len(shape)) + "d" + str(i): torch.rand(shape) for i, shape in enumerate(
        ([], [1], [5], [0], [2, 3], [0, 3], [3, 0], [2, 1, 3], [1, 1, 1, 1], [2, 1, 2, 1, 2], [1] * 8))})
    make.save("views.pt", views())
    make.save("views_legacy.pt", views(), legacy=True)
    shared = torch.rand(3, 4)
    make.save("tied.pt", {"first": shared, "second": shared, "part": shared[1:]})
    make.save("tied_legacy.pt", {"first": shared, "second": shared, "part": shared[1:]}, legacy=True)
    complex_numbers = torch.tensor([[1 + 2j, 3 - 4j], [0 + 1j, -1j]])
    make.save("conj.pt", {"plain": complex_numbers, "conj": complex_numbers.conj(),
                          "negative": complex_numbers.clone().conj().imag, "turned": complex_numbers.mH})
    for protocol in range(1, 6):
        make.save(f"proto{protocol}.pt", {"a": torch.rand(2, 3), "b": [torch.rand(2), {"c": torch.rand(1)}],
                                          "text": "x", 7: torch.arange(3)}, pickle_protocol=protocol)
    make.save("proto4_legacy.pt", {"a": torch.rand(2)}, legacy=True, pickle_protocol=4)
    make.save("bare_tensor.pt", torch.rand(2, 3))
    make.save("bare_parameter.pt", nn.Parameter(torch.rand(3)))
    make.save("list_of_tensors.pt", [torch.rand(2), (torch.rand(1), torch.rand(3))])
    make.save("names.pt", {"": torch.rand(1), "a.b": torch.rand(1), "\u00fcml\u00e4ut": torch.rand(1),
                           "with space": torch.rand(1), "\U0001F525": torch.rand(1), 3: torch.rand(1),
                           0.5: torch.rand(1), True: torch.rand(1), ("x", 2): torch.rand(1)})
    make.save("nothing.pt", {})


def logical(make):
    """Tensors that are made of several."""
    i = torch.tensor([[0, 1, 3], [2, 0, 3]])
    sparse = torch.sparse_coo_tensor(i, torch.tensor([1.0, 2.0, 3.0]), (4, 4))
    make.save("sparse.pt", {"sparse": sparse, "dense": torch.rand(2)})
    make.save("sparse_csr.pt", {"csr": sparse.to_dense().to_sparse_csr(), "dense": torch.rand(2)})
    make.save("sparse_legacy.pt", {"sparse": sparse}, legacy=True)
    per_tensor = torch.quantize_per_tensor(torch.rand(3, 4), 0.1, 3, torch.quint8)
    per_channel = torch.quantize_per_channel(torch.rand(3, 4), torch.tensor([0.1, 0.2, 0.3]),
                                             torch.tensor([0, 1, 2]), 0, torch.qint8)
    make.save("quantized.pt", {"q": per_tensor, "qc": per_channel, "dense": torch.rand(2)})


def modules(make):
    make.save("whole_module.pt", Net())
    make.save("whole_module_legacy.pt", Net().half(), legacy=True)
    make.save("net_state_dict.pt", Net().state_dict())
    make.save("wrapped.pt", nn.DataParallel(nn.Linear(2, 3)))
    make.save("weight_norm.pt", nn.utils.weight_norm(nn.Linear(3, 2)).state_dict())


def checkpoints(make):
    model, optimizer = trained()
    state = collections.OrderedDict((f"model.{name}", value) for name, value in model.state_dict().items())
    make.save("lightning.ckpt", {
        "epoch": 3, "global_step": 120, "pytorch-lightning_version": "2.1.0", "state_dict": state,
        "loops": {"fit_loop": {"state_dict": {}, "epoch_progress": {"current": {"ready": 1}}}},
        "callbacks": {"EarlyStopping{'monitor': 'val'}": {"best_score": torch.tensor(0.5), "patience": 3}},
        "optimizer_states": [optimizer.state_dict()],
        "lr_schedulers": [torch.optim.lr_scheduler.StepLR(optimizer, 5).state_dict()],
        "hparams_name": "config",
        "hyper_parameters": argparse.Namespace(lr=0.1, path=pathlib.PurePosixPath("a")),
    })
    make.save("messy.ckpt", {
        "date": "2024-01-01", "best_fitness": np.float64(0.5), "model": model, "ema": Trained(),
        "np_rng": np.random.RandomState(1).get_state(), "rng_state": torch.get_rng_state()[:64],
        "optimizer": trained(torch.optim.SGD)[1].state_dict(), "names": ["a", None, {1, 2}],
        "nested": [[[{"w": torch.rand(2)}]]], "dtype": torch.float16, "size": torch.Size([1, 2]),
        "device": torch.device("cpu")})
    make.save("config.pt", {"w": torch.rand(2), "config": {
        "layers": 2, "rate": 0.5, "names": ["a", "b"], "none": None, "flag": True}})


def write_zip(path, entries, prefix="archive/", method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(prefix + name), data, method)  # of no particular time


def containers(make):
    """Zip files that were written again, and what lies around a file."""
    value = mixed_state()
    entries = zip_entries(value)
    write_zip(make.place("deflated.pt"), entries, method=zipfile.ZIP_DEFLATED)
    make.read_back("deflated.pt")
    write_zip(make.place("other_folder.pt"), dict(reversed(entries.items())), "my model.v2/")
    make.read_back("other_folder.pt")
    for name, legacy in (("gzipped.pt.gz", False), ("gzipped_legacy.pt.gz", True)):
        buffer = io.BytesIO()
        torch.save(views(), buffer, _use_new_zipfile_serialization=not legacy)
        make.place(name).write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
        buffer.seek(0)
        make.listed(name, torch.load(buffer, weights_only=False))
    broken = make.place("broken.pt")
    broken.write_bytes(b"PK\x03")
    try:
        torch.load(str(broken), weights_only=False)
        raise AssertionError("a broken file is read")
    except (EOFError, RuntimeError, pickle.UnpicklingError) as error:
        make.truth["broken.pt"] = {"refused": type(error).__name__}


def big_endian(make):
    """As a big-endian machine writes it; since 2.0 torch reads that."""
    known = {torch_name(dtype) for dtype in DTYPES if dtype not in UNTYPED} & set(OUR_NAMES)
    entries = zip_entries({name: tensor for name, tensor in mixed_state().items() if name in known})
    reader = StorageSizes(entries["data.pkl"])
    reader.load()
    for key, size in reader.sizes.items():
        swapped = np.frombuffer(entries[f"data/{key}"], np.uint8).reshape(-1, size)[:, ::-1]
        entries[f"data/{key}"] = swapped.tobytes()
    write_zip(make.place("big_endian.pt"), entries | {"byteorder": b"big"})
    make.read_back("big_endian.pt")


def bare_pickles(make):
    generator = np.random.RandomState(3)
    arrays = {"w": generator.rand(3, 4).astype("f4"), "turned": generator.rand(3, 4).T,
              "big": np.arange(6, dtype=">i4"), "deep": [np.zeros((2, 0)), np.array(3.5)],
              "mask": np.ones(3, bool)}
    tensors = {"w": torch.rand(3, 4), "turned": torch.rand(2, 3).t(), "part": torch.arange(5)[1:3],
               "parameter": nn.Parameter(torch.rand(2)), "module": nn.Linear(2, 2)}
    for protocol in (0, 2, 5):
        for what, value in (("arrays", arrays), ("tensors", tensors)):
            name = f"{what}_{protocol}.pkl"
            data = pickle.dumps(value, protocol=protocol)
            make.place(name).write_bytes(data)
            make.listed(name, Listing(pickle.loads(data), bare=True))


def without_sources():
    """Scripts, and modules in old containers, come with their source and its path. The file's name stays of
    the path, and the first line of a module's source."""
    import torch.jit.frontend
    original = torch._sources.get_source_lines_and_file

    def without_folder(*arguments):
        lines, number, name = original(*arguments)
        return lines, number, name and pathlib.Path(name).name

    def first_line(*arguments):
        lines, number, name = without_folder(*arguments)
        return lines[:1], number, name

    torch._sources.get_source_lines_and_file = without_folder
    torch.jit.frontend.get_source_lines_and_file = without_folder
    torch.serialization.get_source_lines_and_file = first_line


def scripts(make):
    model = torch_models.Scripted().eval()
    attributes = ["plain", "several.0", "several.1", "named.x", "pair.0"]
    for name, skipped in (("torchscript.pt", attributes), ("torchscript_lite.ptl", attributes)):
        path, script = make.place(name), torch.jit.script(model)
        if name.endswith(".ptl"):
            script._save_for_lite_interpreter(str(path))
        else:
            torch.jit.save(script, str(path))
        listing = Listing(torch.jit.load(str(make.folder / "torchscript.pt")).state_dict())
        listing.skipped |= set(skipped)
        make.listed(name, listing)


def sharded(make, name, legacy):
    state = Net().state_dict()
    names = list(state)
    parts = [names[start:start + 20] for start in range(0, len(names), 20)]
    weight_map, listing = {}, Listing()
    for number, part in enumerate(parts, start=1):
        shard = f"pytorch_model-{number:05d}-of-{len(parts):05d}.bin"
        path = make.place(f"{name}/{shard}")
        torch.save({one: state[one] for one in part}, path, _use_new_zipfile_serialization=not legacy)
        weight_map |= {one: shard for one in part}
        listing.tensors |= Listing(torch.load(str(path), weights_only=False)).tensors
    total = sum(tensor.numel() * tensor.element_size() for tensor in state.values())
    index = f"{name}/pytorch_model.bin.index.json"
    make.place(index).write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}))
    make.listed(index, listing)


def numbers(make):
    """Files of one tensor each, whose numbers the tests know."""
    tensors = {
        "float32": torch.tensor([1, 2.5, -3.7, 0]),
        "float64": torch.tensor([1.1, 2.2, 3.3], dtype=torch.float64),
        "int64": torch.tensor([100, -200, 300, 0]), "int32": torch.tensor([10, 20, -30], dtype=torch.int32),
        "int16": torch.tensor([1000, -2000, 3000], dtype=torch.int16),
        "int8": torch.tensor([127, -128, 0, 50], dtype=torch.int8),
        "uint8": torch.tensor([0, 128, 255, 42], dtype=torch.uint8),
        "bool": torch.tensor([True, False, True, True, False]),
        "float16": torch.tensor([1.5, -2.25, 3.125], dtype=torch.float16),
        "bfloat16": torch.tensor([1.5, -2.5, 3.5], dtype=torch.bfloat16),
        "tensor_2d": torch.tensor([[1.0, 2, 3], [4, 5, 6]]), "scalar": torch.tensor(42.0),
        "tensor_3d": torch.arange(24.0).reshape(2, 3, 4), "tensor_4d": torch.arange(16.0).reshape(2, 2, 2, 2),
        "special_values": torch.tensor([float("inf"), float("-inf"), float("nan"), -0.0]),
        "extreme_values": torch.tensor([1e-30, 1e30, 1.1754944e-38, 3.4028235e38, 1e-45]),
    }
    large = torch.zeros(100, 100)
    large[0, 0], large[50, 50], large[99, 99] = 1, 2, 3
    for name, tensor in (tensors | {"large_shape": large}).items():
        make.save(f"reader/{name}.pt", {"tensor": tensor})
    model, optimizer = trained()
    make.save("reader/checkpoint.pt", {"epoch": 42, "loss": 0.123, "model_state_dict": model.state_dict(),
                                       "optimizer_state_dict": optimizer.state_dict()})
    make.save("reader/non_contiguous.pt", {"permuted": torch.rand(2, 3, 4).permute(0, 2, 1),
                                           "expanded": torch.tensor([1.0, 2, 3]).expand(2, 3)})
    make.save("reader/full_model.pt", torch_models.Whole())
    tars(make, tensors)


def tars(make, tensors):
    """As releases before 0.1.10 wrote them. Later ones can only read them."""
    root = torch.arange(8, dtype=torch.float32)
    matrix = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    files = {
        "tar_float32": {"tensor": tensors["float32"]}, "tar_float64": {"tensor": tensors["float64"]},
        "tar_int64": {"tensor": tensors["int64"]}, "tar_2d_tensor": {"matrix": matrix},
        "tar_weight_bias": {"weight": torch.rand(2, 3), "bias": torch.rand(2)},
        "tar_multi_dtype": {"float_tensor": torch.rand(3), "double_tensor": torch.rand(2, dtype=torch.float64),
                            "int_tensor": torch.arange(4)},
        "tar_turned": {"turned": matrix.t(), "row": matrix[1], "same": matrix, "count": torch.tensor([3])},
    }
    for name, value in files.items():
        write_tar(make.place(f"reader/{name}.tar"), value)
        make.read_back(f"reader/{name}.tar")
        write_partial_tar(make.place(f"partial/{name}.tar"), value)
        make.truth[f"partial/{name}.tar"] = {"torch_cannot_read": True}
    write_tar(make.place("reader/tar_storage_view.tar"), {"root": root, "window": root[2:6].view(2, 2)},
              storage_views={"window": (2, 4)})
    make.read_back("reader/tar_storage_view.tar")


def layers(make):
    """State of small models, which the tests of typed modules load."""
    for name, value in torch_models.states().items():
        make.save(f"layers/{name}.pt", value)
    make.save("store/model_without_enum_variants.pt", torch_models.without_variants())
    make.save("mnist/mnist.pt", torch_models.trained_images().state_dict())


def newest(make):
    """What only the newest torch has."""
    torch.serialization.set_crc32_options(False)
    make.save("no_crc32.pt", {"w": torch.rand(3)})
    torch.serialization.set_crc32_options(True)
    weight = torch.rand(4, 8).to(torch.float8_e4m3fn)
    make.save("fp8_scaled.pt", {"weight": weight, "weight_scale": torch.rand(4, 1),
                                "input_scale": torch.tensor(0.5)})
    make.save("compiled.pt", torch.compile(nn.Linear(2, 3)).state_dict())
    jagged = torch.nested.nested_tensor([torch.rand(2, 3), torch.rand(4, 3)], layout=torch.jagged)
    make.save("jagged.pt", {"x": jagged})
    make.save("many.pt", {f"layers.{i}.weight": torch.full((2,), float(i)) for i in range(150)})
    big_endian(make)
    exported(make)
    distributed(make)


def exported(make):
    model = Trained()
    model.register_buffer("steps", torch.arange(3))
    model.register_buffer("lost", torch.rand(2), persistent=False)
    model.head = nn.Linear(2, 2, dtype=torch.bfloat16)
    model.turned = nn.Parameter(torch.rand(3, 4).t())
    program = torch.export.export(model, (torch.rand(2, 3),))
    for node in program.graph.nodes:  # where the source lies
        node.meta.pop("stack_trace", None)
    path = make.place("exported.pt2")
    torch.export.save(program, str(path))
    listing = Listing(torch.export.load(str(path)).state_dict)
    listing.skipped.add("lost")
    make.listed("exported.pt2", listing)


def distributed(make):
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.filesystem import FileSystemWriter
    from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

    model, optimizer = trained()
    state = {"model": model.state_dict() | {"turned": torch.rand(3, 4).t(), "none": torch.empty(0, 2),
                                            "number": torch.tensor(3), "half": torch.rand(5).half()},
             "optim": optimizer.state_dict(), "step": 5, "list": [torch.rand(2), torch.rand(3)]}
    for name, pieces in (("dcp", 1), ("pieces_dcp", 3)):
        folder = make.place(name)
        dcp.save(state, storage_writer=FileSystemWriter(folder), planner=chunking_planner(pieces))
        whole = make.place("whole.pt")
        dcp_to_torch_save(folder, whole)
        make.listed(name, without_sharing(Listing(torch.load(whole, weights_only=False))))
        whole.unlink()


def seeded(kind, make):
    """Each kind from the same numbers, whatever came before it."""
    torch.manual_seed(7)
    np.random.seed(7)
    random.seed(7)
    kind(make)


def main():
    without_sources()
    warnings.simplefilter("ignore")  # much of what we save is deprecated or a prototype
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--old", action="store_true")
    arguments = parser.parse_args()
    release = ".".join(torch.__version__.split(".")[:2])
    make = Maker(arguments.folder / f"torch-{release}")
    shutil.rmtree(make.folder, ignore_errors=True)
    kinds = [plain, logical, modules, checkpoints, scripts, lambda make: sharded(make, "sharded_bin", False)]
    if not arguments.old:
        kinds += [containers, bare_pickles, lambda make: sharded(make, "sharded_bin_legacy", True), numbers,
                  layers, newest]
    for kind in kinds:
        seeded(kind, make)
    write_truth(make.folder, make.truth)
    print(f"{make.folder.name}: {len(make.truth)} files, torch {torch.__version__}")


if __name__ == "__main__":
    main()
