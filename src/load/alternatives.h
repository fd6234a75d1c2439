// SPDX-License-Identifier: MIT OR Apache-2.0
// Lets the names of a source choose the alternatives of a module's variants, for a load.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "andiron/apply.h"

namespace andiron::inline v1::detail {

// A module as it will be after a load. The alternatives that the source chooses are built beside
// the module, which does not change before swap_in().
class Alternatives {
 public:
  // REQUIRES: `module` outlives the result. Fails if the adapter runs out of memory.
  static Result<Alternatives> choose(const ModuleSlots& module, const Archive& source,
                                     const ApplyOptions& options);

  const ModuleSlots& module() const noexcept { return changed_ ? *changed_ : *given_; }
  void add_notes(ApplyResult& result) const;
  // Moves the new alternatives into their variants.
  void swap_in() noexcept;

 private:
  explicit Alternatives(const ModuleSlots& module) : given_(&module) {}

  const ModuleSlots* given_;
  std::optional<ModuleSlots> changed_;
  std::vector<std::unique_ptr<BuiltAlternative>> built_;  // inner ones first
  std::vector<Message> notes_;
};

}  // namespace andiron::inline v1::detail
