// SPDX-License-Identifier: MIT OR Apache-2.0
// How the tool answers: exit codes, error lines, standard output.
#include "cli/report.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "andiron/text.h"
#include "cli/quantities.h"

namespace andiron::cli {

ExitCode exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::not_a_weight_file:
    case ErrorCode::unsupported:
    case ErrorCode::unsupported_dtype:
      return ExitCode::unsupported;
    case ErrorCode::invalid_pattern:
    case ErrorCode::invalid_argument:
      return ExitCode::usage;
    default:
      return ExitCode::failed;
  }
}

ExitCode combine(ExitCode a, ExitCode b) {
  constexpr ExitCode gravest_first[] = {ExitCode::failed, ExitCode::unsupported, ExitCode::usage,
                                        ExitCode::findings, ExitCode::ok};
  for (const ExitCode code : gravest_first) {
    if (code == a || code == b) return code;
  }
  return ExitCode::ok;
}

namespace {

// How the library spells a setting or an action, and how the tool does. A '*' stands for what both
// say. Advice without a row stays as it is: tests/cli/report_test.cpp lists what has one.
struct Spelling {
  std::string_view in_library;
  std::string_view in_flags;
};
constexpr Spelling spellings[] = {
    // Names. A filter sees the new names, so it cannot keep two from being the same.
    {".with_top_level_key(\"*\")", "--top-level-key '*'"},
    {"omit the top-level key", "omit --top-level-key"},
    {"rename one of them first, or leave one out", "use --sub to give them different names"},
    {"rename one of them", "rename one of them with --sub"},
    {"rename one of the tensors", "rename one of the tensors with --sub"},
    {"rename the tensor", "rename the tensor with --sub"},
    {".fold_weight_norm(true)", "--fold-weight-norm"},
    {"use DTypePolicy::cast_to_module", "use 'convert --cast'"},
    // Reading.
    {"Strictness::lenient", "--lenient"},
    {"Strictness::strict", "--strict"},
    {"OpenOptions::verify", "--verify"},
    {"IoMode::automatic", "--io auto"},
    {"IoMode::pread", "--io pread"},
    {"set PytorchSettings::numpy_arrays", "use --numpy-arrays"},
    {"raise Limits::memory_bytes if you trust the file",
     "raise it with --max-memory if you trust the file"},
    {"raise Limits::* if you trust the file", "only the library can raise this limit"},
    {"read it in parts, or borrow it from a mapped file", "free some memory and try again"},
    {"load it with load_from(model, BurnpackStore::from_file(...))",
     "only the library can read it, into a module"},
    // Writing.
    {"pass .overwrite(true) to replace it", "use --force to replace it"},
    {"set WriteOptions::format", "use --to"},
    {"WriteOptions::max_shard_bytes", "--max-shard-size"},
    {"raise WriteOptions::limits", "use --beyond-burn"},
    {"set SafetensorsSettings::param_ids", "use --param-ids"},
    {"set another BurnpackSettings::release", "use another --burn-release"},
    {"use a higher precision", "use a higher --precision"},
    {"; for a module, add .with_to_adapter(BurnToPyTorchAdapter())", ""},
    {"cast it to *,", "convert it to * with --cast,"},
    {"leave the tensor out, or leave it uncast", "drop it with --exclude, or do not cast it"},
    {"set LayoutChange::is_forced if * is its layout", "say --from-layout * if that is its layout"},
    {"or set ConvertOptions::layout", "or see --to-layout"},
    {"leave it out", "drop it with --exclude"},
    {"leave the tensor out", "drop it with --exclude"},
};

}  // namespace

std::string in_flags(std::string advice) {
  for (const auto& [library, flags] : spellings) {
    const std::size_t star = library.find('*');
    const std::string_view before = library.substr(0, star);
    const std::string_view after = star == library.npos ? "" : library.substr(star + 1);
    const std::size_t begin = advice.find(before);
    const std::size_t value = begin + before.size();
    if (begin == std::string::npos) continue;
    const std::size_t end = advice.find(after, value);
    if (end == std::string::npos) continue;
    const std::size_t hole = flags.find('*');
    std::string said(flags.substr(0, hole));
    if (hole != flags.npos) {
      said += advice.substr(value, end - value);
      said += flags.substr(hole + 1);
    }
    advice.replace(begin, end + after.size() - begin, said);
  }
  return advice;
}

void print_message(std::string_view text) {
  const std::string line = "andiron: " + display_line(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

Error in_flags(Error error) {
  error.hint = in_flags(std::move(error.hint));
  return error;
}

void print_error(const Error& error) { print_message(in_flags(error).to_string()); }

void print_notes(const std::string& path, const Archive& archive) {
  constexpr std::size_t shown = 5;
  const std::string shown_path = display_text(path);
  const std::vector<std::string>& notes = archive.notes();
  for (std::size_t i = 0; i < std::min(shown, notes.size()); ++i) {
    print_message(shown_path + ": note: " + in_flags(notes[i]));
  }
  if (notes.size() > shown) {
    print_message(shown_path + ": note: " + count_of(notes.size() - shown, "more note") +
                  "; 'andiron info' lists them");
  }
  if (const std::size_t skipped = archive.skipped().size(); skipped > 0) {
    print_message(shown_path + ": note: " + count_of(skipped, "tensor") +
                  " skipped; 'andiron info' says why");
  }
}

Written write_to_standard_output(std::string_view text) {
  const bool complete = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (complete && std::fflush(stdout) == 0) return Written::all;
  if (errno == EPIPE) return Written::reader_gone;
  print_message(std::string("standard output: ") + std::strerror(errno));
  return Written::failed;
}

ExitCode print(std::string_view text, ExitCode code) {
  return write_to_standard_output(text) == Written::failed ? ExitCode::failed : code;
}

}  // namespace andiron::cli
