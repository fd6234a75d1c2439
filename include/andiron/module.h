// SPDX-License-Identifier: MIT OR Apache-2.0
// What a module is: a struct that lists what it saves.
//
//   struct Net {
//     nn::Linear input = nn::LinearConfig(784, 64).init();
//     nn::Linear output = nn::LinearConfig(64, 10).init();
//     std::vector<Block> blocks;
//     int heads = 8;                                  // not listed: not saved
//     ANDIRON_MODULE(Net, input, blocks, output)
//   };
//
// What may be listed:
//   Param, Tensor                     saved under its path; a Tensor has no id, and one of shape
//                                     [0] counts as not set: it takes any shape
//   a struct with a list of its own   its fields, under NAME.FIELD
//   std::vector, std::array, std::deque, T[N], std::tuple, std::pair
//                                     NAME.0, NAME.1 ...
//   std::optional, std::unique_ptr, std::shared_ptr
//                                     what it holds, under NAME itself; empty: nothing
//   std::variant                      the alternative it holds, under NAME.ALTERNATIVE
//   std::map<std::string, T>          NAME.KEY
//   numbers, bool, enums, std::string, Constant<T>
//                                     constants: in the list, but no parameters; containers of
//                                     numbers must be wrapped: Constant<std::array<int, 2>>
//   a type of your own                after specialising Leaf (leaf.h)
// Anything else does not compile.
//
// Names and kinds are what Burn's visitor gives, so that files move both ways.
#pragma once

#include "andiron/detail/slots.h"
#include "andiron/fields.h"
#include "andiron/leaf.h"
#include "andiron/param.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

/// What ANDIRON_MODULE, a static `fields` function or a Fields specialisation makes of a type.
template <class T>
concept Module = detail::is_module<T>;

}  // namespace andiron::inline v1
