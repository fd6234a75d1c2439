// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

namespace andiron::bench {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t chunk = std::size_t{8} << 20;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string header_of(std::span<const TensorSpec> tensors) {
  std::string text = "{";
  std::uint64_t offset = 0;
  for (const TensorSpec& tensor : tensors) {
    if (text.size() > 1) text += ',';
    text += '"' + tensor.name + R"(":{"dtype":")" + tensor.dtype + R"(","shape":[)";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      if (i != 0) text += ',';
      text += std::to_string(tensor.shape[i]);
    }
    text += R"(],"data_offsets":[)" + std::to_string(offset) + ',';
    offset += tensor.bytes;
    text += std::to_string(offset) + "]}";
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  std::string header(sizeof length, '\0');
  for (std::size_t i = 0; i < sizeof length; ++i) header[i] = static_cast<char>(length >> 8 * i);
  return header + text;
}

}  // namespace

TempFolder::TempFolder() {
  path_ = (std::filesystem::temp_directory_path() / "andiron-bench-XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) fail("cannot make a temporary folder");
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::uint64_t write_model(const std::string& path, std::span<const TensorSpec> tensors,
                          bool sparse) {
  const std::string header = header_of(tensors);
  std::uint64_t left = 0;
  for (const TensorSpec& tensor : tensors) left += tensor.bytes;
  const Descriptor file(path, O_RDWR | O_CREAT | O_TRUNC);
  write_all(file, 0, std::as_bytes(std::span(header)));
  std::uint64_t offset = header.size();
  if (sparse) {
    if (::ftruncate(file.get(), static_cast<off_t>(offset + left)) != 0) fail(path);
    return header.size();
  }
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> words(chunk / sizeof(std::uint64_t));
  while (left != 0) {
    for (std::uint64_t& word : words) word = random();
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, chunk));
    write_all(file, offset, std::as_bytes(std::span(words)).first(count));
    offset += count;
    left -= count;
  }
  // Dirty pages would be written back in the middle of a measurement.
  if (::fsync(file.get()) != 0) fail(path);
  return header.size();
}

std::vector<TensorSpec> large_tensors(std::size_t count) {
  std::vector<TensorSpec> tensors;
  for (std::size_t i = 0; i < count; ++i) {
    tensors.push_back({"layers." + std::to_string(i) + ".weight", "BF16", {4096, 2048}, 16 << 20});
  }
  return tensors;
}

std::vector<TensorSpec> model_tensors(bool quick) { return large_tensors(quick ? 4 : 32); }

void write_random_model(const std::string& path, bool quick) {
  write_model(path, model_tensors(quick));
}

std::vector<TensorSpec> many_tensors(std::size_t count, std::uint64_t side) {
  constexpr const char* parts[] = {
      "self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight",
      "self_attn.o_proj.weight", "mlp.gate_proj.weight",    "mlp.up_proj.weight",
      "mlp.down_proj.weight",    "input_layernorm.weight",  "post_attention_layernorm.weight"};
  constexpr std::size_t part_count = std::size(parts);
  std::vector<TensorSpec> tensors;
  tensors.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name =
        "model.layers." + std::to_string(i / part_count) + "." + parts[i % part_count];
    tensors.push_back({name, "BF16", {side, side}, 2 * side * side});
  }
  return tensors;
}

Descriptor::Descriptor(const std::string& path, int flags)
    : number_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {
  if (number_ < 0) fail(path);
}
Descriptor::~Descriptor() { ::close(number_); }

Mapping::Mapping(const std::string& path) {
  const Descriptor file(path, O_RDONLY);
  struct stat found{};
  if (::fstat(file.get(), &found) != 0) fail(path);
  size_ = static_cast<std::size_t>(found.st_size);
  void* const address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail(path);
  data_ = static_cast<std::byte*>(address);
}
Mapping::~Mapping() { ::munmap(data_, size_); }

std::uint64_t Mapping::resident_bytes() const {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((size_ + page - 1) / page);
  if (::mincore(data_, size_, pages.data()) != 0) fail("mincore");
  const auto count = std::count_if(pages.begin(), pages.end(), [](auto p) { return (p & 1) != 0; });
  return static_cast<std::uint64_t>(count) * page;
}

HugeMemory::HugeMemory(std::size_t size) : size_(size) {
  void* const address = ::mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) fail("no memory");
  mapping_ = static_cast<std::byte*>(address);
  data_ =
      mapping_ + (huge_page - reinterpret_cast<std::uintptr_t>(mapping_) % huge_page) % huge_page;
  ::madvise(data_, size, MADV_HUGEPAGE);
}
HugeMemory::~HugeMemory() { ::munmap(mapping_, size_ + huge_page); }

void HugeMemory::touch() { std::memset(data_, 1, size_); }

void read_all(const Descriptor& file, std::uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got =
        ::pread(file.get(), out.data(), std::min(out.size(), chunk), static_cast<off_t>(offset));
    if (got <= 0) fail("pread");
    offset += static_cast<std::uint64_t>(got);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

void write_all(const Descriptor& file, std::uint64_t offset, std::span<const std::byte> data) {
  constexpr std::size_t write_chunk = std::size_t{1} << 20;
  while (!data.empty()) {
    const ssize_t put = ::pwrite(file.get(), data.data(), std::min(data.size(), write_chunk),
                                 static_cast<off_t>(offset));
    if (put <= 0) fail("pwrite");
    offset += static_cast<std::uint64_t>(put);
    data = data.subspan(static_cast<std::size_t>(put));
  }
}

void reserve(const Descriptor& file, std::uint64_t size) {
  if (::fallocate(file.get(), 0, 0, static_cast<off_t>(size)) != 0) {
    fail("this file system cannot reserve space");
  }
}

void evict(const std::string& path) {
  const Descriptor file(path, O_RDWR);
  if (::fsync(file.get()) != 0) fail(path);
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace andiron::bench
