// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers and names for people.

/** "80.7 KiB" */
export function formatBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  let size = bytes;
  for (; size >= 1024 && unit + 1 < units.length; ++unit) size /= 1024;
  return unit === 0 ? `${size} B` : `${size.toFixed(1)} ${units[unit]}`;
}

/** "512", "25.6 M", "7.2 B" */
export function formatAmount(count) {
  const [size, mark] = [[1e12, "T"], [1e9, "B"], [1e6, "M"]].find(([least]) => count >= least) ?? [1, ""];
  return mark ? `${(count / size).toFixed(1)} ${mark}` : count.toLocaleString("en");
}

/** "1 tensor"; of "metadata entry", "2 metadata entries". */
export function formatCount(count, noun) {
  const plural = noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
  return `${formatAmount(count)} ${count === 1 ? noun : plural}`;
}

/** Six digits that matter; all of an integer. */
export function formatNumber(value) {
  if (typeof value === "bigint" || Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-4 || size >= 1e7) ? value.toExponential(4) : String(Number(value.toPrecision(6)));
}

/** How many elements a tensor has. */
export const parametersOf = ({ shape }) => (shape.includes(0) ? 0 : shape.reduce((product, size) => product * size, 1));

/** A text, or the beginning and the end of a long one. */
export function shortened(text, most = 300) {
  return text.length <= most ? text : `${text.slice(0, most * 3 / 4)} … ${text.slice(-most / 4)}`;
}

/** A text of a file with what would hide or turn other text made visible: "a\u{202e}b". */
export function shown(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}
