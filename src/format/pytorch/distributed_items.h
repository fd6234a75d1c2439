// SPDX-License-Identifier: MIT OR Apache-2.0
// The items of a distributed checkpoint: archives of torch.save, one after the other in a file.
#pragma once

#include <cstdint>
#include <memory>

#include "andiron/byte_source.h"
#include "andiron/error.h"
#include "andiron/open.h"
#include "andiron/shape.h"
#include "src/core/memory_budget.h"
#include "src/format/pytorch/pickled_file.h"

namespace andiron::inline v1::detail {

// Where an item lies. REQUIRES: within the file.
struct ItemPlace {
  ByteSourcePtr file;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

// The bytes of an item. Its ends, where all but the data of tensors lies, are fetched before it is
// opened, so that the archive is opened from memory.
class ItemSource final : public ByteSource {
 public:
  static Result<std::shared_ptr<ItemSource>> fetch(const ItemPlace& place, const Limits& limits);

  std::uint64_t size() const noexcept override { return place_.bytes; }
  const std::string& name() const noexcept override { return place_.file->name(); }
  bool can_view() const noexcept override { return place_.file->can_view(); }
  bool in_memory() const noexcept override { return place_.file->in_memory(); }

  // Fetches what lies between the ends. Not while others read.
  Status fetch_rest();
  // Frees what was fetched. Not while others read.
  void release_ends() noexcept;

 private:
  explicit ItemSource(const ItemPlace& place) : place_(place) {}
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override;
  // All before `head_end` and from `tail_begin` on.
  struct Ends {
    std::uint64_t head_end;
    std::uint64_t tail_begin;
  };
  // What the tail that was fetched says: a longer one that is to be looked at again, or both ends.
  Result<Ends> needed_ends(const Limits& limits) const;
  Result<Bytes> do_view(std::uint64_t offset, std::uint64_t count) const override;

  ItemPlace place_;
  Bytes head_;
  Bytes tail_;
};

Result<std::shared_ptr<PickledFile>> open_item(const ByteSourcePtr& item,
                                               const OpenOptions& options, MemoryBudget& budget);

// The data of a tensor of this dtype and shape, the only one in an item. The item is opened when
// they are first read; ShapeMismatch if it holds another tensor.
ByteSourcePtr piece_source(ItemPlace place, DType dtype, Shape shape, std::uint64_t bytes,
                           OpenOptions options);

}  // namespace andiron::inline v1::detail
