// SPDX-License-Identifier: MIT OR Apache-2.0
// The list of rows. Only those on the screen are elements: a file may have a hundred thousand.
import { $, make } from "./dom.js";
import { formatAmount, formatBytes, formatCount, parametersOf, shortened, shown } from "./format.js";

const rowHeight = 26;  // as in page.css

export const isBranch = (node) => node.place !== undefined;

// The nodes that are to be seen, below open ones, with their depth and their place among those of
// one branch.
function visibleRows(root) {
  const rows = [];
  const waiting = [];
  const add = ({ children = [] }, depth) => {
    const count = children.length;
    for (let i = count; i-- > 0;) waiting.push({ node: children[i], depth, position: i + 1, count });
  };
  add(root, 0);
  while (waiting.length > 0) {
    const row = waiting.pop();
    rows.push(row);
    if (row.node.open) add(row.node, row.depth + 1);
  }
  return rows;
}

export class TreeView {
  #root;
  #rows = [];
  #active = 0;
  #selected;
  #onSelect;
  #childrenOf;
  #tensors = [];
  #total = 1;

  /** `onSelect(tensor)` is called when a tensor is chosen. `childrenOf(node)` promises what is below one. */
  constructor(onSelect, childrenOf) {
    this.#onSelect = onSelect;
    this.#childrenOf = childrenOf;
    $("tree").addEventListener("scroll", () => this.#draw());
    $("tree").addEventListener("keydown", (event) => this.#press(event));
    $("tree").addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.#activate(Number(row.dataset.index));
    });
    new ResizeObserver(() => this.#draw()).observe($("tree"));
  }

  /** `root`: the node of all `tensors`. */
  showTree(root, tensors) {
    this.#root = root;
    this.#tensors = tensors;
    this.#total = Math.max(1, root.bytes);
    this.#show(visibleRows(root));
  }

  /** Tensors by their indices, in place of the tree. */
  showFound(indices) {
    this.#show(Array.from(indices, (index, i) => {
      const tensor = this.#tensors[index];
      const name = shortened(tensor.name);
      const node = { name, index, tensors: 1, parameters: parametersOf(tensor), bytes: tensor.bytes };
      return { node, depth: 0, position: i + 1, count: indices.length };
    }));
  }

  focus() {
    $("tree").focus();
  }

  #show(rows) {
    this.#rows = rows;
    this.#active = 0;
    $("tree").scrollTop = 0;
    this.#draw();
  }

  #draw() {
    const tree = $("tree");
    $("rows").style.height = `${this.#rows.length * rowHeight}px`;
    const first = Math.max(0, Math.floor(tree.scrollTop / rowHeight) - 5);
    const last = Math.min(this.#rows.length, Math.ceil((tree.scrollTop + tree.clientHeight) / rowHeight) + 5);
    const elements = [];
    for (let i = first; i < last; ++i) elements.push(this.#row(this.#rows[i], i));
    $("rows").replaceChildren(...elements);
    tree.setAttribute("aria-activedescendant", `row-${this.#active}`);
  }

  #row({ node, depth, position, count }, index) {
    const branch = isBranch(node);
    const tensor = this.#tensors[node.index];
    const row = make("div", {
      class: index === this.#active ? "row active" : "row", role: "treeitem", id: `row-${index}`,
      "data-index": index, "aria-level": depth + 1, "aria-setsize": count, "aria-posinset": position,
      title: named(branch ? node.name : shortened(tensor.name)),
    },
    make("span", { class: "name" }, named(node.name)),
    make("span", { class: "number" }, branch ? formatCount(node.tensors, "tensor") : `${shown(tensor.dtype)} [${tensor.shape.join(", ")}]`),
    make("span", { class: "number parameters" }, formatAmount(node.parameters)),
    make("span", { class: "number bytes" }, formatBytes(node.bytes)));
    row.style.top = `${index * rowHeight}px`;
    row.firstChild.style.paddingLeft = `${Math.min(depth, 20) * 1.1}em`;
    row.lastChild.style.setProperty("--share", Math.min(1, node.bytes / this.#total));
    if (branch) row.setAttribute("aria-expanded", String(node.open === true));
    else row.setAttribute("aria-selected", String(tensor === this.#selected));
    return row;
  }

  #activate(index) {
    const { node } = this.#rows[index];
    this.#active = index;
    if (isBranch(node)) {
      node.open = !node.open;
      if (node.open && !node.children) this.#ask(node);
      this.#rows = visibleRows(this.#root);
    } else {
      this.#selected = this.#tensors[node.index];
      this.#onSelect(this.#selected);
    }
    this.#draw();
  }

  // The children of a node come later. Meanwhile, another tree or the result of a search may be there.
  async #ask(node) {
    node.children = [];
    try {
      node.children = await this.#childrenOf(node);
    } catch {
      node.children = undefined;
      node.open = false;
    }
    const active = this.#rows[this.#active]?.node;
    if (!this.#rows.some((row) => row.node === node)) return;
    this.#rows = visibleRows(this.#root);
    this.#active = Math.max(0, this.#rows.findIndex((row) => row.node === active));
    this.#draw();
  }

  #moveTo(index) {
    this.#active = Math.max(0, Math.min(this.#rows.length - 1, index));
    const tree = $("tree");
    const top = this.#active * rowHeight;
    if (top < tree.scrollTop) tree.scrollTop = top;
    if (top + rowHeight > tree.scrollTop + tree.clientHeight) tree.scrollTop = top + rowHeight - tree.clientHeight;
    this.#draw();
  }

  #press(event) {
    const row = this.#rows[this.#active];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor($("tree").clientHeight / rowHeight) - 1);
    const to = { ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, PageDown: this.#active + page,
      PageUp: this.#active - page, Home: 0, End: this.#rows.length - 1 }[event.key];
    if (to !== undefined) this.#moveTo(to);
    else if (event.key === "Enter" || event.key === " ") this.#activate(this.#active);
    else if (event.key === "ArrowRight" && isBranch(row.node)) {
      if (row.node.open) this.#moveTo(this.#active + 1);
      else this.#activate(this.#active);
    } else if (event.key === "ArrowLeft") {
      if (row.node.open && isBranch(row.node)) this.#activate(this.#active);
      else this.#moveTo(this.#parentOf(this.#active));
    } else return;
    event.preventDefault();
  }

  #parentOf(index) {
    const { depth } = this.#rows[index];
    for (let i = index; i-- > 0;) {
      if (this.#rows[i].depth < depth) return i;
    }
    return index;
  }
}

// A .npy file has no name for its tensor.
const named = (name) => shown(name) || "(no name)";
