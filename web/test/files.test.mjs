// SPDX-License-Identifier: MIT OR Apache-2.0
// Opening: what a file may be, what is read of it, and who owns what.
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { AndironError, data, joined, load, safetensors, temporaryFolder } from "./support.mjs";

const andiron = await load();
const small = safetensors({ "a.weight": [1, 2, 3], "a.bias": [4] }, { author: "me" });

test("opens buffers, typed arrays, sets of files and paths", () => {
  const folder = temporaryFolder();
  const path = join(folder, "model.safetensors");
  fs.writeFileSync(path, small);
  const padded = new Uint8Array(small.length + 8);
  padded.set(small, 4);
  const sources = [small.buffer, small, new DataView(padded.buffer, 4, small.length), Buffer.from(small),
    { "model.safetensors": small }, new Map([["model.safetensors", small]]), path, pathToFileURL(path), folder];
  for (const source of sources) {
    const file = andiron.open(source);
    assert.deepEqual(file.tensors.map(({ name, shape }) => [name, shape]), [["a.weight", [3]], ["a.bias", [1]]]);
    assert.deepEqual([...file.read("a.weight")], [1, 2, 3]);
    assert.deepEqual(file.metadata, { author: "me" });
    assert.deepEqual(file.tensor("a.bias"), file.tensors[1]);
    assert.equal(file.tensor("b"), undefined);
    file.close();
  }
});

test("bytes are not made into text to find out what they are", () => {
  const bytes = new Uint8Array(small);
  bytes.toString = bytes.join = () => assert.fail("was made into text");
  andiron.open(bytes).close();
});

test("what cannot be opened is a TypeError that says what can", () => {
  for (const source of [undefined, null, 7, { "a.safetensors": 7 }]) {
    assert.throws(() => andiron.open(source), /^TypeError: expected .*, or in node a path/);
  }
  assert.throws(() => andiron.open(new Blob([small])), /node reads no parts of a Blob: open a path/);
});

test("errors carry a code, what was found, and what to try", () => {
  assert.throws(() => andiron.open(new Uint8Array(100).fill(65), { name: "x.bin" }), (error) => {
    assert.ok(error instanceof AndironError && error instanceof Error);
    assert.equal(error.code, "NotAWeightFile");
    assert.equal(error.file, "x.bin");
    assert.match(error.message, /^x\.bin: not a recognized weight file/);
    return true;
  });
  const file = andiron.open(small);
  assert.throws(() => file.read("a.wieght"), (error) => {
    assert.equal(error.code, "MissingTensor");
    assert.match(error.hint, /did you mean 'a\.weight'/);
    return true;
  });
  assert.throws(() => file.read("a.weight", { dtype: "f33" }), /no such dtype: f33/);
  assert.throws(() => file.read("a.weight", { begin: 1, end: 9 }), /outside the tensor: 1 to 9; expected 0 to 3/);
  assert.throws(() => file.convert("onnx"), /no such format: onnx/);
  assert.throws(() => andiron.open(small, { names: { rename: [["(", ""]] } }), { code: "InvalidPattern" });
  assert.throws(() => andiron.open(join(temporaryFolder(), "nope.pt")), { code: "NotFound" });
  file.close();
});

test("a misspelled option is an error that names those that exist", async () => {
  const file = andiron.open(small);
  const cases = [[() => andiron.open(small, { strict: true }), "strict", "name, strictness, verify, names"],
    [() => andiron.open(small, { names: { renames: [] } }), "renames", "topLevelKey, rename, contiguousIndices, foldWeightNorm"],
    [() => file.read("a.bias", { type: "f32" }), "type", "dtype, begin, end"],
    [() => file.statistics("a.bias", { bin: 3 }), "bin", "bins"],
    [() => file.convert("burnpack", { meta: {} }), "meta", "metadata"],
    [() => andiron.compare(file, file, { tolerance: 1 }), "tolerance", "atol, rtol, ignoreDtype"]];
  for (const [use, option, known] of cases) {
    assert.throws(use, { name: "TypeError", message: `no such option: ${option}; there are: ${known}` });
  }
  await assert.rejects(load({ module: small }), { name: "TypeError", message: "no such option: module; there are: wasm" });
  assert.throws(() => andiron.open(small, { strictness: "high" }),
    { name: "TypeError", message: "no such strictness: high; there are: lenient, standard, strict" });
  andiron.open(small, { name: undefined, strictness: undefined }).close();
  file.close();
});

test("a file that cannot be read any more says why", () => {
  const path = join(temporaryFolder(), "cut.safetensors");
  fs.writeFileSync(path, small);
  const file = andiron.open(path);
  fs.truncateSync(path, small.length - 4);
  assert.throws(() => file.read("a.bias"), (error) => {
    assert.equal(error.code, "Io");
    assert.match(error.cause.message, /ended too early/);
    return true;
  });
  file.close();
});

