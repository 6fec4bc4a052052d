// SPDX-License-Identifier: Apache-2.0
// Block Jacobi: z_B = A_BB^-1 r_B by elimination in long double, blocks that the pattern shows, singular blocks, and
// refreshes through permutations.
#include "tests/catch.hpp"
#include "tests/precond/applied.hpp"

#include <newel/precond/block_jacobi/block_jacobi_options.hpp>
#include <newel/precond/registry.hpp>
#include <newel/solver/cg.hpp>
#include <newel/spmv/registry.hpp>

namespace {

PrecondOptions blocks_of(int rows) {
  PrecondOptions options{"block-jacobi"};
  options.of<BlockJacobiOptions>().rows = rows;
  return options;
}

template <class T, Space S>
OperatorPtr<T, S> block_jacobi(const Context<S>& ctx, const CsrView<T, S>& a, int rows = 0,
                               const RowOrder<S>& order = {}) {
  return make_precond<T, S>(ctx, a, order, blocks_of(rows), SpmvOptions{});
}

double entry_of(const HostCsr& a, Index i, Index j) {
  for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
    if (a.col[k] == j) return a.val[k];
  }
  return 0;
}

// A_BB z = r for rows begin .. begin + n - 1, by elimination with pivots.
void solve_block(const HostCsr& a, Index begin, Index n, const std::vector<double>& r, std::vector<double>& z) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<std::vector<long double>> m(size, std::vector<long double>(size + 1));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) m[i][j] = entry_of(a, begin + i, begin + j);
    m[i][size] = r[begin + i];
  }
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t p = k;
    for (std::size_t i = k; i < size; ++i) {
      if (std::fabs(m[i][k]) > std::fabs(m[p][k])) p = i;
    }
    std::swap(m[k], m[p]);
    for (std::size_t i = 0; i < size; ++i) {
      if (i == k) continue;
      const long double factor = m[i][k] / m[k][k];
      for (std::size_t j = k; j <= size; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  for (Index i = 0; i < n; ++i) z[begin + i] = static_cast<double>(m[i][size] / m[i][i]);
}

std::vector<double> solved_in_blocks(const HostCsr& a, Index rows_of_block, const std::vector<double>& r) {
  std::vector<double> z(r.size());
  for (Index begin = 0; begin < a.rows; begin += rows_of_block) {
    solve_block(a, begin, std::min(rows_of_block, a.rows - begin), r, z);
  }
  return z;
}

// Nodes of `block` rows on a line; every entry of a node's rows is stored, and rows need their pivots exchanged.
HostCsr nodes_on_a_line(Index nodes, Index block, bool symmetric) {
  const auto noise = random_vector<double>(nodes * block * block * 3, 17);
  MapRows rows(static_cast<std::size_t>(nodes * block));
  std::size_t next = 0;
  for (Index node = 0; node < nodes; ++node) {
    for (Index i = 0; i < block; ++i) {
      for (Index other = std::max<Index>(node - 1, 0); other <= std::min(node + 1, nodes - 1); ++other) {
        for (Index j = 0; j < block; ++j) {
          double value = noise[next++];
          if (other == node && !symmetric) value += (i + 1) % block == j ? 4.0 * block : 0;  // far from the diagonal
          if (other == node && symmetric) value = i == j ? 4.0 * block : 1.0 / (1 + i + j);
          rows[static_cast<std::size_t>(node * block + i)][other * block + j] = value;
        }
      }
    }
  }
  return from_rows(nodes * block, rows);
}

template <class T, Space S>
void check_inverses(const Context<S>& ctx) {
  const double bound = 2000 * static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const Index block : {1, 2, 3, 5, 16, 31, 32}) {
    HostCsr a = nodes_on_a_line(9, block, false);
    for (double& value : a.val) value = static_cast<T>(value);
    const auto there = upload_matrix<T>(ctx, a);
    const auto r = random_vector<T>(a.rows, 5);
    const auto expected = solved_in_blocks(a, block, std::vector<double>(r.begin(), r.end()));
    for (const int rows : {0, static_cast<int>(block)}) {
      INFO("blocks of " << block << " rows, option " << rows);
      const auto m = block_jacobi<T, S>(ctx, there.narrow(), rows);
      CHECK(m->info().figure("rows of the largest block") == block);
      CHECK(m->info().figure("blocks") == 9);
      CHECK(m->info().figure("singular blocks") == 0);
      const auto found = applied(ctx, *m, r);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(static_cast<double>(found[i]) == Approx(expected[i]).epsilon(bound).margin(bound));
      }
    }
  }
}

}  // namespace

