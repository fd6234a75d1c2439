// SPDX-License-Identifier: MIT OR Apache-2.0
// A record of Burn's older releases, in MessagePack or JSON, plain or gzip: every tensor can be
// read, compressing it changes nothing, and written again it reads back the same. The same bytes,
// which may also be bincode, are loaded into a module, which takes them or stays as it was.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/open.h"
#include "andiron/stores.h"
#include "andiron/write.h"
#include "fuzz/archive_property.h"
#include "src/format/record/name_tree.h"
#include "tests/support/gzip_writing.h"
#include "tests/support/module_fingerprint.h"

using namespace andiron;
using namespace andiron::fuzz;
using test::fingerprint;

namespace {

struct Net {
  nn::Linear fc = nn::LinearConfig(2, 3).init();
  nn::LayerNorm norm = nn::LayerNormConfig(3).init();
  ANDIRON_MODULE(Net, fc, norm)
};

void load_into_module(std::span<const std::byte> file) {
  static const Net fresh;
  Net net = fresh;
  const BurnpackStore store = BurnpackStore::from_bytes(Bytes::borrow(file));
  const Result<ApplyResult> result = load_from(net, store);
  if (result) {
    ANDIRON_HOLDS(!result->applied.empty());
  } else {
    ANDIRON_HOLDS(!result.error().to_string().empty());
    ANDIRON_HOLDS(fingerprint(net) == fingerprint(fresh));
  }
}

bool is_gzip(std::span<const std::byte> file) {
  return file.size() >= 2 && file[0] == std::byte{0x1f} && file[1] == std::byte{0x8b};
}

void compare_compressed(const Result<Archive>& plain, std::span<const std::byte> file) {
  const std::string gzip = test::gzipped(Bytes::borrow(file).text());
  const ByteSourcePtr source = memory_source(Bytes::borrow(std::as_bytes(std::span(gzip))));
  const Result<Archive> packed = open_as(Format::mpk, source, Strictness::standard);
  ANDIRON_HOLDS(plain.ok() == packed.ok());
  if (!plain) return;
  ANDIRON_HOLDS(packed->packaging() == plain->packaging() + ".gz");
  ANDIRON_HOLDS(packed->metadata() == plain->metadata());
  ANDIRON_HOLDS(same_value(*packed->value(), *plain->value()));
  match_tensors(*plain, *packed, [&](std::size_t before, std::size_t after) {
    ANDIRON_HOLDS(before == after);
    ANDIRON_HOLDS(plain->info(before).dtype == packed->info(after).dtype);
    ANDIRON_HOLDS(plain->info(before).param_id == packed->info(after).param_id);
    ANDIRON_HOLDS(same_data(plain->snapshot(before), packed->snapshot(after)));
  });
}

// What the writer may refuse: types that records lack, integers beyond those of the precision, and
// names that make no tree where the structure is too deep to keep.
bool may_be_refused(ErrorCode code) {
  return code == ErrorCode::unsupported_dtype || code == ErrorCode::invalid_argument ||
         code == ErrorCode::overflow || code == ErrorCode::limit_exceeded ||
         code == ErrorCode::name_collision;
}

// Metadata that the writer does not make itself.
void compare_metadata(const Archive& before, const Archive& after) {
  constexpr std::string_view own[] = {"float", "int", "format", "version", "settings"};
  for (const auto& [key, value] : before.metadata()) {
    if (std::find(std::begin(own), std::end(own), key) != std::end(own)) continue;
    const auto entry = after.metadata().find(key);
    ANDIRON_HOLDS(entry != after.metadata().end() && entry->second == value);
  }
}

void write_and_read_back(const Archive& archive, RecordPrecision precision) {
  WriteOptions options;
  options.format = Format::mpk;
  options.settings = MpkSettings{precision};
  const Result<Bytes> written = write_to_memory(archive, options);
  if (!written) {
    ANDIRON_HOLDS(may_be_refused(written.error().code));
    return;
  }
  const Archive again = must(open_as(Format::mpk, memory_source(*written), Strictness::standard));
  ANDIRON_HOLDS(again.packaging() == "msgpack");
  compare_metadata(archive, again);
  if (detail::is_tree_of(*archive.value(), archive)) {
    ANDIRON_HOLDS(same_value(*archive.value(), *again.value()));
  }
  match_tensors(archive, again, [&](std::size_t before, std::size_t after) {
    const TensorSnapshot snapshot = archive.snapshot(before);
    const DType stored = again.info(after).dtype;
    ANDIRON_HOLDS(archive.info(before).param_id == again.info(after).param_id);
    const TensorSnapshot converted =
        snapshot.dtype() == stored ? snapshot : must(snapshot.cast(stored));
    ANDIRON_HOLDS(same_data(converted, again.snapshot(after)));
  });
  ANDIRON_HOLDS(same(must(write_to_memory(again, options)).span(), written->span()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const ByteSourcePtr source = memory_source(Bytes::borrow(file));
  const auto [lenient, standard, strict] = open_strictly_and_not(Format::mpk, source);
  if (standard && !strict) ANDIRON_HOLDS(strict.error().code == ErrorCode::unsupported_dtype);
  if (lenient && !standard) ANDIRON_HOLDS(standard.error().code == ErrorCode::size_mismatch);
  if (!is_gzip(file)) compare_compressed(standard, file);

  if (lenient) {
    const auto copying = std::make_shared<CopyingSource>(file);
    const Archive copied = must(open_as(Format::mpk, copying, Strictness::lenient));
    read_tensors(*lenient, copied, file);
    for (const auto precision :
         {RecordPrecision::full, RecordPrecision::half, RecordPrecision::doubled}) {
      write_and_read_back(*lenient, precision);
    }
  }
  load_into_module(file);
  return 0;
}
