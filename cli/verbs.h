// SPDX-License-Identifier: MIT OR Apache-2.0
// What a verb is, and the table of verbs.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/option_list.h"
#include "cli/report.h"

namespace andiron::cli {

struct VerbHelp {
  std::string name;
  std::string summary;
  std::string footer;  ///< below the options
};

class Verb {
 public:
  virtual ~Verb() = default;

  OptionList options;  ///< they take their values into this verb

  virtual VerbHelp help() const = 0;
  /// Fills the list of options.
  virtual void declare(OptionList& list) = 0;
  /// Decides what several options say together; the text says what makes no sense, if something
  /// does.
  virtual std::string settle() { return {}; }
  virtual ExitCode run() = 0;
};

/// Makes a verb of the table. Its file includes cli/verb.h, and instantiates this.
template <class Class>
std::unique_ptr<Verb> make_verb();

template <class... Row>
struct VerbTable {
  template <class Class>
  static constexpr bool has = (std::is_same_v<Class, Row> || ...);

  static std::vector<std::unique_ptr<Verb>> make_all() {
    std::vector<std::unique_ptr<Verb>> verbs;
    (verbs.push_back(make_verb<Row>()), ...);
    for (const auto& verb : verbs) verb->declare(verb->options);
    return verbs;
  }
};

/// What the tool can do, in the order of its help. A row is a class in the file of its name. A row
/// without a class does not link; a class that is made without a row does not compile.
using Verbs = VerbTable<struct LsVerb, struct InfoVerb, struct ConfigVerb, struct PlanVerb,
                        struct HashVerb, struct StatVerb, struct DiffVerb, struct ConvertVerb>;

}  // namespace andiron::cli
