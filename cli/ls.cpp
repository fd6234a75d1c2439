// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron ls: one row for each tensor.
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/tensor_text.h"
#include "cli/text_layout.h"
#include "cli/verb.h"

namespace andiron::cli {

struct LsVerb final : ReadingVerb {
  SortKey sort = SortKey::name;
  bool offsets = false;
  bool renames = false;  // show the name in the file and after each step that changed it

  VerbHelp help() const override {
    return {"ls", "List tensors: name, dtype, shape, size", names_help + R"(Examples:
  andiron ls model.safetensors
  andiron ls --sort size --exclude '**.bias' model.safetensors
  andiron ls --sort offset --offsets model.bpk
  andiron ls --renames --sub '^layers\.' 'blocks.' model.safetensors
  andiron ls --json model.safetensors.index.json | jq '.tensors | length')"};
  }

  void declare_own(OptionList& list) override {
    declare_sort(list, sort);
    list.flag("--offsets", offsets, "Also show where each tensor is in its file");
    list.flag("--renames", renames,
              "Also show the name in the file and after each\n"
              "step that changes it, and the tensors that are\n"
              "not under --top-level-key");
  }

  ExitCode run() override;
};

template std::unique_ptr<Verb> make_verb<LsVerb>();

namespace {

std::string sentence_on(const Renames& renames) {
  std::string text = renames.renamed == 0 ? "no names change"
                                          : count_of(renames.renamed, "name") +
                                                (renames.renamed == 1 ? " changes" : " change");
  if (const std::size_t left_out = renames.left_out.size(); left_out != 0) {
    text += ", " + count_of(left_out, "tensor") + " left out (not under the top-level key)";
  }
  return text;
}

void append_listing(std::string& out, const Archive& archive, std::span<const std::size_t> order,
                    const Page& page, const LsVerb& verb, const Renames* renames) {
  TensorColumns columns = {.steps = renames != nullptr, .places = verb.offsets};
  // Tensors outside the top-level key have no name that a filter could see. With a filter, which is
  // there to shorten the list, they are only counted.
  if (renames != nullptr && verb.reading.filter.is_empty()) columns.left_out = renames->left_out;
  append_tensor_table(out, "NAME", archive, order, page, columns);
  Totals totals;
  for (const std::size_t index : order) totals.add(archive.info(index));
  append_wrapped(out,
                 count_of(totals.tensors, "tensor") + ", " +
                     count_of(totals.parameters, "parameter") + ", " + format_size(totals.bytes),
                 0, page.width);
  if (renames != nullptr) append_wrapped(out, sentence_on(*renames), 0, page.width);
}

}  // namespace

ExitCode LsVerb::run() {
  const Page page = page_for_standard_output(reading.color, reading.wide);
  return for_each_input(
      reading, reading.json,
      [&](const std::string& path, const Archive& archive, std::string& out) -> Status {
        const std::vector<std::size_t> order = sorted_indices(archive, sort);
        std::optional<Renames> steps;
        if (renames) {
          Result<Renames> found = renames_of(archive);
          if (!found) return std::move(found).error();
          steps = *std::move(found);
        }
        const Renames* const shown = steps ? &*steps : nullptr;
        if (reading.json) {
          out += json_object(path, archive, order, {.renames = shown});
          return {};
        }
        append_input_heading(out, path, reading);
        append_listing(out, archive, order, page, *this, shown);
        print_notes(path, archive);
        return {};
      });
}

}  // namespace andiron::cli
