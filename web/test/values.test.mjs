// SPDX-License-Identifier: MIT OR Apache-2.0
// Elements as typed arrays, statistics, comparisons, conversions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { arrayFor, data, joined, load, native, root, safetensors, withoutTool } from "./support.mjs";

const andiron = await load();

function fileWith(dtype, bytes, shape) {
  return andiron.open(joined({ t: { dtype, shape, data_offsets: [0, bytes.byteLength] } },
    [new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)]));
}

test("every dtype comes in its typed array", () => {
  const cases = [["BOOL", Uint8Array.of(0, 1)], ["U8", Uint8Array.of(0, 255)], ["I8", Int8Array.of(-128, 127)],
    ["U16", Uint16Array.of(1, 65535)], ["I16", Int16Array.of(-32768, 7)], ["U32", Uint32Array.of(1, 4294967295)],
    ["I32", Int32Array.of(-2147483648, 7)], ["U64", BigUint64Array.of(1n, 2n ** 64n - 1n)],
    ["I64", BigInt64Array.of(-(2n ** 63n), 7n)], ["F32", Float32Array.of(0.1, -Infinity)],
    ["F64", Float64Array.of(0.1, 1e300)], ["BF16", Uint16Array.of(0x3f80, 0xbf80)]];
  for (const [dtype, numbers] of cases) {
    const file = fileWith(dtype, numbers, [2]);
    const read = file.read("t");
    assert.equal(read.constructor, numbers.constructor, dtype);
    assert.deepEqual([...read], [...numbers], dtype);
    assert.equal(arrayFor(dtype.toLowerCase()), numbers.constructor);
    file.close();
  }
  const half = fileWith("F16", Uint16Array.of(0x3c00, 0xc000), [2]);
  assert.equal(half.read("t").constructor, globalThis.Float16Array ?? Uint16Array);
  assert.deepEqual([...half.read("t", { dtype: "f32" })], [1, -2]);
  half.close();
  const eighth = fileWith("F8_E4M3", Uint8Array.of(0x38, 0xb8), [2]);
  assert.deepEqual([...eighth.read("t")], [0x38, 0xb8]);
  assert.deepEqual([...eighth.read("t", { dtype: "f32" })], [1, -1]);
  eighth.close();
});

test("a dtype may be spelled as others do", () => {
  const file = andiron.open(safetensors({ t: [1, 2.5] }));
  for (const dtype of ["f64", "F64", "float64", "torch.float64"]) {
    assert.deepEqual(file.read("t", { dtype }), Float64Array.of(1, 2.5), dtype);
    assert.equal(arrayFor(dtype), Float64Array);
  }
  assert.deepEqual(file.read("t", { dtype: "int32" }), Int32Array.of(1, 2));
  for (const dtype of ["Float64", "torch.f64", "double", "raw", "qfloat", "toString"]) {
    assert.throws(() => file.read("t", { dtype }), { name: "TypeError", message: new RegExp(`^no such dtype: ${dtype}; there are: `) });
  }
  assert.throws(() => arrayFor("Float64"), TypeError);
  assert.equal(arrayFor("raw:F8"), Uint8Array);
  file.close();
  // The names are the library's.
  const rows = [...readFileSync(join(root, "include/andiron/dtype.h"), "utf8")
    .matchAll(/^    \{DType::\w+, \d+, ElementKind::\w+, "(\w+)", "(\w+)"\},$/gm)];
  assert.ok(rows.length > 20);
  for (const [, name, usual] of rows) assert.equal(arrayFor(usual), arrayFor(name));
});

test("a tied name is read as what it is tied to", () => {
  const file = andiron.open(safetensors({ "embed.weight": [1, 2] }, { "head.weight": "embed.weight" }));
  assert.deepEqual(file.read("head.weight"), Float32Array.of(1, 2));
  assert.deepEqual(file.read("head.weight", { begin: 1 }), Float32Array.of(2));
  file.close();
});

