// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cctype>
#include <map>
#include <string>

namespace andiron::test {

/// A dtype as the tool spells it, of one as torch, safetensors or Burn does.
inline std::string our_dtype(const std::string& theirs) {
  static const std::map<std::string, std::string> names = {{"float64", "f64"},
                                                           {"float32", "f32"},
                                                           {"float16", "f16"},
                                                           {"bfloat16", "bf16"},
                                                           {"int64", "i64"},
                                                           {"int32", "i32"},
                                                           {"int16", "i16"},
                                                           {"int8", "i8"},
                                                           {"uint8", "u8"},
                                                           {"uint16", "u16"},
                                                           {"uint32", "u32"},
                                                           {"uint64", "u64"},
                                                           {"complex32", "c32"},
                                                           {"complex64", "c64"},
                                                           {"complex128", "c128"},
                                                           {"float8_e4m3fn", "f8e4m3fn"},
                                                           {"float8_e5m2", "f8e5m2"},
                                                           {"float8_e4m3fnuz", "f8e4m3fnuz"},
                                                           {"float8_e5m2fnuz", "f8e5m2fnuz"},
                                                           {"float8_e8m0fnu", "f8e8m0"},
                                                           {"float4_e2m1fn_x2", "f4e2m1"},
                                                           {"F8_E4M3", "f8e4m3fn"},
                                                           {"F8_E5M2", "f8e5m2"},
                                                           {"F8_E4M3FNUZ", "f8e4m3fnuz"},
                                                           {"F8_E5M2FNUZ", "f8e5m2fnuz"},
                                                           {"F8_E8M0", "f8e8m0"},
                                                           {"F4", "f4e2m1"},
                                                           {"Flex32", "f32"}};
  const auto known = names.find(theirs);
  if (known != names.end()) return known->second;
  if (theirs.starts_with("raw:")) return theirs;
  std::string lower = theirs;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace andiron::test
