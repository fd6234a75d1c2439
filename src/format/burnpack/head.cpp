// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/burnpack_header_listing_test.cpp
#include "src/format/burnpack/head.h"

#include <algorithm>
#include <array>
#include <string>

#include "andiron/file.h"
#include "src/core/check_limit.h"
#include "src/core/try.h"
#include "src/format/burnpack/header_listing.h"

namespace andiron::inline v1::detail {

std::string decode_text(const CborText& text) {
  std::string out(text.raw.size(), '\0');
  out.resize(text.decode(out.data()));
  return out;
}

Result<BurnpackHeadBytes> read_head_bytes(const ByteSource& source, const Limits& limits) {
  std::array<std::byte, burnpack_header_bytes> fixed{};
  const auto there =
      static_cast<std::size_t>(std::min<std::uint64_t>(source.size(), burnpack_header_bytes));
  ANDIRON_TRY(source.read_at(0, std::span(fixed).first(there)));
  BurnpackHeadBytes head;
  const ViewStatus status =
      read_burnpack_header(std::span(fixed).first(there), head.metadata_bytes);
  Error error{.code = status.code, .file = source.name()};
  if (!status.ok()) {
    error.message = status.what;
    if (status.code == ErrorCode::truncated) {
      error.found = std::to_string(there) + " bytes";
      error.expected = "at least " + std::to_string(burnpack_header_bytes);
      error.hint = "the download may be incomplete";
    } else if (status.code == ErrorCode::unsupported) {
      error.found = "version " + std::to_string(std::to_integer<unsigned>(fixed[4]) |
                                                std::to_integer<unsigned>(fixed[5]) << 8);
      error.expected = "at most 1";
      error.hint = "a newer Andiron may read it";
    } else {
      error.expected = "a file that begins with 'NRUB'";
    }
    return error;
  }
  if (head.metadata_bytes > limits.burnpack_metadata_bytes) {
    error = over_limit(std::to_string(head.metadata_bytes), limits.burnpack_metadata_bytes,
                       {"the metadata is larger than allowed", &Limits::burnpack_metadata_bytes,
                        "bytes", source.name()});
    error.code = ErrorCode::header_too_large;
    return error;
  }
  const std::uint64_t end = burnpack_header_bytes + head.metadata_bytes;
  if (end > source.size()) {
    error.code = ErrorCode::truncated;
    error.message = "the metadata extends past the end of the file";
    error.found = std::to_string(source.size()) + " bytes in the file";
    error.expected = "at least " + std::to_string(end);
    error.hint = "the download may be incomplete";
    return error;
  }
  ANDIRON_ASSIGN(head.bytes, Bytes::allocate(std::min(burnpack_aligned(end), source.size())));
  ANDIRON_TRY(source.read_at(0, head.bytes.writable()));
  return head;
}

namespace {

std::string generation_text(const BurnpackLayout& layout, const std::string& producer,
                            const std::string& version) {
  BurnpackGeneration said{};
  if (producer == "burn" && burnpack_generation_of(version, said) && said >= layout.earliest &&
      said <= layout.latest) {
    return "Burn " + version;
  }
  std::string text = "Burn " + std::string(name_of(layout.earliest));
  if (layout.latest == BurnpackGeneration::burn_0_22) {
    text += " or later";
  } else if (layout.latest != layout.earliest) {
    text += " to " + std::string(name_of(layout.latest));
  }
  if (producer == "andiron") {
    return "Andiron" + (version.empty() ? "" : " " + version) + ", as " + text;
  }
  return text;
}

}  // namespace

Result<BurnpackHead> read_burnpack_head(const ByteSource& source, const Limits& limits) {
  ANDIRON_ASSIGN(const detail::BurnpackHeadBytes bytes, detail::read_head_bytes(source, limits));
  BurnpackHeader header(bytes.metadata());
  header.allow_wrong_sizes();
  BurnpackSurvey survey;
  BurnpackEntry entry;
  std::string producer;
  std::string version;
  BurnpackHead head;
  for (bool more = true; more;) {
    switch (header.next(entry)) {
      case BurnpackHeader::Item::error:
        head.damage = std::string(header.status().what) + " at byte " +
                      std::to_string(header.status().offset);
        more = false;
        break;
      case BurnpackHeader::Item::tensor:
        survey.add(entry);
        break;
      case BurnpackHeader::Item::metadata:
        survey.add_metadata(header.key(), header.value());
        if (header.key().equals("producer")) producer = detail::decode_text(header.value());
        if (header.key().equals("version")) version = detail::decode_text(header.value());
        break;
      case BurnpackHeader::Item::scalar:
        survey.add_scalar();
        break;
      case BurnpackHeader::Item::end:
        more = false;
        break;
    }
  }
  head.version = static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes.bytes.span()[4]) |
                                            std::to_integer<unsigned>(bytes.bytes.span()[5]) << 8);
  head.metadata_bytes = static_cast<std::uint32_t>(bytes.metadata_bytes);
  head.file_bytes = source.size();
  head.layout = survey.layout(bytes.metadata_bytes, source.size(), bytes.after_metadata());
  const std::uint64_t end = burnpack_header_bytes + bytes.metadata_bytes;
  head.padding_bytes = std::min(head.layout.data_begin, source.size()) - end;
  head.generation = detail::generation_text(head.layout, producer, version);
  ANDIRON_ASSIGN(head.bytes,
                 bytes.bytes.slice(0, static_cast<std::size_t>(end + head.padding_bytes)));
  return head;
}

Result<BurnpackHead> read_burnpack_head(const std::string& path, const Limits& limits) {
  ANDIRON_ASSIGN(const ByteSourcePtr source, open_file(path));
  return read_burnpack_head(*source, limits);
}

}  // namespace andiron::inline v1::detail
