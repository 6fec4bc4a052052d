// SPDX-License-Identifier: Apache-2.0
// Options and order through a checkpoint.
#include "resume.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/precond/registry.hpp>

#include "apps/common/precond_options.hpp"
#include "apps/common/precond_report.hpp"

namespace newel::transient {
namespace {

using cli::Json;

enum class Change {
  free,        // may always be given anew
  loses_bits,  // may not where the same bits are promised
  never,
};

// One kept option: its name in the checkpoint and on the command line, and the way to and from RunOptions.
struct Kept {
  std::string key;
  std::string option;
  Change change;
  std::function<Json(const RunOptions&)> get;
  std::function<void(RunOptions&, const Json&)> set;
};

// An option whose place in the options `place` returns.
template <class Place>
Kept kept_option(const std::string& key, const std::string& option, Change change, Place place) {
  return {key, option, change, [place](const RunOptions& o) { return Json(place(o)); },
          [place](RunOptions& o, const Json& json) { json.get_to(place(o)); }};
}

// The options of a table, whose values `bag_of` finds.
template <class BagOf>
void add_rows(std::vector<Kept>& list, const std::vector<MethodOption>& options, BagOf bag_of) {
  for (const MethodOption& option : options) {
    list.push_back({option.key, cli::first_flag(option), Change::loses_bits,
                    [option, bag_of](const RunOptions& o) { return cli::option_json(option.get(bag_of(o))); },
                    [option, bag_of](RunOptions& o, const Json& j) {
                      option.set(bag_of(o), cli::option_value(j, option.get(bag_of(o))));
                    }});
  }
}

std::vector<Kept> kept_list() {
  std::vector<Kept> list = {
      {"mesh", "mesh", Change::never,
       [](const RunOptions& o) { return Json(o.mesh.empty() ? "" : std::filesystem::absolute(o.mesh).string()); },
       [](RunOptions& o, const Json& json) { json.get_to(o.mesh); }},
      kept_option("refine", "--refine", Change::never, std::mem_fn(&RunOptions::refine)),
      kept_option("mesh_unit", "--mesh-unit", Change::never, std::mem_fn(&RunOptions::mesh_unit)),
      kept_option("dt", "--dt", Change::never, std::mem_fn(&RunOptions::dt)),
      kept_option("duration", "--duration", Change::free, std::mem_fn(&RunOptions::duration)),
      kept_option("output_every", "--output-every", Change::free, std::mem_fn(&RunOptions::output_every)),
      kept_option("checkpoint_every", "--checkpoint-every", Change::free, std::mem_fn(&RunOptions::checkpoint_every)),
      kept_option(
          "deterministic", "--deterministic", Change::free, [](auto& o) -> auto& { return o.system.deterministic; }),
      kept_option("threads", "--threads", Change::loses_bits, std::mem_fn(&RunOptions::threads)),
      kept_option(
          "rel_tol", "--tol", Change::loses_bits, [](auto& o) -> auto& { return o.system.stop.rel_tol; }),
      kept_option(
          "solver", "--solver", Change::loses_bits, [](auto& o) -> auto& { return o.system.solver.name; }),
      kept_option(
          "format", "--format", Change::loses_bits, [](auto& o) -> auto& { return o.system.spmv.format; }),
      kept_option(
          "precond", "--precond", Change::loses_bits, [](auto& o) -> auto& { return o.system.precond.name; }),
      kept_option(
          "precond_format", "--precond-format", Change::loses_bits,
          [](auto& o) -> auto& { return o.system.precond.format; }),
  };
  add_rows(
      list, solver_option_list(), [](auto& o) -> auto& { return o.system.solver.methods; });
  add_rows(
      list, precond_option_list(), [](auto& o) -> auto& { return o.system.precond.methods; });
  return list;
}

const Json& kept_value(const Checkpoint& checkpoint, const Json& options, const std::string& key) {
  const auto found = options.find(key);
  if (found == options.end()) {
    throw InputError(checkpoint.file + ": expected an option '" + key + "' in the header, found none");
  }
  return *found;
}

}  // namespace

Json kept_options(const RunOptions& options, const SystemInfo& system, int threads) {
  RunOptions effective = options;
  effective.system.spmv.format = system.matrix.name;
  effective.system.precond.name = system.preconditioner.name;
  effective.threads = threads;
  Json json = Json::object();
  for (const Kept& kept : kept_list()) json[kept.key] = kept.get(effective);
  return json;
}

void take_kept_options(const Checkpoint& checkpoint, const RunCommand& command, RunOptions& options) {
  const Json json =
      checkpoint.header.is_object() ? checkpoint.header.value("options", Json::object()) : Json::object();
  try {
    const bool same_bits = options.system.deterministic || kept_value(checkpoint, json, "deterministic").get<bool>();
    for (const Kept& kept : kept_list()) {
      const Json& old = kept_value(checkpoint, json, kept.key);
      const Json now = kept.get(options);
      const bool left_open = kept.change == Change::loses_bits && (now == "auto" || now == "measure");
      if (!command.given(kept.option) || left_open) {
        kept.set(options, old);
        continue;
      }
      const bool fixed = kept.change == Change::never || (kept.change == Change::loses_bits && same_bits);
      if (fixed && now != old) {
        throw InputError(checkpoint.file + ": the run was made with " + kept.option + ' ' + old.dump() +
                         " and cannot continue with " + now.dump());
      }
    }
    // A run with cuSPARSE's algorithm, which --deterministic refuses, goes on with our own.
    if (options.system.deterministic && options.system.spmv.format == "csr:alg1") options.system.spmv.format = "csr";
  } catch (const Json::exception&) {
    throw InputError(checkpoint.file + ": an option in the header has the wrong type");
  }
}

SeriesStart series_start(const RunJob& job, double time, bool steps_left) {
  SeriesStart start;
  if (!job.continues_in_place()) return start;
  start.kept_until = time;
  if (steps_left) start.extra_frame = job.resume->header.value(extra_frame_key, "");
  return start;
}

template <Space S>
void keep_order(const Context<S>& ctx, const RowOrder<S>& order, Checkpoint& checkpoint) {
  if (order.natural()) return;
  const std::vector<Index> old_of_new = to_vector(ctx, order.old_of_new.cspan());
  checkpoint.integers["order"].assign(old_of_new.begin(), old_of_new.end());
  checkpoint.integers["parts"].assign(order.part_begin.begin(), order.part_begin.end());
}

template void keep_order(const Context<Space::host>&, const RowOrder<Space::host>&, Checkpoint&);
#if NEWEL_HAS_CUDA
template void keep_order(const Context<Space::device>&, const RowOrder<Space::device>&, Checkpoint&);
#endif

void take_kept_order(const Checkpoint& checkpoint, Index rows, SystemOptions& options) {
  if (checkpoint.integers.count("order") == 0) return;
  const auto checked = [&](const std::vector<std::int64_t>& from, std::int64_t most, const char* name) {
    std::vector<Index> result;
    result.reserve(from.size());
    for (const std::int64_t number : from) {
      if (number < 0 || number > most) {
        throw InputError(checkpoint.file + ": '" + name + "' holds " + std::to_string(number) + " for " +
                         std::to_string(rows) + " unknowns");
      }
      result.push_back(static_cast<Index>(number));
    }
    return result;
  };
  options.old_of_new = checked(checkpoint.integers_of("order", rows), rows - 1, "order");
  options.part_begin = checked(checkpoint.integers_of("parts"), rows, "parts");
  const std::vector<Index>& parts = options.part_begin;
  const bool sound =
      parts.empty() || (parts.front() == 0 && parts.back() == rows && std::is_sorted(parts.begin(), parts.end()));
  if (!sound) throw InputError(checkpoint.file + ": 'parts' does not go from 0 to " + std::to_string(rows));
}

template <Space S>
void keep_guess(const LinearSystem<double, S>& system, Checkpoint& checkpoint) {
  GuessState state = system.history().guess_state();
  if (state.counts.empty()) return;
  checkpoint.integers["guess"] = std::move(state.counts);
  checkpoint.doubles["guess"] = std::move(state.values);
}

template <Space S>
void take_kept_guess(const Checkpoint& checkpoint, LinearSystem<double, S>& system) {
  if (checkpoint.integers.count("guess") == 0) return;
  system.history().set_guess_state({checkpoint.integers_of("guess"), checkpoint.doubles_of("guess")});
}

template void keep_guess(const LinearSystem<double, Space::host>&, Checkpoint&);
template void take_kept_guess(const Checkpoint&, LinearSystem<double, Space::host>&);
#if NEWEL_HAS_CUDA
template void keep_guess(const LinearSystem<double, Space::device>&, Checkpoint&);
template void take_kept_guess(const Checkpoint&, LinearSystem<double, Space::device>&);
#endif

std::string mesh_fingerprint(const std::vector<std::array<double, 3>>& nodes,
                             const std::vector<std::array<Index, 4>>& tets) {
  const auto of = [](const auto& values) {
    return fingerprint(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]);
  };
  return of(nodes) + of(tets);
}

}  // namespace newel::transient
