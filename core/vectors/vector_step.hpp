// SPDX-License-Identifier: Apache-2.0
/// Vector steps: one pass over a few vectors with its sums, written once and run in either space. Internal.
///
/// A step is a small struct of pointers with
///
///     static constexpr int sums;                            // 0 to 4 sums over the elements
///     static constexpr int weight;                          // optional: cost of an element, 1 for a few numbers
///     static constexpr bool uneven;                         // optional: true where elements differ much in cost
///     bool active() const;                                  // false: the whole sweep does nothing
///     Coefficients begin() const;                           // read once per thread, before the elements
///     void element(int64 i, Coefficients, Sums&) const;     // independent of every other element
///     void end(const double* totals) const;                 // once, after all elements; only where sums > 0
///
/// A step of a solver's iteration splits `element` in two, so that a device thread may load the values of several
/// elements before it writes one (the compiler cannot know that they do not overlap):
///
///     Loaded load(int64 i) const;
///     void finish(int64 i, const Loaded&, Coefficients, Sums&) const;
///
/// `begin`, `element`, `load`, `finish` and `active` may read scalars in S; only `end` may write them. `finish`
/// writes element i alone: others may have been loaded before. Sums are double and are added in an order that depends
/// on the length alone (host) or on the length and the device.
#pragma once

#include <type_traits>

#include <newel/core/context.hpp>
#include "core/vectors/host_device.hpp"

namespace newel::detail {

/// Runs `step` over elements 0 .. n-1. Defined in vector_step_host.hpp and vector_step_device.cuh, instantiated per
/// step in the sources that include them.
template <class Step>
void sweep(const Context<Space::host>& ctx, std::int64_t n, const Step& step);
template <class Step>
void sweep(const Context<Space::device>& ctx, std::int64_t n, const Step& step);

/// The cost of a step's element, 1 where it does not say: threads are woken for light steps on long vectors only.
template <class Step, class = void>
constexpr int weight_of = 1;
template <class Step>
constexpr int weight_of<Step, std::void_t<decltype(Step::weight)>> = Step::weight;

/// Whether a step's elements differ so much in cost that threads must not be given equal numbers of them.
template <class Step, class = void>
constexpr bool is_uneven = false;
template <class Step>
constexpr bool is_uneven<Step, std::void_t<decltype(Step::uneven)>> = Step::uneven;

/// Whether a step splits its element.
template <class Step, class = void>
constexpr bool is_split = false;
template <class Step>
constexpr bool is_split<Step, std::void_t<typename Step::Loaded>> = true;

/// Runs an element of a step, split or not.
template <class Step, class Coefficients, class Sums>
NEWEL_HD void run_element(const Step& step, std::int64_t i, const Coefficients& coefficients, Sums& sums) {
  if constexpr (is_split<Step>) {
    step.finish(i, step.load(i), coefficients, sums);
  } else {
    step.element(i, coefficients, sums);
  }
}

/// For steps without coefficients.
struct NoCoefficients {};

/// The parts that most steps share: always active, nothing to read, nothing to end.
struct PlainStep {
  static constexpr int sums = 0;
  NEWEL_HD bool active() const { return true; }
  NEWEL_HD NoCoefficients begin() const { return {}; }
  NEWEL_HD void end(const double*) const {}
};

}  // namespace newel::detail
