// SPDX-License-Identifier: Apache-2.0
// EHYB's arrays made by kernels against those that the host makes, element by element.
#include "tests/spmv/ehyb_support.hpp"
#include "tests/spmv/spmv_support.hpp"

#include "spmv/ehyb/ehyb.hpp"

using detail::EhybLayout;
using detail::EhybShape;
using detail::make_ehyb_layout;

namespace {

constexpr Space D = Space::device;
using HostLayout = EhybLayout<Space::host>;

Pattern<Space::host> view(const HostCsr& a) {
  Pattern<Space::host> p;
  p.rows = a.rows;
  p.cols = a.cols;
  p.row_ptr64 = {a.row_ptr.data(), static_cast<std::int64_t>(a.row_ptr.size())};
  p.col = {a.col.data(), a.nnz()};
  return p;
}

template <class V>
bool same(const Context<D>& ctx, const Array<V, Space::host>& expected, const Array<V, D>& found) {
  const std::vector<V> there = download(ctx, found);
  return there.size() == static_cast<std::size_t>(expected.size()) &&
         (there.empty() || std::memcmp(there.data(), expected.data(), expected.bytes()) == 0);
}

void check_same(const Context<D>& ctx, const HostLayout& expected, const EhybLayout<D>& found) {
  CHECK(same(ctx, expected.part, found.part));
  CHECK(same(ctx, expected.halo_node, found.halo_node));
  CHECK(same(ctx, expected.slice_first, found.slice_first));
  CHECK(same(ctx, expected.column, found.column));
  CHECK(same(ctx, expected.run_source, found.run_source));
  CHECK(same(ctx, expected.er_row, found.er_row));
  CHECK(same(ctx, expected.er_slice_first, found.er_slice_first));
  CHECK(same(ctx, expected.er_column, found.er_column));
  CHECK(same(ctx, expected.long_rows, found.long_rows));
  CHECK(same(ctx, expected.long_segment, found.long_segment));
  CHECK(same(ctx, expected.segment_begin, found.segment_begin));
  CHECK(same(ctx, expected.long_column, found.long_column));
  CHECK(same(ctx, expected.rest_source, found.rest_source));
  CHECK(found.shape.block == expected.shape.block);
  CHECK(found.shape.halo == expected.shape.halo);
  CHECK(found.shape.cached_length == expected.shape.cached_length);
  CHECK(found.shape.lanes == expected.shape.lanes);
  CHECK(found.shape.share == expected.shape.share);
  CHECK(found.nodes == expected.nodes);
  CHECK(found.block_slots == expected.block_slots);
  CHECK(found.er_slots == expected.er_slots);
  CHECK(found.cached_entries == expected.cached_entries);
  CHECK(found.longest_cache == expected.longest_cache);
}

// Checks the device's layout against the host's, which it must leave to the host if and only if that has a remainder;
// returns whether it made one.
bool check_layout(const Context<D>& ctx, const HostCsr& a, const Uploaded<double, D>& there,
                  const std::vector<Index>& part_begin, const EhybShape& shape) {
  const HostLayout expected = make_ehyb_layout(Context<Space::host>(1), view(a), part_begin, shape);
  const bool wide = shape.share == 1;
  const Pattern<D> pattern(wide ? there.wide() : there.narrow());
  const std::optional<EhybLayout<D>> found = make_ehyb_layout(ctx, pattern, part_begin, shape);
  CHECK(found.has_value() == !expected.has_remainder());
  if (found) check_same(ctx, expected, *found);
  return found.has_value();
}

Index largest_part(const std::vector<Index>& part_begin) {
  Index largest = 0;
  for (std::size_t p = 0; p + 1 < part_begin.size(); ++p) {
    largest = std::max(largest, part_begin[p + 1] - part_begin[p]);
  }
  return largest;
}

bool has_phase(const OperatorInfo& info, const std::string& name) {
  return std::any_of(info.setup_seconds.begin(), info.setup_seconds.end(),
                     [&](const auto& phase) { return phase.first == name; });
}

}  // namespace

TEST_CASE("The device makes the host's layout wherever that has no remainder", "[device][ehyb][layout]") {
  const auto ctx = make_context<D>();
  int made = 0, left = 0;
  for (const auto& [name, nodes] : awkward_square_matrices()) {
    if (nodes.rows == 0 || nodes.rows > 3000) continue;
    for (const int block : {1, 2, 3, 6}) {
      if (block > 1 && nodes.nnz() > 2000) continue;
      const HostCsr a = block == 1 ? nodes : blown_up(nodes, block);
      const auto there = upload_matrix<double>(ctx, a);
      for (const Index parts : {1, 3, 40}) {
        const auto bounds = random_bounds(a.rows, parts, block, static_cast<std::uint64_t>(parts));
        for (const auto& [room, share] : {std::pair{0, 1}, {7 * block, 1}, {50000, 1}, {50000, 4}, {50000, 32}}) {
          INFO(name << ", block " << block << ", " << parts << " parts, room " << room << ", lanes of a node "
                    << share);
          ++(check_layout(ctx, a, there, bounds, {block, true, largest_part(bounds) + room, 32, share}) ? made
                                                                                                        : left);
        }
      }
    }
  }
  CHECK(made > 0);
  CHECK(left > 0);
}

