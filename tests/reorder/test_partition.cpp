// SPDX-License-Identifier: Apache-2.0
// Every partitioner on every awkward pattern; what the report says against sets; limits; repeatability.
#include "tests/catch.hpp"

#include <thread>

#include "reorder/parallel_sort.hpp"

#include "tests/reorder/patterns.hpp"

namespace {

constexpr Partitioner without_coordinates[] = {Partitioner::automatic, Partitioner::natural, Partitioner::metis,
                                               Partitioner::greedy};

PartitionOptions options_for(Partitioner method, Index parts, Index most_part_rows = 0) {
  PartitionOptions options;
  options.method = method;
  options.parts = parts;
  options.most_part_rows = most_part_rows;
  return options;
}

// One node a row, anywhere.
NodeCoordinates random_points(Index points, int dimension) {
  NodeCoordinates x;
  x.dimension = dimension;
  x.xyz = random_vector<double>(Offset{points} * dimension, 3);
  return x;
}

// Valid, within the limits, and reported as it is.
void check_partition(const HostCsr& a, const PartitionOptions& options, const Partition& partition) {
  REQUIRE(partition.part_of_row.size() == static_cast<std::size_t>(a.rows));
  for (const Index p : partition.part_of_row) REQUIRE((0 <= p && p < partition.parts));
  const Quality q = quality_of(a, partition.part_of_row, partition.parts);
  CHECK((a.rows == 0 || q.smallest_part > 0));
  if (options.most_part_rows > 0) {
    CHECK(q.largest_part <= options.most_part_rows);
  } else {
    CHECK(partition.parts == std::min(options.parts, a.rows));
  }
  CHECK(partition.report.parts == partition.parts);
  CHECK(partition.report.cut == q.cut);
  CHECK(partition.report.halo == q.halo);
  CHECK(partition.report.largest_part == q.largest_part);
  CHECK(partition.report.smallest_part == q.smallest_part);
  CHECK(partition.report.largest_halo == q.largest_halo);
  CHECK(partition.report.fullest_part == q.fullest_part);
}

Partition partition_of(const HostCsr& a, const PartitionOptions& options, int threads = 3) {
  return make_partition(Context<Space::host>(threads), pattern_of(a), options);
}

Partition checked_partition(const HostCsr& a, const PartitionOptions& options) {
  Partition partition = partition_of(a, options);
  check_partition(a, options, partition);
  return partition;
}

}  // namespace

TEST_CASE("Every partitioner cuts every awkward pattern into valid parts", "[reorder]") {
  for (const auto& [name, a] : awkward_square_matrices()) {
    for (const Partitioner method : without_coordinates) {
      for (const Index parts : {1, 2, 7, 100}) {
        INFO(name << ", " << name_of(method) << ", " << parts << " parts");
        checked_partition(a, options_for(method, parts));
        checked_partition(a, options_for(method, parts, std::max<Index>(1, a.rows / parts)));
        checked_partition(a, options_for(method, parts, 3 * a.rows / (2 * parts) + 1));
      }
    }
    for (const int dimension : {1, 2, 3}) {
      INFO(name << ", coordinates in " << dimension << " dimensions");
      const NodeCoordinates x = random_points(a.rows, dimension);
      PartitionOptions options = options_for(Partitioner::coordinates, 7, a.rows / 9 + 1);
      options.coordinates = &x;
      checked_partition(a, options);
    }
  }
}

TEST_CASE("Limits hold on a star, on isolated rows and on many components", "[reorder]") {
  HostCsr components = blown_up(diagonal_matrix(400), 5);
  for (const HostCsr& a : {arrow_matrix(2000), empty_matrix(2000, 2000), components}) {
    for (const Partitioner method : without_coordinates) {
      for (const Index limit : {1, 2, 4, 97, 250}) {
        INFO(name_of(method) << " with at most " << limit);
        const Partition p = checked_partition(a, options_for(method, 8, limit));
        CHECK(p.parts >= (2000 + limit - 1) / limit);
      }
    }
  }
}

TEST_CASE("There are as many parts as rows where more are wanted, and none without rows", "[reorder]") {
  for (const Partitioner method : without_coordinates) {
    INFO(name_of(method));
    CHECK(checked_partition(tridiagonal_matrix(5), options_for(method, 9)).parts == 5);
    CHECK(checked_partition(tridiagonal_matrix(1), options_for(method, 9)).parts == 1);
    CHECK(checked_partition(blown_up(diagonal_matrix(2), 4), options_for(method, 8)).parts == 8);
    CHECK(checked_partition(empty_matrix(0, 0), options_for(method, 9)).parts == 0);
  }
}

