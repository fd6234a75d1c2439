// SPDX-License-Identifier: MIT OR Apache-2.0
// Damaged and hostile files: an error or a listing, never a trap, and memory in proportion.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  AndironError, data, filesIn, joined, load, randomNumbers, root, safetensors,
} from "./support.mjs";

const MiB = 2 ** 20;
const budget = (fileBytes) => 32 * MiB + 64 * fileBytes;

// Opens a file and reads what is small. Returns the error's code, or undefined.
function tryFile(andiron, bytes) {
  let file;
  try {
    file = andiron.open(bytes);
    for (const { name, bytes: size } of file.tensors.slice(0, 20)) {
      if (size > 65536) continue;
      try {
        file.read(name);
        file.statistics(name, { bins: 8 });
      } catch (error) {
        mustBeOurs(error);
      }
    }
  } catch (error) {
    return mustBeOurs(error).code;
  } finally {
    file?.close();
  }
}

function mustBeOurs(error) {
  if (!(error instanceof AndironError) || error.code === "Stopped") throw error;
  assert.ok(error.code && error.message);
  return error;
}

const samples = ["safetensors-0.8/metadata.safetensors", "burnpack-0.22.1/metadata.bpk", "burnpack-0.22.1/scalars.bpk",
  "torch-2.15/tied.pt", "torch-2.15/tied_legacy.pt", "torch-2.15/deflated.pt", "torch-2.15/gzipped.pt.gz",
  "torch-2.15/arrays_2.pkl", "torch-2.15/exported.pt2", "numpy-2.4/deflated.npz", "numpy-2.4/fortran.npy",
  "mpk-0.21.0/linear.mpk.gz", "mpk-0.21.0/linear.json"];

for (const sample of samples) {
  test(`every cut and many changed bytes of ${sample}`, async () => {
    const andiron = await load();
    const whole = new Uint8Array(readFileSync(join(data, sample)));
    assert.equal(tryFile(andiron, whole), undefined);
    const step = Math.max(1, Math.floor(whole.length / 400));
    for (let length = 0; length < whole.length; length += step) tryFile(andiron, whole.slice(0, length));
    const random = randomNumbers(whole.length);
    for (let i = 0; i < 400; ++i) {
      const changed = whole.slice();
      changed[Math.floor(random() * whole.length)] ^= [0x01, 0x80, 0xff][i % 3];
      tryFile(andiron, changed);
    }
    assert.ok(andiron.memoryBytes <= budget(whole.length), `${andiron.memoryBytes} bytes of memory`);
  });
}

test("names are hashed with a seed of the system, which no file can know", async () => {
  let drawn = 0;
  const { getRandomValues } = crypto;
  crypto.getRandomValues = (bytes) => {
    drawn += bytes.byteLength;
    return getRandomValues.call(crypto, bytes);
  };
  try {
    const andiron = await load();
    andiron.open(safetensors({ w: [1] })).close();
  } finally {
    delete crypto.getRandomValues;
  }
  assert.ok(drawn >= 16, `${drawn} bytes`);
});

test("the seeds of the fuzz targets", async () => {
  const seeds = filesIn(join(root, "fuzz/corpus"));
  assert.ok(seeds.length > 100);
  let andiron = await load();
  let largest = 0;
  for (const [i, seed] of seeds.entries()) {
    // Memory stays where its largest need was; a fresh one now and then shows whose it was.
    if (i % 50 === 0) {
      andiron = await load();
      largest = 0;
    }
    largest = Math.max(largest, statSync(seed).size);
    tryFile(andiron, new Uint8Array(readFileSync(seed)));
    assert.ok(andiron.memoryBytes <= budget(largest), `${andiron.memoryBytes} bytes of memory after ${seed}`);
  }
});

test("headers that promise too much", async () => {
  const tensor = (shape, begin, end) => JSON.stringify({ dtype: "F32", shape, data_offsets: [begin, end] });
  const huge = [
    joined(`{"a":${tensor([2 ** 30, 2 ** 30, 2 ** 30], 0, 4)}}`),
    joined(`{"a":${tensor([2 ** 30], 0, 2 ** 32)}}`),
    joined(`{"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,18446744073709551615]}}`),
    joined("[".repeat(1e6)),
    joined(`{"a":${"[".repeat(100000)}${"]".repeat(100000)}}`),
    joined(`{"${"a".repeat(1e6)}":${tensor([], 0, 4)}}`, [Buffer.alloc(4)]),
    joined(`{"__metadata__":{${Array.from({ length: 100000 }, (_, i) => `"${i}":""`).join(",")}}}`),
    Uint8Array.from([255, 255, 255, 255, 255, 255, 255, 127, 123]),
    Uint8Array.from([0x80, 2, ...new Array(1e6).fill(0x28), 0x2e]),
  ];
  for (const [i, bytes] of huge.entries()) {
    const andiron = await load();
    tryFile(andiron, bytes);
    assert.ok(andiron.memoryBytes <= budget(bytes.length), `file ${i}: ${andiron.memoryBytes} bytes of memory`);
  }
});

test("the library works as before after all of that", async () => {
  const andiron = await load();
  for (let i = 0; i < 20; ++i) tryFile(andiron, joined("[".repeat(1000 * i)));
  const file = andiron.open(join(data, "safetensors-0.8/dtypes.safetensors"));
  assert.ok(file.tensors.length > 0);
  file.close();
});

test("more than the memory has is an error", async () => {
  const andiron = await load();
  const { truncateSync, writeFileSync } = await import("node:fs");
  const { temporaryFolder } = await import("./support.mjs");
  const path = join(temporaryFolder(), "large.safetensors");
  // Of 2 GiB, because no block is as large.
  for (const bytes of [2 ** 31, 5 * 2 ** 30]) {
    const head = joined({ a: { dtype: "U8", shape: [bytes], data_offsets: [0, bytes] } });
    writeFileSync(path, head);
    truncateSync(path, head.length + bytes);
    const file = andiron.open(path);
    assert.throws(() => file.read("a"), { code: "OutOfMemory" });
    assert.throws(() => file.convert("burnpack"), { code: "OutOfMemory" });
    assert.equal(file.read("a", { begin: bytes - 2 }).length, 2);
    file.close();
  }
});
