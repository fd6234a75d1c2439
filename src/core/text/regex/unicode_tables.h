// SPDX-License-Identifier: MIT OR Apache-2.0
// What Unicode says of its characters, as make_unicode_tables.py packs it: numbers of seven bits a
// byte, the lowest first, all bytes but the last with the highest bit set. unicode_classes.h reads
// it.
#pragma once

#include <span>
#include <string_view>

namespace andiron::inline v1::automaton {

// Each name is followed by a blank.
extern const std::string_view category_names;
extern const std::string_view script_names;

// Runs of characters from U+0000 on, one number for each: its length times one more than the count
// of names, plus the place of its name among them, counted from 1; 0 is no name.
extern const std::span<const unsigned char> category_runs;
extern const std::span<const unsigned char> script_runs;

// Runs of characters with the same distance to what simple case folding makes of them. Four numbers
// for each: how far it begins after the end of the last, how many characters it has, the step
// between them, and the distance, twice, plus one if it goes down.
extern const std::span<const unsigned char> folding_runs;

}  // namespace andiron::inline v1::automaton
