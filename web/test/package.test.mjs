// SPDX-License-Identifier: MIT OR Apache-2.0
// The package as others get it: packed, installed in a folder of their own, imported by its name.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { built, root, safetensors, temporaryFolder } from "./support.mjs";

const folder = temporaryFolder();
const npm = (...args) =>
  execFileSync("npm", [...args, "--offline", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder, encoding: "utf8" });

test("packs, installs and runs from a consumer's folder", () => {
  npm("pack", join(built, "npm"), "--silent");
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  writeFileSync(join(folder, "package.json"), '{"name": "consumer", "private": true, "type": "module"}');
  npm("install", `./${tarball}`);
  const installed = readdirSync(join(folder, "node_modules/andiron")).sort();
  assert.deepEqual(installed, ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "andiron.d.ts", "andiron.js",
    "andiron.wasm", "index.js", "package.json", "remote.js", "worker.js"]);
  writeFileSync(join(folder, "model.safetensors"), safetensors({ "fc.weight": [1, 2, 3] }));
  writeFileSync(join(folder, "use.js"), `
    import { load } from "andiron";
    const andiron = await load();
    const file = andiron.open("model.safetensors");
    console.log(file.tensors[0].name, ...file.read("fc.weight"), file.statistics("fc.weight").mean);
    file.close();`);
  const { stdout, stderr } = spawnSync("node", ["use.js"], { cwd: folder, encoding: "utf8" });
  assert.equal(stdout, "fc.weight 1 2 3 2\n", stderr);
});

// scripts/web installs it there where it can.
const compiler = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "andiron/node/node_modules/typescript/bin/tsc");

test("the types describe the functions", { skip: existsSync(compiler) ? false : "no TypeScript here" }, () => {
  writeFileSync(join(folder, "use.ts"), `
    import { AndironError, arrayFor, load, loadInWorker, type Comparison, type Difference, type Statistics, type WeightFile } from "andiron";
    const andiron = await load();
    const file: WeightFile = andiron.open({ "a.safetensors": new ArrayBuffer(8) }, { names: { rename: [["a", "b"]] } });
    const shape: number[] = file.tensors[0].shape;
    const statistics: Statistics = file.statistics("a", { bins: 3 });
    const same: Comparison = andiron.compare(file, file, { atol: 1 });
    const { bytes, notes }: { bytes: Uint8Array, notes: string[] } = file.convert("burnpack");
    const part: Float32Array = file.read("a", { dtype: "f32", begin: 1 });
    const numbers: BigInt64Array = file.read("a", { dtype: "i64" });
    const different = (found: Difference): string | number | undefined => {
      if (found.kind === "added") return found.b.name;
      if (found.kind === "removed") return found.a.name;
      // @ts-expect-error: no such kind
      if (found.kind === "changed") return 0;
      if (found.kind === "dtype") return found.maxAbs;
      if (found.kind === "values") return found.maxAbs.toFixed(2) + found.a.name + found.b.name;
    };
    try {
      file.close();
    } catch (error) {
      // @ts-expect-error: no such code
      if (error instanceof AndironError && error.code === "notFound") throw error;
      if (error instanceof AndironError && error.code === "NotFound") throw error;
    }
    new (arrayFor("f32"))(new ArrayBuffer(4));
    const remote = await loadInWorker({ wasm: bytes.slice().buffer });
    const opened = await remote.open(new Uint8Array(8));
    const far: Float64Array = await opened.read("a", { dtype: "f64" });
    const hash: string = await opened.hash("a");
    {
      using closed: Disposable = file;
      await using closedToo: AsyncDisposable = opened;
      closed[Symbol.dispose]();
      await closedToo[Symbol.asyncDispose]();
    }
    // @ts-expect-error: no such option
    file.read("a", { type: "f32" });
    // @ts-expect-error: no such format
    file.convert("onnx");
    // @ts-expect-error: promises
    opened.read("a").length;
    export { shape, statistics, same, part, numbers, different, hash, far, notes };`);
  writeFileSync(join(folder, "half.ts"), `
    import type { Elements } from "andiron";
    export const half: Elements = new Float16Array(2);`);
  writeFileSync(join(folder, "page.ts"), `
    import { load, loadInWorker } from "andiron";
    const remote = await loadInWorker({ worker: new Worker("w.js"), wasm: new URL("andiron.wasm", "https://example.org") });
    export const opened = [await remote.open(new Blob([])), await remote.open(document.querySelector("input")!.files!)];
    // @ts-expect-error: nothing that can be opened
    (await load()).open(7);`);
  // A program of node's may know no names of pages.
  for (const [source, lib] of [["use.ts", "es2022"], ["half.ts", "esnext"], ["page.ts", "es2022,dom,dom.iterable"]]) {
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ files: [source], compilerOptions:
      { noEmit: true, strict: true, target: "es2022", module: "nodenext", types: [], lib: lib.split(",") } }));
    const { status, stdout } = spawnSync("node", [compiler, "-p", "."], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, stdout);
  }
});

test("the codes of errors are the library's", () => {
  const names = (path, pattern) => [...readFileSync(path, "utf8").matchAll(pattern)].map(([, name]) => name);
  const theirs = names(join(root, "include/andiron/error_code.h"), /^ +return "(\w+)";$/gm).filter((name) => name !== "Unknown");
  const [, union] = /export type ErrorCode =([^;]*);/.exec(readFileSync(join(built, "npm/andiron.d.ts"), "utf8"));
  assert.deepEqual([...union.matchAll(/"(\w+)"/g)].map(([, name]) => name), [...theirs, "Stopped"]);
});
