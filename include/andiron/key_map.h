// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the tensors of a file go: their names in the file and after each stage and, with a module,
// the parameters that take them. To find out why a load does not do what you expect.
//
//   std::cout << store.key_map().value();        // names, dtypes and shapes
//   std::cout << key_map(model, store).value();  // and what a load would do with them (store.h)
//
// Nothing is read but the header of the file. Functions that return no Result may throw
// std::bad_alloc (error.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/apply.h"
#include "andiron/archive.h"
#include "andiron/detail/no_throw.h"
#include "andiron/detail/slots.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/shape.h"

namespace andiron::inline v1 {

/// A stage that changed the name of a tensor, and the name after it.
struct KeyStep {
  NameStage stage = NameStage::file;
  std::string name;

  friend bool operator==(const KeyStep&, const KeyStep&) = default;
};

/// What a load does with a tensor for one parameter.
enum class KeyOutcome : std::uint8_t {
  taken,    ///< the parameter gets it
  skipped,  ///< the filter leaves the parameter out
  refused,  ///< it does not fit, or the adapter failed
  tied,     ///< the parameter is tied to one that gets another tensor
};

/// Returns "taken", "skipped", "refused" or "tied".
std::string_view outcome_name(KeyOutcome outcome) noexcept;

/// A parameter that a tensor of the file is for.
struct KeyUse {
  std::string path;  ///< of the parameter; another name than the tensor's if an adapter says so
  KeyOutcome outcome = KeyOutcome::taken;
  /// If refused, why. If tied, the parameter whose tensor it gets.
  std::string reason = {};

  // Of a tensor that is taken:
  bool is_adapted = false;  ///< changed on the way: transposed, cast, a part, several joined
  std::size_t sources = 1;  ///< how many tensors of the file the parameter is made from
  std::string dtype = {};   ///< of the parameter after the load: "f32", or "raw:NAME"
  Shape shape = {};         ///< of the parameter after the load
};

/// A tensor of a file.
struct MappedKey {
  std::string name_in_file;         ///< empty if it is made from others
  std::vector<KeyStep> steps = {};  ///< the stages that changed its name, in order
  std::string name = {};            ///< after all stages; empty if it is left out
  /// The stage that leaves it out, because it is not under the key (NameStage::top_level_key) or
  /// because filter() or select() dropped it (NameStage::rename). Otherwise nothing.
  std::optional<NameStage> left_out_by = {};
  std::string dtype = {};  ///< in the file: "f32", or "raw:NAME"
  Shape shape = {};        ///< in the file
  /// With a module: the parameters it is for; those that take it come first, each kind in module
  /// order. Empty if no parameter uses it.
  std::vector<KeyUse> uses = {};

  /// True if it is not in the file, but made from others (weight norm, edits) or added. Its first
  /// step tells its name.
  bool is_made() const noexcept { return !steps.empty() && steps.front().stage == NameStage::made; }
  /// True if no parameter uses it, although it is not left out. Meaningless without a module.
  bool is_unused() const noexcept { return !left_out_by && uses.empty(); }
};

/// All tensors of a file.
struct KeyMap {
  std::vector<MappedKey> tensors;         ///< in file order
  bool has_module = false;                ///< made with a module
  std::vector<std::string> missing = {};  ///< with a module: parameters without a tensor, sorted

  /// A few lines for each tensor, then totals. Names are escaped, so it is safe to print.
  ///
  ///   net.fc.2.weight  f32 [16, 8]
  ///     top-level key  fc.2.weight
  ///     index gaps     fc.1.weight
  ///     taken by fc.1.weight, adapted to f32 [8, 16]
  std::string to_string() const;
};

/// Writes KeyMap::to_string().
std::ostream& operator<<(std::ostream& out, const KeyMap& map);

namespace detail {
Result<KeyMap> key_map_of_slots(const ModuleSlots& module, const Archive& archive,
                                const ApplyOptions& options);
}  // namespace detail

/// Returns the tensors of the file that an archive was opened from, with their names up to this
/// archive. Tensors added since come last. Tied names (Archive::aliases) are not listed. Costs one
/// pass over the tensors for each stage. Fails only with OutOfMemory.
Result<KeyMap> key_map(const Archive& archive);

/// The same, and what apply() would do with each tensor. A mismatch is not a failure here. Fails
/// with the errors of plan().
template <class M>
Result<KeyMap> key_map(const M& module, const Archive& archive, const ApplyOptions& options = {})
    ANDIRON_NO_THROW {
  return detail::key_map_of_slots(detail::module_slots(module, options.skip_enum_variants), archive,
                                  options);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