test("a closed file says so, and closing twice is nothing", async () => {
  const file = andiron.open(small);
  const kept = file.read("a.weight");
  const other = andiron.open(small);
  file.close();
  file.close();
  const disposed = andiron.open(small);
  disposed[Symbol.dispose]();
  assert.throws(() => disposed.read("a.weight"), /^TypeError: the file is closed/);
  for (const use of [() => file.read("a.weight"), () => file.hash("a.weight"), () => file.statistics("a.weight"),
    () => file.convert("burnpack"), () => andiron.compare(file, other), () => andiron.compare(other, file)]) {
    assert.throws(use, (error) => error instanceof TypeError && error.message === "the file is closed");
  }
  assert.throws(() => andiron.compare({}, other), /^TypeError: expected an open file/);
  const another = await load();
  assert.throws(() => another.compare(other, other), /^TypeError: the files were opened by another load/);
  assert.deepEqual([...kept], [1, 2, 3]);
  assert.deepEqual([...other.read("a.bias")], [4]);
  other.close();
});

test("files are given back when they are closed", () => {
  const path = join(temporaryFolder(), "model.safetensors");
  fs.writeFileSync(path, safetensors({ w: new Array(250000).fill(1) }));
  const descriptors = () => fs.readdirSync("/proc/self/fd").length;
  const use = () => {
    const file = andiron.open(path);
    file.read("w");
    file.close();
  };
  use();
  const [memory, open] = [andiron.memoryBytes, descriptors()];
  for (let i = 0; i < 50; ++i) use();
  assert.equal(andiron.memoryBytes, memory);
  assert.equal(descriptors(), open);
});

test("opens shards from a set of files, and names the missing one", () => {
  const [one, two] = [safetensors({ a: [1] }), safetensors({ b: [2, 3] })];
  const index = new TextEncoder().encode(JSON.stringify({ weight_map: { a: "m-1.safetensors", b: "m-2.safetensors" } }));
  const set = { "m.safetensors.index.json": index, "m-1.safetensors": one, "m-2.safetensors": two };
  for (const source of [set, new Map(Object.entries(set))]) {
    const file = andiron.open(source);
    assert.deepEqual(file.tensors.map(({ name, file: shard }) => [name, shard]),
      [["a", "m-1.safetensors"], ["b", "m-2.safetensors"]]);
    assert.deepEqual([...file.read("b")], [2, 3]);
    file.close();
  }
  delete set["m-2.safetensors"];
  assert.throws(() => andiron.open(set, { name: "m.safetensors.index.json" }), (error) => {
    assert.match(error.message, /m-2\.safetensors/);
    return error instanceof AndironError;
  });
});

test("renames while opening", () => {
  const path = join(data, "torch-2.15/lightning.ckpt");
  const file = andiron.open(path, { names: { topLevelKey: "state_dict", rename: [["^", "net."]] } });
  assert.ok(file.tensors.length > 0);
  assert.ok(file.tensors.every(({ name }) => name.startsWith("net.")));
  file.close();
});

// A file of 2 GiB and more, of which nothing but the header has content.
export function sparseFile(path, tensors = 64, bytesEach = 2 ** 25) {
  const header = {};
  for (let i = 0; i < tensors; ++i) {
    header[`layers.${i}.weight`] = { dtype: "F32", shape: [bytesEach / 4], data_offsets: [i * bytesEach, (i + 1) * bytesEach] };
  }
  const head = joined(header);
  fs.writeFileSync(path, head);
  fs.truncateSync(path, head.length + tensors * bytesEach);
  return head.length;
}

test("of 2 GiB, only the header is read until a tensor is", () => {
  const path = join(temporaryFolder(), "large.safetensors");
  const headerBytes = sparseFile(path);
  let counted = 0;
  const { readSync } = fs;
  fs.readSync = (...args) => {
    const count = readSync(...args);
    counted += count;
    return count;
  };
  try {
    const file = andiron.open(path);
    assert.equal(file.tensors.length, 64);
    assert.equal(file.bytes, headerBytes + 2 ** 31);
    assert.equal(file.bytesRead, counted);
    assert.ok(counted <= 2 * headerBytes, `${counted} bytes were read, the header has ${headerBytes}`);
    assert.deepEqual([...file.read("layers.63.weight", { begin: 5, end: 8 })], [0, 0, 0]);
    assert.ok(counted <= 2 * headerBytes + 64, `${counted} bytes were read`);
    file.close();
  } finally {
    fs.readSync = readSync;
  }
});
