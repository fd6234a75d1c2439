// SPDX-License-Identifier: MIT OR Apache-2.0
// The same files give the same names, shapes, hashes and errors as in the native tool.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { AndironError, data, everythingIn, load, native, temporaryFolder, tool, withoutTool } from "./support.mjs";

const andiron = await load();
const sets = [data, process.env.ANDIRON_FIXTURES].filter((path) => path && existsSync(path));

// In the words of the tool's JSON.
function listed(path) {
  let file;
  try {
    file = andiron.open(path);
  } catch (error) {
    if (!(error instanceof AndironError)) throw error;
    return { error: error.code };
  }
  const tensors = file.tensors.map((tensor) => ({
    name: tensor.name, dtype: tensor.dtype, shape: tensor.shape, sha256: hashOf(file, tensor.name),
  }));
  const { format, packaging, bytes, metadata } = file;
  file.close();
  return { format, packaging, bytes, metadata, tensors };
}

function hashOf(file, name) {
  try {
    return file.hash(name);
  } catch (error) {
    if (!(error instanceof AndironError)) throw error;
    return error.code;
  }
}

function listedByTool(line) {
  if (!line.tensors) return { error: line.error.code };
  const tensors = line.tensors.map(({ name, dtype, shape, sha256, error }) =>
    ({ name, dtype, shape, sha256: sha256 ?? error?.code }));
  return { format: line.format, packaging: line.container, bytes: line.bytes, metadata: line.metadata, tensors };
}

for (const set of sets) {
  test(`lists and hashes ${set.split("/").at(-1)} as the native tool does`, { skip: withoutTool }, () => {
    const paths = everythingIn(set).filter((path) => !/\.(py|md|rs|toml|lock)$|\/make$/.test(path));
    let compared = 0;
    const byName = (a, b) => (a.name < b.name ? -1 : 1);
    for (const line of native("hash", paths)) {
      const theirs = listedByTool(line);
      const ours = listed(line.path);
      theirs.tensors?.sort(byName);
      ours.tensors?.sort(byName);
      assert.deepEqual(ours, theirs, line.path);
      compared += theirs.tensors?.length ?? 0;
    }
    assert.ok(compared > 500, `compared ${compared} tensors`);
  });
}

// Bytes, or undefined where the file cannot be read or written so.
function converted(path, format) {
  let file;
  try {
    file = andiron.open(path);
    return Buffer.from(file.convert(format).bytes);
  } catch (error) {
    if (!(error instanceof AndironError)) throw error;
    return undefined;
  } finally {
    file?.close();
  }
}

function convertedByTool(path, output) {
  rmSync(output, { force: true });
  spawnSync(tool, ["convert", "--no-sync", "-o", output, path]);
  return existsSync(output) ? readFileSync(output) : undefined;
}

test("converts every file to the bytes that the native tool writes", { skip: withoutTool }, () => {
  const folder = temporaryFolder();
  const endings = { safetensors: ".safetensors", burnpack: ".bpk", mpk: ".mpk", numpy: ".npz" };
  let compared = 0;
  for (const path of everythingIn(data)) {
    for (const [format, ending] of Object.entries(endings)) {
      const ours = converted(path, format);
      const theirs = convertedByTool(path, join(folder, `out${ending}`));
      assert.ok(ours === undefined ? theirs === undefined : theirs?.equals(ours), `${path} to ${format}`);
      if (ours) compared++;
    }
  }
  assert.ok(compared > 200, `compared ${compared} files`);
});

test("the module is of the same version as the tool", { skip: withoutTool }, () => {
  assert.match(spawnSync(tool, ["--version"], { encoding: "utf8" }).stdout, new RegExp(andiron.version));
});
