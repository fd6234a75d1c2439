// SPDX-License-Identifier: MIT OR Apache-2.0
// MessagePack: the reader sees the same values as a plain recursive decoder, and these values can
// be written and read back the same.
#include <bit>
#include <string>

#include "andiron/limits.h"
#include "fuzz/property.h"
#include "src/codec/msgpack_writer.h"
#include "src/freestanding/msgpack_reader.h"

using namespace andiron;
using namespace andiron::fuzz;
using detail::MsgpackItem;
using detail::MsgpackKind;
using detail::MsgpackReader;
using detail::MsgpackWriter;

namespace {

// Both decoders tell what they see in the same words.
std::string number_text(std::int64_t number) { return "i" + std::to_string(number) + ";"; }
std::string number_text(std::uint64_t number) { return "u" + std::to_string(number) + ";"; }
std::string number_text(double number) {
  return "f" + std::to_string(std::bit_cast<std::uint64_t>(number)) + ";";
}
std::string run_text(char kind, std::string_view content) {
  return kind + std::to_string(content.size()) + ":" + std::string(content);
}
std::string count_text(char kind, std::uint64_t count) {
  return kind + std::to_string(count) + ";";
}

// A second opinion, after the table of the specification.
class PlainDecoder {
 public:
  explicit PlainDecoder(std::string_view bytes) : bytes_(bytes) {}

  // What the value is; the text is cut where the bytes end or are no MessagePack.
  bool value(unsigned depth, std::string& out) {
    std::uint64_t first = 0;
    if (!number(1, first)) return false;
    const auto marker = static_cast<unsigned>(first);
    if (marker <= 0x7f) return put(out, number_text(first));
    if (marker <= 0x8f) return map(marker - 0x80, depth, out);
    if (marker <= 0x9f) return list(marker - 0x90, depth, out);
    if (marker <= 0xbf) return run('t', marker - 0xa0, out);
    if (marker >= 0xe0) return put(out, number_text(std::int64_t{marker} - 0x100));
    std::uint64_t size = 0;
    switch (marker) {
      case 0xc0:
        return put(out, "n;");
      case 0xc2:
        return put(out, "F;");
      case 0xc3:
        return put(out, "T;");
      case 0xc4:
        return number(1, size) && run('b', size, out);
      case 0xc5:
        return number(2, size) && run('b', size, out);
      case 0xc6:
        return number(4, size) && run('b', size, out);
      case 0xc7:
        return number(1, size) && number(1, first) && run('x', size, out);
      case 0xc8:
        return number(2, size) && number(1, first) && run('x', size, out);
      case 0xc9:
        return number(4, size) && number(1, first) && run('x', size, out);
      case 0xca:
        if (!number(4, size)) return false;
        return put(out, number_text(double{std::bit_cast<float>(static_cast<unsigned>(size))}));
      case 0xcb:
        return number(8, size) && put(out, number_text(std::bit_cast<double>(size)));
      case 0xcc:
        return number(1, size) && put(out, number_text(size));
      case 0xcd:
        return number(2, size) && put(out, number_text(size));
      case 0xce:
        return number(4, size) && put(out, number_text(size));
      case 0xcf:
        return number(8, size) && put(out, number_text(size));
      case 0xd0:
        return number(1, size) && integer(static_cast<std::int8_t>(size), out);
      case 0xd1:
        return number(2, size) && integer(static_cast<std::int16_t>(size), out);
      case 0xd2:
        return number(4, size) && integer(static_cast<std::int32_t>(size), out);
      case 0xd3:
        return number(8, size) && integer(static_cast<std::int64_t>(size), out);
      case 0xd4:
        return number(1, first) && run('x', 1, out);
      case 0xd5:
        return number(1, first) && run('x', 2, out);
      case 0xd6:
        return number(1, first) && run('x', 4, out);
      case 0xd7:
        return number(1, first) && run('x', 8, out);
      case 0xd8:
        return number(1, first) && run('x', 16, out);
      case 0xd9:
        return number(1, size) && run('t', size, out);
      case 0xda:
        return number(2, size) && run('t', size, out);
      case 0xdb:
        return number(4, size) && run('t', size, out);
      case 0xdc:
        return number(2, size) && list(size, depth, out);
      case 0xdd:
        return number(4, size) && list(size, depth, out);
      case 0xde:
        return number(2, size) && map(size, depth, out);
      case 0xdf:
        return number(4, size) && map(size, depth, out);
      default:
        return false;
    }
  }

  std::size_t offset() const { return at_; }

 private:
  static bool put(std::string& out, std::string text) { return out += text, true; }

  static bool integer(std::int64_t number, std::string& out) {
    return put(out,
               number < 0 ? number_text(number) : number_text(static_cast<std::uint64_t>(number)));
  }

  bool number(unsigned count, std::uint64_t& out) {
    if (bytes_.size() - at_ < count) return false;
    out = 0;
    for (; count > 0; --count) out = out * 256 + static_cast<unsigned char>(bytes_[at_++]);
    return true;
  }

