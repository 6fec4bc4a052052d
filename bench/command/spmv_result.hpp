// SPDX-License-Identifier: Apache-2.0
/// What `newel bench spmv` has measured: lines of systems.
#pragma once

#include <string>
#include <vector>

#include <newel/reorder/row_order.hpp>
#include <newel/spmv/operator.hpp>

#include "bench/memory_traffic.hpp"
#include "apps/common/json_file.hpp"
#include "session.hpp"

namespace newel::cli {

/// Products with several vectors at once.
struct ColumnsProduct {
  int columns;
  bench::Samples warm;  ///< seconds of one product with all of them
};

/// One contender on one system. Seconds throughout.
struct BenchLine {
  std::string name;         ///< as requested; `info.name` is what was built
  bool competitor = false;  ///< one of those that the others are compared with
  bool break_even = false;  ///< one of those whose setup and products are to be undercut
  std::string refused;      ///< why there is nothing else; empty where it was measured
  std::string same_as;      ///< the line with the same arrays, whose products were timed for both; or empty
  OperatorInfo info;
  OrderReport order;
  double plan_seconds = 0;
  double permute_seconds = 0;
  double format_seconds = 0;
  double error = 0;  ///< of the worst row, in units of its bound
  bench::Samples warm, cold, refresh;
  std::vector<ColumnsProduct> columns;  ///< of each number that was requested

  bool measured() const { return refused.empty(); }
  bool wrong() const { return measured() && !(error <= 1); }
  double setup_seconds() const { return plan_seconds + permute_seconds + format_seconds; }
};

struct BenchSystem : BenchedSystem {
  Index cols = 0;
  Index block = 1;  ///< of node_block_size
  std::vector<BenchLine> lines;
};

struct BenchResult {
  Json head;  ///< program, command, machine
  bench::CopyBandwidth copy;
  std::uint64_t displacing_bytes = 0;  ///< written before each cold product
  std::vector<BenchSystem> systems;
};

}  // namespace newel::cli
