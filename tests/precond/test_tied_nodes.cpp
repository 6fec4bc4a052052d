// SPDX-License-Identifier: Apache-2.0
// Nodes that flat elements tie to each other: FSAI's pattern around them, and FSAI on it.
#include <newel/core/machine.hpp>
#include <newel/precond/registry.hpp>
#include "precond/amg/setup/tied_nodes.hpp"
#include "precond/amg/smooth/amg_smoother.hpp"
#include "precond/amg/smooth/smoothing_look.hpp"
#include "precond/build_cost.hpp"

#include "tests/precond/smoother_support.hpp"

namespace {

using Pairs = std::vector<std::pair<Index, Index>>;

// The 5-point Laplacian on side x side points; `pairs` are joined by stiff springs, `others` by some of 4.
HostCsr grid_with_springs(Index side, const Pairs& pairs, const Pairs& others = {}) {
  MapRows rows(side * side);
  const auto join = [&](Index i, Index j, double stiffness) {
    rows[i][i] += stiffness, rows[j][j] += stiffness;
    rows[i][j] -= stiffness, rows[j][i] -= stiffness;
  };
  for (Index i = 0; i < side * side; ++i) {
    rows[i][i] += i % side == 0 ? 1 : 0;
    if (i % side + 1 < side) join(i, i + 1, 1);
    if (i + side < side * side) join(i, i + side, 1);
  }
  for (const auto& [i, j] : pairs) join(i, j, 1000);
  for (const auto& [i, j] : others) join(i, j, 4);
  return from_rows(side * side, rows);
}

// Pairs on a grid of 20 x 20 points, from its row 14 on, no two of which are neighbours.
Pairs pairs_apart(Index count) {
  Pairs pairs;
  for (Index k = 0; k < count; ++k) {
    const Index first = 20 * (14 + k / 6 * 2) + 3 * (k % 6);
    pairs.emplace_back(first, first + 1);
  }
  return pairs;
}

// The pattern by its definition, of nodes with `block` unknowns; empty where there is none.
template <Space S>
RowSets tied_oracle(const HostCsr& a, int block, std::vector<double> couplings = {}) {
  if (couplings.empty()) couplings = block == 1 ? std::vector<double>{0.45, 0.5} : std::vector<double>{0.5};
  const Index nodes = a.rows / block;
  std::vector<std::map<Index, double>> square(static_cast<std::size_t>(nodes));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
      square[i / block][a.col[k] / block] += a.val[k] * a.val[k];
  }
  std::set<Index> tied, members;
  for (const double least : couplings) {
    tied.clear();
    for (Index i = 0; i < nodes; ++i) {
      double sum = 0;
      for (const auto& [j, value] : square[i]) sum += j == i ? 0 : value / std::sqrt(square[i][i] * square[j][j]);
      if (sum >= least) tied.insert(i);
    }
    if (20 * static_cast<Index>(tied.size()) <= nodes) break;
  }
  if (tied.empty() || 20 * static_cast<Index>(tied.size()) > nodes) return {};
  for (const Index i : tied) {
    for (const auto& [j, value] : square[i]) {
      if (value > 0) members.insert(j);
    }
  }
  const std::size_t most = detail::reached_rows(a.rows, static_cast<Index>(members.size())) / block;
  RowSets rows(static_cast<std::size_t>(nodes));
  for (Index i = 0; i < nodes; ++i) {
    rows[i].insert(i);
    for (const auto& [j, value] : square[i]) {
      if (!detail::groups_alone<S>) rows[i].insert(j);
    }
  }
  for (const Index i : members) {
    // The sums of paths over found nodes, of members that are met and not found.
    std::map<Index, float> paths = {{i, 1}};
    std::set<Index> found, met = {i};
    while (!paths.empty() && found.size() < most) {
      const auto nearest = std::max_element(paths.begin(), paths.end(), [](const auto& one, const auto& other) {
        return one.second < other.second;  // the first of equal ones
      });
      const auto [from, before] = *nearest;
      paths.erase(nearest);
      found.insert(from);
      for (const auto& [j, value] : square[from]) {
        if (value == 0 || members.count(j) == 0 || found.count(j) != 0) continue;
        if (met.count(j) == 0 && static_cast<int>(met.size()) == detail::most_met(static_cast<Index>(most))) continue;
        met.insert(j);
        const float tie = detail::tie_of(value, std::sqrt(square[from][from]) * std::sqrt(square[j][j]));
        paths[j] = static_cast<float>(paths[j] + static_cast<double>(before) * tie);
      }
    }
    rows[i].insert(found.begin(), found.end());
    for (const Index j : found) rows[j].insert(i);
  }
  return rows;
}

