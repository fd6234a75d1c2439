// SPDX-License-Identifier: MIT OR Apache-2.0
// andiron ls: one row for each tensor.
#include <span>
#include <string>
#include <vector>

#include "cli/inputs.h"
#include "cli/json_output.h"
#include "cli/quantities.h"
#include "cli/tensor_text.h"
#include "cli/text_layout.h"
#include "cli/verbs.h"

namespace andiron::cli {
namespace {

void append_listing(std::string& out, const Archive& archive, std::span<const std::size_t> order,
                    const Page& page, bool offsets) {
  append_tensor_table(out, "NAME", archive, order, page, {.places = offsets});
  Totals totals;
  for (const std::size_t index : order) totals.add(archive.info(index));
  append_wrapped(out,
                 count_of(totals.tensors, "tensor") + ", " +
                     count_of(totals.parameters, "parameter") + ", " + format_size(totals.bytes),
                 0, page.width);
}

}  // namespace

ExitCode run(const LsOptions& options) {
  const ReadingOptions& reading = options.reading;
  const Page page = page_for_standard_output(reading.color, reading.wide);
  return for_each_input(reading, reading.json,
                        [&](const std::string& path, const Archive& archive, std::string& out) {
                          const std::vector<std::size_t> order =
                              sorted_indices(archive, options.sort);
                          if (reading.json) {
                            out += json_object(path, archive, order);
                          } else {
                            append_input_heading(out, path, reading);
                            append_listing(out, archive, order, page, options.offsets);
                            print_notes(path, archive);
                          }
                          return Status();
                        });
}

}  // namespace andiron::cli
