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

const mostShown = 1000;

/**
 * What `show` makes of a list, or of the beginning of a long one with how much is left out: the
 * lists of a file have any length, and neither a page nor the arguments of a call do.
 */
export function beginningOf(list, show) {
  const more = list.length - mostShown;
  if (more <= 0) return show(list);
  return make("div", {}, show(list.slice(0, mostShown)),
    make("p", { class: "quiet" }, `… and ${more.toLocaleString("en")} more`));
}

/** A table of names and values; a third item is a class. */
export function table(entries) {
  const body = entries.map(([key, value, kind]) =>
    make("tr", {}, make("th", { scope: "row" }, key), make("td", kind ? { class: kind } : {}, value)));
  return make("table", {}, ...body);
}
