// SPDX-License-Identifier: MIT OR Apache-2.0
// The page: opens files, sums them up, and lets the other parts show them.
import { callOn } from "../remote.js";
import { Details } from "./details.js";
import { $, beginningOf, make, table } from "./dom.js";
import { droppedFiles, filesOfFolder } from "./dropped.js";
import { formatAmount, formatBytes, formatCount, parametersOf, shown } from "./format.js";
import { fail, library, restartIfStopped } from "./library.js";
import { isBranch, TreeView } from "./tree_view.js";

let file;
let tree;
const details = new Details();

// What the worker knows of the tree. An error is told here, too.
async function ask(method, ...args) {
  try {
    return await callOn(file, method, ...args);
  } catch (error) {
    if (!restartIfStopped(error)) fail(error);
    throw error;
  }
}

const view = new TreeView((tensor) => details.show(tensor), (node) => ask("children", node.place));

// `files`: a list, or a Map by name.
async function open(files) {
  const count = files.size ?? files.length;
  if (count === 0) return;
  const list = [...files.values()];
  if (count === 1) files = list;
  const title = count === 1 ? shown(list[0].name) : `${count} files`;
  $("error").hidden = true;
  $("status").textContent = `Opening ${title} …`;
  const began = performance.now();
  try {
    const opened = await (await library()).open(count === 1 ? list[0] : files);
    const root = await rootOf(opened);
    file?.close();
    [file, tree] = [opened, root];
    show();
    const took = performance.now() - began;
    document.title = `${title} – Andiron`;
    // Bytes that are read twice count twice.
    const bytesRead = Math.min(file.bytesRead, file.bytes);
    $("status").textContent = `${title}: read ${formatBytes(bytesRead)} of ${formatBytes(file.bytes)} in ${took.toFixed(0)} ms`;
    Object.assign(document.body.dataset, { openedIn: took.toFixed(1), bytesRead: file.bytesRead });
  } catch (error) {
    $("status").textContent = `${title} ${count === 1 ? "was" : "were"} not opened`;
    if (!restartIfStopped(error)) fail(error);
  }
}

// ---- The summary ----

function show() {
  $("summary").replaceChildren(totals(), make("div", { class: "folds" }, ...folds()));
  $("welcome").hidden = true;
  $("file").hidden = false;
  $("search").value = "";
  $("found").textContent = "";
  details.showNothing(file);
  view.showTree(tree, file.tensors);
}

// A few wrappers around everything are no news.
async function rootOf(opened) {
  const root = await callOn(opened, "root");
  for (let at = root; at.children.length === 1 && isBranch(at.children[0]); [at] = at.children) {
    at.children[0].open = true;
    at.children[0].children ??= await callOn(opened, "children", at.children[0].place);
  }
  return root;
}

function totals() {
  const entries = [["parameters", formatAmount(tree.parameters)], ["tensors", formatAmount(tree.tensors)],
    ["size", formatBytes(file.bytes)], ["dtypes", dtypesOf(file.tensors)], ["format", shown(`${file.format}, ${file.packaging}`)]];
  const tied = file.tensors.filter((tensor) => tensor.aliasOf).length;
  if (tied > 0) entries.push(["share bytes with others", formatAmount(tied)]);
  return make("dl", { class: "totals" }, ...entries.map(([key, value]) =>
    make("div", {}, make("dt", {}, key), make("dd", {}, value))));
}

// "bf16 98 %, f32 2 %", by parameters, or "bf16, f32" if there are none to share.
function dtypesOf(tensors) {
  const counts = new Map();
  let all = 0;
  for (const tensor of tensors) {
    const parameters = parametersOf(tensor);
    counts.set(tensor.dtype, (counts.get(tensor.dtype) ?? 0) + parameters);
    all += parameters;
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  const share = (count) => (count < all / 100 ? "< 1" : Math.round(100 * count / all));
  const named = sorted.slice(0, 3).map(([dtype, count]) => (sorted.length === 1 || all === 0 ? dtype : `${dtype} ${share(count)} %`));
  if (sorted.length > 3) named.push(`${sorted.length - 3} more`);
  return shown(named.join(", ")) || "none";
}

function fold(title, content, isWarning = false) {
  return make("details", isWarning ? { class: "warning" } : {}, make("summary", {}, title),
    make("div", { class: "content", role: "region", "aria-label": title, tabindex: 0 }, content));
}

function folds() {
  const parts = [];
  const metadata = Object.entries(file.metadata);
  const lines = (entries) => beginningOf(entries, (some) => table(some.map(([key, value]) => [shown(key), shown(value)])));
  if (metadata.length > 0) parts.push(fold(formatCount(metadata.length, "metadata entry"), lines(metadata)));
  if (file.value !== null) {
    // JSON escapes the line ends of texts: those that are left are its layout.
    const text = JSON.stringify(file.value, null, 1).slice(0, 100000).split("\n").map(shown).join("\n");
    parts.push(fold("other values", make("pre", {}, text)));
  }
  if (file.skipped.length > 0) {
    parts.push(fold(`${file.skipped.length} skipped`, lines(file.skipped.map((one) => [one.name, one.reason])), true));
  }
  if (file.notes.length > 0) {
    const notes = beginningOf(file.notes, (some) => make("div", {}, ...some.map((note) => make("p", {}, shown(note)))));
    parts.push(fold(formatCount(file.notes.length, "note"), notes));
  }
  return parts;
}

// ---- What people do ----

$("search").addEventListener("input", async () => {
  const text = $("search").value.trim();
  if (text === "") {
    $("found").textContent = "";
    return view.showTree(tree, file.tensors);
  }
  const asked = file;
  const found = await ask("search", text).catch(() => undefined);
  // Another text or file may be there by now.
  if (found === undefined || asked !== file || text !== $("search").value.trim()) return;
  $("found").textContent = found.length === 0 ? "no such name" : `${formatAmount(found.length)} of ${formatAmount(file.tensors.length)}`;
  view.showFound(found);
});
$("search").addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "Enter") {
    event.preventDefault();
    view.focus();
  }
});
addEventListener("keydown", (event) => {
  if (event.key !== "/" || !file || event.target.matches("input")) return;
  event.preventDefault();
  $("search").select();
});
for (const [input, filesOf] of [["files", (files) => [...files]], ["folder", filesOfFolder]]) {
  $(input).addEventListener("change", async (event) => {
    await open(filesOf(event.target.files));
    // So that the same file can be chosen again.
    event.target.value = "";
  });
}
for (const type of ["dragenter", "dragover"]) {
  addEventListener(type, (event) => {
    event.preventDefault();
    document.body.classList.add("dragging");
  });
}
addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) document.body.classList.remove("dragging");
});
addEventListener("drop", (event) => {
  event.preventDefault();
  document.body.classList.remove("dragging");
  droppedFiles(event.dataTransfer).then(open, fail);
});
library().then((andiron) => {
  document.body.dataset.version = andiron.version;
}, (error) => fail(new Error(`The library did not start: ${error.message}`)));
