# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the tar files of PyTorch's first releases, which later ones read and do not write."""

import collections
import io
import pickle
import struct
import tarfile

import torch

SYS_INFO = {"protocol_version": 1000, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 8}}
STORAGES = {torch.float32: "FloatStorage", torch.float64: "DoubleStorage", torch.int64: "LongStorage"}
TENSORS = {torch.float32: "FloatTensor", torch.float64: "DoubleTensor", torch.int64: "LongTensor"}


def dumps(value):
    return pickle.dumps(value, protocol=2)


def members(path, parts):
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in {"sys_info": dumps(SYS_INFO), **parts}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def numbers_of(tensor):
    """All of the storage, after their count."""
    whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.storage())
    return struct.pack("<q", len(whole)) + whole.numpy().tobytes()


class ById(pickle.Pickler):
    """Tensors are written as the ids that the other members give them."""

    def __init__(self, target, ids):
        super().__init__(target, protocol=2)
        self.ids = ids

    def persistent_id(self, obj):
        return str(self.ids[id(obj)]) if isinstance(obj, torch.Tensor) else None


def write_tar(path, tensors, storage_views=None):
    """storage_views gives names a storage of their own, which is that part of the first tensor's."""
    keys, storages, views = {}, [], []
    ids, listed = {}, []
    for number, (name, tensor) in enumerate(tensors.items()):
        address, offset = tensor.storage().data_ptr(), tensor.storage_offset()
        if name in (storage_views or {}):
            start, length = storage_views[name]
            key = 5000 + number
            views.append((key, next(iter(keys.values())), start, length))
            offset -= start
        else:
            if address not in keys:
                keys[address] = 1000 + number
                args = (keys[address], "cpu", getattr(torch, STORAGES[tensor.dtype]))
                storages.append(dumps(args) + numbers_of(tensor))
            key = keys[address]
        ids[id(tensor)] = 2000 + number
        listed.append(dumps((2000 + number, key, getattr(torch, TENSORS[tensor.dtype])))
                      + struct.pack("<q", tensor.dim()) + struct.pack(f"<{tensor.dim()}q", *tensor.shape)
                      + struct.pack(f"<{tensor.dim()}q", *tensor.stride()) + struct.pack("<q", offset))
    content = io.BytesIO()
    ById(content, ids).dump(collections.OrderedDict(tensors))
    members(path, {"pickle": content.getvalue(), "tensors": dumps(len(listed)) + b"".join(listed),
                   "storages": dumps(len(storages)) + b"".join(storages) + dumps(views)})


class Rebuilt:
    """A tensor as zip files have it, but for the persistent id, in whose place its tuple stands."""

    def __init__(self, tensor, key):
        storage = getattr(torch, STORAGES[tensor.dtype])
        self.call = (torch._utils._rebuild_tensor_v2, (
            ("storage", storage, key, "cpu", len(tensor.storage())), tensor.storage_offset(),
            tuple(tensor.shape), tensor.stride(), False, collections.OrderedDict()))

    def __reduce__(self):
        return self.call


def write_partial_tar(path, tensors):
    """Without a list of tensors: torch refuses such files, and there are programs that make them."""
    keys, storages, state = {}, [], collections.OrderedDict()
    for name, tensor in tensors.items():
        address = tensor.storage().data_ptr()
        if address not in keys:
            keys[address] = str(len(keys))
            args = (keys[address], "cpu", getattr(torch, STORAGES[tensor.dtype]))
            storages.append(dumps(args) + numbers_of(tensor))
        state[name] = Rebuilt(tensor, keys[address])
    members(path, {"pickle": dumps(state), "storages": dumps(len(storages)) + b"".join(storages)})