TEST_CASE("The unknowns of a node stay together", "[reorder]") {
  const HostCsr a = fem_matrix("generate:elasticity:8");
  NodeCoordinates x = random_points(a.rows / 3, 3);
  for (const Partitioner method : {Partitioner::automatic, Partitioner::natural, Partitioner::metis,
                                   Partitioner::greedy, Partitioner::coordinates}) {
    for (const Index limit : {0, 50, 51}) {
      PartitionOptions options = options_for(method, 40, limit);
      options.node_rows = 3;
      options.coordinates = method == Partitioner::coordinates ? &x : nullptr;
      const Partition p = checked_partition(a, options);
      for (Index i = 0; i < a.rows; ++i) REQUIRE(p.part_of_row[i] == p.part_of_row[i / 3 * 3]);
    }
  }
  // Even where there are more parts than merged rows: one dense block of 12 rows is four nodes.
  PartitionOptions options = options_for(Partitioner::greedy, 4);
  options.node_rows = 3;
  const Partition p = partition_of(blown_up(diagonal_matrix(1), 12), options);
  CHECK(p.parts == 4);
  for (Index i = 0; i < 12; ++i) CHECK(p.part_of_row[i] == p.part_of_row[i / 3 * 3]);
}

TEST_CASE("METIS finds the two halves of a dumbbell", "[reorder]") {
  // Two full blocks of 40 rows, shuffled into each other, and one entry between them.
  MapRows rows(80);
  for (Index i = 0; i < 80; ++i) {
    for (Index j = i % 2; j < 80; j += 2) rows[i][j] = 1;
  }
  rows[0][1] = 1;
  for (const Partitioner method : {Partitioner::metis, Partitioner::greedy}) {
    PartitionOptions options = options_for(method, 2);
    const Partition p = partition_of(from_rows(80, rows), options);
    INFO(name_of(method));
    CHECK(p.report.cut == 1);
    CHECK(p.report.halo == 1);
    CHECK(p.report.largest_part == 40);
  }
}

TEST_CASE("On a renumbered mesh METIS reads less from outside than greedy growth, and both less than natural ranges",
          "[reorder]") {
  const HostCsr a = fem_matrix("generate:diffusion:24");
  const auto halo = [&](Partitioner method) {
    const Partition p = checked_partition(a, options_for(method, 30));
    CHECK(p.report.method == name_of(method));
    CHECK(p.report.largest_part <= 1.1 * a.rows / 30);
    return p.report.halo;
  };
  const Offset metis = halo(Partitioner::metis), greedy = halo(Partitioner::greedy);
  const Offset natural = halo(Partitioner::natural);
  CHECK(metis < greedy);
  CHECK(greedy < 0.8 * natural);
  PartitionOptions options = options_for(Partitioner::metis, 30);
  options.minimise_halo = true;
  CHECK(checked_partition(a, options).report.halo < 1.05 * metis);
  options.coarsen_rounds = 0;
  CHECK(checked_partition(a, options).report.halo < 1.05 * metis);
  options.method = Partitioner::automatic;
  CHECK(partition_of(a, options).report.method == "greedy");
}

TEST_CASE("A band needs no partitioner: automatic keeps natural ranges", "[reorder]") {
  const HostCsr a = tridiagonal_matrix(4000);
  const Partition p = checked_partition(a, options_for(Partitioner::automatic, 10));
  CHECK(p.report.method == "natural");
  CHECK(p.report.halo == 18);
}

TEST_CASE("Almost equal parts cost little", "[reorder]") {
  const HostCsr a = fem_matrix("generate:diffusion:24");
  const Offset free = partition_of(a, options_for(Partitioner::metis, 24)).report.halo;
  const Partition p = checked_partition(a, options_for(Partitioner::metis, 24, 580));  // 576 are the mean
  CHECK(p.parts <= 25);
  CHECK(p.report.halo < 1.05 * free);
}

