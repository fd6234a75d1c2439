// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_resolver_test.cpp
#include "src/format/pytorch/storage_resolver.h"

#include <bit>

#include "src/core/little_endian.h"
#include "src/core/text/in_quotes.h"
#include "src/core/try.h"
#include "src/format/pytorch/legacy.h"
#include "src/format/pytorch/python_text.h"

namespace andiron::inline v1::detail {
namespace {

// PyTorch's keys are numbers.
constexpr std::size_t longest_key = 1024;

std::string storage_text(std::string_view key) { return "storage " + in_quotes(key); }

}  // namespace

bool append_storage_key(std::string& out, const PickleGraph& graph, PickleValue key) {
  const bool is_text = key.kind == PickleKind::text || key.kind == PickleKind::old_text;
  if (!is_text && key.kind != PickleKind::integer) return false;
  if (is_text && graph.blob(key).size > longest_key) return false;
  return append_python_str(out, graph, key);
}

Error missing_storage(std::string_view kind, std::string_view key, std::string file) {
  return Error{.code = ErrorCode::missing_storage,
               .message = "the file has no data for a storage",
               .file = std::move(file),
               .found = "no " + std::string(kind) + " " + in_quotes(key),
               .hint = "the file may be damaged, or saved without its data"};
}

Status check_storage_size(const StorageId& id, std::uint64_t bytes, const std::string& file) {
  if (bytes / id.type->bytes == id.elements) return {};
  return Error{
      .code = ErrorCode::size_mismatch,
      .message = "a storage does not have the size that the pickle says",
      .file = file,
      .found = std::to_string(bytes) + " bytes for " + storage_text(id.key),
      .expected = std::to_string(id.elements) + " elements of " + std::string(id.type->torch_name)};
}

const ElementType* StorageResolver::class_elements(PickleValue storage_class) {
  if (storage_class.kind != PickleKind::global) return nullptr;
  if (last_elements_ == nullptr || storage_class != last_class_) {
    last_class_ = storage_class;
    last_elements_ = storage_elements(content_.graph().global(storage_class).name);
  }
  return last_elements_;
}

// Most keys are text, which is left where it is.
Status StorageResolver::read_key(PickleValue value) {
  if (value.kind == PickleKind::text && content_.graph().blob(value).size <= longest_key) {
    id_.key = content_.graph().blob(value).view();
    return {};
  }
  key_.clear();
  if (!append_storage_key(key_, content_.graph(), value)) {
    return content_.bad("a storage key is neither short text nor a number");
  }
  id_.key = key_;
  return {};
}

Status StorageResolver::read_id(PickleValue value) {
  if (value.kind != PickleKind::tuple) {
    return content_.bad("a storage id is not a tuple");
  }
  const std::span<const PickleValue> items = content_.graph().tuple(value);
  if (items.size() < 5 || content_.text(items[0]) != "storage") {
    return content_.bad("a persistent id does not name a storage");
  }
  id_.type = class_elements(items[1]);
  if (id_.type == nullptr) {
    std::string name;
    append_python_str(name, content_.graph(), items[1]);
    return content_.bad("a storage of an unknown class", name);
  }
  ANDIRON_TRY(read_key(items[2]));
  id_.on_meta_device = content_.text(items[3]) == "meta";
  const auto elements = content_.size(items[4]);
  if (!elements) return content_.bad("a storage has no size", storage_text(id_.key));
  id_.elements = *elements;
  id_.view.reset();
  if (items.size() > 5 && items[5].kind != PickleKind::none) {
    const auto view = content_.tuple(items[5]);
    const auto offset = view && view->size() == 3 ? content_.size((*view)[1]) : std::nullopt;
    const auto size = offset ? content_.size((*view)[2]) : std::nullopt;
    if (!size) return content_.bad("a view of a storage has no offset or size");
    id_.view = {*offset, *size};
  }
  return {};
}

Status StorageResolver::resolve(PickleValue value, Storage& out) {
  if (content_.callable_of(value) == Callable::load_from_bytes) return embedded(value, out);
  // Some writers leave the id itself in place of what it names.
  const bool is_id = value.kind == PickleKind::tuple;
  if (value.kind != PickleKind::persistent && !is_id)
    return content_.bad("a tensor has no storage");
  ANDIRON_TRY(read_id(is_id ? value : content_.graph().persistent_id(value)));
  if (id_.on_meta_device) {
    out.type = id_.type;
    out.home = Storage::Home::nowhere;
    return {};
  }
  ANDIRON_TRY(finder_.find(id_, out));
  out.type = id_.type;
  out.bytes = id_.elements * id_.type->bytes;
  if (!id_.view) return {};
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  if (__builtin_mul_overflow(id_.view->offset, id_.type->bytes, &begin) ||
      __builtin_mul_overflow(id_.view->elements, id_.type->bytes, &size) || begin > out.bytes ||
      size > out.bytes - begin) {
    return content_.bad("a view extends past its storage", storage_text(id_.key));
  }
  out.offset += begin;
  out.bytes = size;
  return {};
}

Result<Storage> StorageResolver::numbers(PickleValue value, bool whole) {
  const auto list = content_.tuple(value);
  const std::pair identity(list ? content_.graph().container_number(value) : 0, whole);
  if (list) {
    const auto known = lists_.find(identity);
    if (known != lists_.end()) return known->second;
  }
  const std::span<const PickleValue> numbers = list ? *list : std::span(&value, 1);
  ANDIRON_ASSIGN(Bytes bytes, Bytes::allocate(numbers.size() * 8));
  std::byte* out = bytes.writable().data();
  for (const PickleValue number : numbers) {
    const auto real = content_.real(number);
    const auto integer = content_.integer(number);
    if (!real || (whole && !integer)) return content_.bad("a scale is not a number");
    store_u64(whole ? static_cast<std::uint64_t>(*integer) : std::bit_cast<std::uint64_t>(*real),
              out);
    out += 8;
  }
  const std::uint64_t size = bytes.size();
  Storage storage{memory_source(std::move(bytes), content_.source()->name()), 0, size,
                  torch_dtype(whole ? "int64" : "float64")};
  return list ? lists_.emplace(identity, std::move(storage)).first->second : storage;
}

Status StorageResolver::embedded(PickleValue object, Storage& out) {
  const auto args = content_.args(object);
  if (args.empty()) return content_.bad("a storage has no bytes");
  ANDIRON_ASSIGN(const auto bytes, content_.bytes(args[0], limits_));
  if (!bytes) return content_.bad("a storage has no bytes");
  // Bytes that are decoded are so once, so that their place tells them.
  const auto place = std::make_tuple(bytes->source.get(), bytes->offset, bytes->bytes);
  auto known = embedded_.find(place);
  if (known == embedded_.end()) {
    ANDIRON_ASSIGN(Storage storage, read_legacy_storage(*bytes, limits_));
    // Such streams are little-endian, whatever they lie in.
    storage.home = Storage::Home::pickle;
    known = embedded_.emplace(place, std::move(storage)).first;
  }
  out = known->second;
  return {};
}

}  // namespace andiron::inline v1::detail
