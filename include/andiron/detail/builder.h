// SPDX-License-Identifier: MIT OR Apache-2.0
// Builders: functions that change a setting and return the object, to be called in a row.
#pragma once

// Defines `Self& name(parameters) &` and, for a temporary, `Self name(parameters) &&`, both with
// these statements. A temporary is returned by value, so that
// `auto& store = SafetensorsStore::from_file(path).zero_copy();` does not compile instead of
// dangling.
#define ANDIRON_BUILDER(Self, name, parameters, ...) \
  Self& name parameters& {                           \
    __VA_ARGS__;                                     \
    return static_cast<Self&>(*this);                \
  }                                                  \
  Self name parameters&& {                           \
    __VA_ARGS__;                                     \
    return static_cast<Self&&>(*this);               \
  }
