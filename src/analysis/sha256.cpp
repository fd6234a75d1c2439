// SPDX-License-Identifier: MIT OR Apache-2.0
// SHA-256 by OpenSSL where the build has it, which uses the processor's own instructions; otherwise
// by sha256_portable.h. Tested by tests/analysis/sha256_test.cpp
#include "andiron/sha256.h"

#include <algorithm>

#include "src/analysis/sha256_portable.h"
#include "src/core/tensor_windows.h"
#include "src/core/try.h"

#if defined(ANDIRON_HAVE_OPENSSL)
#include <openssl/evp.h>
#endif

namespace andiron::inline v1 {

#if defined(ANDIRON_HAVE_OPENSSL)

// A build of OpenSSL may refuse to hand out SHA-256; the portable code then takes its place.
struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  bool accelerated = context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1;
  detail::Sha256Portable portable;

  ~State() { EVP_MD_CTX_free(context); }
  void update(std::span<const std::byte> data) {
    if (accelerated) {
      EVP_DigestUpdate(context, data.data(), data.size());
    } else {
      portable.update(data);
    }
  }
  Sha256Digest finish() {
    if (!accelerated) return portable.finish();
    Sha256Digest digest{};
    EVP_DigestFinal_ex(context, digest.data(), nullptr);
    return digest;
  }
};

#else

struct Sha256::State {
  detail::Sha256Portable portable;
  void update(std::span<const std::byte> data) { portable.update(data); }
  Sha256Digest finish() { return portable.finish(); }
};

#endif

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
void Sha256::update(std::span<const std::byte> data) { state_->update(data); }
Sha256Digest Sha256::finish() { return state_->finish(); }

std::string to_hex(const Sha256Digest& digest) {
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

Result<Sha256Digest> sha256(const TensorSnapshot& snapshot, std::uint64_t window_bytes,
                            const std::function<bool(std::uint64_t)>& read) ANDIRON_NO_THROW {
  Sha256 hash;
  Bytes window;
  ANDIRON_TRY(detail::for_each_window(snapshot, window_bytes, window,
                                      [&](std::span<const std::byte> part) -> Status {
                                        hash.update(part);
                                        if (!read || read(part.size())) return {};
                                        return Error{.code = ErrorCode::cancelled,
                                                     .message = "hashing was cancelled",
                                                     .tensor = snapshot.full_path()};
                                      }));
  return hash.finish();
}
ANDIRON_OR_OUT_OF_MEMORY

}  // namespace andiron::inline v1
