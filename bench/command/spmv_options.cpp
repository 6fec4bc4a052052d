// SPDX-License-Identifier: Apache-2.0
// What `newel bench spmv` takes, and what its columns mean.
#include "run_options.hpp"

namespace newel::cli {
namespace {

constexpr const char* columns =
    "Every format is compared with cuSPARSE's (device) or with csr and Eigen (host), turn by turn in one process.\n"
    "Times are those of y = A x in the format's own order, medians of the repeats:\n"
    "  ms           products in a row; cold ms: each after a write that empties the caches\n"
    "  MB           bytes that a product moves by the format's own count; copy%: of a copy's bandwidth, in this run\n"
    "  roof%        of the speed of a CSR product that reads every array once, at that bandwidth\n"
    "  speed-up     over the fastest competitor\n"
    "  error        the worst row, in units of what rounding allows; above 1 it is WRONG and the exit status 1\n"
    "  beta, B      non-zeros over stored slots; bytes per floating-point operation (2 per non-zero)\n"
    "  P_max        GFLOP/s that B allows at the copy's bandwidth\n"
    "  in products  the setup before it, or the refresh, in units of the format's own product\n"
    "  pays back    products after which setup and products cost less than those of the fastest cuSPARSE format\n"
    "               (host: of csr); never, if the product is not faster\n"
    "With --columns, one product with k vectors, which lie interleaved, as solves with several right-hand sides "
    "use:\n"
    "  ms           of all k; in products: with one vector, so that less than k is a gain";

std::vector<int> checked_columns(const std::string& given) {
  std::vector<int> columns;
  if (given.empty()) return columns;
  for (const std::string& count : names_of(given, "--columns", {}, [](const std::string& one) {
         return check_choice(one, "--columns", {"2", "4", "8"});
       })) {
    columns.push_back(std::stoi(count));
  }
  return columns;
}

}  // namespace

CLI::App& add_bench_spmv(CLI::App& bench, RawBench& raw) {
  BenchOptions& o = raw.options;
  CLI::App& spmv = *bench.add_subcommand("spmv", "Time the products of all formats on the given systems");
  const OptionGroup group(spmv);
  add_bench_systems(spmv, o);
  group.add("--formats", raw.formats, "all|NAME,NAME...",
            "Names of formats, with or without variant; default all, with all variants");
  group.add("--precision", raw.precision, "both|double|single", "Precision of matrix and vectors, default both");
  group.add("--columns", raw.columns, "K,K...", "Products with 2, 4 or 8 vectors at once, too");
  add_bench_run(spmv, o, "multiply", "format");
  spmv.footer(columns);
  spmv.allow_extras();
  return spmv;
}

BenchOptions checked_bench(const RawBench& raw) {
  BenchOptions o = raw.options;
  take_precision(raw.precision, o);
  o.formats = names_of(raw.formats, "--formats", {},
                       [](const std::string& name) { return check_table_format(name, "--formats"); });
  o.columns = checked_columns(raw.columns);
  return o;
}

}  // namespace newel::cli
