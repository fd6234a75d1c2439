// SPDX-License-Identifier: MIT OR Apache-2.0
// Values in a file that are not tensors (configs, scalars, nesting) as one tree, and as JSON.
//
//   const Value tree = file.value().value();
//   Result<double> rate = tree.at("config.lr").as<double>();
//   Result<std::vector<std::string>> labels = tree.at("labels").as<std::vector<std::string>>();
//
// config.h fills a whole struct.
//
// Functions that return no Result may throw std::bad_alloc (error.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "andiron/bytes.h"
#include "andiron/error.h"

namespace andiron::inline v1 {

class Value;
class FoundValue;
using ValueList = std::vector<Value>;
/// Entries in file order.
using ValueDict = std::vector<std::pair<std::string, Value>>;
/// A leaf that stands for a tensor: its index in the archive.
struct TensorIndex {
  std::size_t index = 0;
  friend bool operator==(TensorIndex, TensorIndex) = default;
};

/// Null, a scalar, text, bytes, a list, a dict or a tensor's index. Cannot be changed, only
/// replaced.
///
/// Copies are cheap: they share text, bytes, lists and dicts. A tree may contain the same list in
/// many places, as a pickle can. A Value is made after what it contains, so there are no cycles.
class Value {
 public:
  Value() = default;
  Value(bool value) : data_(value) {}
  Value(std::int64_t value) : data_(value) {}
  /// For values above the int64 range, and for those that a file marks as unsigned.
  Value(std::uint64_t value) : data_(value) {}
  Value(double value) : data_(value) {}
  Value(std::string value) : data_(shared(std::move(value))) {}
  Value(const char* value) : Value(std::string(value)) {}
  Value(Bytes value) : data_(shared(std::move(value))) {}
  Value(ValueList value) : data_(shared(std::move(value))) {}
  Value(ValueDict value) : data_(shared(std::move(value))) {}
  Value(TensorIndex value) : data_(value) {}

  Value(const Value&) = default;
  Value& operator=(const Value&) = default;
  /// A moved-from Value is null.
  Value(Value&& other) noexcept { data_.swap(other.data_); }
  Value& operator=(Value&& other) noexcept {
    Value moved(std::move(other));
    data_.swap(moved.data_);
    return *this;
  }
  ~Value() = default;

  bool is_null() const noexcept { return std::holds_alternative<std::monostate>(data_); }
  /// True for a number or a bool.
  bool is_scalar() const noexcept {
    return get<bool>() != nullptr || get<std::int64_t>() != nullptr ||
           get<std::uint64_t>() != nullptr || get<double>() != nullptr;
  }
  /// The number of values in the tree that are neither null nor tensors.
  std::size_t leaf_count() const;
  /// Returns what is held if it is a T, or nullptr. The pointer is valid as long as this value.
  template <class T>
  const T* get() const noexcept {
    if constexpr (is_shared<T>) {
      const auto* held = std::get_if<std::shared_ptr<const T>>(&data_);
      return held == nullptr ? nullptr : held->get();
    } else {
      return std::get_if<T>(&data_);
    }
  }
  /// Returns visitor(held), where null is std::monostate. All results have one type.
  template <class Visitor>
  decltype(auto) visit(Visitor&& visitor) const {
    return std::visit(
        [&]<class Held>(const Held& held) -> decltype(auto) {
          if constexpr (requires { *held; }) {
            return visitor(*held);
          } else {
            return visitor(held);
          }
        },
        data_);
  }
  /// Returns the value at a path of keys and indices: "config.layers.0.lr". A key that is the whole
  /// text comes first, then shorter ones, so keys may contain dots. An empty path is this value.
  /// Fails with MissingValue, which says how far the path leads and what is there.
  FoundValue at(std::string_view path) const;
  /// Converts to T: bool, an integer that the number fits, a float (also from an integer),
  /// std::string, a listed enum or struct (config.h), Value itself, or std::optional (null is
  /// none), std::vector, std::array, std::pair, std::tuple, std::map and std::unordered_map with
  /// std::string keys of these. Fails with ValueMismatch, which names the place, what was found and
  /// what was expected.
  template <class T>
  Result<T> as() const;
  /// Returns the entry of a dict, or nullptr if this is not a dict or has no such key. O(n).
  const Value* find(std::string_view key) const noexcept {
    if (const ValueDict* dict = get<ValueDict>()) {
      for (const auto& [name, value] : *dict) {
        if (name == key) return &value;
      }
    }
    return nullptr;
  }

 private:
  template <class T>
  static constexpr bool is_shared = std::same_as<T, std::string> || std::same_as<T, Bytes> ||
                                    std::same_as<T, ValueList> || std::same_as<T, ValueDict>;
  // The pointers are never null.
  using Data =
      std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double,
                   std::shared_ptr<const std::string>, std::shared_ptr<const Bytes>,
                   std::shared_ptr<const ValueList>, std::shared_ptr<const ValueDict>, TensorIndex>;
  template <class T>
  static Data shared(T value);

  Data data_;
};

template <class T>
Value::Data Value::shared(T value) {
  return std::make_shared<const T>(std::move(value));
}

/// What Value::at() returns: a Value or an error, which at() and as() pass on.
class [[nodiscard]] FoundValue : public Result<Value> {
 public:
  FoundValue(Value value, std::string path) : Result(std::move(value)), path_(std::move(path)) {}
  FoundValue(Error error) noexcept : Result(std::move(error)) {}

  FoundValue at(std::string_view path) const;
  template <class T>
  Result<T> as() const;

 private:
  std::string path_;  // from where the first at() was called
};

/// Parses strict JSON: RFC 8259, UTF-8, no comments, nothing but white space after the value. Fails
/// with DuplicateKey for repeated keys, LimitExceeded for nesting deeper than max_json_depth, and
/// BadHeader, with the offset, for anything else, including numbers that do not fit a double.
Result<Value> parse_json(std::string_view text);

/// Returns JSON: compact, or with `indent` spaces per level, of which the first 32 count. Bytes
/// become a list of numbers, a tensor index becomes {"tensor": i}, NaN and infinities become null,
/// and so do lists and dicts below max_json_depth levels. Strings as below.
std::string to_json(const Value& value, unsigned indent = 0);

/// Appends a quoted JSON string. Escapes quotes, backslashes and control characters, and whatever
/// display_text() escapes, so that the text is safe to print. Parsers read the same characters
/// back, except that invalid UTF-8 is replaced with U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace andiron::inline v1

#include "andiron/detail/value_reader.h"