  bool run(char kind, std::uint64_t size, std::string& out) {
    if (size > bytes_.size() - at_) return false;
    out += run_text(kind, bytes_.substr(at_, static_cast<std::size_t>(size)));
    at_ += static_cast<std::size_t>(size);
    return true;
  }

  bool list(std::uint64_t count, unsigned depth, std::string& out) {
    if (depth == max_msgpack_depth) return false;
    out += count_text('[', count);
    for (; count > 0; --count) {
      if (!value(depth + 1, out)) return false;
    }
    return true;
  }

  bool map(std::uint64_t count, unsigned depth, std::string& out) {
    if (depth == max_msgpack_depth) return false;
    out += count_text('{', count);
    for (; count > 0; --count) {
      if (!value(depth + 1, out) || !value(depth + 1, out)) return false;
    }
    return true;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

// Walks through one value with the reader, telling what it sees and writing it again.
class Walker {
 public:
  explicit Walker(MsgpackReader& reader) : reader_(reader) {}

  bool value(unsigned depth) {
    MsgpackItem item;
    const std::size_t start = reader_.offset();
    if (!reader_.next(item)) return false;
    ANDIRON_HOLDS(reader_.offset() - start <= MsgpackReader::max_item_bytes);
    std::string_view content;
    switch (item.kind) {
      case MsgpackKind::nil:
        text_ += "n;";
        writer_.nil();
        return true;
      case MsgpackKind::boolean:
        text_ += item.boolean ? "T;" : "F;";
        writer_.boolean(item.boolean);
        return true;
      case MsgpackKind::integer:
        text_ += number_text(item.integer);
        writer_.integer(item.integer);
        return true;
      case MsgpackKind::unsigned_integer:
        text_ += number_text(item.number);
        writer_.unsigned_integer(item.number);
        return true;
      case MsgpackKind::floating:
        text_ += number_text(item.floating);
        writer_.floating(item.floating);
        return true;
      case MsgpackKind::text:
        if (!reader_.content(item.size, content)) return false;
        text_ += run_text('t', content);
        writer_.text(content);
        return true;
      case MsgpackKind::bytes:
        if (!reader_.content(item.size, content)) return false;
        text_ += run_text('b', content);
        writer_.begin_bytes(content.size());
        written_ += content;
        return true;
      case MsgpackKind::extension:
        if (!reader_.content(item.size, content)) return false;
        text_ += run_text('x', content);
        has_extension_ = true;
        return true;
      case MsgpackKind::list:
      case MsgpackKind::map:
        return items(item, depth);
    }
    return false;
  }

  const std::string& text() const { return text_; }
  const std::string& written() const { return written_; }
  bool has_extension() const { return has_extension_; }

 private:
  bool items(const MsgpackItem& item, unsigned depth) {
    if (depth == max_msgpack_depth) return false;
    const bool is_map = item.kind == MsgpackKind::map;
    text_ += count_text(is_map ? '{' : '[', item.size);
    is_map ? writer_.begin_map(item.size) : writer_.begin_list(item.size);
    for (std::uint64_t i = 0; i < item.size; ++i) {
      if (!value(depth + 1) || (is_map && !value(depth + 1))) return false;
    }
    return true;
  }

  MsgpackReader& reader_;
  std::string text_;
  std::string written_;
  MsgpackWriter writer_{written_};
  bool has_extension_ = false;
};

// Text is taken whole and checked, or not at all.
void take_text(std::string_view bytes) {
  MsgpackReader reader(bytes);
  std::string_view text;
  if (reader.text(text)) {
    ANDIRON_HOLDS(text.data() + text.size() == bytes.data() + reader.offset());
    return;
  }
  ANDIRON_HOLDS(reader.failed() && reader.what() != nullptr);
  const std::size_t offset = reader.offset();
  MsgpackItem item;
  ANDIRON_HOLDS(!reader.next(item) && !reader.content(0, text) && !reader.text(text));
  ANDIRON_HOLDS(reader.offset() == offset && offset <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = as_text(data, size);
  MsgpackReader reader(bytes);
  for (PlainDecoder decoder(bytes);;) {
    take_text(bytes.substr(reader.offset()));
    Walker walker(reader);
    std::string expected;
    const bool is_value = decoder.value(0, expected);
    ANDIRON_HOLDS(walker.value(0) == is_value);
    ANDIRON_HOLDS(walker.text() == expected);
    ANDIRON_HOLDS(reader.offset() <= bytes.size());
    if (!is_value) break;
    ANDIRON_HOLDS(!reader.failed() && reader.offset() == decoder.offset());
    if (walker.has_extension()) continue;
    MsgpackReader again(walker.written());
    Walker second(again);
    ANDIRON_HOLDS(second.value(0) && second.text() == expected);
    // Every form is the shortest, so that writing once more changes nothing.
    ANDIRON_HOLDS(second.written() == walker.written());
  }
  return 0;
}
