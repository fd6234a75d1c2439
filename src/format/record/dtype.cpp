// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_reader_test.cpp and tests/format/record_writer_test.cpp
#include "src/format/record/dtype.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>

#include "andiron/burnpack_view.h"
#include "andiron/tensor.h"
#include "andiron/value.h"
#include "src/codec/file_json.h"
#include "src/core/try.h"
#include "src/format/formats.h"

namespace andiron::inline v1::detail {
namespace {

// The one of these whose name ends the path of a Rust type; the first where none does.
DType named_by(std::string_view rust_name, std::initializer_list<DType> dtypes) {
  const std::size_t path_end = rust_name.rfind(':');
  if (path_end != std::string_view::npos) rust_name.remove_prefix(path_end + 1);
  const auto known = std::find_if(dtypes.begin(), dtypes.end(),
                                  [&](DType dtype) { return dtype_name(dtype) == rust_name; });
  return known == dtypes.end() ? *dtypes.begin() : *known;
}

std::string_view text_of(const Value* value) {
  const std::string* text = value == nullptr ? nullptr : value->get<std::string>();
  return text == nullptr ? std::string_view() : *text;
}

// The payload of an enum's variant: {"NAME": payload}.
const Value* variant(const Value* value, std::string_view name) {
  const ValueDict* dict = value == nullptr ? nullptr : value->get<ValueDict>();
  return dict != nullptr && dict->size() == 1 ? value->find(name) : nullptr;
}

std::optional<std::uint64_t> number_of(const Value* value) {
  const std::uint64_t* number = value == nullptr ? nullptr : value->get<std::uint64_t>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

template <class Kind>
bool read_name(const Value* value, Kind last, Kind& kind) {
  const std::string_view text = text_of(value);
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i) {
    kind = static_cast<Kind>(i);
    if (name_of(kind) == text) return true;
  }
  return false;
}

bool read_store(const Value* value, QuantScheme& scheme) {
  if (text_of(value) == "Native") return scheme.store = QuantStore::native, true;
  if (text_of(value) == "U32") return scheme.store = QuantStore::packed_u32, true;
  for (const QuantStore store : {QuantStore::packed_native, QuantStore::packed_u32}) {
    const auto dim = number_of(variant(value, name_of(store)));
    if (!dim) continue;
    scheme.store = store;
    scheme.packed_dim = *dim;
    return true;
  }
  return false;
}

bool read_block(const Value* value, QuantBlock& block) {
  const Value* storage = value == nullptr ? nullptr : value->find("storage");
  const ValueList* sizes = storage == nullptr ? nullptr : storage->get<ValueList>();
  const auto rank = number_of(value == nullptr ? nullptr : value->find("len"));
  if (sizes == nullptr || sizes->size() != QuantBlock::max_rank || !rank ||
      *rank > QuantBlock::max_rank) {
    return false;
  }
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const auto size = number_of(&(*sizes)[i]);
    if (!size || *size > 0xff) return false;
    block.size[i] = static_cast<std::uint8_t>(*size);
  }
  block.rank = static_cast<std::uint8_t>(*rank);
  return true;
}

bool read_level(const Value* value, QuantParam param, QuantScheme& scheme) {
  if (text_of(value) == "Tensor") {
    scheme.has_tensor_scale = true;
    scheme.tensor_param = param;
    return true;
  }
  scheme.has_blocks = true;
  scheme.block_param = param;
  if (const Value* block = variant(value, "Block")) return read_block(block, scheme.block);
  const Value* both = variant(value, "BlockTensor");
  scheme.has_tensor_scale = true;
  return both != nullptr && read_block(both->find("block"), scheme.block) &&
         read_name(both->find("global"), QuantParam::ue4m3, scheme.tensor_param);
}

std::optional<QuantScheme> read_scheme(const Value& value) {
  QuantScheme scheme;
  QuantParam param = QuantParam::f32;
  if (!read_name(value.find("value"), QuantValue::q2s, scheme.value) ||
      !read_name(value.find("param"), QuantParam::ue4m3, param) ||
      !read_store(value.find("store"), scheme) || !read_level(value.find("level"), param, scheme) ||
      !read_name(value.find("mode"), QuantMode::lookup, scheme.mode)) {
    return std::nullopt;
  }
  return scheme;
}

Error unsupported(const TensorInfo& info, Message hint) {
  std::string found(dtype_name(info.dtype));
  if (is_opaque(info.dtype)) found += ":" + std::string(info.file_dtype);
  return Error{.code = ErrorCode::unsupported_dtype,
               .message = "Burn's records cannot store this dtype",
               .tensor = std::string(info.name),
               .found = std::move(found),
               .hint = std::move(hint)};
}

void write_block(MsgpackWriter& out, const QuantBlock& block) {
  out.begin_map(2);
  out.text("storage");
  out.begin_list(QuantBlock::max_rank);
  for (const std::uint8_t size : block.size) out.unsigned_integer(size);
  out.text("len");
  out.unsigned_integer(block.rank);
}

Status write_scheme(MsgpackWriter& out, const TensorInfo& info, const RecordRelease& release) {
  ANDIRON_ASSIGN(const QuantScheme scheme, quant_scheme_from_text(info.file_dtype));
  const bool is_packed = scheme.store != QuantStore::native;
  const bool is_u32 = scheme.store == QuantStore::packed_u32 && scheme.packed_dim == 0;
  if (scheme.level() == QuantLevel::block_and_tensor || scheme.mode == QuantMode::lookup ||
      (is_packed && !is_u32 && !release.has_packed_stores)) {
    return unsupported(info, "dequantize it, or write Burnpack");
  }
  out.begin_map(1);
  out.text("QFloat");
  out.begin_map(5);
  out.text("value");
  out.text(name_of(scheme.value));
  out.text("param");
  const QuantParam tensor_param = scheme.has_tensor_scale ? scheme.tensor_param : QuantParam::f32;
  out.text(name_of(scheme.has_blocks ? scheme.block_param : tensor_param));
  out.text("store");
  if (!is_packed) {
    out.text("Native");
  } else if (!release.has_packed_stores) {
    out.text("U32");
  } else {
    out.begin_map(1);
    out.text(name_of(scheme.store));
    out.unsigned_integer(scheme.packed_dim);
  }
  out.text("level");
  if (scheme.has_blocks) {
    out.begin_map(1);
    out.text("Block");
    write_block(out, scheme.block);
  } else {
    out.text("Tensor");
  }
  out.text("mode");
  out.text(name_of(scheme.mode));
  return {};
}

// Booleans by the name of their store.
void write_bool(MsgpackWriter& out, std::string_view store) {
  out.begin_map(1);
  out.text("Bool");
  out.text(store);
}

}  // namespace

