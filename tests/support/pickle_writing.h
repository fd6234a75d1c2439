// SPDX-License-Identifier: MIT OR Apache-2.0
// Pickles put together by hand, right or wrong, in the opcodes of protocol 2 unless said otherwise.
//
//   const Py weight = py::rebuild_tensor_v2(py::storage("FloatStorage", "0", 6), 0, {2, 3}, {3,
//   1}); const std::string pickle = py::pickle(py::dict({{"epoch", 5}, {"weight", weight}}));
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace andiron::test {

namespace py {

/// A number as so many little-endian bytes.
inline std::string number(std::uint64_t value, unsigned bytes) {
  std::string out;
  for (unsigned i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xff);
  return out;
}

}  // namespace py

/// Opcodes that push one value. Made of what it is in C++: Py(nullptr) is None, Py("a") text.
struct Py {
  std::string code;

  Py(std::nullptr_t) : code("N") {}
  Py(bool value) : code(value ? "\x88" : "\x89") {}
  Py(int value) : Py(std::int64_t{value}) {}
  Py(unsigned value) : Py(std::int64_t{value}) {}
  Py(std::int64_t value) : code(integer(value)) {}
  Py(double value) : code("G") {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned i = 8; i-- > 0;) code += static_cast<char>(bits >> 8 * i & 0xff);
  }
  Py(const char* text) : Py(std::string_view(text)) {}
  Py(const std::string& text) : Py(std::string_view(text)) {}
  Py(std::string_view text) : code("X" + py::number(text.size(), 4)) { code += text; }

  /// Opcodes as they are.
  static Py raw(std::string code) {
    Py value(nullptr);
    value.code = std::move(code);
    return value;
  }

 private:
  // The shortest of the opcodes for integers, as Python chooses it.
  static std::string integer(std::int64_t value) {
    if (value >= 0 && value < 1 << 8) return "K" + py::number(static_cast<std::uint64_t>(value), 1);
    if (value >= 0 && value < 1 << 16) {
      return "M" + py::number(static_cast<std::uint64_t>(value), 2);
    }
    if (value == static_cast<std::int32_t>(value)) {
      return "J" + py::number(static_cast<std::uint64_t>(value), 4);
    }
    unsigned bytes = 8;
    while (value >> (8 * bytes - 9) == value >> 63) --bytes;
    return "\x8a" + py::number(bytes, 1) + py::number(static_cast<std::uint64_t>(value), bytes);
  }
};

namespace py {

using Values = std::vector<Py>;
using Pairs = std::vector<std::pair<Py, Py>>;

/// An integer of any size, by the bytes of its two's complement.
inline Py big_integer(std::string_view little_endian) {
  return Py::raw("\x8a" + number(little_endian.size(), 1) + std::string(little_endian));
}

/// A str of Python 2.
inline Py old_text(std::string_view text) {
  return Py::raw("U" + number(text.size(), 1) + std::string(text));
}

/// Bytes, which protocol 3 was the first to have.
inline Py bytes(std::string_view content) {
  return Py::raw("B" + number(content.size(), 4) + std::string(content));
}

inline Py global(std::string_view module, std::string_view name) {
  return Py::raw("c" + std::string(module) + "\n" + std::string(name) + "\n");
}

inline Py tuple(const Values& values) {
  std::string code;
  for (const Py& value : values) code += value.code;
  if (values.empty()) return Py::raw(")");
  if (values.size() > 3) return Py::raw("(" + code + "t");
  return Py::raw(code + static_cast<char>(0x84 + values.size()));
}

/// A tuple of sizes.
inline Py sizes(const std::vector<std::int64_t>& values) {
  return tuple(Values(values.begin(), values.end()));
}

/// What a list is given, a thousand at a time; a single one in its own way.
inline std::string appended(const Values& values) {
  constexpr std::size_t batch = 1000;
  std::string code;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool alone = values.size() == 1;
    if (i % batch == 0 && !alone) code += '(';
    code += values[i].code;
    if (alone) {
      code += 'a';
    } else if (i % batch == batch - 1 || i + 1 == values.size()) {
      code += 'e';
    }
  }
  return code;
}

/// What a dict is given, in the same way.
inline std::string set(const Pairs& pairs) {
  constexpr std::size_t batch = 1000;
  std::string code;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const bool alone = pairs.size() == 1;
    if (i % batch == 0 && !alone) code += '(';
    code += pairs[i].first.code + pairs[i].second.code;
    if (alone) {
      code += 's';
    } else if (i % batch == batch - 1 || i + 1 == pairs.size()) {
      code += 'u';
    }
  }
  return code;
}

