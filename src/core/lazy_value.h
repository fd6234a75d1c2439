// SPDX-License-Identifier: MIT OR Apache-2.0
// A Value that is built on first use: the tree of a checkpoint with a hundred thousand tensors
// takes longer to build than its index.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "andiron/value.h"

namespace andiron::inline v1::detail {

// Copies share one value. Safe from several threads at once.
class LazyValue {
 public:
  LazyValue() = default;
  LazyValue(Value value) : state_(std::make_shared<State>()) { state_->value = std::move(value); }
  explicit LazyValue(std::function<Value()> make) : state_(std::make_shared<State>()) {
    state_->make = std::move(make);
  }

  // Whether there is nothing, known without making it.
  bool is_absent() const noexcept { return state_ == nullptr; }
  const Value& get() const {
    static const Value null;
    if (state_ == nullptr) return null;
    std::call_once(state_->once, [this] {
      if (state_->make) state_->value = std::exchange(state_->make, nullptr)();
    });
    return state_->value;
  }

 private:
  struct State {
    std::once_flag once;
    std::function<Value()> make;
    Value value;
  };
  std::shared_ptr<State> state_;
};

}  // namespace andiron::inline v1::detail
