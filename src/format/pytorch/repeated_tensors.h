// SPDX-License-Identifier: MIT OR Apache-2.0
// Handles objects that contain a tensor twice under one name, such as dicts whose items are also
// attributes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/format/pytorch/torch_tensor.h"

namespace andiron::inline v1::detail {

class RepeatedTensors {
 public:
  // A tensor that has the name already is another one.
  static constexpr std::size_t other = ~std::size_t{0};

  // The number under which this very tensor came before with this name, or `other`; nothing for a
  // new name, of which `number` is noted.
  std::optional<std::size_t> find_or_add(std::string name, const TorchTensor& tensor,
                                         std::size_t number) {
    Place place{tensor.storage.source,
                tensor.storage.file,
                tensor.first_byte(),
                tensor.type,
                tensor.converted,
                tensor.conjugate,
                tensor.negate,
                tensor.big_endian,
                tensor.as_int_repr,
                {tensor.shape.data(), tensor.shape.data() + tensor.rank},
                {tensor.strides.data(), tensor.strides.data() + tensor.rank}};
    const auto [known, is_new] = known_.try_emplace(std::move(name), place, number);
    if (is_new) return std::nullopt;
    return known->second.first == place ? known->second.second : other;
  }

 private:
  struct Place {
    ByteSourcePtr source;  // held, so that no other gets its address
    std::uint32_t file;
    std::uint64_t offset;
    const ElementType* type;
    const ElementType* converted;
    bool conjugate;
    bool negate;
    bool big_endian;
    bool as_int_repr;
    std::vector<std::uint64_t> shape;
    std::vector<std::int64_t> strides;
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::map<std::string, std::pair<Place, std::size_t>> known_;
};

}  // namespace andiron::inline v1::detail
