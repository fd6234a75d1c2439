// SPDX-License-Identifier: MIT OR Apache-2.0
// The scheme of a quantized dtype, in one of three schemas:
//
//   0.19                 { "value", "param": P, "store": "Native" | "U32", "level": L, "mode" }
//   0.20 to 0.22.0-pre.2 { "value", "param": P, "store": S, "level": L, "mode" }
//   later                { "value", "store": S, "mode", "tensor": null | P,
//                          "block": null | { "size": B, "dtype": P } }
//
//   S := "Native" | { "PackedNative": dim } | { "PackedU32": dim }
//   L := "Tensor" | { "Block": B } | { "BlockTensor": { "block": B, "global": P } }
//   B := { "storage": [5 numbers], "len": n }
// Tested by tests/freestanding/burnpack_scheme_test.cpp
#include "src/freestanding/burnpack_scheme.h"

namespace andiron::inline v1::detail {
namespace {

using Kind = CborReader::Kind;
using Generation = BurnpackGeneration;

constexpr unsigned value_count = static_cast<unsigned>(QuantValue::q2s) + 1;
constexpr unsigned param_count = static_cast<unsigned>(QuantParam::ue4m3) + 1;
constexpr unsigned mode_count = static_cast<unsigned>(QuantMode::lookup) + 1;

// Nesting around a scheme: the top map, the map of tensors, a descriptor, its dtype.
constexpr unsigned scheme_depth = 4;

class QuantSchemeReader {
 public:
  QuantSchemeReader(CborReader& reader, BurnpackEntry& entry) : reader_(reader), entry_(entry) {}

  // False for anything that is none of these, and for bytes that are no CBOR.
  bool read() noexcept {
    CborOpen map;
    if (!reader_.open_map(map)) return false;
    while (reader_.next(map)) {
      std::string_view key;
      if (!reader_.word(key) || !field(key)) return false;
    }
    if (reader_.failed() || !has_value_ || !has_store_ || !has_mode_) return false;
    if (has_param_ != has_level_) return false;
    if (has_param_) return finish_old() && entry_.earliest <= entry_.latest;
    entry_.scheme = scheme_;
    entry_.earliest = Generation::burn_0_22;
    return !old_store_;
  }

 private:
  bool field(std::string_view key) noexcept {
    if (key == "value") return has_value_ = name(value_count, scheme_.value);
    if (key == "store") return has_store_ = store();
    if (key == "mode") return has_mode_ = name(mode_count, scheme_.mode);
    if (key == "param") return has_param_ = name(param_count, param_);
    if (key == "level") return has_level_ = level();
    if (key == "tensor") {
      scheme_.has_tensor_scale = !reader_.take_null();
      return !scheme_.has_tensor_scale || name(param_count, scheme_.tensor_param);
    }
    if (key == "block") {
      scheme_.has_blocks = !reader_.take_null();
      return !scheme_.has_blocks || block_with("size", "dtype", scheme_.block_param);
    }
    return reader_.skip_value(scheme_depth + 1);
  }

  // One of the names of an enumeration.
  template <class E>
  bool name(unsigned count, E& out) noexcept {
    std::string_view word;
    if (!reader_.word(word)) return false;
    for (unsigned i = 0; i < count; ++i) {
      if (name_of(static_cast<E>(i)) != word) continue;
      out = static_cast<E>(i);
      return true;
    }
    return false;
  }

  // A map of one entry; its key goes to `variant`.
  bool open_variant(std::string_view& variant) noexcept {
    CborOpen map;
    return reader_.open_map(map) && !map.indefinite && map.left == 1 && reader_.word(variant);
  }

