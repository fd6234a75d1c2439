# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the tool must say of an object that torch has in memory and writes to a file.

Names are the path from the top, joined with dots: str() of a dict's keys, the indices of lists, tuples and
sets, the attributes of other objects, and for modules what their state_dict() calls them.
"""

import collections
import copyreg
import hashlib
import struct
import types

import numpy as np
import torch

# torch's name: ours. Anything else is raw:NAME.
DTYPES = {
    "bool": "bool", "uint8": "u8", "int8": "i8", "uint16": "u16", "int16": "i16", "uint32": "u32",
    "int32": "i32", "uint64": "u64", "int64": "i64", "float16": "f16", "bfloat16": "bf16",
    "float32": "f32", "float64": "f64", "complex32": "c32", "complex64": "c64", "complex128": "c128",
    "float8_e4m3fn": "f8e4m3fn", "float8_e5m2": "f8e5m2", "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz", "float8_e8m0fnu": "f8e8m0", "float4_e2m1fn_x2": "f4e2m1",
}
NUMPY_DTYPES = {
    "b1": "bool", "u1": "u8", "i1": "i8", "u2": "u16", "i2": "i16", "u4": "u32", "i4": "i32", "u8": "u64",
    "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64", "c8": "c64", "c16": "c128",
}
# For elements of a size: a type that every operation knows.
CARRIERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
SPARSE_PARTS = {
    torch.sparse_coo: ("indices", "values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}
# What state_dict() looks at; a module's other attributes are not in it.
MODULE_PARTS = ("_parameters", "_buffers", "_modules")

# From 2.0 on files keep conjugate and negative bits and the attributes of tensors and parameters.
SINCE_2_0 = int(torch.__version__.split(".", maxsplit=1)[0]) >= 2

Entry = collections.namedtuple("Entry", "dtype shape bytes sha256 alias_of")


def part_of(path, part):
    """The name of a part: that of the tensor, which is empty at the root, a dot, the part's."""
    return [*(path or [""]), part]


class NamesCollide(Exception):
    """Two tensors have the same name."""


def torch_name(dtype):
    return str(dtype).removeprefix("torch.")


def our_name(dtype):
    return DTYPES.get(torch_name(dtype), f"raw:{torch_name(dtype)}")


def storage_of(tensor):
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()


def bytes_of(tensor):
    """Contiguous, row by row, as on this machine (little-endian)."""
    if SINCE_2_0:
        tensor = tensor.resolve_conj().resolve_neg()
    if tensor.element_size() in CARRIERS:
        tensor = tensor.view(CARRIERS[tensor.element_size()])
    return tensor.contiguous().numpy().tobytes()


def geometry(tensor):
    """What two names have in common that are the same tensor in the file."""
    bits = (tensor.is_conj(), tensor.is_neg()) if SINCE_2_0 else ()
    # Nothing is reached by the stride of a dimension of one.
    strides = tuple(stride for size, stride in zip(tensor.shape, tensor.stride()) if size != 1)
    return (storage_of(tensor)._cdata, tensor.storage_offset(), tuple(tensor.shape), strides,
            tensor.dtype, bits)


def is_wrapper(tensor):
    """A tensor without data of its own, which are in its attributes."""
    return hasattr(tensor, "__tensor_flatten__")


def state_of(value):
    """Attributes as pickle would store them, or another state."""
    reducer = copyreg.dispatch_table.get(type(value))
    reduced = reducer(value) if reducer else value.__reduce_ex__(2)
    state = reduced[2] if not isinstance(reduced, str) and len(reduced) > 2 else None
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):  # of slots
        return (state[0] or {}) | state[1]
    return state


