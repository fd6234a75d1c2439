# SPDX-License-Identifier: MIT OR Apache-2.0
"""Random checkpoints: tensors of all kinds and views of them, in containers and objects of all kinds."""

import argparse
import collections
import dataclasses
import datetime
import decimal
import enum
import pathlib
import random
import types

import numpy as np
import torch

from pytorch_truth import CARRIERS, NUMPY_DTYPES, SINCE_2_0

NAME_PIECES = ["layer", "weight", "0", "10", "_", "/", "\\", "'", '"', " ", "\t", "\n", "\x01", "\x7f",
               "{}", "model", "\u00e9", "\u2028", "\u4e2d\u6587", "\U0001F525", "."]
FLOAT_KEYS = [0.5, -1.0, 1e-5, 1e16, 123456.75, 1e15, 2.5e-300, float("inf")]


# What tensors can be of and be saved: types that have a storage class, and those since for which bytes do.
TYPED = [dtype for dtype in torch.storage._dtype_to_storage_type_map() if "qu" not in str(dtype)
         and "qi" not in str(dtype)]
UNTYPED = sorted(getattr(torch.storage, "_new_dtypes", set)(), key=str)
DTYPES = TYPED + UNTYPED
COMPLEX_DTYPES = [torch.complex64, torch.complex128]
FLOAT_DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
REAL_DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, *FLOAT_DTYPES]


class TaggedTensor(torch.Tensor):
    """A tensor of another class."""


Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Settings:
    rate: object
    layers: object


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


class WithState:
    """An object whose state is a tuple."""

    def __init__(self, *state):
        self.state = state

    def __getstate__(self):
        return self.state

    def __setstate__(self, state):
        self.state = state


class Config(dict):
    """A dict that has attributes as well."""


class Stack(list):
    """A list that has attributes as well."""


class Color(enum.Enum):
    RED = 1


