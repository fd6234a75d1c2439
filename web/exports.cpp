// SPDX-License-Identifier: MIT OR Apache-2.0
// What JavaScript calls: functions over numbers, and over bytes in the module's memory.
//
// A request is JSON in memory from andiron_allocate(), which the caller gives back. An Answer is
// handed over to the caller, who gives it back with andiron_release(). If `failed` is 0, `data` and
// `size` are the result, otherwise an error as JSON. A null answer means that there is no memory.
// An open file is a number, until andiron_close().
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "andiron/andiron.h"
#include "web/answer.h"
#include "web/describe.h"
#include "web/host_files.h"
#include "web/json.h"

namespace andiron::web {
namespace {

std::map<std::uint32_t, Archive>& open_files() {
  static std::map<std::uint32_t, Archive> files;
  return files;
}

Result<Archive> file_of(std::uint32_t handle) {
  const auto found = open_files().find(handle);
  if (found != open_files().end()) return found->second;
  return Error{.code = ErrorCode::invalid_argument, .message = "the file is closed"};
}

template <class Request>
Result<Request> request_in(const char* text, std::size_t size) {
  Result<Value> value = parse_json({text, size});
  if (!value) return std::move(value).error();
  return value->as<Request>();
}

// ---- Requests, as in andiron.d.ts ----

struct NameRequest {
  std::string top_level_key = "";
  std::vector<std::pair<std::string, std::string>> rename = {};
  bool contiguous_indices = false;
  bool fold_weight_norm = false;

  static void fields(auto& self, auto&& field) {
    field("topLevelKey", self.top_level_key);
    field("rename", self.rename);
    field("contiguousIndices", self.contiguous_indices);
    field("foldWeightNorm", self.fold_weight_norm);
  }

  Result<NameOptions> options() const {
    NameOptions options;
    options.top_level_key = top_level_key;
    options.fold_weight_norm = fold_weight_norm;
    options.close_gaps = contiguous_indices;
    options.remapper = KeyRemapper::from_patterns(rename);
    // A note would be read after the names are lost.
    for (std::string& warning : options.remapper.warnings()) {
      return Error{.code = ErrorCode::invalid_pattern, .message = std::move(warning)};
    }
    return options;
  }
};

struct OpenRequest {
  std::uint32_t set = 0;
  std::optional<std::string> folder = {};
  std::vector<std::string> listed = {};
  std::string name = "";
  std::string strictness = "standard";
  bool verify = false;
  NameRequest names = {};
  ANDIRON_CONFIG(OpenRequest, set, folder, listed, name, strictness, verify, names)

