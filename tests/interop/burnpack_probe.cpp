// SPDX-License-Identifier: MIT OR Apache-2.0
// The library as a program, for comparison with Burn's own reader and writer of Burnpack files. A
// file is given as lines of JSON (burnpack/src/lines.rs); a dtype is text: "F32", "Bool(Native)",
// "Bool(U32)", "QFloat(...)" as in tensor.h.
//
//   list FILE                      the file as lines, in file order
//   pack LINES OUT [RELEASE]       the file for such lines, as a release of Burn writes it
//   rewrite IN OUT [RELEASE]       open and write
//   dequantize FILE                the numbers of a file's quantized tensors, as f32
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/burnpack_view.h"
#include "andiron/dtype.h"
#include "andiron/open.h"
#include "andiron/tensor.h"
#include "andiron/value.h"
#include "andiron/write.h"

namespace {

using andiron::BurnpackGeneration;
using andiron::Bytes;
using andiron::DType;
using andiron::Tensor;
using andiron::TensorSnapshot;
using andiron::Value;
using andiron::ValueDict;
using andiron::ValueList;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(4);
}

template <class T>
const T& part(const Value& value, std::string_view key) {
  const Value* found = value.find(key);
  if (!found || !found->get<T>()) fail("a line lacks " + std::string(key));
  return *found->get<T>();
}

std::uint64_t number(const Value& value) {
  if (const auto* large = value.get<std::uint64_t>()) return *large;
  if (const auto* small = value.get<std::int64_t>()) return static_cast<std::uint64_t>(*small);
  fail("a line lacks a number");
}

std::uint64_t from_hex(std::string_view digits) {
  std::uint64_t result = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), result, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) fail("no hex digits");
  return result;
}

Bytes bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 2 <= hex.size(); at += 2) {
    bytes.push_back(static_cast<std::byte>(from_hex(hex.substr(at, 2))));
  }
  return Bytes::own(std::move(bytes));
}

std::string hex_of(std::span<const std::byte> bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::byte byte : bytes) {
    text += digits[static_cast<unsigned>(byte) >> 4];
    text += digits[static_cast<unsigned>(byte) & 15];
  }
  return text;
}

std::string burn_name(DType dtype) {
  if (dtype == DType::boolean) return "Bool(Native)";
  std::string name(andiron::dtype_name(dtype));
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

Tensor tensor_of(const std::string& dtype, const andiron::Shape& shape, Bytes bytes) {
  if (dtype.starts_with("QFloat(")) {
    return Tensor::qfloat(andiron::quant_scheme_from_text(dtype).value(), shape, std::move(bytes))
        .value();
  }
  for (unsigned i = 0; i < andiron::dtype_count; ++i) {
    if (burn_name(static_cast<DType>(i)) == dtype) {
      return Tensor::from_bytes(static_cast<DType>(i), shape, std::move(bytes)).value();
    }
  }
  return Tensor::raw(dtype, shape, std::move(bytes)).value();
}

TensorSnapshot snapshot_of(const Value& line) {
  std::vector<std::uint64_t> dims;
  for (const Value& dim : part<ValueList>(line, "shape")) dims.push_back(number(dim));
  Tensor tensor = tensor_of(part<std::string>(line, "dtype"),
                            andiron::Shape{std::span<const std::uint64_t>(dims)},
                            bytes_of(part<std::string>(line, "data")));
  TensorSnapshot snapshot(part<std::string>(line, "name"), tensor);
  const Value* id = line.find("param_id");
  if (!id || id->is_null()) return snapshot;
  return std::move(snapshot).with_param_id(andiron::ParamId{number(*id)});
}

Value scalar_of(const Value& value) {
  if (const Value* given = value.find("Bool")) return *given;
  if (const Value* given = value.find("UInt")) return number(*given);
  if (value.find("Float")) {
    return std::bit_cast<double>(from_hex(part<std::string>(value, "Float")));
  }
  return part<std::int64_t>(value, "Int");
}

Value line_of(const Value& scalar) {
  if (const auto* flag = scalar.get<bool>()) return ValueDict{{"Bool", *flag}};
  if (const auto* integer = scalar.get<std::int64_t>()) return ValueDict{{"Int", *integer}};
  if (const auto* natural = scalar.get<std::uint64_t>()) return ValueDict{{"UInt", *natural}};
  if (const auto* real = scalar.get<double>()) {
    char digits[17];
    std::snprintf(digits, sizeof(digits), "%016llx",
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(*real)));
    return ValueDict{{"Float", digits}};
  }
  fail("a scalar of no kind");
}