class Checkpoint:
    """Makes a random value; what was made once may be used again."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        torch.manual_seed(seed)
        self.tensors = []
        self.containers = []

    def make(self):
        kind = self.rng.random()
        if kind < 0.03:
            return self.tensor()
        if kind < 0.12:
            return self.container(3)
        return self.dict_of(dict, self.rng.randint(1, 8), 3)

    # Tensors

    def shape(self, most=5):
        shape = [self.rng.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 7)) for _ in range(self.rng.randint(0, most))]
        while np.prod(shape, dtype=int) > 2000:
            shape.pop()
        return shape

    def dense(self, dtype, shape):
        """Any bits; sometimes within a storage that holds more."""
        before, after = self.rng.choice(((0, 0), (0, 0), (3, 5)))
        wanted = int(np.prod(shape, dtype=int))
        count = wanted + before + after
        size = torch.empty((), dtype=dtype).element_size()
        data = bytearray(self.rng.randbytes(count * size))
        if dtype == torch.bool:
            data = bytearray(byte & 1 for byte in data)
        if not data:
            return torch.empty(shape, dtype=dtype)
        tensor = torch.frombuffer(data, dtype=CARRIERS.get(size, dtype)).clone().view(dtype)
        return tensor[before:before + wanted].view(shape)

    def base(self):
        tensor = self.dense(self.rng.choice(DTYPES), self.shape())
        if tensor.dim() == 4 and self.rng.random() < 0.5 and tensor.dtype in REAL_DTYPES:
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        self.tensors.append(tensor)
        return tensor

    def view(self, tensor):
        for _ in range(self.rng.randint(1, 3)):
            # Not all of them take every tensor.
            try:
                tensor = self.rng.choice(VIEWS)(self.rng, tensor)
            except (RuntimeError, IndexError, ValueError):
                pass
            if tensor.numel() > 5000:
                tensor = tensor.reshape(-1)[:5000]
        return tensor

    def with_bits(self):
        """The conjugate or negative of numbers that is taken when they are read."""
        if self.rng.random() < 0.5:
            tensor = torch.randn(self.shape(3), dtype=self.rng.choice(COMPLEX_DTYPES)).conj()
            return self.rng.choice((tensor, tensor.imag, tensor.real, tensor.imag[None].transpose(0, -1)))
        tensor = torch.randint(0, 100, [2, *self.shape(3)]).to(self.rng.choice(REAL_DTYPES))
        return torch._neg_view(self.rng.choice((tensor, tensor[0], tensor.transpose(0, -1))))

    def quantized(self):
        shape = self.shape(3) or [3]
        kind = self.rng.choice((torch.quint8, torch.qint8, torch.qint32))
        values = torch.rand(shape) * 20 - 10
        if self.rng.random() < 0.5:
            scale = self.rng.random() + 0.01
            tensor = torch.quantize_per_tensor(values, scale, self.rng.randint(0, 9), kind)
            return tensor.transpose(0, -1) if self.rng.random() < 0.3 else tensor
        axis = self.rng.randrange(len(shape))
        scales = torch.rand(shape[axis], dtype=torch.float64) + 0.01
        zeros = torch.randint(0, 9, (shape[axis],))
        if self.rng.random() < 0.2:
            values = torch.rand(4, 6)
            return torch.quantize_per_channel(values, torch.rand(4) + 0.1, torch.rand(4), 0, torch.quint4x2)
        return torch.quantize_per_channel(values, scales, zeros, axis, kind)

    def sparse(self):
        dense = torch.randint(-1, 2, (self.rng.choice((2, 4)), self.rng.choice((2, 4, 6)))).clamp(min=0)
        dense = dense.to(self.rng.choice((torch.int64, torch.float32, torch.float64, torch.complex64)))
        choice = self.rng.randrange(7)
        if choice == 0:  # the same place twice
            return torch.sparse_coo_tensor([[0, 1, 0], [1, 0, 1]], torch.rand(3, 2), (2, 2, 2))
        if choice == 1:
            return torch.sparse_coo_tensor(torch.empty(2, 0, dtype=torch.int64), torch.empty(0), (3, 3))
        if choice == 2 or not hasattr(torch.Tensor, "to_sparse_csc"):
            return dense.to_sparse()
        if choice == 3 or not SINCE_2_0:
            return dense.to_sparse_csr()
        if choice == 4:
            return dense.to_sparse_csc()
        return dense.to_sparse_bsr((2, 1)) if choice == 5 else dense.to_sparse_bsc((1, 2))

    def nested(self):
        pieces = [torch.rand(self.rng.randint(1, 4), 3) for _ in range(self.rng.randint(1, 4))]
        return torch.nested.nested_tensor(pieces)

    def storage(self):
        tensor = self.rng.choice(self.tensors) if self.tensors else self.base()
        return tensor.storage() if tensor.dtype in TYPED else tensor.untyped_storage()

    def reinterpreted(self):
        """The same bytes as two types, which torch saves only of those without a storage class."""
        tensor = self.dense(self.rng.choice(UNTYPED), self.shape())
        self.tensors.append(tensor)
        others = [dtype for dtype in UNTYPED if dtype.itemsize == tensor.itemsize]
        return tensor.view(self.rng.choice(others))

    def unusual_tensor(self):
        makers = [self.quantized, self.sparse, lambda: torch.empty(self.shape(), device="meta")]
        if SINCE_2_0:
            makers += [self.with_bits, self.with_bits, self.nested, self.reinterpreted]
        return self.rng.choice(makers)()

    def tensor(self):
        kind = self.rng.random()
        if kind < 0.12:
            return self.unusual_tensor()
        if kind < 0.14:
            return self.storage()
        tensor = self.base() if kind < 0.6 or not self.tensors else self.rng.choice(self.tensors)
        if kind > 0.4 and self.rng.random() < 0.6:
            tensor = self.view(tensor)
        if kind > 0.9 and tensor.dtype in FLOAT_DTYPES:
            tensor = torch.nn.Parameter(tensor, requires_grad=self.rng.random() < 0.7)
        elif kind > 0.87:
            tensor = tensor.as_subclass(TaggedTensor)
        if self.rng.random() < 0.03:
            tensor = tensor.detach()
            tensor.note = self.rng.choice(("text", 5, self.base()))
        if self.rng.random() < 0.3:
            self.tensors.append(tensor)
        return tensor

    def array(self):
        kind = self.rng.random()
        if kind < 0.1:
            objects = np.empty((2, 2), dtype=object)
            objects[0, 1] = self.base()
            return self.rng.choice((objects, np.array(["a", "bc"]), np.array([b"x"]),
                                    np.zeros(2, dtype="M8[s]"), np.zeros(2, dtype=[("x", "f4")])))
        code = self.rng.choice(list(NUMPY_DTYPES))
        dtype = np.dtype(self.rng.choice("<>") + code)
        shape = self.shape(4)
        data = self.rng.randbytes(int(np.prod(shape, dtype=int)) * dtype.itemsize)
        if len(data) == 1:  # for which Python has one object, that two arrays would share
            return np.zeros(2)
        if code == "b1":
            data = bytes(byte & 1 for byte in data)
        array = np.frombuffer(data, dtype=dtype).reshape(shape).copy()
        change = self.rng.randrange(5)
        if change == 0:
            array = np.asfortranarray(array)
        elif change == 1:
            array = array.T
        elif change == 2 and array.ndim:
            array = array[::-2]
        elif change == 3 and array.ndim > 2:
            array = np.moveaxis(array, 0, 1)
        return array

    # Everything else

    def plain(self):
        return self.rng.choice((
            None, True, False, 0, -7, 255, 65536, -2**31, 2**31, 2**63, -2**70, 2**2000, 1.5, -0.0,
            float("nan"), 1e300, "", "text", "\u00e9\n", "x" * 300, b"", b"bytes", b"\xff" * 300,
            bytearray(b"array"), 1 + 2j, (), [], {}, set(), range(3), slice(1, 2), Ellipsis, torch.float32,
            torch.device("cpu"), torch.Size([2, 3]), np.float32(1.5), np.int64(-3), np.bool_(True),
            np.float64(2), np.dtype("<f4"), np.complex64(1j), np.datetime64("2020-01-01"),
            pathlib.PurePosixPath("a/b"), Color.RED, datetime.datetime(2020, 1, 2),
            decimal.Decimal("1.5"), collections.Counter("abca"), frozenset((1, 2)),
            torch.nn.functional.relu, torch.nn.Linear, len, complex,
            types.SimpleNamespace(a=1), torch.per_tensor_affine, torch.sparse_coo))

    def name(self):
        return "".join(self.rng.choices(NAME_PIECES, k=self.rng.randint(0, 4)))

    def key(self):
        kind = self.rng.random()
        if kind < 0.75:
            return self.name()
        return self.rng.choice((
            self.rng.randint(-3, 30), 2**70, True, False, None, self.rng.choice(FLOAT_KEYS), (), (1,),
            (1, "a"), ("it's", ('"', "\\", "\n", "\u00e9\x7f")), (None, True, 0.5), b"key", b"\x00'\xff"))

    def dict_of(self, kind, count, depth):
        pairs = {}
        for _ in range(count):
            pairs[self.key()] = self.value(depth - 1)
        return kind(pairs)

    def values(self, depth, most=4):
        return [self.value(depth - 1) for _ in range(self.rng.randint(0, most))]

    def with_attributes(self, value, depth):
        if self.rng.random() < 0.5:
            value.extra = self.value(depth - 1)
        return value

    def container(self, depth):
        if self.containers and self.rng.random() < 0.08:
            return self.rng.choice(self.containers)
        count = self.rng.randint(0, 5)
        made = self.rng.choice((
            lambda: self.dict_of(dict, count, depth),
            lambda: self.dict_of(collections.OrderedDict, count, depth),
            lambda: collections.defaultdict(list, self.dict_of(dict, count, depth)),
            lambda: self.values(depth),
            lambda: tuple(self.values(depth)),
            lambda: collections.deque(self.values(depth), maxlen=self.rng.choice((None, 9))),
            lambda: Pair(self.value(depth - 1), self.value(depth - 1)),
            lambda: Settings(self.value(depth - 1), self.values(depth)),
            lambda: Slotted(self.value(depth - 1), self.value(depth - 1)),
            lambda: WithState(self.tensor(), self.plain(), self.tensor()),
            lambda: argparse.Namespace(**{f"arg{i}": value for i, value in enumerate(self.values(depth))}),
            lambda: types.SimpleNamespace(first=self.value(depth - 1)),
            lambda: {self.base() for _ in range(self.rng.randint(0, 3))},
            lambda: frozenset(self.base() for _ in range(self.rng.randint(0, 3))),
            lambda: self.with_attributes(self.dict_of(Config, count, depth), depth),
            lambda: self.with_attributes(Stack(self.values(depth)), depth),
        ))()
        self.containers.append(made)
        return made

    def value(self, depth):
        kind = self.rng.random()
        if kind < 0.45:
            return self.tensor()
        if kind < 0.55:
            return self.array()
        if kind < 0.7 or depth <= 0:
            return self.plain()
        return self.container(depth)


def strided(rng, tensor):
    """Any strides within what the storage holds."""
    count = tensor.numel()
    rows, row, column = rng.randint(0, 4), rng.randint(0, 5), rng.randint(0, 3)
    columns = rng.randint(1, 4)
    needed = 1 + max(rows - 1, 0) * row + (columns - 1) * column
    if not tensor.is_contiguous() or needed > count:
        return tensor
    start = tensor.storage_offset() + rng.randint(0, count - needed)
    return tensor.as_strided((rows, columns), (row, column), start)


def narrow(rng, tensor):
    dim = rng.randrange(tensor.dim())
    start = rng.randint(0, tensor.shape[dim])
    return tensor.narrow(dim, start, rng.randint(0, tensor.shape[dim] - start))


def permute(rng, tensor):
    return tensor.permute(rng.sample(range(tensor.dim()), tensor.dim()))


def expand(rng, tensor):
    return tensor.expand(*(rng.randint(0, 3) if size == 1 else size for size in [1, *tensor.shape]))


def select(rng, tensor):
    dim = rng.randrange(tensor.dim())
    return tensor.select(dim, rng.randrange(tensor.shape[dim]))


VIEWS = [
    strided, narrow, permute, expand, select,
    lambda rng, tensor: tensor.transpose(0, -1),
    lambda rng, tensor: tensor[..., ::rng.randint(1, 3)],
    lambda rng, tensor: tensor[rng.randint(0, 1)::rng.randint(1, 3)],
    lambda rng, tensor: tensor.flip(rng.randrange(tensor.dim())),
    lambda rng, tensor: tensor.unsqueeze(rng.randint(0, tensor.dim())),
    lambda rng, tensor: tensor.squeeze(),
    lambda rng, tensor: tensor.diagonal(),
    lambda rng, tensor: tensor.unfold(0, 2, 1),
    lambda rng, tensor: tensor.reshape(-1),
]
