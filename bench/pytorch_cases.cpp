// SPDX-License-Identifier: MIT OR Apache-2.0
// PyTorch: opening an index, reading tensors, and moving a model to another format.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "andiron/open.h"
#include "bench/cases.h"
#include "bench/files.h"
#include "bench/jobs.h"
#include "bench/peer.h"
#include "bench/pytorch_file.h"

namespace andiron::bench {
namespace {

template <class Number>
Number load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

// Knows that torch.save wrote the file: where the pickle lies, that storages come in the order of
// the tensors, and which opcodes a tensor is made of.
class RawReader : public HeadReader {
 public:
  explicit RawReader(std::string path) : path_(std::move(path)) {}

  std::size_t read() override {
    const Descriptor file(path_, O_RDONLY);
    struct stat found{};
    if (::fstat(file.get(), &found) != 0) throw std::runtime_error("fstat failed");
    char end[end_bytes];
    read_all(file, static_cast<std::uint64_t>(found.st_size) - end_bytes,
             std::as_writable_bytes(std::span(end)));
    directory_.resize(load<std::uint64_t>(end + 40));
    read_all(file, load<std::uint64_t>(end + 48), std::as_writable_bytes(std::span(directory_)));
    scan_directory();
    pickle_.resize(pickle_bytes_);
    read_all(file, alignment, std::as_writable_bytes(std::span(pickle_)));
    scan_pickle();
    keep(records_);
    return records_.size();
  }
  std::size_t head_bytes() const override { return end_bytes + directory_.size() + pickle_.size(); }

 private:
  static constexpr std::size_t end_bytes = 56 + 20 + 22;
  static constexpr std::uint64_t alignment = 64;

  struct Record {
    std::string_view name;
    std::string_view storage_class;
    std::uint64_t shape[4];
    std::size_t rank;
    std::uint64_t begin;
    std::uint64_t bytes;
  };

  void scan_directory() {
    constexpr std::size_t entry_bytes = 46;
    records_.clear();
    const char* at = directory_.data();
    const char* const end = at + directory_.size();
    pickle_bytes_ = load<std::uint32_t>(at + 24);
    while (at != end) {
      const std::size_t name_bytes = load<std::uint16_t>(at + 28);
      const std::size_t extra_bytes = load<std::uint16_t>(at + 30);
      const char* const name = at + entry_bytes;
      // Storages are what has a number for a name.
      const char last = name[name_bytes - 1];
      if (last >= '0' && last <= '9') {
        std::uint64_t begin = load<std::uint32_t>(at + 42);
        if (extra_bytes != 0) begin = load<std::uint64_t>(name + name_bytes + 4) + extra_bytes;
        begin = (begin + 30 + name_bytes + 4 + alignment - 1) / alignment * alignment;
        Record& record = records_.emplace_back();
        record.begin = begin;
        record.bytes = load<std::uint32_t>(at + 24);
      }
      at = name + name_bytes + extra_bytes;
    }
  }

  void scan_pickle() {
    std::array<std::string_view, 256> classes;  // by their numbers in the memo
    std::array<std::uint64_t, 8> numbers;       // of the tensor that is being read
    std::size_t count = 0;
    Record* record = records_.data();
    const char* at = pickle_.data();
    const auto line = [&] {
      const char* const first = at;
      while (*at++ != '\n') continue;
      return std::string_view(first, static_cast<std::size_t>(at - first) - 1);
    };
    const auto take_class = [&](std::string_view name) {
      if (name.ends_with("Storage")) record->storage_class = name;
    };
    for (;;) {
      switch (*at++) {
        case 'X': {
          const std::string_view text(at + 4, load<std::uint32_t>(at));
          at += 4 + text.size();
          // A tensor's first text is its name.
          if (record->name.empty()) record->name = text;
          break;
        }
        case 'c': {
          line();
          const std::string_view name = line();
          classes[static_cast<unsigned char>(at[1])] = name;
          take_class(name);
          break;
        }
        case 'h':
          take_class(classes[static_cast<unsigned char>(*at++)]);
          break;
        case 'K':
          numbers[count++] = load<std::uint8_t>(at);
          at += 1;
          break;
        case 'M':
          numbers[count++] = load<std::uint16_t>(at);
          at += 2;
          break;
        case 'J':
          numbers[count++] = load<std::uint32_t>(at);
          at += 4;
          break;
        case '\x89':  // behind the size of the storage, the offset, the shape and the strides
          record->rank = (count - 2) / 2;
          for (std::size_t d = 0; d < record->rank; ++d) record->shape[d] = numbers[2 + d];
          count = 0;
          ++record;
          break;
        case 'q':
        case '\x80':
          at += 1;
          break;
        case 'r':
          at += 4;
          break;
        case '.':
          return;
        default:
          break;
      }
    }
  }

