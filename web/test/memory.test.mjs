// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory above 2 GiB, where addresses would be negative, and memory that has ended.
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AndironError, loadWithModule, safetensors, takeMemory, temporaryFolder } from "./support.mjs";

const numbers = Array.from({ length: 50000 }, (_, i) => i);
const model = safetensors({ w: numbers });

test("works where its memory is above 2 GiB", async () => {
  const { andiron, exports } = await loadWithModule();
  // The allocator goes on behind what others took. Nothing is in these pages, so that they cost nothing.
  assert.notEqual(exports.memory.grow(2 ** 31 / 65536), -1);
  takeMemory(exports, 2 ** 31);
  const probe = exports.andiron_allocate(16);
  assert.ok(probe < 0, `${probe} is an address below 2 GiB`);
  assert.match(andiron.version, /^\d+\.\d+\.\d+/);
  const file = andiron.open(model);
  assert.deepEqual([...file.read("w")], numbers);
  assert.equal(file.statistics("w").max, 49999);
  const again = andiron.open(file.convert("burnpack").bytes);
  assert.equal(again.hash("w"), file.hash("w"));
  assert.throws(() => file.read("v"), { code: "MissingTensor" });
  assert.ok(file.bytesRead >= model.length);
  again.close();
  file.close();
});

test("the system's functions take addresses above 2 GiB", async () => {
  const { exports, imports: { wasi_snapshot_preview1: system } } = await loadWithModule();
  assert.notEqual(exports.memory.grow(2 ** 31 / 65536), -1);
  const address = 2 ** 31;
  const bytes = new Uint8Array(exports.memory.buffer, address, 100000);
  assert.equal(system.random_get(address | 0, bytes.length), 0);
  assert.ok(bytes.subarray(0, 64).some(Boolean) && bytes.subarray(-64).some(Boolean));
  bytes.fill(255);
  assert.equal(system.environ_sizes_get(address | 0, (address + 4) | 0), 0);
  assert.deepEqual([...bytes.subarray(0, 9)], [0, 0, 0, 0, 0, 0, 0, 0, 255]);
  assert.equal(system.clock_time_get(0, 0n, address | 0), 0);
  assert.ok(bytes.subarray(0, 8).some(Boolean));
});

const isStopped = (error) => {
  assert.ok(error instanceof AndironError, error);
  assert.equal(error.code, "Stopped");
  assert.match(error.message, /^the library stopped: .*; load it again$/);
  assert.ok(error.cause instanceof WebAssembly.RuntimeError);
  return true;
};

test("a library that stopped refuses every call, and gives its files back", async () => {
  const path = join(temporaryFolder(), "model.safetensors");
  fs.writeFileSync(path, model);
  const { andiron, exports } = await loadWithModule();
  const descriptors = () => fs.readdirSync("/proc/self/fd").length;
  const before = descriptors();
  const file = andiron.open(path);
  file.read("w");
  const kept = exports.andiron_allocate(16384);
  takeMemory(exports);
  // Enough for a request, which has the name twice, but not for the name once more.
  exports.andiron_deallocate(kept);
  assert.throws(() => andiron.open(model, { name: "x".repeat(6000) }), isStopped);
  for (const use of [() => andiron.version, () => andiron.open(model), () => andiron.compare(file, file), () => file.read("w"),
    () => file.hash("w"), () => file.statistics("w"), () => file.convert("burnpack")]) {
    assert.throws(use, isStopped);
  }
  file.close();
  file.close();
  assert.equal(descriptors(), before);
});
