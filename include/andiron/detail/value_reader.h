// SPDX-License-Identifier: MIT OR Apache-2.0
// Values to C++ types. What is not a template is in src/core/value_reader.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "andiron/detail/convertible.h"
#include "andiron/detail/no_throw.h"
#include "andiron/error.h"
#include "andiron/value.h"

namespace andiron::inline v1 {
namespace detail {

// What a conversion goes on with: what is left of its budget, and what is to be told.
struct ValueReading {
  // In bytes. A few bytes of a file can repeat a list often enough to ask for gigabytes.
  std::uint64_t left = std::uint64_t{256} << 20;
  std::vector<std::string> unknown = {};    // paths of fields that no member has
  std::vector<std::string> defaulted = {};  // paths of members that the file lacks
};

// A value and its place below others.
class ValueNode {
 public:
  ValueNode(const Value& value, std::string_view path, ValueReading& reading)
      : value_(&value), key_(path), reading_(&reading) {}

  const Value& value() const noexcept { return *value_; }
  ValueReading& reading() const noexcept { return *reading_; }
  std::string path() const;

  ValueNode at_key(std::string_view key, const Value& value) const {
    return ValueNode(value, *this, key, no_index);
  }
  ValueNode at_index(std::size_t index, const Value& value) const {
    return ValueNode(value, *this, {}, index);
  }

  Status read(bool& out) const;
  Status read(std::int64_t least, std::int64_t most, std::int64_t& out) const;
  Status read(std::uint64_t most, std::uint64_t& out) const;
  Status read(double& out) const;
  Status read(float& out) const;
  Status read(std::string& out) const;
  Result<const ValueDict*> dict() const;
  // With `count` items, if that is given. Charges `item_bytes` for each.
  Result<const ValueList*> list(std::size_t item_bytes,
                                std::optional<std::size_t> count = {}) const;
  Status charge(std::uint64_t bytes) const;

  Error mismatch(std::string expected) const;
  Error missing(std::string_view key) const;
  // Notes the keys of the dict that are not among `known`.
  void note_unknown(const std::vector<std::string_view>& known) const;
  void note_default(std::string_view key) const;

 private:
  static constexpr std::size_t no_index = ~std::size_t{0};
  ValueNode(const Value& value, const ValueNode& parent, std::string_view key, std::size_t index)
      : value_(&value), parent_(&parent), key_(key), index_(index), reading_(parent.reading_) {}

  const Value* value_;
  const ValueNode* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = no_index;
  ValueReading* reading_;
};

// A T as default initialization leaves it, in memory that was filled with `Fill` before. Members
// without an initializer show it.
template <class T, unsigned char Fill>
class DefaultMade {
 public:
  DefaultMade() {
    std::memset(memory_, Fill, sizeof memory_);
    hide();
    object_ = ::new (static_cast<void*>(memory_)) T;
    hide();
  }
  ~DefaultMade() { object_->~T(); }
  DefaultMade(const DefaultMade&) = delete;
  DefaultMade& operator=(const DefaultMade&) = delete;
  T& operator*() noexcept { return *object_; }

 private:
  // The compiler must neither drop what was written before the object was made nor presume what its
  // members hold.
  void hide() noexcept { asm volatile("" : : "r"(memory_) : "memory"); }

