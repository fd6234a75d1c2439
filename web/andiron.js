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
    if (!known.includes(each)) throw new TypeError(`no such ${kind}: ${String(each)}; there are: ${known.join(", ")}`);
  }
}

const isText = (value) => typeof value === "string";
const isObject = (value) => typeof value === "object" && value !== null;

// What an argument may be, by the name of its kind. JSON would make null of many others.
const kinds = {
  "a string": isText,
  "true or false": (value) => typeof value === "boolean",
  "a whole number from 0 on": (value) => Number.isSafeInteger(value) && value >= 0,
  "a finite number": Number.isFinite,
  "an object": isObject,
  "an object of strings": (value) => isObject(value) && Object.values(value).every(isText),
  "a list of pairs of strings": (value) => Array.isArray(value) &&
    value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText)),
};

function checkKind(what, value, kind) {
  if (kind === undefined || kinds[kind](value)) return;
  const found = isObject(value) ? "an object" : isText(value) ? JSON.stringify(value) : String(value);
  throw new TypeError(`${what} must be ${kind}, not ${found}`);
}

/** A TypeError for options that do not exist, which names those that do, or that are of another kind. */
export function checkOptions(options, known) {
  checkKind("options", options, "an object");
  check("option", Object.keys(options), Object.keys(known));
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) checkKind(name, value, known[name]);
  }
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

