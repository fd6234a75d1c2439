// SPDX-License-Identifier: MIT OR Apache-2.0
// Tensors by the dotted parts of their names, with what each part holds in all.

// Bytewise, but numbers by value: layers.2 before layers.10.
const collator = new Intl.Collator("en", { numeric: true, sensitivity: "variant" });

function node(name) {
  return { name, children: new Map(), tensor: undefined, tensors: 0, parameters: 0, bytes: 0 };
}

function add(to, tensor, parameters) {
  to.tensors += 1;
  to.parameters += parameters;
  to.bytes += tensor.bytes;
}

/** The root of the tree. Parts that hold nothing but one other part are joined with it. */
export function buildTree(tensors) {
  const root = node("");
  for (const tensor of tensors) {
    const parameters = tensor.shape.reduce((product, size) => product * size, 1);
    let at = root;
    add(at, tensor, parameters);
    for (const part of tensor.name.split(".")) {
      if (!at.children.has(part)) at.children.set(part, node(part));
      at = at.children.get(part);
      add(at, tensor, parameters);
    }
    at.tensor = tensor;
  }
  return arranged(root);
}

// Without recursion: a name may have thousands of parts.
function arranged(root) {
  const waiting = [root];
  while (waiting.length > 0) {
    const at = waiting.pop();
    for (const child of at.children.values()) join(child);
    const sorted = [...at.children].sort(([a], [b]) => collator.compare(a, b));
    at.children = new Map(sorted);
    waiting.push(...at.children.values());
  }
  return root;
}

function join(at) {
  while (at.children.size === 1 && at.tensor === undefined) {
    const [only] = at.children.values();
    at.name += `.${only.name}`;
    at.children = only.children;
    at.tensor = only.tensor;
  }
}

/** The tensors whose names contain all words of the text, in any case. */
export function matching(tensors, text) {
  const words = text.toLowerCase().split(/\s+/);
  return tensors
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .sort((a, b) => collator.compare(a.name, b.name));
}