template <Space S>
RowSets tied_rows(const Context<S>& ctx, const HostCsr& a, int block) {
  const auto found = detail::tied_pattern(ctx, in_space(ctx, blocks_of(Context<host>(), a, block)));
  if (!found) return {};
  const std::vector<Offset> row_ptr = download(ctx, found->row_ptr);
  const std::vector<Index> col = download(ctx, found->col);
  REQUIRE(static_cast<Index>(row_ptr.size()) == found->rows + 1);
  RowSets rows;
  for (Index i = 0; i < found->rows; ++i) {
    for (Offset k = row_ptr[i] + 1; k < row_ptr[i + 1]; ++k) REQUIRE(col[k - 1] < col[k]);
    rows.emplace_back(col.begin() + row_ptr[i], col.begin() + row_ptr[i + 1]);
  }
  return rows;
}

// Pairs side by side, in rows `from` and `from` + 1 of the grid.
std::vector<std::pair<Index, Index>> pairs_in_line(Index side, Index from, Index count) {
  std::vector<std::pair<Index, Index>> pairs;
  for (Index column = 1; column <= count; ++column) {
    pairs.emplace_back(side * from + column, side * (from + 1) + column);
  }
  return pairs;
}

}  // namespace

TEST_BOTH("AMG's FSAI sees tied nodes with their neighbours, and elsewhere less", "[amg]") {
  CHECK(tied_rows(ctx, grid_with_springs(20, {}), 1).empty());
  CHECK(tied_rows(ctx, fem_matrix("generate:diffusion:9"), 1).empty());
  // 20 * 9 + 9 and its neighbour above, which a spring ties: 8 nodes with those around them.
  const HostCsr a = grid_with_springs(20, {{189, 209}});
  const std::set<Index> group = {169, 188, 189, 190, 208, 209, 210, 229};
  RowSets expected(400);  // on the host a node alone, on a device the pattern of A
  for (Index i = 0; i < 400; ++i) expected[i] = S == host ? std::set<Index>{i} : row_sets(a)[i];
  for (const Index i : group) expected[i].insert(group.begin(), group.end());
  CHECK(tied_rows(ctx, a, 1) == expected);
  // Three unknowns a node: the same groups.
  CHECK(tied_rows(ctx, kron_identity(a, 3), 3) == expected);
  // Springs of 4 tie single rows by 0.48: few of them make groups, many are passed over for those of 0.5 and more.
  const HostCsr few = grid_with_springs(20, {}, pairs_apart(3));
  CHECK(tied_rows(ctx, few, 1)[280].size() >= 6);
  CHECK(tied_rows(ctx, kron_identity(few, 3), 3).empty());
  const HostCsr many = grid_with_springs(20, {{189, 209}}, pairs_apart(18));
  const RowSets found = tied_rows(ctx, many, 1);
  CHECK(found == tied_oracle<S>(many, 1));
  REQUIRE_FALSE(found.empty());
  CHECK(found[189] == group);
  CHECK(found[280].size() == (S == host ? 1 : 4));
  // Springs at every second node are no single elements.
  std::vector<std::pair<Index, Index>> everywhere;
  for (Index i = 0; i + 1 < 400; i += 2) everywhere.emplace_back(i, i + 1);
  CHECK(tied_rows(ctx, grid_with_springs(20, everywhere), 1).empty());
}

