// SPDX-License-Identifier: MIT OR Apache-2.0
// Records for the tests of their reader.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/support/record_file.h"

namespace andiron::test {

inline constexpr const char* sample_id_text = "72d17eukbtkma";
inline constexpr ParamId sample_id{7307477237661669944U};

inline std::string record(const std::function<void(Msgpack&)>& item) {
  Msgpack file;
  file.begin_record();
  item(file);
  return file.text();
}

/// A record with parameters, lists, nulls and a tensor without id.
inline std::string sample_record() {
  using namespace std::string_literals;
  return record([](Msgpack& file) {
    file.write.begin_map(4);
    file.write.text("linear");
    file.write.begin_map(2);
    file.write.text("weight");
    file.param(sample_id_text, "\1\0\0\0\2\0\0\0"s, {1, 2}, "I32");
    file.write.text("bias");
    file.write.nil();
    file.write.text("layers");
    file.write.begin_list(2);
    file.param("0000000000000", "\0\0\x80\x3f"s, {1}, "F32");
    file.write.begin_map(1);
    file.write.text("Dense");
    file.param("vvvvvvvvvvvvu", "\1"s, {}, "Bool");
    file.write.text("stride");
    file.write.begin_list(2);
    file.write.nil();
    file.write.nil();
    file.write.text("moment");
    file.tensor("", {0, 3}, "F16");
  });
}

inline std::string to_json_record(const std::string& item) {
  return R"({"metadata":{"float":"f32","int":"i32","format":"x","version":"0.21.0",)"
         R"("settings":"FullPrecisionSettings"},"item":)" +
         item + R"(,"_b":null})";
}

inline void expect_error(const Result<Archive>& result, ErrorCode code) {
  ASSERT_FALSE(result);
  EXPECT_EQ(code_name(result.error().code), code_name(code)) << result.error().to_string();
  EXPECT_FALSE(result.error().file.empty());
}

}  // namespace andiron::test
