// SPDX-License-Identifier: MIT OR Apache-2.0
// One tensor: what the file says of it, statistics, a histogram, the first values.
import { $, make, table } from "./dom.js";
import { formatBytes, formatNumber, parametersOf, shortened, shown } from "./format.js";
import { restartIfStopped } from "./library.js";

const readAtOnce = 256 * 2 ** 20;  // bytes; more is read when it is asked for
const bins = 64;
const firstValues = 24;

export class Details {
  #file;
  // { file, tensor, place }: what is read, and what is read next.
  #now;
  #next;

  showNothing(file) {
    this.#file = file;
    this.#next = undefined;
    $("details").replaceChildren(make("p", { class: "quiet" }, "Select a tensor to see its statistics."));
  }

  show(tensor) {
    const place = make("div", {});
    const title = shown(shortened(tensor.name, 600)) || "(no name)";
    $("details").replaceChildren(make("h2", {}, title), table(about(tensor)), place);
    this.#next = undefined;
    const wanted = { file: this.#file, tensor, place };
    if (tensor.bytes <= readAtOnce || this.#isRead(wanted)) return this.#read(wanted);
    place.append(make("button", { class: "button", onclick: () => this.#read(wanted) },
      `Read ${formatBytes(tensor.bytes)} for statistics`));
  }

  #isRead({ file, tensor }) {
    return this.#now?.file === file && this.#now.tensor === tensor;
  }

  // One at a time, and of those that wait only the last: the keyboard is faster than a disk.
  #read(wanted) {
    wanted.place.replaceChildren(make("p", { class: "quiet" }, `Reading ${formatBytes(wanted.tensor.bytes)} …`));
    if (this.#isRead(wanted)) {
      this.#now.place = wanted.place;
      return;
    }
    this.#next = wanted;
    if (!this.#now) this.#readAll();
  }

  async #readAll() {
    for (; this.#next; this.#now = undefined) {
      this.#now = this.#next;
      this.#next = undefined;
      const content = await contentOf(this.#now);
      this.#now.place.replaceChildren(...content);
    }
  }
}

async function contentOf({ file, tensor }) {
  try {
    const found = await file.statistics(tensor.name, { bins });
    return [...statistics(found), ...await firstOf(file, tensor)];
  } catch (error) {
    return [make("p", {}, restartIfStopped(error) ? "It was not read." : error.message)];
  }
}

function about(tensor) {
  const isNews = tensor.fileDtype && tensor.fileDtype.toLowerCase() !== tensor.dtype;
  const entries = [
    ["dtype", shown(isNews ? `${tensor.dtype} (${tensor.fileDtype} in the file)` : tensor.dtype)],
    ["shape", tensor.shape.length === 0 ? "[] (one number)" : `[${tensor.shape.join(", ")}]`],
    ["elements", parametersOf(tensor).toLocaleString("en")],
    ["size", formatBytes(tensor.bytes)],
  ];
  if (tensor.offset !== undefined) entries.push(["offset", tensor.offset.toLocaleString("en")]);
  if (tensor.file) entries.push(["file", shown(tensor.file)]);
  if (tensor.aliasOf) entries.push(["same bytes as", shown(shortened(tensor.aliasOf))]);
  if (tensor.paramId) entries.push(["parameter id", tensor.paramId]);
  return entries;
}

function statistics(found) {
  const entries = [["minimum", found.min], ["maximum", found.max], ["mean", found.mean],
    ["standard deviation", found.std], ["L2 norm", found.l2]]
    .filter(([, value]) => !Number.isNaN(value))
    .map(([key, value]) => [key, formatNumber(value)]);
  const count = (key, value, kind) => {
    const share = found.count > 0 ? ` (${formatNumber(Number((100 * value / found.count).toPrecision(3)))} %)` : "";
    entries.push([key, value.toLocaleString("en") + share, kind]);
  };
  if (found.zeros > 0) count("zeros", found.zeros);
  if (found.nan > 0) count("NaN", found.nan, "warning");
  const infinite = found.positiveInfinity + found.negativeInfinity;
  if (infinite > 0) count("infinite", infinite, "warning");
  const parts = [make("h3", {}, "Statistics"), table(entries)];
  if (found.histogram?.length > 0 && !Number.isNaN(found.min) && found.min !== found.max) {
    parts.push(make("h3", {}, "Histogram"), histogram(found.histogram, found.min, found.max),
      make("div", { class: "range" }, make("span", {}, formatNumber(found.min)), make("span", {}, formatNumber(found.max))));
  }
  return parts;
}

function histogram(counts, min, max) {
  const space = "http://www.w3.org/2000/svg";
  const most = Math.max(...counts, 1);
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", `0 0 ${counts.length} 100`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", `Histogram of ${counts.length} bins from ${formatNumber(min)} to ${formatNumber(max)}`);
  const edge = (i) => formatNumber(Number(min) + (Number(max) - Number(min)) * i / counts.length);
  counts.forEach((count, i) => {
    const bar = document.createElementNS(space, "rect");
    // What is there is seen.
    const height = count === 0 ? 0 : Math.max(1, 100 * count / most);
    for (const [key, value] of Object.entries({ x: i + 0.05, y: 100 - height, width: 0.9, height })) {
      bar.setAttribute(key, value);
    }
    const title = document.createElementNS(space, "title");
    title.textContent = `${edge(i)} to ${edge(i + 1)}: ${count.toLocaleString("en")}`;
    bar.append(title);
    svg.append(bar);
  });
  return svg;
}

// Where it can be read in parts.
async function firstOf(file, tensor) {
  const end = Math.min(firstValues, parametersOf(tensor));
  if (end === 0) return [];
  const isFloat = /^b?f\d/.test(tensor.dtype);
  try {
    const values = await file.read(tensor.name, { begin: 0, end, ...(isFloat ? { dtype: "f64" } : {}) });
    const text = [...values].map((value) => (typeof value === "bigint" ? String(value) : formatNumber(value))).join("  ");
    return [make("h3", {}, "First values"), make("p", { class: "values" }, text)];
  } catch (error) {
    restartIfStopped(error);
    return [];
  }
}
