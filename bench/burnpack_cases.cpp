// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack: opening an index, saving, and moving a model from one file to another.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "andiron/open.h"
#include "andiron/write.h"
#include "bench/cases.h"
#include "bench/files.h"
#include "src/format/format.h"

namespace andiron::bench {
namespace {

constexpr std::size_t header_bytes = 10;

// Keeps the first bytes that come, which are the header.
class HeadSink : public Sink {
 public:
  Status reserve(std::uint64_t total) override {
    total_ = total;
    return {};
  }
  Status write(std::span<const std::byte> data) override {
    if (head_.empty()) head_.assign(data.begin(), data.end());
    return {};
  }
  const std::vector<std::byte>& head() const { return head_; }
  std::uint64_t total() const { return total_; }

 private:
  std::vector<std::byte> head_;
  std::uint64_t total_ = 0;
};

// A file whose data is a hole.
void write_sparse(const std::string& path, std::size_t tensors, const Shape& shape) {
  const std::uint64_t bytes = shape.byte_count(DType::bf16).value();
  const ByteSourcePtr source = memory_source(Bytes::allocate(bytes).value());
  constexpr const char* parts[] = {"query.weight", "key.weight", "value.weight", "output.weight",
                                   "norm.gamma"};
  Archive archive;
  for (std::size_t i = 0; i < tensors; ++i) {
    const std::string name = "transformer.layers." + std::to_string(i / std::size(parts)) + "." +
                             parts[i % std::size(parts)];
    archive
        .add(TensorSnapshot::from_source(name, source, 0, bytes, DType::bf16, shape)
                 .value()
                 .with_param_id(ParamId::generate()))
        .value();
  }
  HeadSink sink;
  detail::write_burnpack(archive, sink, {.dry_run = true}).value();
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL);
  write_all(file, 0, sink.head());
  if (::ftruncate(file.get(), static_cast<off_t>(sink.total())) != 0) {
    throw std::runtime_error("cannot make a sparse file");
  }
}

// The least that a reader can do: reads the metadata into memory that it keeps, and takes names,
// shapes, places and ids out of it in one pass. It trusts every byte and cannot look up a name.
class RawReader {
 public:
  explicit RawReader(std::string path) : path_(std::move(path)) {}

  std::size_t read() {
    const Descriptor file(path_, O_RDONLY);
    unsigned char fixed[header_bytes];
    read_all(file, 0, std::as_writable_bytes(std::span(fixed)));
    const std::uint32_t size =
        fixed[6] | fixed[7] << 8 | fixed[8] << 16 | static_cast<std::uint32_t>(fixed[9]) << 24;
    metadata_.resize(size);
    read_all(file, header_bytes, std::as_writable_bytes(std::span(metadata_)));
    scan();
    keep(records_);
    return records_.size();
  }
  std::size_t head_bytes() const { return header_bytes + metadata_.size(); }

 private:
  struct Record {
    std::string_view name;
    std::string_view dtype;
    std::uint64_t shape[4];
    std::size_t rank;
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t id;
  };

  void scan() {
    const unsigned char* at = metadata_.data();
    const auto number = [&] {
      const unsigned info = *at++ & 31u;
      if (info < 24) return std::uint64_t{info};
      std::uint64_t value = 0;
      for (unsigned i = 0; i < 1u << (info - 24); ++i) value = value << 8 | *at++;
      return value;
    };
    const auto text = [&] {
      const std::uint64_t size = number();
      const std::string_view out(reinterpret_cast<const char*>(at), size);
      at += size;
      return out;
    };
    records_.clear();
    number();
    text();
    const std::uint64_t count = number();
    records_.resize(count);
    for (Record& record : records_) {
      record.name = text();
      const std::uint64_t fields = number();
      text();
      record.dtype = text();
      text();
      record.rank = number();
      for (std::size_t d = 0; d < record.rank; ++d) record.shape[d] = number();
      text();
      number();
      record.begin = number();
      record.end = number();
      if (fields == 3) continue;
      text();
      record.id = number();
    }
  }

