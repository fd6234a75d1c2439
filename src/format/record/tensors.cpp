// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/record_reader_test.cpp and record_hostile_test.cpp
#include "src/format/record/tensors.h"

#include "src/core/check_limit.h"
#include "src/core/try.h"

namespace andiron::inline v1::detail {

RecordTensors::RecordTensors(const ByteSourcePtr& file, ByteSourcePtr source,
                             const OpenOptions& options, std::string packaging)
    : file_(file->name()),
      source_(std::move(source)),
      options_(options),
      builder_(file_, std::string(format_name(Format::mpk)), std::move(packaging)) {
  builder_.add_file(file);
  if (source_ != file) archive_ = builder_.finish();
}

Status RecordTensors::check(std::string_view name, const RecordTensor& tensor) {
  ANDIRON_TRY(check_limit(size() + 1, options_.limits.tensors,
                          {"too many tensors", &Limits::tensors, "", file_}));
  ANDIRON_TRY(check_name_length(name, options_.limits, file_));
  Error error{.file = file_};
  error.tensor = name;
  const DType dtype = tensor.dtype.dtype;
  if (dtype == DType::raw && tensor.dtype.spelling != "Bool(U32)") {
    if (options_.strictness == Strictness::strict) {
      error.code = ErrorCode::unsupported_dtype;
      error.message = "unknown dtype";
      error.found = std::string(tensor.dtype.spelling);
      error.hint = "only " + Message(Advice::strict) + " refuses it";
      return error;
    }
    unknown_dtypes_.add(name);
  }
  ANDIRON_TRY(tensor.shape.check_rank());
  if (is_opaque(dtype)) return {};
  const auto expected = tensor.shape.byte_count(dtype);
  if (expected && *expected == tensor.byte_size) return {};
  const std::string what = std::string(dtype_name(dtype)) + " " + tensor.shape.to_string();
  error.code = expected ? ErrorCode::size_mismatch : expected.error().code;
  error.message =
      expected ? "the data size does not match dtype and shape" : expected.error().message;
  error.found = expected ? std::to_string(tensor.byte_size) + " bytes" : what;
  if (expected) error.expected = std::to_string(*expected) + " for " + what;
  return error;
}

Status RecordTensors::leave_runs() {
  if (archive_) return {};
  ANDIRON_TRY(check_names());
  archive_ = builder_.finish();
  return {};
}

Status RecordTensors::check_names() {
  ANDIRON_ASSIGN(const std::optional<std::uint32_t> twice, builder_.index_names());
  if (!twice) return {};
  return Error{.code = ErrorCode::duplicate_key,
               .message = "duplicate name",
               .file = file_,
               .tensor = std::string(builder_.state().name_at(*twice))};
}

Result<TensorIndex> RecordTensors::add(std::string_view name, RecordTensor tensor,
                                       std::optional<ParamId> id) {
  ANDIRON_TRY(check(name, tensor));
  if (tensor.elements) ANDIRON_TRY(leave_runs());
  const TensorIndex index{size()};
  if (!archive_) {
    ANDIRON_TRY(builder_.add({builder_.store(name), tensor.dtype.dtype,
                              builder_.store(tensor.dtype.spelling), tensor.shape.dims(), 0,
                              tensor.offset, tensor.byte_size, id}));
    return index;
  }
  ByteSourcePtr source = tensor.elements ? memory_source(*tensor.elements, file_) : source_;
  const DType dtype = tensor.dtype.dtype;
  ANDIRON_ASSIGN(TensorSnapshot snapshot,
                 TensorSnapshot::from_source(std::string(name), std::move(source), tensor.offset,
                                             tensor.byte_size, dtype, std::move(tensor.shape),
                                             is_opaque(dtype) ? tensor.dtype.spelling : ""));
  ANDIRON_TRY(archive_->add(std::move(snapshot).with_param_id(id)));
  return index;
}

Result<Archive> RecordTensors::finish() {
  ANDIRON_TRY(leave_runs());
  std::vector<Message> notes;
  unknown_dtypes_.note(notes, "tensor", "unknown dtype, kept as raw bytes");
  for (Message& note : notes) archive_->add_note(std::move(note));
  return *std::move(archive_);
}

}  // namespace andiron::inline v1::detail
