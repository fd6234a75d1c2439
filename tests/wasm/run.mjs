// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs a program of WASI in node, with the whole file system. Arguments go to the program.
// usage: node run.mjs PROGRAM [ARGUMENT ...]
import { readFile } from "node:fs/promises";
import { argv, env, exit } from "node:process";
import { WASI } from "node:wasi";

const [, , program, ...rest] = argv;
const wasi = new WASI({
  version: "preview1",
  args: [program, ...rest],
  env,
  preopens: { "/": "/" },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