  alignas(T) unsigned char memory_[sizeof(T)];
  T* object_ = nullptr;
};
inline constexpr unsigned char first_fill = 0xa5;
inline constexpr unsigned char second_fill = 0x5a;

bool is_filled(const void* memory, std::size_t size, unsigned char fill) noexcept;

// A struct's two default-made twins.
template <class T>
struct Twins {
  T& first;
  T& second;
};

// Whether a member has no value until it is given one.
template <class Member>
bool is_unset(const Twins<Member>& twins) {
  return std::is_trivially_default_constructible_v<Member> &&
         is_filled(&twins.first, sizeof(Member), first_fill) &&
         is_filled(&twins.second, sizeof(Member), second_fill);
}

template <class T>
Status read_value(const ValueNode& node, T& out);
template <class T>
Status read_config(const ValueNode& node, T& out, const Twins<T>& twins);

// A member of a struct, in the file or by default.
template <class Member>
Status read_member(const ValueNode& node, std::string_view name, Member& out,
                   const Twins<Member>& twins) {
  const Value* value = node.value().find(name);
  if constexpr (is_config<Member>) {
    static const Value nothing = ValueDict();
    return read_config(node.at_key(name, value == nullptr ? nothing : *value), out, twins);
  } else {
    if (value != nullptr) return read_value(node.at_key(name, *value), out);
    if (is_unset(twins)) return node.missing(name);
    if constexpr (!is_optional<Member>) node.note_default(name);
    return {};
  }
}

template <class T>
Status read_config(const ValueNode& node, T& out, const Twins<T>& twins) {
  Result<const ValueDict*> dict = node.dict();
  if (!dict) return std::move(dict).error();
  std::vector<std::string_view> names;
  std::vector<std::pair<void*, void*>> members;  // of the twins
  ConfigAccess::each(
      twins.first, [&](std::string_view, auto& member) { members.push_back({&member, nullptr}); });
  std::size_t at = 0;
  ConfigAccess::each(twins.second,
                     [&](std::string_view, auto& member) { members[at++].second = &member; });
  Status status;
  ConfigAccess::each(out, [&]<class Member>(std::string_view name, Member& member) {
    const auto [first, second] = members[names.size()];
    names.push_back(name);
    if (!status) return;
    status = read_member<Member>(node, name, member,
                                 {*static_cast<Member*>(first), *static_cast<Member*>(second)});
  });
  if (status) node.note_unknown(names);
  return status;
}

template <class Enum>
Status read_enum(const ValueNode& node, Enum& out) {
  const std::string* text = node.value().get<std::string>();
  const bool found = text != nullptr && any_enum_name<Enum>([&](std::string_view name, Enum value) {
                       if (name != *text) return false;
                       return out = value, true;
                     });
  if (found) return {};
  std::string expected;
  any_enum_name<Enum>([&](std::string_view name, Enum) {
    expected += expected.empty() ? "one of '" : ", '";
    return (expected += name) += '\'', false;
  });
  return node.mismatch(std::move(expected));
}

template <class List, std::size_t... I>
Status read_fixed_list(const ValueNode& node, List& out, std::index_sequence<I...>) {
  Result<const ValueList*> list = node.list(0, sizeof...(I));
  if (!list) return std::move(list).error();
  Status status;
  const auto read_item = [&](std::size_t i, auto& item) {
    if (status) status = read_value(node.at_index(i, (**list)[i]), item);
  };
  using std::get;
  (read_item(I, get<I>(out)), ...);
  return status;
}

template <class T>
Status read_value(const ValueNode& node, T& out) {
  if constexpr (std::is_same_v<T, Value>) {
    return out = node.value(), Status();
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    return node.read(out);
  } else if constexpr (std::is_floating_point_v<T>) {
    std::conditional_t<std::is_same_v<T, float>, float, double> read = 0;
    Status status = node.read(read);
    return out = read, std::move(status);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    std::int64_t wide = 0;
    Status status = node.read(std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), wide);
    return out = static_cast<T>(wide), std::move(status);
  } else if constexpr (std::is_integral_v<T>) {
    std::uint64_t wide = 0;
    Status status = node.read(std::uint64_t{std::numeric_limits<T>::max()}, wide);
    return out = static_cast<T>(wide), std::move(status);
  } else if constexpr (std::is_enum_v<T>) {
    static_assert(is_listed_enum<T>,
                  "andiron: this enum has no names. Put ANDIRON_CONFIG_ENUM(Type, a, b, ...) after "
                  "it, or specialize andiron::EnumNames (andiron/config.h)");
    return read_enum(node, out);
  } else if constexpr (is_optional<T>) {
    out.reset();
    if (node.value().is_null()) return {};
    return read_value(node, out.emplace());
  } else if constexpr (is_vector<T>) {
    Result<const ValueList*> list = node.list(sizeof(typename T::value_type));
    if (!list) return std::move(list).error();
    out.clear();
    out.reserve((*list)->size());
    for (std::size_t i = 0; i < (*list)->size(); ++i) {
      typename T::value_type item{};
      Status status = read_value(node.at_index(i, (**list)[i]), item);
      if (!status) return status;
      out.push_back(std::move(item));
    }
    return {};
  } else if constexpr (is_fixed_list<T>) {
    return read_fixed_list(node, out, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (is_text_map<T>) {
    Result<const ValueDict*> dict = node.dict();
    if (!dict) return std::move(dict).error();
    out.clear();
    for (const auto& [key, value] : **dict) {
      Status status = node.charge(key.size() + sizeof(typename T::value_type));
      if (status) status = read_value(node.at_key(key, value), out[key]);
      if (!status) return status;
    }
    return {};
  } else if constexpr (is_config<T>) {
    DefaultMade<T, first_fill> first;
    DefaultMade<T, second_fill> second;
    return read_config<T>(node, out, {*first, *second});
  } else {
    static_assert(!is_unknown_type<T>,
                  "andiron: values do not convert to this type. Give its struct an ANDIRON_CONFIG "
                  "line, or use a type that Value::as() lists (andiron/value.h)");
    return {};
  }
}

template <class T>
Result<T> convert(const Value& value, std::string_view path, ValueReading& reading) {
  T out{};
  Status status = read_value(ValueNode(value, path, reading), out);
  if (!status) return std::move(status).error();
  return out;
}

}  // namespace detail

template <class T>
Result<T> Value::as() const ANDIRON_NO_THROW {
  detail::ValueReading reading;
  return detail::convert<T>(*this, "", reading);
}
ANDIRON_OR_OUT_OF_MEMORY

template <class T>
Result<T> FoundValue::as() const ANDIRON_NO_THROW {
  if (!ok()) return error();
  detail::ValueReading reading;
  return detail::convert<T>(**this, path_, reading);
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
