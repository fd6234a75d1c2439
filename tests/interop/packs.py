# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a Burnpack file holds, made at random, and how each program spells it."""

import hashlib
import json
import math
import struct
from typing import NamedTuple, Optional, Union

from safetensors_interop import NAME_PIECES

# Burn's spelling: (bytes, what our tool calls it).
DTYPES = {
    "F64": (8, "f64"), "F32": (4, "f32"), "Flex32": (4, "f32"), "F16": (2, "f16"), "BF16": (2, "bf16"),
    "I64": (8, "i64"), "I32": (4, "i32"), "I16": (2, "i16"), "I8": (1, "i8"),
    "U64": (8, "u64"), "U32": (4, "u32"), "U16": (2, "u16"), "U8": (1, "u8"),
    "Bool(Native)": (1, "bool"), "Bool(U8)": (1, "bool"), "Bool(U32)": (4, "raw:Bool(U32)"),
}
# Types that we keep when we copy a file, and that a tensor of ours cannot have.
ONLY_COPIED = {"Flex32", "Bool(U8)"}

# Releases that have booleans of one kind alone.
BARE_BOOL = ("0.19", "0.20")

VALUE_BITS = {"Q8F": 8, "E5M2": 8, "E4M3": 8, "Q4F": 4, "E2M1": 4, "Q2F": 2, "Q8S": 8, "Q4S": 4, "Q2S": 2}
SCALE_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "UE8M0": 1, "UE4M3": 1}


