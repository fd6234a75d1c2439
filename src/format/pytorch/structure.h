// SPDX-License-Identifier: MIT OR Apache-2.0
// The walk over what a PyTorch file holds: which names its tensors have, and in which order.
//
// Keys of dicts and indices of lists are joined with dots. A module gives the names that its
// state_dict() would give: parameters, the buffers that it saves, submodules; its other tensors are
// passed over. Any other object is walked by its attributes, and by the arguments that would have
// made it, by index.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/error.h"
#include "andiron/open.h"
#include "src/format/pytorch/pickle_content.h"
#include "src/format/pytorch/tensor_resolver.h"

namespace andiron::inline v1::detail {

// Hears what the walk comes across. `key` is the last step of a name.
class StructureVisitor {
 public:
  virtual ~StructureVisitor() = default;
  // `part` is empty, or ".indices" and the like of a tensor that is listed as its parts.
  virtual Status tensor(std::string_view name, std::string_view key, std::string_view part,
                        const TorchTensor& tensor) = 0;
  virtual void skip(std::string_view, std::string_view /*reason*/) {}
  virtual void note(std::string_view /*name*/, std::string_view /*text*/) {}
  // The values until leave() belong to a list, or to a dict.
  virtual void enter(std::string_view /*key*/, bool /*is_list*/) {}
  virtual void leave() {}
  virtual Status leaf(std::string_view /*key*/, PickleValue) { return {}; }
};

// A class of a TorchScript program: which of its attributes are tensors of its state.
struct ScriptClass {
  bool is_module = false;
  // Whether it tells all its parameters and buffers, which programs up to 1.5 do not.
  bool lists_tensors = false;
  std::set<std::string, std::less<>> tensors;  // parameters and buffers
};

class ScriptClasses {
 public:
  virtual ~ScriptClasses() = default;
  // Of "__torch__.Net", by module and name; nullptr where the program does not say.
  virtual const ScriptClass* find(const PickleGlobal& global) = 0;
};

// Whether an error ends a lenient reading, too; after others the other tensors are still read.
bool stops_reading(ErrorCode code) noexcept;

// Walks from the root on. `classes` is nullptr but for TorchScript. Python never writes a dict with
// a key twice; with `check_all_keys` the last one counts then. Without, which takes less time, such
// a dict gives NameCollision, or two tensors of one name.
Status walk_structure(const PickleContent& content, TensorResolver& resolver,
                      ScriptClasses* classes, const OpenOptions& options, bool check_all_keys,
                      StructureVisitor& visitor);

}  // namespace andiron::inline v1::detail
