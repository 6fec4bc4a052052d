// SPDX-License-Identifier: Apache-2.0
// Systems of the comparison programs: where they come from, and one measured after another.
#include "comparison.hpp"

#include <cstdio>
#include <exception>

#include <newel/io/matrix_file.hpp>

#include "apps/fem/problem.hpp"

namespace newel::bench {

Csr<double, Space::host> system_of(const std::string& spec) {
  const Context<Space::host> ctx;
  if (spec.rfind("generate:", 0) != 0) return read_matrix_file(ctx, spec).a;
  return make_csr(ctx, CsrView<double, Space::host>(fem::generate_matrix(ctx, spec)));
}

int measure_systems(Json report, const std::vector<std::string>& systems, const std::string& file,
                    const std::function<Json(const std::string&)>& measure) {
  report["systems"] = Json::array();
  int failures = 0;
  for (const std::string& spec : systems) {
    try {
      report["systems"].push_back(measure(spec));
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "%s: %s\n", spec.c_str(), failure.what());
      report["systems"].push_back({{"system", spec.substr(spec.rfind('/') + 1)}, {"error", failure.what()}});
      ++failures;
    }
    if (!file.empty()) write_report(file, report);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace newel::bench
