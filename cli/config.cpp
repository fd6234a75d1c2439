// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron config: the values of a file that are not tensors, as JSON.
#include <optional>
#include <string>
#include <utility>

#include "andiron/config.h"
#include "andiron/text.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/report.h"
#include "cli/scalars.h"
#include "cli/verb.h"

namespace andiron::cli {

struct ConfigVerb final : ReadingVerb {
  std::string key;  // a path into the values; empty for all of them

  VerbHelp help() const override {
    return {"config", "Show configs and other values beside the tensors",
            R"(Shows what a file keeps beside its tensors (a config, an epoch, a tokenizer) as
JSON. A key that is the whole of --key comes first, then a path of keys and
indices. In SafeTensors files, these are the metadata, with JSON in them parsed.
Tensors are left out; NaN and infinity become null.

Examples:
  andiron config checkpoint.pt
  andiron config --key my_config checkpoint.pt > config.json
  andiron config --key hyper_parameters.lr lightning.ckpt
  andiron config --json *.ckpt | jq .config.epoch)"};
  }

  void declare_own(OptionList& list) override {
    list.value("--key", "KEY", key,
               "The part to show, as in 'config.optimizer';\n"
               "everything by default");
  }

  ExitCode run() override;
};

template std::unique_ptr<Verb> make_verb<ConfigVerb>();

ExitCode ConfigVerb::run() {
  const auto append_config = [this](const std::string& path, const Archive& archive,
                                    std::string& out) -> Status {
    Result<detail::ConfigSource> source = detail::ConfigSource::of_archive(archive, key);
    if (!source) return std::move(source).error();
    const std::optional<Value> values = without_tensors(source->value);
    if (!reading.json) {
      append_input_heading(out, path, reading);
      out += values ? to_json(*values, 2) + "\n" : "{}\n";
      if (!values) {
        print_message(display_text(path) + ": note: there is nothing beside the tensors");
      }
      return {};
    }
    out += json_start(path);
    append_json_field(out, "format", archive.format());
    append_json_field(out, "container", archive.packaging());
    if (!key.empty()) append_json_field(out, "key", key);
    append_json_key(out, "config");
    out += values ? to_json(*values) : "{}";
    append_json_notes(out, archive.notes());
    out += "}\n";
    return {};
  };
  return for_each_input(reading, reading.json, append_config);
}

}  // namespace andiron::cli
