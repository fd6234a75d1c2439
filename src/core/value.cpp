// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/value_test.cpp
#include "andiron/value.h"

namespace andiron::inline v1 {

std::size_t Value::leaf_count() const {
  std::size_t count = 0;
  if (const ValueList* list = get<ValueList>()) {
    for (const Value& item : *list) count += item.leaf_count();
  } else if (const ValueDict* dict = get<ValueDict>()) {
    for (const auto& [key, item] : *dict) count += item.leaf_count();
  } else if (!is_null() && get<TensorIndex>() == nullptr) {
    count = 1;
  }
  return count;
}

}  // namespace andiron::inline v1
