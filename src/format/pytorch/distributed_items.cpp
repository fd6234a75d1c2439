// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_distributed_test.cpp
#include "src/format/pytorch/distributed_items.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/zip/directory.h"
#include "src/codec/zip/end.h"
#include "src/core/lock.h"
#include "src/core/try.h"
#include "src/format/pytorch/torch_tensor.h"
#include "src/format/pytorch/zip_file.h"

namespace andiron::inline v1::detail {
namespace {

// The records that end a zip archive lie in these, and mostly its directory too.
constexpr std::uint64_t item_tail_bytes = 66 << 10;
// The header of the first record of data, with its name and padding, lies in these.
constexpr std::uint64_t data_header_bytes = 4 << 10;
// What is larger is not held, but read when it is needed.
constexpr std::uint64_t most_end_bytes = 64 << 20;

// The records that hold the data of tensors, which lie together: from where to where.
struct DataRange {
  std::uint64_t begin;
  std::uint64_t end;
};

DataRange range_of_data(const ZipDirectory& directory, const ZipEnd& end) {
  const auto entries = directory.entries().items();
  const auto is_data = [](const ZipEntry& entry) {
    return entry.name.find("/data/") != std::string_view::npos;
  };
  DataRange range = {end.offset, 0};
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (!is_data(entries[i])) continue;
    range.begin = std::min(range.begin, entries[i].header_offset);
    range.end = std::max(range.end, directory.end_of(i));
  }
  return {range.begin, std::max(range.begin, range.end)};
}

class PieceSource : public ByteSource {
 public:
  PieceSource(ItemPlace place, DType dtype, Shape shape, std::uint64_t bytes, OpenOptions options)
      : place_(std::move(place)),
        dtype_(dtype),
        shape_(std::move(shape)),
        bytes_(bytes),
        options_(std::move(options)) {}

  std::uint64_t size() const noexcept override { return bytes_; }
  const std::string& name() const noexcept override { return place_.file->name(); }

 private:
  struct Opened {
    TensorSnapshot tensor;
    std::optional<std::uint64_t> offset;  // in the file, of a tensor that lies there as it is read
  };

  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    Lock lock(mutex_);
    // After a failure the next call tries again.
    if (!opened_) {
      ANDIRON_ASSIGN(const auto item, ItemSource::fetch(place_, options_.limits));
      ANDIRON_ASSIGN(Opened opened, parsed(item));
      if (opened.offset) {
        item->release_ends();
      } else {
        // Deflated, or strided: PyTorch writes no such pieces, so they may cost memory.
        ANDIRON_TRY(item->fetch_rest());
      }
      opened_ = std::move(opened);
    }
    lock.unlock();
    if (opened_->offset) return place_.file->read_at(*opened_->offset + offset, out);
    return opened_->tensor.read_part(offset, out);
  }

  Result<Opened> parsed(const ByteSourcePtr& item) const {
    MemoryBudget budget(place_.bytes, options_.limits, name());
    ANDIRON_ASSIGN(const auto file, open_item(item, options_, budget));
    ANDIRON_ASSIGN(const TorchTensor found, only_tensor(*file, options_, budget));
    ANDIRON_ASSIGN(TensorSnapshot tensor, found.snapshot(""));
    if (tensor.dtype() != dtype_ || tensor.shape() != shape_) {
      return Error{.code = ErrorCode::shape_mismatch,
                   .message = "a piece of a tensor does not match the metadata",
                   .file = name(),
                   .found = tensor.dtype_text() + " " + tensor.shape().to_string(),
                   .expected = std::string(dtype_name(dtype_)) + " " + shape_.to_string()};
    }
    const bool lies_plain = found.is_run() && found.storage.source == item;
    return Opened{std::move(tensor),
                  lies_plain ? std::optional(place_.offset + found.first_byte()) : std::nullopt};
  }

  ItemPlace place_;
  DType dtype_;
  Shape shape_;
  std::uint64_t bytes_;
  OpenOptions options_;
  mutable Mutex mutex_;
  mutable std::optional<Opened> opened_;
};

}  // namespace

