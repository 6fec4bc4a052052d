// SPDX-License-Identifier: Apache-2.0
// EHYB's plan: parts and cache by the paper's equations, the order of the rows, the choice of a variant.
#include "tests/spmv/spmv_support.hpp"

#include "spmv/ehyb/ehyb.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"

using detail::EhybGeometry;

namespace {

Machine gpu(int processors, std::size_t shared_bytes) {
  Machine machine = large_gpu();
  machine.processors = processors;
  machine.cache_bytes = shared_bytes;
  return machine;
}

template <class T, Space S>
OperatorInfo info_of(const Context<S>& ctx, const HostCsr& a, const std::string& format) {
  return Product<T, S>(ctx, upload_matrix<T>(ctx, a).wide(), format).op().info();
}

double figure(const std::vector<std::pair<std::string, double>>& figures, const std::string& name) {
  for (const auto& [key, value] : figures) {
    if (key == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

TEST_CASE("Equations 1 and 2: the fewest multiples of the multiprocessors whose parts fit", "[ehyb]") {
  // 96 KB and 80 multiprocessors: a million rows in double are 1e6 / (80 K) x 8 bytes < 98304, K = 2.
  const EhybGeometry v100 = detail::paper_geometry(gpu(80, 98304), 1000000, 8);
  CHECK(v100.parts == 160);
  CHECK(v100.cached_length >= 1000000 / 160);
  CHECK(v100.cached_length * 8 <= 98304);
  CHECK(detail::paper_geometry(gpu(80, 98304), 1000000, 4).parts == 80);
  // 227 KB and 132: 2.4 million rows in double fit with K = 1, 4 million with K = 2.
  CHECK(detail::paper_geometry(large_gpu(), 2400000, 8).parts == 132);
  CHECK(detail::paper_geometry(large_gpu(), 4000000, 8).parts == 264);
  CHECK(detail::paper_geometry(large_gpu(), 1, 8).parts == 132);
}

TEST_CASE("A 16-bit column bounds the cache of any machine", "[ehyb]") {
  Machine machine;
  machine.processors = 4;
  machine.cache_bytes = std::size_t{64} << 20;
  const EhybGeometry geometry = detail::paper_geometry(machine, 10000000, 4);
  CHECK(geometry.cached_length == 65536);
  CHECK(geometry.parts % 4 == 0);
  CHECK(10000000 / geometry.parts <= 65536);
}

TEST_CASE("Parts leave room in the cache for the halo of a mesh", "[ehyb]") {
  const Machine h200 = large_gpu();
  for (const int block : {1, 3}) {
    for (const std::size_t bytes : {std::size_t{4}, std::size_t{8}}) {
      for (const Index rows : {1000, 900000, 2400000, 5832000, 40000000}) {
        INFO("blocks of " << block << ", " << bytes << " bytes, " << rows << " rows");
        const EhybGeometry geometry = detail::halo_geometry(h200, rows, bytes, block);
        CHECK(geometry.parts % 132 == 0);
        CHECK(std::size_t(geometry.cached_length) * bytes < 232448);
        const double nodes = double(rows) / geometry.parts / block;
        CHECK((nodes + 5.7 * std::pow(nodes, 2.0 / 3)) * block <= 0.96 * geometry.cached_length);
        // One multiple less would not have fitted.
        const double more = double(rows) / std::max(1, geometry.parts - 132) / block;
        if (geometry.parts > 132)
          CHECK((more + 5.7 * std::pow(more, 2.0 / 3)) * block > 0.94 * geometry.cached_length);
      }
    }
  }
}

TEST_CASE("A part has the threads of its multiprocessor, or its share, and no more than have work", "[ehyb]") {
  const Machine h200 = large_gpu();
  const auto threads = [&](Index parts, Index longest_cache, Index most_slices, Index most = 1024) {
    return detail::ehyb_block_threads(h200, parts, longest_cache, most_slices, 8, most);
  };
  CHECK(threads(132, 28000, 1) == 1024);
  CHECK(threads(264, 28000, 1) == 1024);  // one after the other
  CHECK(threads(264, 12000, 1) == 512);
  CHECK(threads(396, 9465, 1) == 320);  // whole warps
  CHECK(threads(528, 6690, 1) == 256);
  CHECK(threads(132, 530, 1) == 288);
  CHECK(threads(132, 10, 1) == 128);
  // A warp for each slice, as far as there are warps.
  CHECK(threads(132, 530, 9) == 288);
  CHECK(threads(132, 530, 17) == 544);
  CHECK(threads(132, 530, 100) == 1024);
  CHECK(threads(396, 530, 100) == 320);
  // A kernel of fewer threads.
  CHECK(threads(132, 28000, 100, 512) == 512);
  CHECK(threads(396, 9465, 100, 512) == 160);
  CHECK(threads(132, 530, 1, 512) == 288);
}

TEST_CASE("The second-level cache keeps two fifths of itself of a matrix that is not much larger", "[ehyb]") {
  Machine h200 = large_gpu();
  h200.shared_cache_bytes = 60000000;
  CHECK(detail::ehyb_kept_share(h200, 0) == 0);
  CHECK(detail::ehyb_kept_share(h200, 1000) == 1);
  CHECK(detail::ehyb_kept_share(h200, 24000000) == 1);
  CHECK(detail::ehyb_kept_share(h200, 48000000) == 0.5f);
  CHECK(detail::ehyb_kept_share(h200, 64000000) == 0.375f);
  CHECK(detail::ehyb_kept_share(h200, 90000001) == 0);
  h200.shared_cache_bytes = 0;  // not known
  CHECK(detail::ehyb_kept_share(h200, 1000) == 0);
  h200 = large_gpu();
  h200.space = Space::host;
  h200.shared_cache_bytes = 60000000;
  CHECK(detail::ehyb_kept_share(h200, 1000) == 0);
}

TEST_CASE("Small parts give a node several lanes, as long as each has blocks to add", "[ehyb]") {
  const Machine h200 = large_gpu();
  const auto share = [&](Index nodes, Offset blocks, int block) {
    return detail::ehyb_share(h200, nodes, blocks, 132, block);
  };
  CHECK(share(2400000, 36000000, 1) == 1);
  CHECK(share(310000, 4500000, 1) == 1);
  CHECK(share(30000, 450000, 1) == 4);    // 227 nodes a part, 15 blocks a node
  CHECK(share(8738, 591904, 1) == 16);    // 66 and 68
  CHECK(share(34920, 4644230, 1) == 32);  // 264 and 133
  CHECK(share(62631, 795749, 1) == 2);    // 474 and 13
  CHECK(share(36165, 463863, 1) == 2);    // 274 and 13
  CHECK(share(81920, 327680, 1) == 1);    // 4 blocks a node
  CHECK(share(3000, 3000000, 1) == 32);   // no more than a warp
  CHECK(share(310000, 4500000, 3) == 1);
  CHECK(share(30000, 450000, 3) == 4);
  CHECK(share(36165, 463863, 3) == 4);
  CHECK(share(12827, 149245, 3) == 4);  // 97 and 12
  CHECK(share(51611, 678329, 3) == 2);  // 391 and 13
  CHECK(detail::ehyb_share(Machine{}, 3000, 3000000, 4, 1) == 1);
}

TEST_CASE("An order without parts is cut into equal ranges, and a part that is too long into pieces", "[ehyb]") {
  EhybGeometry geometry;
  geometry.parts = 3;
  geometry.cached_length = 100;
  CHECK(detail::ehyb_parts({}, 10, 1, geometry) == std::vector<Index>{0, 3, 6, 10});
  CHECK(detail::ehyb_parts({}, 12, 3, geometry) == std::vector<Index>{0, 3, 6, 12});
  CHECK(detail::ehyb_parts({}, 2, 1, geometry) == std::vector<Index>{0, 1, 2});
  CHECK(detail::ehyb_parts({}, 0, 1, geometry).empty());
  CHECK(detail::ehyb_parts({0, 250, 250, 260}, 260, 1, geometry) == std::vector<Index>{0, 83, 166, 250, 260});
}

TEST_BOTH("The planned order sorts the rows of a part by their entries and keeps nodes whole", "[ehyb]") {
  const HostCsr a = fem_matrix("generate:elasticity:7");
  const auto there = upload_matrix<double>(ctx, a);
  SpmvOptions options;
  options.format = "ehyb";
  options.parts = 5;
  const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.wide()), options);
  const auto old_of_new = download(ctx, order.old_of_new);
  REQUIRE(order.part_begin.size() == 6);
  CHECK(figure(order.report.figures, "parts") == 5);
  CHECK_FALSE(order.report.seconds.empty());
  for (std::size_t p = 0; p < 5; ++p) {
    for (Index i = order.part_begin[p]; i < order.part_begin[p + 1]; ++i) {
      if (i % 3 != 0) {
        CHECK(old_of_new[i] == old_of_new[i - 1] + 1);
      } else if (i > order.part_begin[p]) {
        CHECK(a.row_length(old_of_new[i]) <= a.row_length(old_of_new[i - 1]));
      }
    }
  }
}

TEST_BOTH("Plain ehyb takes the variant of fewest bytes", "[ehyb]") {
  const HostCsr elasticity = fem_matrix("generate:elasticity:8"), diffusion = fem_matrix("generate:diffusion:10");
  CHECK(info_of<double>(ctx, elasticity, "ehyb").name == "ehyb:block");
  CHECK(figure(info_of<double>(ctx, elasticity, "ehyb").figures, "node rows") == 3);
  CHECK(info_of<double>(ctx, diffusion, "ehyb").name == "ehyb:halo");
  for (const auto& [name, a] : awkward_square_matrices()) {
    INFO(name);
    const auto bytes = [&, &a = a](const char* format) { return info_of<double>(ctx, a, format).bytes_per_product; };
    CHECK(bytes("ehyb") <= bytes("ehyb:block"));
  }
}

TEST_BOTH("ehyb:block on a pattern without blocks is ehyb:halo and says so", "[ehyb]") {
  const OperatorInfo info = info_of<double>(ctx, tridiagonal_matrix(100), "ehyb:block");
  CHECK(info.name == "ehyb:halo");
  CHECK(contains(info.detail, "so ehyb:block is not used"));
}

TEST_BOTH("A halo caches every entry of a FEM matrix, the paper's variant only those inside a part", "[ehyb]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  CHECK(info_of<double>(ctx, a, "ehyb:halo").cached_share == 1);
  SpmvOptions options;
  options.format = "ehyb:paper";
  options.parts = 6;
  const auto there = upload_matrix<double>(ctx, a);
  const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.wide()), options);
  const auto permuted = permute(ctx, there.wide(), order);
  const double share = make_spmv<double, S>(ctx, permuted.view(), order, options)->info().cached_share;
  CHECK(share < 1);
  CHECK(share > 0.5);
  // The report's cut is what is not cached.
  CHECK(share == Approx(1 - figure(order.report.figures, "cut entries") / static_cast<double>(a.nnz())));
}

