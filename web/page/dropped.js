// SPDX-License-Identifier: MIT OR Apache-2.0
// The files that were dropped or chosen: themselves, or those of one folder by their names in it.

const mostFiles = 10000;

/** A list of files, or a Map of files by name. REQUIRES: called while the event is handled. */
export async function droppedFiles(transfer) {
  const files = [...transfer.files];
  const items = [...transfer.items].filter((item) => item.kind === "file");
  if (items.length !== 1) return files;
  const entry = items[0].webkitGetAsEntry?.();
  if (!entry?.isDirectory) return files;
  // Pages that lie in a folder may read a handle, but not an entry.
  const handle = await items[0].getAsFileSystemHandle?.();
  return handle ? filesOfHandle(handle) : filesOfEntry(entry);
}

/** Files that were chosen as a folder, by their names in it. */
export function filesOfFolder(files) {
  return new Map([...files].map((file) => [file.webkitRelativePath.split("/").slice(1).join("/"), file]));
}

async function filesOfHandle(folder) {
  const files = new Map();
  const waiting = [["", folder]];
  while (waiting.length > 0) {
    const [prefix, at] = waiting.pop();
    for await (const [name, handle] of at.entries()) {
      if (files.size >= mostFiles) return files;
      if (handle.kind === "directory") waiting.push([`${prefix}${name}/`, handle]);
      else files.set(prefix + name, await handle.getFile());
    }
  }
  return files;
}

async function filesOfEntry(folder) {
  const files = new Map();
  const waiting = [["", folder]];
  const some = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
  const fileOf = (entry) => new Promise((resolve, reject) => entry.file(resolve, reject));
  while (waiting.length > 0) {
    const [prefix, at] = waiting.pop();
    const reader = at.createReader();
    for (let entries = await some(reader); entries.length > 0; entries = await some(reader)) {
      for (const entry of entries) {
        if (files.size >= mostFiles) return files;
        if (entry.isDirectory) waiting.push([`${prefix}${entry.name}/`, entry]);
        else files.set(prefix + entry.name, await fileOf(entry));
      }
    }
  }
  return files;
}
