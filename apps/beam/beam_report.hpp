// SPDX-License-Identifier: Apache-2.0
/// What a run of newel-beam says about itself in the end: energy, tones, theory; and its state in a checkpoint.
#pragma once

#include <string>
#include <vector>

#include "apps/transient/checkpoint.hpp"
#include "beam_body.hpp"
#include "beam_run.hpp"
#include "beam_stepper.hpp"
#include "spectrum.hpp"

namespace newel::beam {

/// The energy of the first strike: what the strike gave, what is left, and the widest deviation in between.
class EnergyBook {
 public:
  /// Joules after a step; `free`: the whole step lay behind the strike.
  void add(double kinetic, double strain, bool free);

  cli::Json json() const;
  /// One labelled line; empty before the strike is over.
  std::string text() const;

  static constexpr std::int64_t kept_size() { return 4; }
  std::vector<double> kept() const { return {given_, last_, lowest_, highest_}; }
  void resume(const std::vector<double>& kept);

 private:
  double given_ = 0;  // 0: the strike is not over
  double last_ = 0, lowest_ = 0, highest_ = 0;
};

/// What one strike sounds like.
struct StrikeSound {
  fem::Point at{};          ///< the strike's centre
  std::vector<Tone> tones;  ///< at the first probe, without the error of the time step, the strongest first
};

/// Reads the records of the run.
std::vector<StrikeSound> sounds_of(const BeamJob& job, const BeamBody& body);
cli::Json sounds_json(const std::vector<StrikeSound>& sounds);
/// A line for each strike, and what theory says.
std::string sounds_text(const std::vector<StrikeSound>& sounds, const BeamJob& job);

/// The first three frequencies of the cantilever by both theories; null for a mesh from a file.
cli::Json theory_json(const BeamJob& job);

void keep_state(BeamState state, transient::Checkpoint& checkpoint);
/// Throws InputError where a vector is missing or has not `size` numbers.
BeamState kept_state(const transient::Checkpoint& checkpoint, std::int64_t size);

}  // namespace newel::beam
