// SPDX-License-Identifier: Apache-2.0
// `newel bench solve --gpus` and `--ranks`, step by step.
#include <cmath>
#include <new>

#include <newel/core/error.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/place.hpp"
#include "scaling_in.hpp"

namespace newel::cli {
namespace {

// Contexts of a space by rank, and the host's threads for each of so many ranks.
template <Space S>
struct Places;

template <>
struct Places<Space::host> {
  static Context<Space::host> of_rank(int, const Context<Space::host>& own) { return own; }
  static const std::vector<std::string>& formats_of_one() {
    static const std::vector<std::string> names = {"csr"};
    return names;
  }
};

#if NEWEL_HAS_CUDA
template <>
struct Places<Space::device> {
  static Context<Space::device> of_rank(int rank, const Context<Space::host>&) {
    return Context<Space::device>(rank);
  }
  static const std::vector<std::string>& formats_of_one() {
    static const std::vector<std::string> names = {"csr", "ehyb"};
    return names;
  }
};
#endif

ScalingLine refused_line(int ranks, const ScalingRequest& request, const std::string& why) {
  ScalingLine line;
  line.ranks = ranks;
  line.precond = request.precond;
  line.link = request.link;
  line.refused = without_folders(why);
  return line;
}

// f(), or a line with the reason why there is none.
template <class F>
ScalingLine line_of(int ranks, const ScalingRequest& request, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    return refused_line(ranks, request, error.what());
  } catch (const std::bad_alloc&) {
    return refused_line(ranks, request, "the operating system refused an allocation on the host");
  }
}

RankLink link_of(const std::string& name) {
  const std::vector<std::string>& names = link_names();
  return static_cast<RankLink>(std::find(names.begin(), names.end(), name) - names.begin());
}

template <Space S>
ScalingLine measure_team(const Context<Space::host>& host, const ScalingRows& rows, int ranks,
                         const ScalingRequest& request) {
  ScalingLine line;
  RankTeam(ranks).run([&](const std::shared_ptr<Communicator>& rank) {
    const Context<Space::host> own(std::max(1, host.threads() / ranks));
    const Context<S> ctx = Places<S>::of_rank(rank->rank(), own);
    ctx.make_current();
    ScalingLine measured = measure_rank<S>(own, ctx, rank, rows, request, link_of(request.link));
    if (rank->rank() == 0) line = std::move(measured);
  });
  return line;
}

// One rank without ranks.
template <Space S>
ScalingLine measure_alone(const Context<Space::host>& host, const ScalingRows& rows, const ScalingRequest& request,
                          const std::string& format) {
  const Context<S> ctx = Places<S>::of_rank(0, host);
  ctx.make_current();
  return measure_one<S>(host, ctx, rows, request, format);
}

// A small system first: what a first setup on a device loads and compiles is no part of any.
template <Space S>
void warm_up(const Context<Space::host>& host, int ranks, ScalingRequest request, const std::string& format) {
  request.repeats = 1;
  request.loop_iterations = 2;
  const ScalingRows small(host, "generate:diffusion:12");
  static_cast<void>(line_of(ranks, request, [&] {
    return ranks == 1 ? measure_alone<S>(host, small, request, format) : measure_team<S>(host, small, ranks, request);
  }));
}

// `ranks` = 1 is a system without ranks.
template <Space S>
void measure_ranks(const Context<Space::host>& host, const ScalingRows& rows, int ranks,
                   const BenchSolveOptions& options, ScalingSystem& system) {
  ScalingRequest request;
  request.tolerance = options.tolerance;
  request.max_iterations = options.max_iterations;
  request.loop_iterations = options.loop_iterations;
  request.repeats = options.repeats;
  const auto add = [&](ScalingLine line) {
    if (line.entries > 0) system.nonzeros = line.entries;
    system.lines.push_back(std::move(line));
  };
  for (const std::string& precond : options.preconds) {
    request.precond = precond;
    if (ranks == 1) {
      request.link = "none";
      for (const std::string& format : Places<S>::formats_of_one()) {
        warm_up<S>(host, 1, request, format);
        add(line_of(1, request, [&] { return measure_alone<S>(host, rows, request, format); }));
        if (system.lines.back().linked.empty()) system.lines.back().linked = format;
      }
      continue;
    }
    for (const std::string& link : options.links) {
      request.link = link;
      warm_up<S>(host, ranks, request, "");
      add(line_of(ranks, request, [&] { return measure_team<S>(host, rows, ranks, request); }));
    }
  }
}

template <Space S>
ScalingSystem measure_system(const Context<Space::host>& host, const std::string& spec, const std::vector<int>& ranks,
                             const BenchSolveOptions& options) {
  ScalingSystem system;
  system.name = without_folders(spec);
  const ScalingRows rows(host, spec);
  system.rows = rows.rows();
  for (const int count : ranks) measure_ranks<S>(host, rows, count, options, system);
  print_now(scaling_text(system, S));
  return system;
}

template <Space S>
ScalingResult measure_all(const Context<Space::host>& host, const Context<S>& ctx, const BenchSolveOptions& options,
                          const std::string& command_line) {
  ScalingResult result;
  result.space = S;
  result.head = bench_head("newel bench solve", command_line, host, ctx, options.repeats);
  const auto write = [&] {
    if (!options.report.empty()) write_bench_files(options.report, scaling_json(result, options), "", "");
  };
  for (const std::string& spec : options.systems) {
    result.systems.push_back(measure_system<S>(host, spec, options.shares, options));
    write();
  }
  for (const std::string& spec : options.weak) {
    result.weak.push_back({spec, {}});
    for (const int ranks : options.shares) {
      result.weak.back().systems.push_back(measure_system<S>(host, scaled_spec(spec, ranks), {ranks}, options));
      write();
    }
    print_now(weak_text(result.weak.back(), S));
  }
  return result;
}

bool all_converged(const ScalingResult& result) {
  std::size_t measured = 0;
  bool converged = true;
  const auto look = [&](const std::vector<ScalingSystem>& systems) {
    for (const ScalingSystem& system : systems) {
      for (const ScalingLine& line : system.lines) {
        if (!line.measured()) continue;
        ++measured;
        converged = converged && line.converged;
      }
    }
  };
  look(result.systems);
  for (const WeakScaling& weak : result.weak) look(weak.systems);
  return converged && measured > 0;
}

}  // namespace

std::string scaled_spec(const std::string& spec, int ranks) {
  const std::size_t begin = spec.find(':', spec.find(':') + 1) + 1;
  const std::size_t end = std::min(spec.find(':', begin), spec.size());
  const double n = std::stod(spec.substr(begin, end - begin));
  const auto scaled = static_cast<std::int64_t>(std::lround(n * std::cbrt(static_cast<double>(ranks))));
  return spec.substr(0, begin) + std::to_string(scaled) + spec.substr(end);
}

const std::vector<std::string>& link_names() {
  static const std::vector<std::string> names = {"automatic", "peers", "nccl", "host"};
  return names;
}

int run_bench_scaling(const BenchSolveOptions& options, const std::string& command_line) {
  const int most = *std::max_element(options.shares.begin(), options.shares.end());
  const Place place = options.on_gpus ? choose_gpus(most) : choose_place("host");
  check_bench_files(options.systems, options.report, "");
  const Context<Space::host> host(options.threads);
  const ScalingResult result =
      at_place(place, host, [&](const auto& ctx) { return measure_all(host, ctx, options, command_line); });
  return all_converged(result) ? exit_converged : exit_not_converged;
}

}  // namespace newel::cli
