// SPDX-License-Identifier: MIT OR Apache-2.0
// Neural-network weight files in JavaScript: opens, lists, reads, compares and converts them.
//
//   import { load } from "andiron";
//   const andiron = await load();
//   const file = andiron.open(bytes);           // header only; node also takes a path
//   file.tensors[0].name;
//   const weights = file.read("fc.weight");     // Float32Array
//   file.close();
//
// Everything but load() is synchronous. A Blob or File can be read synchronously only in a worker:
// on a page, use loadInWorker(), which has the same functions with promises.

/** An error of the library: what was found, what was expected, what to try. */
export class AndironError extends Error {
  constructor(fields, cause) {
    super(fields.text, cause && { cause });
    this.name = "AndironError";
    for (const key of ["code", "file", "tensor", "found", "expected", "hint"]) {
      if (fields[key]) this[key] = fields[key];
    }
  }
}

// A misspelled option would change nothing, and nobody would notice.
function check(kind, given, known) {
  for (const each of given) {
    if (!known.includes(each)) throw new TypeError(`no such ${kind}: ${each}; there are: ${known.join(", ")}`);
  }
}

/** A TypeError for options that do not exist, which names those that do. */
export function checkOptions(options, ...known) {
  check("option", Object.keys(options), known);
}

const isNode = typeof process === "object" && Boolean(process.versions?.node);
const builtin = (name) => process.getBuiltinModule(`node:${name}`);

// ---- Files of the host ----

// A buffer may have been handed to another thread since, and a file may have become shorter.
function fill(out, bytes) {
  if (bytes.byteLength !== out.byteLength) throw new Error("there is less than there was");
  out.set(bytes);
}

class MemoryFile {
  constructor(bytes) {
    this.bytes = bytes;
    this.size = bytes.byteLength;
  }
  read(offset, out) {
    fill(out, this.bytes.subarray(offset, offset + out.byteLength));
  }
  close() {}
}

class BlobFile {
  constructor(blob) {
    this.blob = blob;
    this.size = blob.size;
  }
  read(offset, out) {
    const part = this.blob.slice(offset, offset + out.byteLength);
    fill(out, new Uint8Array(new FileReaderSync().readAsArrayBuffer(part)));
  }
  close() {}
}

// Opened when it is first read: a folder may hold many files that nobody asks for.
class PathFile {
  constructor(path) {
    this.path = path;
    this.size = builtin("fs").statSync(path).size;
  }
  read(offset, out) {
    const fs = builtin("fs");
    this.descriptor ??= fs.openSync(this.path, "r");
    for (let done = 0; done < out.byteLength;) {
      const count = fs.readSync(this.descriptor, out, done, out.byteLength - done, offset + done);
      if (count === 0) throw new Error("the file ended too early");
      done += count;
    }
  }
  close() {
    if (this.descriptor !== undefined) builtin("fs").closeSync(this.descriptor);
    this.descriptor = undefined;
  }
}

function hostFile(source) {
  if (source instanceof ArrayBuffer) return new MemoryFile(new Uint8Array(source));
  if (ArrayBuffer.isView(source)) {
    return new MemoryFile(new Uint8Array(source.buffer, source.byteOffset, source.byteLength));
  }
  if (typeof Blob !== "undefined" && source instanceof Blob) {
    if (typeof FileReaderSync === "undefined") {
      throw new TypeError(
        isNode ? "node reads no parts of a Blob: open a path, or await blob.arrayBuffer()"
          : "a Blob can be read only in a worker: use loadInWorker(), or open(await blob.arrayBuffer())");
    }
    return new BlobFile(source);
  }
  if (typeof source === "string" && isNode) return new PathFile(source);
  throw new TypeError("expected an ArrayBuffer, a typed array, a Blob, or in node a path");
}