TEST_CASE("A Hilbert curve through a grid cuts it into compact parts", "[reorder]") {
  // 64 x 64 points in 16 parts: the curve fills one 16 x 16 square after the other.
  const Index side = 64;
  NodeCoordinates x;
  x.dimension = 2;
  for (Index i = 0; i < side * side; ++i) {
    x.xyz.push_back(1e9 + 0.5 * (i % side));
    x.xyz.push_back(-3 + 0.5 * (i / side));
  }
  PartitionOptions options = options_for(Partitioner::coordinates, 16);
  options.coordinates = &x;
  const Partition p = partition_of(empty_matrix(side * side, side * side), options);
  for (Index i = 0; i < side * side; ++i) {
    const Index corner = i / side / 16 * 16 * side + i % side / 16 * 16;
    REQUIRE(p.part_of_row[i] == p.part_of_row[corner]);
  }
  // Squares that follow each other on the curve share a side.
  std::vector<std::pair<Index, Index>> square(16);
  for (Index r = 0; r < 4; ++r) {
    for (Index c = 0; c < 4; ++c) square[p.part_of_row[16 * r * side + 16 * c]] = {r, c};
  }
  for (Index s = 1; s < 16; ++s) {
    CHECK(std::abs(square[s].first - square[s - 1].first) + std::abs(square[s].second - square[s - 1].second) == 1);
  }
}

TEST_CASE("A curve through a crowd with one node far away is cut evenly, by any number of threads", "[reorder]") {
  // All but one node share the curve's first stretch.
  const Index n = 140001;
  NodeCoordinates coordinates;
  coordinates.dimension = 2;
  coordinates.xyz = random_vector<double>(2 * n, 11);
  coordinates.xyz[2 * 777] = coordinates.xyz[2 * 777 + 1] = 1e4;
  const HostCsr a = tridiagonal_matrix(n);
  PartitionOptions options;
  options.method = Partitioner::coordinates;
  options.parts = 7;
  options.coordinates = &coordinates;
  const Partition one = make_partition(Context<Space::host>(1), pattern_of(a), options);
  const Partition four = make_partition(Context<Space::host>(4), pattern_of(a), options);
  CHECK(one.part_of_row == four.part_of_row);
  CHECK(one.report.largest_part - one.report.smallest_part <= 1);
  CHECK(one.part_of_row[777] == 6);
  // Compact: a part of a square that holds a seventh of it reaches over less than all of it in one direction.
  for (Index part = 0; part < 6; ++part) {
    double low[2] = {2, 2}, high[2] = {-2, -2};
    for (Index i = 0; i < n; ++i) {
      if (one.part_of_row[i] != part || i == 777) continue;
      for (int d = 0; d < 2; ++d) {
        low[d] = std::min(low[d], coordinates.xyz[2 * i + d]);
        high[d] = std::max(high[d], coordinates.xyz[2 * i + d]);
      }
    }
    CHECK((high[0] - low[0]) * (high[1] - low[1]) < 0.5 * 2 * 2);
  }
}

TEST_CASE("Pieces sorted and merged by several threads are one sorted array", "[reorder]") {
  for (const std::int64_t n : {0, 1, 2, 32768, 65537, 300000}) {
    for (const int threads : {1, 2, 3, 4, 7, 8}) {
      const Context<Space::host> ctx(threads);
      // Few different numbers, so that the merges' shares begin within equal ones.
      std::vector<std::pair<Index, Index>> expected;
      std::uint32_t state = 1;
      for (std::int64_t i = 0; i < n; ++i) {
        state = state * 1664525u + 1013904223u;
        expected.emplace_back(static_cast<Index>(state >> 29), static_cast<Index>(i));
      }
      Array<std::uint64_t, Space::host> found(ctx, n);
      for (std::int64_t i = 0; i < n; ++i) {
        found[i] =
            static_cast<std::uint64_t>(expected[i].first) << 32 | static_cast<std::uint32_t>(expected[i].second);
      }
      std::sort(expected.begin(), expected.end());
      detail::parallel_sort(ctx, found, [](std::uint64_t x, std::uint64_t y) { return x < y; });
      bool same = true;
      for (std::int64_t i = 0; i < n; ++i) {
        same = same && static_cast<Index>(found[i] >> 32) == expected[i].first &&
               static_cast<Index>(found[i] & 0xffffffffu) == expected[i].second;
      }
      INFO(n << " values, " << threads << " threads");
      CHECK(same);
    }
  }
}

TEST_CASE("A partition does not depend on the number of threads", "[reorder]") {
  for (const HostCsr& a : {fem_matrix("generate:elasticity:14"), power_law_matrix(4000), dominant_matrix(3000)}) {
    for (const Partitioner method : {Partitioner::metis, Partitioner::greedy}) {
      const PartitionOptions options = options_for(method, 20, a.rows / 19);
      const Partition one = partition_of(a, options, 1);
      for (const int threads : {2, 5}) CHECK(partition_of(a, options, threads).part_of_row == one.part_of_row);
    }
  }
  NodeCoordinates x = random_points(50000, 3);
  PartitionOptions options = options_for(Partitioner::coordinates, 20);
  options.coordinates = &x;
  const HostCsr a = diagonal_matrix(50000);
  CHECK(partition_of(a, options, 1).part_of_row == partition_of(a, options, 5).part_of_row);
}

