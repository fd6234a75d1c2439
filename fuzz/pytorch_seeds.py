# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds of PyTorch's files, and of what they are made of: zip and tar archives, pickles."""

import collections
import datetime
import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
import zlib


# ---- Pickles, as opcodes of protocol 2 ----

def text(value):
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value):
    return b"K" + bytes([value]) if 0 <= value < 256 else b"\x8a\x08" + struct.pack("<q", value)


def tuple_of(*values):
    return b"(" + b"".join(values) + b"t"


def sizes(*values):
    return tuple_of(*(integer(value) for value in values))


def list_of(*values):
    return b"](" + b"".join(values) + b"e"


def dict_of(**values):
    return b"}(" + b"".join(text(key) + value for key, value in values.items()) + b"u"


def name(module, what):
    return f"c{module}\n{what}\n".encode()


def call(function, *args):
    return function + tuple_of(*args) + b"R"


def made(what, state):
    """An object by its attributes."""
    return what + b")\x81" + state + b"b"


def blob(data):
    return b"B" + struct.pack("<I", len(data)) + data


def pickled(value, protocol=2):
    return b"\x80" + bytes([protocol]) + value + b"."


NONE, TRUE, FALSE = b"N", b"\x88", b"\x89"
ORDERED = call(name("collections", "OrderedDict"))


def storage(kind="Float", key="0", count=4, device="cpu", view=None):
    more = () if view is None else (view,)
    return tuple_of(text("storage"), name("torch", kind + "Storage"), text(key), text(device),
                    integer(count), *more) + b"Q"


def tensor(shape, strides=None, offset=0, **where):
    if strides is None:
        strides, step = [], 1
        for size in reversed(shape):
            strides.insert(0, step)
            step *= size
    return call(name("torch._utils", "_rebuild_tensor_v2"), storage(**where), integer(offset),
                sizes(*shape), sizes(*strides), FALSE, ORDERED)


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def module(parameters, buffers=b"", modules=b"", **more):
    """A pickled torch module; the tables are what their dicts are given."""
    def table(pairs):
        return ORDERED + b"(" + pairs + b"u"

    state = dict_of(training=TRUE, _parameters=table(parameters), _buffers=table(buffers), **more)
    return made(name("net", "Net"), state[:-1] + text("_modules") + table(modules) + b"u")


# ---- Archives ----

def plain_zip(entries, method=zipfile.ZIP_STORED, comment=b""):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for entry, data in entries.items():
            archive.writestr(zipfile.ZipInfo(entry), data, method)
        archive.comment = comment
    return buffer.getvalue()


def torch_zip(entries, alignment=64, crc=True):
    """As PyTorch writes it: padded, the numbers behind the data, both ends."""
    out, directory = b"", b""
    for entry, data in entries.items():
        encoded = entry.encode()
        begin = len(out)
        padding = -(begin + 30 + len(encoded) + 4) % alignment
        flags = 0x0808 if data else 0x0800
        out += struct.pack("<IHHHIIIIHH", 0x04034b50, 0, flags, 0, 0, 0, 0, 0, len(encoded),
                           4 + padding)
        out += encoded + b"FB" + struct.pack("<H", padding) + b"Z" * padding + data
        numbers = struct.pack("<III", zlib.crc32(data) if crc else 0, len(data), len(data))
        out += b"PK\x07\x08" + numbers if data else b""
        directory += struct.pack("<IHHHHI", 0x02014b50, 0, 0, flags, 0, 0) + numbers + \
            struct.pack("<HHHHHII", len(encoded), 0, 0, 0, 0, 0, begin) + encoded
    at, count = len(out), len(entries)
    out += directory
    end = len(out)
    out += struct.pack("<IQHHIIQQQQ", 0x06064b50, 44, 0x031e, 45, 0, 0, count, count,
                       len(directory), at)
    out += struct.pack("<IIQI", 0x07064b50, 0, end, 1)
    return out + struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, count, count, len(directory), at, 0)


def loose_zip(entries):
    """The same without padding and checksums, which would keep a fuzzer from the content."""
    return torch_zip(entries, 1, crc=False)


def tar(entries, form=tarfile.USTAR_FORMAT):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for entry, data in entries.items():
            info = tarfile.TarInfo(entry)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue().rstrip(b"\0") + b"\0" * 1024


def saved(value, storages=None, folder="a/", **more):
    """The entries of torch.save."""
    entries = {folder + "data.pkl": pickled(value)}
    for key, data in (storages or {}).items():
        entries[f"{folder}data/{key}"] = data
    entries[folder + "version"] = b"3\n"
    return entries | {folder + entry: data for entry, data in more.items()}