  std::string path_;
  std::vector<unsigned char> metadata_;
  std::vector<Record> records_;
};

std::string bytes_note(std::uint64_t read, std::uint64_t head) {
  return "reads " + std::to_string(read) + " bytes, header " + std::to_string(head);
}

void open_index(Harness& harness, const std::string& name, std::size_t tensors) {
  const TempFolder folder;
  const std::string path = folder.file("many.bpk");
  write_sparse(path, tensors, {256, 256});
  RawReader raw(path);
  if (raw.read() != tensors || open(path).value().size() != tensors) {
    throw std::runtime_error("tensors are missing");
  }
  const std::uint64_t read = bytes_read_by([&] { keep(open(path).value()); });
  const std::size_t times = std::max<std::size_t>(100'000 / tensors, 1);
  harness.measure(
      {.name = name,
       .unit = Unit::tensors,
       .amount = times * tensors,
       .programs = {repeated({.name = "raw", .run = [&] { raw.read(); }}, times),
                    repeated({.name = "andiron", .run = [&] { keep(open(path).value()); }}, times)},
       .note = bytes_note(read, raw.head_bytes())});
}

void open_4gib(Harness& harness) {
  const TempFolder folder;
  const std::string path = folder.file("large.bpk");
  write_sparse(path, 256, {2048, 4096});
  RawReader raw(path);
  raw.read();
  const std::uint64_t read = bytes_read_by([&] { keep(open(path).value()); });
  evict(path);
  const Archive opened = open(path).value();
  for (std::size_t i = 0; i < opened.size(); ++i) keep(opened.snapshot(i).borrow().value());
  const std::uint64_t resident = Mapping(path).resident_bytes();
  constexpr std::size_t times = 100;
  harness.measure(
      {.name = "burnpack_open_4gib",
       .unit = Unit::runs,
       .amount = times,
       .programs = {repeated({.name = "raw", .run = [&] { raw.read(); }}, times),
                    repeated({.name = "andiron", .run = [&] { keep(open(path).value()); }}, times)},
       .note = bytes_note(read, raw.head_bytes()) +
               "; cold, opening and borrowing every tensor brings " + std::to_string(resident) +
               " into the page cache"});
}

// A model of tensors of 16 MiB.
Archive random_model(const TempFolder& folder, std::size_t tensors) {
  std::vector<TensorSpec> specs;
  for (std::size_t i = 0; i < tensors; ++i) {
    specs.push_back({"layers." + std::to_string(i) + ".weight", "BF16", {4096, 2048}, 16 << 20});
  }
  const std::string path = folder.file("source.safetensors");
  write_model(path, specs);
  return open(path).value();
}

void write_raw(const std::string& path, std::span<const std::byte> bytes, bool sync) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (::fallocate(file.get(), 0, 0, static_cast<off_t>(bytes.size())) != 0) {
    throw std::runtime_error("this file system cannot reserve space");
  }
  write_all(file, 0, bytes);
  if (sync && ::fsync(file.get()) != 0) throw std::runtime_error("fsync failed");
}

void save(Harness& harness, const std::string& name, bool sync) {
  const TempFolder folder;
  const Bytes bytes = write_to_memory(random_model(folder, harness.settings().quick ? 4 : 32),
                                      {.format = Format::burnpack})
                          .value();
  const Archive archive = open(bytes).value();
  const std::string raw_path = folder.file("raw");
  const std::string path = folder.file("model.bpk");
  const auto raw = [&] { write_raw(raw_path, bytes.span(), sync); };
  const auto write_file = [&] {
    if (write(archive, path, {.sync = sync}).value().bytes != bytes.size()) {
      throw std::runtime_error("the programs disagree");
    }
  };
  const auto remove_old = [&] {
    ::unlink(raw_path.c_str());
    ::unlink(path.c_str());
  };
  harness.measure({.name = name,
                   .amount = bytes.size(),
                   .programs = {{.name = "raw", .run = raw, .prepare = remove_old},
                                {.name = "andiron", .run = write_file, .prepare = remove_old}}});
}

// From one file to another, with both in the page cache.
void convert(Harness& harness) {
  const TempFolder folder;
  const Archive archive = random_model(folder, harness.settings().quick ? 4 : 32);
  const std::string source = folder.file("source.safetensors");
  const std::string raw_path = folder.file("raw");
  const std::string path = folder.file("model.bpk");
  const std::uint64_t size = archive.file_bytes();
  const auto raw = [&] {
    const Descriptor in(source, O_RDONLY);
    const Descriptor out(raw_path, O_WRONLY | O_CREAT | O_EXCL);
    if (::fallocate(out.get(), 0, 0, static_cast<off_t>(size)) != 0) {
      throw std::runtime_error("this file system cannot reserve space");
    }
    std::vector<std::byte> window(std::size_t{1} << 20);
    for (std::uint64_t at = 0; at < size; at += window.size()) {
      const std::span part =
          std::span(window).first(std::min<std::uint64_t>(window.size(), size - at));
      read_all(in, at, part);
      write_all(out, at, part);
    }
  };
  const auto write_file = [&] { keep(write(archive, path, {.sync = false}).value()); };
  const auto remove_old = [&] {
    ::unlink(raw_path.c_str());
    ::unlink(path.c_str());
  };
  harness.measure({.name = "burnpack_convert",
                   .amount = size,
                   .programs = {{.name = "raw", .run = raw, .prepare = remove_old},
                                {.name = "andiron", .run = write_file, .prepare = remove_old}}});
}

Case index_case(const std::string& name, std::size_t tensors) {
  return {name, "Burnpack metadata of " + std::to_string(tensors) + " tensors, warm",
          [=](Harness& harness) { open_index(harness, name, tensors); }};
}

}  // namespace

std::vector<Case> burnpack_cases() {
  return {index_case("burnpack_index_1k", 1000),
          index_case("burnpack_index_10k", 10'000),
          index_case("burnpack_index_100k", 100'000),
          {"burnpack_open_4gib",
           "256 tensors in a Burnpack file of 4 GiB: only the header is touched", open_4gib},
          {"burnpack_save", "a new Burnpack file, left to the system to put on disk",
           [](Harness& harness) { save(harness, "burnpack_save", false); }},
          {"burnpack_save_sync", "a new Burnpack file that survives a power cut (fsync)",
           [](Harness& harness) { save(harness, "burnpack_save_sync", true); }},
          {"burnpack_convert", "a SafeTensors file written as Burnpack", convert}};
}

}  // namespace andiron::bench
