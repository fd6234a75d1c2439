// SPDX-License-Identifier: MIT OR Apache-2.0
// Opening: what a file may be, what is read of it, and who owns what.
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { serve } from "./chromium.mjs";
import { AndironError, built, data, joined, load, root, safetensors, temporaryFolder } from "./support.mjs";

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

test("an argument of another kind is a TypeError that says what it must be", async () => {
  const file = andiron.open(small);
  const count = "must be a whole number from 0 on";
  const cases = [
    [() => file.read(), "name must be a string, not undefined"],
    [() => file.read(7), "name must be a string, not 7"],
    [() => file.hash({}), "name must be a string, not an object"],
    [() => file.statistics(null), "name must be a string, not null"],
    [() => file.read("a.bias", null), "options must be an object, not null"],
    [() => file.read("a.bias", { dtype: 32 }), "dtype must be a string, not 32"],
    [() => file.read("a.bias", { begin: NaN }), `begin ${count}, not NaN`],
    [() => file.read("a.bias", { begin: -1 }), `begin ${count}, not -1`],
    [() => file.read("a.bias", { end: 0.5 }), `end ${count}, not 0.5`],
    [() => file.read("a.bias", { end: "1" }), `end ${count}, not "1"`],
    [() => file.statistics("a.bias", { bins: -1 }), `bins ${count}, not -1`],
    [() => file.convert("burnpack", { metadata: { a: 1 } }), "metadata must be an object of strings, not an object"],
    [() => andiron.compare(file, file, { atol: "1" }), 'atol must be a finite number, not "1"'],
    [() => andiron.compare(file, file, { rtol: Infinity }), "rtol must be a finite number, not Infinity"],
    [() => andiron.compare(file, file, { ignoreDtype: 1 }), "ignoreDtype must be true or false, not 1"],
    [() => andiron.open(small, { verify: "yes" }), 'verify must be true or false, not "yes"'],
    [() => andiron.open(small, { strictness: null }), "strictness must be a string, not null"],
    [() => andiron.open(small, { name: 7 }), "name must be a string, not 7"],
    [() => andiron.open(small, { names: "a" }), 'names must be an object, not "a"'],
    [() => andiron.open(small, { names: { topLevelKey: 7 } }), "topLevelKey must be a string, not 7"],
    [() => andiron.open(small, { names: { rename: [["a"]] } }), "rename must be a list of pairs of strings, not an object"],
    [() => andiron.open(small, { names: { rename: [[/a/, "b"]] } }), "rename must be a list of pairs of strings, not an object"],
    [() => andiron.open([small]), "the name of a file must be a string, not undefined"],
    [() => andiron.open("https://example.org/a.safetensors"), /^a URL is not fetched: open its bytes/],
    [() => andiron.open(new URL("https://example.org/a.safetensors")), /^a URL is not fetched: open its bytes/],
    [() => file.convert("onnx"), "no such format: onnx; there are: safetensors, burnpack, mpk, numpy"],
    [() => file.read("a.bias", { dtype: "f33" }), /^no such dtype: f33; there are: bool, u8, .*f32/],
  ];
  for (const [use, message] of cases) assert.throws(use, { name: "TypeError", message });
  await assert.rejects(load({ wasm: 7 }), { name: "TypeError", message: /^wasm must be a module/ });
  file.close();
});

test("a group that a pattern does not have is an error, not an empty name", () => {
  for (const replacement of ["$1x", "${name}", "$2"]) {
    assert.throws(() => andiron.open(small, { names: { rename: [["^(.*)$", replacement]] } }), { code: "InvalidPattern" });
  }
  assert.throws(() => andiron.open(small, { names: { rename: [["^(.*)$", "$1x"]] } }), /for group 1 write \$\{1\}x/);
  const file = andiron.open(small, { names: { rename: [["^(.*)$", "${1}x"]] } });
  assert.deepEqual(file.tensors.map(({ name }) => name), ["a.weightx", "a.biasx"]);
  file.close();
});

test("advice is in the words of the package", async () => {
  const byte = (begin) => ({ dtype: "U8", shape: [1], data_offsets: [begin, begin + 1] });
  const lenient = joined({ a: byte(0), b: byte(2) }, [Buffer.alloc(3)]);
  const hint = '{ strictness: "lenient" } ignores gaps';
  assert.throws(() => andiron.open(lenient), (error) => error.hint === hint && error.message.endsWith(`; ${hint}`));
  const checkpoint = andiron.open(join(data, "torch-2.15/lightning.ckpt"));
  assert.ok(checkpoint.notes.some((note) => note.endsWith('; use { names: { topLevelKey: "state_dict.model" } }')), checkpoint.notes.join("\n"));
  checkpoint.close();
});

