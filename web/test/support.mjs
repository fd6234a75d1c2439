// SPDX-License-Identifier: MIT OR Apache-2.0
// What the tests share: the built package, files to open, and the native tool to compare with.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
/** What scripts/web has built: index.html and npm/. */
export const built = resolve(process.env.ANDIRON_WEB ?? join(root, "build/web"));
export const { AndironError, arrayFor, load, loadInWorker } = await import(join(built, "npm/index.js"));

export const data = join(root, "tests/data");

/** The native tool, or undefined. */
export const tool = [process.env.ANDIRON_TOOL, "build/dev/andiron", "build/release/andiron"]
  .filter(Boolean).map((path) => resolve(root, path)).find((path) => existsSync(path));
export const withoutTool = tool ? false : "no native tool was built (ANDIRON_TOOL)";

/** The library with what is below it: `exports` of the module, and the `imports` that it was given. */
export async function loadWithModule() {
  const { instantiate } = WebAssembly;
  const below = {};
  WebAssembly.instantiate = async (module, imports) => {
    const instance = await instantiate(module, imports);
    Object.assign(below, { exports: instance.exports, imports });
    return instance;
  };
  try {
    return { andiron: await load(), ...below };
  } finally {
    WebAssembly.instantiate = instantiate;
  }
}

/** Takes memory of the module until it is above an address, or all of it. */
export function takeMemory({ andiron_allocate: allocate }, address = 2 ** 32) {
  for (const size of [2 ** 28, 2 ** 22, 2 ** 16, 2 ** 12, 256, 16]) {
    let at = 0;
    do at = allocate(size) >>> 0; while (at !== 0 && at < address);
  }
}

/** A folder for this file's tests, removed after them. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), "andiron-web-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** All files and folders below a folder, folders too. */
export function everythingIn(folder) {
  return readdirSync(folder, { recursive: true }).map((name) => join(folder, name)).sort();
}

export const filesIn = (folder) => everythingIn(folder).filter((path) => statSync(path).isFile());

/** What `andiron VERB --json` prints of each path. */
export function native(verb, paths, ...options) {
  const { stdout } = spawnSync(tool, [verb, "--json", ...options, ...paths],
    { encoding: "utf8", maxBuffer: 1 << 30 });
  return stdout.trim().split("\n").map((line) => JSON.parse(line));
}

/** A SafeTensors file of F32 tensors; `tensors`: names and their numbers. */
export function safetensors(tensors, metadata) {
  const header = metadata ? { __metadata__: metadata } : {};
  let end = 0;
  const parts = Object.entries(tensors).map(([name, numbers]) => {
    const bytes = new Uint8Array(Float32Array.from(numbers).buffer);
    header[name] = { dtype: "F32", shape: [numbers.length], data_offsets: [end, end += bytes.length] };
    return bytes;
  });
  return joined(header, parts);
}

/** A SafeTensors file with any header. */
export function joined(header, parts = []) {
  const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  const all = Buffer.concat([length, text, ...parts]);
  return new Uint8Array(all.buffer, all.byteOffset, all.length).slice();
}

/** Numbers between 0 and 1, the same in every run. */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