  std::string path_;
  std::vector<char> directory_;
  std::vector<char> pickle_;
  std::size_t pickle_bytes_ = 0;
  std::vector<Record> records_;
};

void open_index(Harness& harness, const std::string& name, std::size_t tensors) {
  const TempFolder folder;
  const std::string path = folder.file("many.pt");
  write_torch_model(path, many_tensors(tensors, 16));
  RawReader raw(path);
  // torch takes a second for what takes others milliseconds: it gets the smallest file, fewer
  // times.
  const auto peer = tensors <= 1000 ? Peer::start_torch(harness, "open", path) : nullptr;
  Job job = open_index_job(name, path, raw, tensors, peer != nullptr ? 5000 : 100'000);
  if (peer != nullptr) job.programs.push_back(repeated(peer->program(), job.amount / tensors));
  harness.measure(job);
}

void open_4gib(Harness& harness) {
  const TempFolder folder;
  const std::string path = folder.file("large.pt");
  write_torch_model(path, large_tensors(256), true);
  RawReader raw(path);
  Job job = open_job("pytorch_open_4gib", path, raw, 100);
  const std::uint64_t cached = bytes_cached_by([&] { keep(open(path).value()); }, path);
  job.note += ", cold it brings " + std::to_string(cached) + " into the page cache";
  harness.measure(job);
}

// A file with random data, and where its tensors lie.
class Model {
 public:
  explicit Model(std::vector<TensorSpec> tensors)
      : path_(folder_.file("model.pt")),
        tensors_(std::move(tensors)),
        offsets_(write_torch_model(path_, tensors_)),
        file_(path_, O_RDONLY) {
    for (const TensorSpec& tensor : tensors_) bytes_ += tensor.bytes;
    const Archive archive = open(path_).value();
    const Mapping mapping(path_);
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const Tensor read = archive.get(tensors_[i].name).value().read().value();
      if (!std::ranges::equal(read.bytes().span(),
                              mapping.bytes().subspan(offsets_[i], tensors_[i].bytes))) {
        throw std::runtime_error("the programs disagree");
      }
    }
  }

  const std::string& path() const { return path_; }
  std::size_t size() const { return tensors_.size(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t bytes_of(std::size_t tensor) const { return tensors_[tensor].bytes; }
  void read_raw(std::size_t tensor, std::span<std::byte> out) const {
    read_all(file_, offsets_[tensor], out);
  }

 private:
  TempFolder folder_;
  std::string path_;
  std::vector<TensorSpec> tensors_;
  std::vector<std::uint64_t> offsets_;
  Descriptor file_;
  std::size_t bytes_ = 0;
};

void read_tensors(const Archive& archive) {
  std::vector<Tensor> tensors;
  tensors.reserve(archive.size());
  for (std::size_t i = 0; i < archive.size(); ++i) {
    tensors.push_back(archive.snapshot(i).read().value());
  }
  keep(tensors);
}

void read_large(Harness& harness) {
  const Model model(model_tensors(harness.settings().quick));
  const Archive archive = open(model.path()).value();
  const auto raw = [&] {
    HugeMemory memory(model.bytes());
    std::span<std::byte> room = memory.bytes();
    for (std::size_t i = 0; i < model.size(); ++i) {
      model.read_raw(i, room.first(model.bytes_of(i)));
      room = room.subspan(model.bytes_of(i));
    }
    keep(memory);
  };
  Job job{.name = "pytorch_read", .amount = model.bytes()};
  job.programs = {{.name = "raw", .run = raw},
                  {.name = "andiron", .run = [&] { read_tensors(archive); }}};
  const auto peer = Peer::start_torch(harness, "load", model.path());
  if (peer != nullptr) job.programs.push_back(peer->program());
  harness.measure(job);
}

void read_small(Harness& harness) {
  const Model model(many_tensors(harness.settings().quick ? 10'000 : 100'000, 16));
  const auto raw = [&] {
    std::vector<std::unique_ptr<std::byte[]>> tensors(model.size());
    for (std::size_t i = 0; i < model.size(); ++i) {
      tensors[i] = std::make_unique_for_overwrite<std::byte[]>(model.bytes_of(i));
      model.read_raw(i, {tensors[i].get(), model.bytes_of(i)});
    }
    keep(tensors);
  };
  // The first read of a tensor checks its header, the others need not.
  const Archive read_before = open(model.path()).value();
  std::optional<Archive> opened;
  const auto open_anew = [&] { opened = open(model.path()).value(); };
  Job job{.name = "pytorch_read_small", .unit = Unit::tensors, .amount = model.size()};
  job.programs = {{.name = "raw", .run = raw},
                  {.name = "andiron", .run = [&] { read_tensors(*opened); }, .prepare = open_anew},
                  {.name = "read before", .run = [&] { read_tensors(read_before); }}};
  harness.measure(job);
}

void convert(Harness& harness) {
  const TempFolder folder;
  const std::string source = folder.file("source.pt");
  write_torch_model(source, model_tensors(harness.settings().quick));
  harness.measure(convert_job("pytorch_convert", folder, source, "model.safetensors"));
}

}  // namespace

std::vector<Case> pytorch_cases() {
  return {index_case("pytorch_index_1k", "directory and pickle", 1000, open_index),
          index_case("pytorch_index_10k", "directory and pickle", 10'000, open_index),
          index_case("pytorch_index_100k", "directory and pickle", 100'000, open_index),
          {"pytorch_open_4gib", "256 tensors in a PyTorch file of 4 GiB: no data is touched",
           open_4gib},
          {"pytorch_read", "every tensor of a PyTorch file into fresh memory", read_large},
          {"pytorch_read_small", "as many small tensors, each into memory of its own", read_small},
          {"pytorch_convert", "a PyTorch file written as SafeTensors", convert}};
}

}  // namespace andiron::bench
