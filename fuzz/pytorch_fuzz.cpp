// SPDX-License-Identifier: MIT OR Apache-2.0
// A PyTorch file in any of its containers: it is refused, or its tensors have distinct names, each
// can be read or gives a reason why not, and memory and copies give the same result.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "andiron/open.h"
#include "fuzz/archive_property.h"
#include "fuzz/damaged_tensor_property.h"
#include "tests/support/value_text.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

Result<Archive> opened(const ByteSourcePtr& source, Strictness strictness) {
  OpenOptions options;
  options.strictness = strictness;
  options.format = Format::pytorch;
  return open(source, options);
}

void read_tensor(const TensorSnapshot& lent, const TensorSnapshot& copied, const TensorInfo& info,
                 std::span<const std::byte> file) {
  const std::optional<Tensor> tensor = read_if_intact(lent, copied, info, file);
  if (!tensor) return;
  const Result<Tensor> borrowed = lent.borrow();
  ANDIRON_HOLDS(borrowed.ok() && same(tensor->bytes().span(), borrowed->bytes().span()));
}

// The numbers in the tree are those of tensors, each under the last step of its name. At the root
// and in lists there is no key: every name ends with nothing.
void hold_indices(const Archive& archive, const Value& value, std::string_view key = {}) {
  if (const auto* tensor = value.get<TensorIndex>()) {
    ANDIRON_HOLDS(tensor->index < archive.size());
    // Of long keys that found no room, the tree has this.
    ANDIRON_HOLDS(key == "..." || archive.info(tensor->index).name.ends_with(key));
  }
  if (const auto* list = value.get<ValueList>()) {
    for (const Value& item : *list) hold_indices(archive, item);
  }
  if (const auto* dict = value.get<ValueDict>()) {
    for (const auto& [name, item] : *dict) hold_indices(archive, item, name);
  }
}

void read_all(const Archive& lent, const Archive& copied, std::span<const std::byte> file) {
  const Limits limits;
  const std::uint64_t most = std::max<std::uint64_t>(16 * file.size(), limits.expanded_bytes);
  for (std::size_t i = 0; i < lent.size(); ++i) {
    const TensorInfo info = lent.info(i);
    // Of compressed files, what they inflate to counts.
    if (!lent.packaging().ends_with(".gz")) ANDIRON_HOLDS(info.byte_size <= most + (1 << 20));
    if (i < max_tensors_read && info.byte_size <= max_bytes_read)
      read_tensor(lent.snapshot(i), copied.snapshot(i), info, file);
  }
  const auto ties = lent.ties();
  ANDIRON_HOLDS(ties == copied.ties());
  for (std::size_t i = 0; i < ties.size(); ++i) ANDIRON_HOLDS(!ties[i] || *ties[i] < i);
  const Result<Value> tree = lent.value();
  const Result<Value> copied_tree = copied.value();
  ANDIRON_HOLDS(tree.ok() == copied_tree.ok());
  if (!tree) return;
  ANDIRON_HOLDS(same_value(*tree, *copied_tree));
  ANDIRON_HOLDS(test::text_bytes(*tree) <= 64 * file.size() + (1 << 21));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const ByteSourcePtr source = memory_source(Bytes::borrow(file));
  const auto [lenient, standard, strict] = open_strictly_and_not(source, opened);

  // Tensors that one of them leaves out have no number there.
  for (const Result<Archive>* archive : {&lenient, &standard, &strict}) {
    if (!*archive) continue;
    if (const Result<Value> tree = (*archive)->value()) hold_indices(**archive, *tree);
  }

  const Result<Archive> copied = open_copied(lenient, file, opened);
  if (lenient) read_all(*lenient, *copied, file);
  return 0;
}
