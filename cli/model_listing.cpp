// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/model_listing.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "andiron/file.h"
#include "andiron/value.h"

namespace andiron::cli {
namespace {

constexpr std::uint64_t most_listing_bytes = std::uint64_t{64} << 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::optional<DType> dtype_in(std::string_view name) {
  DType dtype = DType::f32;
  if (!dtype_from_name(name, dtype)) return std::nullopt;
  return dtype;
}

// "[2, 3]"; nothing if it is none.
std::optional<Shape> shape_in(std::string_view text) {
  std::vector<std::uint64_t> dims;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    while (at != end && (*at == ' ' || *at == ',')) ++at;
    if (at == end) break;
    std::uint64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc()) return std::nullopt;
    dims.push_back(size);
    at = next;
  }
  return Shape(dims);
}

std::optional<ListedParameter> parameter_in(std::string_view line) {
  const std::size_t open = line.rfind('[');
  const std::size_t close = line.find(']', open == line.npos ? 0 : open);
  if (open == line.npos || close == line.npos) return std::nullopt;
  const std::string_view before = trimmed(line.substr(0, open));
  const std::size_t space = before.find_last_of(" \t");
  if (space == before.npos) return std::nullopt;
  const std::optional<DType> dtype = dtype_in(before.substr(space + 1));
  const std::optional<Shape> shape = shape_in(line.substr(open + 1, close - open - 1));
  const std::string_view name = trimmed(before.substr(0, space));
  if (!dtype || !shape || name.empty()) return std::nullopt;
  return ListedParameter{std::string(name), *dtype, *shape, {}};
}

// What `andiron ls` prints around tensors, blank lines and comments.
bool is_beside_tensors(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line.starts_with('#')) return true;
  const bool is_header = line.starts_with("NAME ") && line.find("DTYPE") != line.npos;
  const bool is_path = line.ends_with(':') && line.find('[') == line.npos;
  const std::size_t digits = line.find_first_not_of("0123456789,");
  const bool is_total = digits != 0 && digits != line.npos &&
                        line.substr(digits).starts_with(" tensor") &&
                        line.find(" parameter") != line.npos;
  return is_header || is_path || is_total;
}

// Without dtypes, batches are counted in integers, and all else is a number.
DType usual_dtype(std::string_view name) {
  return name.ends_with("num_batches_tracked") || name.ends_with("position_ids") ? DType::i64
                                                                                 : DType::f32;
}

std::optional<Shape> shape_of(const Value& value) {
  const ValueList* list = value.get<ValueList>();
  if (list == nullptr) return std::nullopt;
  std::vector<std::uint64_t> dims;
  for (const Value& one : *list) {
    const std::int64_t* size = one.get<std::int64_t>();
    if (size == nullptr || *size < 0) return std::nullopt;
    dims.push_back(static_cast<std::uint64_t>(*size));
  }
  return Shape(dims);
}

std::string text_at(const Value& value, std::string_view key) {
  const Value* found = value.find(key);
  const std::string* text = found == nullptr ? nullptr : found->get<std::string>();
  return text == nullptr ? std::string() : *text;
}

Error not_understood(std::string found) {
  return Error{.code = ErrorCode::invalid_argument,
               .message = "cannot read an entry of the listing",
               .found = std::move(found),
               .expected = "a name, a dtype and a shape: fc.weight f32 [2, 3]",
               .hint = "'andiron ls --wide' and 'andiron ls --json' print listings"};
}

Status take_json(const Value& value, std::vector<ListedParameter>& parameters) {
  if (const Value* tensors = value.find("tensors")) {
    const ValueList* list = tensors->get<ValueList>();
    if (list == nullptr) return not_understood("tensors that are no list");
    for (const Value& one : *list) {
      const Value* shape = one.find("shape");
      const std::optional<Shape> dims = shape == nullptr ? std::nullopt : shape_of(*shape);
      const bool is_known = dtype_in(text_at(one, "dtype")).has_value();
      if (!dims || !is_known || text_at(one, "name").empty()) {
        return not_understood(to_json(one));
      }
      parameters.push_back({text_at(one, "name"),
                            dtype_in(text_at(one, "dtype")).value_or(DType::f32), *dims,
                            text_at(one, "kind")});
    }
    return {};
  }
  const ValueDict* entries = value.get<ValueDict>();
  if (entries == nullptr) return not_understood(to_json(value));
  for (const auto& [name, entry] : *entries) {
    const Value* shape = entry.find("shape");
    const std::string named = text_at(entry, "dtype");
    const std::optional<DType> dtype = named.empty() ? usual_dtype(name) : dtype_in(named);
    const std::optional<Shape> dims = shape_of(shape == nullptr ? entry : *shape);
    if (!dims || !dtype) return not_understood(name + ": " + to_json(entry));
    parameters.push_back({name, *dtype, *dims, text_at(entry, "kind")});
  }
  return {};
}

}  // namespace

Result<std::vector<ListedParameter>> parse_listing(std::string_view text) {
  std::vector<ListedParameter> parameters;
  const std::string_view start = trimmed(text.substr(0, text.find('\n')));
  if (start.starts_with('{')) {
    Result<Value> whole = parse_json(text);
    if (whole) {
      if (Status taken = take_json(*whole, parameters); !taken) return std::move(taken).error();
    } else {
      // One object to a line, as for several inputs.
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const Result<Value> line = parse_json(text.substr(begin, end - begin));
        if (!line) return whole.error();
        if (Status taken = take_json(*line, parameters); !taken) return std::move(taken).error();
        begin = end + 1;
      }
    }
  } else {
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = text.substr(begin, end - begin);
      begin = end + 1;
      ++number;
      if (std::optional<ListedParameter> parameter = parameter_in(line)) {
        parameters.push_back(*std::move(parameter));
      } else if (!is_beside_tensors(line)) {
        return not_understood("line " + std::to_string(number) + ": " + std::string(trimmed(line)));
      }
    }
  }
  if (!parameters.empty()) return parameters;
  return Error{.code = ErrorCode::invalid_argument,
               .message = "no parameter in the listing",
               .expected =
                   "lines with a name, a dtype and a shape, as 'andiron ls' prints them, "
                   "or JSON"};
}

Result<std::vector<ListedParameter>> read_model(const std::string& path,
                                                const OpenOptions& options) {
  Result<Archive> archive = open(path, options);
  if (archive) {
    std::vector<ListedParameter> parameters;
    for (std::size_t i = 0; i < archive->size(); ++i) {
      const TensorInfo info = archive->info(i);
      parameters.push_back({std::string(info.name), info.dtype, Shape(info.shape), {}});
    }
    return parameters;
  }
  if (archive.error().code != ErrorCode::not_a_weight_file) return std::move(archive).error();
  Result<ByteSourcePtr> file = open_file(path);
  if (!file) return std::move(file).error();
  if ((*file)->size() > most_listing_bytes) return std::move(archive).error();
  std::string text((*file)->size(), '\0');
  if (Status read = (*file)->read_at(0, std::as_writable_bytes(std::span(text))); !read) {
    return std::move(read).error();
  }
  Result<std::vector<ListedParameter>> listed = parse_listing(text);
  if (listed) return listed;
  Error error = std::move(listed).error();
  error.file = path;
  return error;
}

}  // namespace andiron::cli
