// SPDX-License-Identifier: MIT OR Apache-2.0
// The pickle machine: the first two bytes choose the amount of padding before the rest. Reading in
// memory and in windows gives the same graph or the same error, and every value in the graph can
// be accessed.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "fuzz/archive_property.h"
#include "fuzz/property.h"
#include "src/codec/pickle/machine.h"

using namespace andiron;
using namespace andiron::fuzz;
using detail::PickleBlob;
using detail::PickleGraph;
using detail::PickleItems;
using detail::PickleKind;
using detail::PickleObject;
using detail::PickleValue;
using detail::read_pickle;

namespace {

// Walks two graphs side by side, each container once, without recursion.
class SameGraph {
 public:
  SameGraph(const PickleGraph& a, const PickleGraph& b, std::span<const std::byte> source)
      : a_(a), b_(b), source_(source), seen_(a.container_count()) {}

  void check() {
    ANDIRON_HOLDS(a_.root() == b_.root() && a_.end() == b_.end());
    ANDIRON_HOLDS(a_.has_leftovers() == b_.has_leftovers());
    ANDIRON_HOLDS(a_.container_count() == b_.container_count());
    waiting_.push_back(a_.root());
    while (!waiting_.empty()) {
      const PickleValue value = waiting_.back();
      waiting_.pop_back();
      visit(value);
    }
  }

 private:
  void visit(PickleValue value) {
    switch (value.kind) {
      case PickleKind::none:
        break;
      case PickleKind::boolean:
        ANDIRON_HOLDS(value.index <= 1);
        break;
      case PickleKind::integer:
        ANDIRON_HOLDS(a_.integer(value) == b_.integer(value));
        break;
      case PickleKind::real:
        ANDIRON_HOLDS(std::bit_cast<std::uint64_t>(a_.real(value)) ==
                      std::bit_cast<std::uint64_t>(b_.real(value)));
        break;
      case PickleKind::text:
      case PickleKind::old_text:
      case PickleKind::bytes:
      case PickleKind::big_integer:
        blob(a_.blob(value), b_.blob(value));
        break;
      case PickleKind::global:
        ANDIRON_HOLDS(a_.global(value).module == b_.global(value).module);
        ANDIRON_HOLDS(a_.global(value).name == b_.global(value).name);
        break;
      case PickleKind::persistent:
        waiting_.push_back(a_.persistent_id(value));
        ANDIRON_HOLDS(a_.persistent_id(value) == b_.persistent_id(value));
        break;
      case PickleKind::tuple:
        ANDIRON_HOLDS(std::ranges::equal(a_.tuple(value), a_.items(value)));
        [[fallthrough]];
      case PickleKind::list:
      case PickleKind::set:
      case PickleKind::frozen_set:
        if (is_new(value)) items(a_.items(value), b_.items(value));
        break;
      case PickleKind::dict:
        if (is_new(value)) items(a_.pairs(value), b_.pairs(value));
        break;
      case PickleKind::object:
        if (is_new(value)) object(value);
        break;
    }
  }

  bool is_new(PickleValue value) {
    const std::size_t number = a_.container_number(value);
    ANDIRON_HOLDS(number < seen_.size() && number == b_.container_number(value));
    const bool was_seen = seen_[number];
    seen_[number] = true;
    return !was_seen;
  }

  void object(PickleValue value) {
    const PickleObject& a = a_.object(value);
    const PickleObject& b = b_.object(value);
    ANDIRON_HOLDS(a.callable == b.callable && a.args == b.args && a.kwargs == b.kwargs);
    waiting_.insert(waiting_.end(), {a.callable, a.args, a.kwargs});
    items(a_.items(value), b_.items(value));
    items(a_.pairs(value), b_.pairs(value));
    items(a_.states(value), b_.states(value));
  }

  void items(PickleItems a, PickleItems b) {
    ANDIRON_HOLDS(a.size() == b.size());
    std::uint32_t count = 0;
    auto other = b.begin();
    for (const PickleValue item : a) {
      ANDIRON_HOLDS(item == *other++);
      waiting_.push_back(item);
      ++count;
    }
    ANDIRON_HOLDS(count == a.size() && other == b.end());
  }

  void blob(const PickleBlob& a, const PickleBlob& b) {
    ANDIRON_HOLDS(a.size == b.size && a.offset == b.offset && a.view() == b.view());
    ANDIRON_HOLDS((a.data == nullptr) == (a.size > detail::kept_pickle_bytes));
    if (a.offset == PickleBlob::decoded) return;
    ANDIRON_HOLDS(a.offset <= source_.size() && a.size <= source_.size() - a.offset);
    if (a.data == nullptr) return;
    const char* there = reinterpret_cast<const char*>(source_.data()) + a.offset;
    ANDIRON_HOLDS(a.view() == std::string_view(there, static_cast<std::size_t>(a.size)));
  }

  const PickleGraph& a_;
  const PickleGraph& b_;
  std::span<const std::byte> source_;
  std::vector<bool> seen_;
  std::vector<PickleValue> waiting_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  // Filled up in front, so that windows end at any place of a short pickle.
  const std::size_t filling = data[0] % 2 == 0 ? 0 : 4096 - data[1];
  std::vector<std::byte> bytes(3);
  if (filling != 0) {
    bytes.push_back(std::byte{'('});
    bytes.resize(bytes.size() + filling, std::byte{'N'});
    bytes.push_back(std::byte{'1'});
  }
  const auto rest = std::as_bytes(std::span(data + 2, size - 2));
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  const std::uint64_t begin = 3;

  const ByteSourcePtr memory = memory_source(Bytes::borrow(bytes), "copied");
  const CopyingSource windows(bytes);
  const auto whole = read_pickle(*memory, begin, bytes.size(), {});
  const auto in_parts = read_pickle(windows, begin, bytes.size(), {});
  ANDIRON_HOLDS(whole.ok() == in_parts.ok());
  if (!whole) {
    ANDIRON_HOLDS(whole.error().to_string() == in_parts.error().to_string());
    ANDIRON_HOLDS(whole.error().code == ErrorCode::bad_pickle ||
                  whole.error().code == ErrorCode::unsupported ||
                  whole.error().code == ErrorCode::limit_exceeded);
    return 0;
  }
  ANDIRON_HOLDS(whole->end() <= bytes.size() && bytes[whole->end() - 1] == std::byte{'.'});
  SameGraph(*whole, *in_parts, bytes).check();
  return 0;
}
