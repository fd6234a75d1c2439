// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/module/param_test.cpp
#include "andiron/param.h"

#include <utility>

#include "andiron/detail/leaf_ops.h"
#include "andiron/snapshot.h"
#include "src/core/lock.h"
#include "src/core/try.h"

namespace andiron::inline v1 {
namespace detail {

// Numbers that are computed when first needed; shared by the copies of a parameter.
class LazyTensor {
 public:
  LazyTensor(DType dtype, Shape shape, Param::Init init)
      : dtype_(dtype), shape_(std::move(shape)), init_(std::move(init)) {}

  DType dtype() const noexcept { return dtype_; }
  const Shape& shape() const noexcept { return shape_; }
  bool is_computed() const {
    const detail::Lock lock(mutex_);
    return init_ == nullptr;
  }
  // The tensor stays where it is; after a failure the next call tries again.
  Result<const Tensor*> get() {
    const detail::Lock lock(mutex_);
    if (init_) {
      ANDIRON_ASSIGN(Tensor tensor, init_());
      if (tensor.dtype() != dtype_ || tensor.shape() != shape_) {
        return Error{.code = tensor.dtype() != dtype_ ? ErrorCode::dtype_mismatch
                                                      : ErrorCode::shape_mismatch,
                     .message = "the initializer's tensor does not match the declaration",
                     .found = tensor.dtype_text() + " " + tensor.shape().to_string(),
                     .expected = std::string(dtype_name(dtype_)) + " " + shape_.to_string()};
      }
      tensor_ = std::move(tensor);
      init_ = nullptr;
    }
    return &tensor_;
  }

 private:
  DType dtype_;
  Shape shape_;
  mutable detail::Mutex mutex_;
  Param::Init init_;
  Tensor tensor_;
};

struct ParamState {
  Tensor tensor = {};
  std::shared_ptr<LazyTensor> lazy = {};  // instead of `tensor`
  bool is_set = false;
  bool requires_grad = true;
  ParamId id = {};
};

namespace {

// Only matrices have rows and columns to exchange.
Result<Tensor> transposed(const Tensor& tensor) {
  if (tensor.shape().rank() != 2) return tensor;
  ANDIRON_ASSIGN(const TensorSnapshot turned, TensorSnapshot("", tensor).transpose(0, 1));
  return turned.read();
}

}  // namespace

const void* ParamAccess::identity(const Param& param) noexcept {
  return param.state_ ? static_cast<const void*>(param.state_.get()) : &param;
}

std::string ParamAccess::raw_name(const Param& param) {
  return param.state_ ? param.state_->tensor.raw_name() : std::string();
}

Result<Tensor> ParamAccess::stored(const Param& param) {
  ANDIRON_ASSIGN(const Tensor* tensor, param.stored());
  return *tensor;
}

Result<std::shared_ptr<void>> ParamAccess::make_state(const Param& param, Tensor tensor,
                                                      std::optional<ParamId> id) {
  if (param.is_transposed_) {
    ANDIRON_ASSIGN(tensor, transposed(tensor));
  }
  auto state = std::make_shared<ParamState>();
  state->tensor = std::move(tensor);
  state->is_set = true;
  state->requires_grad = param.requires_grad();
  const ParamId own = param.state_ || id ? param.id() : ParamId::generate();
  state->id = id.value_or(own);
  return std::shared_ptr<void>(std::move(state));
}

void ParamAccess::commit(Param& param, const std::shared_ptr<void>& state) noexcept {
  if (param.state_) {
    // The state itself, which tied parameters share.
    std::swap(*param.state_, *static_cast<ParamState*>(state.get()));
  } else {
    param.state_ = std::static_pointer_cast<ParamState>(state);
  }
}

Tensor* ParamAccess::present_tensor(Param& param) {
  ParamState& state = param.state();
  return state.lazy || !state.is_set || param.is_transposed_ ? nullptr : &state.tensor;
}

}  // namespace detail

Param::Param() : state_(std::make_shared<detail::ParamState>()) {
  state_->id = ParamId::generate();
}

Param::Param(Tensor value) : Param(std::move(value), ParamId::generate()) {}

Param::Param(Tensor value, ParamId id)
    : state_(std::make_shared<detail::ParamState>(
          detail::ParamState{.tensor = std::move(value), .is_set = true, .id = id})) {}

Param Param::lazy(DType dtype, Shape shape, Init init) {
  Param param;
  param.state_->lazy =
      std::make_shared<detail::LazyTensor>(dtype, std::move(shape), std::move(init));
  param.state_->is_set = true;
  return param;
}

Param::Param(const Param& other)
    : state_(other.state_ ? std::make_shared<detail::ParamState>(*other.state_) : nullptr) {
  if (!other.is_transposed_ || !other.is_set()) return;
  // A copy is not tied, and so has elements of its own.
  state_->lazy = std::make_shared<detail::LazyTensor>(
      other.dtype(), other.shape(), [stored = std::move(state_->tensor), lazy = state_->lazy] {
        Result<const Tensor*> tensor = lazy ? lazy->get() : Result<const Tensor*>(&stored);
        return tensor ? detail::transposed(**tensor) : Result<Tensor>(std::move(tensor).error());
      });
  state_->tensor = {};
}

Param& Param::operator=(const Param& other) {
  if (this != &other) *this = Param(other);
  return *this;
}

// Only a parameter that was moved from has none.
detail::ParamState& Param::state() {
  if (!state_) *this = Param();
  return *state_;
}

ParamId Param::id() const noexcept { return state_ ? state_->id : ParamId{}; }
void Param::set_id(ParamId id) { state().id = id; }
bool Param::requires_grad() const noexcept { return !state_ || state_->requires_grad; }
void Param::set_requires_grad(bool requires_grad) { state().requires_grad = requires_grad; }
bool Param::is_set() const noexcept { return state_ && state_->is_set; }

bool Param::is_initialized() const noexcept {
  return is_set() && (!state_->lazy || state_->lazy->is_computed());
}

DType Param::dtype() const noexcept {
  if (!state_) return DType::f32;
  return state_->lazy ? state_->lazy->dtype() : state_->tensor.dtype();
}

Shape Param::shape() const {
  if (!state_) return {0};
  Shape shape = state_->lazy ? state_->lazy->shape() : state_->tensor.shape();
  if (is_transposed_ && shape.rank() == 2) std::swap(shape[0], shape[1]);
  return shape;
}

Result<const Tensor*> Param::current() const {
  if (is_transposed_) {
    return Error{.code = ErrorCode::unsupported,
                 .message = "the elements of a transposed tie do not lie in the order of its shape",
                 .hint = "use those of the parameter it is tied to, or val(), which copies them"};
  }
  return stored();
}

Result<const Tensor*> Param::stored() const {
  if (!is_set()) {
    return Error{.code = ErrorCode::missing_tensor,
                 .message = "this parameter has no tensor yet",
                 .hint = "load one, or set one with set_val()"};
  }
  if (state_->lazy) return state_->lazy->get();
  return &state_->tensor;
}

Result<Tensor*> Param::current_mutable() {
  ANDIRON_ASSIGN(const Tensor* tensor, current());
  if (state_->lazy) {
    state_->tensor = *tensor;
    state_->lazy = nullptr;
  }
  return &state_->tensor;
}

Result<Tensor> Param::val() const ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const Tensor* tensor, stored());
  if (is_transposed_) return detail::transposed(*tensor);
  return *tensor;
}
ANDIRON_OR_OUT_OF_MEMORY