TEST_CASE("The device's layout of FEM matrices in their planned parts is the host's", "[device][ehyb][layout]") {
  const auto ctx = make_context<D>();
  for (const auto& [spec, block] : {std::pair{"generate:diffusion:20", 1}, {"generate:elasticity:9", 3}}) {
    const auto caller = upload_matrix<double>(ctx, fem_matrix(spec));
    for (const Index parts : {1, 7, 30}) {
      INFO(spec << " in " << parts << " parts");
      SpmvOptions options;
      options.format = "ehyb";
      options.parts = parts;
      const RowOrder<D> order = plan_order<double>(ctx, Pattern<D>(caller.wide()), options);
      const HostCsr a = download_matrix(ctx, permute(ctx, caller.wide(), order).matrix);
      const auto there = upload_matrix<double>(ctx, a);
      for (const int share : {1, 2})
        CHECK(check_layout(ctx, a, there, order.part_begin, {block, true, 60000, 32, share}));
      CHECK(check_layout(ctx, a, there, order.part_begin, {1, true, 60000, 32, 1}));
    }
  }
}

TEST_CASE("Halos of more than one chunk of a bitmap, and of parts without entries, come out in order",
          "[device][ehyb][layout]") {
  const auto ctx = make_context<D>();
  const Index n = 50000;  // three chunks
  MapRows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; i += 3) {
    rows[static_cast<std::size_t>(i)] = {{i, 1}, {static_cast<Index>(Offset{i} * 7919 % n), 1}, {n - 1 - i / 5, 1}};
  }
  const HostCsr a = from_rows(n, rows);
  const auto there = upload_matrix<double>(ctx, a);
  CHECK(check_layout(ctx, a, there, {0, 1, 20000, 20000, 33333, 49999, 50000}, {1, true, 60000, 32, 1}));
  CHECK(check_layout(ctx, empty_matrix(70, 70), upload_matrix<double>(ctx, empty_matrix(70, 70)), {0, 40, 70},
                     {1, true, 60000, 32, 1}));
}

TEST_CASE("A halo that just fits is laid out on the device, and one node more is left to the host",
          "[device][ehyb][layout]") {
  const auto ctx = make_context<D>();
  for (const auto& [spec, block] : {std::pair{"generate:diffusion:9", 1}, {"generate:elasticity:6", 3}}) {
    const HostCsr a = fem_matrix(spec);
    const auto there = upload_matrix<double>(ctx, a);
    const auto bounds = random_bounds(a.rows, 3, block, 5);
    const Index longest =
        make_ehyb_layout(Context<Space::host>(1), view(a), bounds, {block, true, 60000, 32}).longest_cache;
    REQUIRE(longest > largest_part(bounds));
    CHECK(check_layout(ctx, a, there, bounds, {block, true, longest, 32}));
    CHECK_FALSE(check_layout(ctx, a, there, bounds, {block, true, longest - 1, 32}));
  }
}

TEST_CASE("What the device does not lay out it says at once", "[device][ehyb][layout]") {
  const auto ctx = make_context<D>();
  const HostCsr a = tridiagonal_matrix(100);
  const auto there = upload_matrix<double>(ctx, a);
  const auto made = [&](const EhybShape& shape, const std::vector<Index>& part_begin) {
    return make_ehyb_layout(ctx, Pattern<D>(there.wide()), part_begin, shape).has_value();
  };
  CHECK(made({1, true, 100, 32}, {0, 50, 100}));
  CHECK_FALSE(made({1, false, 100, 32}, {0, 50, 100}));
  CHECK_FALSE(made({1, true, 100, 8}, {0, 50, 100}));
  CHECK_FALSE(made({1, true, 100, 32}, {}));
  CHECK_THROWS_AS(made({1, true, 49, 32}, {0, 50, 100}), InputError);
}

TEMPLATE_TEST_CASE("An operator downloads its pattern only where the layout has a remainder",
                   "[device][ehyb][layout]", double, float) {
  const auto ctx = make_context<D>();
  const auto info_of = [&](const HostCsr& a, const std::string& format) {
    return Product<TestType, D>(ctx, upload_matrix<TestType>(ctx, a).wide(), format).op().info();
  };
  const HostCsr elasticity = fem_matrix("generate:elasticity:8");
  for (const std::string format : {"ehyb", "ehyb:halo", "ehyb:block"}) {
    INFO(format);
    const OperatorInfo info = info_of(elasticity, format);
    CHECK_FALSE(has_phase(info, "download"));
    CHECK(has_phase(info, "layout"));
    CHECK(info.setup_seconds.back().first == "upload and fill");
    CHECK(info.cached_share == 1);
  }
  CHECK(has_phase(info_of(elasticity, "ehyb:paper"), "download"));
  CHECK(has_phase(info_of(arrow_matrix(3000), "ehyb:halo"), "download"));
}
