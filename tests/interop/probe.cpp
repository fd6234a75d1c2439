// SPDX-License-Identifier: MIT OR Apache-2.0
// The library as a program, for the suites that compare it with other systems.
//
//   rewrite IN OUT [--align N] [--max-shard-size N] [--precision half|double]   open and write
//   random SEED OUT                                   a file with every dtype and odd names
//   convert FROM TO [--scalar]                        element bits from standard input to output
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/dtype.h"
#include "andiron/open.h"
#include "andiron/write.h"

namespace {

using andiron::DType;

void rewrite(const std::vector<std::string>& arguments) {
  andiron::WriteOptions options;
  options.overwrite = true;
  options.sync = false;
  for (std::size_t i = 2; i + 1 < arguments.size(); i += 2) {
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--align")
      options.settings = andiron::SafetensorsSettings{.data_alignment = std::stoull(value)};
    if (arguments[i] == "--max-shard-size") options.max_shard_bytes = std::stoull(value);
    if (value == "half") options.settings = andiron::MpkSettings{andiron::RecordPrecision::half};
    if (value == "double")
      options.settings = andiron::MpkSettings{andiron::RecordPrecision::doubled};
  }
  andiron::Archive archive = andiron::open(arguments[0]).value();
  andiron::WriteReport report = andiron::write(archive, arguments[1], options).value();
  for (const std::string& file : report.files) std::puts(file.c_str());
}

/// Makes the same archive from the same seed on every machine, which the standard distributions do
/// not.
class RandomArchive {
 public:
  explicit RandomArchive(std::uint64_t seed) : engine_(seed) {}

  andiron::Archive make() {
    andiron::Archive archive;
    for (unsigned number = 0; number < andiron::dtype_count; ++number) {
      auto dtype = static_cast<DType>(number);
      if (andiron::is_opaque(dtype) || dtype == DType::c32 || dtype == DType::c128) continue;
      for (std::uint64_t copies = 1 + below(3); copies > 0; --copies) {
        archive.add({unused_name(archive), tensor(dtype)}).value();
      }
    }
    andiron::Metadata metadata;
    static constexpr std::uint64_t entry_counts[] = {0, 1, 5};
    for (std::uint64_t entries = entry_counts[below(3)]; entries > 0; --entries) {
      metadata[text(8)] = text(20);
    }
    archive.set_metadata(std::move(metadata));
    return archive;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }

  std::string text(std::uint64_t max_pieces) {
    static constexpr std::string_view pieces[] = {"layer",
                                                  ".",
                                                  "weight",
                                                  "0",
                                                  "10",
                                                  "_",
                                                  "/",
                                                  "\\",
                                                  "\"",
                                                  "'",
                                                  " ",
                                                  "\t",
                                                  "\n",
                                                  "\r",
                                                  "\b",
                                                  "\f",
                                                  "\x01",
                                                  "\x1f",
                                                  "\x7f",
                                                  "{}",
                                                  "[",
                                                  ":,",
                                                  "%s",
                                                  "<a>",
                                                  "\xc3\xa9",
                                                  "\u2028",
                                                  "\u4e2d\u6587",
                                                  "\U0001F525",
                                                  "\U0001F468\u200D\U0001F469",
                                                  "e\u0301"};
    std::string result;
    for (std::uint64_t count = below(max_pieces + 1); count > 0; --count) {
      result += pieces[below(std::size(pieces))];
    }
    return result;
  }

  std::string unused_name(const andiron::Archive& archive) {
    std::string name = text(6);
    while (archive.find(name)) name += text(6);
    return name;
  }

  andiron::Tensor tensor(DType dtype) {
    std::vector<std::uint64_t> dims(below(7));
    for (std::uint64_t& dim : dims) dim = below(12) == 0 ? 0 : 1 + below(5);
    // Elements of sub-byte types fill whole bytes, and a scalar of four bits does not.
    if (andiron::is_sub_byte(dtype)) dims.push_back(4 * below(5));
    andiron::Shape shape{std::span<const std::uint64_t>(dims)};
    std::vector<std::byte> data(shape.byte_count(dtype).value());
    for (std::byte& byte : data) {
      byte = static_cast<std::byte>(dtype == DType::boolean ? below(2) : below(256));
    }
    return andiron::Tensor::from_bytes(dtype, shape, andiron::Bytes::own(std::move(data))).value();
  }

