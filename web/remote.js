// SPDX-License-Identifier: MIT OR Apache-2.0
// The library in a worker, for pages: the same functions as in andiron.js, with promises. A page
// stays responsive, and a worker can read parts of a File.
import { AndironError } from "./andiron.js";

/**
 * Loads the library in a worker. `worker` is the worker to use; the default runs worker.js beside
 * this file. `wasm` as for load().
 */
export async function loadInWorker({ worker, wasm } = {}) {
  const own = worker ?? new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const remote = new RemoteAndiron(own);
  await remote.ready(wasm);
  return remote;
}

function errorOf(fields) {
  if (fields.name === "AndironError") return new AndironError(fields);
  if (fields.name === "TypeError") return new TypeError(fields.text);
  return Object.assign(new Error(fields.text), { name: fields.name });
}

class RemoteAndiron {
  #worker;
  #waiting = new Map();
  #nextCall = 1;

  constructor(worker) {
    this.#worker = worker;
    worker.onmessage = ({ data: { id, result, error, bytesRead } }) => {
      const { resolve, reject } = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) reject(errorOf(error));
      else resolve({ result, bytesRead });
    };
    worker.onerror = (event) => this.#fail(new Error(event.message ?? "the worker failed"));
  }

  async ready(wasm) {
    this.version = (await this.#call("load", undefined, [{ wasm }])).result;
  }

  /** As Andiron.open(); resolves to a RemoteFile. */
  async open(source, options) {
    const files = typeof FileList !== "undefined" && source instanceof FileList ? [...source] : source;
    const { result, bytesRead } = await this.#call("open", undefined, [files, options]);
    const call = (method, args) => this.#call(method, result.number, args);
    return new RemoteFile({ ...result, bytesRead }, call);
  }

  async compare(a, b, options) {
    return (await this.#call("compare", undefined, [a.number, b.number, options])).result;
  }

  /** Ends the worker. Calls that are under way fail. */
  close() {
    this.#worker.terminate();
    this.#fail(new Error("the worker was closed"));
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  #call(method, file, args) {
    const id = this.#nextCall++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, file, args });
    });
  }
}

class RemoteFile {
  #call;
  #byName = new Map();

  constructor({ number, listing, bytesRead }, call) {
    this.#call = async (method, ...args) => {
      const answer = await call(method, args);
      if (answer.bytesRead !== undefined) this.bytesRead = answer.bytesRead;
      return answer.result;
    };
    this.number = number;
    this.bytesRead = bytesRead;
    Object.assign(this, listing);
    for (const tensor of this.tensors) this.#byName.set(tensor.name, tensor);
  }

  tensor(name) {
    return this.#byName.get(name);
  }
  read(name, options) {
    return this.#call("read", name, options);
  }
  hash(name) {
    return this.#call("hash", name);
  }
  statistics(name, options) {
    return this.#call("statistics", name, options);
  }
  convert(format, options) {
    return this.#call("convert", format, options);
  }
  close() {
    return this.#call("close");
  }
}
