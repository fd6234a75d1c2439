// SPDX-License-Identifier: MIT OR Apache-2.0
// What a module is: a struct that lists the fields it saves.
//
//   struct Net {
//     nn::Linear input = nn::LinearConfig(784, 64).init();
//     nn::Linear output = nn::LinearConfig(64, 10).init();
//     std::vector<Block> blocks;
//     int heads = 8;                                  // not listed, so not saved
//     ANDIRON_MODULE(Net, input, blocks, output)
//   };
//
// You can list these fields:
//   Param, Tensor                     saved under its path. A Tensor has no id; one of shape [0] is
//                                     not set yet and takes any shape
//   a struct with its own list        its fields, as NAME.FIELD
//   std::vector, std::array, std::deque, T[N], std::tuple, std::pair
//                                     NAME.0, NAME.1 ...
//   std::optional, std::unique_ptr, std::shared_ptr
//                                     its content, as NAME; nothing if empty
//   std::variant                      the alternative it holds, as NAME.ALTERNATIVE
//   std::map<std::string, T>          NAME.KEY
//   numbers, bool, enums, std::string, Constant<T>
//                                     constants: listed, but not saved. Wrap containers of numbers:
//                                     Constant<std::array<int, 2>>
//   your own type                     if you specialize Leaf (leaf.h)
// Anything else does not compile; the message says what to do.
//
// Names and kinds are those of Burn's visitor, so files work in both libraries.
#pragma once

#include "andiron/detail/slots.h"
#include "andiron/fields.h"
#include "andiron/leaf.h"
#include "andiron/param.h"
#include "andiron/tensor.h"

namespace andiron::inline v1 {

/// A type with ANDIRON_MODULE, a static `fields` function, or a Fields specialization.
template <class T>
concept Module = detail::is_module<T>;

}  // namespace andiron::inline v1
