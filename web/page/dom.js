// SPDX-License-Identifier: MIT OR Apache-2.0
// Elements. Text is never markup.

export const $ = (id) => document.getElementById(id);

/** An element with attributes, listeners ("onclick") and children. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** A table of names and values; a third item is a class. */
export function table(entries) {
  const body = entries.map(([key, value, kind]) =>
    make("tr", {}, make("th", { scope: "row" }, key), make("td", kind ? { class: kind } : {}, value)));
  return make("table", {}, ...body);
}
