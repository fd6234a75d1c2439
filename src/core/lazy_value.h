// SPDX-License-Identifier: MIT OR Apache-2.0
// A Value that is built on first use: the tree of a checkpoint with a hundred thousand tensors
// takes longer to build than its index.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "andiron/value.h"
#include "src/core/lock.h"

namespace andiron::inline v1::detail {

// Copies share one value, or the reason why it could not be made. Safe from several threads at
// once.
class LazyValue {
 public:
  LazyValue() = default;
  LazyValue(Value value) : state_(std::make_shared<State>()) { state_->made = std::move(value); }
  explicit LazyValue(std::function<Result<Value>()> make) : state_(std::make_shared<State>()) {
    state_->make = std::move(make);
  }

  // Whether there is nothing, known without making it.
  bool is_absent() const noexcept { return state_ == nullptr; }
  Result<Value> get() const {
    if (state_ == nullptr) return Value();
    const Lock lock(state_->mutex);
    if (state_->make) {
      Result<Value> made = state_->make();
      // What failed for want of memory, or of a disk, may succeed the next time.
      if (!made && made.error().code != ErrorCode::limit_exceeded) return made;
      state_->made = std::move(made);
      state_->make = nullptr;
    }
    if (!state_->made) return Error(state_->made.error());
    return *state_->made;
  }

 private:
  struct State {
    Mutex mutex;
    std::function<Result<Value>()> make;
    Result<Value> made = Value();
  };
  std::shared_ptr<State> state_;
};

}  // namespace andiron::inline v1::detail
