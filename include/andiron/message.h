// SPDX-License-Identifier: MIT OR Apache-2.0
// Sentences for people in which advice is data, so that each front end can word it: the library in
// C++, the tool in flags, the package for JavaScript in options.
//
//   for (const Message& note : archive.notes()) std::cout << note << '\n';   // worded for C++
//   note.to_string(Wording::flags);                                          // for a command line
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace andiron::inline v1 {

/// Something to do or to set. Its words are in src/core/message.cpp; many are a part of a sentence.
enum class Advice : std::uint8_t {
  text,                        ///< the argument as it is
  top_level_key,               ///< use the argument as the key
  omit_top_level_key,          ///< use none
  fold_weight_norm,            ///< the setting
  rename,                      ///< rename the argument: "the tensor", "one of them"
  rename_apart,                ///< give two tensors different names, or leave one out
  rename_entry,                ///< rename a metadata entry, or write tied tensors as copies
  close_gaps,                  ///< the setting
  keep_numbers,                ///< the setting that does not close gaps
  lenient,                     ///< the setting
  strict,                      ///< the setting
  without_verify,              ///< without the setting
  io_automatic,                ///< the setting
  io_pread,                    ///< the setting
  numpy_arrays,                ///< read NumPy arrays in pickles
  raise_limit,                 ///< raise the limit that the argument names
  raise_memory_limit,          ///< the same for Limits::memory_bytes
  read_in_parts,               ///< use less memory
  load_into_module,            ///< only a module tells which tensors the file has
  choose_file,                 ///< name one file of a folder
  overwrite,                   ///< replace the file
  set_format,                  ///< name the format
  write_shards,                ///< split the file
  exceed_burn,                 ///< write what Burn's reader refuses
  keep_param_ids,              ///< keep the argument: "it" or "them"
  leave_out,                   ///< leave the tensor out
  leave_out_or_other_release,  ///< or write for another release of Burn
  raise_precision,             ///< use a higher precision, or leave the tensor out
  cast_or_leave_out,           ///< cast the tensor to the argument, or leave it out
  leave_uncast,                ///< leave the tensor out, or do not cast it
  save_for_pytorch,            ///< save a module in PyTorch's layout
  force_layout,                ///< the layout of the file is the argument
  change_layout,               ///< convert to another layout
  cast_to_module,              ///< the setting that keeps the module's dtypes
  adapt_from_pytorch,          ///< the setting
  without_adapter,             ///< without the setting
  allow_partial,               ///< the setting
  allow_unused,                ///< the setting
  without_validate,            ///< the setting
  borrow,                      ///< the setting
  keep_path,                   ///< the setting that adds no extension to a path
  count
};

/// Whose words a message is in.
enum class Wording : std::uint8_t {
  cpp,         ///< builders and options of this library
  flags,       ///< options of the tool
  javascript,  ///< options of the package for JavaScript
};

/// One part of a message.
struct MessagePart {
  Advice advice = Advice::text;
  std::string argument = {};
};

/// A sentence, part by part. It quotes files unescaped; `<<` escapes it (text.h).
class Message {
 public:
  Message() = default;
  Message(std::string text);
  Message(std::string_view text) : Message(std::string(text)) {}
  Message(const char* text) : Message(std::string(text)) {}
  Message(Advice advice, std::string_view argument = {});

  Message& operator+=(const Message& more);

  /// All parts in one string. The words of C++ are kept; others are made by each call.
  std::string to_string(Wording wording) const;
  const std::string& to_string() const& noexcept { return text_; }
  std::string to_string() && { return std::move(text_); }
  operator const std::string&() const& noexcept { return text_; }
  operator std::string_view() const& noexcept { return text_; }
  /// Its advice, and the text between.
  std::vector<MessagePart> parts() const;
  bool advises(Advice advice) const noexcept;
  /// The argument of the first such part, or nothing.
  std::optional<std::string> argument_of(Advice advice) const;

  bool empty() const noexcept { return text_.empty(); }
  /// As in std::string, in the words of C++.
  bool starts_with(std::string_view text) const noexcept { return text_.starts_with(text); }
  bool ends_with(std::string_view text) const noexcept { return text_.ends_with(text); }
  std::size_t find(std::string_view text) const noexcept { return text_.find(text); }

  friend bool operator==(const Message& a, const Message& b) noexcept { return a.text_ == b.text_; }

 private:
  std::string text_;
  std::vector<MessagePart> parts_;  // empty if all is text
};

Message operator+(Message a, const Message& b);
std::ostream& operator<<(std::ostream& out, const Message& message);

}  // namespace andiron::inline v1
