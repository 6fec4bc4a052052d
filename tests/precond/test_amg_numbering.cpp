// SPDX-License-Identifier: Apache-2.0
// AMG for unknowns numbered x x ... y y ... z z ...: the hierarchy of x y z x y z ..., and what shows the numbering.

#include "precond/amg/setup/node_numbering.hpp"

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

// Row i of what numbers component by component is row nodes_of(n, d)[i] of what numbers node by node.
std::vector<Index> nodes_of(Index rows, int components) {
  std::vector<Index> old_of_new;
  for (int c = 0; c < components; ++c) {
    for (Index i = c; i < rows; i += components) old_of_new.push_back(i);
  }
  return old_of_new;
}

template <class Values>
Values renumbered(const Values& x, const std::vector<Index>& old_of_new) {
  Values result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = x[old_of_new[i]];
  return result;
}

double largest_difference(const std::vector<double>& x, const std::vector<double>& y) {
  REQUIRE(x.size() == y.size());
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

// Every seventh row, whatever its component, coupled with nothing: as where some unknowns of a node are held.
HostCsr with_held_rows(const HostCsr& a) {
  const auto held = [](Index i) { return i % 7 == 3; };
  MapRows rows(a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i || (!held(i) && !held(a.col[k]))) rows[i][a.col[k]] = a.val[k];
    }
  }
  return from_rows(a.cols, rows);
}

template <Space S>
void check_same_hierarchy(const Context<S>& ctx, const AmgOperator<double, S>& one,
                          const AmgOperator<double, S>& two) {
  const auto &these = one.hierarchy().levels(), &those = two.hierarchy().levels();
  REQUIRE(these.size() == those.size());
  REQUIRE(these.size() >= 2);
  for (std::size_t l = 0; l < these.size(); ++l) {
    CHECK(on_host(ctx, these[l].aggregates.of_node) == on_host(ctx, those[l].aggregates.of_node));
    CHECK(eigen_dense(ctx, these[l].a) == eigen_dense(ctx, those[l].a));
    CHECK(eigen_dense(ctx, these[l].p) == eigen_dense(ctx, those[l].p));
    CHECK(these[l].smoother == those[l].smoother);
    CHECK(these[l].lambda == those[l].lambda);
  }
}

// Nodes of a square lattice, held at its first row, with springs along its lines and diagonals. Those along lines act
// in one direction: zeros are not stored.
HostCsr lattice_of_springs(Index n) {
  MapRows rows(static_cast<std::size_t>(2 * n * n));
  const auto add = [&](Index row, Index column, double value) {
    if (value != 0) rows[static_cast<std::size_t>(row)][column] += value;
  };
  const auto spring = [&](Index i, Index j, Index across, Index up) {
    const Index other_i = i + across, other_j = j + up;
    if (other_i < 0 || other_i >= n || other_j >= n) return;
    const Index here = j * n + i, there = other_j * n + other_i;
    const double direction[] = {static_cast<double>(across), static_cast<double>(up)};
    for (Index c = 0; c < 2; ++c) {
      for (Index d = 0; d < 2; ++d) {
        const double stiffness = direction[c] * direction[d] / (across * across + up * up);
        add(2 * here + c, 2 * here + d, stiffness);
        add(2 * there + c, 2 * there + d, stiffness);
        add(2 * here + c, 2 * there + d, -stiffness);
        add(2 * there + c, 2 * here + d, -stiffness);
      }
    }
  };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      for (const Index across : {-1, 0, 1}) spring(i, j, across, 1);
      spring(i, j, 1, 0);
    }
  }
  for (Index row = 0; row < 2 * n; ++row) add(row, row, 1);
  return from_rows(2 * n * n, rows);
}

// Two chains, of the even and of the odd rows, of which the later 60 % are tied to each other. Rows of the others sum
// to zero and know of one chain only.
HostCsr half_tied_chains(Index n) {
  MapRows rows(static_cast<std::size_t>(n));
  const auto tie = [&](Index i, Index j) {
    for (const Index k : {i, j}) rows[static_cast<std::size_t>(k)][k] += 1;
    rows[static_cast<std::size_t>(i)][j] = rows[static_cast<std::size_t>(j)][i] = -1;
  };
  for (Index i = 0; i + 2 < n; ++i) tie(i, i + 2);
  for (Index i = 2 * n / 5; i + 1 < n; ++i) tie(i, i + 1);
  rows[0][0] += 1;
  return from_rows(n, rows);
}

bool says_components(const OperatorInfo& info) { return contains(info.detail, "component by component"); }

template <Space S>
detail::NodeNumbering numbering_of(const Context<S>& ctx, const HostCsr& a, int node_rows = 0,
                                   AmgNumbering asked = AmgNumbering::automatic) {
  const auto there = upload_matrix<double>(ctx, a);
  const CsrView<double, S> view = there.wide();
  if constexpr (S == Space::host) {
    return detail::find_numbering(ctx, Pattern<S>(view), RowOrder<S>{}, asked, node_rows);
  } else {
    return detail::find_numbering(ctx, Pattern<S>(view), asked, node_rows);
  }
}

}  // namespace

