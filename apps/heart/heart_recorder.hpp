// SPDX-License-Identifier: Apache-2.0
/// HeartRecorder: what a run writes into its folder. Frames of voltage and recovery, activation times, electrograms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/fem/vtu.hpp"
#include "apps/heart/heart_body.hpp"
#include "apps/heart/monodomain.hpp"
#include "apps/transient/csv_log.hpp"
#include "apps/transient/resume.hpp"
#include "apps/transient/time_grid.hpp"

namespace newel::heart {

inline constexpr const char* series_name = "heart.pvd";
inline constexpr const char* activation_name = "activation.vtu";
inline constexpr const char* electrogram_name = "electrograms.csv";
/// "heart-000120.vtu", by the number of the frame's multiple of --dt.
std::string frame_name(std::int64_t whole_step);

/// How far the wave has come.
struct ActivationFacts {
  Index activated = 0;  ///< nodes
  double first = 0;     ///< ms
  double last = 0;
};

template <Space S>
class HeartRecorder {
 public:
  /// Keeps a reference to the body.
  HeartRecorder(const Context<Space::host>& host, const HeartBody& body, const HeartParams& params,
                const std::string& folder, const Monodomain<S>& heart, const transient::SeriesStart& from);

  /// After every accepted step from `start` on.
  void step(const Monodomain<S>& heart, double start, double dt);
  /// At every multiple of --dt: one line of the electrograms.
  void sample(const Monodomain<S>& heart, double time);
  /// A frame, and the electrograms so far.
  void frame(const Monodomain<S>& heart, const transient::TimeGrid& grid);
  /// The map of activation times: negative where the wave has not been.
  ActivationFacts finish(const Monodomain<S>& heart);
  /// Electrograms to the disk: before a checkpoint is written.
  void flush() const { log_.flush(); }

  std::vector<double> activation(const Monodomain<S>& heart) const;  ///< mesh numbering
  void set_activation(const Monodomain<S>& heart, const std::vector<double>& times);

  /// The last multiple of --dt that a frame was written at, -1 before the first.
  std::int64_t last_frame() const { return last_frame_; }
  double highest() const { return highest_; }  ///< mV, of the last frame

 private:
  std::string path(const std::string& name) const;
  HeartRecorder(const Context<Space::host>& host, const HeartBody& body, const HeartParams& params,
                const std::string& folder, const Monodomain<S>& heart, const transient::SeriesStart& from,
                const std::vector<Index>& probes);
  void watch(const HeartBody& body, const HeartParams& params, const std::vector<Index>& probes,
             const Monodomain<S>& heart);

  std::string folder_;
  double threshold_;  ///< phi
  const HeartBody& body_;
  fem::VtuWriter frames_;
  fem::PvdSeries series_;
  transient::CsvLog log_;
  Array<double, S> time_;  ///< of activation, solver order; -1: not yet
  Array<Index, S> probe_;  ///< solver order
  std::vector<Array<double, S>> weights_;
  mutable Array<double, S> seen_;  ///< voltages of the probes, then their electrograms
  std::int64_t last_frame_ = -1;
  double highest_ = 0;
};

/// The nodes that are watched, mesh numbering. Throws InputError for one that there is not.
std::vector<Index> probes_of(const Context<Space::host>& host, const HeartBody& body, const HeartParams& params);

}  // namespace newel::heart
