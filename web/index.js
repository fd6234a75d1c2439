// SPDX-License-Identifier: MIT OR Apache-2.0
export { AndironError, arrayFor, load } from "./andiron.js";
export { loadInWorker } from "./remote.js";