TEST_BOTH("x.y of parts with more slices than warps has the same bits on every run", "[ehyb]") {
  const HostCsr a = fem_matrix("generate:diffusion:24");
  const auto there = upload_matrix<double>(ctx, a);
  RowOrder<S> order;
  order.part_begin = {0, a.rows / 2, a.rows};
  const auto op = make_spmv(ctx, there.wide(), order, SpmvOptions{"ehyb"});
  CHECK(op->info().cached_share == 1);
  const auto x = upload(ctx, random_vector<double>(a.rows));
  Array<double, S> y(ctx, a.rows), xy(ctx, 1);
  op->apply_dot(ctx, x.cspan(), y.span(), xy.data());
  const double first = fetch(ctx, xy.data());
  for (int run = 0; run < 30; ++run) {
    op->apply_dot(ctx, x.cspan(), y.span(), xy.data());
    CHECK(fetch(ctx, xy.data()) == first);
  }
}

TEST_BOTH("Rows longer than every slice are multiplied in segments", "[ehyb]") {
  const Index n = 20000;
  const HostCsr a = random_matrix(n, n, 3, [&](Index i) { return Offset{i % 7000 == 3 ? 15000 : 2}; });
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(n), y0 = random_vector<double>(n, 2);
  for (const std::string format : {"ehyb", "ehyb:paper"}) {
    const Product<double, S> product(ctx, there.wide(), format);
    CHECK(first_outside(product.apply(-0.5, x, 0.25, y0).y, expected_product(a, -0.5, x, 0.25, y0)) == "");
  }
  CHECK(figure(info_of<double>(ctx, a, "ehyb").figures, "long rows") == 3);
}

