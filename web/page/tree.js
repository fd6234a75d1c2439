// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors by the dotted parts of their names, with what each part holds in all.

// Numbers by value: layers.2 before layers.10.
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "variant" });

function node(name) {
  return { name, parts: new Map(), tensor: undefined, tensors: 0, parameters: 0, bytes: 0, open: false };
}

export const parametersOf = (tensor) => tensor.shape.reduce((product, size) => product * size, 1);

/** The root of the tree. */
export function buildTree(tensors) {
  const root = node("");
  for (const tensor of tensors) {
    const parameters = parametersOf(tensor);
    const path = [root];
    for (const part of tensor.name.split(".")) {
      const { parts } = path.at(-1);
      if (!parts.has(part)) parts.set(part, node(part));
      path.push(parts.get(part));
    }
    path.at(-1).tensor = tensor;
    for (const at of path) {
      at.tensors += 1;
      at.parameters += parameters;
      at.bytes += tensor.bytes;
    }
  }
  return root;
}

/** The nodes below one, in order, when they are first needed. */
export function childrenOf(at) {
  if (at.children) return at.children;
  at.children = [...at.parts.values()].sort((a, b) => collator.compare(a.name, b.name));
  for (const child of at.children) joinSingles(child);
  // A tensor whose name is also the beginning of others.
  if (at.tensor && at.children.length > 0) at.children.unshift({ ...node("(itself)"), ...leaf(at.tensor) });
  return at.children;
}

function leaf(tensor) {
  return { tensor, tensors: 1, parameters: parametersOf(tensor), bytes: tensor.bytes };
}

// A part that holds nothing but one other part is one row with it.
function joinSingles(at) {
  while (at.parts.size === 1 && at.tensor === undefined) {
    const [only] = at.parts.values();
    at.name += `.${only.name}`;
    at.parts = only.parts;
    at.tensor = only.tensor;
  }
}

export const isBranch = (at) => at.parts.size > 0;

/** The rows that are to be seen: nodes with their depth, below open nodes. Without recursion: a name may have thousands of parts. */
export function visibleRows(root) {
  const rows = [];
  const waiting = [];
  const add = (at, depth) => {
    const children = childrenOf(at);
    for (let i = children.length; i-- > 0;) waiting.push({ node: children[i], depth });
  };
  add(root, 0);
  while (waiting.length > 0) {
    const row = waiting.pop();
    rows.push(row);
    if (row.node.open && isBranch(row.node)) add(row.node, row.depth + 1);
  }
  return rows;
}

/** A search in names: each call gives a list of rows. */
export function searchOf(tensors) {
  let sorted;
  return (text) => {
    sorted ??= tensors
      .map((tensor) => ({ tensor, folded: tensor.name.toLowerCase() }))
      .sort((a, b) => collator.compare(a.tensor.name, b.tensor.name));
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return sorted
      .filter(({ folded }) => words.every((word) => folded.includes(word)))
      .map(({ tensor }) => ({ node: { ...node(tensor.name), ...leaf(tensor) }, depth: 0 }));
  };
}
