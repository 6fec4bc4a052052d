// SPDX-License-Identifier: Apache-2.0
// The constants fitted to what solves take, whatever the machine.
#include "precond/precond_constants.hpp"
#include "spmv/cost/product_constants.hpp"

namespace newel::detail {
namespace {

constexpr PrecondCounts counts_of_preconds() {
  PrecondCounts fitted;
  fitted.share = 0.5;  // 0.36 to 0.75 with FSAI and SPAI: docs/results/solve_h200.json
  // The median over the meshes of docs/results/regret_h200.json, which take 0.4 to 1; the mean of logarithms of
  // matrices of other origin, which take 0.7 to 6. Translations alone take 1.5 to 2 times as many as rigid body
  // modes.
  fitted.amg_of_mesh = 0.66;
  fitted.amg_of_any = 1.4;
  fitted.amg_of_blocks = 1.6;
  fitted.amg_margin = 3.5;
  fitted.amg_margin_of_mesh = 1.4;
  fitted.fsai_margin = 2;  // it saves little if the model is slightly wrong
  // Matrices of flow, circuits and reservoirs with BiCGStab take 0.1 to 1.0. Factors have about 3.5 times as
  // many entries as A, and usually one thread solves with them.
  fitted.ilut_of_any = 0.8;
  fitted.ilut_entries = 8;
  // With MINRES on Stokes, elasticity and mixed Poisson problems of 2,000 to 107,000 rows.
  fitted.saddle_least = 40;
  fitted.saddle_of_any = 1;
  fitted.saddle_setup = 1.3;
  // Estimates from meshes in three dimensions.
  fitted.amg_complexity = 1.2;
  fitted.amg_prolongators = 0.3;
  fitted.of_differences = 1.3;
  fitted.few_iterations = 40;
  fitted.far_more = 100;
  return fitted;
}

}  // namespace

constexpr IterationCounts iteration_counts{0.5, 1.6};  // measured on 14 meshes in three dimensions
constexpr PrecondCounts precond_counts = counts_of_preconds();

}  // namespace newel::detail
