// SPDX-License-Identifier: MIT OR Apache-2.0
// CBOR as Burn writes it, appended to any text with +=: definite lengths, every head in its
// shortest form. One place for the hosted writer and the heapless one. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace andiron::inline v1::detail {

template <class Out>
class CborAppender {
 public:
  explicit CborAppender(Out& out) : out_(out) {}

  void unsigned_integer(std::uint64_t value) { head(0, value); }
  void text(std::string_view text) {
    head(3, text.size());
    out_ += text;
  }
  void list(std::uint64_t items) { head(4, items); }
  void map(std::uint64_t entries) { head(5, entries); }

 protected:
  void head(unsigned major, std::uint64_t argument) {
    const unsigned type = major << 5;
    if (argument < 24) {
      out_ += static_cast<char>(type | argument);
      return;
    }
    const unsigned size_code = argument <= 0xff      ? 0
                               : argument <= 0xffff  ? 1
                               : argument >> 32 == 0 ? 2
                                                     : 3;
    out_ += static_cast<char>(type | (24 + size_code));
    big_endian(argument, 1u << size_code);
  }
  void big_endian(std::uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) out_ += static_cast<char>(value >> 8 * i & 0xff);
  }

  Out& out_;
};

// One tensor of Burnpack's metadata. `dim(i)` is the size of dimension i; `write_dtype()` appends
// the dtype. Stops where that returns something false, which is returned.
template <class Cbor, class Dim, class WriteDType>
auto append_burnpack_entry(Cbor& out, std::string_view name, const WriteDType& write_dtype,
                           std::size_t rank, const Dim& dim, std::uint64_t begin, std::uint64_t end,
                           const std::uint64_t* param_id) {
  out.text(name);
  out.map(param_id != nullptr ? 4 : 3);
  out.text("dtype");
  auto written = write_dtype();
  if (!written) return written;
  out.text("shape");
  out.list(rank);
  for (std::size_t i = 0; i < rank; ++i) out.unsigned_integer(dim(i));
  out.text("data_offsets");
  out.list(2);
  out.unsigned_integer(begin);
  out.unsigned_integer(end);
  if (param_id != nullptr) {
    out.text("param_id");
    out.unsigned_integer(*param_id);
  }
  return written;
}

// Magic, version, and the size of the metadata that follows.
template <class Out>
void append_burnpack_head(Out& out, std::uint64_t metadata_bytes) {
  out += std::string_view("NRUB\x01\x00", 6);
  for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(metadata_bytes >> 8 * i & 0xff);
}

}  // namespace andiron::inline v1::detail
