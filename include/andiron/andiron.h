// SPDX-License-Identifier: MIT OR Apache-2.0
// Andiron: neural-network weight files in C++. This header includes all others.
//
// Load and save a model. A struct lists the fields it saves. A store is a file, or memory, and
// settings.
//
//   struct Net {
//     nn::Linear input = nn::LinearConfig(784, 64).init();
//     nn::Linear output = nn::LinearConfig(64, 10).init();
//     std::vector<Block> blocks;
//     ANDIRON_MODULE(Net, input, blocks, output)
//   };
//
//   auto store = PytorchStore::from_file("checkpoint.pt")
//                    .with_top_level_key("state_dict")
//                    .with_key_remapping(R"(^model\.)", "")      // the file's names to the model's
//                    .allow_partial(true);
//   Result<ApplyResult> result = load_from(model, store);
//   if (!result) return fail(result.error().to_string());  // "checkpoint.pt: tensor 'a': ..."
//   std::cout << *result;                                  // what fits, what does not, what to try
//   save_into(model, SafetensorsStore::from_file("copy.safetensors")).value();
//
// A load checks all tensors, then reads them, then replaces the parameters. If it fails, the model
// is unchanged. plan() reports what a load would do, key_map() what becomes of each name.
//
// Open a file without a model. open() detects the format from the content, reads only the header,
// and returns an Archive: an index of named tensors. A TensorSnapshot describes one tensor and
// reads its data on request.
//
//   Archive file = open("model.safetensors").value();  // a file, a shard index or a folder
//   for (std::size_t i : file.natural_order()) print(file.info(i).name);
//   Tensor weight = file.get("conv1.weight").value().read().value();
//   std::span<const float> elements = weight.as<float>().value();
//
// transpose, slice, cast, reshape and the other operations of a TensorSnapshot read nothing. read()
// copies the elements in one pass, and only those that are needed:
//
//   TensorSnapshot rows = file.get("embedding").value().slice(0, 100, 200).value();
//   Tensor part = rows.cast(DType::f16).value().read().value();
//
// Write a file. An Archive, opened or built with add(), becomes a file that appears whole or not at
// all. Tensor data passes through one small window of memory.
//
//   Archive out;
//   out.add(TensorSnapshot("half", part)).value();
//   out.set_metadata({{"format", "pt"}});
//   write(out, "half.safetensors", {.overwrite = true}).value();
//
// Move tensors between models. collect() returns the tensors of a model; apply() puts tensors into
// one:
//
//   Snapshots encoder = collect(teacher, {.filter = PathFilter().with_regex("^encoder")}).value();
//   apply(student, encoder, {.allow_partial = true}).value();
//
// Run the stages of a store yourself. A load is open, apply_names, apply. A save is
// collect_archive, apply_names, write. Each is a function with its own options; an Archive passes
// between them:
//
//   Archive named = apply_names(open("m.pt").value(), {.top_level_key = "state_dict"}).value();
//   apply(model, named, {.adapter = PyTorchToBurnAdapter()}).value();
//
// Errors are values. Every call that can fail returns a Result and never throws, prints or aborts;
// if memory runs out, the error is OutOfMemory (error.h). If you prefer exceptions, call value(),
// which throws andiron::Exception.
//
// Zero-copy. borrow(), and stores with zero_copy(true), return tensors that point into the file's
// mapping or into memory. The tensors keep that mapping or memory alive.
//
// Threads. Const calls are safe from several threads at once.
//
// Where to look:
//   module.h, fields.h, param.h, leaf.h    what a model may contain
//   store.h, store_builder.h, stores.h     loads and saves; all settings; the store of each format
//   recorder.h                             Burn's older recorders, built on the stores
//   apply.h                                collect, apply, plan, choose_variants, grow_to_fit
//   proposal.h                             settings under which a load would match
//   key_map.h                              names in the file, after each stage, in the model
//   adapter.h                              layouts and names of other frameworks
//   layers.h                               the same without a model
//   nn/                                    layers
//   open.h, archive.h, snapshot.h, tensor.h, value.h
//                                          files without a model
//   statistics.h, compare.h, sha256.h      what is in the tensors; what differs between two files;
//                                          hashes
//   config.h                               structs from the values of a checkpoint, and as JSON
//   write.h                                writing files, editing metadata
//   convert.h                              a file for another format
//   names.h, text.h                        filters, renaming, patterns
//   format.h                               the formats and their settings
//   error.h, error_code.h, message.h        errors, and advice in them
//   limits.h                               what is refused
//   file.h, byte_source.h, sink.h          how files are read and replaced; your own sources
//   safetensors_view.h, burnpack_view.h    firmware
#pragma once

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/archive.h"
#include "andiron/bind.h"
#include "andiron/burnpack_view.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/compare.h"
#include "andiron/config.h"
#include "andiron/convert.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/error_code.h"
#include "andiron/fields.h"
#include "andiron/file.h"
#include "andiron/format.h"
#include "andiron/key_map.h"
#include "andiron/layers.h"
#include "andiron/leaf.h"
#include "andiron/limits.h"
#include "andiron/message.h"
#include "andiron/module.h"
#include "andiron/names.h"
#include "andiron/nn/activation.h"
#include "andiron/nn/attention.h"
#include "andiron/nn/conv.h"
#include "andiron/nn/embedding.h"
#include "andiron/nn/encoding.h"
#include "andiron/nn/functions.h"
#include "andiron/nn/initializer.h"
#include "andiron/nn/interpolate.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/nn/pool.h"
#include "andiron/nn/recurrent.h"
#include "andiron/nn/swiglu.h"
#include "andiron/nn/threads.h"
#include "andiron/nn/transformer.h"
#include "andiron/nn/unfold.h"
#include "andiron/open.h"
#include "andiron/param.h"
#include "andiron/param_id.h"
#include "andiron/place.h"
#include "andiron/progress.h"
#include "andiron/proposal.h"
#include "andiron/quant_scheme.h"
#include "andiron/recorder.h"
#include "andiron/safetensors_view.h"
#include "andiron/sha256.h"
#include "andiron/shape.h"
#include "andiron/sink.h"
#include "andiron/snapshot.h"
#include "andiron/statistics.h"
#include "andiron/store.h"
#include "andiron/store_builder.h"
#include "andiron/stores.h"
#include "andiron/tensor.h"
#include "andiron/tensor_view.h"
#include "andiron/text.h"
#include "andiron/value.h"
#include "andiron/version.h"
#include "andiron/view_writer.h"
#include "andiron/write.h"
