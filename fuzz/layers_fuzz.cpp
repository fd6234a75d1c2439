// SPDX-License-Identifier: MIT OR Apache-2.0
// Rules for layouts that parse, written and parsed again, say the same of every path; and a layout
// is changed by any rules or refused.
#include "andiron/layers.h"

#include "andiron/tensor.h"
#include "fuzz/property.h"

using namespace andiron;
using namespace andiron::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = as_text(data, size);
  const Result<LayerRules> rules = LayerRules::parse(text);
  if (!rules) {
    ANDIRON_HOLDS(!rules.error().to_string().empty());
    return 0;
  }
  const LayerRules again = must(LayerRules::parse(rules->to_string()));
  Archive archive;
  for (const char* name : {"weight", "a.weight", "a.bias", "b.0.weight", "b.1.c.weight"}) {
    const Shape shape = std::string_view(name) == "a.bias" ? Shape({2}) : Shape({2, 3});
    must(archive.add(TensorSnapshot(name, must(Tensor::zeros(DType::u8, shape)))));
  }
  // What the text names is a path of the model, too.
  const std::string_view first = text.substr(0, text.find_first_of(" \t\n"));
  static_cast<void>(archive.add(
      TensorSnapshot(std::string(first) + ".weight", must(Tensor::zeros(DType::u8, {4, 5})))));
  for (std::size_t i = 0; i < archive.size(); ++i) {
    const std::string_view path = archive.info(i).name;
    ANDIRON_HOLDS(rules->kind_of(path) == again.kind_of(path));
  }
  for (const Layout to : {Layout::burn, Layout::pytorch}) {
    const Result<Archive> changed = change_layout(archive, *rules, to);
    if (changed) ANDIRON_HOLDS(changed->size() == archive.size());
    const LayerRules guessed = guess_layers(archive, to);
    ANDIRON_HOLDS(must(LayerRules::parse(guessed.to_string())).rules().size() ==
                  guessed.rules().size());
  }
  return 0;
}
