// SPDX-License-Identifier: MIT OR Apache-2.0
// The page: a tree of tensors, and one tensor's statistics.
import { loadInWorker } from "../remote.js";
import { buildTree, matching } from "./tree.js";
import { formatBytes, formatCount, formatNumber } from "./format.js";

const $ = (id) => document.getElementById(id);

// An element with attributes and children; text is never markup.
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

async function inflated(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function start() {
  const code = new Blob([$("worker").textContent], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(code));
  return loadInWorker({ worker, wasm: await inflated($("wasm").textContent.trim()) });
}

const library = start();
let file;

function say(text, isError = false) {
  $("status").textContent = text;
  $("status").classList.toggle("error", isError);
}

async function open(files) {
  if (files.length === 0) return;
  say(`Opening ${files.length === 1 ? files[0].name : `${files.length} files`} …`);
  const began = performance.now();
  try {
    const opened = await (await library).open(files.length === 1 ? files[0] : files);
    file?.close();
    file = opened;
    show(files);
    const took = performance.now() - began;
    say(`${files.length === 1 ? files[0].name : `${files.length} files`}, opened in ${took.toFixed(0)} ms`);
    document.body.dataset.openedIn = took.toFixed(1);
  } catch (error) {
    say(error.message, true);
  }
}

// ---- The summary ----

function rows(entries) {
  const body = entries.map(([key, value]) =>
    make("tr", {}, make("th", { scope: "row" }, key), make("td", {}, value)));
  return make("table", {}, ...body);
}

function fold(title, ...content) {
  return make("details", {}, make("summary", {}, title), ...content);
}

function show() {
  const root = buildTree(file.tensors);
  const parts = [make("p", {},
    `${file.format}, ${file.packaging}: ${formatCount(file.tensors.length, "tensor")}, ` +
    `${formatCount(root.parameters, "parameter")}, ${formatBytes(file.bytes)}`)];
  const metadata = Object.entries(file.metadata);
  if (metadata.length > 0) parts.push(fold(formatCount(metadata.length, "metadata entry"), rows(metadata)));
  if (file.value !== null) {
    parts.push(fold("values", make("pre", {}, JSON.stringify(file.value, null, 1).slice(0, 100000))));
  }
  if (file.skipped.length > 0) {
    parts.push(fold(`${file.skipped.length} skipped`, rows(file.skipped.map((one) => [one.name, one.reason]))));
  }
  if (file.notes.length > 0) parts.push(fold(formatCount(file.notes.length, "note"), ...file.notes.map((note) => make("p", {}, note))));
  $("summary").replaceChildren(...parts);
  $("welcome").hidden = true;
  $("file").hidden = false;
  $("search").value = "";
  $("details").replaceChildren(make("p", { class: "quiet" }, "Select a tensor."));
  showTree(root);
}

// ---- The tree ----

const mostShown = 500;  // children at a time

function showTree(root) {
  $("tree").replaceChildren();
  addChildren($("tree"), [...root.children.values()], 0);
  // A single wrapper around everything is no news.
  for (let row = $("tree").querySelector(".row"); root.children.size === 1 && row; row = null) row.click();
}

function addChildren(list, nodes, from) {
  const part = nodes.slice(from, from + mostShown);
  list.append(...part.map(treeItem));
  if (from + mostShown >= nodes.length) return;
  const rest = nodes.length - from - mostShown;
  const more = make("li", { role: "none" }, make("button", {
    class: "row",
    onclick: () => {
      more.remove();
      addChildren(list, nodes, from + mostShown);
    },
  }, make("span", { class: "name" }, `${formatCount(rest, "more")} …`)));
  list.append(more);
}

function treeItem(node) {
  return node.tensor && node.children.size === 0 ? leafItem(node) : branchItem(node);
}

function leafItem({ name, tensor }) {
  const row = make("button", { class: "row", role: "treeitem", "aria-selected": "false", onclick: () => select(row, tensor) },
    make("span", { class: "name" }, name),
    make("span", { class: "quiet" }, `${tensor.dtype} [${tensor.shape.join(", ")}]`),
    make("span", { class: "quiet" }, formatBytes(tensor.bytes)));
  return make("li", { role: "none" }, row);
}

function branchItem(node) {
  let list;
  const row = make("button", {
    class: "row", role: "treeitem", "aria-expanded": "false",
    onclick: () => {
      const opens = row.getAttribute("aria-expanded") === "false";
      row.setAttribute("aria-expanded", String(opens));
      if (opens && !list) {
        list = make("ul", { role: "group" });
        if (node.tensor) list.append(leafItem({ name: "(itself)", tensor: node.tensor }));
        addChildren(list, [...node.children.values()], 0);
        item.append(list);
      }
      if (list) list.hidden = !opens;
    },
  },
  make("span", { class: "name" }, node.name),
  make("span", { class: "quiet" }, formatCount(node.tensors, "tensor")),
  make("span", { class: "quiet" }, formatCount(node.parameters, "parameter")),
  make("span", { class: "quiet" }, formatBytes(node.bytes)));
  const item = make("li", { role: "none" }, row);
  return item;
}

$("search").addEventListener("input", () => {
  const text = $("search").value.trim();
  if (text === "") return showTree(buildTree(file.tensors));
  const found = matching(file.tensors, text);
  $("tree").replaceChildren();
  addChildren($("tree"), found.map((tensor) => ({ name: tensor.name, tensor, children: new Map() })), 0);
  if (found.length === 0) $("tree").append(make("li", { class: "quiet" }, "No name contains that."));
});

// Arrows move between rows, as in any tree.
$("tree").addEventListener("keydown", (event) => {
  const visible = [...$("tree").querySelectorAll(".row")].filter((row) => row.offsetParent !== null);
  const at = visible.indexOf(document.activeElement);
  const expanded = document.activeElement.getAttribute("aria-expanded");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) visible[at + step]?.focus();
  else if (event.key === "ArrowRight" && expanded === "false") document.activeElement.click();
  else if (event.key === "ArrowLeft" && expanded === "true") document.activeElement.click();
  else return;
  event.preventDefault();
});

