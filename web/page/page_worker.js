// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker of the page: the library's, and the trees of its files.
import { fileMethods } from "../worker.js";
import { Tree } from "./tree.js";

const trees = new WeakMap();

function treeOf(file) {
  if (!trees.has(file)) trees.set(file, new Tree(file.tensors));
  return trees.get(file);
}

fileMethods.root = (file) => treeOf(file).root();
fileMethods.children = (file, place) => treeOf(file).children(place);
fileMethods.search = (file, text) => treeOf(file).search(text);
