// SPDX-License-Identifier: Apache-2.0
// Parts that are found on the device: valid, reported as they are, near the host's, the same on every run; and what
// is left to the host.

#include <newel/spmv/registry.hpp>
#include "reorder/partition_device.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"

#include "tests/catch.hpp"
#include "tests/reorder/patterns.hpp"

namespace {

PartitionOptions options_for(Index parts, Index node_rows = 1) {
  PartitionOptions options;
  options.parts = parts;
  options.node_rows = node_rows;
  return options;
}

// The 7-point Laplacian on points of a box, numbered at random.
HostCsr scattered_grid(Index x, Index y, Index z) {
  const std::vector<Index> number = random_order(x * y * z, 5);
  MapRows rows(static_cast<std::size_t>(x * y * z));
  const auto at = [&](Index i, Index j, Index k) { return number[(k * y + j) * x + i]; };
  const auto join = [&](Index a, Index b) { rows[a][b] = rows[b][a] = -1; };
  for (Index k = 0; k < z; ++k) {
    for (Index j = 0; j < y; ++j) {
      for (Index i = 0; i < x; ++i) {
        rows[at(i, j, k)][at(i, j, k)] = 6;
        if (i > 0) join(at(i, j, k), at(i - 1, j, k));
        if (j > 0) join(at(i, j, k), at(i, j - 1, k));
        if (k > 0) join(at(i, j, k), at(i, j, k - 1));
      }
    }
  }
  return from_rows(x * y * z, rows);
}

using DeviceView = CsrView<float, Space::device>;

std::optional<Partition> device_partition(const DeviceView& a, const PartitionOptions& options) {
  const Context<Space::device> ctx;
  return detail::make_partition_on_device(ctx, Pattern<Space::device>(a), options);
}

// Checks the report against sets, and the halo against the host's.
void check_parts(const HostCsr& a, const PartitionOptions& options) {
  const Context<Space::device> ctx;
  const auto there = upload_matrix<float>(ctx, a);
  const std::optional<Partition> found = device_partition(there.narrow(), options);
  REQUIRE(found);
  const PartitionReport& report = found->report;
  REQUIRE(found->part_of_row.size() == static_cast<std::size_t>(a.rows));
  REQUIRE(found->parts == options.parts);
  for (const Index p : found->part_of_row) REQUIRE((0 <= p && p < found->parts));
  for (Index i = 0; i < a.rows; ++i) REQUIRE(found->part_of_row[i] == found->part_of_row[i - i % options.node_rows]);
  const Quality q = quality_of(a, found->part_of_row, found->parts);
  CHECK(report.method == "greedy");
  CHECK(report.cut == q.cut);
  CHECK(report.halo == q.halo);
  CHECK(report.largest_part == q.largest_part);
  CHECK(report.smallest_part == q.smallest_part);
  CHECK(report.largest_halo == q.largest_halo);
  CHECK(report.fullest_part == q.fullest_part);
  const Partition host = make_partition(Context<Space::host>(2), pattern_of(a), options);
  CAPTURE(report.halo, host.report.halo, report.largest_part, host.report.largest_part);
  CHECK(report.halo < 1.15 * host.report.halo);
  CHECK(report.largest_part < 1.12 * a.rows / options.parts);
  const std::optional<Partition> again = device_partition(there.wide(), options);
  REQUIRE(again);
  CHECK(again->part_of_row == found->part_of_row);
}

}  // namespace

TEST_CASE("Parts of a tetrahedral mesh are found on the device", "[reorder][device]") {
  check_parts(fem_matrix("generate:diffusion:20"), options_for(20));
}

TEST_CASE("Parts of an elastic body are found on the device, node by node", "[reorder][device]") {
  check_parts(fem_matrix("generate:elasticity:17"), options_for(12, 3));
}

TEST_CASE("Parts of a graph that takes two rounds on the device are found there", "[reorder][device]") {
  check_parts(scattered_grid(32, 28, 24), options_for(9));
}

TEST_CASE("Rows without neighbours make up no parts of their own on the device", "[reorder][device]") {
  for (const Index block : {1, 3}) {
    INFO("block " << block);
    const HostCsr a = blown_up(behind_isolated_rows(scattered_grid(20, 20, 20), 4000), block);
    const PartitionOptions options = options_for(10, block);
    check_parts(a, options);
    const Context<Space::device> ctx;
    const std::optional<Partition> found = device_partition(upload_matrix<float>(ctx, a).narrow(), options);
    REQUIRE(found);
    CHECK(most_entries_over_mean(a, found->part_of_row, found->parts) < 1.1);
  }
}

TEST_CASE("Parts of given points are the host's own, reported on the device", "[reorder][device]") {
  constexpr Index side = 18, points = side * side * side;
  const std::vector<Index> number = random_order(points, 5);  // as scattered_grid has it
  NodeCoordinates coordinates;
  coordinates.xyz.resize(std::size_t{3} * points);
  for (Index i = 0; i < points; ++i) {
    const Index at[] = {i % side, i / side % side, i / (side * side)};
    for (int d = 0; d < 3; ++d) coordinates.xyz[3 * static_cast<std::size_t>(number[i]) + d] = at[d];
  }
  const Context<Space::device> ctx;
  for (const Index block : {1, 3}) {
    const HostCsr a = blown_up(scattered_grid(side, side, side), block);
    PartitionOptions options = options_for(11, block);
    options.method = Partitioner::coordinates;
    options.coordinates = &coordinates;
    const auto there = upload_matrix<float>(ctx, a);
    const std::optional<Partition> found = device_partition(there.wide(), options);
    REQUIRE(found);
    const Partition host = make_partition(Context<Space::host>(2), pattern_of(a), options);
    CHECK(found->parts == host.parts);
    CHECK(found->part_of_row == host.part_of_row);
    CHECK(found->report.method == "coordinates");
    CHECK(found->report.cut == host.report.cut);
    CHECK(found->report.halo == host.report.halo);
    CHECK(found->report.largest_part == host.report.largest_part);
    CHECK(found->report.fullest_part == host.report.fullest_part);
    options.node_rows = block == 1 ? 2 : 1;  // points have other rows than nodes
    CHECK_FALSE(device_partition(there.wide(), options));
  }
  coordinates.xyz.pop_back();
  PartitionOptions options = options_for(11);
  options.method = Partitioner::coordinates;
  options.coordinates = &coordinates;
  const auto there = upload_matrix<float>(ctx, scattered_grid(side, side, side));
  CHECK_THROWS_AS(device_partition(there.wide(), options), InputError);
}

