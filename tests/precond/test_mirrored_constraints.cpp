// SPDX-License-Identifier: Apache-2.0
// Which rows without a diagonal look like the constraints of a saddle point.
#include "tests/catch.hpp"
#include "tests/solver/systems.hpp"

#include "precond/mirrored_constraints.hpp"

namespace {

// Unknowns 0 to 5 with a diagonal, and constraints 6 and 7 of three of them each.
Rows saddle_point() {
  Rows a(8);
  for (Index i = 0; i < 6; ++i) a.at(i, i) = 2;
  for (Index k = 0; k < 6; ++k) a.at(6 + k / 3, k) = 1 + k, a.at(k, 6 + k / 3) = -1;
  return a;
}

template <Space S>
bool mirrored(const Context<S>& ctx, const Rows& a) {
  const Arrays<double, S> arrays(ctx, a);
  return detail::constraints_are_mirrored<double, S>(ctx, arrays.view());
}

}  // namespace

TEST_BOTH("Constraints of a saddle point are mirrored, also beside fixed unknowns, and those of a circuit are not",
          "[precond][saddle]") {
  Rows a = saddle_point();
  CHECK(mirrored(ctx, a));
  a.row[0].erase(6);  // a fixed unknown: its row has the diagonal alone
  a.row[3].erase(7);
  CHECK(mirrored(ctx, a));  // 8 of 10 entries
  for (const Index k : {1, 2, 4}) a.row[static_cast<std::size_t>(k)].erase(6 + k / 3);
  CHECK_FALSE(mirrored(ctx, a));  // 2 of 7 entries
  a.at(1, 6) = 0;                 // stored, and none
  CHECK_FALSE(mirrored(ctx, a));
}

TEST_CASE("Constraints stand apart from each other, and rows of an indefinite operator do not", "[precond][saddle]") {
  const Context<Space::host> ctx;
  Rows constrained(8);
  for (Index i = 0; i < 6; ++i) constrained.at(i, i) = 2;
  for (Index k = 0; k < 6; ++k) constrained.at(6 + k / 3, k) = constrained.at(k, 6 + k / 3) = -1;
  constrained.at(6, 6) = -0.1;
  const Arrays<double, Space::host> apart(ctx, constrained);
  CHECK(detail::constraints_stand_apart(apart.view()));
  Rows indefinite = line(10);
  for (Index i = 5; i < 10; ++i) indefinite.at(i, i) = -2;
  const Arrays<double, Space::host> together(ctx, indefinite);
  CHECK_FALSE(detail::constraints_stand_apart(together.view()));
}
