// SPDX-License-Identifier: MIT OR Apache-2.0
// Small models and stores in memory for the tests of BurnpackStore.
#pragma once

#include <string>
#include <vector>

#include "andiron/burnpack_store.h"
#include "tests/transfer/sample_net.h"

namespace andiron::test {

using Names = std::vector<std::string>;

struct Pair {
  Param a;
  Param b;
  ANDIRON_MODULE(Pair, a, b)
};

inline Pair pair_of(float first) { return {Param(f32({2}, first)), Param(f32({2}, first + 2))}; }

// A store in memory that holds `module`, with the settings of a new one.
template <class M>
BurnpackStore saved(const M& module, BurnpackStore store = {}) {
  save_into(module, store).value();
  return BurnpackStore::from_bytes(store.get_bytes().value());
}

// A store in memory with tensors of shape [2] under these names, which have no ids.
inline BurnpackStore store_with(const Names& names) {
  Archive archive;
  float first = 1;
  for (const std::string& name : names) {
    archive.add(TensorSnapshot(name, f32({2}, first))).value();
    first += 10;
  }
  return BurnpackStore::from_bytes(write_to_memory(archive, {.format = Format::burnpack}).value());
}

inline float first_of(const Param& param) { return param.as<float>().value()[0]; }

}  // namespace andiron::test