test("brain floats cast to floats", () => {
  const file = fileWith("BF16", Uint16Array.of(0x3f80, 0xbf80, 0x4049), [3]);
  assert.deepEqual([...file.read("t", { dtype: "f32" })], [1, -1, 3.140625]);
  assert.deepEqual([...file.read("t", { dtype: "f64", begin: 1, end: 2 })], [-1]);
  file.close();
});

test("reads parts of tensors", () => {
  const file = andiron.open(safetensors({ t: [0, 1, 2, 3, 4] }));
  assert.deepEqual([...file.read("t", { begin: 1, end: 3 })], [1, 2]);
  assert.deepEqual([...file.read("t", { begin: 4 })], [4]);
  assert.deepEqual([...file.read("t", { begin: 2, end: 2 })], []);
  file.close();
});

test("counts what is in a tensor", () => {
  const file = andiron.open(safetensors({ t: [0, 1, 2, 5, NaN, Infinity, -Infinity, -Infinity] }));
  const { histogram, ...found } = file.statistics("t", { bins: 5 });
  assert.deepEqual(found, { count: 8, zeros: 1, nan: 1, positiveInfinity: 1, negativeInfinity: 2, min: 0, max: 5,
    mean: 2, std: Math.sqrt(3.5), l2: Math.sqrt(30) });
  assert.deepEqual(histogram, [1, 1, 1, 0, 1]);
  assert.equal(file.statistics("t").histogram, undefined);
  file.close();
});