TEST_BOTH("Block Jacobi solves with the diagonal blocks", "[precond][block_jacobi]") {
  check_inverses<double, S>(ctx);
  check_inverses<float, S>(ctx);
}

TEST_BOTH("Block Jacobi with given rows cuts a matrix without blocks, and the last block is shorter",
          "[precond][block_jacobi]") {
  const HostCsr a = dominant_matrix(1003);
  const auto there = upload_matrix<double>(ctx, a);
  const auto r = random_vector<double>(a.rows, 5);
  for (const int rows : {1, 4, 32}) {
    const auto m = block_jacobi<double, S>(ctx, there.wide(), rows);
    const auto found = applied(ctx, *m, r), expected = solved_in_blocks(a, rows, r);
    for (std::size_t i = 0; i < r.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-11).margin(1e-13));
  }
}

TEST_BOTH("Block Jacobi takes blocks of different sizes from the pattern, cut at 32 rows",
          "[precond][block_jacobi]") {
  MapRows rows(78);  // blocks of 1, 3, 70 and 4 rows
  const Index sizes[] = {1, 3, 70, 4};
  Index begin = 0;
  for (const Index n : sizes) {
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) rows[begin + i][begin + j] = i == j ? 100 + i : 1.0 / (1 + i + 2 * j);
    }
    begin += n;
  }
  const HostCsr a = from_rows(78, rows);
  const auto there = upload_matrix<double>(ctx, a);
  const auto m = block_jacobi<double, S>(ctx, there.wide());
  CHECK(m->info().figure("blocks") == 6);  // 70 = 32 + 32 + 6
  CHECK(m->info().figure("rows of the largest block") == 32);
  const auto r = random_vector<double>(78, 3);
  std::vector<double> expected(78);
  begin = 0;
  for (const Index n : {1, 3, 32, 32, 6, 4}) {
    solve_block(a, begin, n, r, expected);
    begin += n;
  }
  const auto found = applied(ctx, *m, r);
  for (std::size_t i = 0; i < 78; ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-12));
}

TEST_BOTH("Block Jacobi inverts the diagonal of a singular block, and says how many there are",
          "[precond][block_jacobi]") {
  MapRows rows(8);
  const double blocks[4][2][2] = {{{1, 2}, {2, 4}}, {{0, 3}, {5, 0}}, {{0, 0}, {0, -8}}, {{1e20, 1}, {1, 2}}};
  for (Index b = 0; b < 4; ++b) {
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j < 2; ++j) rows[2 * b + i][2 * b + j] = blocks[b][i][j];
    }
  }
  const auto there = upload_matrix<double>(ctx, from_rows(8, rows));
  const auto m = block_jacobi<double, S>(ctx, there.wide());
  CHECK(m->info().figure("singular blocks") == 2);
  const auto z = applied(ctx, *m, std::vector<double>{3, 8, 6, 10, 7, 16, 2e20, 4});
  const std::vector<double> expected = {3, 2, 2, 2, 7, -2, 2, 1};
  for (std::size_t i = 0; i < 8; ++i) CHECK(z[i] == Approx(expected[i]).epsilon(1e-12));
}

TEST_BOTH("The inverse of a symmetric block is symmetric to the last bit", "[precond][block_jacobi]") {
  const HostCsr a = nodes_on_a_line(5, 7, true);
  const auto there = upload_matrix<double>(ctx, a);
  const auto m = block_jacobi<double, S>(ctx, there.wide());
  std::vector<std::vector<double>> columns;
  for (Index j = 0; j < 7; ++j) {
    std::vector<double> unit(static_cast<std::size_t>(a.rows), 0.0);
    unit[static_cast<std::size_t>(j)] = 1;
    columns.push_back(applied(ctx, *m, unit));
  }
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(columns[i][j] == columns[j][i]);
  }
}

TEST_BOTH("Block Jacobi makes one CG iteration of a block diagonal system", "[precond][block_jacobi]") {
  MapRows rows(36);
  for (Index b = 0; b < 36; b += 6) {
    for (Index i = 0; i < 6; ++i) {
      for (Index j = 0; j < 6; ++j) rows[b + i][b + j] = i == j ? 8 + b : 1.0 / (1 + i + j);
    }
  }
  const auto there = upload_matrix<double>(ctx, from_rows(36, rows));
  const auto A = make_spmv(ctx, there.wide(), RowOrder<S>{}, SpmvOptions{"csr"});
  const auto m = block_jacobi<double, S>(ctx, there.wide());
  Cg<double, S> cg(ctx, 36);
  const auto b = upload(ctx, random_vector<double>(36));
  Array<double, S> x(ctx, 36);
  fill<double, S>(ctx, 0.0, x);
  const SolveReport report = cg.solve(ctx, *A, m.get(), b.cspan(), x.span(), {});
  CHECK(report.converged());
  CHECK(report.iterations == 1);
}

