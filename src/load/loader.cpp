// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/load/apply_test.cpp and tests/load/shared_reads_test.cpp
#include "src/load/loader.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/check_limit.h"
#include "src/core/expression.h"
#include "src/core/sort.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/load/told_names.h"

namespace andiron::inline v1::detail {
namespace {

// Where the elements of a tensor must start for Tensor::as.
bool is_aligned(const Tensor& tensor) {
  const unsigned parts = is_complex(tensor.dtype()) ? 2 : 1;
  const std::size_t alignment = std::max(bit_width(tensor.dtype()) / 8 / parts, 1U);
  return reinterpret_cast<std::uintptr_t>(tensor.bytes().data()) % alignment == 0;
}

void add_hint(Error& error, const Message& hint) {
  error.hint += error.hint.empty() ? "" : "; ";
  error.hint += hint;
}

Error half_written(const Slot& slot, Error error) {
  add_hint(error, in_quotes(slot.path) + " is half written (in_place)");
  return error;
}

Error wrong_memory(const TensorSnapshot& tensor, std::size_t found) {
  return Error{
      .code = ErrorCode::invalid_argument,
      .message = "the leaf gave memory that the tensor cannot be read into",
      .found = std::to_string(found) + " writable bytes",
      .expected = std::to_string(tensor.byte_size()),
      .hint =
          "Leaf<T>::allocate() must return Bytes::adopt() of memory that nothing else holds, "
          "and Leaf<T>::buffer() the memory of the whole tensor, or an empty span"};
}

}  // namespace

SharedReads::SharedReads(const Archive& source, const LoadPlan& plan)
    : plan_(plan), ties_(source.ties()) {
  std::vector<std::uint32_t> taken(source.size(), 0);
  for (const Assignment& assignment : plan.assignments) {
    if (assignment.is_read() && assignment.source_count == 1) ++taken[first_of(assignment)];
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] > 1) reads_.try_emplace(i);
  }
}

std::size_t SharedReads::first_of(const Assignment& assignment) const {
  const std::size_t index = plan_.sources[assignment.first_source];
  return ties_[index].value_or(index);
}

const Tensor* SharedReads::find(const Assignment& assignment) const {
  if (reads_.empty() || assignment.source_count != 1) return nullptr;
  const auto read = reads_.find(first_of(assignment));
  if (read == reads_.end() || read->second.assignment == nullptr) return nullptr;
  const bool is_same = read->second.assignment->tensor.is_same_data(assignment.tensor);
  return is_same ? &read->second.data : nullptr;
}

void SharedReads::keep(const Assignment& assignment, const Tensor& data) {
  if (reads_.empty() || assignment.source_count != 1) return;
  const auto read = reads_.find(first_of(assignment));
  if (read != reads_.end()) read->second = {&assignment, data};
}

Loader::Loader(LoadPlan& plan, const std::vector<Slot>& slots, const Archive& source,
               const ApplyOptions& options)
    : plan_(plan),
      slots_(slots),
      source_(source),
      options_(options),
      shared_(source, plan),
      failed_(slots.size(), false) {
  if (!options.in_place) replacements_.reserve(plan.assignments.size());
}

Status Loader::take_all() {
  for (const Assignment* assignment : reading_order()) ANDIRON_TRY(take(*assignment));
  return {};
}

// What lies in one source together, the sources in the order of their first tensors: a deflated
// record is a source, inflated whole for the first of several reads.
std::vector<const Assignment*> Loader::reading_order() const {
  struct Turn {
    std::size_t source;  // the number of the first assignment that reads it
    const Assignment* assignment;
  };
  std::unordered_map<const ByteSource*, std::size_t> firsts;
  std::vector<Turn> turns;
  for (const Assignment& assignment : plan_.assignments) {
    std::size_t first = turns.size();
    std::uint64_t offset = 0;
    const ByteSource* source = expression_of(assignment.tensor).place(offset);
    if (source != nullptr && !options_.in_place) {
      first = firsts.try_emplace(source, first).first->second;
    }
    turns.push_back({first, &assignment});
  }
  detail::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return a.source != b.source ? a.source < b.source : a.assignment < b.assignment;
  });
  std::vector<const Assignment*> order;
  for (const Turn& turn : turns) order.push_back(turn.assignment);
  return order;
}

Status Loader::take(const Assignment& assignment) {
  if (!assignment.is_read()) return {};
  const Slot& slot = slots_[assignment.slot];
  const TensorSnapshot& tensor = assignment.tensor;
  const std::span<std::byte> own = own_memory(slot, tensor);
  if (!own.empty() && own.size() != tensor.byte_size()) {
    return failed(assignment, wrong_memory(tensor, own.size()));
  }
  if (own.empty()) {
    Result<std::optional<Tensor>> ready = ready_data(assignment);
    if (!ready) return failed(assignment, std::move(ready).error());
    if (*ready) return replace(assignment, **std::move(ready));
  }
  Result<Bytes> fresh = own.empty() ? fresh_memory(slot, tensor) : Bytes();
  if (!fresh) return failed(assignment, std::move(fresh).error());
  const std::span<std::byte> room = own.empty() ? fresh->writable() : own;
  // In one go, unless somebody wants to hear of it. Windows hold whole elements of every type.
  const std::uint64_t window = std::max<std::uint64_t>(options_.limits.window_bytes / 16 * 16, 16);
  const std::uint64_t step = options_.progress ? window : room.size();
  for (std::uint64_t done = 0; done < room.size();) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(step, room.size() - done));
    const auto part = room.subspan(static_cast<std::size_t>(done), count);
    Status read = expression_of(tensor).read_part(done, part);
    if (read) read = advance(count);
    if (!read) {
      return failed(assignment, own.empty() ? std::move(read).error()
                                            : half_written(slot, std::move(read).error()));
    }
    done += count;
  }
  Result<Tensor> data =
      own.empty() ? tensor.with_bytes(*std::move(fresh)) : slot.ops->get(slot.leaf);
  if (!data) return failed(assignment, std::move(data).error());
  if (own.empty() && slot.ops->allocate == nullptr) shared_.keep(assignment, *data);
  return replace(assignment, *std::move(data));
}

