// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker behind loadInWorker(): calls the library for messages {id, method, file, args}.
import { load } from "./andiron.js";

// A worker of a page, or a thread of node.
const port = globalThis.process?.getBuiltinModule?.("node:worker_threads").parentPort ?? self;

const loaded = Promise.withResolvers?.() ?? (() => {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
})();
const files = new Map();
let nextFile = 1;

function fileOf(number) {
  const file = files.get(number);
  if (file === undefined) throw new TypeError("the file is closed");
  return file;
}

const methods = {
  load(options) {
    load(options).then(loaded.resolve, loaded.reject);
    return loaded.promise.then((andiron) => andiron.version);
  },
  async open(source, options) {
    const file = (await loaded.promise).open(source, options);
    const number = nextFile++;
    files.set(number, file);
    return { number, listing: { ...file } };
  },
  async compare(a, b, options) {
    return (await loaded.promise).compare(fileOf(a), fileOf(b), options);
  },
};

/** What a page adds: functions of an open file and arguments, which callOn() of remote.js calls. */
export const fileMethods = {};

async function answer({ method, file, args }) {
  if (file === undefined) {
    const result = await methods[method](...args);
    return { result, bytesRead: files.get(result?.number)?.bytesRead };
  }
  if (!files.has(file) && method === "close") return {};
  const open = fileOf(file);
  const result = Object.hasOwn(fileMethods, method) ? fileMethods[method](open, ...args) : open[method](...args);
  const { bytesRead } = open;
  if (method === "close") files.delete(file);
  return method === "close" ? {} : { result, bytesRead };
}

port.onmessage = async ({ data }) => {
  try {
    const answered = await answer(data);
    // Elements, or what a conversion has made.
    const bytes = answered.result?.bytes ?? answered.result;
    port.postMessage({ id: data.id, ...answered }, ArrayBuffer.isView(bytes) ? [bytes.buffer] : []);
  } catch (error) {
    // What `...` leaves out: a cause may be anything, and not all can be sent.
    const { name, message: text, cause } = error;
    port.postMessage({ id: data.id, error: { ...error, name, text, cause: cause?.message } });
  }
};