TEST_BOTH("Blocks of an order whose values are apart in the caller's matrix are refreshed one by one", "[ehyb]") {
  // The caller numbers all first unknowns of the nodes, then all second ones; the order brings them together.
  const auto ctx = make_context<S>();
  const HostCsr nodes = tridiagonal_matrix(40);
  const Index n = nodes.rows * 2;
  const auto component = [&](Index i) { return i / 2 + (i % 2) * nodes.rows; };
  Random random(7);
  MapRows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < nodes.rows; ++i) {
    for (Offset k = nodes.row_ptr[i]; k < nodes.row_ptr[i + 1]; ++k) {
      for (const Index d : {0, 1}) {
        for (const Index e : {0, 1}) rows[component(2 * i + d)][component(2 * nodes.col[k] + e)] = random.value();
      }
    }
  }
  const HostCsr a = from_rows(n, rows), fresh = integer_values(a, 3);
  std::vector<Index> old_of_new;
  for (Index i = 0; i < n; ++i) old_of_new.push_back(component(i));
  const RowOrder<S> order = make_row_order(ctx, old_of_new);
  const auto there = upload_matrix<double>(ctx, a), new_there = upload_matrix<double>(ctx, fresh);
  const auto permuted = permute(ctx, there.wide(), order), new_permuted = permute(ctx, new_there.wide(), order);
  Product<double, S> product(ctx, permuted.view(), "ehyb:block");
  CHECK(product.op().info().name == "ehyb:block");
  const auto x = whole_vector<double>(n);
  product.refresh(converted<double>(fresh.val));
  CHECK(product.apply(1.0, x).y == product_oracle(download_matrix(ctx, new_permuted.matrix), x));
  // Numbers that do lie together take one position for two of them.
  const auto bytes = [](const OperatorInfo& info) {
    for (const auto& [part, size] : info.bytes) {
      if (part == "value map") return size;
    }
    return std::uint64_t{0};
  };
  const auto together = upload_matrix<double>(ctx, download_matrix(ctx, permuted.matrix));
  const auto apart_bytes = bytes(product.op().info());
  const auto together_bytes = bytes(Product<double, S>(ctx, together.wide(), "ehyb:block").op().info());
  CHECK(together_bytes < apart_bytes);
  if (S == Space::host) CHECK(together_bytes * 2 == apart_bytes);
}

