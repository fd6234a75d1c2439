// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/proposals/training_notes_test.cpp
#include "src/proposals/training_notes.h"

#include <string>
#include <string_view>
#include <vector>

#include "src/core/text/in_quotes.h"
#include "src/names/training_names.h"

namespace andiron::inline v1::detail {

bool note_training_names(ApplyResult& result) {
  std::vector<std::string_view> of_lora;
  std::vector<std::string_view> flattened;
  for (const std::string& name : result.unused) {
    if (is_lora_matrix(name)) of_lora.push_back(name);
    if (is_flattened(name)) flattened.push_back(name);
  }
  if (!of_lora.empty()) {
    result.notes.push_back("the source has LoRA adapters, and nothing takes " +
                           in_quotes_and_others(of_lora) +
                           "; merge them into the weights first (in peft: merge_and_unload())");
  }
  if (!flattened.empty()) {
    result.notes.push_back(
        "the source has parameters that FSDP flattened: " + in_quotes_and_others(flattened) +
        "; gather them first (in PyTorch: save a full state dict, StateDictType.FULL_STATE_DICT)");
  }
  const bool is_lora_alone = !of_lora.empty() && of_lora.size() == result.unused.size();
  return !flattened.empty() || is_lora_alone;
}

}  // namespace andiron::inline v1::detail
