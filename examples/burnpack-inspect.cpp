// SPDX-License-Identifier: MIT OR Apache-2.0
// Shows how a Burnpack file is laid out, byte range by byte range, and how to look at its bytes. If
// there is no such file, it first saves a sample: a model of three Linear layers with 10,666
// parameters. 'andiron info --hex' shows the metadata in detail.
// usage: burnpack-inspect [FILE], sample.bpk by default
#include <andiron/andiron.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <ios>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

using namespace andiron;

namespace {

struct SampleModel {
  nn::Linear linear1 = nn::LinearConfig(128, 64).init();
  nn::Linear linear2 = nn::LinearConfig(64, 32).init();
  nn::Linear linear3 = nn::LinearConfig(32, 10).init();
  ANDIRON_MODULE(SampleModel, linear1, linear2, linear3)
};

void save_sample(const std::string& path) {
  auto store = BurnpackStore::from_file(path)
                   .auto_extension(false)
                   .metadata("format", "burnpack")
                   .metadata("description", "Sample model to look at")
                   .metadata("version", "1.0.0")
                   .metadata("author", "burnpack-inspect");
  save_into(SampleModel(), store).value();
  std::printf("saved a sample: %s\n", path.c_str());
}

// The first bytes of the file say how long the metadata is.
std::uint64_t metadata_size(const std::string& path) {
  std::array<char, burnpack_header_bytes> head = {};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  std::uint64_t size = 0;
  const ViewStatus status = read_burnpack_header(std::as_bytes(std::span(head)), size);
  if (!status.ok()) throw std::runtime_error(path + ": " + std::string(status.what));
  return size;
}

// A range of the file, and what it is.
struct Range {
  std::uint64_t begin;
  std::uint64_t bytes;
  std::string content;
};

std::vector<Range> ranges_of(const Archive& file, std::uint64_t metadata_bytes) {
  std::vector<Range> ranges = {{0, burnpack_header_bytes, "magic 'NRUB', version, metadata size"},
                               {burnpack_header_bytes, metadata_bytes, "metadata, in CBOR"}};
  for (std::size_t i = 0; i < file.size(); ++i) {
    const TensorSnapshot tensor = file.snapshot(i);
    ranges.push_back({file.info(i).offset.value(), tensor.byte_size(),
                      display_text(tensor.full_path()) + ' ' + tensor.dtype_text() + ' ' +
                          tensor.shape().to_string()});
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return ranges;
}

void inspect(const std::string& path) {
  const std::uint64_t metadata_bytes = metadata_size(path);
  const Archive file = open(path).value();
  std::printf("\n%s: %" PRIu64 " bytes\n", path.c_str(), file.file_bytes());
  for (const auto& [key, value] : file.metadata()) {
    std::printf("  %s: %s\n", display_text(key).c_str(), display_text(value).c_str());
  }

  std::printf("\n    offset      bytes  content\n");
  std::uint64_t end = 0;
  for (const auto& [begin, bytes, content] : ranges_of(file, metadata_bytes)) {
    if (begin > end) std::printf("%10" PRIu64 " %10" PRIu64 "  padding\n", end, begin - end);
    std::printf("%10" PRIu64 " %10" PRIu64 "  %s\n", begin, bytes, content.c_str());
    end = std::max(end, begin + bytes);
  }

  std::uint64_t parameters = 0;
  for (std::size_t i = 0; i < file.size(); ++i) {
    parameters += file.snapshot(i).shape().element_count().value();
  }
  std::printf("%zu tensors, %" PRIu64 " parameters\n", file.size(), parameters);

  std::printf("\nTo look at the bytes:\n");
  std::printf("  andiron info --hex '%s'\n", path.c_str());
  std::printf("  xxd -l %zu '%s'\n", burnpack_header_bytes, path.c_str());
  std::printf("  hexdump -C -s %zu -n %" PRIu64 " '%s'\n", burnpack_header_bytes, metadata_bytes,
              path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "usage: %s [FILE]\n", argv[0]);
    return 4;
  }
  const std::string path = argc == 2 ? argv[1] : "sample.bpk";
  try {
    if (!std::filesystem::exists(path)) save_sample(path);
    inspect(path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