TEST_BOTH("AMG's hierarchy does not depend on whether nodes are numbered component by component", "[amg]") {
  MeshSystem system("generate:elasticity:6");
  PrecondOptions given = small_levels(40);
  NearNullVectors vectors{4, random_vector<double>(4 * static_cast<std::int64_t>(system.a.rows))};
  given.of<AmgOptions>().vectors = std::make_shared<const NearNullVectors>(vectors);
  const std::vector<Index> old_of_new = nodes_of(system.a.rows, 3), mixed = random_order(system.a.rows, 5);
  PrecondOptions given_by_component = given;
  for (Index i = 0; i < system.a.rows; ++i) {
    for (int v = 0; v < 4; ++v)
      vectors.values[4 * i + v] = given.of<AmgOptions>().vectors->values[4 * old_of_new[i] + v];
  }
  given_by_component.of<AmgOptions>().vectors = std::make_shared<const NearNullVectors>(vectors);
  const auto x = random_vector<double>(system.a.rows);
  for (const bool held : {false, true}) {
    if (held) system.a = with_held_rows(system.a);
    const HostCsr by_component = renumbered(system.a, inverse_of(old_of_new));
    for (const bool with_vectors : {false, true}) {
      // What rows that are held leave no pattern shows nothing without the coordinates.
      for (const auto& coordinates : {system.coordinates, std::shared_ptr<NodeCoordinates>()}) {
        if (held && coordinates == nullptr) continue;
        for (const std::vector<Index>& solver_order : {std::vector<Index>(), mixed}) {
          INFO(held << ' ' << with_vectors << ' ' << (coordinates != nullptr) << ' ' << solver_order.size());
          const PrecondOptions& options = with_vectors ? given : small_levels(40);
          const auto expected = amg<double, S>(ctx, system.a, options, coordinates);
          const auto found = amg<double, S>(ctx, by_component, with_vectors ? given_by_component : options,
                                            coordinates, solver_order);
          CHECK_FALSE(says_components(expected.info()));
          CHECK(says_components(found.info()));
          check_same_hierarchy(ctx, expected, found);
          auto of_solver = renumbered(x, old_of_new);
          auto y = renumbered(applied(ctx, expected, x), old_of_new);
          if (!solver_order.empty()) {
            of_solver = renumbered(of_solver, solver_order);
            y = renumbered(y, solver_order);
          }
          CHECK(largest_difference(applied(ctx, found, of_solver), y) < 1e-12 * norm_oracle(y));
        }
      }
    }
  }
}

TEST_BOTH("AMG of nodes numbered component by component takes new values, another order, and FSAI", "[amg]") {
  const MeshSystem system("generate:elasticity:6");
  const std::vector<Index> old_of_new = nodes_of(system.a.rows, 3), order = random_order(system.a.rows, 9);
  HostCsr changed = system.a;  // D A D, definite
  const auto scale = [](Index i) { return 1 + 0.1 * std::sin(static_cast<double>(i)); };
  for (Index i = 0; i < changed.rows; ++i) {
    for (Offset k = changed.row_ptr[i]; k < changed.row_ptr[i + 1]; ++k) {
      changed.val[k] *= scale(i) * scale(changed.col[k]);
    }
  }
  const HostCsr by_component = renumbered(system.a, inverse_of(old_of_new));
  for (const AmgSmoother smoother : {AmgSmoother::chebyshev, AmgSmoother::fsai}) {
    INFO(detail::name_of(smoother));
    PrecondOptions options = small_levels(40);
    options.symmetric = true;
    options.of<AmgOptions>().smoother = smoother;
    options.of<AmgOptions>().refresh = AmgRefresh::full;
    auto expected = amg<double, S>(ctx, system.a, options, system.coordinates);
    auto found = amg<double, S>(ctx, by_component, options, system.coordinates);
    const auto values = upload(ctx, changed.val),
               theirs = upload(ctx, renumbered(changed, inverse_of(old_of_new)).val);
    expected.refresh(ctx, values.cspan());
    found.refresh(ctx, theirs.cspan());
    check_same_hierarchy(ctx, expected, found);
    const auto x = random_vector<double>(system.a.rows);
    const auto y = renumbered(applied(ctx, expected, x), old_of_new);
    // FSAI's triangle is that of the caller's numbering, so M is another one.
    if (smoother == AmgSmoother::fsai)
      CHECK(largest_difference(applied(ctx, found, renumbered(x, old_of_new)), y) > 0);
    const double near = smoother == AmgSmoother::fsai ? 0.2 : 1e-12;
    CHECK(largest_difference(applied(ctx, found, renumbered(x, old_of_new)), y) < near * norm_oracle(y));
    const auto before = renumbered(applied(ctx, found, renumbered(x, old_of_new)), order);
    const RowOrder<S> new_order = make_row_order(ctx, order);
    const auto moved = found.renumbered(ctx, new_order, SpmvOptions{});
    REQUIRE(moved != nullptr);
    const auto after = applied(ctx, *moved, renumbered(renumbered(x, old_of_new), order));
    CHECK(largest_difference(after, before) < 1e-12 * norm_oracle(before));
  }
}