test("of a folder, the named file is opened, and of a path no other is looked at", () => {
  const folder = temporaryFolder();
  for (let i = 0; i < 50; ++i) fs.writeFileSync(join(folder, `${i}.safetensors`), safetensors({ [`w${i}`]: [i] }));
  const counts = { statSync: 0, readdirSync: 0 };
  const kept = { statSync: fs.statSync, readdirSync: fs.readdirSync };
  for (const name of Object.keys(counts)) {
    fs[name] = (...args) => {
      counts[name] += 1;
      return kept[name](...args);
    };
  }
  try {
    for (const [source, options] of [[folder, { name: "7.safetensors" }], [join(folder, "7.safetensors")], [pathToFileURL(folder), { name: "7.safetensors" }]]) {
      const file = andiron.open(source, options);
      assert.deepEqual([...file.read("w7")], [7]);
      file.close();
    }
    assert.ok(counts.statSync <= 6 && counts.readdirSync === 0, JSON.stringify(counts));
    assert.throws(() => andiron.open(folder), { code: "NotAWeightFile", found: /^50 candidates/ });
    assert.ok(counts.statSync <= 8 && counts.readdirSync === 1, JSON.stringify(counts));
  } finally {
    Object.assign(fs, kept);
  }
  assert.throws(() => andiron.open(join(folder, "7.safetensors"), { name: "8.safetensors" }), /^TypeError: name chooses a file of a folder/);
});

test("what is not there is an error of the library that names it", () => {
  const folder = temporaryFolder();
  for (const path of [join(folder, "nope.pt"), join(folder, "nope/nope.pt"), join(folder, "nope")]) {
    for (const source of [path, pathToFileURL(path)]) {
      assert.throws(() => andiron.open(source), (error) => error instanceof AndironError && error.code === "NotFound" &&
        error.file === path && error.message === `${path}: no such file`);
    }
  }
  assert.throws(() => andiron.open(folder, { name: "nope.pt" }), { code: "NotFound", file: join(folder, "nope.pt") });
  assert.throws(() => andiron.open(folder), { code: "NotAWeightFile" });
  assert.throws(() => andiron.open({ "a.pt": join(folder, "nope.pt") }), { code: "NotFound", file: join(folder, "nope.pt") });
});

test("a module that is not there is an error that says where it was looked for", async () => {
  const server = await serve(temporaryFolder(), { "/empty.wasm": "", "/page.wasm": "<!DOCTYPE html>" });
  try {
    for (const [name, why] of [["nope.wasm", "the server answers 404"], ["empty.wasm", "there are no bytes"], ["page.wasm", ""]]) {
      const url = `${server.url}/${name}`;
      await assert.rejects(load({ wasm: url }), (error) =>
        error.message.startsWith(`cannot load the module: ${why}`) && error.message.endsWith(`: ${url}; put andiron.wasm there, or pass { wasm }`));
    }
  } finally {
    server.close();
  }
  await assert.rejects(load({ wasm: new Uint8Array(0) }), { message: "cannot load the module: there are no bytes: the bytes in { wasm }" });
  await assert.rejects(load({ wasm: "/no/such.wasm" }), /^Error: cannot load the module: no such file: \/no\/such\.wasm;/);
});

test("shards are found beside their index, and by the name of the whole", () => {
  const folder = temporaryFolder();
  fs.writeFileSync(join(folder, "m-1.safetensors"), safetensors({ a: [1] }));
  fs.writeFileSync(join(folder, "m-2.safetensors"), safetensors({ b: [2, 3] }));
  fs.writeFileSync(join(folder, "m.safetensors.index.json"), JSON.stringify({ weight_map: { a: "m-1.safetensors", b: "m-2.safetensors" } }));
  for (const source of [folder, join(folder, "m.safetensors"), join(folder, "m.safetensors.index.json")]) {
    const file = andiron.open(source);
    assert.deepEqual([...file.read("b")], [2, 3]);
    file.close();
  }
  fs.rmSync(join(folder, "m-2.safetensors"));
  assert.throws(() => andiron.open(folder), { code: "MissingShard", file: join(folder, "m-2.safetensors") });
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
