// SPDX-License-Identifier: Apache-2.0
/// The loops of the heart over elements, slots and nodes, for both spaces.
#pragma once

#include <cstdint>

#include <newel/core/types.hpp>

#include "apps/heart/element_loop.hpp"
#include "apps/heart/tissue.hpp"

namespace newel::heart {

/// What stimuli add to phi in a step, per ms on average over it, by the bit that marks their elements.
struct StimulusRates {
  static constexpr int most = 32;
  std::uint32_t active = 0;  ///< bits whose rate is not 0
  double rate[most] = {};

  void set(int bit, double value) {
    rate[bit] = value;
    if (value != 0) active |= std::uint32_t{1} << bit;
  }
  HEART_BOTH double sum(std::uint32_t marks) const {
    double total = 0;
    marks &= active;
    for (int bit = 0; marks != 0; ++bit, marks >>= 1) {
      if ((marks & 1u) != 0) total += rate[bit];
    }
    return total;
  }
};

}  // namespace newel::heart

namespace newel::heart::detail {

/// The results of a pass over the elements.
struct ElementVerdict {
  double too_steep;  ///< elements whose reaction rises faster than 1 / dt: the tangent may be indefinite
  double failed;     ///< elements whose recovery did not converge, or where phi is no number
};

/// The four nodes of a tetrahedron, read at once.
struct alignas(16) Corners {
  Index node[4];
};

/// phi at the integration point of a tetrahedron: the mean of the corners.
HEART_BOTH double mean_at(const Corners& at, const double* phi) {
  return 0.25 * ((phi[at.node[0]] + phi[at.node[1]]) + (phi[at.node[2]] + phi[at.node[3]]));
}

/// What a step of time asks the device for, so that one wait brings it all.
struct StepVerdict {
  ElementVerdict linearized, checked;
  double residual;  ///< |R| of the check, by the caller
};

/// What both passes over the elements have in common: recovery solved for the voltage phi.
struct ElementPass : PlainLoop {
  static constexpr int counts = 2;
  static constexpr int weight = 16;
  static constexpr bool uneven = true;  // where the wave is, the recovery takes more iterations

  Tissue tissue;
  double dt = 0;
  StimulusRates stimulus;
  const Corners* corners = nullptr;
  const double* phi = nullptr;  ///< per node
  const double* volume = nullptr;
  const std::uint32_t* marks = nullptr;  ///< null: no element is stimulated
  double* old_mean = nullptr;            ///< phi of the elements when the step of time began
  const double* old_r = nullptr;
  double* r = nullptr;
  double* load = nullptr;
  ElementVerdict* verdict = nullptr;

  struct Coefficients {
    double per_unit, per_dt;
  };
  HEART_BOTH Coefficients begin() const { return {1 / tissue.time_unit, 1 / dt}; }

  /// Solves the recovery in element e from r_new, which receives it, and keeps it.
  template <class Counts>
  HEART_BOTH Reaction react(std::int64_t e, const Coefficients& k, double mean, double r_old, double r_new,
                            Counts& total) const {
    int steps = 0;
    const Reaction reaction = RecoveryNewton::solve(tissue, k.per_unit, dt, mean, r_old, r_new, steps);
    r[e] = r_new;
    total.add(0, !(reaction.slope < k.per_dt));
    total.add(1, !(steps < RecoveryNewton::most_steps && std::isfinite(r_new) && std::isfinite(mean)));
    return reaction;
  }
  HEART_BOTH double* totals() const { return &verdict->too_steep; }
};

/// Newton's linearisation in an element:
///
///     tangent = V / 16 (1/dt - slope),   on all 16 places of the element matrix
///     load    = V / 4 (old_mean/dt + value - slope mean + stimulus),   on its 4 corners
///
/// (diffusion + tangents) phi = loads is Newton's equation for the new phi itself. With one integration point
/// the mass matrix of an element is V / 16 everywhere.
///
/// Bytes of an element: corners 16, V, marks 4, old_mean, old_r, r in and out, tangent, load: 76, less 4 where no
/// stimulus acts; the first of a step reads no r and writes old_mean instead of reading it. On top the phi of the
/// nodes, 8 in all where caches hold what neighbours read.
struct LinearizeElement : ElementPass {
  const double* old_phi = nullptr;  ///< where the step of time began, for its first linearisation; then null
  double* tangent = nullptr;

  template <class Counts>
  HEART_BOTH void element(std::int64_t e, const Coefficients& k, Counts& total) const {
    // All that is read comes before the recovery's loop, so that it is on its way at once.
    const Corners at = corners[e];
    const double v = volume[e], r_old = old_r[e];
    const double stimulated = marks != nullptr ? stimulus.sum(marks[e]) : 0.0;
    const double r_start = old_phi != nullptr ? r_old : r[e];
    const double begun = old_phi != nullptr ? mean_at(at, old_phi) : old_mean[e];
    const double mean = mean_at(at, phi);
    const Reaction reaction = react(e, k, mean, r_old, r_start, total);
    if (old_phi != nullptr) old_mean[e] = begun;
    tangent[e] = v / 16 * (k.per_dt - reaction.slope);
    load[e] = v / 4 * (begun * k.per_dt + reaction.value - reaction.slope * mean + stimulated);
  }
};

/// The loads that go with the tangents as they stand,
///
///     load = V / 4 (old_mean/dt + value - old slope mean + stimulus):
///
/// with the matrix of those tangents, loads minus its product with phi are the residual at the new phi. 68 bytes of
/// an element, less 4 where no stimulus acts.
struct CheckElement : ElementPass {
  const double* tangent = nullptr;

