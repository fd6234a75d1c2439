// SPDX-License-Identifier: MIT OR Apache-2.0
// The library in its worker.
import { loadInWorker } from "../remote.js";
import { $ } from "./dom.js";

async function inflated(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

async function start() {
  const code = new Blob([$("worker").textContent], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(code));
  return loadInWorker({ worker, wasm: await inflated($("wasm").textContent.trim()) });
}

let running = start();

/** A promise of the library. */
export const library = () => running;

export function fail(error) {
  $("error").textContent = error.message;
  $("error").hidden = false;
}

/**
 * After an error of a call: if the library stopped, ends its worker with all that is open there,
 * starts another one and says so. Returns whether it did.
 */
export function restartIfStopped(error) {
  if (error.code !== "Stopped") return false;
  running.then((stopped) => stopped.close(), () => {});
  running = start();
  // Who opens a file next is told.
  running.catch(() => {});
  const why = error.cause?.message ?? "there is no memory left";
  fail(new Error(`The library stopped: ${why}. It was started again; open the file again to see more of it.`));
  return true;
}
