// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 of a tensor in a file.
#include "bench/cases.h"

#if defined(ANDIRON_HAVE_OPENSSL)
#include <openssl/evp.h>

#include <stdexcept>

#include "andiron/open.h"
#include "andiron/sha256.h"
#include "bench/files.h"
#endif

namespace andiron::bench {
namespace {

#if defined(ANDIRON_HAVE_OPENSSL)

void hash(Harness& harness) {
  const TempFolder folder;
  const std::string path = folder.file("model.safetensors");
  const std::uint64_t rows = harness.settings().quick ? 16'384 : 65'536;
  const TensorSpec spec{"table", "F32", {rows, 1024}, rows * 4096};
  const std::uint64_t data_begin = write_model(path, std::span(&spec, 1));
  const TensorSnapshot snapshot = open(path).value().snapshot(0);
  const auto raw = [&] {
    const Mapping mapping(path);
    const auto data = mapping.bytes().subspan(data_begin);
    Sha256Digest digest{};
    EVP_Digest(data.data(), data.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
    return digest;
  };
  const auto read = [&] { return sha256(snapshot).value(); };
  if (raw() != read()) throw std::runtime_error("the programs disagree");
  harness.measure({.name = "hash",
                   .amount = spec.bytes,
                   .programs = {{.name = "raw", .run = [&] { keep(raw()); }},
                                {.name = "andiron", .run = [&] { keep(read()); }}}});
}

#else

void hash(Harness& harness) { harness.skip("hash", "built without OpenSSL"); }

#endif

}  // namespace

std::vector<Case> hash_cases() {
  return {{"hash", "SHA-256 of a tensor in a file; raw is OpenSSL over a mapping", hash}};
}

}  // namespace andiron::bench
