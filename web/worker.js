// SPDX-License-Identifier: MIT OR Apache-2.0
// The worker behind loadInWorker(): calls the library for messages {id, method, file, args}.
import { load } from "./andiron.js";

const loaded = Promise.withResolvers?.() ?? (() => {
  const deferred = {};
  deferred.promise = new Promise((resolve, reject) => Object.assign(deferred, { resolve, reject }));
  return deferred;
})();
const files = new Map();
let nextFile = 1;

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
    return (await loaded.promise).compare(files.get(a), files.get(b), options);
  },
};

async function answer({ method, file, args }) {
  if (file === undefined) {
    const result = await methods[method](...args);
    return { result, bytesRead: files.get(result?.number)?.bytesRead };
  }
  const open = files.get(file);
  if (open === undefined && method === "close") return {};
  if (open === undefined) throw new TypeError("the file is closed");
  const result = open[method](...args);
  const { bytesRead } = open;
  if (method === "close") files.delete(file);
  return method === "close" ? {} : { result, bytesRead };
}

self.onmessage = async ({ data }) => {
  try {
    const answered = await answer(data);
    const moved = ArrayBuffer.isView(answered.result) ? [answered.result.buffer] : [];
    self.postMessage({ id: data.id, ...answered }, moved);
  } catch (error) {
    // What `...` leaves out: a cause may be anything, and not all can be sent.
    const { name, message: text, cause } = error;
    self.postMessage({ id: data.id, error: { ...error, name, text, cause: cause?.message } });
  }
};
