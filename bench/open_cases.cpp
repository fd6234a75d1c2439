// SPDX-License-Identifier: MIT OR Apache-2.0
// Opening: how long until all names, shapes and places of the tensors are known.
#include <fcntl.h>

#include <cstring>
#include <string_view>

#include "andiron/open.h"
#include "bench/cases.h"
#include "bench/files.h"
#include "bench/jobs.h"
#include "bench/peer.h"

namespace andiron::bench {
namespace {

constexpr std::size_t length_bytes = 8;

class RawReader : public HeadReader {
 public:
  explicit RawReader(std::string path) : path_(std::move(path)) {}

  std::size_t read() override {
    const Descriptor file(path_, O_RDONLY);
    std::uint64_t length = 0;
    read_all(file, 0, std::as_writable_bytes(std::span(&length, 1)));
    header_.resize(length);
    read_all(file, length_bytes, std::as_writable_bytes(std::span(header_)));
    scan();
    keep(records_);
    return records_.size();
  }
  std::size_t head_bytes() const override { return length_bytes + header_.size(); }

 private:
  struct Record {
    std::string_view name;
    std::string_view dtype;
    std::uint64_t shape[4];
    std::size_t rank;
    std::uint64_t begin;
    std::uint64_t end;
  };

  void scan() {
    constexpr std::size_t before_dtype = std::string_view(R"(":{"dtype":")").size();
    constexpr std::size_t before_shape = std::string_view(R"(","shape":[)").size();
    constexpr std::size_t before_offsets = std::string_view(R"(,"data_offsets":[)").size();
    records_.clear();
    const char* at = header_.data();
    const char* const end = at + header_.size();
    const auto text = [&] {
      const char* const first = at;
      at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
      return std::string_view(first, static_cast<std::size_t>(at - first));
    };
    const auto number = [&] {
      std::uint64_t value = 0;
      for (; *at >= '0' && *at <= '9'; ++at) {
        value = 10 * value + static_cast<std::uint64_t>(*at - '0');
      }
      ++at;  // the comma or bracket after it
      return value;
    };
    for (;;) {
      at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
      if (at == nullptr) return;
      ++at;
      Record& record = records_.emplace_back();
      record.name = text();
      at += before_dtype;
      record.dtype = text();
      at += before_shape;
      record.rank = 0;
      while (at[-1] != ']') record.shape[record.rank++] = number();
      at += before_offsets;
      record.begin = number();
      record.end = number();
    }
  }

  std::string path_;
  std::vector<char> header_;
  std::vector<Record> records_;
};

void open_index(Harness& harness, const std::string& name, std::size_t tensors) {
  const TempFolder folder;
  const std::string path = folder.file("many.safetensors");
  write_model(path, many_tensors(tensors, 1024), true);
  RawReader raw(path);
  Job job = open_index_job(name, path, raw, tensors);
  const auto peer = Peer::start(harness, "open", path);
  if (peer != nullptr) job.programs.push_back(repeated(peer->program(), job.amount / tensors));
  harness.measure(job);
}

void open_4gib(Harness& harness) {
  const TempFolder folder;
  const std::string path = folder.file("large.safetensors");
  constexpr std::uint64_t tensor_bytes = std::uint64_t{16} << 20;
  std::vector<TensorSpec> tensors;
  for (std::size_t i = 0; i < 256; ++i) {
    tensors.push_back(
        {"layers." + std::to_string(i) + ".weight", "F32", {2048, 2048}, tensor_bytes});
  }
  write_model(path, tensors, true);
  RawReader raw(path);
  Job job = open_job("open_4gib", path, raw, 100);
  const std::uint64_t cached = bytes_cached_by([&] { keep(open(path).value()); }, path);
  job.note += ", cold it brings " + std::to_string(cached) + " into the page cache";
  harness.measure(job);
}

}  // namespace

std::vector<Case> open_cases() {
  return {index_case("open_index_1k", "header", 1000, open_index),
          index_case("open_index_10k", "header", 10'000, open_index),
          index_case("open_index_100k", "header", 100'000, open_index),
          {"open_4gib", "256 tensors in a file of 4 GiB: only the header is touched", open_4gib}};
}

}  // namespace andiron::bench