TEST_CASE("Two threads may ask for partitions at once", "[reorder]") {
  const HostCsr a = fem_matrix("generate:diffusion:18");
  const PartitionOptions options = options_for(Partitioner::metis, 16);
  const Partition expected = partition_of(a, options, 1);
  std::vector<Partition> found(6);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int k = t; k < 6; k += 2) found[k] = partition_of(a, options, 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Partition& p : found) CHECK(p.part_of_row == expected.part_of_row);
}

TEST_CASE("METIS leaves the caller's random numbers alone", "[reorder]") {
  const HostCsr a = fem_matrix("generate:diffusion:12");
  std::srand(42);
  const int first = std::rand(), second = std::rand();
  std::srand(42);
  CHECK(std::rand() == first);
  CHECK(partition_of(a, options_for(Partitioner::metis, 8)).report.method == "metis");
  CHECK(std::rand() == second);
}

TEST_CASE("Too few vertices for METIS: the greedy partitioner says that it stepped in", "[reorder]") {
  const Partition p = checked_partition(tridiagonal_matrix(20), options_for(Partitioner::metis, 10));
  CHECK(p.report.method == "greedy (too few vertices for METIS)");
}

TEST_CASE("A wish that makes no sense is refused with what was expected", "[reorder]") {
  const auto attempt = [](const PartitionOptions& options) { return partition_of(tridiagonal_matrix(12), options); };
  CHECK_THROWS_AS(partition_of(empty_matrix(3, 4), PartitionOptions()), InputError);
  CHECK_THROWS_AS(attempt(options_for(Partitioner::metis, 0)), InputError);
  CHECK_THROWS_AS(attempt(options_for(Partitioner::metis, 2, -1)), InputError);
  CHECK_THROWS_AS(attempt(options_for(Partitioner::coordinates, 2)), InputError);
  PartitionOptions options = options_for(Partitioner::natural, 2);
  options.node_rows = 5;
  CHECK_THROWS_AS(attempt(options), InputError);
  options.node_rows = 1;
  options.coarsen_rounds = -1;
  CHECK_THROWS_AS(attempt(options), InputError);
  NodeCoordinates x = random_points(5, 3);
  options = options_for(Partitioner::coordinates, 2);
  options.coordinates = &x;
  CHECK_THROWS_AS(attempt(options), InputError);
  x = random_points(4, 3);
  CHECK(attempt(options).parts == 2);
  options.most_part_rows = 2;
  CHECK_THROWS_AS(attempt(options), InputError);
  options.most_part_rows = 0;
  x.xyz[7] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_AS(attempt(options), InputError);
  x = random_points(4, 3);
  x.dimension = 4;
  CHECK_THROWS_AS(attempt(options), InputError);
  for (const char* name : {"automatic", "natural", "metis", "coordinates", "greedy"}) {
    CHECK(name_of(partitioner_named(name)) == name);
  }
  CHECK_THROWS_AS(partitioner_named("scotch"), InputError);
}

TEST_CASE("Rows are sorted by part and keep their order within it", "[reorder]") {
  Partition partition;
  partition.part_of_row = {2, 0, 2, 1, 0, 2};
  partition.parts = 3;
  for (const int threads : {1, 4}) {
    const PartOrder order = order_by_parts(Context<Space::host>(threads), partition);
    CHECK(order.old_of_new == std::vector<Index>{1, 4, 3, 0, 2, 5});
    CHECK(order.part_begin == std::vector<Index>{0, 2, 3, 6});
  }
  const PartOrder none = order_by_parts(Context<Space::host>(2), Partition());
  CHECK(none.old_of_new.empty());
  CHECK(none.part_begin == std::vector<Index>{0});
}

TEST_CASE("Sorting by part is stable for any number of threads", "[reorder]") {
  Partition partition;
  Random random(9);
  partition.parts = 37;
  for (Index i = 0; i < 20000; ++i) partition.part_of_row.push_back(random.index(37));
  std::vector<Index> expected(20000);
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](Index i, Index j) { return partition.part_of_row[i] < partition.part_of_row[j]; });
  for (const int threads : {1, 3, 8}) {
    CHECK(order_by_parts(Context<Space::host>(threads), partition).old_of_new == expected);
  }
}
