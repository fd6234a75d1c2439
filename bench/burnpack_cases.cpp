// SPDX-License-Identifier: MIT OR Apache-2.0
// Burnpack: opening an index, saving, and moving a model from one file to another.
#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>
#include <string_view>

#include "andiron/open.h"
#include "andiron/write.h"
#include "bench/cases.h"
#include "bench/files.h"
#include "bench/jobs.h"
#include "src/format/burnpack/burnpack.h"

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
  detail::write_burnpack({archive, sink, {.dry_run = true}, ".bpk"}).value();
  const Descriptor file(path, O_WRONLY | O_CREAT | O_EXCL);
  write_all(file, 0, sink.head());
  if (::ftruncate(file.get(), static_cast<off_t>(sink.total())) != 0) {
    throw std::runtime_error("cannot make a sparse file");
  }
}

class RawReader : public HeadReader {
 public:
  explicit RawReader(std::string path) : path_(std::move(path)) {}

  std::size_t read() override {
    const Descriptor file(path_, O_RDONLY);
    unsigned char fixed[header_bytes];
    read_all(file, 0, std::as_writable_bytes(std::span(fixed)));
    std::uint32_t size = 0;
    for (std::size_t i = header_bytes; i-- > 6;) size = size << 8 | fixed[i];
    metadata_.resize(size);
    read_all(file, header_bytes, std::as_writable_bytes(std::span(metadata_)));
    scan();
    keep(records_);
    return records_.size();
  }
  std::size_t head_bytes() const override { return header_bytes + metadata_.size(); }

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

void open_index(Harness& harness, const std::string& name, std::size_t tensors) {
  const TempFolder folder;
  const std::string path = folder.file("many.bpk");
  write_sparse(path, tensors, {256, 256});
  RawReader raw(path);
  harness.measure(open_index_job(name, path, raw, tensors));
}

void open_4gib(Harness& harness) {
  const TempFolder folder;
  const std::string path = folder.file("large.bpk");
  write_sparse(path, 256, {2048, 4096});
  RawReader raw(path);
  Job job = open_job("burnpack_open_4gib", path, raw, 100);
  const auto borrow_all = [&] {
    const Archive opened = open(path).value();
    for (std::size_t i = 0; i < opened.size(); ++i) keep(opened.snapshot(i).borrow().value());
  };
  job.note += "; cold, opening and borrowing every tensor brings " +
              std::to_string(bytes_cached_by(borrow_all, path)) + " into the page cache";
  harness.measure(job);
}

void save(Harness& harness, const std::string& name, bool sync) {
  const TempFolder folder;
  const std::string source = folder.file("source.safetensors");
  write_random_model(source, harness.settings().quick);
  const Bytes model = write_to_memory(open(source).value(), {.format = Format::burnpack}).value();
  harness.measure(save_job(name, folder, "model.bpk", model, sync));
}

void convert(Harness& harness) {
  const TempFolder folder;
  const std::string source = folder.file("source.safetensors");
  write_random_model(source, harness.settings().quick);
  harness.measure(convert_job("burnpack_convert", folder, source, "model.bpk"));
}

}  // namespace

std::vector<Case> burnpack_cases() {
  return {index_case("burnpack_index_1k", "Burnpack metadata", 1000, open_index),
          index_case("burnpack_index_10k", "Burnpack metadata", 10'000, open_index),
          index_case("burnpack_index_100k", "Burnpack metadata", 100'000, open_index),
          {"burnpack_open_4gib",
           "256 tensors in a Burnpack file of 4 GiB: only the header is touched", open_4gib},
          {"burnpack_save", "a new Burnpack file, left to the system to put on disk",
           [](Harness& harness) { save(harness, "burnpack_save", false); }},
          {"burnpack_save_sync", "a new Burnpack file that survives a power cut (fsync)",
           [](Harness& harness) { save(harness, "burnpack_save_sync", true); }},
          {"burnpack_convert", "a SafeTensors file written as Burnpack", convert}};
}

}  // namespace andiron::bench