// ---- One tensor ----

async function select(row, tensor) {
  $("tree").querySelector('[aria-selected="true"]')?.setAttribute("aria-selected", "false");
  row.setAttribute("aria-selected", "true");
  const about = [["dtype", tensor.fileDtype ? `${tensor.dtype} (${tensor.fileDtype} in the file)` : tensor.dtype],
    ["shape", `[${tensor.shape.join(", ")}]`], ["size", formatBytes(tensor.bytes)]];
  if (tensor.offset !== undefined) about.push(["offset", String(tensor.offset)]);
  if (tensor.file) about.push(["file", tensor.file]);
  if (tensor.aliasOf) about.push(["same bytes as", tensor.aliasOf]);
  if (tensor.paramId) about.push(["parameter id", tensor.paramId]);
  const content = [make("h2", {}, tensor.name), rows(about)];
  const waiting = make("p", { class: "quiet" }, "Reading …");
  $("details").replaceChildren(...content, waiting);
  try {
    const statistics = await file.statistics(tensor.name, { bins: 64 });
    if (row.getAttribute("aria-selected") !== "true") return;
    $("details").replaceChildren(...content, ...statisticsOf(statistics));
  } catch (error) {
    waiting.textContent = error.message;
  }
}

function statisticsOf(found) {
  const entries = [["minimum", found.min], ["maximum", found.max], ["mean", found.mean],
    ["standard deviation", found.std], ["L2 norm", found.l2]]
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [key, formatNumber(value)]);
  const count = (key, value) => entries.push([key, `${value.toLocaleString("en")} of ${found.count.toLocaleString("en")}`]);
  count("zeros", found.zeros);
  if (found.nan > 0) count("NaN", found.nan);
  const infinite = found.positiveInfinity + found.negativeInfinity;
  if (infinite > 0) count("infinite", infinite);
  const parts = [rows(entries)];
  if (found.histogram?.length > 0 && found.min !== null) {
    parts.push(histogram(found.histogram),
      make("div", { class: "range" }, make("span", {}, formatNumber(found.min)), make("span", {}, formatNumber(found.max))));
  }
  return parts;
}

function histogram(bins) {
  const most = Math.max(...bins, 1);
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", `0 0 ${bins.length} 100`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Histogram of ${bins.length} bins`);
  bins.forEach((count, i) => {
    const bar = document.createElementNS(space, "rect");
    const height = (count / most) * 100;
    for (const [key, value] of Object.entries({ x: i + 0.05, y: 100 - height, width: 0.9, height })) {
      bar.setAttribute(key, value);
    }
    const title = document.createElementNS(space, "title");
    title.textContent = count.toLocaleString("en");
    bar.append(title);
    svg.append(bar);
  });
  return svg;
}

// ---- Files ----

$("files").addEventListener("change", (event) => open([...event.target.files]));
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
  open([...event.dataTransfer.files]);
});
library.then((andiron) => {
  document.body.dataset.version = andiron.version;
}, (error) => say(`The library did not start: ${error.message}`, true));