  bool store() noexcept {
    std::string_view word;
    if (reader_.peek() != Kind::map) {
      if (!reader_.word(word)) return false;
      old_store_ = word == "U32";
      scheme_.store = old_store_ ? QuantStore::packed_u32 : QuantStore::native;
      return old_store_ || word == name_of(QuantStore::native);
    }
    if (!open_variant(word)) return false;
    new_store_ = true;
    scheme_.store = word == name_of(QuantStore::packed_u32) ? QuantStore::packed_u32
                                                            : QuantStore::packed_native;
    return word == name_of(scheme_.store) && reader_.unsigned_integer(scheme_.packed_dim);
  }

  bool level() noexcept {
    std::string_view word;
    if (reader_.peek() != Kind::map) return reader_.word(word) && word == "Tensor";
    if (!open_variant(word)) return false;
    scheme_.has_blocks = true;
    if (word == "Block") return block_size();
    scheme_.has_tensor_scale = true;
    return word == "BlockTensor" && block_with("block", "global", scheme_.tensor_param);
  }

  // { SIZE: B, PARAM: P }
  bool block_with(std::string_view size_key, std::string_view param_key,
                  QuantParam& param) noexcept {
    CborOpen map;
    bool has_size = false;
    bool has_param = false;
    if (!reader_.open_map(map)) return false;
    while (reader_.next(map)) {
      std::string_view key;
      if (!reader_.word(key)) return false;
      if (key == size_key) {
        if (!(has_size = block_size())) return false;
      } else if (key == param_key) {
        if (!(has_param = name(param_count, param))) return false;
      } else if (!reader_.skip_value(scheme_depth + 2)) {
        return false;
      }
    }
    return !reader_.failed() && has_size && has_param;
  }

  bool block_size() noexcept {
    CborOpen map;
    bool has_sizes = false;
    bool has_rank = false;
    if (!reader_.open_map(map)) return false;
    while (reader_.next(map)) {
      std::string_view key;
      if (!reader_.word(key)) return false;
      if (key == "storage") {
        if (!(has_sizes = block_storage())) return false;
      } else if (key == "len") {
        std::uint64_t rank = 0;
        if (!reader_.unsigned_integer(rank) || rank > QuantBlock::max_rank) return false;
        scheme_.block.rank = static_cast<std::uint8_t>(rank);
        has_rank = true;
      } else if (!reader_.skip_value(scheme_depth + 3)) {
        return false;
      }
    }
    return !reader_.failed() && has_sizes && has_rank;
  }

  bool block_storage() noexcept {
    CborOpen list;
    if (!reader_.open_list(list)) return false;
    std::size_t count = 0;
    while (reader_.next(list)) {
      std::uint64_t size = 0;
      if (count == QuantBlock::max_rank || !reader_.unsigned_integer(size) || size > 255) {
        return false;
      }
      scheme_.block.size[count++] = static_cast<std::uint8_t>(size);
    }
    return !reader_.failed() && count == QuantBlock::max_rank;
  }

  bool finish_old() noexcept {
    if (scheme_.has_blocks) {
      scheme_.block_param = param_;
      if (scheme_.has_tensor_scale) entry_.earliest = Generation::burn_0_22_pre;
    } else {
      scheme_.has_tensor_scale = true;
      scheme_.tensor_param = param_;
    }
    entry_.latest = old_store_ ? Generation::burn_0_19 : Generation::burn_0_22_pre;
    if (new_store_ && entry_.earliest < Generation::burn_0_20) {
      entry_.earliest = Generation::burn_0_20;
    }
    entry_.scheme = scheme_;
    return true;
  }

  CborReader& reader_;
  BurnpackEntry& entry_;
  QuantScheme scheme_;
  QuantParam param_ = QuantParam::f32;
  bool has_value_ = false;
  bool has_store_ = false;
  bool has_mode_ = false;
  bool has_param_ = false;
  bool has_level_ = false;
  bool old_store_ = false;
  bool new_store_ = false;
};

}  // namespace

bool read_burnpack_scheme(CborReader& reader, BurnpackEntry& entry) noexcept {
  return QuantSchemeReader(reader, entry).read();
}

}  // namespace andiron::inline v1::detail
