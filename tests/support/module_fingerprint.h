// SPDX-License-Identifier: MIT OR Apache-2.0
// Ways to tell whether anything about a module changed.
#pragma once

#include <map>
#include <string>

#include "andiron/apply.h"

namespace andiron::test {

/// Everything there is to know about every parameter of a module.
template <class M>
std::string fingerprint(const M& module) {
  std::string text;
  for (const detail::Slot& slot : detail::slots_of(module, false)) {
    const LeafInfo info = slot.ops->info(slot.leaf);
    text += slot.path + " " + std::string(dtype_name(info.dtype)) + info.shape.to_string();
    if (const auto id = slot.ops->id(slot.leaf)) text += " #" + id->to_text();
    const Result<Tensor> tensor = slot.ops->get(slot.leaf);
    text += " " + (tensor ? std::string(tensor->bytes().text()) : "unset") + "\n";
  }
  return text;
}

/// The bytes of every parameter, by its path.
template <class M>
std::map<std::string, std::string> bytes_by_path(const M& module) {
  std::map<std::string, std::string> bytes;
  for (const TensorSnapshot& tensor : collect(module).value()) {
    bytes[tensor.full_path()] = tensor.read().value().bytes().text();
  }
  return bytes;
}

}  // namespace andiron::test