// The files of a source by name, and the one to open: [["model.pt", file]], "model.pt".
function hostFiles(source, name) {
  const isUrl = source instanceof URL || (typeof source === "string" && source.startsWith("file:"));
  if (isNode && isUrl) source = builtin("url").fileURLToPath(source);
  if (typeof source === "string" && isNode) {
    const fs = builtin("fs");
    const path = builtin("path");
    // The name of a sharded model, whose index is there, need not be a file.
    const isFolder = fs.statSync(source, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const folder = isFolder ? source : path.dirname(source);
    const names = fs.readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() || entry.isSymbolicLink())
      .map((entry) => entry.name);
    const files = [];
    for (const each of names) {
      const full = path.join(folder, each);
      if (fs.statSync(full, { throwIfNoEntry: false })?.isFile()) {
        files.push([each, new PathFile(full)]);
      }
    }
    return { files, model: isFolder ? "" : path.basename(source) };
  }
  const isOne = source instanceof ArrayBuffer || ArrayBuffer.isView(source) ||
    (typeof Blob !== "undefined" && source instanceof Blob);
  if (isOne) {
    const own = name ?? source.name ?? "memory";
    return { files: [[own, hostFile(source)]], model: own };
  }
  // Several: an iterable of File, or an object or Map of sources by name.
  let entries;
  if (source instanceof Map) {
    entries = [...source];
  } else if (typeof source?.[Symbol.iterator] === "function") {
    entries = [...source].map((file) => [file.name, file]);
  } else if (source && typeof source === "object") {
    entries = Object.entries(source);
  } else {
    throw new TypeError("expected bytes, a Blob, a set of files, or in node a path");
  }
  const files = entries.map(([each, file]) => [each, hostFile(file)]);
  return { files, model: name ?? (files.length === 1 ? files[0][0] : "") };
}

// ---- Elements ----

const arrays = {
  bool: Uint8Array, u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array,
  u32: Uint32Array, i32: Int32Array, u64: BigUint64Array, i64: BigInt64Array,
  f16: globalThis.Float16Array ?? Uint16Array, bf16: Uint16Array,
  f32: Float32Array, f64: Float64Array, c64: Float32Array, c128: Float64Array,
};

/** The typed array that a dtype is read into; Uint8Array for those without one. */
export function arrayFor(dtype) {
  return arrays[dtype] ?? Uint8Array;
}

// ---- Numbers ----

// JSON has no NaN and no infinities: the module sends their names. Integers that a number does not
// hold come as text, too.
const notFinite = ["NaN", "Infinity", "-Infinity"];

function withNumbers(object, ...keys) {
  for (const key of keys) {
    const text = object[key];
    if (typeof text === "string") object[key] = notFinite.includes(text) ? Number(text) : BigInt(text);
  }
  return object;
}

// ---- The module ----

const errno = { success: 0, badf: 8, nosys: 52 };

// The module's addresses and sizes have 32 bits without a sign. JavaScript gets them with one, so
// from 2 GiB on they are negative here: `>>> 0` takes the sign away.

// What the C library asks of the system. Files are none of its business here.
function systemOf(memory) {
  const view = () => new DataView(memory().buffer);
  const known = {
    clock_time_get(clock, precision, out) {
      view().setBigUint64(out >>> 0, BigInt(Math.round(performance.now() * 1e6)), true);
      return errno.success;
    },
    random_get(address, count) {
      const bytes = new Uint8Array(memory().buffer, address >>> 0, count >>> 0);
      for (let at = 0; at < bytes.length; at += 65536) {
        crypto.getRandomValues(bytes.subarray(at, at + 65536));
      }
      return errno.success;
    },
    environ_sizes_get(count, bytes) {
      view().setUint32(count >>> 0, 0, true);
      view().setUint32(bytes >>> 0, 0, true);
      return errno.success;
    },
    environ_get: () => errno.success,
    fd_prestat_get: () => errno.badf,
    proc_exit(code) {
      throw new Error(`the module ended with ${code}`);
    },
  };
  return new Proxy(known, { get: (all, name) => all[name] ?? (() => errno.nosys) });
}

async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  const given = await source;
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return WebAssembly.compile(given);
  const url = given ?? new URL("./andiron.wasm", import.meta.url);
  if (isNode && !/^https?:/.test(url)) {
    return WebAssembly.compile(builtin("fs").readFileSync(/^file:/.test(url) ? new URL(url) : url));
  }
  return WebAssembly.compile(await (await fetch(url)).arrayBuffer());
}

/**
 * Loads the library. `wasm` is the module's bytes, a WebAssembly.Module, or where to find it; the
 * default is andiron.wasm beside this file.
 */