test("too many bins are an error, also those that 32 bits do not hold", () => {
  const file = andiron.open(safetensors({ t: [0, 1] }));
  assert.equal(file.statistics("t", { bins: 65536 }).histogram.length, 65536);
  for (const bins of [65537, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
    assert.throws(() => file.statistics("t", { bins }), { code: "InvalidArgument", found: String(bins), expected: "at most 65536" });
  }
  file.close();
});

test("integers beyond 2^53 and tensors without a finite element", () => {
  const large = fileWith("U64", BigUint64Array.of(1n, 2n ** 64n - 1n), [2]);
  assert.equal(large.statistics("t").min, 1);
  assert.equal(large.statistics("t").max, 18446744073709551615n);
  large.close();
  const none = andiron.open(safetensors({ t: [NaN] }));
  const { min, max, mean, std, l2 } = none.statistics("t");
  assert.deepEqual([min, max, mean, std, l2], [NaN, NaN, NaN, NaN, 0]);
  none.close();
});

test("numbers are numbers, also those that JSON does not have", () => {
  const zeros = andiron.open(safetensors({ Infinity: [0, 0] }));
  const ones = andiron.open(safetensors({ Infinity: [1, 1] }));
  const [found] = andiron.compare(zeros, ones).differences;
  assert.equal(found.a.name, "Infinity");
  assert.equal(found.maxAbs, 1);
  assert.equal(found.relativeL2, Infinity);
  assert.ok(Number.isNaN(found.cosine));
  zeros.close();
  ones.close();
  const large = fileWith("F64", Float64Array.of(1e308, -1.5e308), [2]);
  assert.equal(large.statistics("t").min, -1.5e308);
  large.close();
});

test("statistics are the tool's to the last digit", { skip: withoutTool }, () => {
  const path = join(data, "torch-2.15/net_state_dict.pt");
  const file = andiron.open(path);
  for (const theirs of native("stat", [path])[0].tensors) {
    const ours = file.statistics(theirs.name);
    for (const key of ["min", "max", "mean", "std", "l2"]) {
      assert.equal(ours[key], theirs.statistics[key], `${theirs.name} ${key}`);
    }
  }
  file.close();
});

test("compares files", () => {
  const a = andiron.open(safetensors({ same: [1, 2], moved: [1, 5, 9], gone: [7, 8, 9, 10] }));
  const b = andiron.open(safetensors({ same: [1, 2], moved: [1, 5.5, 9], added: [3] }));
  const { isEqual, equal, differences } = andiron.compare(a, b);
  assert.equal(isEqual, false);
  assert.equal(equal, 1);
  assert.deepEqual(differences.map(({ kind, a: left, b: right }) => [kind, (left ?? right).name]).sort(),
    [["added", "added"], ["removed", "gone"], ["values", "moved"]]);
  const values = differences.find(({ kind }) => kind === "values");
  assert.equal(values.maxAbs, 0.5);
  assert.equal(values.differing, 1);
  assert.equal(values.notFinite, 0);
  assert.equal(andiron.compare(a, a).isEqual, true);
  assert.equal(andiron.compare(a, b, { atol: 1 }).differences.find((one) => one.a?.name === "moved").kind, "close");
  a.close();
  b.close();
});

test("counts the elements that differ in being numbers", () => {
  const a = andiron.open(safetensors({ t: [1, NaN, Infinity, NaN, 4, 5] }));
  const b = andiron.open(safetensors({ t: [1, NaN, -Infinity, 3, NaN, 5.5] }));
  const [found] = andiron.compare(a, b).differences;
  assert.equal(found.differing, 4);
  assert.equal(found.notFinite, 3);
  assert.equal(found.maxAbs, 0.5);
  a.close();
  b.close();
});

test("converts to every format and back, with the same hashes", () => {
  for (const name of ["torch-2.15/tied.pt", "safetensors-0.8/ranks.safetensors", "burnpack-0.21.0/zoo.bpk",
    "numpy-2.4/fortran.npy", "mpk-0.21.0/zoo.mpk"]) {
    const file = andiron.open(join(data, name));
    const hashes = (of) => Object.fromEntries(of.tensors.map((tensor) => [tensor.name, of.hash(tensor.name)]));
    for (const format of ["safetensors", "burnpack", "numpy"]) {
      const again = andiron.open(file.convert(format, { metadata: { made: "here" } }).bytes);
      assert.equal(again.format, format);
      assert.deepEqual(hashes(again), hashes(file), `${name} as ${format}`);
      if (format !== "numpy") assert.equal(again.metadata.made, "here");
      if (format !== "numpy" && name.endsWith(".pt")) assert.equal(again.metadata.format, "pt");
      again.close();
    }
    file.close();
  }
});

test("a conversion to Burnpack keeps tied names", () => {
  // Burnpack files of ours could note them, but Burn would miss the names.
  const file = andiron.open(safetensors({ "embed.weight": [1, 2] }, { "head.weight": "embed.weight", producer: "andiron" }));
  const { bytes, notes } = file.convert("burnpack");
  assert.deepEqual(notes, ["1 tied name written as a copy"]);
  const again = andiron.open(bytes);
  assert.deepEqual(again.tensors.map(({ name }) => name), ["embed.weight", "head.weight"]);
  assert.deepEqual(again.read("head.weight"), Float32Array.of(1, 2));
  assert.equal(again.metadata["head.weight"], undefined);
  again.close();
  file.close();
});

test("a conversion of a record drops what it says of its recorder", () => {
  const file = andiron.open(join(data, "mpk-0.21.0/zoo.mpk"));
  assert.match(file.metadata.format, /Recorder/);
  for (const format of ["safetensors", "burnpack"]) {
    const again = andiron.open(file.convert(format, { metadata: { made: "here" } }).bytes);
    for (const key of ["float", "int", "format", "version", "settings"]) {
      assert.notEqual(again.metadata[key], file.metadata[key] ?? null, `${key} in ${format}`);
    }
    assert.equal(again.metadata.made, "here");
    again.close();
  }
  const record = andiron.open(file.convert("mpk").bytes);
  assert.equal(record.metadata.format, file.metadata.format);
  record.close();
  file.close();
});

test("a conversion says what the format could not keep", () => {
  const file = andiron.open(join(data, "torch-2.15/lightning.ckpt"));
  const { bytes, notes } = file.convert("safetensors");
  assert.ok(bytes.length > 0);
  assert.match(notes.join("\n"), /^safetensors cannot store \d+ values/m);
  const again = andiron.open(bytes);
  assert.deepEqual(again.convert("safetensors").notes, []);
  again.close();
  file.close();
});
