// SPDX-License-Identifier: MIT OR Apache-2.0
// For each tensor of the file: find its field, check it, point the field at the data or copy the
// data into the arena. Tested by tests/freestanding/bind_test.cpp
#include "andiron/bind.h"

#include "src/freestanding/copy_elements.h"
#include "src/freestanding/decimal.h"

namespace andiron::inline v1 {
namespace {

using detail::FieldWalk;
using detail::ViewModel;
using detail::ViewSlot;

// What a field points at whose tensor does not fit, until the end of the pass.
constexpr char misfit = 0;

// A name as plain text. Escapes and chunks are rare, and paths are short.
class PlainName {
 public:
  // False if it is too long to be decoded here.
  bool set(const JsonText& name) noexcept { return set(name, name.has_escapes); }
  bool set(const CborText& name) noexcept { return set(name, name.is_chunked); }
  std::string_view text() const noexcept { return text_; }

 private:
  template <class Name>
  bool set(const Name& name, bool is_coded) noexcept {
    text_ = name.raw;
    if (!is_coded) return true;
    if (name.raw.size() > sizeof decoded_) return false;
    text_ = {decoded_, name.decode(decoded_)};
    return true;
  }

  std::string_view text_;
  char decoded_[2 * max_path_bytes];
};

struct Found {
  std::string_view name;
  DType dtype;
  std::span<const std::uint64_t> shape;
  std::span<const std::byte> data;
  std::uint64_t offset;
};

bool booleans_are_valid(std::span<const std::byte> data) noexcept {
  for (const std::byte b : data) {
    if (std::to_integer<unsigned>(b) > 1) return false;
  }
  return true;
}

class Binder {
 public:
  Binder(const ViewModel& model, const BindOptions& options) noexcept
      : model_(model), options_(options) {
    unbind();
  }

  void add(const Found& found) noexcept {
    found_ = &found;
    is_used_ = false;
    FieldWalk one([](void* binder, const FieldWalk&,
                     const ViewSlot& slot) { static_cast<Binder*>(binder)->bind(slot); },
                  this, found.name);
    model_.walk(model_.model, one);
    if (!is_used_) ++result_.unused;
  }

  void fail(const ViewStatus& status) noexcept {
    if (result_.ok()) static_cast<ViewStatus&>(result_) = status;
  }

  BindResult finish() noexcept {
    FieldWalk all([](void* binder, const FieldWalk& walk,
                     const ViewSlot& slot) { static_cast<Binder*>(binder)->count(walk, slot); },
                  this);
    model_.walk(model_.model, all);
    if (!result_.ok()) {
      result_.bound = 0;
      unbind();
    }
    return result_;
  }

 private:
  void unbind() noexcept {
    FieldWalk all([](void*, const FieldWalk&, const ViewSlot& slot) { *slot.data = nullptr; },
                  this);
    model_.walk(model_.model, all);
  }

  void bind(const ViewSlot& slot) noexcept {
    is_used_ = true;
    if (*slot.data != nullptr)
      return refuse(slot, ErrorCode::duplicate_key, "the name comes twice");
    *slot.data = &misfit;
    if (!has_shape_of(slot)) {
      return refuse(slot, ErrorCode::shape_mismatch, "the shape is another");
    }
    const bool is_widened =
        slot.dtype == DType::f32 && (found_->dtype == DType::f16 || found_->dtype == DType::bf16);
    if (found_->dtype != slot.dtype && !is_widened) {
      return refuse(slot, ErrorCode::dtype_mismatch, "the dtype is another");
    }
    if (slot.dtype == DType::boolean && !booleans_are_valid(found_->data)) {
      return refuse(slot, ErrorCode::value_mismatch, "a boolean is neither 0 nor 1");
    }
    const std::size_t width = bit_width(slot.dtype) / 8;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(found_->data.data()) % width == 0;
    const bool is_copied = is_widened || slot.is_transposed || !is_aligned;
    const void* data = found_->data.data();
    if (is_copied && !found_->data.empty() && !copy(slot, width, data)) return;
    *slot.data = data;
    if (slot.any != nullptr) keep_shape(*slot.any);
  }

  bool has_shape_of(const ViewSlot& slot) const noexcept {
    if (slot.any != nullptr) return found_->shape.size() <= max_view_rank;
    if (found_->shape.size() != slot.rank) return false;
    for (std::size_t i = 0; i < slot.rank; ++i) {
      if (found_->shape[i] != slot.dims[slot.is_transposed ? slot.rank - 1 - i : i]) return false;
    }
    return true;
  }

  void keep_shape(detail::AnyShape& any) const noexcept {
    any.rank = found_->shape.size();
    for (std::size_t i = 0; i < any.rank; ++i) any.dims[i] = found_->shape[i];
  }

  // Makes the elements of a field in the arena. False, once that is noted, if it has no room.
  bool copy(const ViewSlot& slot, std::size_t width, const void*& copied) noexcept {
    const std::size_t elements = found_->data.size() / (bit_width(found_->dtype) / 8);
    const auto address = reinterpret_cast<std::uintptr_t>(options_.arena.data());
    const std::uint64_t begin =
        ((address + result_.arena_bytes + width - 1) & ~(std::uint64_t{width} - 1)) - address;
    const std::uint64_t end = begin + std::uint64_t{elements} * width;
    result_.arena_bytes = end;
    if (end > options_.arena.size()) {
      const bool is_given = !options_.arena.empty();
      const char* what = is_given                      ? "the arena is too small"
                         : slot.is_transposed          ? "a transposed field needs an arena"
                         : found_->dtype != slot.dtype ? "a wider type needs an arena"
                                                       : "misaligned data needs an arena";
      const bool is_misaligned = !slot.is_transposed && found_->dtype == slot.dtype;
      note(slot, is_misaligned && !is_given ? ErrorCode::misaligned : ErrorCode::out_of_memory,
           what);
      return false;
    }
    std::byte* const out = options_.arena.data() + static_cast<std::size_t>(begin);
    const std::size_t rows = slot.is_transposed ? static_cast<std::size_t>(found_->shape[0]) : 1;
    detail::copy_elements(found_->data.data(), found_->dtype, found_->dtype != slot.dtype, rows,
                          elements / rows, out);
    copied = out;
    return true;
  }