std::span<std::byte> Loader::own_memory(const Slot& slot, const TensorSnapshot& tensor) const {
  if (!options_.in_place || options_.zero_copy || slot.ops->buffer == nullptr) return {};
  return slot.ops->buffer(slot.leaf, tensor.dtype(), tensor.shape());
}

Result<std::optional<Tensor>> Loader::ready_data(const Assignment& assignment) {
  const TensorSnapshot& tensor = assignment.tensor;
  if (slots_[assignment.slot].ops->allocate != nullptr) return std::optional<Tensor>();
  if (const Tensor* known = shared_.find(assignment)) {
    ANDIRON_TRY(advance(tensor.byte_size()));
    return std::make_optional(*known);
  }
  if (!options_.zero_copy || !tensor.can_borrow()) return std::optional<Tensor>();
  ANDIRON_ASSIGN(Tensor lent, tensor.borrow());
  if (!is_aligned(lent)) return std::optional<Tensor>();
  ANDIRON_TRY(advance(tensor.byte_size()));
  shared_.keep(assignment, lent);
  return std::make_optional(std::move(lent));
}

Result<Bytes> Loader::fresh_memory(const Slot& slot, const TensorSnapshot& tensor) {
  ANDIRON_TRY(allow(tensor.byte_size()));
  if (slot.ops->allocate == nullptr) return Bytes::allocate(tensor.byte_size());
  ANDIRON_ASSIGN(Bytes given, slot.ops->allocate(slot.leaf, tensor.dtype(), tensor.shape()));
  const std::size_t size = given.writable().size();
  if (size != tensor.byte_size()) return wrong_memory(tensor, size);
  return given;
}

Status Loader::replace(const Assignment& assignment, Tensor data) {
  const Slot& slot = slots_[assignment.slot];
  Result<std::shared_ptr<void>> value =
      slot.ops->make(slot.leaf, std::move(data), assignment.tensor.param_id());
  if (!value) return failed(assignment, std::move(value).error());
  Replacement replacement{&slot, *std::move(value)};
  if (options_.in_place) {
    replacement.commit();
  } else {
    replacements_.push_back(std::move(replacement));
  }
  return {};
}

Status Loader::allow(std::uint64_t bytes) {
  if (bytes <= options_.limits.load_bytes - taken_) {
    taken_ += bytes;
    return {};
  }
  Error error = over_limit(
      std::to_string(plan_.byte_size), options_.limits.load_bytes,
      {"the tensors need more memory than a load may use", &Limits::load_bytes, "bytes in all"});
  error.code = ErrorCode::out_of_memory;
  error.hint = "raise Limits::load_bytes, or load fewer tensors with a filter";
  // Of a mapping, and without a conversion on the way.
  if (!options_.zero_copy)
    error.hint += "; " + Message(Advice::borrow) + " may borrow some instead";
  return error;
}

Status Loader::advance(std::uint64_t bytes) {
  done_ += bytes;
  if (bytes == 0 || !options_.progress || options_.progress(done_, plan_.byte_size)) return {};
  return Error{.code = ErrorCode::cancelled, .message = "the progress callback cancelled the load"};
}

Status Loader::failed(const Assignment& assignment, Error error) {
  error.tensor = slots_[assignment.slot].path;
  if (error.file.empty()) error.file = source_.origin();
  const bool is_of_tensor =
      error.code != ErrorCode::cancelled && error.code != ErrorCode::out_of_memory;
  const std::string renumbered = is_of_tensor ? renumbered_sources(assignment) : std::string();
  if (!renumbered.empty()) add_hint(error, "the file calls it " + renumbered);
  failed_[assignment.slot] = true;
  plan_.result.errors.push_back(error);
  const bool stops = options_.validate || !is_of_tensor;
  return stops ? Status(stopped(assignment, std::move(error))) : Status();
}

std::string Loader::renumbered_sources(const Assignment& assignment) const {
  std::vector<std::string_view> names;
  const std::span sources(plan_.sources);
  for (const auto source : sources.subspan(assignment.first_source, assignment.source_count)) {
    names.push_back(source_.info(source).name);
  }
  return ToldNames(source_).renumbered(names);
}

// In place, what came before `last` is replaced, and nothing else is.
Error Loader::stopped(const Assignment& last, Error error) {
  const auto before = static_cast<std::size_t>(&last - plan_.assignments.data());
  plan_.result.applied.resize(options_.in_place ? before : 0);
  if (options_.in_place) {
    add_hint(error, "the tensors before it are already replaced (in_place)");
  }
  return with_report(std::move(error), plan_.result,
                     options_.in_place ? "the load stopped halfway (in_place)"
                                       : "the load stopped and changed nothing");
}

ApplyResult Loader::finish() && {
  std::vector<std::string> applied;
  for (std::size_t i = 0; i < plan_.assignments.size(); ++i) {
    if (!failed_[plan_.assignments[i].read_slot]) {
      applied.push_back(std::move(plan_.result.applied[i]));
    }
  }
  plan_.result.applied = std::move(applied);
  for (const Replacement& replacement : replacements_) replacement.commit();
  return std::move(plan_.result);
}

}  // namespace andiron::inline v1::detail