  OpenOptions options() const {
    OpenOptions options{.verify = verify};
    if (strictness == "lenient") options.strictness = Strictness::lenient;
    if (strictness == "strict") options.strictness = Strictness::strict;
    return options;
  }
};

struct TensorRequest {
  std::string name;
  std::optional<std::string> dtype = {};
  std::optional<std::uint64_t> begin = {};
  std::optional<std::uint64_t> end = {};
  std::uint64_t bins = 0;
  ANDIRON_CONFIG(TensorRequest, name, dtype, begin, end, bins)
};

struct CompareRequest {
  double atol = 0;
  double rtol = 0;
  bool ignore_dtype = false;
  static void fields(auto& self, auto&& field) {
    field("atol", self.atol);
    field("rtol", self.rtol);
    field("ignoreDtype", self.ignore_dtype);
  }
};

struct ConvertRequest {
  std::string format;
  std::map<std::string, std::string> metadata = {};
  ANDIRON_CONFIG(ConvertRequest, format, metadata)
};

// ---- What they ask for ----

Result<std::string> open_file(const OpenRequest& request) {
  const Result<NameOptions> names = request.names.options();
  if (!names) return names.error();
  Result<Archive> file =
      open(HostFiles(request.set, request.folder, request.listed), request.name, request.options());
  if (!file) return std::move(file).error();
  Result<Archive> named = apply_names(*file, *names);
  if (!named) return std::move(named).error();
  static std::uint32_t last_handle = 0;
  std::string text = describe(*named, ++last_handle);
  open_files().emplace(last_handle, *std::move(named));
  return text;
}

struct FoundTensor {
  TensorSnapshot tensor;
  TensorRequest request;
};

Result<FoundTensor> tensor_of(std::uint32_t handle, const char* text, std::size_t size) {
  Result<Archive> file = file_of(handle);
  if (!file) return std::move(file).error();
  Result<TensorRequest> request = request_in<TensorRequest>(text, size);
  if (!request) return std::move(request).error();
  Result<TensorSnapshot> tensor = file->get(request->name);
  if (!tensor) return std::move(tensor).error();
  return FoundTensor{*std::move(tensor), *std::move(request)};
}

Result<Made> elements_of(const FoundTensor& found) {
  TensorSnapshot tensor = found.tensor;
  if (found.request.dtype) {
    DType dtype = DType::raw;
    if (!dtype_from_name(*found.request.dtype, dtype)) {
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "no such dtype",
                   .found = *found.request.dtype,
                   .expected = "a name such as f32"};
    }
    Result<TensorSnapshot> cast = tensor.cast(dtype);
    if (!cast) return std::move(cast).error();
    tensor = *std::move(cast);
  }
  std::uint64_t begin = 0;
  std::uint64_t end = tensor.byte_size();
  if (found.request.begin || found.request.end) {
    const std::uint64_t bits = bit_width(tensor.dtype());
    if (bits == 0 || bits % 8 != 0) {
      return Error{.code = ErrorCode::unsupported_dtype,
                   .message = "its elements do not fill whole bytes",
                   .tensor = found.request.name,
                   .found = tensor.dtype_text(),
                   .hint = "read all of it"};
    }
    const std::uint64_t elements = end / (bits / 8);
    const std::uint64_t first = found.request.begin.value_or(0);
    const std::uint64_t last = found.request.end.value_or(elements);
    if (first > last || last > elements) {
      return Error{.code = ErrorCode::invalid_argument,
                   .message = "the range is outside the tensor",
                   .tensor = found.request.name,
                   .found = std::to_string(first) + " to " + std::to_string(last),
                   .expected = "0 to " + std::to_string(elements)};
    }
    begin = first * (bits / 8);
    end = last * (bits / 8);
  }
  Result<Bytes> bytes = Bytes::allocate(end - begin);
  if (!bytes) return std::move(bytes).error();
  const Status read = begin == 0 && end == tensor.byte_size()
                          ? tensor.read_into(bytes->writable())
                          : tensor.read_part(begin, bytes->writable());
  if (!read) return read.error();
  // A tied name is in no list.
  return Made{*std::move(bytes), '"' + std::string(dtype_name(tensor.dtype())) + '"'};
}

Result<std::string> hash_of(const FoundTensor& found) {
  Result<Sha256Digest> digest = sha256(found.tensor);
  if (!digest) return std::move(digest).error();
  return json_object([&](JsonObject& object) { object.text("sha256", to_hex(*digest)); });
}

Result<std::string> statistics_of(const FoundTensor& found) {
  // A size has 32 bits here: the library would see another number.
  if (!std::in_range<std::size_t>(found.request.bins)) {
    return Error{.code = ErrorCode::invalid_argument,
                 .message = "the histogram has too many bins",
                 .found = std::to_string(found.request.bins),
                 .expected = "at most 65536"};
  }
  Result<Statistics> result =
      statistics(found.tensor, {.histogram_bins = static_cast<std::size_t>(found.request.bins)});
  if (!result) return std::move(result).error();
  return describe(*result);
}

Result<std::string> compared(std::uint32_t a, std::uint32_t b, const CompareRequest& request) {
  Result<Archive> first = file_of(a);
  if (!first) return std::move(first).error();
  Result<Archive> second = file_of(b);
  if (!second) return std::move(second).error();
  Result<Comparison> comparison = compare(*first, *second,
                                          {.absolute_tolerance = request.atol,
                                           .relative_tolerance = request.rtol,
                                           .ignore_dtype = request.ignore_dtype});
  if (!comparison) return std::move(comparison).error();
  return describe(*comparison);
}

Result<Made> converted(std::uint32_t handle, const ConvertRequest& request) {
  const Result<Archive> file = file_of(handle);
  if (!file) return file.error();
  for (const FormatInfo& format : formats()) {
    if (format.name != request.format) continue;
    const Result<Conversion> conversion = convert(*file, {.format = format.format});
    if (!conversion) return conversion.error();
    MemorySink sink;
    const Result<WriteReport> report = write(
        conversion->archive, sink,
        {.format = format.format, .metadata = {request.metadata.begin(), request.metadata.end()}});
    if (!report) return report.error();
    std::vector<Message> notes = conversion->notes;
    notes.insert(notes.end(), report->notes.begin(), report->notes.end());
    std::string about;
    append_json_notes(about, notes);
    return Made{sink.take(), std::move(about)};
  }
  return Error{.code = ErrorCode::invalid_argument,
               .message = "no such format",
               .found = request.format,
               .expected = "safetensors, burnpack, mpk or numpy"};
}

// The answer to a request for one tensor of a file.
template <class Answered>
Answer* answer_for_tensor(std::uint32_t file, const char* text, std::size_t size,
                          const Answered& answered) {
  Result<FoundTensor> found = tensor_of(file, text, size);
  using Given = decltype(answered(*found));
  return answer(found ? answered(*found) : Given(std::move(found).error()));
}

}  // namespace
}  // namespace andiron::web