inline Py list(const Values& values) { return Py::raw("]" + appended(values)); }
inline Py dict(const Pairs& pairs) { return Py::raw("}" + set(pairs)); }

/// callable(*args)
inline Py call(const Py& callable, const Values& args = {}) {
  return Py::raw(callable.code + tuple(args).code + "R");
}

/// callable.__new__(callable, *args)
inline Py new_object(const Py& callable, const Values& args = {}) {
  return Py::raw(callable.code + tuple(args).code + "\x81");
}

/// More of a value that is an object, a list or a dict.
inline Py with_items(const Py& value, const Values& items) {
  return Py::raw(value.code + appended(items));
}
inline Py with_pairs(const Py& value, const Pairs& pairs) {
  return Py::raw(value.code + set(pairs));
}
inline Py with_state(const Py& value, const Py& state) {
  return Py::raw(value.code + state.code + "b");
}

/// Remembers a value under a number, and recalls it.
inline Py put(std::uint32_t memo, const Py& value) {
  return Py::raw(value.code + "r" + number(memo, 4));
}
inline Py get(std::uint32_t memo) { return Py::raw("j" + number(memo, 4)); }

inline Py persistent(const Py& id) { return Py::raw(id.code + "Q"); }

/// Bytes as protocol 2 has them: text of Latin-1.
inline Py encoded_bytes(std::string_view content) {
  if (content.empty()) return call(global("__builtin__", "bytes"));
  std::string text;
  for (const char c : content) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xc0 | byte >> 6);
      text += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return call(global("_codecs", "encode"), {text, "latin1"});
}

/// A set as protocols up to 3 have it.
inline Py set_of(const Values& values) {
  return call(global("__builtin__", "set"), {list(values)});
}

inline Py ordered_dict(const Pairs& pairs = {}) {
  return with_pairs(call(global("collections", "OrderedDict")), pairs);
}

/// A storage as torch.save names it; the size counts elements.
inline Py storage(std::string_view class_name, const Py& key, const Py& elements,
                  std::string_view device = "cpu") {
  const bool is_untyped = class_name.ends_with("UntypedStorage");
  return persistent(tuple({"storage", global(is_untyped ? "torch.storage" : "torch", class_name),
                           key, device, elements}));
}

inline Py rebuild(std::string_view function, const Values& args) {
  return call(global("torch._utils", function), args);
}

/// A tensor as torch.save writes it.
inline Py rebuild_tensor_v2(const Py& storage_id, std::int64_t offset,
                            const std::vector<std::int64_t>& size,
                            const std::vector<std::int64_t>& stride) {
  return rebuild("_rebuild_tensor_v2",
                 {storage_id, offset, sizes(size), sizes(stride), false, ordered_dict()});
}

/// A module as torch.save writes a whole one.
inline Py module(std::string_view class_name, const Pairs& parameters, const Pairs& buffers,
                 const Pairs& modules, const Pairs& others = {}) {
  Pairs state = {{"training", true},
                 {"_parameters", ordered_dict(parameters)},
                 {"_buffers", ordered_dict(buffers)}};
  state.insert(state.end(), others.begin(), others.end());
  state.emplace_back("_modules", ordered_dict(modules));
  return with_state(new_object(global("models", class_name)), dict(state));
}

/// numpy.dtype(code), with '<', '>' or '|' for the order of its bytes.
inline Py numpy_dtype(std::string_view code, std::string_view order = "<") {
  return with_state(call(global("numpy", "dtype"), {code, false, true}),
                    tuple({3, order, nullptr, nullptr, nullptr, -1, -1, 0}));
}

/// An array as protocols before 5 write it; `data` is its bytes, or a list of objects.
inline Py numpy_array(const Py& dtype, const std::vector<std::int64_t>& shape, const Py& data,
                      bool fortran = false) {
  return with_state(call(global("numpy.core.multiarray", "_reconstruct"),
                         {global("numpy", "ndarray"), tuple({0}), encoded_bytes("b")}),
                    tuple({1, sizes(shape), dtype, fortran, data}));
}

/// The same in protocol 5.
inline Py numpy_buffer(const Py& dtype, const std::vector<std::int64_t>& shape, const Py& data,
                       const Values& order) {
  Values args = {data, dtype, sizes(shape)};
  args.insert(args.end(), order.begin(), order.end());
  return call(global("numpy.core.numeric", "_frombuffer"), args);
}

inline Py numpy_scalar(const Py& dtype, std::string_view content) {
  return call(global("numpy.core.multiarray", "scalar"), {dtype, encoded_bytes(content)});
}

/// The whole pickle.
inline std::string pickle(const Py& root) { return "\x80\x02" + root.code + "."; }

}  // namespace py

}  // namespace andiron::test
