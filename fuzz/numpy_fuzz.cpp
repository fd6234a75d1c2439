// SPDX-License-Identifier: MIT OR Apache-2.0
// A NumPy file: it is refused, or its tensors have distinct names, each can be read or gives a
// reason why not, memory and copies give the same result, and what we write from it can be read
// again.
#include <algorithm>
#include <string>

#include "andiron/sink.h"
#include "fuzz/archive_property.h"
#include "fuzz/damaged_tensor_property.h"
#include "src/format/numpy/numpy.h"

using namespace andiron;
using namespace andiron::fuzz;

namespace {

Result<Archive> opened(const ByteSourcePtr& source, Strictness strictness) {
  OpenOptions options;
  options.strictness = strictness;
  return detail::read_numpy({source, options});
}

// Whether the tensor can be read: of a damaged entry that is deflated, no more is known at open.
bool read_tensor(const TensorSnapshot& lent, const TensorSnapshot& copied, const TensorInfo& info,
                 std::span<const std::byte> file) {
  if (!read_if_intact(lent, copied, info, file)) {
    ANDIRON_HOLDS(!info.offset);
    return false;
  }
  if (info.byte_size <= max_bytes_transformed) transform_tensor(lent, copied);
  return true;
}

void write_again(const Archive& archive) {
  MemorySink sink;
  const Result<std::uint64_t> bytes = detail::write_numpy({archive, sink, {}, ".npz"});
  if (!bytes) {
    // Raw bytes in Fortran order were skipped; of others the file gave a descr.
    ANDIRON_HOLDS(bytes.error().code == ErrorCode::name_collision ||
                  bytes.error().code == ErrorCode::bad_header ||
                  bytes.error().code == ErrorCode::unsupported_dtype);
    return;
  }
  const Bytes file = sink.take();
  ANDIRON_HOLDS(file.size() == *bytes);
  WriteOptions dry;
  dry.dry_run = true;
  ANDIRON_HOLDS(must(detail::write_numpy({archive, sink, dry, ".npz"})) == *bytes);
  const Archive again = must(opened(memory_source(file), Strictness::standard));
  ANDIRON_HOLDS(again.packaging() == "npz" && again.skipped().empty());
  match_tensors(archive, again, [&](std::size_t i, std::size_t at) {
    ANDIRON_HOLDS(i == at && archive.info(i).dtype == again.info(at).dtype);
    ANDIRON_HOLDS(!again.info(at).offset || *again.info(at).offset % 64 == 0);
    ANDIRON_HOLDS(same_data(archive.snapshot(i), again.snapshot(at)));
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const ByteSourcePtr source = memory_source(Bytes::borrow(file));
  const Result<Archive> lenient = open_strictly_and_not(source, opened).lenient;
  const Result<Archive> copied = open_copied(lenient, file, opened);
  if (!lenient) return 0;
  bool is_readable = lenient->size() <= max_tensors_read;
  for (std::size_t i = 0; i < std::min(lenient->size(), max_tensors_read); ++i) {
    is_readable &= read_tensor(lenient->snapshot(i), copied->snapshot(i), lenient->info(i), file);
  }
  if (is_readable) write_again(*lenient);
  return 0;
}
