// SPDX-License-Identifier: MIT OR Apache-2.0
// Loops over arrays of doubles that compilers turn into vector instructions.
//
// A fold keeps as many results as `lanes`: element i goes to lane i % lanes, and the lanes are
// joined in order at the end. So the order of additions is written down here, and vectors of any
// length give the same bits. Contraction to fused multiply-add would not: the files that include
// this are compiled with -ffp-contract=off.
#pragma once

#include <array>
#include <cstddef>

namespace andiron::inline v1::detail {

inline constexpr std::size_t lanes = 32;

// join(... step(start, i)): `step(lane, i)` gives the lane's new value for element i.
template <class T, class Step, class Join>
inline T fold(std::size_t count, T start, Step step, Join join) {
  std::array<T, lanes> lane;
  lane.fill(start);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t l = 0; l < lanes; ++l) lane[l] = step(lane[l], i + l);
  }
  for (std::size_t l = 0; i + l < count; ++l) lane[l] = step(lane[l], i + l);
  T result = lane[0];
  for (std::size_t l = 1; l < lanes; ++l) result = join(result, lane[l]);
  return result;
}

// The sum of term(i).
template <class T = double, class Term>
inline T fold_sum(std::size_t count, Term term) {
  return fold<T>(
      count, T{0}, [term](T sum, std::size_t i) { return sum + term(i); },
      [](T a, T b) { return a + b; });
}

// The smallest and largest of number(i) and `start`; no number is NaN.
template <class Number>
inline double fold_min(std::size_t count, double start, Number number) {
  const auto less = [](double a, double b) { return b < a ? b : a; };
  return fold(
      count, start, [=](double least, std::size_t i) { return less(least, number(i)); }, less);
}
template <class Number>
inline double fold_max(std::size_t count, double start, Number number) {
  const auto more = [](double a, double b) { return b > a ? b : a; };
  return fold(
      count, start, [=](double most, std::size_t i) { return more(most, number(i)); }, more);
}

}  // namespace andiron::inline v1::detail
