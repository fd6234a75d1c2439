// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_distributed_test.cpp
#include "src/format/pytorch/distributed_items.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/core/try.h"
#include "src/format/pytorch/torch_tensor.h"
#include "src/format/pytorch/zip_file.h"

namespace andiron::inline v1::detail {
namespace {

// The pickle of a tensor and the records before it take about a kilobyte.
constexpr std::uint64_t item_head_bytes = 4 << 10;
// A zip archive is recognized by what lies in these.
constexpr std::uint64_t item_tail_bytes = 66 << 10;

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
      ANDIRON_ASSIGN(const auto item, ItemSource::fetch(place_));
      ANDIRON_ASSIGN(opened_, parsed(item));
      item->release_ends();
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

Result<std::shared_ptr<ItemSource>> ItemSource::fetch(const ItemPlace& place) {
  std::shared_ptr<ItemSource> item(new ItemSource(place));
  if (place.file->in_memory()) return item;
  // A short item is read at once.
  const bool is_short = place.bytes <= item_head_bytes + item_tail_bytes;
  const std::uint64_t tail_size = is_short ? place.bytes : item_tail_bytes;
  ANDIRON_ASSIGN(item->tail_, Bytes::allocate(tail_size));
  ANDIRON_TRY(place.file->read_at(place.offset + place.bytes - tail_size, item->tail_.writable()));
  if (is_short) return item;
  ANDIRON_ASSIGN(item->head_, Bytes::allocate(item_head_bytes));
  ANDIRON_TRY(place.file->read_at(place.offset, item->head_.writable()));
  return item;
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
