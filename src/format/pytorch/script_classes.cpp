// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/format/pytorch_torchscript_test.cpp
#include "src/format/pytorch/script_classes.h"

#include <algorithm>
#include <utility>

#include "src/core/try.h"

namespace andiron::inline v1::detail {
namespace {

// Of all code; it is a few kilobytes a class.
constexpr std::uint64_t most_code_bytes = std::uint64_t{16} << 20;

// Adds what stands between quotes.
void add_quoted(std::string_view text, std::set<std::string, std::less<>>& out) {
  for (std::size_t begin = text.find('"'); begin != std::string_view::npos;) {
    const std::size_t end = text.find('"', begin + 1);
    if (end == std::string_view::npos) return;
    out.emplace(text.substr(begin + 1, end - begin - 1));
    begin = text.find('"', end + 1);
  }
}

}  // namespace

std::map<std::string, ScriptClass, std::less<>> script_classes_in(
    std::string_view code, const std::set<std::string_view>& wanted) {
  std::map<std::string, ScriptClass, std::less<>> classes;
  ScriptClass* current = nullptr;
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    const std::string_view line = code.substr(0, end);
    code.remove_prefix(std::min(end + 1, code.size()));
    constexpr std::string_view class_word = "class ";
    if (line.starts_with(class_word)) {
      const std::string_view rest = line.substr(class_word.size());
      const std::string_view name = rest.substr(0, rest.find_first_of("(:"));
      current = wanted.contains(name) ? &classes[std::string(name)] : nullptr;
      if (current == nullptr) continue;
      current->is_module = rest.substr(name.size()).starts_with("(Module)");
    } else if (current != nullptr && (line.starts_with("  __parameters__ = [") ||
                                      line.starts_with("  __buffers__ = ["))) {
      add_quoted(line, current->tensors);
      current->lists_tensors |= line.starts_with("  __buffers__");
    }
  }
  return classes;
}

Result<ScriptClasses> ScriptClasses::read(const ZipReader& zip, const std::string& root,
                                          const PickleGraph& pickle, MemoryBudget& budget) {
  std::map<std::string_view, std::set<std::string_view>> wanted;
  for (const PickleGlobal& global : pickle.globals()) {
    // With a slash, one file could be asked for by many names.
    const bool is_code =
        global.module.starts_with("__torch__") && global.module.find('/') == std::string_view::npos;
    if (is_code) wanted[global.module].insert(global.name);
  }
  ScriptClasses classes;
  std::uint64_t left = most_code_bytes;
  for (const auto& [module, names] : wanted) {
    std::string path(module);
    std::replace(path.begin(), path.end(), '.', '/');
    const auto entry = zip.find(root + "code/" + path + ".py");
    if (!entry || zip.entries()[*entry].bytes > left) continue;
    left -= zip.entries()[*entry].bytes;
    // What lists of one letter for a tensor take; an entry may be deflated.
    constexpr std::uint64_t classes_per_byte = 24;
    ANDIRON_TRY(budget.charge(classes_per_byte * zip.entries()[*entry].bytes, "code"));
    Result<Bytes> code = pass_on_out_of_memory(zip.read(*entry, most_code_bytes));
    if (code) {
      classes.modules_.try_emplace(std::string(module), script_classes_in(code->text(), names));
    } else if (zip.checksums() == ZipChecksums::of_all &&
               code.error().code == ErrorCode::checksum_mismatch) {
      return std::move(code).error();
    }
  }
  return classes;
}

const ScriptClass* ScriptClasses::find(const PickleGlobal& global) const {
  const auto module = modules_.find(global.module);
  if (module == modules_.end()) return nullptr;
  const auto found = module->second.find(global.name);
  return found == module->second.end() ? nullptr : &found->second;
}

}  // namespace andiron::inline v1::detail
