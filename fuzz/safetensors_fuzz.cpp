// SPDX-License-Identifier: MIT OR Apache-2.0
// A whole SafeTensors file: both readers agree, every tensor can be read and transformed, and what
// is written again is read back the same.
#include <algorithm>
#include <cstring>
#include <vector>

#include "andiron/open.h"
#include "andiron/safetensors_view.h"
#include "andiron/write.h"
#include "fuzz/property.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

// Beyond these an input only takes time.
constexpr std::size_t max_tensors_read = 64;
constexpr std::uint64_t max_bytes_transformed = 4096;

// The same bytes from a source that lends nothing, as a file read by copies.
class CopyingSource final : public ByteSource {
 public:
  explicit CopyingSource(std::span<const std::byte> data) : data_(data) {}
  std::uint64_t size() const noexcept override { return data_.size(); }
  const std::string& name() const noexcept override { return name_; }

 private:
  Status do_read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (!out.empty()) std::memcpy(out.data(), data_.data() + offset, out.size());
    return {};
  }
  std::span<const std::byte> data_;
  std::string name_ = "copied";
};

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool same_shape(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

Result<Archive> open_as(ByteSourcePtr source, Strictness strictness) {
  OpenOptions options;
  options.strictness = strictness;
  options.format = Format::safetensors;
  return open(std::move(source), options);
}

// What the freestanding reader accepts beyond the hosted one at its standard strictness: it keeps
// no metadata and has no limits to pass.
bool is_hosted_rule(const Error& error) {
  return (error.code == ErrorCode::duplicate_key && error.tensor.empty()) ||
         error.code == ErrorCode::limit_exceeded;
}

void compare_with_view(const Archive& archive, const SafetensorsView& view) {
  ANDIRON_HOLDS(archive.size() == view.tensor_count());
  SafetensorsHeader header = view.header();
  SafetensorsEntry entry;
  std::size_t index = 0;
  for (auto item = header.next(entry); item != SafetensorsHeader::Item::end;
       item = header.next(entry)) {
    ANDIRON_HOLDS(item != SafetensorsHeader::Item::error);
    if (item != SafetensorsHeader::Item::tensor) continue;
    const TensorInfo info = archive.info(index);
    ANDIRON_HOLDS(entry.name.equals(info.name));
    ANDIRON_HOLDS(entry.dtype_name.equals(info.file_dtype));
    ANDIRON_HOLDS(entry.dtype == info.dtype);
    ANDIRON_HOLDS(same_shape(entry.dims(), info.shape));
    ANDIRON_HOLDS(entry.end - entry.begin == info.byte_size);
    if (index < max_tensors_read) {
      SafetensorsEntry found;
      ANDIRON_HOLDS(view.find(info.name, found).ok());
      ANDIRON_HOLDS(found.header_offset == entry.header_offset);
      ANDIRON_HOLDS(same(view.data(entry), must(archive.snapshot(index).borrow()).bytes().span()));
    }
    ++index;
  }
  ANDIRON_HOLDS(index == archive.size());
}

// Both snapshots describe the same tensor, from memory that can be lent and from copies.
void read_both(const TensorSnapshot& lent, const TensorSnapshot& copied) {
  const Tensor a = must(lent.read());
  const Tensor b = must(copied.read());
  ANDIRON_HOLDS(a.byte_size() == lent.byte_size());
  ANDIRON_HOLDS(same(a.bytes().span(), b.bytes().span()));
}

// Applies one operation to both snapshots; they succeed or fail alike.
template <class Operation>
void transform(const TensorSnapshot& lent, const TensorSnapshot& copied, bool must_succeed,
               Operation operation) {
  const Result<TensorSnapshot> a = operation(lent);
  const Result<TensorSnapshot> b = operation(copied);
  ANDIRON_HOLDS(a.ok() == b.ok());
  if (must_succeed) ANDIRON_HOLDS(a.ok());
  if (a && a->byte_size() <= 8 * max_bytes_transformed) read_both(*a, *b);
}

void transform_tensor(const TensorSnapshot& lent, const TensorSnapshot& copied) {
  const DType dtype = lent.dtype();
  const std::size_t rank = lent.shape().rank();
  // The dimensions of a tensor without elements may overflow when they come in another order.
  const bool plain = !is_opaque(dtype) && !is_sub_byte(dtype) && lent.byte_size() != 0;
  if (rank != 0) {
    transform(lent, copied, plain,
              [&](const TensorSnapshot& t) { return t.transpose(0, rank - 1); });
    transform(lent, copied, plain, [](const TensorSnapshot& t) { return t.slice(0, 1, {}, 2); });
    transform(lent, copied, plain,
              [&](const TensorSnapshot& t) { return t.slice(rank - 1, {}, {}, -1); });
    transform(lent, copied, plain, [&](const TensorSnapshot& t) -> Result<TensorSnapshot> {
      Result<TensorSnapshot> turned = t.transpose(0, rank - 1);
      if (!turned) return turned;
      return turned->slice(0, -3, -1);
    });
  }
  const DType other = is_complex(dtype) ? DType::c128 : DType::f32;
  transform(lent, copied, plain, [&](const TensorSnapshot& t) { return t.cast(other); });
  const TensorSnapshot pair[] = {lent, lent};
  const TensorSnapshot copied_pair[] = {copied, copied};
  const Result<TensorSnapshot> stacked = TensorSnapshot::stack(pair, rank);
  const Result<TensorSnapshot> copied_stack = TensorSnapshot::stack(copied_pair, rank);
  ANDIRON_HOLDS(stacked.ok() == copied_stack.ok());
  if (stacked) read_both(*stacked, *copied_stack);
}

void read_tensors(const Archive& lent, const Archive& copied, std::span<const std::byte> file) {
  ANDIRON_HOLDS(lent.size() == copied.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < lent.size(); ++i) {
    const TensorInfo info = lent.info(i);
    ANDIRON_HOLDS(lent.find(info.name) == i);
    total += info.byte_size;
    if (i >= max_tensors_read) continue;
    const TensorSnapshot snapshot = lent.snapshot(i);
    ANDIRON_HOLDS(snapshot.full_path() == info.name);
    ANDIRON_HOLDS(info.offset.has_value() && *info.offset <= file.size());
    const Tensor tensor = must(snapshot.read());
    ANDIRON_HOLDS(same(tensor.bytes().span(), file.subspan(*info.offset, info.byte_size)));
    if (info.byte_size <= max_bytes_transformed) transform_tensor(snapshot, copied.snapshot(i));
  }
  ANDIRON_HOLDS(total <= file.size());
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// The writer refuses what other readers would trip over.
bool may_be_refused(const Archive& archive) {
  for (const auto& [key, value] : archive.metadata()) {
    if (has_nul(key) || has_nul(value)) return true;
  }
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorInfo info = archive.info(i);
    if (has_nul(info.name) || info.dtype == DType::raw) return true;
  }
  return false;
}

void write_and_read_back(const Archive& archive) {
  const Result<Bytes> written = write_to_memory(archive);
  if (!written) {
    ANDIRON_HOLDS(may_be_refused(archive));
    return;
  }
  const Archive again = must(open_as(memory_source(*written), Strictness::standard));
  ANDIRON_HOLDS(again.size() == archive.size());
  ANDIRON_HOLDS(again.metadata() == archive.metadata());
  ANDIRON_HOLDS(again.aliases() == archive.aliases());
  for (std::size_t i = 0; i < std::min(archive.size(), max_tensors_read); ++i) {
    const TensorInfo before = archive.info(i);
    const auto at = again.find(before.name);
    ANDIRON_HOLDS(at.has_value());
    const TensorInfo after = again.info(*at);
    ANDIRON_HOLDS(before.dtype == after.dtype);
    ANDIRON_HOLDS(before.file_dtype == after.file_dtype);
    ANDIRON_HOLDS(same_shape(before.shape, after.shape));
    ANDIRON_HOLDS(same(must(archive.snapshot(i).read()).bytes().span(),
                       must(again.snapshot(*at).read()).bytes().span()));
  }
  ANDIRON_HOLDS(same(must(write_to_memory(again)).span(), written->span()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const ByteSourcePtr source = memory_source(Bytes::borrow(file));
  const Result<Archive> lenient = open_as(source, Strictness::lenient);
  const Result<Archive> standard = open_as(source, Strictness::standard);
  const Result<Archive> strict = open_as(source, Strictness::strict);

  // Each strictness refuses what the one before it does, and more.
  if (standard) ANDIRON_HOLDS(lenient.ok());
  if (strict) ANDIRON_HOLDS(standard.ok());
  if (standard && !strict) ANDIRON_HOLDS(strict.error().code == ErrorCode::unsupported_dtype);

  SafetensorsView view;
  ViewStatus status = SafetensorsView::open(file, view);
  if (status.ok()) {
    std::vector<SafetensorsScratch> scratch(view.tensor_count());
    status = view.check_layout(scratch);
  }
  ANDIRON_HOLDS(status.ok() || status.offset <= file.size());
  if (standard) {
    ANDIRON_HOLDS(status.ok());
    compare_with_view(*standard, view);
    // What is SafeTensors is known by its content.
    ANDIRON_HOLDS(must(open(Bytes::borrow(file))).size() == standard->size());
  } else {
    ANDIRON_HOLDS(!status.ok() || is_hosted_rule(standard.error()));
    ANDIRON_HOLDS(!standard.error().to_string().empty());
  }

  if (lenient) {
    const auto copying = std::make_shared<CopyingSource>(file);
    const Archive copied = must(open_as(copying, Strictness::lenient));
    read_tensors(*lenient, copied, file);
    write_and_read_back(*lenient);
  }
  return 0;
}