MAGIC = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."


def legacy(value, storages, width=4):
    system = pickled(dict_of(protocol_version=integer(1001), little_endian=TRUE))
    data = b"".join(struct.pack("<q", len(raw) // width) + raw for raw in storages.values())
    keys = list_of(*(text(key) for key in storages))
    return MAGIC + pickled(integer(1001)) + system + pickled(value) + pickled(keys) + data


def oldest(value, tensors=True):
    """The members of a tar file with the storage 0 of four floats, and 1, its upper half."""
    storages = pickled(integer(1)) + \
        pickled(tuple_of(text("0"), text("cpu"), name("torch", "FloatStorage"))) + \
        struct.pack("<q", 4) + floats(1, 2, 3, 4) + \
        pickled(list_of(tuple_of(text("1"), text("0"), integer(2), integer(2))))
    members = {"sys_info": pickled(dict_of(little_endian=TRUE)), "pickle": pickled(value),
               "storages": storages}
    if tensors:
        members["tensors"] = pickled(integer(2)) + b"".join(
            pickled(tuple_of(integer(key), text(where), name("torch", "FloatTensor"))) +
            struct.pack("<ii", 1, 0) + struct.pack("<qqq", count, 1, 0)
            for key, where, count in ((7, "0", 4), (8, "1", 2)))
    return members


def zip_seeds():
    some = {"a/data.pkl": b"\x80\x02}.", "a/data/0": floats(1, 2, 3), "a/version": b"3\n"}
    yield "stored", plain_zip(some)
    yield "deflated", plain_zip({"a": b"x" * 500, "b": b""}, zipfile.ZIP_DEFLATED)
    yield "torch", torch_zip(some)
    yield "torch_aligned_1", torch_zip(some, 1)
    yield "torch_without_crc", torch_zip(some, 16, crc=False)
    yield "empty", plain_zip({})
    yield "comment", plain_zip(some, comment=b"PK\x05\x06 made by hand")
    yield "folders", plain_zip({"a/": b"", "a/b/": b"", "a/b/c": b"d"})
    yield "trailing", torch_zip(some) + b"more"
    yield "in_front", b"more" + torch_zip(some)
    yield "cut", torch_zip(some)[:-30]
    whole = torch_zip(some, 1)
    yield "other_local_name", whole.replace(b"a/version", b"a/versioN", 1)
    yield "upward_name", whole.replace(b"a/version", b"../rsion.")
    yield "same_name", whole.replace(b"a/data/0", b"A/VERSIO")
    yield "encrypted", whole.replace(b"\x08\x08\0\0", b"\x09\x08\0\0")
    yield "other_method", plain_zip(some, zipfile.ZIP_BZIP2)
    yield "damaged", plain_zip({"a": b"x" * 99}, zipfile.ZIP_DEFLATED).replace(b"\x4b", b"\x4a", 1)
    yield "tar", tar({"pickle": b"abc", "storages": b"x" * 600})
    yield "tar_gnu", tar({"n" * 120: b"abc", "b": b""}, tarfile.GNU_FORMAT)
    yield "tar_pax", tar({"n" * 120: b"abc", "\u00e9": b"x"}, tarfile.PAX_FORMAT)
    yield "tar_cut", tar({"pickle": b"abc" * 300})[:700]


class Plain:
    """An object with attributes."""

    def __init__(self):
        self.number, self.same = 1, [1.5]
        self.items = self.same


def pickle_seeds():
    shared = [1, 2]
    cycle = []
    cycle.append(cycle)
    values = {
        "numbers": [0, -1, 255, 256, 65536, -2**31, 2**31, 2**63, -2**64, 10**40, 1.5, -0.0,
                    float("inf"), True, None],
        "texts": ["", "a", "\u00e9", "\U0001f600", "x" * 300, b"", b"a\xff", bytearray(b"ab")],
        "containers": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], {}, {"a": {1: 2}}, {3, 4},
                       frozenset((5,)), shared, shared],
        "classes": [collections.OrderedDict(a=1), collections.defaultdict(list, a=[1]),
                    collections.Counter("aab"), collections.deque((1, 2)),
                    datetime.date(2020, 1, 2), complex(1, 2), range(3), OSError, len],
        "object": Plain(),
        "cycle": cycle,
    }
    for protocol in range(6):
        for what, value in values.items():
            yield f"{what}_{protocol}", b"\0\0" + pickle.dumps(value, protocol)
    windows = pickle.dumps(values["containers"], 4)
    yield "window", b"\1\x10" + windows
    yield "tensors", b"\0\0" + pickled(dict_of(w=tensor([2, 2]), b=tensor([2], offset=1)))
    yield "module", b"\0\0" + pickled(module(text("w") + tensor([4])))
    yield "persistent_line", b"\0\0" + b"Pabc\n."
    yield "system", b"\0\0" + b"cos\nsystem\n(S'true'\ntR."
    yield "instance", b"\0\0" + b"(S'a'\niposix\nsystem\n."
    yield "leftovers", b"\0\0" + pickled(NONE + NONE + integer(1))
    yield "doubling", b"\0\0" + pickled(b"](Ne" + b"q\0](h\0h\0e" * 20)
    yield "deep", b"\0\0" + pickled(b"](" * 300 + b"e" * 300)
    yield "memo_miss", b"\0\0" + pickled(b"j\xff\xff\xff\xff")
    yield "huge_text", b"\0\0" + pickled(b"\x8d" + b"\xff" * 8)
    yield "extension", b"\0\0" + pickled(b"\x82\x01")
    yield "buffer", b"\0\0" + pickled(b"\x97")
    yield "cut", b"\0\0" + pickled(tensor([2]))[:-9]


