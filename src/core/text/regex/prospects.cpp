// SPDX-License-Identifier: MIT OR Apache-2.0
// Tested by tests/core/regex_prospects_test.cpp
#include "src/core/text/regex/prospects.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace andiron::inline v1::automaton {
namespace {

// `row` comes with what is known of instructions that take; the others follow from these.
void add_what_leads_there(const Program& program, Assertions holds,
                          std::vector<std::uint8_t>& row) {
  const std::vector<Instruction>& code = program.code;
  // Once more as long as a loop, which jumps back, was seen before what it leads to.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = static_cast<std::uint32_t>(code.size()); at-- != 0;) {
      if (row[at] != 0) continue;
      const Instruction instruction = code[at];
      bool leads = false;
      switch (instruction.op) {
        case Op::take:
          break;
        case Op::match:
          leads = true;
          break;
        case Op::save:
          leads = row[at + 1] != 0;
          break;
        case Op::assert_that:
          leads = (instruction.argument & holds) != 0 && row[at + 1] != 0;
          break;
        case Op::jump:
          leads = row[target(instruction, at)] != 0;
          break;
        case Op::next_or_jump:
        case Op::jump_or_next:
          leads = row[at + 1] != 0 || row[target(instruction, at)] != 0;
      }
      row[at] = leads ? 1 : 0;
      changed |= leads;
    }
  }
}

}  // namespace

Prospects::Prospects(const Program& program, std::string_view subject)
    : program_(program), subject_(subject), next_(program.code.size()) {
  constexpr std::size_t least_length = 256;
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(subject.size())));
  const std::size_t length = std::max(root, least_length);
  const char* const end = subject.data() + subject.size();
  for (const char* at = subject.data(); at != end;) {
    const auto begin = static_cast<std::size_t>(at - subject.data());
    if (begins_.empty() || begin - begins_.back() >= length) begins_.push_back(begin);
    static_cast<void>(program.alphabet.take(at, end));
  }
  block_ = begins_.size();
  ends_.resize(begins_.size());
  Row row(program.code.size());
  add_what_leads_there(program, assertions_at(subject, end), row);
  for (std::size_t block = begins_.size(); block-- != 0;) {
    ends_[block] = row;
    if (block != 0) pass(block, row, nullptr);
  }
}

bool Prospects::lead_to_match(std::uint32_t at, const char* here) {
  const auto place = static_cast<std::size_t>(here - subject_.data());
  if (place == subject_.size()) return false;
  const std::size_t before = block_;
  if (block_ == begins_.size()) block_ = 0;
  while (place >= block_end(block_)) ++block_;
  if (block_ != before) {
    const std::size_t bytes = block_end(block_) - begins_[block_];
    takes_.assign(bytes * program_.code.size(), 0);
    Row row = ends_[block_];
    pass(block_, row, &takes_);
  }
  return takes_[(place - begins_[block_]) * program_.code.size() + at] != 0;
}

std::size_t Prospects::block_end(std::size_t block) const noexcept {
  return block + 1 == begins_.size() ? subject_.size() : begins_[block + 1];
}

void Prospects::pass(std::size_t block, Row& row, std::vector<std::uint8_t>* takes) {
  const std::size_t size = program_.code.size();
  characters_.clear();
  const char* const end = subject_.data() + block_end(block);
  for (const char* at = subject_.data() + begins_[block]; at != end;) {
    const auto begin = static_cast<std::size_t>(at - subject_.data());
    characters_.push_back({begin, program_.alphabet.take(at, end)});
  }
  for (std::size_t i = characters_.size(); i-- != 0;) {
    const auto [begin, symbol] = characters_[i];
    std::swap(row, next_);
    std::fill(row.begin(), row.end(), std::uint8_t{0});
    for (std::uint32_t at = 0; at < size; ++at) {
      const Instruction instruction = program_.code[at];
      if (instruction.op != Op::take || next_[at + 1] == 0) continue;
      row[at] = program_.alphabet.is_in(symbol, instruction.argument) ? 1 : 0;
    }
    if (takes != nullptr) {
      std::copy(row.begin(), row.end(),
                takes->begin() + static_cast<std::ptrdiff_t>((begin - begins_[block]) * size));
    }
    add_what_leads_there(program_, assertions_at(subject_, subject_.data() + begin), row);
  }
}

}  // namespace andiron::inline v1::automaton
