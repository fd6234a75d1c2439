// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/cli/arguments_test.cpp
#include "cli/common_options.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>
#include <utility>

namespace andiron::cli {
namespace {

constexpr std::uint64_t least_memory = 64 * 1024;
// What part of --max-memory windows may take: inflated records need the rest.
constexpr std::uint64_t window_share = 4;
constexpr unsigned most_threads = 1024;

// "A,B,C", or with sizes "A=4,B=1,C=1".
TensorEdit edit_argument(TensorEdit::Kind kind, const std::string& pattern, std::string_view list) {
  TensorEdit edit;
  edit.kind = kind;
  edit.pattern = pattern;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string_view name = list.substr(begin, end - begin);
    const std::size_t sign = kind == TensorEdit::Kind::split ? name.rfind('=') : name.npos;
    if (sign != name.npos) {
      std::uint64_t share = 0;
      const char* const last = name.data() + name.size();
      const auto [next, error] = std::from_chars(name.data() + sign + 1, last, share);
      if (error != std::errc() || next != last || share == 0) {
        throw WrongValue{"the size in " + in_quotes(std::string(name)) + " is no number"};
      }
      edit.shares.push_back(share);
      name = name.substr(0, sign);
    }
    edit.names.emplace_back(name);
    begin = end + 1;
  }
  if (edit.names.size() < 2) throw WrongValue{"give two names or more, with commas between them"};
  if (!edit.shares.empty() && edit.shares.size() != edit.names.size()) {
    throw WrongValue{"give a size for each name, or for none"};
  }
  return edit;
}

// Options are taken in the order in which they are declared, not in that of the command line.
void add_before_others(std::vector<TensorEdit>& edits, TensorEdit transposed) {
  const auto others = std::find_if(edits.begin(), edits.end(), [](const TensorEdit& edit) {
    return edit.kind != TensorEdit::Kind::transpose;
  });
  edits.insert(others, std::move(transposed));
}

void declare_selection_options(OptionList& list, PathFilter& filter, NameOptions& names) {
  list.begin_group("Tensors and names");
  list.values(
      "--include", "GLOB", [&filter](const std::string& glob) { filter.with_glob(glob); },
      "Take matching tensors; * matches within one\ndotted segment, ** any depth (repeatable)");
  list.values(
      "--exclude", "GLOB", [&filter](const std::string& glob) { filter.exclude_glob(glob); },
      "Leave out matching tensors, even if included\n(repeatable)");
  list.values(
      "--regex", "RE", [&filter](const std::string& regex) { filter.with_regex(regex); },
      "Take tensors whose name contains a match\n(repeatable)");
  const auto set_key = [&names](const std::string& key) {
    if (key.empty()) throw WrongValue{"the key must not be empty"};
    names.top_level_key = key;
  };
  list.value("--top-level-key", "KEY", set_key,
             "Take the tensors under this key, and drop the\n"
             "key from their names");
  list.pairs(
      "--sub", "PATTERN REPLACEMENT",
      [&names](const std::string& pattern, const std::string& replacement) {
        names.remapper.add_pattern(pattern, replacement);
      },
      "Rename by regular expression; $1 is a group,\n${1} before a letter, digit or _ "
      "(repeatable,\nin order)");
  const auto add_edits = [&names](TensorEdit::Kind kind) {
    return [&names, kind](const std::string& pattern, const std::string& parts) {
      names.edits.push_back(edit_argument(kind, pattern, parts));
    };
  };
  list.pairs("--split", "PATTERN NAMES", add_edits(TensorEdit::Kind::split),
             "Cut tensors in equal parts, with names for them:\n"
             "'\\.qkv\\.' '.q.,.k.,.v.'; a size may follow:\n"
             "'.q.=4,.k.=1,.v.=1' (repeatable)");
  list.pairs("--join", "PATTERN NAMES", add_edits(TensorEdit::Kind::join),
             "Join each match with others, and name the\n"
             "result: '\\.q\\.' '.k.,.v.,.qkv.' (repeatable)");
  list.values(
      "--transpose", "PATTERN",
      [&names](const std::string& pattern) {
        add_before_others(names.edits, TensorEdit::transpose(pattern));
      },
      "Transpose matching matrices (repeatable)");
  list.flag("--contiguous-indices", names.close_gaps,
            "Close gaps in numbered names: 0 2 4 become 0 1 2");
  list.flag(
      "--fold-weight-norm", names.fold_weight_norm,
      "Compute weights from the parts that PyTorch's\nweight norm keeps: weight_g and weight_v");
}

// What a file may ask for where memory is bounded.
void bound_memory(Limits& limits, std::uint64_t most) {
  for (std::uint64_t* limit : {&limits.header_bytes, &limits.burnpack_metadata_bytes,
                               &limits.index_bytes, &limits.inflated_bytes, &limits.memory_bytes}) {
    *limit = std::min(*limit, most);
  }
  limits.window_bytes = std::min(limits.window_bytes, most / window_share);
}

void declare_file_options(OptionList& list, ReadingOptions& reading) {
  OpenOptions& open = reading.open;
  list.begin_group("Reading");
  list.choice("--io", open.io,
              Choices<IoMode>{{"auto", IoMode::automatic},
                              {"mmap", IoMode::mmap},
                              {"pread", IoMode::pread},
                              {"direct", IoMode::direct}},
              "How to read files");
  reading.threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  const auto set_threads = [&reading](const std::string& text) {
    reading.threads = count_argument(text, most_threads);
  };
  list.value("--threads", "N", set_threads,
             "Threads of hash, stat and diff; by default one\n"
             "per processor, at most 8");
  const auto set_memory = [&reading](const std::string& text) {
    reading.max_memory = size_argument(text);
    if (*reading.max_memory < least_memory) {
      throw WrongValue{in_quotes(text) + " is less than 64K"};
    }
    bound_memory(reading.open.limits, *reading.max_memory);
  };
  list.value("--max-memory", "SIZE", set_memory,
             "The most tensor data to hold at once, the\n"
             "largest header and inflated file, and the most\n"
             "memory for names and values; at least 64K.\n"
             "K M G and KiB MiB GiB are powers of 1024,\n"
             "KB MB GB of 1000");
  list.flag(
      "--numpy-arrays", [&open] { open.settings = PytorchSettings{.numpy_arrays = true}; },
      "Also take the NumPy arrays in a PyTorch file");
  list.flag("--verify", open.verify,
            "Compare the checksums of everything that is read\n"
            "from zip archives (PyTorch, .npz); exit with 1\n"
            "if one does not match");
  list.flag(
      "--strict", [&open] { open.strictness = Strictness::strict; },
      "Refuse unknown dtypes; in Burnpack, also\nduplicate names and overlapping data");
  list.flag(
          "--lenient", [&open] { open.strictness = Strictness::lenient; },
          "Accept harmless oddities, with a note")
      .excludes = "--strict";
}

}  // namespace

