// SPDX-License-Identifier: MIT OR Apache-2.0
// Where the data of a Burnpack file begins. The rules are told in docs/formats/burnpack.md.
// Tested by tests/freestanding/burnpack_layout_test.cpp
#include "andiron/burnpack_view.h"

namespace andiron::inline v1 {
namespace {

using Generation = BurnpackGeneration;

constexpr std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? ~std::uint64_t{0} : sum;
}

// A text that fits, ended by a zero; longer ones are none that we look for.
template <std::size_t N>
void keep_short(const CborText& text, char (&out)[N]) noexcept {
  const std::size_t size = text.raw.size() < N ? text.decode(out) : 0;
  out[size] = '\0';
}

}  // namespace

void BurnpackSurvey::add(const BurnpackEntry& entry) noexcept {
  const std::uint64_t bytes = entry.end - entry.begin;
  if (entry.end > data_bytes_) data_bytes_ = entry.end;
  tensor_bytes_ = add_saturated(tensor_bytes_, bytes);
  if (bytes != 0) {
    has_data_ = true;
    all_aligned_ = all_aligned_ && entry.begin % burnpack_alignment == 0;
  }
  raise_earliest(entry.earliest);
  if (latest_ > entry.latest) latest_ = entry.latest;
}

void BurnpackSurvey::add_metadata(const CborText& key, const CborText& value) noexcept {
  if (key.equals("producer")) {
    producer_ = value.equals("burn")      ? Producer::burn
                : value.equals("andiron") ? Producer::andiron
                                          : Producer::other;
  } else if (key.equals("version")) {
    keep_short(value, version_);
  } else if (key.equals("burn")) {
    keep_short(value, burn_);
  }
}

// Users may set these entries to anything: what is no release tells nothing.
bool BurnpackSurvey::told_generation(BurnpackGeneration& generation) const noexcept {
  if (producer_ == Producer::burn) {
    return burnpack_generation_of({version_, __builtin_strlen(version_)}, generation);
  }
  if (producer_ != Producer::andiron) return false;
  constexpr auto newest = static_cast<unsigned>(BurnpackGeneration::burn_0_22);
  for (unsigned i = 0; i <= newest; ++i) {
    generation = static_cast<BurnpackGeneration>(i);
    if (name_of(generation) == burn_) return true;
  }
  return false;
}

BurnpackLayout BurnpackSurvey::layout(std::uint64_t metadata_bytes, std::uint64_t file_bytes,
                                      std::span<const std::byte> after_metadata) const noexcept {
  const std::uint64_t unaligned = burnpack_header_bytes + metadata_bytes;
  const std::uint64_t aligned = burnpack_aligned(unaligned);
  const auto ends_with = [&](std::uint64_t begin) {
    return file_bytes >= begin && file_bytes - begin == data_bytes_;
  };
  const auto only_padding = [&] {
    for (const std::byte byte : after_metadata) {
      if (byte != std::byte{0}) return false;
    }
    return true;
  };
  Generation release{};
  const bool tells_release = told_generation(release);
  const bool is_aligned = [&] {
    if (unaligned == aligned) return true;
    if (!has_data_) return file_bytes >= aligned;
    if (ends_with(aligned) && only_padding()) return true;
    // Not what the newer releases write: an old file, or one that is cut, or longer.
    // Old files have no gaps, but for what is left of names given twice.
    const bool has_gaps = tensor_bytes_ != data_bytes_;
    if (!all_aligned_ && (!has_gaps || ends_with(unaligned))) return false;
    if (has_gaps) return all_aligned_ || !tells_release || release != Generation::burn_0_19;
    // Metadata may be carried over from a newer file; data where newer files have zeros may not.
    if (ends_with(unaligned) && !only_padding()) return false;
    if (tells_release) return release != Generation::burn_0_19;
    return ends_with(aligned) || only_padding();
  }();

  BurnpackLayout result{is_aligned, is_aligned ? aligned : unaligned, data_bytes_, earliest_,
                        latest_};
  if (!is_aligned) {
    result.earliest = result.latest = Generation::burn_0_19;
  } else if (unaligned != aligned && result.earliest < Generation::burn_0_20) {
    result.earliest = Generation::burn_0_20;
  }
  if (result.latest < result.earliest) result.latest = result.earliest;
  return result;
}

}  // namespace andiron::inline v1