Result<std::shared_ptr<ItemSource>> ItemSource::fetch(const ItemPlace& place,
                                                      const Limits& limits) {
  std::shared_ptr<ItemSource> item(new ItemSource(place));
  if (place.file->in_memory()) return item;
  const std::uint64_t size = place.bytes;
  Ends ends = {.head_end = 0, .tail_begin = size - std::min(size, item_tail_bytes)};
  while (item->tail_.size() < size - ends.tail_begin) {
    ANDIRON_ASSIGN(item->tail_, Bytes::allocate(size - ends.tail_begin));
    ANDIRON_TRY(place.file->read_at(place.offset + ends.tail_begin, item->tail_.writable()));
    if (ends.tail_begin == 0) return item;
    ANDIRON_ASSIGN(ends, item->needed_ends(limits));
  }
  if (ends.head_end > 0) {
    ANDIRON_ASSIGN(item->head_, Bytes::allocate(ends.head_end));
    ANDIRON_TRY(place.file->read_at(place.offset, item->head_.writable()));
  }
  return item;
}

Result<ItemSource::Ends> ItemSource::needed_ends(const Limits& limits) const {
  const std::uint64_t size = place_.bytes;
  const std::uint64_t tail_begin = size - tail_.size();
  const auto may_fetch_from = [&](std::uint64_t begin) { return size - begin <= most_end_bytes; };
  ANDIRON_ASSIGN(const ZipEnd end, read_zip_end(*this, size, limits));
  if (end.offset < tail_begin && may_fetch_from(end.offset)) return Ends{0, end.offset};
  ANDIRON_ASSIGN(const ZipDirectory directory, ZipDirectory::read(*this, end, ZipNames::any_case));
  const DataRange data = range_of_data(directory, end);
  const std::uint64_t head_end = std::min(data.begin + data_header_bytes, data.end);
  return Ends{.head_end = head_end <= most_end_bytes ? head_end : 0,
              .tail_begin = may_fetch_from(data.end) ? data.end : tail_begin};
}

Status ItemSource::fetch_rest() {
  if (place_.file->in_memory()) return {};
  ANDIRON_ASSIGN(tail_, Bytes::allocate(place_.bytes));
  head_ = {};
  return place_.file->read_at(place_.offset, tail_.writable());
}

void ItemSource::release_ends() noexcept {
  head_ = {};
  tail_ = {};
}

Status ItemSource::do_read_at(std::uint64_t offset, std::span<std::byte> out) const {
  const std::uint64_t end = offset + out.size();
  const std::uint64_t tail_begin = place_.bytes - tail_.size();
  if (end <= head_.size()) {
    std::copy_n(head_.span().begin() + static_cast<std::ptrdiff_t>(offset), out.size(),
                out.begin());
    return {};
  }
  if (offset >= tail_begin && !tail_.empty()) {
    std::copy_n(tail_.span().begin() + static_cast<std::ptrdiff_t>(offset - tail_begin), out.size(),
                out.begin());
    return {};
  }
  return place_.file->read_at(place_.offset + offset, out);
}

Result<Bytes> ItemSource::do_view(std::uint64_t offset, std::uint64_t count) const {
  return place_.file->view(place_.offset + offset, count);
}

Result<std::shared_ptr<PickledFile>> open_item(const ByteSourcePtr& item,
                                               const OpenOptions& options, MemoryBudget& budget) {
  ANDIRON_ASSIGN(const ZipReaderPtr zip, ZipReader::open(item, options.limits, ZipNames::any_case,
                                                         {}, zip_checksums(options.verify)));
  ANDIRON_ASSIGN(const TorchZip content, read_torch_zip(*zip));
  if (content.kind != TorchZip::Kind::torch_save) {
    return Error{.code = ErrorCode::bad_archive,
                 .message = "an item of the checkpoint is not a torch.save archive",
                 .file = item->name(),
                 .found = content.what};
  }
  std::vector<Message> notes;
  return read_zip_file(zip, content, Storage::no_file, options, budget, notes);
}

ByteSourcePtr piece_source(ItemPlace place, DType dtype, Shape shape, std::uint64_t bytes,
                           OpenOptions options) {
  return std::make_shared<PieceSource>(std::move(place), dtype, std::move(shape), bytes,
                                       std::move(options));
}

}  // namespace andiron::inline v1::detail
