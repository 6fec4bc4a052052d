// SPDX-License-Identifier: Apache-2.0
// A LinearSystem whose numbers are written where format and preconditioner keep them.
#include "tests/solver/systems.hpp"

namespace {

// What an assembly in place does: each slot that belongs to an entry gets that entry's value.
template <Space S>
void write(const Context<S>& ctx, const Slots<double, S>& slots, const std::vector<double>& values) {
  std::vector<double> slot_values(slots.entry.size(), 0.0);
  for (std::size_t k = 0; k < slot_values.size(); ++k) {
    if (slots.entry[k] >= 0) slot_values[k] = values[static_cast<std::size_t>(slots.entry[k])];
  }
  copy<double>(ctx, Span<const double, Space::host>(slot_values.data(), slots.values.size), slots.values);
}

template <Space S>
std::vector<double> solve_with(const Context<S>& ctx, LinearSystem<double, S>& system, const std::vector<double>& b) {
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, std::vector<double>(b.size(), 0.0));
  CHECK(system.solve(bs.cspan(), xs.span()).converged());
  return to_vector(ctx, xs.cspan());
}

Rows stiffer_laplacian(Index side) {
  Rows a = laplacian(side, 0, 2.0);
  for (Index i = 0; i < a.size(); ++i) a.at(i, i) *= 1 + i % 3;
  return a;
}

}  // namespace

TEST_BOTH("values written in place equal a refresh for every preconditioner, without an allocation", "[system]") {
  const Rows a = laplacian(12), changed = stiffer_laplacian(12);
  const Arrays<double, S> old_values(ctx, a), new_values(ctx, changed);
  const std::vector<double> slot_values = to_vector(ctx, new_values.val.cspan());
  const auto b = changed.rhs_for(noise(a.size()));
  for (const char* format : {"csr", "ehyb", "ellwarp:k2rs"}) {
    for (const char* precond : {"none", "jacobi", "spai0", "spai", "fsai"}) {
      INFO(format << " " << precond);
      SystemOptions options = system_options("cg", precond, format);
      LinearSystem<double, S> written(ctx, old_values.view(), options), refreshed(ctx, old_values.view(), options);
      const auto matrix = written.in_place().matrix(), inverse = written.in_place().preconditioner();
      CHECK((std::string(precond) == "none") == inverse.entry.empty());
      const auto before = ctx.memory()->use().allocations;
      write(ctx, matrix, slot_values);
      write(ctx, inverse, slot_values);
      written.in_place().written();
      CHECK(ctx.memory()->use().allocations == before);
      refreshed.refresh(new_values.val.span());
      const auto x = solve_with(ctx, written, b);
      CHECK(x == solve_with(ctx, refreshed, b));
      CHECK(true_residual<double>(changed, b, x) <= 1e-8 * norm(b) * (1 + 1e-6));
    }
  }
}

TEST_BOTH("a zero on the diagonal that was written in place is named, and fixed by the next values", "[system]") {
  const Rows a = laplacian(5);
  Rows holed = laplacian(5);
  holed.at(7, 7) = 0;
  const Arrays<double, S> good(ctx, a), bad(ctx, holed);
  LinearSystem<double, S> system(ctx, good.view());
  const auto matrix = system.in_place().matrix(), diagonal = system.in_place().preconditioner();
  write(ctx, matrix, to_vector(ctx, bad.val.cspan()));
  write(ctx, diagonal, to_vector(ctx, bad.val.cspan()));
  try {
    system.in_place().written();
    FAIL("a zero diagonal entry was accepted");
  } catch (const ZeroDiagonal& e) {
    CHECK(e.row() == 7);
  }
  const std::vector<double> b(25, 1.0);
  const auto bs = make_array(ctx, b);
  auto xs = make_array(ctx, b);
  CHECK_THROWS_AS(system.solve(bs.cspan(), xs.span()), InputError);
  write(ctx, matrix, to_vector(ctx, good.val.cspan()));
  write(ctx, diagonal, to_vector(ctx, good.val.cspan()));
  system.in_place().written();
  solve_with(ctx, system, b);
}

TEST_BOTH("with operator_only the preconditioner keeps its values when slots are written", "[system]") {
  const Rows a = laplacian(12), changed = stiffer_laplacian(12);
  const Arrays<double, S> old_values(ctx, a), new_values(ctx, changed);
  const auto b = changed.rhs_for(noise(a.size()));
  SystemOptions options = system_options("auto", "jacobi", "csr");
  LinearSystem<double, S> written(ctx, old_values.view(), options), refreshed(ctx, old_values.view(), options);
  write(ctx, written.in_place().matrix(), to_vector(ctx, new_values.val.cspan()));
  written.in_place().written(RefreshScope::operator_only);
  refreshed.refresh(new_values.val.span(), RefreshScope::operator_only);
  CHECK(solve_with(ctx, written, b) == solve_with(ctx, refreshed, b));
}

TEST_BOTH("a matrix that had to be assembled has no slots to write", "[system]") {
  // [4 1; 1 3] with row 1 as (1: 3), (0: 1)
  const auto row_ptr = make_array(ctx, std::vector<std::int32_t>{0, 2, 4});
  const auto col = make_array(ctx, std::vector<Index>{0, 1, 1, 0});
  const auto val = make_array(ctx, std::vector<double>{4, 1, 3, 1});
  SystemOptions options;
  options.canonicalise = true;
  LinearSystem<double, S> system(ctx, CsrView<double, S>(2, 2, row_ptr.span(), col.span(), val.span()), options);
  CHECK_THROWS_AS(system.in_place().matrix(), InputError);
  CHECK_THROWS_AS(system.in_place().preconditioner(), InputError);
  CHECK_THROWS_AS(system.in_place().written(), InputError);
}

TEST_BOTH("a matrix that was canonical already keeps its slots where others would be sorted", "[system]") {
  const Rows a = laplacian(12), changed = stiffer_laplacian(12);
  const Arrays<double, S> old_values(ctx, a), new_values(ctx, changed);
  const auto b = changed.rhs_for(noise(a.size()));
  SystemOptions options = system_options("auto", "jacobi", "csr");
  options.canonicalise = true;
  LinearSystem<double, S> written(ctx, old_values.view(), options), refreshed(ctx, old_values.view(), options);
  write(ctx, written.in_place().matrix(), to_vector(ctx, new_values.val.cspan()));
  written.in_place().written(RefreshScope::operator_only);
  refreshed.refresh(new_values.val.span(), RefreshScope::operator_only);
  CHECK(solve_with(ctx, written, b) == solve_with(ctx, refreshed, b));
}