class PathFile {
  constructor(path, size) {
    this.path = path;
    this.size = size;
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
  const path = pathOf(source);
  if (path === undefined) throw new TypeError("expected an ArrayBuffer, a typed array, a Blob, or in node a path");
  const file = fileAt(path);
  if (file === undefined) throw new AndironError({ code: "NotFound", file: path, text: `${path}: no such file` });
  return file;
}

// The path of a source that is a path or the URL of a file, in node; undefined for other sources.
function pathOf(source) {
  const isUrl = source instanceof URL || (isText(source) && /^(file:|[a-z][a-z\d+.-]+:\/\/)/i.test(source));
  if (!isUrl) return isNode && isText(source) ? source : undefined;
  if (!isNode || new URL(source).protocol !== "file:") {
    throw new TypeError("a URL is not fetched: open its bytes, await (await fetch(url)).arrayBuffer()");
  }
  return builtin("url").fileURLToPath(source);
}

// Nothing, if no file is there.
function fileAt(path) {
  const found = builtin("fs").statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? new PathFile(path, found.size) : undefined;
}

function isFolder(path) {
  try {
    return builtin("fs").statSync(path).isDirectory();
  } catch {
    // Who opens it says why.
    return false;
  }
}

function filesIn(folder) {
  const isFile = (entry) =>
    entry.isFile() || (entry.isSymbolicLink() && !isFolder(builtin("path").join(folder, entry.name)));
  try {
    return builtin("fs").readdirSync(folder, { withFileTypes: true }).filter(isFile).map((entry) => entry.name);
  } catch (cause) {
    throw new AndironError({ code: "Io", file: folder, text: `${folder}: cannot list the folder` }, cause);
  }
}

// The files of a path: only those that the library asks for are looked at. To choose a model, it
// needs the names of all.
function filesOfPath(path, name) {
  const { basename, join, sep } = builtin("path");
  if (!isFolder(path)) {
    if (name !== undefined) throw new TypeError("name chooses a file of a folder: open the folder, or omit it");
    const model = basename(path);
    if (model === "") throw new TypeError("the path is empty");
    const folder = path.slice(0, path.lastIndexOf(model));
    return { model, folder, names: [], open: (each) => fileAt(folder + each) };
  }
  return { model: name ?? "", folder: path.endsWith(sep) ? path : path + sep, names: name ? [] : filesIn(path),
    open: (each) => fileAt(join(path, each)) };
}

// What the library may open: `open` gives a file by its name, if there is one, and `names` are those
// to choose from if there is no `model`. The names of files on a disk follow their `folder`.
function hostFiles(source, name) {
  const path = pathOf(source);
  if (path !== undefined) return filesOfPath(path, name);
  const isOne = source instanceof ArrayBuffer || ArrayBuffer.isView(source) ||
    (typeof Blob !== "undefined" && source instanceof Blob);
  // Several: an iterable of File, or an object or Map of sources by name.
  let entries;
  if (isOne) {
    entries = [[name ?? source.name ?? "memory", source]];
  } else if (source instanceof Map) {
    entries = [...source];
  } else if (isObject(source)) {
    entries = Symbol.iterator in source ? [...source].map((file) => [file?.name, file]) : Object.entries(source);
  } else {
    throw new TypeError("expected bytes, a Blob, a set of files, or in node a path");
  }
  const files = new Map(entries.map(([each, file]) => {
    checkKind("the name of a file", each, "a string");
    return [each, hostFile(file)];
  }));
  const names = [...files.keys()];
  return { model: name ?? (names.length === 1 ? names[0] : ""), names, open: (each) => files.get(each) };
}

// ---- Elements ----

// A dtype's usual name and its typed array, if it has one.
const dtypes = {
  bool: ["bool", Uint8Array], u8: ["uint8", Uint8Array], i8: ["int8", Int8Array], u16: ["uint16", Uint16Array],
  i16: ["int16", Int16Array], u32: ["uint32", Uint32Array], i32: ["int32", Int32Array],
  u64: ["uint64", BigUint64Array], i64: ["int64", BigInt64Array],
  f16: ["float16", globalThis.Float16Array ?? Uint16Array], bf16: ["bfloat16", Uint16Array],
  f32: ["float32", Float32Array], f64: ["float64", Float64Array],
  c32: ["complex32"], c64: ["complex64", Float32Array], c128: ["complex128", Float64Array],
  f8e4m3fn: ["float8_e4m3fn"], f8e5m2: ["float8_e5m2"], f8e4m3fnuz: ["float8_e4m3fnuz"],
  f8e5m2fnuz: ["float8_e5m2fnuz"], f8e8m0: ["float8_e8m0fnu"], f4e2m1: ["float4_e2m1fn"],
  f6e2m3: ["float6_e2m3fn"], f6e3m2: ["float6_e3m2fn"],
};

// "f32" of "f32", "F32", "float32" or "torch.float32".
function dtypeNamed(text) {
  const usual = String(text).replace(/^torch\./, "");
  const found = Object.keys(dtypes)
    .find((name) => text === name || text === name.toUpperCase() || usual === dtypes[name][0]);
  if (found === undefined) check("dtype", [text], Object.keys(dtypes));
  return found;
}

/** The typed array that a dtype is read into; Uint8Array for those without one. */
export function arrayFor(dtype) {
  if (dtype === "qfloat" || /^raw(:|$)/.test(dtype)) return Uint8Array;
  return dtypes[dtypeNamed(dtype)][1] ?? Uint8Array;
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

async function bytesOf(url) {
  if (isNode && !/^https?:/.test(url)) return builtin("fs").readFileSync(/^file:/.test(url) ? new URL(url) : url);
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the server answers ${response.status} ${response.statusText}`.trim());
  return response.arrayBuffer();
}

async function compiled(source) {
  const given = await source;
  if (given instanceof WebAssembly.Module) return given;
  const isBytes = given instanceof ArrayBuffer || ArrayBuffer.isView(given);
  if (!(given === undefined || isBytes || isText(given) || given instanceof URL)) {
    throw new TypeError("wasm must be a module, its bytes, or where they are");
  }
  const url = given ?? new URL("./andiron.wasm", import.meta.url);
  try {
    const bytes = isBytes ? given : await bytesOf(url);
    if (bytes.byteLength === 0) throw new Error("there are no bytes");
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    const what = cause.code === "ENOENT" ? "no such file" : cause.message;
    const where = isBytes ? "the bytes in { wasm }" : `${url}; put andiron.wasm there, or pass { wasm }`;
    throw new Error(`cannot load the module: ${what}: ${where}`, { cause });
  }
}

// The host's files, as the module knows them: by numbers. What stops the host from opening or
// reading one is kept as the cause of the error that the library makes of it.
class Host {
  files = new Map();
  sets = new Map();
  cause;
  #last = 0;

  // A set of files, with the numbers of those that are open.
  add(open) {
    const number = ++this.#last;
    this.sets.set(number, { open, numbers: new Map() });
    return number;
  }
  remove(number) {
    for (const file of this.sets.get(number)?.numbers.values() ?? []) {
      this.files.get(file).close();
      this.files.delete(file);
    }
    this.sets.delete(number);
  }
  bytesRead(number) {
    return [...this.sets.get(number)?.numbers.values() ?? []]
      .reduce((sum, file) => sum + (this.files.get(file).bytesRead ?? 0), 0);
  }

  imports(memory) {
    const bytes = (address, size) => new Uint8Array(memory().buffer, address >>> 0, size >>> 0);
    const or = (failed, work) => (...values) => {
      try {
        return work(...values);
      } catch (error) {
        this.cause = error;
        return failed;
      }
    };
    return {
      find: or(-2, (set, address, size) => {
        const { open, numbers } = this.sets.get(set);
        const name = decoder.decode(bytes(address, size));
        if (numbers.has(name)) return numbers.get(name);
        const file = open(name);
        if (file === undefined) return -1;
        numbers.set(name, ++this.#last);
        this.files.set(this.#last, file);
        return this.#last;
      }),
      size: (number) => this.files.get(number).size,
      read: or(1, (number, offset, address, size) => {
        const file = this.files.get(number);
        const out = bytes(address, size);
        file.read(offset, out);
        file.bytesRead = (file.bytesRead ?? 0) + out.byteLength;
        return 0;
      }),
    };
  }
}

/**
 * Loads the library. `wasm` is the module's bytes, a WebAssembly.Module, or where to find it; the
 * default is andiron.wasm beside this file.
 */
export async function load(options = {}) {
  checkOptions(options, { wasm: undefined });
  const module = await compiled(options.wasm);
  let instance;
  const host = new Host();
  const memory = () => instance.exports.memory;
  const imports = { andiron: host.imports(memory), wasi_snapshot_preview1: systemOf(memory) };
  instance = await WebAssembly.instantiate(module, imports);
  instance.exports._initialize?.();
  return new Andiron(instance.exports, host);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What `using` calls: "dispose" or "asyncDispose", also where only a compiler knows `using`. */
export const symbolOf = (name) => Symbol[name] ?? Symbol.for(`Symbol.${name}`);

/** The library, once loaded. */
class Andiron {
  #exports;
  #host;
  #trap;

  constructor(exports, host) {
    this.#exports = exports;
    this.#host = host;
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
  open(source, options = {}) {
    checkOptions(options, { name: "a string", strictness: "a string", verify: "true or false", names: "an object" });
    check("strictness", [options.strictness ?? "standard"], ["lenient", "standard", "strict"]);
    checkOptions(options.names ?? {}, { topLevelKey: "a string", rename: "a list of pairs of strings",
      contiguousIndices: "true or false", foldWeightNorm: "true or false" });
    const { name, ...rest } = options;
    const { open, model, folder, names } = hostFiles(source, name);
    const set = this.#host.add(open);
    // A model is no file of a subfolder.
    const listed = names.filter((each) => !each.includes("/")).sort();
    try {
      const opened = this.#json("andiron_open", { set, folder, listed, name: model, ...rest });
      const file = new WeightFile(this.#calls(set), opened);
      libraries.set(file, this);
      return file;
    } catch (error) {
      this.#host.remove(set);
      throw error;
    }
  }

  /** What differs between two open files; see Comparison in andiron.d.ts. */
  compare(a, b, options = {}) {
    checkOptions(options, { atol: "a finite number", rtol: "a finite number", ignoreDtype: "true or false" });
    const opened = [handleOf(a), handleOf(b)];
    if ([a, b].some((file) => libraries.get(file) !== this)) {
      throw new TypeError("the files were opened by another load() of the library");
    }
    const comparison = this.#json("andiron_compare", options, ...opened);
    for (const each of comparison.differences) withNumbers(each, "maxAbs", "relativeL2", "cosine");
    return comparison;
  }

  // What an open file needs, which is made of a set of the host's files.
  #calls(set) {
    return {
      json: (name, request, ...handles) => this.#json(name, request, ...handles),
      answer: (name, request, ...handles) => this.#answer(name, request, ...handles),
      bytesRead: () => this.#host.bytesRead(set),
      // What stopped has nothing left to give back; the host's files are still its own.
      close: (handle) => {
        try {
          if (!this.#trap) this.#call("andiron_close", handle);
        } finally {
          this.#host.remove(set);
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
    this.#host.cause = undefined;
    const answer = this.#call(name, ...handles, address, text.length);
    this.#call("andiron_deallocate", address);
    return this.#take(answer);
  }

  #json(name, request, ...handles) {
    return JSON.parse(decoder.decode(this.#answer(name, request, ...handles).bytes));
  }

  // Copies the result and what is said about it out of the module's memory, and gives the answer back.
  #take(answer) {
    const exports = this.#exports;
    if (answer === 0) throw new AndironError({ code: "OutOfMemory", text: "out of memory" });
    const [failed, data, size, text, textSize] = new Uint32Array(exports.memory.buffer, answer, 5);
    const bytes = new Uint8Array(exports.memory.buffer, data, size).slice();
    const about = JSON.parse(decoder.decode(new Uint8Array(exports.memory.buffer, text, textSize)) || "null");
    this.#call("andiron_release", answer);
    if (failed) throw errorOf(JSON.parse(decoder.decode(bytes)), this.#host.cause);
    return { bytes, about };
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
  #byName;

  constructor(calls, { handle, ...listing }) {
    this.#calls = calls;
    handles.set(this, handle);
    Object.assign(this, listing);
  }

  /** How much of its files was read so far. */
  get bytesRead() {
    return this.#calls.bytesRead();
  }

  /** The description of a tensor by its name, or undefined. */
  tensor(name) {
    this.#byName ??= new Map(this.tensors.map((tensor) => [tensor.name, tensor]));
    return this.#byName.get(name);
  }

  /**
   * The elements of a tensor in row-major order. `dtype` casts; `begin` and `end` count elements.
   * 64-bit integers come as BigInt, complex numbers as pairs, and dtypes without a typed array as
   * bytes.
   */
  read(name, options = {}) {
    checkKind("name", name, "a string");
    checkOptions(options, { dtype: "a string", begin: "a whole number from 0 on", end: "a whole number from 0 on" });
    const dtype = options.dtype === undefined ? undefined : dtypeNamed(options.dtype);
    const { bytes, about } = this.#calls.answer("andiron_read", { ...options, dtype, name }, handleOf(this));
    const Array = arrayFor(about);
    return new Array(bytes.buffer, 0, bytes.byteLength / Array.BYTES_PER_ELEMENT);
  }

  /** The SHA-256 of a tensor's row-major little-endian bytes, in hexadecimal. */
  hash(name) {
    checkKind("name", name, "a string");
    return this.#calls.json("andiron_hash", { name }, handleOf(this)).sha256;
  }

  /** Minimum, maximum, mean and more of a tensor; with `bins`, also a histogram. */
  statistics(name, options = {}) {
    checkKind("name", name, "a string");
    checkOptions(options, { bins: "a whole number from 0 on" });
    const found = this.#calls.json("andiron_statistics", { ...options, name }, handleOf(this));
    return withNumbers(found, "min", "max", "mean", "std", "l2");
  }

  /**
   * The same tensors as a file of another format: "safetensors", "burnpack", "mpk", "numpy". `bytes`
   * are the file; `notes` say what the format could not store, and what it changed.
   */
  convert(format, options = {}) {
    check("format", [format], ["safetensors", "burnpack", "mpk", "numpy"]);
    checkOptions(options, { metadata: "an object of strings" });
    const { bytes, about } = this.#calls.answer("andiron_convert", { ...options, format }, handleOf(this));
    return { bytes, notes: about };
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
