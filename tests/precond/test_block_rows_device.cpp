// SPDX-License-Identifier: Apache-2.0
// The products of an AMG cycle's blocked matrices on the device, against Eigen's.
#include "precond/amg/blocks/block_rows.hpp"

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace {

HostCsr with_lengths(Index rows, Index cols, const std::function<Offset(Index)>& length) {
  return random_matrix(rows, cols, 21, length);
}

// Row i of the product stands at y_place[i].
template <class T>
void check_product(const EigenDense& matrix, const std::vector<T>& x, const std::vector<T>& y,
                   const std::vector<Index>& y_place) {
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    double sum = 0, bound = 0;
    for (Eigen::Index j = 0; j < matrix.cols(); ++j) {
      const double term = matrix(i, j) * static_cast<double>(x[static_cast<std::size_t>(j)]);
      sum += term;
      bound += 4 * std::fabs(term);
    }
    const auto place = static_cast<std::size_t>(y_place[static_cast<std::size_t>(i)]);
    REQUIRE(std::fabs(static_cast<double>(y[place]) - sum) <= static_cast<double>(matrix.cols() + 4) * eps * bound);
  }
}

std::vector<Index> reversed(Index n) {
  std::vector<Index> place(static_cast<std::size_t>(n));
  std::iota(place.rbegin(), place.rend(), Index{0});
  return place;
}

}  // namespace

TEMPLATE_TEST_CASE("AMG's rows of blocks multiply on the device as the matrix and its transpose", "[amg][device]",
                   double, float) {
  const Context<Space::device> ctx;
  const std::vector<std::pair<std::string, HostCsr>> patterns = {
      {"up to two entries in a row", with_lengths(901, 300, [](Index i) { return Offset{i % 3}; })},
      {"one long row among short ones", with_lengths(640, 300, [](Index i) { return Offset{i == 77 ? 250 : 2}; })},
      {"up to twelve", ragged_matrix(900, 700, 3)},
      {"sixty", with_lengths(60, 400, [](Index) { return Offset{60}; })},
      {"a single row", with_lengths(1, 5, [](Index) { return Offset{3}; })}};
  for (const auto& [name, pattern] : patterns) {
    for (const auto& [m, n] : {std::pair<int, int>{1, 1}, {3, 3}, {3, 6}, {2, 3}}) {
      INFO(name << ", blocks of " << m << " x " << n);
      const detail::BlockCsr<Space::device> a = random_blocks(ctx, pattern, m, n, 3);
      const EigenDense stored = eigen_dense(ctx, a);
      const detail::TransposedPattern<Space::device> transposed = detail::transpose(ctx, a.pattern);
      for (const bool turned : {false, true}) {
        const EigenDense matrix = turned ? EigenDense(stored.transpose()) : stored;
        const auto rows = static_cast<Index>(matrix.rows()), cols = static_cast<Index>(matrix.cols());
        detail::BlockRows<TestType> product(ctx, a, turned ? &transposed : nullptr);
        REQUIRE(product.rows() == rows);
        const std::vector<TestType> x = random_vector<TestType>(cols, 4);
        const std::vector<Index> x_place = reversed(cols), y_place = reversed(rows);
        std::vector<TestType> x_placed(x.rbegin(), x.rend());
        const auto on_device = make_array(ctx, x), placed_on_device = make_array(ctx, x_placed);
        const auto x_there = make_array(ctx, x_place), y_there = make_array(ctx, y_place);
        Array<TestType, Space::device> y(ctx, rows);
        detail::multiply<TestType>(ctx, product, on_device.data(), nullptr, y.data(), nullptr);
        std::vector<Index> in_order(static_cast<std::size_t>(rows));
        std::iota(in_order.begin(), in_order.end(), Index{0});
        check_product(matrix, x, to_vector(ctx, y.cspan()), in_order);
        detail::multiply<TestType>(ctx, product, placed_on_device.data(), x_there.data(), y.data(), y_there.data());
        check_product(matrix, x, to_vector(ctx, y.cspan()), y_place);
      }
    }
  }
}

TEMPLATE_TEST_CASE("AMG's rows of blocks that stand elsewhere on the device", "[amg][device]", double, float) {
  const Context<Space::device> ctx;
  const HostCsr pattern = with_lengths(901, 300, [](Index i) { return Offset{i % 5}; });
  const detail::BlockCsr<Space::device> a = random_blocks(ctx, pattern, 1, 1, 3);
  const EigenDense stored = eigen_dense(ctx, a);
  const std::vector<Index> place = reversed(pattern.rows);
  const auto there = make_array(ctx, place);
  const detail::BlockRows<TestType> product(ctx, a, nullptr, there.data());
  const std::vector<TestType> x = random_vector<TestType>(pattern.cols, 4);
  const auto on_device = make_array(ctx, x);
  Array<TestType, Space::device> y(ctx, pattern.rows);
  detail::multiply<TestType>(ctx, product, on_device.data(), nullptr, y.data(), nullptr);
  check_product(stored, x, to_vector(ctx, y.cspan()), place);
}
