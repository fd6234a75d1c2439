// SPDX-License-Identifier: MIT OR Apache-2.0
// The same files give the same names, shapes, hashes and errors as in the native tool.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { AndironError, data, everythingIn, load, native, tool, withoutTool } from "./support.mjs";

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

test("the module is of the same version as the tool", { skip: withoutTool }, async () => {
  const { spawnSync } = await import("node:child_process");
  assert.match(spawnSync(tool, ["--version"], { encoding: "utf8" }).stdout, new RegExp(andiron.version));
});