TEST_BOTH("Block Jacobi forms y = alpha M x + beta y and x.y", "[precond][block_jacobi]") {
  const HostCsr a = nodes_on_a_line(40, 3, false);
  const auto there = upload_matrix<double>(ctx, a);
  const auto m = block_jacobi<double, S>(ctx, there.wide());
  const auto x = random_vector<double>(a.rows, 2), y = random_vector<double>(a.rows, 4);
  const auto z = solved_in_blocks(a, 3, x);
  const auto xs = upload(ctx, x);
  auto ys = upload(ctx, y);
  m->apply(ctx, -2.0, xs.cspan(), 3.0, ys.span());
  const auto found = download(ctx, ys);
  Array<double, S> sum(ctx, 1);
  m->apply_dot(ctx, xs.cspan(), ys.span(), sum.data());
  const auto plain = download(ctx, ys);
  long double dot = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(found[i] == Approx(-2 * z[i] + 3 * y[i]).epsilon(1e-11).margin(1e-12));
    CHECK(plain[i] == Approx(z[i]).epsilon(1e-11).margin(1e-13));
    dot += static_cast<long double>(x[i]) * z[i];
  }
  CHECK(download(ctx, sum)[0] == Approx(static_cast<double>(dot)).epsilon(1e-11));
}

TEST_BOTH("Block Jacobi refreshed is block Jacobi rebuilt, also through permutations", "[precond][block_jacobi]") {
  const HostCsr a = nodes_on_a_line(50, 4, false);
  HostCsr b = a;
  for (double& value : b.val) value = static_cast<float>(value * -1.375 + 0.0625);
  const auto at_a = upload_matrix<float>(ctx, a), at_b = upload_matrix<float>(ctx, b);
  const auto x = random_vector<float>(a.rows);
  const auto plain = block_jacobi<float, S>(ctx, at_a.wide());
  const std::uint64_t allocations = ctx.memory()->use().allocations;
  plain->refresh(ctx, at_b.matrix.val.cspan());
  CHECK(ctx.memory()->use().allocations == allocations);
  CHECK(same_bits(applied(ctx, *plain, x), applied(ctx, *block_jacobi<float, S>(ctx, at_b.narrow()), x)));
  const RowOrder<S> order = make_row_order(ctx, random_order(a.rows, 8));
  const auto a_permuted = permute(ctx, at_a.wide(), order), b_permuted = permute(ctx, at_b.wide(), order);
  for (const int rows : {0, 6}) {
    const auto permuted = block_jacobi<float, S>(ctx, a_permuted.view(), rows, order);
    permuted->refresh(ctx, at_b.matrix.val.cspan());
    const auto rebuilt = applied(ctx, *block_jacobi<float, S>(ctx, b_permuted.view(), rows, order), x);
    CHECK(same_bits(applied(ctx, *permuted, x), rebuilt));
    // The same by values that are written in place.
    Slots<float, S> slots = permuted->slots(ctx);
    std::vector<float> values;
    for (const Offset k : slots.entry) {
      values.push_back(k < 0 ? 0.0f : static_cast<float>(a.val[static_cast<std::size_t>(k)]));
    }
    copy<float>(ctx, Span<const float, Space::host>(values), slots.values);
    permuted->slots_written(ctx);
    CHECK(same_bits(applied(ctx, *permuted, x),
                    applied(ctx, *block_jacobi<float, S>(ctx, a_permuted.view(), rows, order), x)));
  }
}

TEST_BOTH("Block Jacobi refuses what makes no blocks", "[precond][block_jacobi]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(31));
  const auto m = block_jacobi<double, S>(ctx, there.wide());
  const auto few = upload(ctx, std::vector<double>(3, 1.0));
  CHECK_THROWS_AS(m->refresh(ctx, few.cspan()), InputError);
  const auto wide = upload_matrix<double>(ctx, empty_matrix(2, 3));
  CHECK_THROWS_AS((block_jacobi<double, S>(ctx, wide.wide())), InputError);
  for (const int rows : {-1, 33}) CHECK_THROWS_AS((block_jacobi<double, S>(ctx, there.wide(), rows)), InputError);
  const auto none = upload_matrix<double>(ctx, empty_matrix(0, 0));
  CHECK(block_jacobi<double, S>(ctx, none.wide())->rows() == 0);
}
