// SPDX-License-Identifier: MIT OR Apache-2.0
// How each generation spells its types; the schemas of quantization are in
// src/freestanding/burnpack_view.cpp, which reads them. Tested by
// tests/format/burnpack_dtype_test.cpp
#include "src/format/burnpack/dtype.h"

#include <span>
#include <string>
#include <string_view>

#include "andiron/burnpack_view.h"
#include "andiron/tensor.h"
#include "src/core/try.h"
#include "src/format/formats.h"

namespace andiron::inline v1::detail {
namespace {

using Generation = BurnpackGeneration;

// Booleans of four bytes, which we have no type for. Raw bytes may have the name and another size.
bool is_wide_boolean(const TensorInfo& info) {
  std::uint64_t bytes = 0;
  return info.file_dtype == "Bool(U32)" &&
         byte_count(DType::u32, info.shape, bytes) == SizeCheck::ok && bytes == info.byte_size;
}

Error not_in_release(const TensorInfo& info, Generation generation) {
  const bool has_release = info.dtype == DType::qfloat || is_wide_boolean(info);
  return Error{.code = ErrorCode::unsupported_dtype,
               .message = "Burnpack cannot store this dtype",
               .tensor = std::string(info.name),
               .found = info.dtype == DType::qfloat ? std::string(info.file_dtype)
                        : info.dtype == DType::raw  ? "raw:" + std::string(info.file_dtype)
                                                    : std::string(dtype_name(info.dtype)),
               .expected = "a dtype of Burn " + std::string(name_of(generation)),
               .hint = has_release ? Advice::leave_out_or_other_release
                                   : cast_or_leave_out(info.dtype, {DType::f32})};
}

// A dtype in the spelling of one generation.
class DTypeWriter {
 public:
  DTypeWriter(CborWriter& out, Generation generation) : out_(out), generation_(generation) {}

  Status write(const TensorInfo& info) {
    if (info.dtype == DType::qfloat) return quantized(info);
    if (info.dtype == DType::boolean) {
      boolean(info.file_dtype == "Bool(U8)" ? "U8" : "Native");
    } else if (info.dtype == DType::raw) {
      if (!is_wide_boolean(info) || generation_ < Generation::burn_0_21) {
        return not_in_release(info, generation_);
      }
      boolean("U32");
    } else if (info.file_dtype == "Flex32") {
      out_.text("Flex32");
    } else {
      const std::string_view name = burnpack_dtype_name(info.dtype);
      if (name.empty()) return not_in_release(info, generation_);
      out_.text(name);
    }
    return {};
  }

 private:
  void boolean(std::string_view store) {
    if (generation_ <= Generation::burn_0_20) return out_.text("Bool");
    out_.map(1);
    out_.text("Bool");
    out_.text(store);
  }

  Status quantized(const TensorInfo& info) {
    ANDIRON_ASSIGN(const QuantScheme scheme, quant_scheme_from_text(info.file_dtype));
    if (!can_hold(scheme)) return not_in_release(info, generation_);
    out_.map(1);
    out_.text("QFloat");
    out_.map(5);
    field("value", name_of(scheme.value));
    if (generation_ == Generation::burn_0_22) {
      store(scheme);
      field("mode", name_of(scheme.mode));
      out_.text("tensor");
      scheme.has_tensor_scale ? out_.text(name_of(scheme.tensor_param)) : out_.null();
      out_.text("block");
      if (scheme.has_blocks) {
        block_with("size", without_leading_ones(scheme.block), "dtype", scheme.block_param);
      } else {
        out_.null();
      }
      return {};
    }
    field("param", name_of(scheme.has_blocks         ? scheme.block_param
                           : scheme.has_tensor_scale ? scheme.tensor_param
                                                     : QuantParam::f32));
    store(scheme);
    out_.text("level");
    level(scheme);
    field("mode", name_of(scheme.mode));
    return {};
  }

  bool can_hold(const QuantScheme& scheme) const {
    if (generation_ == Generation::burn_0_22) return true;
    if (scheme.mode == QuantMode::lookup) return false;
    if (generation_ == Generation::burn_0_22_pre) return true;
    if (scheme.level() == QuantLevel::block_and_tensor) return false;
    if (generation_ != Generation::burn_0_19) return true;
    return scheme.store == QuantStore::native ||
           (scheme.store == QuantStore::packed_u32 && scheme.packed_dim == 0);
  }

  void field(std::string_view key, std::string_view value) {
    out_.text(key);
    out_.text(value);
  }

  void store(const QuantScheme& scheme) {
    out_.text("store");
    if (scheme.store == QuantStore::native) return out_.text(name_of(scheme.store));
    if (generation_ == Generation::burn_0_19) return out_.text("U32");
    out_.map(1);
    out_.text(name_of(scheme.store));
    out_.unsigned_integer(scheme.packed_dim);
  }

  void level(const QuantScheme& scheme) {
    if (!scheme.has_blocks) return out_.text("Tensor");
    out_.map(1);
    if (!scheme.has_tensor_scale) {
      out_.text("Block");
      block_size(scheme.block);
    } else {
      out_.text("BlockTensor");
      block_with("block", scheme.block, "global", scheme.tensor_param);
    }
  }

  void block_with(std::string_view size_key, const QuantBlock& block, std::string_view param_key,
                  QuantParam param) {
    out_.map(2);
    out_.text(size_key);
    block_size(block);
    field(param_key, name_of(param));
  }

  void block_size(const QuantBlock& block) {
    out_.map(2);
    out_.text("storage");
    out_.list(QuantBlock::max_rank);
    for (std::size_t i = 0; i < QuantBlock::max_rank; ++i) {
      out_.unsigned_integer(i < block.rank ? block.size[i] : 1);
    }
    out_.text("len");
    out_.unsigned_integer(block.rank);
  }

  // [1, 32] and [32] mean the same; the newer releases write the latter.
  static QuantBlock without_leading_ones(const QuantBlock& block) {
    const std::span<const std::uint8_t> dims = block.dims();
    std::size_t first = 0;
    while (first + 1 < dims.size() && dims[first] == 1) ++first;
    QuantBlock shorter;
    for (; first < dims.size(); ++first) shorter.size[shorter.rank++] = dims[first];
    return shorter;
  }

  CborWriter& out_;
  Generation generation_;
};

}  // namespace

Status write_burnpack_dtype(CborWriter& out, const TensorInfo& info,
                            BurnpackGeneration generation) {
  return DTypeWriter(out, generation).write(info);
}

}  // namespace andiron::inline v1::detail
