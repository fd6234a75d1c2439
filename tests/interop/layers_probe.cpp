// SPDX-License-Identifier: MIT OR Apache-2.0
// Forward passes: layers_interop.py compares them with those of PyTorch.
//
//   FOLDER FIRST END   computes cases FIRST to before END
//
// FOLDER has cases.json, a list of {"kind", "config", "parameters", "wrapped", "zero_copy"};
// inputs.safetensors, where input x of case 7 is "7.x"; and 7.pt with the parameters of case 7.
// Results go to outputs.safetensors ("7.0", "7.1" ...) and errors.json ({"7": "the error"}). The
// number of each case is printed before it is computed.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "layers_probe.h"

namespace andiron::layers_probe {
namespace {

Result<Outputs> compute(const Kinds& kinds, const Json& entry, std::string number,
                        const Archive& inputs, const std::string& folder) {
  const auto kind = kinds.find(entry.at("kind").get<std::string>());
  if (kind == kinds.end()) {
    return Error{.code = ErrorCode::invalid_argument, .message = "the probe has no such kind"};
  }
  const bool has_parameters = entry.at("parameters").get<bool>();
  return kind->second({.number = number,
                       .config = entry.at("config"),
                       .inputs = inputs,
                       .parameters = has_parameters ? folder + "/" + number + ".pt" : "",
                       .wrapped = entry.at("wrapped").get<bool>(),
                       .zero_copy = entry.at("zero_copy").get<bool>()});
}

Status run(const std::string& folder, std::size_t first, std::size_t end) {
  Kinds kinds;
  add_layers(kinds);
  add_sequences(kinds);
  add_functions(kinds);
  const Json cases = Json::parse(std::ifstream(folder + "/cases.json"));
  const Result<Archive> inputs = open(folder + "/inputs.safetensors");
  if (!inputs) return inputs.error();
  Archive outputs;
  Json errors = Json::object();
  for (std::size_t i = first; i < end; ++i) {
    const std::string number = std::to_string(i);
    std::printf("%s\n", number.c_str());
    std::fflush(stdout);
    const Result<Outputs> result = compute(kinds, cases.at(i), number, *inputs, folder);
    if (!result) {
      errors[number] = result.error().to_string();
      continue;
    }
    for (std::size_t k = 0; k < result->size(); ++k) {
      Status added = outputs.add(TensorSnapshot(number + "." + std::to_string(k), (*result)[k]));
      if (!added) return added;
    }
  }
  const auto written =
      write(outputs, folder + "/outputs.safetensors", {.overwrite = true, .sync = false});
  if (!written) return written.error();
  std::ofstream(folder + "/errors.json") << errors;
  return {};
}

}  // namespace
}  // namespace andiron::layers_probe

int main(int count, char** arguments) {
  if (count != 4) return 64;
  const andiron::Status status =
      andiron::layers_probe::run(arguments[1], std::strtoull(arguments[2], nullptr, 10),
                                 std::strtoull(arguments[3], nullptr, 10));
  if (status) return 0;
  std::fprintf(stderr, "%s\n", status.error().to_string().c_str());
  return 1;
}
