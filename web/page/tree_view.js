// SPDX-License-Identifier: MIT OR Apache-2.0
// The list of rows. Only those on the screen are elements: a file may have a hundred thousand.
import { $, make } from "./dom.js";
import { formatAmount, formatBytes, formatCount, shown } from "./format.js";
import { isBranch, visibleRows } from "./tree.js";

const rowHeight = 26;  // as in page.css

export class TreeView {
  #root;
  #rows = [];
  #active = 0;
  #selected;
  #onSelect;
  #total = 1;

  /** `onSelect(tensor)` is called when a tensor is chosen. */
  constructor(onSelect) {
    this.#onSelect = onSelect;
    $("tree").addEventListener("scroll", () => this.#draw());
    $("tree").addEventListener("keydown", (event) => this.#press(event));
    $("tree").addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.#activate(Number(row.dataset.index));
    });
    new ResizeObserver(() => this.#draw()).observe($("tree"));
  }

  showTree(root) {
    this.#root = root;
    this.#total = Math.max(1, root.bytes);
    this.#show(visibleRows(root));
  }

  /** Rows of a search, in place of the tree. */
  showFound(rows) {
    this.#show(rows);
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

  #row({ node, depth }, index) {
    const branch = isBranch(node);
    const { tensor } = node;
    const row = make("div", {
      class: index === this.#active ? "row active" : "row", role: "treeitem", id: `row-${index}`,
      "data-index": index, "aria-level": depth + 1, title: shown(tensor && !branch ? tensor.name : node.name),
    },
    make("span", { class: "name" }, shown(node.name)),
    make("span", { class: "number" }, branch ? formatCount(node.tensors, "tensor") : `${shown(tensor.dtype)} [${tensor.shape.join(", ")}]`),
    make("span", { class: "number parameters" }, formatAmount(node.parameters)),
    make("span", { class: "number bytes" }, formatBytes(node.bytes)));
    row.style.top = `${index * rowHeight}px`;
    row.firstChild.style.paddingLeft = `${Math.min(depth, 20) * 1.1}em`;
    row.lastChild.style.setProperty("--share", Math.min(1, node.bytes / this.#total));
    if (branch) row.setAttribute("aria-expanded", String(node.open));
    else row.setAttribute("aria-selected", String(tensor === this.#selected));
    return row;
  }

  #activate(index) {
    const { node } = this.#rows[index];
    this.#active = index;
    if (isBranch(node)) {
      node.open = !node.open;
      this.#rows = visibleRows(this.#root);
    } else {
      this.#selected = node.tensor;
      this.#onSelect(node.tensor);
    }
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
