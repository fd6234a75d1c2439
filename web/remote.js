// SPDX-License-Identifier: MIT OR Apache-2.0
// The library in a worker, for pages: the same functions as in andiron.js, with promises. A page
// stays responsive, and a worker can read parts of a File.
import { AndironError, checkOptions, symbolOf } from "./andiron.js";

// A thread of node as a worker of a page. It keeps the process alive only while a call waits.
function threadOf(url) {
  // Arguments of node's own may not fit a script: `node --input-type=module -e ...`.
  const thread = new (process.getBuiltinModule("node:worker_threads").Worker)(url, { execArgv: [] });
  const worker = {
    waiting: 0,
    postMessage(message) {
      thread.postMessage(message);
      worker.waiting += 1;
      thread.ref();
    },
    terminate: () => thread.terminate(),
  };
  thread.on("message", (data) => {
    worker.waiting -= 1;
    if (worker.waiting === 0) thread.unref();
    worker.onmessage({ data });
  });
  thread.on("error", (error) => worker.onerror(error));
  thread.on("messageerror", (error) => worker.onerror(error));
  thread.on("exit", () => worker.onexit());
  return worker;
}

function newWorker() {
  if (typeof Worker === "undefined") return threadOf(new URL("./worker.js", import.meta.url));
  // In these words, bundlers find the script.
  return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
}

// A URL cannot be sent.
const sendable = (source) => (source instanceof URL ? source.href : source);

/**
 * Loads the library in a worker, in node in a thread. `worker` is the worker to use; the default
 * runs worker.js beside this file. `wasm` as for load().
 */
export async function loadInWorker(options = {}) {
  checkOptions(options, { worker: undefined, wasm: undefined });
  const wasm = sendable(await options.wasm);
  const remote = new RemoteAndiron(options.worker ?? newWorker());
  try {
    await remote.ready(wasm);
  } catch (error) {
    // Nobody else could end it.
    if (!options.worker) remote.close();
    throw error;
  }
  return remote;
}

// Of the cause, the worker sends the message.
function errorOf(fields) {
  const cause = fields.cause === undefined ? undefined : new Error(fields.cause);
  if (fields.name === "AndironError") return new AndironError(fields, cause);
  if (fields.name === "TypeError") return new TypeError(fields.text, cause && { cause });
  return Object.assign(new Error(fields.text, cause && { cause }), { name: fields.name });
}

// For each open file: the worker that has it, its number there, and its name.
const known = new WeakMap();

/** Calls a function of the worker on an open file: what a page has added to `fileMethods`, too. */
export const callOn = (file, method, ...args) => known.get(file).call(method, args);

const closedError = () => new Error("the worker was closed: load the library again");

class RemoteAndiron {
  #worker;
  #waiting = new Map();
  #nextCall = 1;
  #isClosed = false;

  constructor(worker) {
    this.#worker = worker;
    worker.onmessage = ({ data: { id, result, error, bytesRead } }) => {
      // A message may have been on its way when the worker was closed or failed.
      const call = this.#waiting.get(id);
      if (call === undefined) return;
      this.#waiting.delete(id);
      if (error) call.reject(errorOf(error));
      else call.resolve({ result, bytesRead });
    };
    worker.onerror = (event) => this.#fail(new Error(event.message ?? "the worker failed"));
    // Of node's threads alone: an error ends them.
    worker.onexit = () => {
      this.#isClosed = true;
      this.#fail(closedError());
    };
  }

  async ready(wasm) {
    this.version = (await this.#call("load", undefined, [{ wasm }])).result;
  }

  /** As Andiron.open(); resolves to a RemoteFile. */
  async open(source, options) {
    const isList = typeof FileList !== "undefined" && source instanceof FileList;
    const files = isList ? [...source] : sendable(source);
    const { result: { number, listing }, bytesRead } = await this.#call("open", undefined, [files, options]);
    const file = new RemoteFile({ ...listing, bytesRead });
    const call = async (method, args) => {
      const answer = await this.#call(method, number, args);
      if (answer.bytesRead !== undefined) file.bytesRead = answer.bytesRead;
      return answer.result;
    };
    known.set(file, { owner: this, number, call });
    return file;
  }

  async compare(a, b, options) {
    const [left, right] = [known.get(a), known.get(b)];
    if (!left || !right) throw new TypeError("expected an open file");
    // Each worker counts its files.
    if (left.owner !== this || right.owner !== this) {
      throw new TypeError("the files were opened by another loadInWorker(): open both with one");
    }
    return (await this.#call("compare", undefined, [left.number, right.number, options])).result;
  }

  /** Ends the worker, and what it has open. Calls that are under way fail, and later ones too. */
  close() {
    this.#isClosed = true;
    this.#worker.terminate();
    this.#fail(closedError());
  }

  [symbolOf("dispose")]() {
    this.close();
  }

  #fail(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }

  async #call(method, file, args) {
    if (this.#isClosed) {
      // A file was closed with its worker, and closing it again is nothing.
      if (method === "close") return {};
      throw closedError();
    }
    const id = this.#nextCall++;
    // First, because it throws for what cannot be sent. The answer comes in a later turn.
    this.#worker.postMessage({ id, method, file, args });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}

class RemoteFile {
  #byName;

  constructor(listing) {
    Object.assign(this, listing);
  }

  tensor(name) {
    this.#byName ??= new Map(this.tensors.map((tensor) => [tensor.name, tensor]));
    return this.#byName.get(name);
  }
  read(name, options) {
    return callOn(this, "read", name, options);
  }
  hash(name) {
    return callOn(this, "hash", name);
  }
  statistics(name, options) {
    return callOn(this, "statistics", name, options);
  }
  convert(format, options) {
    return callOn(this, "convert", format, options);
  }
  close() {
    return callOn(this, "close");
  }
  [symbolOf("asyncDispose")]() {
    return this.close();
  }
}
