// SPDX-License-Identifier: MIT OR Apache-2.0
// The classes of a TorchScript program, from the source code in the archive.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "src/codec/pickle/graph.h"
#include "src/codec/zip/reader.h"
#include "src/core/memory_budget.h"

namespace andiron::inline v1::detail {

// A class of a TorchScript program: which of its attributes are tensors of its state.
struct ScriptClass {
  bool is_module = false;
  // Whether it tells all its parameters and buffers, which programs up to 1.5 do not.
  bool lists_tensors = false;
  std::set<std::string, std::less<>> tensors;  // parameters and buffers
};

// The classes in one file of code, by name:
//
//   class Net(Module):
//     __parameters__ = ["weight", "bias", ]
//     __buffers__ = ["running_mean", ]
// Of those, the ones that are `wanted`.
std::map<std::string, ScriptClass, std::less<>> script_classes_in(
    std::string_view code, const std::set<std::string_view>& wanted);

// The classes that a pickle names. Code that cannot be read, or is beyond 16 MiB in all, has none.
// LimitExceeded beyond the budget.
class ScriptClasses {
 public:
  // `root` is the archive's folder, with a slash, or empty. Fails with ChecksumMismatch if the
  // archive compares all checksums.
  static Result<ScriptClasses> read(const ZipReader& zip, const std::string& root,
                                    const PickleGraph& pickle, MemoryBudget& budget);

  // Of "__torch__.Net", by module and name; nullptr where the program does not say.
  const ScriptClass* find(const PickleGlobal& global) const;

 private:
  // By module: "__torch__.torch.nn".
  std::map<std::string, std::map<std::string, ScriptClass, std::less<>>, std::less<>> modules_;
};

}  // namespace andiron::inline v1::detail