def numpy_array(data, code="f4", shape=(2,), fortran=False, order="<"):
    dtype = call(name("numpy", "dtype"), text(code), FALSE, TRUE) + \
        tuple_of(integer(3), text(order), NONE, NONE, NONE, integer(-1), integer(-1),
                 integer(0)) + b"b"
    empty = call(name("numpy.core.multiarray", "_reconstruct"), name("numpy", "ndarray"),
                 sizes(0), blob(b"b"))
    return empty + tuple_of(integer(1), sizes(*shape), dtype, TRUE if fortran else FALSE,
                            data) + b"b"


def weight(record, shape, strides, offset=0, dtype=7, pickled_weight=False):
    def numbers(values):
        return [{"as_int": value} for value in values]

    return {"path_name": record, "use_pickle": pickled_weight,
            "tensor_meta": {"dtype": dtype, "sizes": numbers(shape), "strides": numbers(strides),
                            "storage_offset": {"as_int": offset}}}


def exported(weights, **records):
    config = json.dumps({"config": weights}).encode()
    return {"a/archive_format": b"pt2", "a/data/weights/m_weights_config.json": config,
            **{f"a/data/weights/{record}": data for record, data in records.items()}}


def script(attributes, code, constants=b")"):
    net = made(name("__torch__", "Net"), attributes)
    return saved(net, {"0": floats(1)}) | {"a/code/__torch__.py": code,
                                           "a/constants.pkl": pickled(constants)}


