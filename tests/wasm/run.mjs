// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a program of WASI in node, with the whole file system. Arguments go to the program.
// usage: node run.mjs PROGRAM [ARGUMENT ...]
//
// Tests run other programs through it (include/tests/support/run.h). "measure FILE PROGRAM ..."
// also writes to FILE the memory that the program took, in KiB.
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { argv, env, exit } from "node:process";
import { WASI } from "node:wasi";

const compiled = new Map();
// node 20 lets go of a WASI that runs, and aborts, unless something refers to it.
globalThis.running = [];

function moduleOf(program) {
  if (!compiled.has(program)) compiled.set(program, new WebAssembly.Module(readFileSync(program)));
  return compiled.get(program);
}

function run(args, stdout = 1) {
  const wasi = new WASI({
    version: "preview1", args, env, stdout, preopens: { "/": "/" }, returnOnExit: true,
  });
  globalThis.running.push(wasi);
  let memory;
  const text = (address, size) => Buffer.from(memory.buffer, address, size).toString();
  const imports = {
    ...wasi.getImportObject(),
    andiron_tests: { run: (...ranges) => runForTest(text(...ranges.slice(0, 2)), text(...ranges.slice(2))) },
  };
  const instance = new WebAssembly.Instance(moduleOf(args[0]), imports);
  memory = instance.exports.memory;
  return { code: wasi.start(instance), bytes: memory.buffer.byteLength };
}

function runForTest(lines, out) {
  const words = lines.split("\n").slice(0, -1);
  const taken = words[0] === "measure" ? words.splice(0, 2)[1] : undefined;
  const stdout = openSync(out, "w");
  try {
    const { code, bytes } = run(words, stdout);
    if (taken) writeFileSync(taken, `${bytes / 1024}\n`);
    return code;
  } catch (error) {
    console.error(error);
    return -1;
  } finally {
    closeSync(stdout);
  }
}

exit(run(argv.slice(2)).code);