TEST_BOTH("The numbering of nodes is what the pattern shows, unless it is said", "[amg]") {
  const HostCsr elasticity = fem_matrix("generate:elasticity:5"), scalar = fem_matrix("generate:diffusion:6");
  const auto is = [](const detail::NodeNumbering& found, int node_rows, Index nodes) {
    INFO(found.node_rows << ' ' << found.nodes);
    return found.node_rows == node_rows && found.nodes == nodes;
  };
  const HostCsr by_component = renumbered(elasticity, inverse_of(nodes_of(elasticity.rows, 3)));
  const Index nodes = elasticity.rows / 3;
  CHECK(is(numbering_of(ctx, elasticity), 3, 0));
  CHECK(is(numbering_of(ctx, elasticity, 3), 3, 0));
  CHECK(is(numbering_of(ctx, by_component), 3, nodes));
  CHECK(is(numbering_of(ctx, by_component, 3), 3, nodes));
  CHECK(is(numbering_of(ctx, by_component, 3, AmgNumbering::by_node), 3, 0));
  CHECK(is(numbering_of(ctx, by_component, 0, AmgNumbering::by_node), 1, 0));
  CHECK(is(numbering_of(ctx, elasticity, 3, AmgNumbering::by_component), 3, nodes));
  CHECK(is(numbering_of(ctx, scalar), 1, 0));
  CHECK(is(numbering_of(ctx, scalar, 1), 1, 0));
  CHECK(is(numbering_of(ctx, scalar, 1, AmgNumbering::by_component), 1, 0));
  CHECK(is(numbering_of(ctx, tridiagonal_matrix(12)), 1, 0));
  CHECK(is(numbering_of(ctx, tridiagonal_matrix(14), 7), 7, 0));
  // Rows that are held leave blocks of neither numbering whole.
  CHECK(is(numbering_of(ctx, with_held_rows(elasticity), 3), 3, 0));
  CHECK(is(numbering_of(ctx, with_held_rows(by_component), 3), 3, nodes));
  CHECK(is(numbering_of(ctx, with_held_rows(by_component)), 1, 0));
  CHECK_THROWS_AS(numbering_of(ctx, scalar, 0, AmgNumbering::by_component), InputError);
}

TEST_BOTH("AMG names the caller's row without a diagonal, however nodes are numbered", "[amg]") {
  const MeshSystem system("generate:elasticity:5");
  HostCsr a = renumbered(system.a, inverse_of(nodes_of(system.a.rows, 3)));
  const Index nodes = a.rows / 3, last = a.rows - 1, first = nodes + 7;  // node 7's second component
  for (const Index row : {first, last}) {
    for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      if (a.col[k] == row) a.val[k] = 0;
    }
  }
  try {
    amg<double, S>(ctx, a, small_levels(40), system.coordinates);
    FAIL("a zero on the diagonal was taken");
  } catch (const ZeroDiagonal& error) {
    CHECK(error.row() == first);
    CHECK(error.count() == 2);
    CHECK(error.value() == 0);
  }
}

TEST_ON_HOST("AMG takes the nodes of displacements from values where zeros are left out", "[amg]") {
  const HostCsr a = lattice_of_springs(24);
  CHECK(numbering_of(ctx, a).node_rows == 1);  // the pattern shows none
  PrecondOptions given = small_levels(40);
  given.of<AmgOptions>().node_rows = 2;
  const auto expected = amg<double, Space::host>(ctx, a, given);
  const auto found = amg<double, Space::host>(ctx, a, small_levels(40));
  CHECK(contains(found.info().detail, "one for each unknown of a node"));
  check_same_hierarchy(ctx, expected, found);
  // In any order of the rows.
  const std::vector<Index> mixed = random_order(a.rows, 5);
  const auto in_order = amg<double, Space::host>(ctx, a, small_levels(40), {}, mixed);
  const auto x = random_vector<double>(a.rows);
  const auto y = renumbered(applied(ctx, expected, x), mixed);
  CHECK(largest_difference(applied(ctx, in_order, renumbered(x, mixed)), y) < 1e-12 * norm_oracle(y));
  // One unknown a node: neither what the caller says nor a matrix that shows no displacements.
  given.of<AmgOptions>().node_rows = 1;
  for (const HostCsr& scalar :
       {tridiagonal_matrix(1152), HostCsr(fem_matrix("generate:diffusion:7")), half_tied_chains(1200)}) {
    CHECK_FALSE(contains(amg<double, Space::host>(ctx, scalar, small_levels(40)).info().detail, "of a node"));
  }
  CHECK_FALSE(contains(amg<double, Space::host>(ctx, a, given).info().detail, "of a node"));
}