TEST_BOTH("AMG's FSAI sees no more of a large group than what is nearest", "[amg]") {
  CHECK(detail::reached_rows(64 * 64, 4 * 59 + 4) == 63);
  CHECK(detail::reached_rows(64 * 64, 1000) == 48);
  CHECK(detail::reached_rows(1000000, 6000) == 135);
  CHECK(detail::reached_rows(1000000, 10) == 256);
  CHECK(detail::reached_rows(3 * 64 * 64, 4 * 59 + 4) == 91);  // the rows of a node share a local problem
  const HostCsr line = grid_with_springs(64, pairs_in_line(64, 20, 59));
  for (const int block : {1, 2, 3}) {
    INFO(block);
    const HostCsr a = kron_identity(line, block);
    const RowSets found = tied_rows(ctx, a, block);
    CHECK(found == tied_oracle<S>(a, block));
    // Nodes around the middle, or of which it is around theirs: none is farther from it than 6 columns, or outside of
    // the pairs and what touches them.
    if (block != 3) continue;
    for (const Index j : found[64 * 20 + 30]) {
      CHECK(std::abs(j % 64 - 30) <= 6);
      CHECK((j / 64 >= 19 && j / 64 <= 22));
    }
  }
  // A hundred rows and more of a group.
  const HostCsr large = grid_with_springs(122, pairs_in_line(122, 20, 36));
  CHECK(tied_rows(ctx, large, 1) == tied_oracle<S>(large, 1));
  // A node with 700 neighbours, all of the group: more than are looked at.
  CHECK(detail::most_met(85) == 512);
  CHECK(detail::most_met(86) == 1024);
  Pairs spokes;
  for (Index k = 0; k < 700; ++k) spokes.emplace_back(801, 2 * k + (2 * k < 801 ? 0 : 1));
  const HostCsr star = grid_with_springs(40, {}, spokes);
  REQUIRE(detail::reached_rows(1600, 701) == 48);
  CHECK(tied_rows(ctx, star, 1) == tied_oracle<S>(star, 1));
  CHECK(tied_rows(ctx, star, 1)[801].size() > 48);
  // Pairs anywhere, and zeros that are stored between them, which couple nothing.
  Random random(17);
  std::vector<std::pair<Index, Index>> pairs;
  for (int k = 0; k < 20; ++k) pairs.emplace_back(random.index(1600), random.index(1600));
  HostCsr anywhere = grid_with_springs(40, pairs);
  MapRows rows(anywhere.rows);
  for (Index i = 0; i < anywhere.rows; ++i) {
    for (Offset k = anywhere.row_ptr[i]; k < anywhere.row_ptr[i + 1]; ++k) rows[i][anywhere.col[k]] = anywhere.val[k];
  }
  for (const auto& [i, j] : pairs) {
    const Index k = pairs.front().first;
    rows[i][k] += 0, rows[k][i] += 0;
    rows[j][k] += 0, rows[k][j] += 0;
  }
  anywhere = from_rows(anywhere.rows, rows);
  CHECK_FALSE(tied_rows(ctx, anywhere, 1).empty());
  CHECK(tied_rows(ctx, anywhere, 1) == tied_oracle<S>(anywhere, 1));
}

TEST_CASE("A tie is a block beside the diagonal ones around it, a path the product of ties", "[amg]") {
  CHECK(detail::tie_of(0.25, 4) == 0.25f);
  CHECK(detail::tie_of(8, 4) == 1);
  CHECK(detail::tie_of(8, 0) == 1);
  CHECK(detail::tie_of(1e-30, 4) == 1.0f / (1 << 20));
  CHECK(detail::tie_of(1 + 1e-13, 9) == detail::tie_of(1 - 1e-13, 9));
  CHECK(detail::tie_of(1, 9) == Approx(1.0 / 3).epsilon(1e-4));
  CHECK(detail::with_paths_over(0.5f, 0.25f, 0.5f) == 0.625f);
  CHECK(detail::with_paths_over(1e30f, 1e30f, 1) == 1e30f);
}

TEST_BOTH("AMG's FSAI sees more of a chain of strong ties than of what touches it", "[amg]") {
  // 60 nodes in a line, and 122 around them, of which rows see 69.
  const Index side = 64, first = 20 * side + 2, length = 60;
  REQUIRE(detail::reached_rows(side * side, 3 * length + 2) == 69);
  std::vector<std::pair<Index, Index>> links;
  for (Index i = first; i + 1 < first + length; ++i) links.emplace_back(i, i + 1);
  const HostCsr a = grid_with_springs(side, links);
  const RowSets found = tied_rows(ctx, a, 1);
  CHECK(found == tied_oracle<S>(a, 1));
  REQUIRE_FALSE(found.empty());
  const std::set<Index>& middle = found[first + length / 2];
  const auto seen = [&](Index row) {
    return std::distance(middle.lower_bound(side * row), middle.lower_bound(side * (row + 1)));
  };
  CHECK(seen(20) > seen(19));
  CHECK(seen(20) > seen(21));
  CHECK(seen(19) > 0);
}