Workforce workforce(const ReadingOptions& options, std::uint64_t least_window) {
  Workforce force = {options.threads, Limits().window_bytes};
  if (options.max_memory) {
    const std::uint64_t windows = *options.max_memory / window_share;
    const std::uint64_t most = std::max<std::uint64_t>(1, windows / least_window);
    force.threads = static_cast<unsigned>(std::min<std::uint64_t>(force.threads, most));
    force.window = std::min(force.window, windows / force.threads);
  }
  return force;
}

void declare_output_options(OptionList& list, ReadingOptions& reading) {
  list.inputs = {.target = &reading.inputs, .help = "Weight files, shard indexes or folders"};
  list.flag("--json", reading.json, "One JSON object per input, on one line");
  list.flag("--wide", reading.wide, "Do not shorten or wrap lines");
  list.choice("--color", reading.color,
              Choices<ColorChoice>{{"auto", ColorChoice::automatic},
                                   {"always", ColorChoice::always},
                                   {"never", ColorChoice::never}},
              "Color in tables; auto respects NO_COLOR");
}

void declare_reading_options(OptionList& list, ReadingOptions& reading) {
  declare_selection_options(list, reading.filter, reading.names);
  declare_file_options(list, reading);
}

void declare_sort(OptionList& list, SortKey& sort) {
  list.choice("--sort", sort,
              Choices<SortKey>{{"name", SortKey::name},
                               {"size", SortKey::size},
                               {"offset", SortKey::offset},
                               {"dtype", SortKey::dtype}},
              "Order of the tensors; by name by default");
}

void declare_writing_options(OptionList& list, WritingOptions& writing) {
  WriteOptions& write = writing.write;
  list.begin_group("Writing");
  list.value("-o,--output", "OUT", writing.output, "The file to write");
  list.flag("-f,--force", write.overwrite, "Replace an existing file");
  list.flag("--dry-run", write.dry_run, "Check everything, but write nothing");
  list.flag("--no-sync", [&write] { write.sync = false; }, "Do not wait until the data is on disk");
}

}  // namespace andiron::cli
