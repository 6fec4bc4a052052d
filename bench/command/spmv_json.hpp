// SPDX-License-Identifier: Apache-2.0
/// The measurements of `newel bench spmv` for programs: JSON and CSV.
#pragma once

#include <string>

#include "spmv_result.hpp"

namespace newel::cli {

/// r.json: what docs/reports.md says, command, date, machine; then
///   copy             bytes, gigabytes_per_second {min, median, max, samples}
///   displacing_bytes written before each cold product
///   systems          system (without folders), precision, rows, cols, nonzeros, block, refused (null or why there
///                    are no formats; the sizes are null where the matrix could not be read), best_competitor,
///                    break_even_competitor (names or null), formats: one object each
///   geometric_means  name, precision, speedup over the best competitor, systems, of
/// A format has name, built (what it became), detail, competitor, refused (null or the reason, and then nothing but
/// these), same_as (null or the line that was timed for both), wrong, error_in_bounds; warm, cold and refresh
/// {milliseconds}; gflops, bytes_per_product, gigabytes_per_second, percent_of_copy, percent_of_csr_roofline;
/// stored_slots, padding, beta, code_balance, p_max_gflops, cached_share, bytes by part, figures; order {method,
/// figures}; setup_seconds {plan, permute, format, total}, plan_phases, format_phases; setup_in_products,
/// refresh_in_products; speedup over the best competitor; break_even: products, null for never and for the line that
/// it is reckoned against. Numbers that are not finite are null.
Json bench_json(const BenchResult& result);

/// One line for each system, precision and format, under a header; one for a system without formats, with the reason.
/// Empty fields for what there is not.
std::string bench_csv(const BenchResult& result);

}  // namespace newel::cli
