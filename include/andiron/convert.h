// SPDX-License-Identifier: MIT OR Apache-2.0
// Makes the tensors of one weight file fit another format.
//
//   Archive file = open("model.pt").value();
//   Conversion conversion = convert(file, {.format = Format::burnpack}).value();
//   write(conversion.archive, "model.bpk").value();
//
// Nothing is read until the result is written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "andiron/archive.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/format.h"
#include "andiron/layers.h"
#include "andiron/names.h"
#include "andiron/snapshot.h"
#include "andiron/text.h"

namespace andiron::inline v1 {

/// Casts the tensors whose names match a glob.
struct CastRule {
  Pattern glob;
  DType dtype = DType::f32;
  std::string text;  ///< the rule as it was written, for messages
  /// A glob without wildcards names one tensor, which is cast whatever it contains. With wildcards,
  /// tensors of another kind (the integers among floats) stay as they are.
  bool is_whole_name = false;

  /// Reads "GLOB=DTYPE", such as "**=f16". Fails with InvalidArgument if it is not that or nothing
  /// can be cast to the dtype, and with InvalidPattern if the glob does not parse.
  static Result<CastRule> parse(const std::string& text);
};

/// Names and layouts of the other framework, by rules (change_layout()).
struct LayoutChange {
  Layout to = Layout::burn;
  LayerRules rules;
  /// Change it even if the file shows that it has this layout already.
  bool is_forced = false;
};

/// What to convert, in the order in which it is done.
struct ConvertOptions {
  /// The format of the new file.
  Format format = Format::safetensors;
  NameOptions names = {};
  PathFilter filter = {};  ///< sees the new names
  std::optional<LayoutChange> layout = {};
  std::vector<CastRule> casts = {};  ///< the last rule that matches a tensor counts
};

/// A tensor that is cast.
struct CastTensor {
  std::string name;
  DType from = DType::f32;
  DType to = DType::f32;
  std::shared_ptr<CastLoss> loss;  ///< counts while the tensor is read
};

/// An archive to be written, and what was done to it.
struct Conversion {
  Archive archive;
  std::vector<CastTensor> casts = {};
  /// What a user should know, without the notes of the archive.
  std::vector<Message> notes = {};

  /// Sentences on the elements that casts lost. Complete once the archive was written.
  std::vector<std::string> cast_losses() const;
};

/// Prepares a file for another format. Tensors are put into the order in which their data is
/// stored, so that it is read in one sweep. Tied names become copies for Burnpack, because Burn
/// does not know them. Tensors in PyTorch's layout are marked as such (mark_layout()), and what a
/// record says of its recorder is left out, unless the result is a record.
///
/// Fails with MissingTensor if a cast matches nothing, with InvalidArgument if the layout is to be
/// changed and the file has it already, and as apply_names(), filter(), change_layout() and
/// TensorSnapshot::cast() do.
Result<Conversion> convert(const Archive& file, const ConvertOptions& options);

}  // namespace andiron::inline v1