  std::mt19937_64 engine_;
};

DType dtype_by_name(std::string_view name) {
  for (unsigned number = 0; number < andiron::dtype_count; ++number) {
    auto dtype = static_cast<DType>(number);
    if (andiron::dtype_name(dtype) == name) return dtype;
  }
  std::fprintf(stderr, "no dtype '%.*s'\n", static_cast<int>(name.size()), name.data());
  std::exit(4);
}

/// Bytes of one element on the pipe, where types narrower than a byte take a whole one.
std::size_t pipe_width(DType dtype) {
  return andiron::is_sub_byte(dtype) ? 1 : andiron::bit_width(dtype) / 8;
}

std::vector<std::byte> convert_tensor(DType from, DType to, std::vector<std::byte> input) {
  andiron::Shape shape{input.size() / pipe_width(from)};
  auto bytes = andiron::Bytes::own(std::move(input));
  auto tensor = andiron::Tensor::from_bytes(from, shape, std::move(bytes)).value();
  auto converted = andiron::TensorSnapshot("x", tensor).cast(to).value().read().value();
  std::span<const std::byte> data = converted.bytes().span();
  return {data.begin(), data.end()};
}

/// One element at a time, through decode_float and encode_float.
std::vector<std::byte> convert_scalars(DType from, DType to, std::span<const std::byte> input) {
  std::size_t from_width = pipe_width(from);
  std::size_t to_width = pipe_width(to);
  std::vector<std::byte> output(input.size() / from_width * to_width);
  for (std::size_t i = 0; i < input.size() / from_width; ++i) {
    std::uint64_t bits = 0;
    for (std::size_t byte = from_width; byte-- > 0;) {
      bits = bits << 8 | static_cast<std::uint64_t>(input[i * from_width + byte]);
    }
    std::uint64_t result = andiron::encode_float(to, andiron::decode_float(from, bits));
    for (std::size_t byte = 0; byte < to_width; ++byte) {
      output[i * to_width + byte] = static_cast<std::byte>(result >> (8 * byte));
    }
  }
  return output;
}

void convert(const std::vector<std::string>& arguments) {
  DType from = dtype_by_name(arguments[0]);
  DType to = dtype_by_name(arguments[1]);
  std::vector<std::byte> input;
  std::byte window[1 << 16];
  while (std::size_t count = std::fread(window, 1, sizeof(window), stdin)) {
    input.insert(input.end(), window, window + count);
  }
  bool scalar = arguments.size() > 2 || andiron::is_sub_byte(from) || andiron::is_sub_byte(to);
  std::vector<std::byte> output =
      scalar ? convert_scalars(from, to, input) : convert_tensor(from, to, std::move(input));
  std::fwrite(output.data(), 1, output.size(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string verb = argc > 1 ? argv[1] : "";
  std::vector<std::string> arguments(argv + (argc < 2 ? argc : 2), argv + argc);
  try {
    if (verb == "rewrite" && arguments.size() >= 2) {
      rewrite(arguments);
    } else if (verb == "random" && arguments.size() == 2) {
      andiron::WriteOptions options;
      options.sync = false;
      andiron::Archive archive = RandomArchive(std::stoull(arguments[0])).make();
      static_cast<void>(andiron::write(archive, arguments[1], options).value());
    } else if (verb == "convert" && arguments.size() >= 2) {
      convert(arguments);
    } else {
      std::fputs(
          "usage: rewrite IN OUT [--align N] [--max-shard-size N] [--precision P] | random SEED "
          "OUT |"
          " convert FROM TO [--scalar]\n",
          stderr);
      return 4;
    }
  } catch (const andiron::Exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 2;
  }
  return 0;
}
