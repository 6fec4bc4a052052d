// SPDX-License-Identifier: Apache-2.0
// Frames, activation times and electrograms in both spaces.
#include "heart_recorder.hpp"

#include <algorithm>
#include <cstdlib>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>

#include "apps/common/text.hpp"
#include "apps/heart/electrogram.hpp"
#include "apps/transient/run_job.hpp"

namespace newel::heart {
namespace {

using cli::text;

std::string log_header(const transient::MeshInput& mesh, const std::vector<Index>& probes) {
  std::string header = "time_ms";
  for (const char* what : {"voltage", "electrogram"}) {
    for (const Index node : probes) {
      header += text(",%s_mV_node_%lld", what, static_cast<long long>(mesh.number_of(node)));
    }
  }
  return header;
}

std::vector<double> millivolts(std::vector<double> phi) {
  for (double& value : phi) value = Tissue::millivolt_range * value + Tissue::millivolt_rest;
  return phi;
}

std::string printed_time(double time) { return text("%.9g", time); }

// The line of a time stays, which may be printed as a little more than it is.
std::optional<double> as_printed(std::optional<double> time) {
  return time ? std::optional<double>(std::strtod(printed_time(*time).c_str(), nullptr)) : time;
}

}  // namespace

std::string frame_name(std::int64_t whole_step) {
  return text("heart-%06lld.vtu", static_cast<long long>(whole_step));
}

std::vector<Index> probes_of(const Context<Space::host>& host, const HeartBody& body, const HeartParams& params) {
  if (params.probes.empty()) return usual_probes(host, body);
  std::vector<Index> probes;
  for (const std::int64_t number : params.probes) {
    const Index node = body.input.node_of(number);
    if (node < 0) throw InputError(text("probes.nodes: the mesh has no node %lld", static_cast<long long>(number)));
    probes.push_back(node);
  }
  return probes;
}

template <Space S>
HeartRecorder<S>::HeartRecorder(const Context<Space::host>& host, const HeartBody& body, const HeartParams& params,
                                const std::string& folder, const Monodomain<S>& heart,
                                const transient::SeriesStart& from)
    : HeartRecorder(host, body, params, folder, heart, from, probes_of(host, body, params)) {}

template <Space S>
HeartRecorder<S>::HeartRecorder(const Context<Space::host>& host, const HeartBody& body, const HeartParams& params,
                                const std::string& folder, const Monodomain<S>& heart,
                                const transient::SeriesStart& from, const std::vector<Index>& probes)
    : folder_(folder),
      threshold_((params.threshold - Tissue::millivolt_rest) / Tissue::millivolt_range),
      body_(body),
      frames_(host, body.input.mesh),
      series_(from.kept_until ? fem::PvdSeries::reopen(path(series_name), *from.kept_until)
                              : fem::PvdSeries(path(series_name))),
      log_(path(electrogram_name), log_header(body.input, probes), as_printed(from.kept_until)),
      time_(heart.context(), heart.phi().size) {
  fill<double, S>(heart.context(), -1.0, time_.span());
  watch(body, params, probes, heart);
  if (!from.extra_frame.empty()) series_.remove(from.extra_frame);
}

template <Space S>
std::string HeartRecorder<S>::path(const std::string& name) const {
  return transient::in_folder(folder_, name);
}

template <Space S>
void HeartRecorder<S>::watch(const HeartBody& body, const HeartParams& params, const std::vector<Index>& probes,
                             const Monodomain<S>& heart) {
  const Context<S>& ctx = heart.context();
  const std::vector<Index> new_of_old = to_vector(ctx, heart.system().ordered().order().new_of_old.cspan());
  std::vector<Index> places;
  std::vector<fem::Point> points;
  for (const Index node : probes) {
    places.push_back(new_of_old.empty() ? node : new_of_old[node]);
    points.push_back(body.input.mesh.nodes[node]);
  }
  for (const std::vector<double>& weights :
       electrogram_weights(host_context(ctx), body.input.mesh, body.fibers, params.conductivity, points)) {
    const Array<double, S> in_mesh_order = make_array(ctx, weights);
    weights_.emplace_back(ctx, in_mesh_order.size());
    heart.system().ordered().from_user_order(in_mesh_order.cspan(), weights_.back().span());
  }
  probe_ = make_array(ctx, places);
  seen_ = Array<double, S>(ctx, 2 * probe_.size());
}

template <Space S>
void HeartRecorder<S>::step(const Monodomain<S>& heart, double start, double dt) {
  detail::for_elements(
      heart.context(), time_.size(),
      detail::NoteActivation{{}, threshold_, start, dt, heart.phi_before().data, heart.phi().data, time_.data()});
}

template <Space S>
void HeartRecorder<S>::sample(const Monodomain<S>& heart, double time) {
  const Context<S>& ctx = heart.context();
  const std::int64_t probes = probe_.size();
  gather<double, S>(ctx, heart.phi(), probe_.cspan(), seen_.span().subspan(0, probes));
  for (std::int64_t k = 0; k < probes; ++k) {
    newel::dot<double, S>(ctx, weights_[static_cast<std::size_t>(k)].cspan(), heart.phi(), seen_.data() + probes + k);
  }
  std::string line = printed_time(time);
  const std::vector<double> seen = to_vector(ctx, seen_.cspan());
  for (std::size_t k = 0; k < seen.size(); ++k) {
    const bool voltage = k < static_cast<std::size_t>(probes);
    line += text(",%.6g", Tissue::millivolt_range * seen[k] + (voltage ? Tissue::millivolt_rest : 0.0));
  }
  log_.append(line);
}

template <Space S>
void HeartRecorder<S>::frame(const Monodomain<S>& heart, const transient::TimeGrid& grid) {
  const std::int64_t whole_step = grid.ticks() / transient::TimeGrid::ticks_per_dt0;
  const std::string name = frame_name(whole_step);
  const std::vector<double> voltage = millivolts(heart.in_mesh_order(heart.phi()));
  const std::vector<double> recovery = heart.recovery();
  frames_.write(path(name), {fem::node_field("voltage_mV", voltage), fem::tet_field("recovery", recovery)},
                grid.now());
  series_.append(grid.now(), name);
  log_.flush();
  last_frame_ = whole_step;
  highest_ = voltage.empty() ? 0 : *std::max_element(voltage.begin(), voltage.end());
}

template <Space S>
ActivationFacts HeartRecorder<S>::finish(const Monodomain<S>& heart) {
  const std::vector<double> times = activation(heart);
  frames_.write(path(activation_name),
                {fem::tet_field("fiber", body_.fibers), fem::node_field("transmural", body_.transmural),
                 fem::node_field("activation_ms", times)});
  log_.flush();
  ActivationFacts facts;
  for (const double time : times) {
    if (time < 0) continue;
    facts.first = facts.activated == 0 ? time : std::min(facts.first, time);
    facts.last = std::max(facts.last, time);
    ++facts.activated;
  }
  return facts;
}

template <Space S>
std::vector<double> HeartRecorder<S>::activation(const Monodomain<S>& heart) const {
  return heart.in_mesh_order(time_.cspan());
}

template <Space S>
void HeartRecorder<S>::set_activation(const Monodomain<S>& heart, const std::vector<double>& times) {
  const Array<double, S> in_mesh_order = make_array(heart.context(), times);
  heart.system().ordered().from_user_order(in_mesh_order.cspan(), time_.span());
  heart.context().synchronize();
}

#define X(S) template class HeartRecorder<S>;
X(Space::host)
#if NEWEL_HAS_CUDA
X(Space::device)
#endif
#undef X

}  // namespace newel::heart
