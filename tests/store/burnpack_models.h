// SPDX-License-Identifier: MIT OR Apache-2.0
// Small models and stores in memory for the tests of BurnpackStore.
#pragma once

#include <string>
#include <vector>

#include "andiron/stores.h"
#include "tests/store/pair_model.h"
#include "tests/support/sample_net.h"

namespace andiron::test {

using Names = std::vector<std::string>;

// A store in memory that holds `module`, with the settings of a new one.
template <class M>
BurnpackStore saved(const M& module, BurnpackStore store = {}) {
  save_into(module, store).value();
  return BurnpackStore::from_bytes(store.get_bytes().value());
}

// A store in memory with tensors of shape [2] under these names, which have no ids.
inline BurnpackStore store_with(const Names& names) {
  return BurnpackStore::from_bytes(
      write_to_memory(archive_with(names), {.format = Format::burnpack}).value());
}

inline float first_of(const Param& param) { return param.as<float>().value()[0]; }

}  // namespace andiron::test
