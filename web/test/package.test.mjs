// SPDX-License-Identifier: MIT OR Apache-2.0
// The package as others get it: packed, installed in a folder of their own, imported by its name.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { built, safetensors, temporaryFolder } from "./support.mjs";

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
    import { AndironError, arrayFor, load, loadInWorker, type Comparison, type Statistics, type WeightFile } from "andiron";
    const andiron = await load();
    const file: WeightFile = andiron.open({ "a.safetensors": new ArrayBuffer(8) }, { names: { rename: [["a", "b"]] } });
    const shape: number[] = file.tensors[0].shape;
    const statistics: Statistics = file.statistics("a", { bins: 3 });
    const same: Comparison = andiron.compare(file, file, { atol: 1 });
    const { bytes, notes }: { bytes: Uint8Array, notes: string[] } = file.convert("burnpack");
    const part = file.read("a", { dtype: "f32", begin: 1 });
    new (arrayFor("f32"))(new ArrayBuffer(4));
    const remote = await loadInWorker({ wasm: bytes.slice().buffer });
    const opened = await remote.open(new Blob([]));
    const hash: string = await opened.hash("a");
    {
      using closed: Disposable = file;
      await using closedToo: AsyncDisposable = opened;
      console.log(closed, closedToo, notes);
    }
    // @ts-expect-error: no such option
    file.read("a", { type: "f32" });
    // @ts-expect-error: no such format
    file.convert("onnx");
    // @ts-expect-error: promises
    opened.read("a").length;
    console.log(shape, statistics.min, same.isEqual, part.length, hash, AndironError, opened.bytesRead);`);
  writeFileSync(join(folder, "half.ts"), `
    import type { Elements } from "andiron";
    export const half: Elements = new Float16Array(2);`);
  for (const [source, lib] of [["use.ts", "es2022"], ["half.ts", "esnext"]]) {
    const { status, stdout } = spawnSync("node", [compiler, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext",
      "--lib", `${lib},dom,dom.iterable`, source], { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, stdout);
  }
});
