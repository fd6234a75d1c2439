// SPDX-License-Identifier: MIT OR Apache-2.0
// Where tests find their files and programs. Only places.cpp is compiled with these paths: the
// other tests are the same in every clone, so that a compiler cache serves them all.
#pragma once

#include <string>

namespace andiron::test {

std::string test_data();      ///< tests/data
std::string corpus_folder();  ///< tests/corpus
std::string tool_page();      ///< docs/tool.md
std::string tool_path();      ///< the andiron tool; empty if it was not built
std::string measure_path();   ///< measure.cpp: runs a program and tells what that took
std::string probe_path();     ///< open_probe.cpp: opens, lists and prints a file

/// Whether an emulator runs these programs, with memory and ways of its own.
bool is_emulated();

}  // namespace andiron::test
