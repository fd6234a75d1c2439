// SPDX-License-Identifier: MIT OR Apache-2.0
// Names against a module: the first byte chooses settings, each line after it is a tensor whose
// first character chooses dtype and shape. A load succeeds or leaves the module as it was, does
// what its plan announced, and its proposals are true.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/stores.h"
#include "andiron/write.h"
#include "fuzz/property.h"
#include "tests/support/module_fingerprint.h"

using namespace andiron;
using namespace andiron::fuzz;
using test::fingerprint;

namespace {

struct Block {
  nn::Linear attention = nn::LinearConfig(2, 3).init();
  nn::LayerNorm norm = nn::LayerNormConfig(3).init();
  ANDIRON_MODULE(Block, attention, norm)
};

struct Net {
  std::vector<Block> layers = std::vector<Block>(3);
  std::variant<nn::Linear, nn::LayerNorm> choice = nn::LinearConfig(3, 2).init();
  nn::Linear head = nn::LinearConfig(3, 4).init();
  ANDIRON_MODULE(Net, layers, choice, head)
};

constexpr std::size_t most_tensors = 64;

Archive archive_of(std::string_view text) {
  static const std::array<Shape, 8> shapes = {Shape{2, 3}, Shape{3, 2}, Shape{3}, Shape{2},
                                              Shape{3, 4}, Shape{4},    Shape{},  Shape{3, 3}};
  Archive archive;
  while (!text.empty() && archive.size() < most_tensors) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    const auto kind = static_cast<unsigned char>(line[0]);
    const DType dtype = (kind & 0x10) != 0 ? DType::i64 : DType::f32;
    const Tensor tensor = must(Tensor::zeros(dtype, shapes[kind % shapes.size()]));
    // A name may come twice; the first stays.
    static_cast<void>(archive.add(TensorSnapshot(std::string(line.substr(1)), tensor)));
  }
  return archive;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::uint8_t flags = data[0];
  const Archive archive =
      archive_of(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1));
  const Result<Bytes> file = write_to_memory(archive);
  if (!file) return 0;  // names that the format lacks
  auto store = SafetensorsStore::from_bytes(*file)
                   .allow_partial((flags & 1) != 0)
                   .validate((flags & 2) == 0)
                   .map_indices_contiguous((flags & 4) != 0)
                   .skip_enum_variants((flags & 8) != 0);
  if ((flags & 16) != 0) store.with_from_adapter(PyTorchToBurnAdapter());
  if ((flags & 32) != 0) store.with_key_remapping("^module\\.", "");

  Net net;
  const std::string before = fingerprint(net);
  if ((flags & 64) != 0) static_cast<void>(choose_variants(net, store));
  const Result<Plan> planned = plan(net, store);
  if (planned) {
    for (const Proposal& proposal : planned->result.proposals) {
      SafetensorsStore changed = store;
      const Result<Plan> better = plan(net, changed.apply(proposal));
      ANDIRON_HOLDS(better.ok() && better->result.applied.size() >= proposal.matched);
    }
  }
  const Result<ApplyResult> result = load_from(net, store);
  ANDIRON_HOLDS(planned.ok() || !result.ok());
  if (!planned) return 0;
  ANDIRON_HOLDS(result.ok() || result.error().report != nullptr);
  const ApplyResult& report = result ? *result : *result.error().report;
  ANDIRON_HOLDS(report.applied == planned->result.applied);
  ANDIRON_HOLDS(!report.to_string().empty() && !report.to_value().is_null());
  for (const Proposal& proposal : report.proposals) {
    ANDIRON_HOLDS(!proposal.code.empty() && proposal.matched <= proposal.wanted);
  }
  if (!result && (flags & 64) == 0) ANDIRON_HOLDS(fingerprint(net) == before);
  return 0;
}