TEST_BOTH("FSAI smooths on the pattern that tied nodes get, in any order of the solver", "[amg]") {
  const HostCsr grid = grid_with_springs(10, {{34, 44}, {44, 45}});
  for (const int block : {1, 2}) {
    const HostCsr a = kron_identity(grid, block);
    const RowSets nodes = tied_oracle<S>(a, block, {0.45});  // to AMG each row is a node
    REQUIRE_FALSE(nodes.empty());
    for (const std::vector<Index>& old_of_new : {std::vector<Index>(), random_order(a.rows, 3)}) {
      EigenDense matrix = eigen_dense(a);
      RowSets rows(static_cast<std::size_t>(a.rows));
      std::vector<Index> old = old_of_new;
      for (Index i = 0; old_of_new.empty() && i < a.rows; ++i) old.push_back(i);
      for (Index i = 0; i < a.rows; ++i) {
        for (Index j = 0; j < a.rows; ++j) {
          if (nodes[old[i] / block].count(old[j] / block) != 0) rows[i].insert(j);
        }
      }
      const EigenDense s = fsai_oracle(EigenDense(matrix(old, old)), rows);
      const EigenDense step = smoother_alone(ctx, a, AmgSmoother::fsai, 1, old_of_new);
      INFO(block << (old_of_new.empty() ? ", natural" : ", renumbered"));
      CHECK(largest(step * (s(0, 0) / step(0, 0)) - s) < 1e-9 * largest(s));
      // On the host of the degree that is asked for, as with a diagonal.
      if (S != host) continue;
      const double lambda = 4 * s(0, 0) / (3 * step(0, 0));
      const EigenDense two_steps = smoother_alone(ctx, a, AmgSmoother::fsai, 2, old_of_new);
      const EigenDense expected = smoother_oracle(matrix(old, old), s, lambda, AmgSmoother::fsai, 2);
      CHECK(largest(two_steps - expected) < 1e-9 * largest(expected));
    }
  }
}

TEST_BOTH("FSAI on the pattern of tied nodes stores no padding, whatever the format of the matrix", "[amg]") {
  const HostCsr grid = grid_with_springs(10, {{34, 44}, {44, 45}});
  const RowSets rows = tied_oracle<S>(grid, 1);
  std::size_t entries = 0;  // of both triangles, the diagonal twice
  for (const std::set<Index>& row : rows) entries += row.size() + 1;
  const auto level = in_space(ctx, blocks_of(Context<host>(), grid, 1));
  const auto a = make_matrix<double>(ctx, grid);
  SpmvOptions format;
  format.format = "ehyb";
  RowOrder<S> natural;
  const auto smoother = detail::make_sparse_smoother<double, S>(ctx, CsrView<double, S>(a), natural, level, natural,
                                                                AmgSmoother::fsai, true, format);
  CHECK(smoother.of_groups == (S == host));
  CHECK(smoother.m->info().stored_slots == static_cast<Offset>(entries));
  const RowOrder<S> order = make_row_order(ctx, random_order(grid.rows, 5));
  const auto m = smoother.m->renumbered(ctx, order, format);
  REQUIRE(m != nullptr);
  CHECK(m->info().stored_slots == static_cast<Offset>(entries));
}

TEST_BOTH("AMG tells what FSAI's local problems cost in a refresh", "[amg]") {
  const PrecondMethod& method = find_preconditioner("amg");
  const auto more_seconds = [&](const HostCsr& a, int threads) {
    PrecondOptions options = smoother_options(AmgSmoother::fsai);
    options.of<AmgOptions>().max_coarse = 400;  // the second level is inverted
    const OperatorInfo info = amg<double, S>(ctx, a, options).info();
    PrecondQuestion question{options, machine_of(host_context(ctx))};
    question.made = &info;
    question.host_threads = threads;
    return method.cost(question).more_refresh_seconds * threads;
  };
  const HostCsr grid = grid_with_springs(40, {{34, 74}, {74, 75}});
  const RowSets rows = tied_oracle<S>(grid, 1);
  const auto lower = [&](Index i) { return std::set<Index>(rows[i].begin(), rows[i].upper_bound(i)); };
  double operations =
      0;  // m^3 / 3 for the m entries of a row on and below the diagonal; the next may begin with them
  for (Index i = 0; i < grid.rows; ++i) {
    std::set<Index> extended = lower(i);
    extended.insert(i + 1);
    const bool shares = i + 1 < grid.rows && (i + 1) % 12 != 0 && lower(i + 1) == extended;
    if (!shares) operations += std::pow(lower(i).size(), 3) / 3;
  }
  CHECK(more_seconds(grid, 1) == Approx(1.4e-10 * operations));
  CHECK(more_seconds(grid, 4) == Approx(more_seconds(grid, 1)));
  const OperatorInfo plain =
      amg<double, S>(ctx, grid_with_springs(40, {}), smoother_options(AmgSmoother::chebyshev)).info();
  const PrecondOptions options;
  PrecondQuestion question{options, machine_of(ctx)};
  question.made = &plain;
  CHECK(method.cost(question).more_refresh_seconds == 0);
}

