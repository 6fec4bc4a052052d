// SPDX-License-Identifier: Apache-2.0
// Every format and every preconditioner on one step of the run.
#include "comparison.hpp"

#include <algorithm>
#include <array>

#include <newel/config.hpp>
#include <newel/core/error.hpp>

#include "apps/common/break_even.hpp"
#include "apps/common/names.hpp"
#include "apps/common/run_clock.hpp"
#include "apps/common/text.hpp"

namespace newel::heat {
namespace {

using cli::text;

std::string family(const std::string& name) { return name.substr(0, name.find(':')); }

template <Space S>
void measure(const Context<S>& ctx, const CsrView<double, S>& a, const SampleStep& sample, SystemOptions options,
             Trial& trial) {
  const Array<double, S> b = make_array(ctx, sample.rhs);
  Array<double, S> x = make_array(ctx, sample.guess);
  ctx.synchronize();
  const cli::Stopwatch setup;
  LinearSystem<double, S> system(ctx, a, std::move(options));
  ctx.synchronize();
  trial.setup_seconds = setup.seconds();
  trial.format = system.info().matrix.name;
  Array<double, S> b_ordered(ctx, b.size()), guess(ctx, b.size());
  system.ordered().from_user_order(b.cspan(), b_ordered.span());
  system.ordered().from_user_order(x.cspan(), guess.span());
  std::array<double, 3> seconds{};
  const auto solve = [&] {
    copy<double>(ctx, guess.cspan(), x.span());
    ctx.synchronize();
    const cli::Stopwatch watch;
    const SolveReport report = system.ordered().solve(b_ordered.cspan(), x.span());
    if (!report.converged()) trial.failure = std::string(name_of(report.status)) + ": " + report.reason;
    trial.iterations = report.iterations;
    return watch.seconds();
  };
  (void)solve();  // the first one wakes caches and kernels up
  for (double& s : seconds) s = solve();
  trial.solve_seconds = *std::min_element(seconds.begin(), seconds.end());
}

template <Space S>
std::vector<Trial> measure_group(const Context<S>& ctx, const CsrView<double, S>& a, const SampleStep& sample,
                                 const SystemOptions& used, std::vector<Trial> trials,
                                 const std::function<bool()>& stop) {
  for (Trial& trial : trials) {
    if (stop()) {
      trial.failure = "not measured";
      continue;
    }
    SystemOptions options = used;
    options.spmv.format = trial.format;
    options.precond.name = trial.precond;
    try {
      measure(ctx, a, sample, options, trial);
    } catch (const Error& error) {
      trial.failure = error.what();
    }
  }
  const auto base = std::find_if(trials.begin(), trials.end(), [](const Trial& t) { return t.baseline; });
  if (base == trials.end() || !base->failure.empty()) return trials;
  for (Trial& trial : trials) {
    if (trial.baseline || !trial.failure.empty()) continue;
    trial.break_even_solves =
        cli::break_even(trial.setup_seconds, trial.solve_seconds, base->setup_seconds, base->solve_seconds);
  }
  return trials;
}

cli::Json group_json(const std::vector<Trial>& trials) {
  cli::Json json = cli::Json::array();
  for (const Trial& t : trials) {
    json.push_back({{"format", t.format},
                    {"preconditioner", t.precond},
                    {"used", t.used},
                    {"baseline", t.baseline},
                    {"setup_seconds", t.setup_seconds},
                    {"solve_seconds", t.solve_seconds},
                    {"iterations", t.iterations},
                    {"break_even_solves", t.break_even_solves ? cli::Json(*t.break_even_solves) : cli::Json()},
                    {"failure", t.failure}});
  }
  return json;
}

std::string verdict(const Trial& t, std::int64_t solves) {
  if (t.baseline) return "reference";
  if (!t.break_even_solves) return "never pays back";
  const double needed = *t.break_even_solves;
  if (needed < 1) return "pays back at once";
  return text("pays back after %s solves%s", cli::thousands(static_cast<std::int64_t>(needed) + 1).c_str(),
              needed < static_cast<double>(solves) ? "" : ", more than this run makes");
}

std::string group_text(const std::string& title, const std::vector<Trial>& trials, bool by_format,
                       std::int64_t solves) {
  std::string lines = text("  %-16s %10s %10s %6s\n", title.c_str(), "setup", "per solve", "iter.");
  for (const Trial& t : trials) {
    const std::string name = (t.used ? "* " : "  ") + (by_format ? t.format : t.precond);
    if (!t.failure.empty()) {
      lines += text("  %-16s %s\n", name.c_str(), t.failure.c_str());
      continue;
    }
    lines += text("  %-16s %10s %10s %6d  %s\n", name.c_str(), cli::duration(t.setup_seconds).c_str(),
                  cli::duration(t.solve_seconds).c_str(), t.iterations, verdict(t, solves).c_str());
  }
  return lines;
}

}  // namespace

template <Space S>
Comparison compare(const Context<S>& ctx, const fem::HostCsr& matrix, const SampleStep& sample,
                   const SystemOptions& used, const std::function<bool()>& stop) {
  Csr<double, S> uploaded;
  CsrView<double, S> a;
  if constexpr (S == Space::host) {
    a = matrix;
  } else {
    uploaded = make_csr(ctx, CsrView<double, Space::host>(matrix));
    a = uploaded;
  }
  std::vector<Trial> formats, preconds;
  for (const std::string& name : cli::format_names()) {
    const bool same = family(name) == family(used.spmv.format);
    formats.push_back({same ? used.spmv.format : name, used.precond.name, same, name == "csr"});
  }
  for (const std::string& name : cli::definite_preconditioner_names()) {
    preconds.push_back({used.spmv.format, name, name == used.precond.name, name == "jacobi"});
  }
  Comparison result;
  result.formats = measure_group(ctx, a, sample, used, std::move(formats), stop);
  result.preconds = measure_group(ctx, a, sample, used, std::move(preconds), stop);
  return result;
}

template Comparison compare(const Context<Space::host>&, const fem::HostCsr&, const SampleStep&, const SystemOptions&,
                            const std::function<bool()>&);
#if NEWEL_HAS_CUDA
template Comparison compare(const Context<Space::device>&, const fem::HostCsr&, const SampleStep&,
                            const SystemOptions&, const std::function<bool()>&);
#endif

cli::Json comparison_json(const Comparison& comparison) {
  return {{"formats", group_json(comparison.formats)}, {"preconditioners", group_json(comparison.preconds)}};
}

std::string comparison_text(const Comparison& comparison, std::int64_t solves) {
  return group_text("format", comparison.formats, true, solves) +
         group_text("preconditioner", comparison.preconds, false, solves) +
         "  * used by this run; times are for one of its steps, the best of three solves\n";
}

}  // namespace newel::heat