#define ANDIRON_EXPORT(name) extern "C" [[clang::export_name(#name)]]

using andiron::web::Answer;

ANDIRON_EXPORT(andiron_allocate) void* andiron_allocate(std::size_t size) {
  return std::malloc(size == 0 ? 1 : size);
}

ANDIRON_EXPORT(andiron_deallocate) void andiron_deallocate(void* memory) { std::free(memory); }

ANDIRON_EXPORT(andiron_release) void andiron_release(Answer* answer) { delete answer; }

ANDIRON_EXPORT(andiron_version) Answer* andiron_version() {
  return andiron::web::answer(andiron::Result<std::string>(std::string(ANDIRON_VERSION)));
}

ANDIRON_EXPORT(andiron_open) Answer* andiron_open(const char* text, std::size_t size) {
  using namespace andiron::web;
  auto request = request_in<OpenRequest>(text, size);
  if (!request) return answer(andiron::Result<std::string>(std::move(request).error()));
  return answer(open_file(*request));
}

ANDIRON_EXPORT(andiron_close) void andiron_close(std::uint32_t file) {
  andiron::web::open_files().erase(file);
}

ANDIRON_EXPORT(andiron_read)
Answer* andiron_read(std::uint32_t file, const char* text, std::size_t size) {
  return andiron::web::answer_for_tensor(file, text, size, andiron::web::elements_of);
}

ANDIRON_EXPORT(andiron_hash)
Answer* andiron_hash(std::uint32_t file, const char* text, std::size_t size) {
  return andiron::web::answer_for_tensor(file, text, size, andiron::web::hash_of);
}

ANDIRON_EXPORT(andiron_statistics)
Answer* andiron_statistics(std::uint32_t file, const char* text, std::size_t size) {
  return andiron::web::answer_for_tensor(file, text, size, andiron::web::statistics_of);
}

ANDIRON_EXPORT(andiron_compare)
Answer* andiron_compare(std::uint32_t a, std::uint32_t b, const char* text, std::size_t size) {
  using namespace andiron::web;
  auto request = request_in<CompareRequest>(text, size);
  if (!request) return answer(andiron::Result<std::string>(std::move(request).error()));
  return answer(compared(a, b, *request));
}

ANDIRON_EXPORT(andiron_convert)
Answer* andiron_convert(std::uint32_t file, const char* text, std::size_t size) {
  using namespace andiron::web;
  auto request = request_in<ConvertRequest>(text, size);
  if (!request) return answer(andiron::Result<Made>(std::move(request).error()));
  return answer(converted(file, *request));
}