TEST_BOTH("A look at the values tells how AMG will smooth its first level, and what that costs", "[amg]") {
  const auto look = [&](const HostCsr& a, int node_rows) {
    const auto there = upload_matrix<double>(ctx, a);
    return detail::expected_smoothing(ctx, there.wide(), node_rows);
  };
  // As entries of flat elements are: positive, nearly as large as the diagonal.
  const auto entangled = [](HostCsr a) {
    for (Offset k = a.row_ptr[5]; k < a.row_ptr[6]; ++k) {
      if (a.col[k] == 4) a.val[k] *= -4;
    }
    return a;
  };
  const HostCsr plain = grid_with_springs(40, {});
  const HostCsr tied = grid_with_springs(40, {{834, 874}, {874, 875}});
  CHECK_FALSE(look(plain, 1).fsai);
  CHECK_FALSE(look(tied, 1).fsai);
  CHECK(look(entangled(plain), 1).fsai);
  // 5,000 operations a row where few nodes are in groups, none where groups have no pattern of their own.
  CHECK(look(entangled(tied), 1).operations == Approx(5000 * 1600).epsilon(0.05));
  const detail::SparseSmoothing in_nodes = look(kron_identity(entangled(tied), 3), 3);
  CHECK(in_nodes.fsai);
  CHECK(in_nodes.operations == Approx(5000 * 4800).epsilon(0.05));
  // Elements of higher order entangle many nodes, for which a host's trial shows that a diagonal suffices.
  HostCsr of_many = plain;
  for (Index i = 2; i < of_many.rows; i += 10) {
    for (Offset k = of_many.row_ptr[i]; k < of_many.row_ptr[i + 1]; ++k) {
      if (of_many.col[k] == i - 1) of_many.val[k] *= -4;
    }
  }
  CHECK(look(of_many, 1).fsai == (S == Space::device));
  std::vector<std::pair<Index, Index>> everywhere;
  for (Index i = 0; i + 1 < 400; i += 2) everywhere.emplace_back(i, i + 1);
  // Where 0.45 ties many, groups are those of 0.5: here of two pairs of nodes, with those around them.
  const HostCsr mixed = entangled(grid_with_springs(20, {{189, 209}}, pairs_apart(18)));
  CHECK(look(mixed, 1).operations == Approx(detail::operations_in_groups(400, 12)));
  const detail::SparseSmoothing many = look(entangled(grid_with_springs(20, everywhere)), 1);
  CHECK(many.fsai);
  CHECK(many.operations == 0);

  const auto price = [&](const HostCsr& a) {
    const auto there = upload_matrix<double>(ctx, a);
    const KnownValues values{there.wide(), 1};
    PrecondOptions options;
    options.symmetric = true;
    return detail::build_seconds(ctx, Pattern<S>(there.wide()), find_preconditioner("amg"), options, nullptr, &values,
                                 a.nnz());
  };
  const PrecondSeconds without = price(tied), with = price(entangled(tied));
  const double operations = look(entangled(tied), 1).operations, threads = host_context(ctx).threads();
  const double local_problems = S == host ? 2e-10 / threads * operations : 2e-3 + 3.5e-12 * operations;
  const double start_ratio = machine_of(ctx).start_ratio;
  CHECK(with.build - without.build == Approx(local_problems * start_ratio));
  CHECK(with.refresh > without.refresh);
  CHECK(without.iteration_share == 1);
  CHECK((S == host) == (with.iteration_share > 1));
}