  template <class Counts>
  HEART_BOTH void element(std::int64_t e, const Coefficients& k, Counts& total) const {
    const Corners at = corners[e];
    const double v = volume[e], r_old = old_r[e], r_start = r[e], begun = old_mean[e], slope = tangent[e];
    const double stimulated = marks != nullptr ? stimulus.sum(marks[e]) : 0.0;
    const double mean = mean_at(at, phi);
    const Reaction reaction = react(e, k, mean, r_old, r_start, total);
    load[e] = v / 4 * ((begun - mean) * k.per_dt + reaction.value + stimulated) + 4 * slope * mean;
  }
};

/// For each slot, or pair of slots, the elements that meet in its entry.
struct ElementLists {
  const std::uint32_t* begin;  ///< into `element`
  const std::uint16_t* count;
  const Index* element;

  HEART_BOTH double sum(std::int64_t k, const double* per_element, double value) const {
    const Index* at = element + begin[k];
    for (int j = 0; j < count[k]; ++j) value += per_element[at[j]];
    return value;
  }
};

/// Two slots with the same sum: those of an entry and of its mirror. A slot that stands alone is both.
struct SlotPair {
  std::uint32_t first, second;
};

/// slot = constant + the tangents of its elements: the matrix in place, each sum formed once for both slots of a
/// pair.
struct FillSlots : PlainLoop {
  static constexpr int weight = 4;
  ElementLists lists;
  const double* constant;
  const SlotPair* pair;
  const double* tangent;
  double* slot;

  template <class Counts>
  HEART_BOTH void element(std::int64_t k, NoCoefficients, Counts&) const {
    const double value = lists.sum(k, tangent, constant[k]);
    slot[pair[k].first] = value;
    slot[pair[k].second] = value;
  }
};

/// node = the loads of its elements.
struct SumLoads : PlainLoop {
  static constexpr int weight = 8;
  ElementLists lists;
  const double* load;
  double* rhs;

  template <class Counts>
  HEART_BOTH void element(std::int64_t i, NoCoefficients, Counts&) const {
    rhs[i] = lists.sum(i, load, 0.0);
  }
};

/// The same for a few slots with long lists, given by their numbers; constants may be null.
struct FillCrowded : PlainLoop {
  static constexpr int weight = 1024;
  ElementLists lists;
  const double* constant;
  const std::int64_t* which;
  const double* per_element;
  double* slot;

  template <class Counts>
  HEART_BOTH void element(std::int64_t k, NoCoefficients, Counts&) const {
    slot[which[k]] = lists.sum(k, per_element, constant != nullptr ? constant[k] : 0.0);
  }
};

/// The reference assembly, first half: the 16 numbers of each element matrix and the 4 of its load go to their places
/// in K_elem and R_elem, whose rows are the entries of K and the nodes (section 4 of Wong, Kuhl and Darve).
struct ScatterElement : PlainLoop {
  static constexpr int weight = 16;
  std::int64_t elements;
  const double* stiffness;  ///< 10 per element, the upper triangle by rows, number m at m elements + e
  const double* tangent;
  const double* load;
  const Offset* matrix_place;  ///< 16 per element, likewise
  const Offset* load_place;    ///< 4 per element
  double* k_elem;
  double* r_elem;

  template <class Counts>
  HEART_BOTH void element(std::int64_t e, NoCoefficients, Counts&) const {
    std::int64_t m = 0;
    for (int a = 0; a < 4; ++a) {
      for (int b = a; b < 4; ++b, ++m) {
        const double value = stiffness[m * elements + e] + tangent[e];
        k_elem[matrix_place[(4 * a + b) * elements + e]] = value;
        if (b != a) k_elem[matrix_place[(4 * b + a) * elements + e]] = value;
      }
      r_elem[load_place[a * elements + e]] = load[e];
    }
  }
};

/// The second half: a product with a vector of ones, that is, sums of rows without multiplications.
struct SumRows : PlainLoop {
  static constexpr int weight = 4;
  const Offset* first;
  const double* value;
  double* sum;

  template <class Counts>
  HEART_BOTH void element(std::int64_t k, NoCoefficients, Counts&) const {
    double total = 0;
    for (Offset j = first[k]; j < first[k + 1]; ++j) total += value[j];
    sum[k] = total;
  }
};

/// The time at which a node's voltage first rises through the threshold, linear within the step; below 0: not yet.
struct NoteActivation : PlainLoop {
  double threshold, start, dt;
  const double* old_phi;
  const double* phi;
  double* time;

  template <class Counts>
  HEART_BOTH void element(std::int64_t i, NoCoefficients, Counts&) const {
    if (time[i] >= 0 || phi[i] < threshold || old_phi[i] >= threshold) return;
    time[i] = start + dt * (threshold - old_phi[i]) / (phi[i] - old_phi[i]);
  }
};

}  // namespace newel::heart::detail

/// X(loop) for the loops of both spaces, and for those of one: sums into slots go their own way on the device
/// (slot_sums.hpp).
#define FOR_HEART_LOOPS(X)                  \
  X(newel::heart::detail::LinearizeElement) \
  X(newel::heart::detail::CheckElement)     \
  X(newel::heart::detail::ScatterElement)   \
  X(newel::heart::detail::SumRows)          \
  X(newel::heart::detail::NoteActivation)
#define FOR_HEART_HOST_LOOPS(X)      \
  X(newel::heart::detail::FillSlots) \
  X(newel::heart::detail::SumLoads)
#define FOR_HEART_DEVICE_LOOPS(X) X(newel::heart::detail::FillCrowded)