export async function load(options = {}) {
  checkOptions(options, "wasm");
  const module = await compiled(options.wasm);
  let instance;
  const files = new Map();
  const memory = () => instance.exports.memory;
  const failure = {};
  const read = (number, offset, address, size) => {
    try {
      const file = files.get(number);
      const out = new Uint8Array(memory().buffer, address >>> 0, size >>> 0);
      file.read(offset, out);
      file.bytesRead = (file.bytesRead ?? 0) + out.byteLength;
      return 0;
    } catch (error) {
      failure.cause = error;
      return 1;
    }
  };
  const imports = { andiron: { read }, wasi_snapshot_preview1: systemOf(memory) };
  instance = await WebAssembly.instantiate(module, imports);
  instance.exports._initialize?.();
  return new Andiron(instance.exports, files, failure);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What `using` calls: "dispose" or "asyncDispose", also where only a compiler knows `using`. */
export const symbolOf = (name) => Symbol[name] ?? Symbol.for(`Symbol.${name}`);

/** The library, once loaded. */
class Andiron {
  #exports;
  #files;
  #failure;
  #trap;
  #nextFile = 1;

  // `failure.cause` is why the host could not read, if it could not.
  constructor(exports, files, failure) {
    this.#exports = exports;
    this.#files = files;
    this.#failure = failure;
  }

  get version() {
    return decoder.decode(this.#take(this.#call("andiron_version")).bytes);
  }

  /** How many bytes the library's memory has. It grows with the largest need, and stays. */
  get memoryBytes() {
    return this.#exports.memory.buffer.byteLength;
  }

  /**
   * Opens a weight file, a shard index with its shards, or a folder (node). Reads its header.
   * `source`: an ArrayBuffer, a typed array, a Blob or File (in a worker), a path (node), or several
   * files: a FileList, an object or Map of sources by name. The caller closes the file.
   */
  open(source, { name, ...options } = {}) {
    checkOptions({ ...options, name }, "name", "strictness", "verify", "names");
    check("strictness", [options.strictness ?? "standard"], ["lenient", "standard", "strict"]);
    checkOptions(options.names ?? {}, "topLevelKey", "rename", "contiguousIndices", "foldWeightNorm");
    const { files, model } = hostFiles(source, name);
    const numbers = [];
    try {
      const listed = files.map(([each, file]) => {
        const number = this.#nextFile++;
        this.#files.set(number, file);
        numbers.push(number);
        return { name: each, file: number, size: file.size };
      });
      const opened = this.#json("andiron_open", { files: listed, model, ...options });
      const file = new WeightFile(this.#calls(numbers), opened);
      libraries.set(file, this);
      return file;
    } catch (error) {
      this.#forget(numbers);
      throw error;
    }
  }

  /** What differs between two open files; see Comparison in andiron.d.ts. */
  compare(a, b, options = {}) {
    checkOptions(options, "atol", "rtol", "ignoreDtype");
    const opened = [handleOf(a), handleOf(b)];
    if ([a, b].some((file) => libraries.get(file) !== this)) {
      throw new TypeError("the files were opened by another load() of the library");
    }
    const comparison = this.#json("andiron_compare", options, ...opened);
    for (const each of comparison.differences) withNumbers(each, "maxAbs", "relativeL2", "cosine");
    return comparison;
  }

  #forget(numbers) {
    for (const number of numbers) {
      this.#files.get(number)?.close();
      this.#files.delete(number);
    }
  }

  // What an open file needs, which is made of the host's files with these numbers.
  #calls(numbers) {
    return {
      json: (name, request, ...handles) => this.#json(name, request, ...handles),
      answer: (name, request, ...handles) => this.#answer(name, request, ...handles),
      bytesRead: () => numbers.reduce((sum, each) => sum + (this.#files.get(each)?.bytesRead ?? 0), 0),
      // What stopped has nothing left to give back; the host's files are still its own.
      close: (handle) => {
        try {
          if (!this.#trap) this.#call("andiron_close", handle);
        } finally {
          this.#forget(numbers);
        }
      },
    };
  }

  // Returns an address, or 0. Memory that ends where the library cannot report it ends the module:
  // nothing in it can be trusted after, so that it is not called again.
  #call(name, ...values) {
    if (!this.#trap) {
      try {
        return this.#exports[name](...values) >>> 0;
      } catch (error) {
        this.#trap = error;
      }
    }
    const text = `the library stopped: ${this.#trap.message}; load it again`;
    throw new AndironError({ code: "Stopped", text }, this.#trap);
  }

  #answer(name, request, ...handles) {
    const exports = this.#exports;
    const text = encoder.encode(JSON.stringify(request));
    const address = this.#call("andiron_allocate", text.length);
    if (address === 0) throw new AndironError({ code: "OutOfMemory", text: "out of memory" });
    new Uint8Array(exports.memory.buffer, address, text.length).set(text);
    this.#failure.cause = undefined;
    const answer = this.#call(name, ...handles, address, text.length);
    this.#call("andiron_deallocate", address);
    return this.#take(answer);
  }

  #json(name, request, ...handles) {
    return JSON.parse(decoder.decode(this.#answer(name, request, ...handles).bytes));
  }

  // Copies result and notes out of the module's memory, and gives the answer back.
  #take(answer) {
    const exports = this.#exports;
    if (answer === 0) throw new AndironError({ code: "OutOfMemory", text: "out of memory" });
    const [failed, data, size, text, textSize] = new Uint32Array(exports.memory.buffer, answer, 5);
    const bytes = new Uint8Array(exports.memory.buffer, data, size).slice();
    const notes = JSON.parse(decoder.decode(new Uint8Array(exports.memory.buffer, text, textSize)) || "[]");
    this.#call("andiron_release", answer);
    if (failed) throw new AndironError(JSON.parse(decoder.decode(bytes)), this.#failure.cause);
    return { bytes, notes };
  }
}

const handles = new WeakMap();

function handleOf(file) {
  const handle = handles.get(file);
  if (handle === undefined) {
    throw new TypeError(file instanceof WeightFile ? "the file is closed" : "expected an open file");
  }
  return handle;
}

// A handle means a file only to the library that opened it.
const libraries = new WeakMap();

/** An open weight file. */
class WeightFile {
  #calls;
  #byName = new Map();

  constructor(calls, { handle, ...listing }) {
    this.#calls = calls;
    handles.set(this, handle);
    Object.assign(this, listing);
    for (const tensor of this.tensors) this.#byName.set(tensor.name, tensor);
  }

  /** How much of its files was read so far. */
  get bytesRead() {
    return this.#calls.bytesRead();
  }

  /** The description of a tensor by its name, or undefined. */
  tensor(name) {
    return this.#byName.get(name);
  }

  /**
   * The elements of a tensor in row-major order. `dtype` casts; `begin` and `end` count elements.
   * 64-bit integers come as BigInt, complex numbers as pairs, and dtypes without a typed array as
   * bytes.
   */
  read(name, options = {}) {
    checkOptions(options, "dtype", "begin", "end");
    const { bytes } = this.#calls.answer("andiron_read", { ...options, name }, handleOf(this));
    const Array = arrayFor(options.dtype ?? this.tensor(name)?.dtype);
    return new Array(bytes.buffer, 0, bytes.byteLength / Array.BYTES_PER_ELEMENT);
  }

  /** The SHA-256 of a tensor's row-major little-endian bytes, in hexadecimal. */
  hash(name) {
    return this.#calls.json("andiron_hash", { name }, handleOf(this)).sha256;
  }

  /** Minimum, maximum, mean and more of a tensor; with `bins`, also a histogram. */
  statistics(name, options = {}) {
    checkOptions(options, "bins");
    const found = this.#calls.json("andiron_statistics", { ...options, name }, handleOf(this));
    return withNumbers(found, "min", "max", "mean", "std", "l2");
  }

  /**
   * The same tensors as a file of another format: "safetensors", "burnpack", "mpk", "numpy". `bytes`
   * are the file; `notes` say what the format could not store, and what it changed.
   */
  convert(format, options = {}) {
    checkOptions(options, "metadata");
    return this.#calls.answer("andiron_convert", { ...options, format }, handleOf(this));
  }

  /** Gives back what the file holds. Arrays that were read stay valid. */
  close() {
    const handle = handles.get(this);
    if (handle === undefined) return;
    handles.delete(this);
    this.#calls.close(handle);
  }

  [symbolOf("dispose")]() {
    this.close();
  }
}
