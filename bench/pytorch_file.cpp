// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench/pytorch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <string_view>

#include "src/codec/inflate.h"

namespace andiron::bench {
namespace {

constexpr std::uint64_t alignment = 64;
// Numbers of 32 bits from here on stand in a ZIP64 field.
constexpr std::uint64_t elsewhere = 0xffffffff;

void put_number(std::string& out, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(number >> 8 * i);
}

// Entries below one folder, stored as they are. What they hold begins at a multiple of the
// alignment and is followed by its CRC and size.
class ZipWriter {
 public:
  explicit ZipWriter(const std::string& path)
      : root_(std::filesystem::path(path).stem().string() + "/"),
        file_(path, O_RDWR | O_CREAT | O_TRUNC) {}

  // Both return where the data begins.
  std::uint64_t add(std::string_view name, std::span<const std::byte> data) {
    const Entry entry = begin(name, data.size());
    const std::uint64_t offset = position();
    pending_.append(reinterpret_cast<const char*>(data.data()), data.size());
    end(entry, andiron::detail::crc_of(data));
    return offset;
  }
  std::uint64_t add(std::string_view name, std::string_view text) {
    return add(name, std::as_bytes(std::span(text)));
  }
  std::uint64_t add_hole(std::string_view name, std::uint64_t bytes) {
    const Entry entry = begin(name, bytes);
    flush();
    const std::uint64_t offset = flushed_;
    flushed_ += bytes;
    end(entry, 0);
    return offset;
  }

  void finish() {
    const std::uint64_t directory = position();
    pending_ += directory_;
    const std::uint64_t zip64_end = position();
    put(0x06064b50, 4);
    put(44, 8);      // bytes that follow
    put(0x031e, 2);  // made by
    put(0x2d, 2);    // needed
    put(0, 8);       // disks
    put(entries_, 8);
    put(entries_, 8);
    put(directory_.size(), 8);
    put(directory, 8);
    put(0x07064b50, 4);
    put(0, 4);
    put(zip64_end, 8);
    put(1, 4);  // disk
    put(0x06054b50, 4);
    put(0, 4);  // disks
    put(std::min<std::uint64_t>(entries_, 0xffff), 2);
    put(std::min<std::uint64_t>(entries_, 0xffff), 2);
    put(directory_.size(), 4);
    put(std::min(directory, elsewhere), 4);
    put(0, 2);  // comment
    flush();
    // Dirty pages would be written back in the middle of a measurement.
    if (::fsync(file_.get()) != 0) throw std::runtime_error("fsync failed");
  }

 private:
  struct Entry {
    std::string name;
    std::uint64_t header;
    std::uint64_t bytes;
    bool is_far() const { return header >= elsewhere; }
  };

  std::uint64_t position() const { return flushed_ + pending_.size(); }
  void put(std::uint64_t number, std::size_t bytes) { put_number(pending_, number, bytes); }
  void flush() {
    write_all(file_, flushed_, std::as_bytes(std::span(pending_)));
    flushed_ += pending_.size();
    pending_.clear();
  }

  Entry begin(std::string_view name, std::uint64_t bytes) {
    if (pending_.size() > std::size_t{8} << 20) flush();
    const Entry entry{root_ + std::string(name), position(), bytes};
    const std::uint64_t zip64 = entry.is_far() ? 12 : 0;
    const std::uint64_t unpadded = entry.header + 30 + entry.name.size() + zip64 + 4;
    const std::uint64_t padding = (alignment - unpadded % alignment) % alignment;
    put(0x04034b50, 4);
    put(0, 2);  // version needed
    put(0x0808, 2);
    put(0, 2 + 4 + 12);  // method and time; CRC and sizes, which follow the data
    put(entry.name.size(), 2);
    put(zip64 + 4 + padding, 2);
    pending_ += entry.name;
    if (entry.is_far()) put_far(pending_, entry);
    pending_ += "FB";
    put(padding, 2);
    pending_.append(padding, 'Z');
    return entry;
  }

  void end(const Entry& entry, std::uint32_t crc) {
    const std::size_t width = entry.is_far() ? 8 : 4;
    put(0x08074b50, 4);
    put(crc, 4);
    put(entry.bytes, width);
    put(entry.bytes, width);
    const auto put_entry = [this](std::uint64_t number, std::size_t bytes) {
      put_number(directory_, number, bytes);
    };
    put_entry(0x02014b50, 4);
    put_entry(0, 4);  // versions
    put_entry(0x0808, 2);
    put_entry(0, 2 + 4);  // method and time
    put_entry(crc, 4);
    put_entry(entry.bytes, 4);
    put_entry(entry.bytes, 4);
    put_entry(entry.name.size(), 2);
    put_entry(entry.is_far() ? 12 : 0, 2);
    put_entry(0, 2 + 2 + 2 + 4);  // comment, disk, attributes
    put_entry(std::min(entry.header, elsewhere), 4);
    directory_ += entry.name;
    if (entry.is_far()) put_far(directory_, entry);
    ++entries_;
  }

