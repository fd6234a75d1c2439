// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/plan_listing_test.cpp
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "andiron/apply.h"
#include "src/core/try.h"
#include "src/load/module_lists.h"

namespace andiron::inline v1 {

namespace detail {
namespace {
// A parameter that is known, but not there.
struct AbsentTensor {
  LeafInfo info;
};
}  // namespace
}  // namespace detail

template <>
struct Leaf<detail::AbsentTensor> {
  static LeafInfo info(const detail::AbsentTensor& tensor) { return tensor.info; }
  static Result<Tensor> get(const detail::AbsentTensor&) {
    return Error{.code = ErrorCode::missing_tensor, .message = "a listed parameter has no data"};
  }
  static Result<detail::AbsentTensor> make(const detail::AbsentTensor& tensor, const Tensor&) {
    return tensor;
  }
};

Result<Plan> plan_listing(const std::vector<ListedParameter>& model, const Archive& file,
                          const NameOptions& names, const ApplyOptions& options) ANDIRON_NO_THROW {
  std::map<std::string, detail::AbsentTensor> leaves;
  std::map<std::string, std::size_t> positions;
  for (const ListedParameter& one : model) {
    LeafInfo info;
    info.dtype = one.dtype;
    info.shape = one.shape;
    info.accepts_any_dtype = true;
    if (!positions.emplace(one.path, positions.size()).second) {
      return Error{.code = ErrorCode::name_collision,
                   .message = "a parameter is listed twice",
                   .tensor = one.path};
    }
    leaves.emplace(one.path, detail::AbsentTensor{std::move(info)});
  }
  detail::ModuleSlots listed = detail::module_slots(leaves, false);
  // As they were listed, and as parts of the modules that the listing names.
  std::sort(listed.slots.begin(), listed.slots.end(),
            [&](const detail::Slot& a, const detail::Slot& b) {
              return positions[a.path] < positions[b.path];
            });
  for (detail::Slot& slot : listed.slots) {
    const std::string& kind = model[positions[slot.path]].kind;
    slot.container = kind.empty() ? Container() : Container({"Struct:" + kind});
  }
  const NameOptions names_of_model = detail::names_for(listed.slots, names);
  ANDIRON_ASSIGN(const Archive named, apply_names(file, names_of_model));
  // What has no parameters is not listed. A list may be longer than it seems.
  ApplyOptions lenient = options;
  if (!options.allow_unused) lenient.allow_unused = true;
  return detail::plan_slots(listed, {file, names_of_model, named}, lenient);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
