// SPDX-License-Identifier: MIT OR Apache-2.0
// The words of advice, for every front end.
// Tested by tests/core/message_test.cpp
#include "andiron/message.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <ostream>
#include <utility>

#include "andiron/text.h"
#include "src/core/text/literal.h"

namespace andiron::inline v1 {
namespace {

// An argument stands where a '*' does, and as a literal of the language where a '"*"' does. The
// words of C++ serve where a front end has none of its own; its words are empty where it says
// nothing.
struct Words {
  Advice advice;
  const char* cpp;
  const char* flags = nullptr;
  const char* javascript = nullptr;
};

constexpr const char* another_format = "convert it to another format";

constexpr Words rows[] = {
    {Advice::text, "*"},
    // Names. A filter of the tool sees the new names, so it cannot keep two from being the same.
    {Advice::top_level_key, "use .with_top_level_key(\"*\")", "use --top-level-key \"*\"",
     "use { names: { topLevelKey: \"*\" } }"},
    {Advice::omit_top_level_key, "omit the top-level key", "omit --top-level-key",
     "omit names.topLevelKey"},
    {Advice::fold_weight_norm, ".fold_weight_norm(true)", "--fold-weight-norm",
     "names.foldWeightNorm"},
    {Advice::rename, "rename *", "rename * with --sub", "rename * with names.rename"},
    {Advice::rename_apart, "rename one of them first, or leave one out",
     "use --sub to give them different names", "use names.rename to give them different names"},
    {Advice::rename_entry, "rename the entry, or write tied tensors as copies", "rename the entry",
     "rename the entry"},
    {Advice::close_gaps, ".map_indices_contiguous(true)", "--contiguous-indices",
     "names.contiguousIndices"},
    {Advice::keep_numbers, ".map_indices_contiguous(false)"},
    // Reading.
    {Advice::lenient, "Strictness::lenient", "--lenient", "{ strictness: \"lenient\" }"},
    {Advice::strict, "Strictness::strict", "--strict", "{ strictness: \"strict\" }"},
    {Advice::without_verify, "without OpenOptions::verify", "without --verify",
     "without { verify: true }"},
    {Advice::io_automatic, "IoMode::automatic", "--io auto"},
    {Advice::io_pread, "IoMode::pread", "--io pread"},
    {Advice::numpy_arrays, "set PytorchSettings::numpy_arrays to read it",
     "use --numpy-arrays to read it", "this package does not read it"},
    {Advice::raise_limit, "raise Limits::* if you trust the file",
     "only the library can raise this limit", "this package cannot raise the limit"},
    {Advice::raise_memory_limit, "raise Limits::* if you trust the file",
     "raise it with --max-memory if you trust the file", "this package cannot raise the limit"},
    {Advice::read_in_parts, "read it in parts, or borrow it from a mapped file",
     "free some memory and try again", "read it in parts, with { begin, end }"},
    {Advice::load_into_module, "load it with load_from(model, BurnpackStore::from_file(...))",
     "only the library can read it, into a module",
     "this package cannot read it: only a module can"},
    {Advice::choose_file, "name one of the files", nullptr, "choose one with { name }"},
    // Writing.
    {Advice::overwrite, "pass .overwrite(true) to replace it", "use --force to replace it"},
    {Advice::set_format, "or set WriteOptions::format", "or use --to"},
    {Advice::write_shards, "split it with WriteOptions::max_shard_bytes",
     "split it with --max-shard-size", "this package writes no shards"},
    {Advice::exceed_burn, "raise WriteOptions::limits to write a file that Burn's reader refuses",
     "use --beyond-burn to write a file that Burn's reader refuses", another_format},
    {Advice::keep_param_ids, "; set SafetensorsSettings::param_ids to keep *",
     "; use --param-ids to keep *", ""},
    {Advice::leave_out, "leave it out", "drop it with --exclude", another_format},
    {Advice::leave_out_or_other_release, "leave it out, or set another BurnpackSettings::release",
     "drop it with --exclude, or use another --burn-release", another_format},
    {Advice::raise_precision, "use a higher precision, or leave the tensor out",
     "use a higher --precision, or drop it with --exclude", another_format},
    {Advice::cast_or_leave_out, "cast it to *, or leave it out",
     "convert it to * with --cast, or drop it with --exclude", another_format},
    {Advice::leave_uncast, "leave the tensor out, or leave it uncast",
     "drop it with --exclude, or do not cast it"},
    {Advice::save_for_pytorch, "; for a module, add .with_to_adapter(BurnToPyTorchAdapter())", "",
     ""},
    {Advice::force_layout, "set LayoutChange::is_forced if * is its layout",
     "say --from-layout * if that is its layout"},
    {Advice::change_layout, ", or set ConvertOptions::layout", ", or see --to-layout", ""},
    // Loading: only a program has a module.
    {Advice::cast_to_module, "DTypePolicy::cast_to_module", "'convert --cast'"},
    {Advice::adapt_from_pytorch, ".with_from_adapter(PyTorchToBurnAdapter())"},
    {Advice::without_adapter, "without .with_from_adapter()"},
    {Advice::allow_partial, ".allow_partial(true)"},
    {Advice::allow_unused, ".allow_unused(true)"},
    {Advice::without_validate, ".validate(false)"},
    {Advice::borrow, ".zero_copy(true)"},
    {Advice::keep_path, ".auto_extension(false)"},
};

constexpr bool has_a_row_for_each() {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (static_cast<std::size_t>(rows[i].advice) != i) return false;
  }
  return std::size(rows) == static_cast<std::size_t>(Advice::count);
}
static_assert(has_a_row_for_each(), "each advice has its words, in the order of the enumeration");

std::string in_words(const MessagePart& part, Wording wording) {
  const Words& row = rows[static_cast<std::size_t>(part.advice)];
  const char* own = wording == Wording::flags        ? row.flags
                    : wording == Wording::javascript ? row.javascript
                                                     : row.cpp;
  const std::string_view words = own == nullptr ? row.cpp : own;
  const std::size_t star = words.find('*');
  if (star == words.npos || part.argument.empty()) return std::string(words);
  const bool is_literal = star > 0 && words[star - 1] == '"';
  if (!is_literal) {
    return std::string(words.substr(0, star)) + part.argument + std::string(words.substr(star + 1));
  }
  return std::string(words.substr(0, star - 1)) + detail::literal(part.argument, wording) +
         std::string(words.substr(star + 2));
}

}  // namespace

