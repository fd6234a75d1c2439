// SPDX-License-Identifier: MIT OR Apache-2.0
// The tool's JSON, schema 1: one object on one line for each input. Fields may be added, never
// renamed or removed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/archive.h"
#include "andiron/error.h"
#include "andiron/sha256.h"
#include "andiron/statistics.h"
#include "cli/tensor_text.h"

namespace andiron::cli {

/// What some verbs add to an object.
struct JsonAdditions {
  // Empty, or one for each tensor of the archive.
  std::span<const Sha256Digest> digests = {};
  std::span<const Statistics> statistics = {};
  std::string_view more_fields = {};  ///< JSON text, each field with a comma before it
  const Renames* renames = nullptr;   ///< the names in the file and after each step
};

/// What every object begins with: `{"schema":1,"path":"PATH"`.
std::string json_start(std::string_view path);

/// An input that was read. `order` lists the tensors.
std::string json_object(const std::string& path, const Archive& archive,
                        std::span<const std::size_t> order, const JsonAdditions& additions = {});

/// An input that failed; `more_fields` as above.
std::string json_error(const std::string& path, const Error& error,
                       std::string_view more_fields = {});

/// Appends `,"KEY":` for a field that follows another.
void append_json_key(std::string& out, std::string_view key);
/// Appends `,"KEY":NUMBER`.
void append_json_field(std::string& out, std::string_view key, std::uint64_t number);
/// Appends the shortest text that gives the same number again. NaN, which stands for what is not
/// there, is null; infinities are strings.
void append_json_double(std::string& out, double number);
/// Appends a shape or coordinates: `[2,3]`.
void append_json_list(std::string& out, std::span<const std::uint64_t> numbers);
/// Appends `,"KEY":"TEXT"`.
void append_json_field(std::string& out, std::string_view key, std::string_view text);
/// Appends `,"KEY":["TEXT",...]`.
void append_json_field(std::string& out, std::string_view key,
                       const std::vector<std::string>& texts);
/// Appends `,"KEY":[{"name":"NAME","reason":"REASON"},...]`.
void append_json_field(std::string& out, std::string_view key, const std::vector<Skipped>& skipped);
/// Appends `,"notes":["TEXT",...]`.
void append_json_notes(std::string& out, const std::vector<Message>& notes);
/// Appends an object of strings.
void append_json_strings(std::string& out, const Metadata& entries);

}  // namespace andiron::cli