  void refuse(const ViewSlot& slot, ErrorCode code, const char* what) noexcept {
    ++result_.misfits;
    note(slot, code, what);
  }

  // The first error stays.
  void note(const ViewSlot& slot, ErrorCode code, const char* what) noexcept {
    if (!result_.ok()) return;
    static_cast<ViewStatus&>(result_) = {code, what, found_->offset};
    set_path(found_->name);
    result_.found_dtype = found_->dtype;
    result_.expected_dtype = slot.dtype;
    result_.found_rank = static_cast<std::uint8_t>(found_->shape.size());
    for (std::size_t i = 0; i < found_->shape.size() && i < max_view_rank; ++i) {
      result_.found_shape[i] = found_->shape[i];
    }
    if (slot.any != nullptr) return;
    result_.expected_rank = static_cast<std::uint8_t>(slot.rank);
    for (std::size_t i = 0; i < slot.rank; ++i) {
      result_.expected_shape[i] = slot.dims[slot.is_transposed ? slot.rank - 1 - i : i];
    }
  }

  void count(const FieldWalk& walk, const ViewSlot& slot) noexcept {
    if (*slot.data == &misfit) return;
    if (*slot.data != nullptr) {
      ++result_.bound;
      return;
    }
    ++result_.missing;
    if (options_.allow_partial || !result_.ok()) return;
    static_cast<ViewStatus&>(result_) = {ErrorCode::missing_tensor, "the file does not have it", 0};
    set_path(walk.path());
    result_.expected_dtype = slot.dtype;
  }

  void set_path(std::string_view path) noexcept {
    std::size_t size = path.size() < max_path_bytes ? path.size() : max_path_bytes;
    __builtin_memcpy(result_.path, path.data(), size);
    result_.path[size] = '\0';
  }

  const ViewModel& model_;
  const BindOptions& options_;
  const Found* found_ = nullptr;
  bool is_used_ = false;
  BindResult result_;
};

template <class Entry, class View>
BindResult bind_entries(const ViewModel& model, const View& file,
                        const BindOptions& options) noexcept {
  Binder binder(model, options);
  auto header = file.header();
  using Item = typename decltype(header)::Item;
  Entry entry;
  PlainName name;
  for (Item item = header.next(entry); item != Item::end; item = header.next(entry)) {
    if (item == Item::error) {  // open() has seen the header whole
      binder.fail(header.status());
      break;
    }
    if (item != Item::tensor) continue;
    if (!name.set(entry.name)) {
      binder.fail(
          {ErrorCode::limit_exceeded, "a name with escapes is too long", entry.header_offset});
      break;
    }
    binder.add({name.text(), entry.dtype, entry.dims(), file.data(entry), entry.header_offset});
  }
  return binder.finish();
}

// Text in a buffer that may be too small for it.
class BoundedText {
 public:
  explicit BoundedText(std::span<char> out) noexcept : out_(out) {}

  void add(std::string_view text) noexcept {
    for (const char c : text) {
      if (size_ < out_.size()) out_[size_++] = c;
    }
  }
  void add_tensor(std::string_view before, DType dtype, std::size_t rank,
                  const std::uint64_t* dims) noexcept {
    add(before);
    add(dtype_name(dtype));
    add(" [");
    for (std::size_t i = 0; i < rank; ++i) {
      if (i != 0) add(", ");
      if (i == max_view_rank) {
        add("...");
        break;
      }
      add(detail::Decimal(dims[i]).text());
    }
    add("]");
  }
  std::string_view text() const noexcept { return {out_.data(), size_}; }

 private:
  std::span<char> out_;
  std::size_t size_ = 0;
};

}  // namespace

std::string_view BindResult::describe(std::span<char> out) const noexcept {
  BoundedText text(out);
  if (ok()) return text.text();
  if (path[0] != '\0') {
    text.add(path);
    text.add(": ");
  }
  text.add(what);
  if (code == ErrorCode::shape_mismatch || code == ErrorCode::dtype_mismatch) {
    text.add_tensor(": found ", found_dtype, found_rank, found_shape);
    text.add_tensor(", expected ", expected_dtype, expected_rank, expected_shape);
  } else if (code == ErrorCode::out_of_memory || code == ErrorCode::misaligned) {
    text.add(": it needs ");
    text.add(detail::Decimal(arena_bytes).text());
    text.add(" bytes");
  }
  const std::uint32_t others = missing + misfits;
  if (others > 1) {
    text.add(" (missing: ");
    text.add(detail::Decimal(missing).text());
    text.add(", misfits: ");
    text.add(detail::Decimal(misfits).text());
    text.add(")");
  }
  return text.text();
}

BindResult detail::bind_model(const ViewModel& model, const SafetensorsView& file,
                              const BindOptions& options) noexcept {
  return bind_entries<SafetensorsEntry>(model, file, options);
}

BindResult detail::bind_model(const ViewModel& model, const BurnpackView& file,
                              const BindOptions& options) noexcept {
  return bind_entries<BurnpackEntry>(model, file, options);
}

}  // namespace andiron::inline v1