Message::Message(std::string text) : text_(std::move(text)) {}

Message::Message(Advice advice, std::string_view argument)
    : parts_{{advice, std::string(argument)}} {
  text_ = in_words(parts_.front(), Wording::cpp);
}

Message& Message::operator+=(const Message& more) {
  if (!parts_.empty() || !more.parts_.empty()) {
    parts_ = parts();
    const std::vector<MessagePart> others = more.parts();
    parts_.insert(parts_.end(), others.begin(), others.end());
  }
  text_ += more.text_;
  return *this;
}

std::vector<MessagePart> Message::parts() const {
  if (!parts_.empty() || text_.empty()) return parts_;
  return {{Advice::text, text_}};
}

std::string Message::to_string(Wording wording) const {
  if (parts_.empty() || wording == Wording::cpp) return text_;
  std::string text;
  for (const MessagePart& part : parts_) text += in_words(part, wording);
  return text;
}

bool Message::advises(Advice advice) const noexcept {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const MessagePart& part) { return part.advice == advice; });
}

std::optional<std::string> Message::argument_of(Advice advice) const {
  for (const MessagePart& part : parts_) {
    if (part.advice == advice) return part.argument;
  }
  return std::nullopt;
}

Message operator+(Message a, const Message& b) {
  a += b;
  return a;
}

std::ostream& operator<<(std::ostream& out, const Message& message) {
  return out << display_line(message.to_string());
}

}  // namespace andiron::inline v1
