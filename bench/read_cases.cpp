// SPDX-License-Identifier: MIT OR Apache-2.0
// Reading tensors as they are, from the page cache.
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "andiron/open.h"
#include "bench/cases.h"
#include "bench/files.h"
#include "bench/peer.h"

namespace andiron::bench {
namespace {

void expect_equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (!std::ranges::equal(a, b)) throw std::runtime_error("the programs disagree");
}

// A model in the shape of a language model: 1000 MiB in 100 tensors, or 120 MiB in 12 of them.
class Model {
 public:
  explicit Model(const Harness& harness) : path_(folder_.file("model.safetensors")) {
    std::vector<TensorSpec> tensors;
    const int layers = harness.settings().quick ? 3 : 25;
    for (int i = 0; i < layers; ++i) {
      const std::string layer = "layers." + std::to_string(i);
      tensors.push_back({layer + ".attn.weight", "F16", {2048, 2048}, 8 << 20});
      tensors.push_back({layer + ".mlp.up.weight", "F16", {4096, 2048}, 16 << 20});
      tensors.push_back({layer + ".mlp.down.weight", "F16", {2048, 4096}, 16 << 20});
      tensors.push_back({layer + ".norm.weight", "F16", {2048}, 4096});
    }
    for (const TensorSpec& tensor : tensors) data_bytes_ += tensor.bytes;
    data_begin_ = write_model(path_, tensors);
  }

  const std::string& path() const { return path_; }
  std::uint64_t data_begin() const { return data_begin_; }
  std::size_t data_bytes() const { return data_bytes_; }

 private:
  TempFolder folder_;
  std::string path_;
  std::uint64_t data_begin_ = 0;
  std::size_t data_bytes_ = 0;
};

// The whole data section in one run of large reads, by one thread or by two that take a half each.
void read_raw(const Descriptor& file, const Model& model, std::span<std::byte> out,
              bool two_threads) {
  if (!two_threads) return read_all(file, model.data_begin(), out);
  const std::size_t half = out.size() / 2;
  std::thread other([&] { read_all(file, model.data_begin() + half, out.subspan(half)); });
  read_all(file, model.data_begin(), out.first(half));
  other.join();
}

std::vector<Tensor> read_tensors(const Archive& archive) {
  std::vector<Tensor> tensors;
  tensors.reserve(archive.size());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    tensors.push_back(archive.snapshot(i).read().value());
  }
  return tensors;
}

void read_all_fresh(Harness& harness) {
  const Model model(harness);
  const Descriptor file(model.path(), O_RDONLY);
  const Archive archive = open(model.path()).value();
  {
    const Mapping mapping(model.path());
    for (std::size_t i = 0; i < archive.size(); ++i) {
      const TensorInfo info = archive.info(i);
      expect_equal(archive.snapshot(i).read().value().bytes().span(),
                   mapping.bytes().subspan(*info.offset, info.byte_size));
    }
  }
  const auto raw = [&](bool two_threads) {
    HugeMemory memory(model.data_bytes());
    read_raw(file, model, memory.bytes(), two_threads);
    keep(memory);
  };
  Job job{.name = "read_all_fresh", .amount = model.data_bytes()};
  job.programs = {{.name = "raw", .run = [&] { raw(false); }},
                  {.name = "andiron", .run = [&] { keep(read_tensors(archive)); }},
                  {.name = "raw, 2 threads", .run = [&] { raw(true); }}};
  const auto peer = Peer::start(harness, "load", model.path());
  if (peer != nullptr) job.programs.push_back(peer->program());
  harness.measure(job);
}