  // The ZIP64 field of an entry whose header lies beyond 4 GiB.
  static void put_far(std::string& out, const Entry& entry) {
    put_number(out, 1, 2);
    put_number(out, 8, 2);
    put_number(out, entry.header, 8);
  }

  std::string root_;
  Descriptor file_;
  std::string pending_;  // behind what is in the file
  std::uint64_t flushed_ = 0;
  std::string directory_;
  std::uint64_t entries_ = 0;
};

std::string_view storage_class(std::string_view dtype) {
  if (dtype == "F32") return "FloatStorage";
  if (dtype == "F16") return "HalfStorage";
  if (dtype == "BF16") return "BFloat16Storage";
  throw std::runtime_error("no storage class for this dtype");
}

std::string global(std::string_view module, std::string_view name) {
  return std::string("c").append(module).append("\n").append(name).append("\n");
}

std::string text(std::string_view content) {
  std::string code = "X";
  put_number(code, content.size(), 4);
  return code.append(content);
}

// Protocol 2 as Python's pickler writes it: all that could be referred to gets a number.
class TorchPickle {
 public:
  explicit TorchPickle(std::span<const TensorSpec> tensors) {
    constexpr std::size_t batch = 1000;
    code_ = "\x80\x02";
    add_ordered_dict();
    for (std::size_t begin = 0; begin < tensors.size(); begin += batch) {
      const std::size_t count = std::min(batch, tensors.size() - begin);
      if (count > 1) code_ += '(';
      for (std::size_t i = begin; i < begin + count; ++i) add_item(tensors[i], i);
      code_ += count > 1 ? 'u' : 's';
    }
    code_ += '.';
  }
  const std::string& code() const { return code_; }

 private:
  void add_item(const TensorSpec& tensor, std::size_t key) {
    std::uint64_t elements = 1;
    for (const std::uint64_t dim : tensor.shape) elements *= dim;
    std::vector<std::uint64_t> strides;
    std::uint64_t stride = elements;
    for (const std::uint64_t dim : tensor.shape) strides.push_back(stride /= dim);

    add(text(tensor.name));
    add_shared(global("torch._utils", "_rebuild_tensor_v2"));
    code_ += "((";
    add_shared(text("storage"));
    add_shared(global("torch", storage_class(tensor.dtype)));
    add(text(std::to_string(key)));
    add_shared(text("cpu"));
    add_integer(elements);
    add("t");
    code_ += 'Q';
    add_integer(0);  // where the tensor begins in its storage
    add_tuple(tensor.shape);
    add_tuple(strides);
    code_ += '\x89';     // needs no gradient
    add_ordered_dict();  // of hooks
    add("t");
    add("R");
  }

  void add_ordered_dict() {
    add_shared(global("collections", "OrderedDict"));
    add(")R");
  }
  void add_tuple(std::span<const std::uint64_t> numbers) {
    for (const std::uint64_t number : numbers) add_integer(number);
    add(std::string(1, static_cast<char>(0x84 + numbers.size())));
  }
  void add_integer(std::uint64_t number) {
    const std::size_t bytes = number < 0x100 ? 1 : number < 0x10000 ? 2 : 4;
    code_ += bytes == 1 ? 'K' : bytes == 2 ? 'M' : 'J';
    put_number(code_, number, bytes);
  }

  void add(const std::string& code) {
    code_ += code;
    add_memo(memo_++, 'q', 'r');
  }
  // What was there before is referred to.
  void add_shared(const std::string& code) {
    const auto [known, is_new] = numbers_.try_emplace(code, memo_);
    is_new ? add(code) : add_memo(known->second, 'h', 'j');
  }
  void add_memo(std::uint32_t number, char short_opcode, char long_opcode) {
    code_ += number < 0x100 ? short_opcode : long_opcode;
    put_number(code_, number, number < 0x100 ? 1 : 4);
  }

  std::string code_;
  std::uint32_t memo_ = 0;  // the next number
  std::map<std::string, std::uint32_t> numbers_;
};

}  // namespace

std::vector<std::uint64_t> write_torch_model(const std::string& path,
                                             std::span<const TensorSpec> tensors, bool sparse) {
  ZipWriter zip(path);
  zip.add("data.pkl", TorchPickle(tensors).code());
  zip.add(".format_version", "1");
  zip.add(".storage_alignment", std::to_string(alignment));
  zip.add("byteorder", "little");
  std::mt19937_64 random(2);
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::string name = "data/" + std::to_string(i);
    if (sparse) {
      offsets.push_back(zip.add_hole(name, tensors[i].bytes));
      continue;
    }
    std::vector<std::uint64_t> words((tensors[i].bytes + 7) / 8);
    for (std::uint64_t& word : words) word = random();
    offsets.push_back(zip.add(name, std::as_bytes(std::span(words)).first(tensors[i].bytes)));
  }
  zip.add("version", "3\n");
  zip.add(".data/serialization_id", std::string(40, '0'));
  zip.finish();
  return offsets;
}

}  // namespace andiron::bench
