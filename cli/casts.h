// SPDX-License-Identifier: MIT OR Apache-2.0
// convert --cast: which tensors get another dtype, and what that loses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/snapshot.h"
#include "andiron/text.h"

namespace andiron::cli {

/// One `--cast GLOB=DTYPE`.
struct CastRule {
  std::string text;  ///< as it was given
  Pattern glob;
  DType dtype = DType::f32;
  /// A glob without wildcards names a tensor, which is cast whatever it holds. With wildcards,
  /// tensors of another kind (the integers among floats) stay as they are.
  bool is_whole_name = false;

  /// InvalidArgument, or InvalidPattern, with what is wrong.
  static Result<CastRule> parse(const std::string& text);
};

/// A tensor that was cast.
struct CastTensor {
  std::string name;
  DType from = DType::f32;
  DType to = DType::f32;
  std::shared_ptr<CastLoss> loss;  ///< counts while the tensor is written
};

struct CastArchive {
  Archive archive;
  std::vector<CastTensor> tensors;
  std::vector<std::string> notes;  ///< on rules that changed nothing
};

/// Casts the tensors that the rules match; of several rules the last one counts. Fails with
/// MissingTensor if a rule matches nothing.
Result<CastArchive> cast_tensors(const Archive& archive, const std::vector<CastRule>& rules);

/// After a write: sentences on the elements that were lost.
std::vector<std::string> cast_notes(const std::vector<CastTensor>& tensors);
/// Appends `,"casts":[{"name":"NAME","from":"f32","to":"f16","overflowed":0,"underflowed":0},...]`.
void append_json_casts(std::string& out, const std::vector<CastTensor>& tensors, bool written);

}  // namespace andiron::cli
