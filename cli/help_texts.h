// SPDX-License-Identifier: MIT OR Apache-2.0
// What --help says below the options.
#pragma once

#include <string>

namespace andiron::cli {

inline constexpr const char* tool_description =
    "Neural-network weight files: list, inspect, check, compare and convert their tensors.";

inline constexpr const char* tool_footer =
    R"(An INPUT is a weight file (SafeTensors, PyTorch, Burnpack, NumPy, a Burn
record), an index of shards (*.safetensors.index.json, *.bin.index.json), or a
folder with an index, exactly one model or a distributed checkpoint. Formats are
recognized by content. Nothing in a PyTorch file is executed.

Exit codes: 0 success, 1 findings, 2 the operation failed, 3 unsupported or not
a weight file, 4 wrong usage. With several inputs all are tried.

Examples:
  andiron ls model.safetensors
  andiron ls --sort size --include 'encoder.**.weight' model.safetensors
  andiron info Llama-3-8B/
  andiron ls --top-level-key state_dict checkpoint.ckpt
  andiron config --key hyper_parameters checkpoint.ckpt
  andiron plan checkpoint.pt --model mine.safetensors
  andiron convert pytorch_model.bin -o model.safetensors
  andiron hash --threads 8 model.safetensors
  andiron stat --check model.safetensors
  andiron diff model.pt model.safetensors
  andiron convert model.safetensors -o model.bpk
  andiron ls --json *.safetensors | jq -r '.tensors[].name'
  andiron ls --sub '^model\.' '' --contiguous-indices model.safetensors)";

inline const std::string names_footer =
    R"(Names: --top-level-key applies first, then --fold-weight-norm, --sub,
--transpose, --split, --join and --contiguous-indices; --include, --regex and
--exclude match the resulting names. A tensor is taken if one --include or
--regex matches.

)";

inline constexpr const char* ls_footer = R"(Examples:
  andiron ls model.safetensors
  andiron ls --sort size --exclude '**.bias' model.safetensors
  andiron ls --sort offset --offsets model.bpk
  andiron ls --renames --sub '^layers\.' 'blocks.' model.safetensors
  andiron ls --json model.safetensors.index.json | jq '.tensors | length')";

inline constexpr const char* info_footer =
    R"(For Burnpack files it also shows the layout. --hex shows every byte before the
tensor data, one field per line: its offset, its bytes in hex and as characters,
and its meaning, indented by depth. A line of * stands for lines that repeat the
one above. It also works on files that do not open, if the header is complete.

Examples:
  andiron info model.safetensors
  andiron info --all model.bpk
  andiron info --hex model.bpk | less
  andiron info --json Llama-3-8B/ | jq .parameters)";

inline constexpr const char* plan_footer =
    R"(Compares names, shapes and dtypes; reads no tensor. If they do not match, it
searches for settings under which they do, and prints them as flags, each with
its reason. A guess says that it is one. MODEL is a weight file, or a listing:
what 'andiron ls --wide' or 'andiron ls --json' prints, or JSON with a shape
for each name. --include and --exclude select parameters of the model.

Exit codes: 0 it fits, 1 it does not.

Examples:
  andiron plan checkpoint.pt --model mine.safetensors
  andiron plan checkpoint.pt --model names.txt
  andiron plan checkpoint.pt --model mine.safetensors --top-level-key state_dict
  andiron plan --json checkpoint.pt --model mine.safetensors | jq -r .flags[0])";

inline constexpr const char* config_footer =
    R"(Shows what a file keeps beside its tensors (a config, an epoch, a tokenizer) as
JSON. A key that is the whole of --key comes first, then a path of keys and
indices. In SafeTensors files, these are the metadata, with JSON in them parsed.
Tensors are left out; NaN and infinity become null.

Examples:
  andiron config checkpoint.pt
  andiron config --key my_config checkpoint.pt > config.json
  andiron config --key hyper_parameters.lr lightning.ckpt
  andiron config --json *.ckpt | jq .config.epoch)";

inline constexpr const char* hash_footer =
    R"(The hash covers a tensor's contiguous, little-endian, row-major bytes, so it
does not depend on the format or the layout of the file.

Examples:
  andiron hash model.safetensors
  andiron hash --full --include 'encoder.**' model.safetensors
  diff <(andiron hash --full a.safetensors) <(andiron hash --full b.safetensors))";

inline constexpr const char* stat_footer =
    R"(Range, mean and standard deviation (of the population) are those of the finite
elements; of a complex tensor, those of the magnitudes. --json has all digits, the
L2 norm and the histogram too.

Exit codes: with --check, 1 if an element is NaN or infinite.

Examples:
  andiron stat model.safetensors
  andiron stat --check checkpoint.pt
  andiron stat --histogram --include 'head.*' model.safetensors
  andiron stat --json model.bpk | jq '.tensors[] | [.name, .statistics.std]')";

inline constexpr const char* diff_footer =
    R"(Tensors are compared by name, whatever the formats. Tensors that only one side has
are looked for under other names by their bytes. Equal means equal numbers, and NaN
equals NaN. The first input is A, the second B.

Exit codes: 0 equal, 1 different.

Examples:
  andiron diff old.safetensors new.safetensors
  andiron diff -q model.pt model.safetensors
  andiron diff --rtol 1e-3 --ignore-dtype model.safetensors model-f16.bpk
  andiron diff --top-level-key-a state_dict checkpoint.ckpt model.safetensors
  andiron diff --json a.bpk b.bpk | jq -r '.differences[] | [.kind, .name] | @tsv')";

inline constexpr const char* convert_footer =
    R"(The extension of the output chooses the format: .safetensors, .bpk, .mpk,
.mpk.gz, .npz or .npy, unless --to is given. Metadata, scalars and parameter ids
are written where the format can store them; notes report what is lost. Elements
keep their dtype unless you use --cast or write .mpk. Names and layouts stay
unless you use --to-layout: a PyTorch Linear keeps its [out, in] weight. The
output appears whole or not at all; with --force it may be the input itself.

Examples:
  andiron convert model.safetensors -o model.bpk
  andiron convert --burn-release 0.20 model.safetensors -o model.bpk
  andiron convert --cast '**=bf16' --cast '**.norm.*=f32' in.pt -o out.bpk
  andiron convert --max-shard-size 5GB model.bpk -o model.safetensors
  andiron convert --top-level-key model --sub '^net\.' '' in.mpk -o out.bpk
  andiron convert --to-layout burn --layers guess in.pt > layers.txt
  andiron convert --to-layout burn --layers layers.txt in.pt -o out.bpk
  andiron convert --dry-run --exclude 'optimizer.**' a.bpk -o b.safetensors)";

}  // namespace andiron::cli
