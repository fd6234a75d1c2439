// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors by the dotted parts of their names, with what each part holds in all. Runs in the worker,
// and makes a part when it is asked for: a header may have names of thousands of parts.
import { parametersOf, shortened } from "./format.js";

// Numbers by value: layers.2 before layers.10. Of long names the beginning decides, as comparing
// takes long.
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "variant" });
const compared = 200;
const inOrder = (a, b) => collator.compare(a.slice(0, compared), b.slice(0, compared)) || (a < b ? -1 : a > b ? 1 : 0);

const rowsAtOnce = 5000;
const levelsAtOnce = 20;

/**
 * A node is { name, tensors, parameters, bytes }; a leaf has the `index` of its tensor, a branch the
 * `place` to ask for what is below, and `children` if that is known.
 */
export class Tree {
  #names;
  #order;
  #natural;
  #parameters;
  #bytes;

  constructor(tensors) {
    this.#names = tensors.map((tensor) => tensor.name);
    // Names that begin alike stand together in this order.
    this.#order = Uint32Array.from(tensors.keys())
      .sort((a, b) => (this.#names[a] < this.#names[b] ? -1 : this.#names[a] > this.#names[b] ? 1 : 0));
    const sums = (of) => {
      const all = new Float64Array(tensors.length + 1);
      this.#order.forEach((index, i) => { all[i + 1] = all[i] + of(tensors[index]); });
      return all;
    };
    this.#parameters = sums(parametersOf);
    this.#bytes = sums((tensor) => tensor.bytes);
  }

  /** The node of all tensors, with its children. */
  root() {
    const root = this.#branch("", { begin: 0, end: this.#order.length, depth: 0 });
    return { ...root, children: this.children(root.place) };
  }

  /** The nodes below one, with what is below them where that is not much: to open it then takes no time. */
  children(place) {
    const top = this.#below(place);
    let left = rowsAtOnce - top.length;
    let level = top;
    for (let i = 0; i < levelsAtOnce; ++i) {
      const next = [];
      for (const node of level) {
        if (left <= 0) return top;
        if (!node.place) continue;
        node.children = this.#below(node.place);
        left -= node.children.length;
        for (const child of node.children) next.push(child);
      }
      level = next;
    }
    return top;
  }

  /** The indices of the tensors whose names have all words of a text, in natural order. */
  search(text) {
    this.#natural ??= this.#order.slice().sort((a, b) => inOrder(this.#names[a], this.#names[b]));
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return this.#natural.filter((index) => {
      const name = this.#names[index].toLowerCase();
      return words.every((word) => name.includes(word));
    });
  }

  #name(at) {
    return this.#names[this.#order[at]];
  }

  // The first place from `begin` to `end` that passes a test, as all after it do.
  #first(begin, end, passes) {
    while (begin < end) {
      const middle = (begin + end) >>> 1;
      if (passes(this.#name(middle))) end = middle;
      else begin = middle + 1;
    }
    return begin;
  }

  #leaf(name, at) {
    return { ...this.#sums(at, at + 1), name: shortened(name), index: this.#order[at] };
  }

  // `leaf` is where a tensor stands that has the name of the branch itself.
  #branch(name, place) {
    const node = { ...this.#sums(place.begin, place.end), name: shortened(name), place };
    if (place.leaf === undefined) return node;
    const own = this.#sums(place.leaf, place.leaf + 1);
    for (const key of Object.keys(own)) node[key] += own[key];
    return node;
  }

  #sums(begin, end) {
    const between = (sums) => sums[end] - sums[begin];
    return { tensors: end - begin, parameters: between(this.#parameters), bytes: between(this.#bytes) };
  }

  // The names of a place stand from `begin` to `end`, and are the same up to `depth`.
  #below({ begin, end, depth, leaf }) {
    const parts = [];
    for (let at = begin; at < end;) {
      const name = this.#name(at);
      const dot = name.indexOf(".", depth);
      const path = dot === -1 ? `${name}.` : name.slice(0, dot + 1);
      const from = dot === -1 ? this.#first(at, end, (other) => other >= path) : at;
      const to = this.#first(from, end, (other) => !other.startsWith(path));
      const part = path.slice(depth, -1);
      if (dot !== -1) {
        const own = this.#first(begin, at, (other) => other >= path.slice(0, -1));
        const hasOwn = own < at && this.#name(own) === path.slice(0, -1);
        parts.push([part, this.#part(path, { begin: from, end: to, depth, leaf: hasOwn ? own : undefined })]);
      } else if (from === to) {
        parts.push([part, this.#leaf(part, at)]);
      }
      at = dot === -1 ? at + 1 : to;
    }
    const nodes = parts.sort(([a], [b]) => inOrder(a, b)).map(([, node]) => node);
    // A tensor whose name is also the beginning of others.
    if (leaf !== undefined) nodes.unshift(this.#leaf("(itself)", leaf));
    return nodes;
  }

  // A part that holds nothing but one other part is one row with it.
  #part(path, { begin, end, depth, leaf }) {
    const first = this.#name(begin);
    if (leaf !== undefined) return this.#branch(path.slice(depth, -1), { begin, end, depth: path.length, leaf });
    if (end - begin === 1) return this.#leaf(first.slice(depth), begin);
    const last = this.#name(end - 1);
    let same = path.length;
    while (same < first.length && first[same] === last[same]) same += 1;
    const joined = first.lastIndexOf(".", same - 1) + 1;
    return this.#branch(first.slice(depth, joined - 1), { begin, end, depth: joined });
  }
}