andiron::Archive read_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  andiron::Archive archive;
  for (std::string text; std::getline(file, text);) {
    const Value line = andiron::parse_json(text).value();
    if (line.find("metadata")) {
      andiron::Metadata metadata;
      for (const auto& [key, value] : part<ValueDict>(line, "metadata")) {
        metadata[key] = *value.get<std::string>();
      }
      archive.set_metadata(std::move(metadata));
    } else if (line.find("scalars")) {
      ValueDict scalars;
      for (const auto& [key, value] : part<ValueDict>(line, "scalars")) {
        scalars.emplace_back(key, scalar_of(value));
      }
      archive.set_value(std::move(scalars));
    } else {
      archive.add(snapshot_of(line)).value();
    }
  }
  return archive;
}

void print_tensor(const TensorSnapshot& snapshot, const std::string& dtype, const Tensor& tensor) {
  const std::span<const std::uint64_t> dims = tensor.shape().dims();
  ValueList shape(dims.begin(), dims.end());
  Value param_id;
  if (const auto id = snapshot.param_id()) param_id = id->value;
  const ValueDict line = {{"name", snapshot.full_path()},
                          {"dtype", dtype},
                          {"shape", std::move(shape)},
                          {"param_id", param_id},
                          {"data", hex_of(tensor.bytes().span())}};
  std::puts(andiron::to_json(line).c_str());
}

void list(const std::string& path) {
  const andiron::Archive archive = andiron::open(path).value();
  ValueDict metadata, scalars;
  for (const auto& [key, text] : archive.metadata()) metadata.emplace_back(key, text);
  if (const auto* values = archive.value()->get<ValueDict>()) {
    for (const auto& [key, value] : *values) scalars.emplace_back(key, line_of(value));
  }
  std::puts(andiron::to_json(ValueDict{{"metadata", std::move(metadata)}}).c_str());
  std::puts(andiron::to_json(ValueDict{{"scalars", std::move(scalars)}}).c_str());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorSnapshot snapshot = archive.snapshot(i);
    const std::string_view in_file = archive.info(i).file_dtype;
    const std::string dtype = in_file.empty() ? burn_name(snapshot.dtype()) : std::string(in_file);
    print_tensor(snapshot, dtype, snapshot.read().value());
  }
}

void dequantize(const std::string& path) {
  const andiron::Archive archive = andiron::open(path).value();
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const TensorSnapshot snapshot = archive.snapshot(i);
    if (snapshot.dtype() != DType::qfloat) continue;
    print_tensor(snapshot, "F32", andiron::dequantize(snapshot.read().value()).value());
  }
}

void write(const andiron::Archive& archive, const std::string& out, std::string_view release) {
  andiron::WriteOptions options;
  options.format = andiron::Format::burnpack;
  options.overwrite = true;
  options.sync = false;
  for (int i = 0; i <= static_cast<int>(BurnpackGeneration::burn_0_22); ++i) {
    const auto generation = static_cast<BurnpackGeneration>(i);
    if (name_of(generation) == release) options.settings = andiron::BurnpackSettings{generation};
  }
  static_cast<void>(andiron::write(archive, out, options).value());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  const std::vector<std::string> arguments(argv + (argc < 2 ? argc : 2), argv + argc);
  const std::string release = arguments.size() > 2 ? arguments[2] : "";
  try {
    if (verb == "list" && arguments.size() == 1) {
      list(arguments[0]);
    } else if (verb == "pack" && arguments.size() >= 2) {
      write(read_lines(arguments[0]), arguments[1], release);
    } else if (verb == "rewrite" && arguments.size() >= 2) {
      write(andiron::open(arguments[0]).value(), arguments[1], release);
    } else if (verb == "dequantize" && arguments.size() == 1) {
      dequantize(arguments[0]);
    } else {
      fail("usage: list|dequantize FILE | pack LINES OUT [RELEASE] | rewrite IN OUT [RELEASE]");
    }
  } catch (const andiron::Exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 2;
  }
  return 0;
}
