# SPDX-License-Identifier: MIT OR Apache-2.0
"""The containers that tensors come in, besides what torch.save makes of its own accord."""

import dataclasses
import gzip
import io
import json
import pickle
import warnings
import zipfile

import numpy as np
import torch
from torch import nn

from pytorch_cases import Net, trained
from pytorch_random import DTYPES, UNTYPED, Checkpoint
from pytorch_truth import DTYPES as KNOWN_DTYPES
from pytorch_truth import SINCE_2_0, Listing, bytes_of, torch_name


def mixed_state():
    tensors = {torch_name(dtype): Checkpoint(2).dense(dtype, [2, 3]) for dtype in DTYPES}
    return tensors | {"nested": {"turned": tensors["float64"].t(), "same": tensors["int16"]}}


def zip_entries(value, **options):
    """The files in the archive, without the folder they are in."""
    buffer = io.BytesIO()
    torch.save(value, buffer, **options)
    with zipfile.ZipFile(buffer) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def write_zip(path, entries, prefix="archive/", method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(prefix + name, data)


def zips(make):
    value = mixed_state()
    entries = zip_entries(value)
    reversed_entries = dict(reversed(entries.items()))
    weights = {name: data for name, data in entries.items()
               if name.startswith(("data.pkl", "data/", "version"))}
    for what, content, prefix, method in (
            ("stored", entries, "archive/", zipfile.ZIP_STORED),
            ("deflated", entries, "archive/", zipfile.ZIP_DEFLATED),
            ("in another folder", entries, "my model.v2/", zipfile.ZIP_STORED),
            ("in no folder", entries, "", zipfile.ZIP_STORED),
            ("in the other order", reversed_entries, "archive/", zipfile.ZIP_STORED),
            ("with nothing but the weights", weights, "archive/", zipfile.ZIP_DEFLATED)):
        path = make.place("model.pt")
        write_zip(path, content, prefix, method)
        make.add(f"zipped again, {what}", path, "zip", value)
    if not hasattr(torch.serialization, "set_crc32_options"):
        return
    torch.serialization.set_crc32_options(False)
    make.save("without checksums", value)
    torch.serialization.set_crc32_options(True)
    config = torch.utils.serialization.config.save
    for alignment in (1, 8, 4096):
        before, config.storage_alignment = config.storage_alignment, alignment
        make.save(f"aligned to {alignment}", value)
        config.storage_alignment = before


class StorageSizes(pickle.Unpickler):
    """Finds the sizes of the numbers in each storage of an archive of plain tensors."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data))
        self.sizes = {}

    def persistent_load(self, pid):
        dtype = getattr(pid[1], "dtype", torch.uint8)
        self._note(pid[2], dtype)
        return pid[2]

    def _note(self, key, dtype):
        size = torch.empty((), dtype=dtype).element_size()
        self.sizes[key] = size // 2 if "complex" in str(dtype) else size

    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda *arguments: None
        if name == "_rebuild_tensor_v3":
            return lambda *arguments: self._note(arguments[0], arguments[6])
        return super().find_class(module, name)


def big_endian(make):
    """As a big-endian machine writes it."""
    # Which bytes belong together in the others is not ours to know.
    value = {name: value for name, value in mixed_state().items()
             if name in KNOWN_DTYPES or name == "nested"}
    entries = zip_entries(value)
    reader = StorageSizes(entries["data.pkl"])
    reader.load()
    for key, size in reader.sizes.items():
        numbers = np.frombuffer(entries[f"data/{key}"], dtype=f"V{size}")
        swapped = numbers.view(np.uint8).reshape(-1, size)[:, ::-1]
        entries[f"data/{key}"] = swapped.tobytes()
    path = make.place("model.pt")
    write_zip(path, entries | {"byteorder": b"big"})
    make.add("big-endian", path, "zip", value)
    if SINCE_2_0:  # torch agrees where it knows the size
        for name, tensor in torch.load(path).items():
            if name != "nested" and tensor.dtype not in UNTYPED:
                assert bytes_of(tensor) == bytes_of(value[name]), name


def bare_pickles(make):
    arrays = {"w": np.random.rand(3, 4).astype("f4"), "turned": np.random.rand(3, 4).T,
              "big": np.arange(6, dtype=">i4"), "deep": [np.zeros((2, 0)), np.array(3.5)],
              "scalar": np.float32(2), "text": "x", "mask": np.ones(3, bool),
              "half": np.arange(4, dtype="f2"), "step": np.arange(10)[::3],
              "axes": np.random.rand(2, 3, 4).transpose(1, 0, 2)}
    arrays["again"] = arrays["w"]
    tensor = torch.rand(3, 4)
    tensors = {"w": tensor, "again": tensor, "turned": torch.rand(2, 3).t(), "int": torch.arange(5)[1:3],
               "parameter": nn.Parameter(torch.rand(2)), "module": nn.Linear(2, 2), "array": np.zeros(2),
               "none": None, "empty": torch.empty(0, 3), "half": torch.rand(2).half(),
               "bool": torch.tensor([True])}
    for protocol in range(6):
        for what, value in (("arrays", arrays), ("tensors", tensors)):
            path = make.place("model.pkl")
            path.write_bytes(pickle.dumps(value, protocol=protocol))
            make.add(f"a bare pickle of {what}, protocol {protocol}", path, "pickle",
                     Listing(value, bare=True))


def compressed(make):
    value = mixed_state()
    for legacy in (False, True):
        path = make.place("model.pt.gz")
        buffer = io.BytesIO()
        torch.save(value, buffer, _use_new_zipfile_serialization=not legacy)
        path.write_bytes(gzip.compress(buffer.getvalue()))
        make.add(f"gzip'ed, legacy: {legacy}", path, "legacy.gz" if legacy else "zip.gz", value)


def sharded(make):
    state = Net().state_dict()
    state["odd name \u00fc"] = torch.rand(2).t()
    for legacy in (False, True):
        index_path = make.place("pytorch_model.bin.index.json")
        names = list(state)
        weight_map = {}
        for number, start in enumerate(range(0, len(names), 12), start=1):
            shard = f"pytorch_model-{number:05d}-of-{-(-len(names) // 12):05d}.bin"
            part = {name: state[name] for name in names[start:start + 12]}
            torch.save(part, index_path.parent / shard, _use_new_zipfile_serialization=not legacy)
            weight_map |= {name: shard for name in part}
        total = sum(tensor.numel() * tensor.element_size() for tensor in state.values())
        index_path.write_text(json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map}),
                              encoding="utf-8")
        listing = shard_listing(state, weight_map)
        make.add(f"sharded, legacy: {legacy}", index_path, "sharded", listing)
        make.add(f"a folder with shards, legacy: {legacy}", index_path.parent, "sharded", listing)


def shard_listing(state, weight_map):
    """Nothing is shared between shards."""
    listing = Listing()
    for shard in dict.fromkeys(weight_map.values()):
        part = Listing({name: value for name, value in state.items() if weight_map[name] == shard})
        listing.tensors |= part.tensors
    return listing


def distributed_checkpoints(make):
    import torch.distributed.checkpoint as dcp
    from torch.distributed.checkpoint.filesystem import FileSystemWriter

    model, optimizer = trained()
    state = {"model": model.state_dict() | {"turned": torch.rand(3, 4).t(), "none": torch.empty(0, 2),
                                            "number": torch.tensor(3), "half": torch.rand(5).half()},
             "optim": optimizer.state_dict(), "step": 5, "list": [torch.rand(2), torch.rand(3)]}
    for what, options in (("one file", {}), ("many files", {"single_file_per_rank": False}),
                          ("several threads", {"thread_count": 3})):
        for pieces in (1, 3):
            path = make.place("checkpoint")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                dcp.save(state, storage_writer=FileSystemWriter(path, **options),
                         planner=chunking_planner(pieces))
            make.add(f"a distributed checkpoint, {what}, tensors in {pieces} pieces", path, "distributed",
                     without_sharing(Listing(state)))


def without_sharing(listing):
    listing.tensors = {name: entry._replace(alias_of=None) for name, entry in listing.tensors.items()}
    return listing


def chunking_planner(pieces):
    """Cuts tensors along their first dimension, as if they were spread over that many ranks."""
    from torch.distributed.checkpoint import DefaultSavePlanner
    from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, MetadataIndex
    from torch.distributed.checkpoint.planner import TensorWriteData, WriteItemType

    class ChunkingPlanner(DefaultSavePlanner):
        def create_local_plan(self):
            plan = super().create_local_plan()
            items = []
            for item in plan.items:
                items += self.cut(item) if item.type == WriteItemType.TENSOR else [item]
            self.plan = dataclasses.replace(plan, items=items)
            return self.plan

        def cut(self, item):
            size = item.tensor_data.size
            if pieces == 1 or not size or size[0] < pieces:
                return [item]
            cuts = [size[0] * i // pieces for i in range(pieces + 1)]
            made = []
            for start, stop in zip(cuts, cuts[1:]):
                offsets = torch.Size([start] + [0] * (len(size) - 1))
                chunk = ChunkStorageMetadata(offsets=offsets, sizes=torch.Size([stop - start, *size[1:]]))
                data = TensorWriteData(chunk=chunk, properties=item.tensor_data.properties, size=size)
                made.append(dataclasses.replace(item, index=MetadataIndex(item.index.fqn, offsets),
                                                type=WriteItemType.SHARD, tensor_data=data))
            return made

        def lookup_object(self, index):
            return self.state_dict[index.fqn]

        def resolve_data(self, item):
            if item.type != WriteItemType.SHARD:
                return super().resolve_data(item)
            chunk = item.tensor_data.chunk
            tensor = self.state_dict[item.index.fqn].detach()
            return tensor[chunk.offsets[0]:chunk.offsets[0] + chunk.sizes[0]].clone()

    return ChunkingPlanner()
