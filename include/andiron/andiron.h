// SPDX-License-Identifier: MIT OR Apache-2.0
// Andiron: neural-network weight files in C++.
//
// Reading. open() finds the format by content, reads the header alone and gives an Archive: an
// index of named tensors. A TensorSnapshot describes one of them; its data is fetched when asked
// for.
//
//   Result<Archive> model = open("model.safetensors");     // a file, a shard index or a folder
//   if (!model) return fail(model.error().to_string());    // "model.safetensors: tensor 'a': ..."
//   for (std::size_t i : model->natural_order()) print(model->info(i).name);
//   Tensor weight = model->get("conv1.weight").value().read().value();
//   std::span<const float> numbers = weight.as<float>().value();
//
// Errors are values. Every call that can fail returns a Result; the library never throws, prints or
// aborts. Those who prefer exceptions call value(), which throws andiron::Exception.
//
// Laziness. transpose, slice, cast, reshape and the rest of TensorSnapshot read nothing; the
// numbers are gathered in one pass, straight into their destination, and only those that are
// needed:
//
//   TensorSnapshot rows = model->get("embedding").value().slice(0, 100, 200).value();
//   TensorSnapshot half = rows.cast(DType::f16).value();
//   Tensor part = half.read().value();
//
// Zero-copy. borrow() gives a Tensor over the file's mapping or over memory. It keeps that alive
// for as long as the Tensor lives.
//
// Writing. An Archive, opened or built with add(), is written whole or not at all, through one
// window of memory:
//
//   Archive out;
//   out.add(TensorSnapshot("half", part)).value();
//   out.set_metadata({{"format", "pt"}});
//   write(out, "half.safetensors", {.overwrite = true}).value();
//
// With <fcntl.h> in sight, write andiron::open: the system has an open of its own.
//
// Names. KeyRemapper renames, PathFilter selects, close_index_gaps renumbers.
//
// Threads. Const calls are safe from several threads at once.
//
// Where to look: open.h, archive.h and snapshot.h for reading; write.h and safetensors.h for
// writing; file.h for how files are read and replaced; safetensors_view.h for firmware; limits.h
// for what is refused.
#pragma once

#include "andiron/archive.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/container.h"
#include "andiron/display_text.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/file.h"
#include "andiron/float_types.h"
#include "andiron/json.h"
#include "andiron/key_remapper.h"
#include "andiron/limits.h"
#include "andiron/natural_order.h"
#include "andiron/open.h"
#include "andiron/path_filter.h"
#include "andiron/pattern.h"
#include "andiron/progress.h"
#include "andiron/safetensors.h"
#include "andiron/safetensors_view.h"
#include "andiron/sha256.h"
#include "andiron/shape.h"
#include "andiron/sink.h"
#include "andiron/snapshot.h"
#include "andiron/tensor.h"
#include "andiron/value.h"
#include "andiron/version.h"
#include "andiron/write.h"
