// SPDX-License-Identifier: MIT OR Apache-2.0
// What the files of verbs begin with.
#pragma once

#include "cli/common_options.h"
#include "cli/verbs.h"

namespace andiron::cli {

/// A verb that reads weight files.
struct ReadingVerb : Verb {
  ReadingOptions reading;

  void declare(OptionList& list) final {
    declare_output_options(list, reading);
    declare_own(list);
    declare_reading_options(list, reading);
  }

  /// Adds the options that other verbs lack.
  virtual void declare_own(OptionList& list) = 0;
};

template <class Class>
std::unique_ptr<Verb> make_verb() {
  static_assert(Verbs::has<Class>, "a verb needs a row in cli/verbs.h");
  return std::make_unique<Class>();
}

}  // namespace andiron::cli
