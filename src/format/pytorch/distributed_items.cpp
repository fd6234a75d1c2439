// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_distributed_test.cpp
#include "src/format/pytorch/distributed_items.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/codec/zip/directory.h"
#include "src/codec/zip/end.h"
#include "src/core/try.h"
#include "src/format/pytorch/torch_tensor.h"
#include "src/format/pytorch/zip_file.h"

namespace andiron::inline v1::detail {
namespace {

// The records that end a zip archive lie in these, and mostly its directory too.
constexpr std::uint64_t item_tail_bytes = 66 << 10;
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
    std::unique_lock lock(mutex_);
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
  mutable std::mutex mutex_;
  mutable std::optional<Opened> opened_;
};

}  // namespace

Result<Bytes> ItemSource::fetched(std::uint64_t begin, std::uint64_t end) const {
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(end - begin));
  ANDIRON_TRY(place_.file->read_at(place_.offset + begin, bytes.writable()));
  return bytes;
}

Result<std::shared_ptr<ItemSource>> ItemSource::fetch(const ItemPlace& place,
                                                      const Limits& limits) {
  std::shared_ptr<ItemSource> item(new ItemSource(place));
  if (place.file->in_memory()) return item;
  const std::uint64_t size = place.bytes;
  ANDIRON_ASSIGN(item->tail_, item->fetched(size - std::min(size, item_tail_bytes), size));
  if (item->tail_.size() == size) return item;
  ANDIRON_ASSIGN(const ZipEnd end, read_zip_end(*item, size, limits));
  ANDIRON_TRY(item->extend_tail(end.offset));
  ANDIRON_ASSIGN(const ZipDirectory directory, ZipDirectory::read(*item, end, ZipNames::any_case));
  const DataRange data = range_of_data(directory, end);
  ANDIRON_TRY(item->extend_tail(data.end));
  if (data.begin <= most_end_bytes) {
    ANDIRON_ASSIGN(item->head_, item->fetched(0, data.begin));
  }
  return item;
}

Status ItemSource::extend_tail(std::uint64_t begin) {
  const bool is_too_much = place_.bytes - begin > most_end_bytes;
  if (begin >= place_.bytes - tail_.size() || is_too_much) return {};
  ANDIRON_ASSIGN(tail_, fetched(begin, place_.bytes));
  return {};
}

Status ItemSource::fetch_rest() {
  if (place_.file->in_memory()) return {};
  ANDIRON_ASSIGN(tail_, fetched(0, place_.bytes));
  head_ = {};
  return {};
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
  std::vector<std::string> notes;
  return read_zip_file(zip, content, Storage::no_file, options, budget, notes);
}

ByteSourcePtr piece_source(ItemPlace place, DType dtype, Shape shape, std::uint64_t bytes,
                           OpenOptions options) {
  return std::make_shared<PieceSource>(std::move(place), dtype, std::move(shape), bytes,
                                       std::move(options));
}

}  // namespace andiron::inline v1::detail
