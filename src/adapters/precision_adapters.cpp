// SPDX-License-Identifier: MIT OR Apache-2.0
// Adapters that change how numbers are stored.
// Tested by tests/adapters/precision_adapters_test.cpp
#include <utility>

#include "andiron/adapter.h"
#include "andiron/detail/no_throw.h"
#include "src/core/text/in_quotes.h"

namespace andiron::inline v1 {

namespace {

std::string with_prefix(std::string_view module_type) {
  std::string name(module_type);
  return name.find(':') == std::string::npos ? "Struct:" + name : name;
}

}  // namespace

HalfPrecisionAdapter::HalfPrecisionAdapter() {
  for (const char* module_type :
       {"Linear", "Conv1D", "Embedding", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d",
        "ConvTranspose2d", "ConvTranspose3d", "DeformConv2d", "LayerNorm", "GroupNorm",
        "InstanceNorm", "RmsNorm", "PRelu",
        // Where PyTorch's adapters put what was in Linear layers.
        "nn.MultiHeadAttention", "nn.PositionWiseFeedForward", "nn.Lstm", "nn.Gru", "nn.BiLstm",
        "nn.BiGru", "nn.LstmStack", "nn.GruStack", "nn.BiLstmStack", "nn.BiGruStack"}) {
    modules_.insert(with_prefix(module_type));
  }
}

HalfPrecisionAdapter HalfPrecisionAdapter::with_module(std::string_view module_type) const {
  HalfPrecisionAdapter changed = *this;
  changed.modules_.insert(with_prefix(module_type));
  return changed;
}

HalfPrecisionAdapter HalfPrecisionAdapter::without_module(std::string_view module_type) const {
  HalfPrecisionAdapter changed = *this;
  const std::string name = with_prefix(module_type);
  if (changed.modules_.erase(name) == 0 && !changed.first_error_) {
    changed.first_error_ = Error{.code = ErrorCode::invalid_argument,
                                 .message = "cannot exclude this module type from half precision",
                                 .found = detail::in_quotes(name),
                                 .expected = "a module type stored in half precision",
                                 .hint = "modules() lists them"};
  }
  return changed;
}

Status HalfPrecisionAdapter::status() const ANDIRON_NO_THROW {
  if (first_error_) return *first_error_;
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

Result<AnyAdapter> HalfPrecisionAdapter::inverse() const ANDIRON_NO_THROW {
  return AnyAdapter(*this);
}
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> HalfPrecisionAdapter::adapt(Direction direction, const Place& place,
                                                   TensorSnapshot tensor) const ANDIRON_NO_THROW {
  const bool saves = direction == Direction::save;
  const DType from = saves ? DType::f32 : DType::f16;
  const DType to = saves ? DType::f16 : DType::f32;
  if (tensor.dtype() != from || !modules_.contains(place.container.module_type())) return tensor;
  return tensor.cast(to);
}
ANDIRON_OR_OUT_OF_MEMORY

Status FloatCastAdapter::status() const ANDIRON_NO_THROW {
  switch (dtype_) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
    case DType::bf16:
      return {};
    default:
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "FloatCastAdapter: the target must be a float dtype",
                   .found = std::string(dtype_name(dtype_)),
                   .expected = "f64, f32, f16 or bf16"};
  }
}
ANDIRON_OR_OUT_OF_MEMORY

Result<AnyAdapter> FloatCastAdapter::inverse() const ANDIRON_NO_THROW { return AnyAdapter(); }
ANDIRON_OR_OUT_OF_MEMORY

Result<TensorSnapshot> FloatCastAdapter::adapt(Direction, const Place&, TensorSnapshot tensor) const
    ANDIRON_NO_THROW {
  if (Status target = status(); !target) return std::move(target).error();
  if (!is_float(tensor.dtype()) || tensor.dtype() == dtype_) return tensor;
  return tensor.cast(dtype_);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