TEST_ON_DEVICE("A band keeps natural ranges on the device", "[reorder][device]") {
  const auto there = upload_matrix<float>(ctx, tridiagonal_matrix(5000));
  const std::optional<Partition> p = device_partition(there.wide(), options_for(10));
  REQUIRE(p);
  CHECK(p->report.method == "natural");
  CHECK(p->report.halo == 18);
  CHECK(p->report.cut == 18);
  for (Index i = 0; i < 5000; ++i) REQUIRE(p->part_of_row[i] == i / 500);
}

TEST_ON_DEVICE("What the device's partitioner does not take is left to the host", "[reorder][device]") {
  const HostCsr mesh = scattered_grid(20, 20, 12);
  const auto there = upload_matrix<float>(ctx, mesh);
  const auto refused = [](const DeviceView& a, const PartitionOptions& options) {
    return !device_partition(a, options).has_value();
  };
  CHECK_FALSE(refused(there.wide(), options_for(6)));
  CHECK(refused(there.wide(), options_for(1)));
  CHECK(refused(there.wide(), options_for(4000)));
  PartitionOptions options = options_for(6);
  options.most_part_rows = 801;  // 800 are the mean
  CHECK(refused(there.wide(), options));
  options = options_for(6);
  options.method = Partitioner::metis;
  CHECK(refused(there.wide(), options));

  HostCsr oblique = mesh;  // one entry goes elsewhere: its opposite is missing
  for (Index i = 1; i < oblique.rows; ++i) {
    const Offset last = oblique.row_ptr[i + 1] - 1;
    if (oblique.col[last] + 1 == oblique.rows) continue;
    ++oblique.col[last];
    break;
  }
  CHECK(refused(upload_matrix<float>(ctx, oblique).wide(), options_for(6)));
  CHECK(refused(upload_matrix<float>(ctx, arrow_matrix(6000)).wide(), options_for(6)));
  CHECK(refused(upload_matrix<float>(ctx, tridiagonal_matrix(1000)).wide(), options_for(6)));
}

TEST_ON_DEVICE("The device finds the blocks of a pattern as the host does", "[reorder][device]") {
  const Context<Space::host> host;
  const HostCsr plain = ragged_matrix(60, 60);
  HostCsr broken = blown_up(tridiagonal_matrix(40), 3);
  broken.col.erase(broken.col.begin() + 30);  // an entry is missing
  broken.val.pop_back();
  for (Index i = 0; i <= broken.rows; ++i) broken.row_ptr[i] -= broken.row_ptr[i] > 30 ? 1 : 0;
  std::vector<HostCsr> all = {plain, broken, empty_matrix(12, 12), diagonal_matrix(12)};
  for (const Index b : {2, 3, 4, 5, 6, 9, 12}) all.push_back(blown_up(tridiagonal_matrix(24), b));
  for (const HostCsr& a : all) {
    CAPTURE(a.rows, a.nnz());
    CHECK(detail::node_block_on_device(ctx, Pattern<Space::device>(upload_matrix<float>(ctx, a).narrow())) ==
          detail::ehyb_block(host, pattern_of(a)));
  }
}

TEST_ON_DEVICE("EHYB's plan on the device is an order by parts, longest rows first", "[reorder][ehyb][device]") {
  for (const char* spec : {"generate:diffusion:18", "generate:elasticity:17"}) {
    INFO(spec);
    const HostCsr a = fem_matrix(spec);
    const auto there = upload_matrix<double>(ctx, a);
    SpmvOptions options;
    options.format = "ehyb";
    options.parts = 11;
    const RowOrder<Space::device> order = plan_order<double>(ctx, Pattern<Space::device>(there.wide()), options);
    const std::vector<Index> old_of_new = download(ctx, order.old_of_new),
                             new_of_old = download(ctx, order.new_of_old);
    REQUIRE(old_of_new.size() == static_cast<std::size_t>(a.rows));
    REQUIRE(new_of_old.size() == old_of_new.size());
    for (Index i = 0; i < a.rows; ++i) REQUIRE(new_of_old.at(static_cast<std::size_t>(old_of_new[i])) == i);
    REQUIRE(order.part_begin.size() == 12);
    CHECK(order.part_begin.back() == a.rows);
    CHECK(order.report.method == "11 parts by greedy");
    for (std::size_t p = 0; p < 11; ++p) {
      for (Index i = order.part_begin[p] + 1; i < order.part_begin[p + 1]; ++i) {
        const auto length = [&](Index row) { return a.row_ptr[old_of_new[row] + 1] - a.row_ptr[old_of_new[row]]; };
        REQUIRE((length(i) < length(i - 1) || (length(i) == length(i - 1) && old_of_new[i] > old_of_new[i - 1])));
      }
    }
  }
}