RecordDType record_dtype(const Value& value) {
  if (const std::string* text = value.get<std::string>()) {
    return {*text == "Bool" ? DType::boolean : burnpack_dtype(*text), *text};
  }
  const std::string_view bool_store = text_of(variant(&value, "Bool"));
  if (bool_store == "Native") return {DType::boolean, "Bool(Native)"};
  if (bool_store == "U8") return {DType::boolean, "Bool(U8)"};
  if (bool_store == "U32") return {DType::raw, "Bool(U32)"};
  if (const Value* quantized = variant(&value, "QFloat")) {
    if (const auto scheme = read_scheme(*quantized)) {
      return {DType::qfloat, quant_scheme_text(*scheme)};
    }
  }
  return {DType::raw, to_file_json(value)};
}

DType record_float_type(std::string_view rust_name) {
  return named_by(rust_name, {DType::f32, DType::f16, DType::bf16, DType::f64});
}

DType record_int_type(std::string_view rust_name) {
  return named_by(rust_name, {DType::i32, DType::i8, DType::i16, DType::i64, DType::u8, DType::u16,
                              DType::u32, DType::u64});
}

RecordRelease RecordRelease::of(std::string_view version) {
  if (!version.starts_with("0.")) return {};
  unsigned minor = 0;
  const char* const end = version.data() + version.size();
  if (std::from_chars(version.data() + 2, end, minor).ec != std::errc()) return {};
  return {.has_bool_stores = minor >= 21, .has_packed_stores = minor >= 20};
}

Status write_record_dtype(MsgpackWriter& out, const TensorInfo& info, DType stored,
                          const RecordRelease& release) {
  switch (stored) {
    case DType::boolean:
      if (!release.has_bool_stores) {
        out.text("Bool");
      } else {
        write_bool(out, info.file_dtype == "Bool(U8)" ? "U8" : "Native");
      }
      return {};
    case DType::qfloat:
      return write_scheme(out, info, release);
    case DType::raw:
      if (info.file_dtype != "Bool(U32)" || !release.has_bool_stores) break;
      write_bool(out, "U32");
      return {};
    default:
      if (const std::string_view name = burnpack_dtype_name(stored); !name.empty()) {
        out.text(name);
        return {};
      }
  }
  return unsupported(info, cast_or_leave_out(info.dtype, {DType::f32}));
}

}  // namespace andiron::inline v1::detail