void read_all_reused(Harness& harness) {
  const Model model(harness);
  const Descriptor file(model.path(), O_RDONLY);
  const Archive archive = open(model.path()).value();
  HugeMemory memory(model.data_bytes());
  memory.touch();
  const auto read = [&] {
    std::span<std::byte> room = memory.bytes();
    for (std::size_t i = 0; i < archive.size(); ++i) {
      const TensorSnapshot snapshot = archive.snapshot(i);
      snapshot.read_into(room.first(snapshot.byte_size())).value();
      room = room.subspan(snapshot.byte_size());
    }
  };
  read();
  expect_equal(memory.bytes(), Mapping(model.path()).bytes().subspan(model.data_begin()));
  const auto raw = [&](bool two_threads) { read_raw(file, model, memory.bytes(), two_threads); };
  harness.measure({.name = "read_all_reused",
                   .amount = model.data_bytes(),
                   .programs = {{.name = "raw", .run = [&] { raw(false); }},
                                {.name = "andiron", .run = read},
                                {.name = "raw, 2 threads", .run = [&] { raw(true); }}}});
}

// Not inlined, so that both programs run the same code.
[[gnu::noinline]] std::uint64_t sum(std::span<const std::byte> data) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i + sizeof total <= data.size(); i += sizeof total) {
    std::uint64_t word;
    std::memcpy(&word, data.data() + i, sizeof word);
    total += word;
  }
  return total;
}

void borrow_and_sum(Harness& harness) {
  const Model model(harness);
  const auto raw = [&] {
    const Mapping mapping(model.path());
    return sum(mapping.bytes().subspan(model.data_begin()));
  };
  const auto borrow = [&] {
    const Archive archive = open(model.path()).value();
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < archive.size(); ++i) {
      total += sum(archive.snapshot(i).borrow().value().bytes().span());
    }
    return total;
  };
  if (raw() != borrow()) throw std::runtime_error("the programs disagree");
  harness.measure({.name = "borrow_and_sum",
                   .amount = model.data_bytes(),
                   .programs = {{.name = "raw", .run = [&] { keep(raw()); }},
                                {.name = "andiron", .run = [&] { keep(borrow()); }}}});
}

// Every hundredth row of a tensor.
void slice_rows(Harness& harness) {
  constexpr std::uint64_t columns = 1024;
  constexpr std::uint64_t row_bytes = 4 * columns;
  constexpr std::uint64_t step = 100;
  const std::uint64_t rows = harness.settings().quick ? 32'768 : 262'144;
  const TempFolder folder;
  const std::string path = folder.file("table.safetensors");
  const TensorSpec table{"table", "F32", {rows, columns}, rows * row_bytes};
  const std::uint64_t data_begin = write_model(path, std::span(&table, 1));

  const Descriptor file(path, O_RDONLY);
  const TensorSnapshot slice =
      open(path).value().snapshot(0).slice(0, 0, {}, static_cast<std::int64_t>(step)).value();
  std::vector<std::byte> a(slice.byte_size());
  std::vector<std::byte> b(slice.byte_size());
  const auto raw = [&] {
    for (std::uint64_t row = 0, at = 0; row < rows; row += step, at += row_bytes) {
      read_all(file, data_begin + row * row_bytes, std::span(a).subspan(at, row_bytes));
    }
  };
  const auto read = [&] { slice.read_into(b).value(); };
  raw();
  const std::uint64_t bytes_read = bytes_read_by(read);
  expect_equal(a, b);
  harness.measure({.name = "slice_rows",
                   .amount = slice.byte_size(),
                   .programs = {{.name = "raw", .run = raw}, {.name = "andiron", .run = read}},
                   .note = "reads " + std::to_string(bytes_read) + " bytes for " +
                           std::to_string(slice.byte_size())});
}

}  // namespace

std::vector<Case> read_cases() {
  return {
      {"read_all_fresh", "every tensor into fresh memory, which is freed again", read_all_fresh},
      {"read_all_reused", "every tensor into memory that was used before", read_all_reused},
      {"borrow_and_sum", "open, borrow every tensor from a mapping, read each byte",
       borrow_and_sum},
      {"slice_rows", "one percent of the rows of a large tensor", slice_rows}};
}

}  // namespace andiron::bench
