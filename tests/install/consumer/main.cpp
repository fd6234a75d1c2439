// SPDX-License-Identifier: MIT OR Apache-2.0
// A program that uses an installed andiron: a tensor goes into a file's bytes and comes back.
#include <andiron/names.h>
#include <andiron/open.h>
#include <andiron/sha256.h>
#include <andiron/write.h>

#include <cstdio>

int main() {
  andiron::Archive archive;
  auto tensor = andiron::Tensor::from_values<float>({2}, {1.5F, -2.0F}).value();
  archive.add({"layer.weight", tensor}).value();

  andiron::Bytes file = andiron::write_to_memory(archive).value();
  andiron::Archive read = andiron::open(file).value();
  andiron::TensorSnapshot weight = read.get("layer.weight").value();
  andiron::Tensor data = weight.read().value();
  std::span<const float> values = data.as<float>().value();

  // Brings in RE2 and OpenSSL, whose absence would show when linking.
  bool matches = andiron::PathFilter().with_regex("^layer\\.").status().ok();
  std::printf("%s\n", andiron::to_hex(andiron::sha256(weight).value()).c_str());
  return matches && values.size() == 2 && values[0] == 1.5F && values[1] == -2.0F ? 0 : 1;
}
