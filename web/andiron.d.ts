// SPDX-License-Identifier: MIT OR Apache-2.0
// Types of andiron.js and remote.js. TypeScript 5.2 or newer.
/// <reference lib="esnext.disposable" />

// Without it, names that are not exported would be.
export {};

/** What a global name stands for, if the libraries of types have it: node's lack those of pages. */
type Global<Name extends string> =
  typeof globalThis extends { [name in Name]: { prototype: infer Instance } } ? Instance : never;
type Blob = Global<"Blob">;
type File = Global<"File">;
type URL = Global<"URL">;
type Worker = Global<"Worker">;
type HalfFloats = Global<"Float16Array">;
type Module = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Instance } } } ? Instance : never;

/**
 * Bytes, a file of a page, or in node a path or a URL of a file. A Blob can be read only in a worker
 * of a page.
 */
export type Source = ArrayBuffer | ArrayBufferView | Blob | string | URL;
/** One file, or several that belong together: shards and their index. */
export type Sources = Source | Iterable<File> | Map<string, Source> | Record<string, Source>;

/** Dtypes with a typed array of their own. f16 has one where there is Float16Array (ES2025). */
interface Arrays {
  bool: Uint8Array; u8: Uint8Array; i8: Int8Array; u16: Uint16Array; i16: Int16Array;
  u32: Uint32Array; i32: Int32Array; u64: BigUint64Array; i64: BigInt64Array;
  f16: HalfFloats | Uint16Array; bf16: Uint16Array; f32: Float32Array; f64: Float64Array;
  c64: Float32Array; c128: Float64Array;
}

/** Dtypes that tensors can be cast to. */
export type CastDtype =
  | keyof Arrays | "c32" | "f8e4m3fn" | "f8e5m2" | "f8e4m3fnuz" | "f8e5m2fnuz" | "f8e8m0" | "f4e2m1" | "f6e2m3" | "f6e3m2";

export type Dtype = CastDtype | "qfloat" | `raw:${string}`;

/** Elements of a tensor. Dtypes without a typed array of their own are read as bytes. */
export type ElementsOf<Type extends Dtype> = Type extends keyof Arrays ? Arrays[Type] : Uint8Array;
export type Elements = ElementsOf<Dtype>;

export interface Tensor {
  name: string;
  dtype: Dtype;
  shape: number[];
  bytes: number;
  /** Where the data is in its file, if it is there as one run. */
  offset?: number;
  /** The shard. */
  file?: string;
  /** The file's own spelling of the dtype, where it differs. */
  fileDtype?: string;
  /** A decimal number of up to 64 bits. */
  paramId?: string;
  /** An earlier tensor with the same bytes, as tied weights have. */
  aliasOf?: string;
}

export interface Listing {
  format: string;
  packaging: string;
  /** Size of all files. */
  bytes: number;
  metadata: Record<string, string>;
  /** In file order. */
  tensors: Tensor[];
  /**
   * Configs and scalars. A tensor in it is {"tensor": its index}; NaN and infinities are null. Null if
   * there are none.
   */
  value: unknown;
  skipped: { name: string; reason: string }[];
  notes: string[];
}

export interface OpenOptions {
  /** Which file to open, of several; for bytes, the name that errors use. */
  name?: string;
  strictness?: "lenient" | "standard" | "strict";
  /** Compare the checksums of zip records with the data that is read. */
  verify?: boolean;
  names?: {
    /** Only the tensors under this key, without it. */
    topLevelKey?: string;
    /**
     * Regular expressions and their replacements, in order. "$1" or "${1}" is a group, before a letter
     * or a digit only "${1}".
     */
    rename?: [pattern: string, replacement: string][];
    contiguousIndices?: boolean;
    foldWeightNorm?: boolean;
  };
}

export interface ReadOptions {
  /** Cast to this dtype. */
  dtype?: CastDtype;
  /** The first element, and the one after the last, in row-major order. */
  begin?: number;
  end?: number;
}

/** Over finite elements; NaN and infinities are counted apart. */
export interface Statistics {
  count: number;
  nan: number;
  positiveInfinity: number;
  negativeInfinity: number;
  zeros: number;
  /** NaN if there is no finite element, as are mean and std. Integers are exact: above 2^53 a BigInt. */
  min: number | bigint;
  max: number | bigint;
  mean: number;
  /** Of the population. */
  std: number;
  /** Infinity if it is too large for a number. */
  l2: number;
  /** Equal bins from min to max. */
  histogram?: number[];
}

export interface CompareOptions {
  /** |a - b| <= atol + rtol * |b| counts as equal. */
  atol?: number;
  rtol?: number;
  /** Judge tensors whose dtypes differ by their numbers alone. */
  ignoreDtype?: boolean;
}

export interface ComparedTensor {
  name: string;
  dtype: string;
  shape: number[];
}

