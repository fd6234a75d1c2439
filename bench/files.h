// SPDX-License-Identifier: MIT OR Apache-2.0
// Model files to measure with, and the system calls that the raw programs are made of. Failures
// throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace andiron::bench {

// A folder under TMPDIR, removed with all its content.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A tensor of a file to be made, with its dtype in SafeTensors' spelling.
struct TensorSpec {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes;
};

// A SafeTensors file with random data, or with a hole in place of its data. Returns where the data
// begins.
std::uint64_t write_model(const std::string& path, std::span<const TensorSpec> tensors,
                          bool sparse = false);
// Tensors of 16 MiB.
std::vector<TensorSpec> large_tensors(std::size_t count);
// 512 MiB of them, or 64 MiB where it has to be quick.
std::vector<TensorSpec> model_tensors(bool quick);
// A SafeTensors file of those.
void write_random_model(const std::string& path, bool quick);
// Square matrices of bf16, named as those of a language model.
std::vector<TensorSpec> many_tensors(std::size_t count, std::uint64_t side);

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

// A whole file, mapped for reading.
class Mapping {
 public:
  explicit Mapping(const std::string& path);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Bytes of it that lie in the page cache.
  std::uint64_t resident_bytes() const;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Anonymous memory on huge pages where the system has them, as large loads want it. Untouched.
class HugeMemory {
 public:
  explicit HugeMemory(std::size_t size);
  ~HugeMemory();
  HugeMemory(const HugeMemory&) = delete;
  HugeMemory& operator=(const HugeMemory&) = delete;
  std::span<std::byte> bytes() { return {data_, size_}; }
  // Writes to every page, so that later use meets no page fault.
  void touch();

 private:
  std::byte* mapping_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

void read_all(const Descriptor& file, std::uint64_t offset, std::span<std::byte> out);
void write_all(const Descriptor& file, std::uint64_t offset, std::span<const std::byte> data);
// Gives a file its size and its place on the disk.
void reserve(const Descriptor& file, std::uint64_t size);
// Puts a file's pages out of the page cache.
void evict(const std::string& path);

// Keeps a result that nobody looks at from being optimized away.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "g"(&value) : "memory");
}

}  // namespace andiron::bench