def pytorch_seeds():
    four = {"0": floats(1, 2, 3, 4)}
    plain = dict_of(w=tensor([2, 2]), b=tensor([2], key="1", count=2))
    two = four | {"1": floats(5, 6)}
    views = dict_of(a=tensor([2], offset=1), t=tensor([2, 2], [1, 2]), e=tensor([3, 4], [0, 1]),
                    same=tensor([2], offset=1), none=tensor([0]), one=tensor([]))
    yield "zip", torch_zip(saved(plain, two))
    yield "zip_unpadded", loose_zip(saved(plain, two))
    yield "zip_deflated", plain_zip(saved(views, four), zipfile.ZIP_DEFLATED)
    yield "zip_rootless", plain_zip(saved(plain, two, ""))
    yield "zip_big_endian", torch_zip(saved(plain, two, byteorder=b"big"))
    yield "zip_views", loose_zip(saved(views, four))
    yield "zip_missing", loose_zip(saved(plain, four))
    yield "zip_no_version", plain_zip({"a/data.pkl": pickled(plain)})
    yield "zip_outside", plain_zip(saved(plain, two) | {"b": b"c"})
    widths = {"Double": 8, "Half": 2, "BFloat16": 2, "Long": 8, "Int": 4, "Short": 2, "Char": 1,
              "Byte": 1, "Bool": 1, "ComplexFloat": 8, "ComplexDouble": 16}
    kinds = {kind: tensor([2], kind=kind, key=kind, count=2) for kind in widths}
    data = {kind: bytes(range(2 * width)) for kind, width in widths.items()}
    yield "zip_dtypes", loose_zip(saved(dict_of(**kinds), data))
    untyped = tuple_of(text("storage"), name("torch.storage", "UntypedStorage"), text("0"),
                       text("cpu"), integer(16)) + b"Q"
    typed = call(name("torch._utils", "_rebuild_tensor_v3"), untyped, integer(0), sizes(8),
                 sizes(1), FALSE, ORDERED, name("torch", "uint16"))
    lazy = call(name("torch._utils", "_rebuild_tensor_v2"), storage("ComplexFloat", count=2),
                integer(0), sizes(2), sizes(1), FALSE, ORDERED, dict_of(conj=TRUE, neg=TRUE))
    parameter = call(name("torch._utils", "_rebuild_parameter"), tensor([4]), TRUE, ORDERED)
    yield "zip_rebuilds", loose_zip(saved(dict_of(v3=typed, lazy=lazy, p=parameter), four))
    quantized = call(name("torch._utils", "_rebuild_qtensor"), storage("QInt8", count=16),
                     integer(0), sizes(2, 2), sizes(2, 1),
                     tuple_of(name("torch", "per_tensor_affine"),
                              b"G" + struct.pack(">d", 0.5), integer(3)), FALSE, ORDERED)
    sparse = call(name("torch._utils", "_rebuild_sparse_tensor"),
                  call(name("torch.serialization", "_get_layout"), text("torch.sparse_coo")),
                  tuple_of(tensor([1, 2], kind="Long", key="1", count=2), tensor([2]), sizes(9)))
    yield "zip_parts", loose_zip(saved(dict_of(q=quantized, s=sparse), four | {"1": bytes(16)}))
    inner = module(text("w") + tensor([4]))
    yield "zip_module", loose_zip(saved(
        module(text("p") + tensor([2]), text("kept") + tensor([1]) + text("lost") + tensor([1]),
               text("sub") + inner, _non_persistent_buffers_set=call(
                   name("builtins", "set"), list_of(text("lost"))), other=tensor([2])), four))
    yield "zip_meta", loose_zip(saved(dict_of(m=tensor([2], device="meta")), {}))
    yield "zip_collision", loose_zip(saved(dict_of(**{"a.b": tensor([4]),
                                                      "a": dict_of(b=tensor([4]))}), four))
    yield "zip_expanded", loose_zip(saved(tensor([1 << 40], [0]), four))
    yield "zip_beyond", loose_zip(saved(tensor([5]), four))
    view = tuple_of(text("v"), integer(1), integer(2))
    yield "legacy", legacy(dict_of(w=tensor([2, 2], view=NONE)), four)
    yield "legacy_view", legacy(dict_of(w=tensor([2], view=view)), four)
    yield "legacy_cut", legacy(dict_of(w=tensor([4], view=NONE)), four)[:-3]
    yield "legacy_gz", gzip.compress(legacy(dict_of(w=tensor([4], view=NONE)), four), mtime=0)
    named = dict_of(w=text("7") + b"Q", h=text("8") + b"Q")
    yield "tar", tar(oldest(named))
    yield "tar_calls", tar(oldest(dict_of(w=tensor([4])), tensors=False))
    array = numpy_array(blob(floats(1, 2)))
    load = call(name("torch.storage", "_load_from_bytes"), blob(legacy(storage(view=NONE), four)))
    embedded = call(name("torch._utils", "_rebuild_tensor_v2"), load, integer(0), sizes(2, 2),
                    sizes(2, 1), FALSE, ORDERED)
    encoded = call(name("_codecs", "encode"), text("abcdefgh"), text("latin1"))
    yield "pickle", pickled(dict_of(a=array, t=embedded, n=integer(3), x=text("y")))
    yield "pickle_numpy", pickled(list_of(
        array, numpy_array(encoded), numpy_array(blob(bytes(6)), "i1", (2, 3), True, "|"),
        numpy_array(blob(floats(1, 2)), order=">"), numpy_array(list_of(array), "O8", (1,))))
    yield "pickle_trailing", pickled(array) + b"more"
    yield "pickle_protocol_0", pickle.dumps({"a": [1, (2, 3)], "b": {"c": None}}, 0)
    code = b'class Net(Module):\n  __parameters__ = ["p", ]\n  __buffers__ = []\n'
    listed = call(name("torch.jit._pickle", "build_tensorlist"), list_of(tensor([1], count=1)))
    attributes = dict_of(p=tensor([1], count=1), q=tensor([1], count=1), l=listed, n=integer(1))
    yield "torchscript", loose_zip(script(attributes, code, tuple_of(integer(1))))
    yield "torchscript_deflated", plain_zip(script(attributes, code), zipfile.ZIP_DEFLATED)
    raw = floats(1, 2, 3, 4)
    yield "pt2", loose_zip(exported({"w": weight("w0", [2, 2], [2, 1]),
                                     "t": weight("w0", [2, 2], [1, 2]),
                                     "o": weight("w0", [2], [1], 2)}, w0=raw))
    whole = loose_zip(saved(tensor([4]), four))
    yield "pt2_pickled", loose_zip(exported({"w": weight("w0", [4], [1], pickled_weight=True)},
                                            w0=whole))
    yield "npz", plain_zip({"a.npy": b"x"})