/** How far apart the elements of two tensors are. */
export interface Distance {
  elements: number;
  differing: number;
  /** Of these, beyond the tolerances. */
  beyond: number;
  /** Of those that differ, with NaN or an infinity on one side: no part of the numbers below. */
  notFinite: number;
  /** The row-major index of the first. */
  firstBeyond?: number;
  maxAbs: number;
  /** Infinity if a is 0. */
  relativeL2: number;
  /** NaN if a or b is 0. */
  cosine: number;
}

interface Both {
  a: ComparedTensor;
  b: ComparedTensor;
}

export type Difference =
  | { kind: "added"; b: ComparedTensor; a?: undefined }
  | { kind: "removed"; a: ComparedTensor; b?: undefined }
  /** Ambiguous if several tensors have these bytes. */
  | ({ kind: "renamed"; ambiguous?: true } & Both)
  | ({ kind: "shape" } & Both)
  /** Without a distance if the numbers cannot be compared. */
  | ({ kind: "dtype" } & Both & Partial<Distance>)
  | ({ kind: "values" | "close" } & Both & Distance);

export interface Comparison {
  /** Nothing differs but what is close. */
  isEqual: boolean;
  /** How many tensors are equal. */
  equal: number;
  differences: Difference[];
}

/** Formats that are written. */
export type WrittenFormat = "safetensors" | "burnpack" | "mpk" | "numpy";

export interface ConvertOptions {
  metadata?: Record<string, string>;
}

export interface Converted {
  /** The file. */
  bytes: Uint8Array;
  /** What the format could not store, and what it changed. */
  notes: string[];
}

/** After "Stopped", every call but close() is refused with the same code: load the library again. */
export type ErrorCode =
  | "Io" | "NotFound" | "AlreadyExists" | "Cancelled" | "OutOfMemory" | "NotAWeightFile"
  | "Unsupported" | "UnsupportedDType" | "Truncated" | "HeaderTooLarge" | "BadHeader"
  | "DuplicateKey" | "BadOffsets" | "SizeMismatch" | "Overflow" | "Misaligned" | "LimitExceeded"
  | "BadIndex" | "MissingShard" | "MissingTensor" | "NameCollision" | "InvalidPattern"
  | "InvalidArgument" | "DTypeMismatch" | "ShapeMismatch" | "FileChanged" | "UnusedTensor"
  | "AdapterFailed" | "BadArchive" | "BadPickle" | "MissingStorage" | "ChecksumMismatch"
  | "MissingValue" | "ValueMismatch" | "Stopped";

export class AndironError extends Error {
  code: ErrorCode;
  file?: string;
  tensor?: string;
  found?: string;
  expected?: string;
  hint?: string;
}

export interface WeightFile extends Listing, Disposable {
  /** How much of its files was read so far. */
  readonly bytesRead: number;
  tensor(name: string): Tensor | undefined;
  read<Type extends CastDtype>(name: string, options: ReadOptions & { dtype: Type }): ElementsOf<Type>;
  read(name: string, options?: ReadOptions): Elements;
  hash(name: string): string;
  statistics(name: string, options?: { bins?: number }): Statistics;
  convert(format: WrittenFormat, options?: ConvertOptions): Converted;
  close(): void;
}

export interface Andiron {
  readonly version: string;
  /** The size of the library's memory. It grows with the largest need, and stays. */
  readonly memoryBytes: number;
  open(source: Sources, options?: OpenOptions): WeightFile;
  compare(a: WeightFile, b: WeightFile, options?: CompareOptions): Comparison;
}

export interface RemoteFile extends Listing, AsyncDisposable {
  /** How much of its files was read so far. */
  readonly bytesRead: number;
  tensor(name: string): Tensor | undefined;
  read<Type extends CastDtype>(name: string, options: ReadOptions & { dtype: Type }): Promise<ElementsOf<Type>>;
  read(name: string, options?: ReadOptions): Promise<Elements>;
  hash(name: string): Promise<string>;
  statistics(name: string, options?: { bins?: number }): Promise<Statistics>;
  convert(format: WrittenFormat, options?: ConvertOptions): Promise<Converted>;
  close(): Promise<void>;
}

export interface RemoteAndiron extends Disposable {
  readonly version: string;
  open(source: Sources, options?: OpenOptions): Promise<RemoteFile>;
  compare(a: RemoteFile, b: RemoteFile, options?: CompareOptions): Promise<Comparison>;
  /** Ends the worker, and what it has open. Calls under way and later ones are errors. */
  close(): void;
}

type Wasm = ArrayBuffer | ArrayBufferView | Module | URL | string;

export interface LoadOptions {
  /** The module's bytes, the module, or where it is; by default andiron.wasm beside the script. */
  wasm?: Wasm | Promise<Wasm>;
}

export function load(options?: LoadOptions): Promise<Andiron>;
export function loadInWorker(options?: LoadOptions & { worker?: Worker }): Promise<RemoteAndiron>;
/** The typed array that a dtype is read into. */
export function arrayFor<Type extends Dtype>(dtype: Type): new (buffer: ArrayBuffer) => ElementsOf<Type>;
