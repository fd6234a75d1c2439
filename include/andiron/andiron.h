// SPDX-License-Identifier: MIT OR Apache-2.0
// Andiron: neural-network weight files in C++.
//
// Models. A struct lists what it saves; a store is a file, or memory, with settings.
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
// A load is checked whole, then read, then put in place: one that is refused or fails leaves the
// model as it was. plan() tells what a load would do.
//
// Surgery. collect() gives the tensors of a model, apply() puts tensors into one:
//
//   Snapshots encoder = collect(teacher, {.filter = PathFilter().with_regex("^encoder")}).value();
//   apply(student, encoder, {.allow_partial = true}).value();
//
// Files without a model. open() finds the format by content, reads the header alone and gives an
// Archive: an index of named tensors. A TensorSnapshot describes one of them; its data is fetched
// when asked for.
//
//   Archive file = open("model.safetensors").value();  // a file, a shard index or a folder
//   for (std::size_t i : file.natural_order()) print(file.info(i).name);
//   Tensor weight = file.get("conv1.weight").value().read().value();
//   std::span<const float> numbers = weight.as<float>().value();
//
// Errors are values. Every call that can fail returns a Result; the library never throws, prints or
// aborts. Those who prefer exceptions call value(), which throws andiron::Exception.
//
// Laziness. transpose, slice, cast, reshape and the rest of TensorSnapshot read nothing; the
// numbers are gathered in one pass, straight into their destination, and only those that are
// needed:
//
//   TensorSnapshot rows = file.get("embedding").value().slice(0, 100, 200).value();
//   Tensor part = rows.cast(DType::f16).value().read().value();
//
// Zero-copy. borrow(), and stores with zero_copy(true), give tensors over the file's mapping or
// over memory. They keep that alive for as long as they live.
//
// Writing. An Archive, opened or built with add(), is written whole or not at all, through one
// window of memory:
//
//   Archive out;
//   out.add(TensorSnapshot("half", part)).value();
//   out.set_metadata({{"format", "pt"}});
//   write(out, "half.safetensors", {.overwrite = true}).value();
//
// With <fcntl.h> in sight, write andiron::open: the system has an open of its own. For a model that
// is a standard container, write andiron::apply: the standard library has one, too.
//
// Stages. A load is open, apply_names, apply; a save is collect_archive, apply_names, write. A
// store runs them; each is a function with options of its own, and an Archive passes between them:
//
//   Archive named = apply_names(open("m.pt").value(), {.top_level_key = "state_dict"}).value();
//   apply(model, named, {.adapter = PyTorchToBurnAdapter()}).value();
//
// Names. KeyRemapper renames, PathFilter selects, close_index_gaps renumbers. An archive can tell
// what each tensor was called before (name_history).
//
// Threads. Const calls are safe from several threads at once.
//
// Where to look: module.h for what a model may hold, store.h for all settings, pytorch_store.h for
// PyTorch's files, burnpack_store.h and mpk_store.h for Burn's, numpy_store.h for NumPy's,
// apply_result.h for reports,
// adapter.h for other frameworks, nn/ for layers; open.h, archive.h and snapshot.h for files
// without a model, write.h and safetensors.h for writing them; quantized.h for Burn's quantized
// tensors; file.h for how files are read and replaced, file_set.h for models whose files are not in
// a folder; names.h for names; format.h for the formats; safetensors_view.h and burnpack_view.h for
// firmware; limits.h for what is refused.
#pragma once

#include "andiron/adapter.h"
#include "andiron/apply.h"
#include "andiron/archive.h"
#include "andiron/burnpack_view.h"
#include "andiron/byte_source.h"
#include "andiron/bytes.h"
#include "andiron/dtype.h"
#include "andiron/error.h"
#include "andiron/error_code.h"
#include "andiron/fields.h"
#include "andiron/file.h"
#include "andiron/format.h"
#include "andiron/leaf.h"
#include "andiron/limits.h"
#include "andiron/module.h"
#include "andiron/names.h"
#include "andiron/nn/activation.h"
#include "andiron/nn/conv.h"
#include "andiron/nn/embedding.h"
#include "andiron/nn/initializer.h"
#include "andiron/nn/linear.h"
#include "andiron/nn/norm.h"
#include "andiron/open.h"
#include "andiron/param.h"
#include "andiron/param_id.h"
#include "andiron/place.h"
#include "andiron/progress.h"
#include "andiron/quant_scheme.h"
#include "andiron/safetensors_view.h"
#include "andiron/sha256.h"
#include "andiron/shape.h"
#include "andiron/sink.h"
#include "andiron/snapshot.h"
#include "andiron/store.h"
#include "andiron/stores.h"
#include "andiron/tensor.h"
#include "andiron/text.h"
#include "andiron/value.h"
#include "andiron/version.h"
#include "andiron/write.h"