class Listing:
    """The tensors of a file by name, and the names of those that are not taken."""

    def __init__(self, value=None, bare=False):
        """In a bare pickle tensors are the same only where they are the same object, and arrays are tensors
        beside them."""
        self.tensors = {}
        self.skipped = set()
        self._bare = bare
        self._arrays = set()
        self._has_storages = False
        self._first = {}  # by what makes two names the same tensor
        self._alive = []  # what was identified by its address
        self._above = []
        self._seen = set()  # containers and objects
        self._skipping = False
        if value is not None:
            self.walk(value, [])
            if self._has_storages and not bare:
                self.skipped |= self._arrays
                for name in self._arrays:
                    del self.tensors[name]

    def _claim(self, name):
        if name in self.tensors or name in self.skipped:
            raise NamesCollide(name)

    def _skip(self, path):
        name = ".".join(path)
        self._claim(name)
        self.skipped.add(name)

    def add(self, path, dtype, shape, data, identity=None):
        """A tensor; identity is the same for those that are the same in the file."""
        if self._skipping:
            self._skip(path)
            return
        name = ".".join(path)
        self._claim(name)
        alias = None
        if data and identity is not None:
            first = self._first.setdefault(identity, name)
            alias = first if first != name else None
        self.tensors[name] = Entry(dtype, list(shape), len(data), hashlib.sha256(data).hexdigest(), alias)

    def walk(self, value, path):
        if any(value is other for other in self._above):
            return  # holds itself
        if self._skipping and id(value) in self._seen and not isinstance(value, torch.Tensor):
            return  # what is skipped is listed once
        self._alive.append(value)
        self._above.append(value)
        self._visit(value, path)
        self._above.pop()
        self._seen.add(id(value))

    def _visit(self, value, path):
        if isinstance(value, torch.Tensor):
            self._has_storages |= value.device.type != "meta"
            self._tensor(value, path)
        elif isinstance(value, (torch.storage.TypedStorage, torch.storage.UntypedStorage)):
            self._has_storages = True
            self._storage(value, path)
        elif isinstance(value, np.ndarray):
            self._array(value, path)
        elif isinstance(value, torch.nn.Module):
            self._module(value, path)
        elif isinstance(value, dict):
            self._items(value.items(), path)
            self._attributes(value, path)
        elif type(value).__module__ == "torch.return_types":  # made by a call with a tuple
            self._items(enumerate(value), [*path, "0"])
        elif isinstance(value, (list, tuple, set, frozenset, collections.deque)):
            self._items(enumerate(value), path)
            self._attributes(value, path)
        elif not isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            state = state_of(value)
            if state is not None:
                self.walk(state, path)

    def _items(self, items, path):
        for position, (key, value) in enumerate(items):
            name = str(position) if isinstance(key, torch.Tensor) else str(key)
            self.walk(value, [*path, name])

    def _attributes(self, value, path):
        self._items(getattr(value, "__dict__", {}).items(), path)

    def _skip_items(self, items, path):
        outside, self._skipping = self._skipping, True
        self._items(items.items(), path)
        self._skipping = outside

    def _module(self, module, path):
        for name, value in module.state_dict(keep_vars=True).items():
            self.walk(value, [*path, name])
        for prefix, part in module.named_modules(remove_duplicate=False):
            here = path + ([prefix] if prefix else [])
            unsaved = {name: part._buffers[name] for name in part._non_persistent_buffers_set}
            others = {name: value for name, value in state_of(part).items() if name not in MODULE_PARTS}
            self._skip_items(unsaved | others, here)

    def _storage(self, storage, path):
        dtype = getattr(storage, "dtype", torch.uint8)
        untyped = storage.untyped() if hasattr(storage, "untyped") else storage
        tensor = torch.empty(0, dtype=dtype).set_(untyped)
        self._dense(tensor, path)

    def _array(self, array, path):
        code = f"{array.dtype.kind}{array.dtype.itemsize}"
        if array.dtype == object:
            self._items(enumerate(array.flat), path)
            return
        if code not in NUMPY_DTYPES:
            self._skip(path)
            return
        little = array.astype(array.dtype.newbyteorder("<"))
        self.add(path, NUMPY_DTYPES[code], array.shape, little.tobytes(), id(array))
        if not self._skipping:
            self._arrays.add(".".join(path))

    def _tensor(self, tensor, path):
        attributes = dict(getattr(tensor, "__dict__", {}))
        if type(tensor) in (torch.Tensor, torch.nn.Parameter) and not SINCE_2_0:
            attributes = {}
        # isinstance() takes every parameter of another class for one of these in torch 1.
        lazy = type(tensor) in (torch.nn.UninitializedParameter, torch.nn.UninitializedBuffer)
        if lazy or tensor.device.type == "meta":
            self._skip(path)
        elif tensor.is_quantized:
            self._quantized(tensor, path)
        elif tensor.layout in SPARSE_PARTS:
            prefix = "_" if tensor.layout == torch.sparse_coo else ""
            for part in SPARSE_PARTS[tensor.layout]:
                self._dense(getattr(tensor.detach(), prefix + part)(), part_of(path, part))
        elif tensor.is_nested:
            self._nested(tensor, path)
            attributes = {}
        elif hasattr(tensor, "to_local"):  # a DTensor: the piece that is here
            self._dense(tensor.to_local(), path)
            attributes = {}
        elif is_wrapper(tensor):
            self._items(attributes.items(), path)
            attributes = {}
        else:
            self._dense(tensor, path)
        if id(tensor) not in self._seen:  # what is skipped is listed once
            self._skip_items(attributes, path)

    def _dense(self, tensor, path):
        kept, tensor = tensor, tensor.detach().as_subclass(torch.Tensor)
        self._alive.append(kept)
        shape = tensor.shape
        if our_name(tensor.dtype) == "f4e2m1":  # two to an element of torch's
            tensor = tensor if shape else tensor[None]
            shape = [*tensor.shape[:-1], tensor.shape[-1] * 2]
        identity = id(kept) if self._bare else geometry(tensor)
        # Types that are not taken apart are gathered for each name of their own.
        name = our_name(tensor.dtype)
        if (name.startswith("raw:") or name == "f4e2m1") and not tensor.is_contiguous():
            identity = None
        self.add(path, our_name(tensor.dtype), shape, bytes_of(tensor), identity)

    def _quantized(self, tensor, path):
        codes = tensor.detach().int_repr()
        self.add(part_of(path, "int_repr"), our_name(codes.dtype), codes.shape, bytes_of(codes),
                 geometry(tensor))
        if tensor.qscheme() == torch.per_tensor_affine:
            self.add(part_of(path, "scale"), "f64", [], struct.pack("<d", tensor.q_scale()))
            self.add(part_of(path, "zero_point"), "i64", [], struct.pack("<q", tensor.q_zero_point()))
        else:
            self._dense(tensor.q_per_channel_scales(), part_of(path, "scale"))
            self._dense(tensor.q_per_channel_zero_points(), part_of(path, "zero_point"))

    def _nested(self, tensor, path):
        tensor = tensor.detach()
        parts = {"values": tensor.values()}
        if tensor.layout == torch.strided:
            parts |= {"sizes": tensor._nested_tensor_size(), "strides": tensor._nested_tensor_strides(),
                      "offsets": tensor._nested_tensor_storage_offsets()}
        else:
            parts |= {"offsets": tensor.offsets(), "lengths": tensor.lengths()}
        for name, part in parts.items():
            if part is not None:
                self._dense(part, part_of(path, name))
