// SPDX-License-Identifier: MIT OR Apache-2.0
// The library in a worker, as seen from a page: what is sent, and what becomes of calls without an answer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { AndironError, built, loadInWorker, safetensors, temporaryFolder } from "./support.mjs";

const model = safetensors({ w: [1, 2, 3] });

// worker.js in this thread, as in a page.
globalThis.self = {};
await import(join(built, "npm/worker.js"));

class LocalWorker {
  constructor() {
    self.postMessage = (answer) => {
      const data = structuredClone(answer);
      setImmediate(() => this.onmessage({ data }));
    };
  }
  postMessage(message) {
    self.onmessage({ data: structuredClone(message) });
  }
}

test("in node, a thread does the work", async () => {
  const path = join(temporaryFolder(), "model.safetensors");
  fs.writeFileSync(path, model);
  const remote = await loadInWorker({ wasm: pathToFileURL(join(built, "npm/andiron.wasm")) });
  for (const source of [model, path, pathToFileURL(path)]) {
    const file = await remote.open(source);
    assert.deepEqual([...await file.read("w")], [1, 2, 3]);
    assert.equal((await file.statistics("w")).mean, 2);
    const { bytes, notes } = await file.convert("burnpack");
    assert.deepEqual(notes, []);
    assert.equal((await remote.open(bytes)).format, "burnpack");
    await assert.rejects(file.read("w", { type: "f32" }), { name: "TypeError", message: /^no such option: type; there are: / });
    await file[Symbol.asyncDispose]();
    await assert.rejects(file.read("w"), { name: "TypeError", message: "the file is closed" });
  }
  await assert.rejects(remote.open(new Blob([model])), /node reads no parts of a Blob: open a path/);
  const underWay = remote.open(path);
  remote[Symbol.dispose]();
  await assert.rejects(underWay, isClosed);
  await assert.rejects(loadInWorker({ wasm: "no/such.wasm" }), /no such file/);
  await assert.rejects(loadInWorker({ url: "" }), { name: "TypeError", message: "no such option: url; there are: worker, wasm" });
});

test("files of two workers are not compared", async () => {
  const [one, two] = [await loadInWorker(), await loadInWorker()];
  const [a, b, c] = [await one.open(model), await two.open(safetensors({ w: [1, 2, 4] })), await one.open(safetensors({ w: [1, 2, 4] }))];
  for (const [first, second] of [[a, b], [b, a]]) {
    await assert.rejects(one.compare(first, second), { name: "TypeError", message: /^the files were opened by another loadInWorker\(\)/ });
  }
  assert.equal((await one.compare(a, c)).isEqual, false);
  await assert.rejects(one.compare(a, {}), { name: "TypeError", message: "expected an open file" });
  await assert.rejects(one.compare(a, undefined), { name: "TypeError", message: "expected an open file" });
  await c.close();
  await assert.rejects(one.compare(a, c), { name: "TypeError", message: "the file is closed" });
  one.close();
  two.close();
});

test("a thread that nobody waits for does not keep a program from its end", () => {
  const program = `import { loadInWorker } from ${JSON.stringify(join(built, "npm/index.js"))};
    console.log((await loadInWorker()).version.length > 0);`;
  const { stdout, status } = spawnSync("node", ["--input-type=module", "-e", program], { encoding: "utf8", timeout: 60000 });
  assert.deepEqual([stdout, status], ["true\n", 0]);
});

const isClosed = { name: "Error", message: "the worker was closed: load the library again" };

test("an error of a worker has the cause that it had there", async () => {
  const path = join(temporaryFolder(), "cut.safetensors");
  fs.writeFileSync(path, model);
  const remote = await loadInWorker({ worker: new LocalWorker() });
  const file = await remote.open(path);
  fs.truncateSync(path, model.length - 4);
  await assert.rejects(file.read("w"), (error) => {
    assert.ok(error instanceof AndironError);
    assert.equal(error.code, "Io");
    assert.ok(error.cause instanceof Error);
    assert.match(error.cause.message, /ended too early/);
    return true;
  });
  await assert.rejects(file.read("v"), (error) => error.code === "MissingTensor" && !("cause" in error));
  await file.close();
});

// Answers what it is told to, and nothing else.
class SilentWorker {
  sent = [];
  terminated = 0;

  postMessage(message) {
    this.sent.push(structuredClone(message));
  }
  terminate() {
    this.terminated += 1;
  }
  answer(result, id = this.sent.at(-1).id) {
    this.onmessage({ data: { id, result } });
  }
}

async function silent() {
  const worker = new SilentWorker();
  const loading = loadInWorker({ worker });
  await new Promise(setImmediate);
  worker.answer("1.2.3");
  const remote = await loading;
  assert.equal(remote.version, "1.2.3");
  const opening = remote.open(model);
  worker.answer({ number: 1, listing: { tensors: [{ name: "w" }] } });
  return { worker, remote, file: await opening };
}

test("calls under way and later ones fail once the worker is closed", async () => {
  const { worker, remote, file } = await silent();
  const underWay = file.read("w");
  remote.close();
  await assert.rejects(underWay, isClosed);
  const sent = worker.sent.length;
  for (const use of [() => remote.open(model), () => remote.compare(file, file), () => file.read("w"), () => file.hash("w"),
    () => file.statistics("w"), () => file.convert("burnpack")]) {
    await assert.rejects(use(), isClosed);
  }
  await file.close();
  remote.close();
  assert.equal(worker.sent.length, sent);
});

test("calls fail once a thread has ended, and a library that cannot be loaded ends its thread", async () => {
  const worker = { postMessage() {}, terminate() {} };
  const loading = loadInWorker({ worker });
  await new Promise((resolve) => setImmediate(resolve));
  worker.onexit();
  await assert.rejects(loading, /the worker was closed/);
  // Otherwise this program would not end.
  await assert.rejects(loadInWorker({ wasm: new Uint8Array([1, 2, 3]) }));
});

test("answers that nobody waits for are ignored", async () => {
  const { worker, remote, file } = await silent();
  worker.answer("nobody's", 4711);
  const hashing = file.hash("w");
  worker.answer("abc");
  worker.answer("twice");
  assert.equal(await hashing, "abc");
  const late = file.hash("w");
  remote.close();
  worker.answer("too late");
  await assert.rejects(late, isClosed);
});

test("what cannot be sent fails, and later calls do not", async () => {
  const { worker, remote, file } = await silent();
  await assert.rejects(remote.open({ "a.safetensors": () => {} }), { name: "DataCloneError" });
  const hashing = file.hash("w");
  worker.answer("abc");
  assert.equal(await hashing, "abc");
});