// Rows of a rank: what lies behind them in x belongs to other ranks.
TEST_BOTH("Columns behind the rows are cached as halo, in products and residuals", "[ehyb][residual]") {
  for (const std::string spec : {"generate:diffusion:9", "generate:elasticity:6"}) {
    const HostCsr whole = fem_matrix(spec);
    const Index rows = whole.rows / 6 * 3;
    MapRows upper(static_cast<std::size_t>(rows));
    for (Index i = 0; i < rows; ++i) {
      for (Offset k = whole.row_ptr[i]; k < whole.row_ptr[i + 1]; ++k) upper[i][whole.col[k]] = whole.val[k];
    }
    const HostCsr a = from_rows(whole.cols, upper);
    for (const std::string variant : {"halo", "block"}) {
      INFO(spec << ", " << variant);
      const auto there = upload_matrix<double>(ctx, a);
      const SpmvOptions options;
      const FormatRequest request{variant, options, machine_of(ctx), sizeof(double), nullptr};
      RowOrder<S> order;
      order.part_begin = {0, rows / 9 * 3, rows};
      const EhybOperator<double, S> op(ctx, there.wide(), order, request);
      CHECK(op.rows() == rows);
      CHECK(op.cols() == whole.cols);
      CHECK(op.view().block == (variant == "block" && spec == "generate:elasticity:6" ? 3 : 1));
      const std::vector<double> x = random_vector<double>(a.cols, 5), b = random_vector<double>(rows, 6);
      const auto x_there = upload<double, S>(ctx, x), b_there = upload<double, S>(ctx, b);
      auto y = poisoned<double, S>(ctx, rows), r = poisoned<double, S>(ctx, rows);
      op.apply(ctx, 1.0, x_there.cspan(), 0.0, y.span());
      CHECK(first_outside(download<double, S>(ctx, y), expected_product(a, 1.0, x)) == "");
      double largest = 0;
      for (const double value : x) largest = std::max(largest, std::abs(value));
      const auto x_max = upload<double, S>(ctx, std::vector<double>{largest});
      REQUIRE(op.residual(ctx, b_there.cspan(), x_there.cspan(), {1.0, x_max.data()}, r.span()));
      CHECK(first_outside(download<double, S>(ctx, r), expected_product(a, -1.0, x, 1.0, b)) == "");
    }
  }
}