class Scheme(NamedTuple):
    """Of a quantized tensor, as in andiron/quant_scheme.h."""
    value: str
    store: str = "Native"
    packed_dim: int = 0
    mode: str = "Symmetric"
    tensor: Optional[str] = None
    block: Optional[tuple] = None
    block_param: str = "F32"

    def text(self):
        """As our library writes it."""
        store = self.store if self.store == "Native" else f"{self.store}({self.packed_dim})"
        text = f"QFloat({self.value},{store},{self.mode}"
        if self.tensor:
            text += f",tensor={self.tensor}"
        if self.block:
            text += f",block=[{','.join(map(str, self.block))}]:{self.block_param}"
        return text + ")"

    def json(self, release):
        """As the crates of a release write it."""
        store = self.store if self.store == "Native" else {self.store: self.packed_dim}
        if release == "0.19" and self.store == "PackedU32":
            store = "U32"
        if self.block:
            size = {"storage": [*self.block, *[1] * (5 - len(self.block))], "len": len(self.block)}
        if release == "0.22":
            block = {"size": size, "dtype": self.block_param} if self.block else None
            return {"value": self.value, "store": store, "mode": self.mode, "tensor": self.tensor,
                    "block": block}
        return {"value": self.value, "param": self.block_param if self.block else self.tensor,
                "store": store, "level": {"Block": size} if self.block else "Tensor", "mode": self.mode}

    def values_per_unit(self):
        if self.store == "PackedU32":
            return 32 // VALUE_BITS[self.value]
        return 2 if self.store == "PackedNative" and self.value == "E2M1" else 1

    def scales(self, shape):
        """How many of a block, or of the tensor, there are."""
        if not self.block:
            return 1
        block = [1] * (len(shape) - len(self.block)) + list(self.block)
        return math.prod(-(-dim // extent) for dim, extent in zip(shape, block))

    def value_bytes(self, shape):
        lines = list(shape) or [1]
        axis = len(lines) - 1 - (self.packed_dim if self.store != "Native" else 0)
        lines[axis] = -(-lines[axis] // self.values_per_unit())
        return math.prod(lines) * (4 if self.store == "PackedU32" else 1)

    def scale_param(self):
        return self.block_param if self.block else self.tensor or "F32"

    def byte_count(self, shape):
        count = self.value_bytes(shape) + self.scales(shape) * SCALE_BYTES[self.scale_param()]
        return count + (SCALE_BYTES[self.tensor] if self.tensor and self.block else 0)


class Tensor(NamedTuple):
    name: str
    dtype: Union[str, Scheme]
    shape: list
    param_id: Optional[int]
    data: bytes

    def dtype_text(self, release=None):
        """In our own words, of a file of that release."""
        if self.dtype == "Bool(Native)" and release in BARE_BOOL:
            return "Bool"
        return self.dtype.text() if isinstance(self.dtype, Scheme) else self.dtype

    def dtype_json(self, release):
        if isinstance(self.dtype, Scheme):
            return {"QFloat": self.dtype.json(release)}
        if not self.dtype.startswith("Bool("):
            return self.dtype
        return "Bool" if release in BARE_BOOL else {"Bool": self.dtype[5:-1]}

    def line(self, dtype):
        return {"name": self.name, "dtype": dtype, "shape": self.shape, "param_id": self.param_id,
                "data": self.data.hex()}


class Pack(NamedTuple):
    """The tensors in file order."""
    tensors: list
    metadata: dict = {}
    scalars: dict = {}

    def lines(self, dtype=Tensor.dtype_text):
        return [{"metadata": self.metadata}, {"scalars": self.scalars},
                *[tensor.line(dtype(tensor)) for tensor in self.tensors]]

    def lines_of(self, release):
        """With dtypes as the crates of a release spell them."""
        return self.lines(lambda tensor: tensor.dtype_json(release))

    def lines_read(self, release):
        """As we list a file of that release."""
        return self.lines(lambda tensor: tensor.dtype_text(release))

    def sorted(self):
        return self._replace(tensors=sorted(self.tensors, key=lambda tensor: tensor.name.encode()))

    def summary(self):
        """What our tool should say of it, by name."""
        def dtypes(tensor):
            if isinstance(tensor.dtype, Scheme):
                return "qfloat", tensor.dtype_text()
            return DTYPES[tensor.dtype][1], None

        return {tensor.name: (*dtypes(tensor), tensor.shape,
                              None if tensor.param_id is None else str(tensor.param_id),
                              hashlib.sha256(tensor.data).hexdigest()) for tensor in self.tensors}


def write_lines(path, lines):
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")


def read_lines(output):
    return [json.loads(line) for line in output.splitlines()]


def random_text(rng, least, most):
    return "".join(rng.choices([*NAME_PIECES, "\0", "\ud7ff", "\uffff"], k=rng.randint(least, most)))


def random_name(rng, taken):
    name = random_text(rng, 0, 6)
    while name in taken:
        name += random_text(rng, 1, 6)
    return name


def random_id(rng):
    return rng.choice((None, 0, 23, 24, 255, 256, 2**32, 2**63, 2**64 - 1, rng.getrandbits(64),
                       rng.getrandbits(64)))


def random_shape(rng):
    if rng.random() < 0.03:  # the longest heads of CBOR, and no data
        return rng.sample((0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32), k=2) + [0]
    return [rng.choice((0, 1, 1, 2, 3, 4, 5)) for _ in range(rng.randint(0, 6))]


def random_data(rng, dtype, count):
    size = DTYPES[dtype][0]
    if not dtype.startswith("Bool("):
        return rng.randbytes(count * size)
    return b"".join(rng.getrandbits(1).to_bytes(size, "little") for _ in range(count))


def random_scheme(rng, rank):
    """Any that Burn 0.22 can write for this rank."""
    value = rng.choice(list(VALUE_BITS))
    store = rng.choice(("Native", "PackedNative", "PackedU32"))
    packed_dim = rng.randrange(max(rank, 1)) if store != "Native" else 0
    block = None
    if rank and rng.random() < 0.6:
        block = tuple(rng.choice((2, 3, 4, 16, 255)) for _ in range(rng.randint(1, min(rank, 5))))
    tensor = rng.choice((None, *SCALE_BYTES))
    return Scheme(value, store, packed_dim, rng.choice(("Symmetric", "Symmetric", "Lookup")), tensor,
                  block, rng.choice(list(SCALE_BYTES)))


def random_scheme_of_0_20(rng):
    """One that the writers of 0.20 and 0.21 can measure, for lines of 16 values."""
    value = rng.choice(list(VALUE_BITS))
    store = rng.choice(("Native", "PackedU32")) if VALUE_BITS[value] == 8 else "PackedU32"
    block = rng.choice((None, (16,), (8,)))
    param = rng.choice(list(SCALE_BYTES))
    return Scheme(value, store, tensor=None if block else param, block=block, block_param=param)


def random_quantized(rng, release):
    if release == "0.22":
        shape = random_shape(rng)[:4]
        return random_scheme(rng, len(shape)), shape
    return random_scheme_of_0_20(rng), [rng.randint(1, 4) for _ in range(rng.randint(0, 2))] + [16]


def random_scalar(rng):
    kind = rng.choice(("Int", "UInt", "Float", "Bool"))
    if kind == "Int":
        return {kind: rng.choice((0, -1, -24, -25, -256, -257, 2**63 - 1, -2**63,
                                  rng.getrandbits(63) - 2**62))}
    if kind == "UInt":
        return {kind: rng.choice((0, 23, 24, 65535, 65536, 2**64 - 1, rng.getrandbits(64)))}
    if kind == "Bool":
        return {kind: rng.choice((True, False))}
    if rng.random() < 0.2:  # any NaN
        return {kind: f"{rng.choice(('7ff', 'fff'))}{rng.randint(1, 2**52 - 1):013x}"}
    number = rng.choice((0.0, -0.0, 1.0, 65504.0, 65520.0, 2.0**-24, 2.0**-25, 2.0**-149, 2.0**-150,
                         5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 0.1, 1 / 3,
                         struct.unpack("<f", rng.randbytes(4))[0], struct.unpack("<e", rng.randbytes(2))[0],
                         struct.unpack("<d", rng.randbytes(8))[0]))
    return {kind: struct.pack(">d", number).hex()}


def random_pack(rng, dtypes, release):
    tensors = []
    taken = set()
    # Quantized files exist since 0.20.
    kinds = [kind for kind in dtypes for _ in range(rng.randint(1, 3))]
    kinds += [None] * (8 if release != "0.19" else 0)
    rng.shuffle(kinds)
    for dtype in kinds:
        name = random_name(rng, taken)
        taken.add(name)
        if dtype:
            shape = random_shape(rng)
            data = random_data(rng, dtype, math.prod(shape))
        else:
            dtype, shape = random_quantized(rng, release)
            data = rng.randbytes(dtype.byte_count(shape))
        tensors.append(Tensor(name, dtype, shape, random_id(rng), data))
    metadata = {random_text(rng, 0, 6): random_text(rng, 0, 20) for _ in range(rng.choice((0, 1, 30)))}
    count = rng.choice((0, 1, 30)) if release == "0.22" else 0
    scalars = {random_text(rng, 0, 6): random_scalar(rng) for _ in range(count)}
    return Pack(tensors, metadata, scalars)
