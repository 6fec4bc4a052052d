// SPDX-License-Identifier: Apache-2.0
// The report, and the table as comma-separated values.
#include "spmv.hpp"

#include "csv.hpp"
#include "session.hpp"

namespace newel::cli {
namespace {

void add_figures(Json& json, const BenchLine& line, const BenchFigures& f) {
  json["gflops"] = f.gflops;
  json["bytes_per_product"] = line.info.bytes_per_product;
  json["gigabytes_per_second"] = 1e-9 * f.bytes_per_second;
  json["percent_of_copy"] = 100 * f.share_of_copy;
  json["percent_of_csr_roofline"] = 100 * f.share_of_roofline;
  json["stored_slots"] = line.info.stored_slots;
  json["padding"] = line.info.padding_ratio();
  json["beta"] = f.beta;
  json["code_balance"] = f.code_balance;
  json["p_max_gflops"] = f.p_max_gflops;
  json["cached_share"] = line.info.cached_share;
  json["bytes"] = object_of(line.info.bytes);
  json["figures"] = object_of(line.info.figures);
  json["order"] = {{"method", or_null(line.order.method)}, {"figures", object_of(line.order.figures)}};
  json["setup_seconds"] = {{"plan", line.plan_seconds},
                           {"permute", line.permute_seconds},
                           {"format", line.format_seconds},
                           {"total", line.setup_seconds()}};
  json["plan_phases"] = object_of(line.order.seconds);
  json["format_phases"] = object_of(line.info.setup_seconds);
  json["setup_in_products"] = f.setup_in_products;
  json["refresh_in_products"] = f.refresh_in_products;
  json["speedup"] = or_null(f.speedup);
  json["break_even"] = or_null(f.break_even);
}

Json columns_json(const BenchLine& line) {
  Json json = Json::array();
  for (const ColumnsProduct& of : line.columns) {
    Json product = {{"columns", of.columns}};
    product.update(bench::milliseconds(of.warm));
    product["in_products"] = bench::median(of.warm) / bench::median(line.warm);
    json.push_back(product);
  }
  return json;
}

Json line_json(const BenchLine& line, const BenchSystem& system, const bench::CopyBandwidth& copy) {
  Json json = {{"name", line.name}, {"competitor", line.competitor}, {"refused", or_null(line.refused)}};
  if (!line.measured()) return json;
  json["built"] = line.info.name;
  json["detail"] = line.info.detail;
  json["same_as"] = or_null(line.same_as);
  json["wrong"] = line.wrong();
  json["error_in_bounds"] = line.error;
  json["warm"] = bench::milliseconds(line.warm);
  json["cold"] = bench::milliseconds(line.cold);
  json["refresh"] = bench::milliseconds(line.refresh);
  json["columns"] = columns_json(line);
  add_figures(json, line, figures_of(line, system, copy));
  return json;
}

Json name_or_null(const BenchLine* line) { return line == nullptr ? Json() : Json(line->name); }

Json system_json(const BenchSystem& system, const bench::CopyBandwidth& copy) {
  Json json = {{"system", without_folders(system.name)},
               {"precision", system.precision()},
               {"rows", size_or_null(system, system.rows)},
               {"cols", size_or_null(system, system.cols)},
               {"nonzeros", size_or_null(system, system.nonzeros)},
               {"block", size_or_null(system, system.block)},
               {"refused", or_null(system.refused)},
               {"best_competitor", name_or_null(best_competitor(system))},
               {"break_even_competitor", name_or_null(break_even_competitor(system))},
               {"formats", Json::array()}};
  for (const BenchLine& line : system.lines) json["formats"].push_back(line_json(line, system, copy));
  return json;
}

constexpr const char* csv_columns =
    "system precision rows cols nonzeros format=name built refused wrong error_in_bounds "
    "warm_ms=warm.milliseconds.median warm_ms_min=warm.milliseconds.min warm_ms_max=warm.milliseconds.max "
    "cold_ms=cold.milliseconds.median gflops bytes_per_product gigabytes_per_second percent_of_copy "
    "percent_of_csr_roofline padding beta code_balance p_max_gflops plan_seconds=setup_seconds.plan "
    "permute_seconds=setup_seconds.permute format_seconds=setup_seconds.format setup_seconds=setup_seconds.total "
    "setup_in_products refresh_ms=refresh.milliseconds.median refresh_in_products speedup break_even";

}  // namespace

Json bench_json(const BenchResult& result) {
  Json json = result.head;
  json["copy"] = copy_json(result.copy);
  json["displacing_bytes"] = result.displacing_bytes;
  json["systems"] = Json::array();
  for (const BenchSystem& system : result.systems) json["systems"].push_back(system_json(system, result.copy));
  json["geometric_means"] = Json::array();
  for (const BenchMean& mean : geometric_means(result.systems)) {
    json["geometric_means"].push_back({{"name", mean.name},
                                       {"precision", mean.single_precision ? "single" : "double"},
                                       {"speedup", mean.systems == 0 ? Json() : Json(mean.speedup)},
                                       {"systems", mean.systems},
                                       {"of", mean.of}});
  }
  return json;
}

std::string bench_csv(const BenchResult& result) { return csv_of(bench_json(result), "formats", csv_columns); }

}  // namespace newel::cli
