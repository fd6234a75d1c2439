// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron hash: SHA-256 of each tensor's contiguous little-endian bytes.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "andiron/sha256.h"
#include "andiron/text.h"
#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/table.h"
#include "cli/tensor_text.h"
#include "cli/terminal.h"
#include "cli/verb.h"

namespace andiron::cli {

struct HashVerb final : ReadingVerb {
  SortKey sort = SortKey::name;
  bool full = false;

  VerbHelp help() const override {
    return {"hash", "SHA-256 of each tensor",
            names_help +
                R"(The hash covers a tensor's contiguous, little-endian, row-major bytes, so it
does not depend on the format or the layout of the file.

Examples:
  andiron hash model.safetensors
  andiron hash --full --include 'encoder.**' model.safetensors
  diff <(andiron hash --full a.safetensors) <(andiron hash --full b.safetensors))"};
  }

  void declare_own(OptionList& list) override {
    declare_sort(list, sort);
    list.flag("--full", full, "Print whole hashes in the format of sha256sum");
  }

  ExitCode run() override;
};

template std::unique_ptr<Verb> make_verb<HashVerb>();

namespace {

Result<std::vector<Sha256Digest>> hash_tensors(const Archive& archive, const Workforce& force,
                                               std::string_view label) {
  std::optional<ProgressBar> bar;
  const auto show = [&](std::uint64_t done, std::uint64_t total) {
    if (!bar) bar.emplace(label, total);
    bar->show(done, total);
    return true;
  };
  return sha256(archive,
                {.threads = force.threads, .window_bytes = force.window, .progress = show});
}

void append_digest_lines(std::string& out, const Archive& archive,
                         std::span<const std::size_t> order, std::span<const Sha256Digest> digests,
                         const std::string& prefix) {
  for (const std::size_t index : order) {
    out += to_hex(digests[index]) + "  " + prefix + display_text(archive.info(index).name) + '\n';
  }
}

void append_digest_table(std::string& out, const Archive& archive,
                         std::span<const std::size_t> order, std::span<const Sha256Digest> digests,
                         const Page& page, bool wide) {
  constexpr std::size_t all_digits = 64;
  const std::size_t shown_digits = wide ? all_digits : 16;
  Table table("NAME", {{wide ? "SHA-256" : "SHA-256 (START)", Column::Align::left, shown_digits}});
  for (const std::size_t index : order) {
    table.add_row(
        {std::string(archive.info(index).name), to_hex(digests[index]).substr(0, shown_digits)});
  }
  table.append_to(out, page);
}

}  // namespace

ExitCode HashVerb::run() {
  const Page page = page_for_standard_output(reading.color, reading.wide);
  const Workforce force = workforce(reading);
  const bool lines = reading.json || full;
  return for_each_input(
      reading, lines,
      [&](const std::string& path, const Archive& archive, std::string& out) -> Status {
        const std::vector<std::size_t> order = sorted_indices(archive, sort);
        Result<std::vector<Sha256Digest>> digests = hash_tensors(archive, force, path);
        if (!digests) return std::move(digests).error();

        if (reading.json) {
          out += json_object(path, archive, order, {.digests = *digests});
          return Status();
        }
        if (full) {
          const bool several = reading.inputs.size() > 1;
          append_digest_lines(out, archive, order, *digests,
                              several ? display_text(path) + ":" : std::string());
        } else {
          append_input_heading(out, path, reading);
          append_digest_table(out, archive, order, *digests, page, reading.wide);
        }
        print_notes(path, archive);
        return Status();
      });
}

}  // namespace andiron::cli
