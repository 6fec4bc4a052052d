// SPDX-License-Identifier: Apache-2.0
// Pairs are read once while their numbers are equal, and right when they are not.
#include "tests/spmv/ehyb_support.hpp"
#include "tests/spmv/spmv_support.hpp"

namespace {

const std::string format = "ehyb-symmetric";

// a with the number of one entry outside the node's own block replaced.
HostCsr with_one_changed(HostCsr a, Index row) {
  for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
    if (std::abs(a.col[k] - row) > 5) {
      a.val[k] = 1234.5;
      break;
    }
  }
  return a;
}

// In four parts, whose halos are small beside them.
template <Space S>
OperatorInfo info_of(const Context<S>& ctx, const HostCsr& a, const std::string& name) {
  SpmvOptions options;
  options.format = name;
  options.parts = 4;
  const auto there = upload_matrix<double>(ctx, a);
  const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.wide()), options);
  const auto permuted = permute(ctx, there.wide(), order);
  return make_spmv<double, S>(ctx, permuted.view(), order, options)->info();
}

}  // namespace

TEST_BOTH("Opposite blocks are read once where their values are equal", "[ehyb][symmetric]") {
  const HostCsr a = fem_matrix("generate:elasticity:9");
  const OperatorInfo symmetric = info_of(ctx, a, format);
  CHECK(symmetric.bytes_per_product < 0.75 * static_cast<double>(info_of(ctx, a, "ehyb").bytes_per_product));
  CHECK(symmetric.cached_share == 1);
  const OperatorInfo differs = info_of(ctx, with_one_changed(a, 300), format);
  CHECK(contains(differs.detail, "paired values differ"));
  CHECK(differs.bytes_per_product > symmetric.bytes_per_product);
}

TEST_BOTH("A refresh finds out whether opposite blocks are equal", "[ehyb][symmetric]") {
  const auto check = [&](auto zero, const std::string& spec) {
    using T = decltype(zero);
    INFO(spec);
    const HostCsr a = fem_matrix(spec);
    const auto there = upload_matrix<T>(ctx, a);
    Product<T, S> product(ctx, there.wide(), format);
    const auto x = random_vector<T>(a.cols, 3);
    const Result<T> before = product.apply_dot(x);
    for (const Index row : {Index{0}, a.rows / 2, a.rows - 1}) {
      const HostCsr changed = with_one_changed(a, row);
      product.refresh(std::vector<T>(changed.val.begin(), changed.val.end()));
      CHECK(first_outside(product.apply(T(1), x).y, expected_product(changed, T(1), x)) == "");
      CHECK(first_outside(product.apply(T(0.3), x, T(-0.7), x).y, expected_product(changed, T(0.3), x, T(-0.7), x)) ==
            "");
    }
    product.refresh(std::vector<T>(a.val.begin(), a.val.end()));
    const Result<T> after = product.apply_dot(x);
    CHECK(same_bits(after.y, before.y));
    CHECK(after.xy == before.xy);
  };
  for (const char* spec : {"generate:elasticity:7", "generate:diffusion:9"}) {
    check(double{}, spec);
    check(float{}, spec);
  }
}

TEST_BOTH("Nodes of one, two, three and six rows in many rounds", "[ehyb][symmetric]") {
  for (const Index block : {1, 2, 3, 6}) {
    INFO(block << " rows a node");
    const HostCsr a = blown_up(fem_matrix("generate:diffusion:9"), block);
    const auto there = upload_matrix<double>(ctx, a);
    const Product<double, S> product(ctx, there.wide(), format);
    const auto x = random_vector<double>(a.cols, 4);
    CHECK(first_outside(product.apply(1.0, x).y, expected_product(a, 1.0, x)) == "");
  }
}