void Param::set_val(Tensor value) {
  detail::ParamState& changed = state();
  changed.is_set = true;
  changed.lazy = nullptr;
  changed.tensor = {};
  if (!is_transposed_) {
    changed.tensor = std::move(value);
    return;
  }
  Shape turned = value.shape();
  if (turned.rank() == 2) std::swap(turned[0], turned[1]);
  const DType dtype = value.dtype();
  changed.lazy = std::make_shared<detail::LazyTensor>(
      dtype, std::move(turned), [value = std::move(value)] { return detail::transposed(value); });
}

bool Param::is_tied_with(const Param& other) const noexcept {
  return this == &other || (state_ && state_ == other.state_);
}

void tie(Param& first, Param& second) {
  first.state();
  second.state_ = first.state_;
  second.is_transposed_ = first.is_transposed_;
}

Status tie_transposed(Param& first, Param& second) ANDIRON_NO_THROW {
  if (&first == &second) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "a parameter cannot be tied to itself transposed"};
  }
  if (first.is_set() && first.shape().rank() != 2) {
    return Error{.code = ErrorCode::shape_mismatch,
                 .message = "only a matrix can be tied transposed",
                 .found = first.shape().to_string(),
                 .expected = "two dimensions"};
  }
  if (first.is_set() && second.is_set()) {
    Shape turned = first.shape();
    std::swap(turned[0], turned[1]);
    if (second.shape() != turned) {
      return Error{.code = ErrorCode::shape_mismatch,
                   .message = "the shape of a transposed tie does not fit",
                   .found = second.shape().to_string(),
                   .expected = turned.to_string()};
    }
  }
  tie(first, second);
  second.is_transposed_ = !first.is_transposed_;
  return {};
}
ANDIRON_OR_OUT_OF_MEMORY

LeafInfo Leaf<Param>::info(const Param& param) {
  return {.dtype = param.dtype(),
          .shape = param.shape(),
          .accepts_any_shape = !param.is_set(),
          .accepts_any_dtype = true,
          .raw_name = detail::ParamAccess::raw_name(param)};
}

std::span<std::byte> Leaf<Param>::buffer(Param& param, DType dtype, const Shape& shape) {
  Tensor* const tensor = detail::ParamAccess::present_tensor(param);
  return tensor == nullptr ? std::span<std::byte>() : Leaf<Tensor>::buffer(*tensor, dtype, shape);
}

Result<Param> Leaf<Param>::make(const Param& current, const Tensor& tensor) ANDIRON_NO_THROW {
  ANDIRON_ASSIGN(const std::shared_ptr<void> state,
                 detail::ParamAccess::make_state(current, tensor, {}));
  Param made = current;
  detail::ParamAccess::commit(made, state);
  return made;
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
