// SPDX-License-Identifier: Apache-2.0
// What `purlin bench spmv` takes, and what its columns mean.
#include "bench_options.hpp"

#include <algorithm>

#include "exit_status.hpp"
#include "names.hpp"
#include "text.hpp"

namespace purlin::cli {
namespace {

constexpr const char* columns =
    "Every format is compared with cuSPARSE's (device) or with csr and Eigen (host), turn by turn in one process.\n"
    "Times are those of y = A x in the format's own order, medians of the repeats:\n"
    "  ms           products in a row; cold ms: each behind a write that empties the caches\n"
    "  MB           what a product moves by the format's own count; copy%: of a copy's bandwidth, in this run\n"
    "  roof%        of the speed of a CSR product that reads every array once, at that bandwidth\n"
    "  speed-up     over the fastest competitor\n"
    "  error        the worst row, in units of what rounding allows; above 1 it is WRONG and the exit status 1\n"
    "  beta, B      non-zeros over stored slots; bytes a floating-point operation (2 a non-zero)\n"
    "  P_max        GFLOP/s that B allows at the copy's bandwidth\n"
    "  in products  the setup before it, or the refresh, in units of the format's own product\n"
    "  pays back    after so many products: setup and products cost less than those of the fastest cuSPARSE format\n"
    "               (host: of csr); never, where the product is not faster";

}  // namespace

CLI::App& add_bench_spmv(CLI::App& bench, RawBench& raw) {
  BenchOptions& o = raw.options;
  CLI::App& spmv = *bench.add_subcommand("spmv", "Time the products of all formats on the given systems");
  spmv.add_option("A", o.systems,
                  "Matrix Market files (.gz too), generate:elasticity|diffusion|convection|grid7:N[:PE], or\n"
                  "mesh:FILE.mesh:elasticity|diffusion|convection[:REFINEMENTS]")
      ->option_text("...")
      ->required();
  spmv.add_option("--formats", raw.formats,
                  "Names of the table, with or without variant; default all, with all variants")
      ->option_text("all|NAME,NAME...");
  spmv.add_option("--precision", raw.precision, "Of matrix and vectors, default both")
      ->option_text("both|double|single");
  spmv.add_option("--device", o.device, "Where to multiply, default auto: cuda if a device answers, else host")
      ->option_text("auto|host|cuda[:N]");
  spmv.add_option("--threads", o.threads, "Host threads, default all")
      ->option_text("N")
      ->check(CLI::Range(1, most_threads));
  spmv.add_option("--repeats", o.repeats, "Rounds in which each takes its turn, default " + std::to_string(o.repeats))
      ->option_text("N")
      ->check(CLI::Range(1, 100000));
  spmv.add_option("--report", o.report, "All figures, written anew after each system")->option_text("R.json");
  spmv.add_option("--csv", o.csv, "One line for each system, precision and format")->option_text("R.csv");
  spmv.footer(columns);
  spmv.allow_extras();
  return spmv;
}

BenchOptions checked_bench(const RawBench& raw) {
  BenchOptions o = raw.options;
  const std::string precision = check_choice(raw.precision, "--precision", {"both", "double", "single"});
  o.double_precision = precision != "single";
  o.single_precision = precision != "double";
  if (raw.formats == "all") return o;
  for (const std::string& given : split(raw.formats, ',')) {
    const std::string name = check_table_format(given, "--formats");
    if (std::find(o.formats.begin(), o.formats.end(), name) != o.formats.end()) {
      throw UsageError("--formats: " + name + " is there twice");
    }
    o.formats.push_back(name);
  }
  return o;
}

}  // namespace purlin::cli
