// SPDX-License-Identifier: Apache-2.0
// The end of a run in numbers and words.
#include "beam_report.hpp"

#include <algorithm>

#include "apps/common/text.hpp"
#include "beam_frames.hpp"

namespace newel::beam {
namespace {

constexpr int most_tones = 6;
constexpr int theory_modes = 3;

std::string tones_text(const std::vector<Tone>& tones) {
  constexpr std::size_t shown = 3;
  if (tones.empty()) return "none";
  std::string words;
  for (std::size_t k = 0; k < std::min(tones.size(), shown); ++k) {
    words += (k == 0 ? "" : ", ") + cli::text("%.2f Hz (%.2g mm)", tones[k].frequency, 1e3 * tones[k].amplitude);
  }
  return words;
}

}  // namespace

void EnergyBook::add(double kinetic, double strain, bool free) {
  last_ = kinetic + strain;
  if (!free) return;
  if (given_ == 0) given_ = lowest_ = highest_ = last_;
  lowest_ = std::min(lowest_, last_);
  highest_ = std::max(highest_, last_);
}

void EnergyBook::resume(const std::vector<double>& kept) {
  given_ = kept[0];
  last_ = kept[1];
  lowest_ = kept[2];
  highest_ = kept[3];
}

cli::Json EnergyBook::json() const {
  const double spread = given_ > 0 ? (highest_ - lowest_) / given_ : 0.0;
  return {{"after_strike", given_}, {"last", last_}, {"lowest", lowest_}, {"highest", highest_}, {"spread", spread}};
}

std::string EnergyBook::text() const {
  if (given_ == 0) return "";
  return cli::labelled("energy", cli::text("%.4g J after the strike, %.4g J at the end; relative spread %.1e", given_,
                                           last_, (highest_ - lowest_) / given_));
}

std::vector<StrikeSound> sounds_of(const BeamJob& job, const BeamBody& body) {
  std::vector<StrikeSound> sounds;
  for (std::size_t k = 0; k < body.struck_at.size(); ++k) {
    const std::string file = transient::in_folder(job.options.out, record_name(static_cast<Index>(k)));
    StrikeSound sound{body.struck_at[k],
                      tones_of_record(file, job.params.strike_seconds, job.options.dt, most_tones)};
    for (Tone& tone : sound.tones) tone.frequency = without_step(tone.frequency, job.options.dt);
    sounds.push_back(std::move(sound));
  }
  return sounds;
}

cli::Json sounds_json(const std::vector<StrikeSound>& sounds) {
  cli::Json json = cli::Json::array();
  for (const StrikeSound& sound : sounds) {
    cli::Json tones = cli::Json::array();
    for (const Tone& tone : sound.tones) {
      tones.push_back({{"frequency", tone.frequency}, {"amplitude", tone.amplitude}});
    }
    json.push_back({{"at", sound.at}, {"tones", tones}});
  }
  return json;
}

std::string sounds_text(const std::vector<StrikeSound>& sounds, const BeamJob& job) {
  std::string lines;
  for (const StrikeSound& sound : sounds) {
    const std::string where =
        sounds.size() > 1 ? cli::text("struck at %.3g, %.3g, %.3g m: ", sound.at[0], sound.at[1], sound.at[2]) : "";
    lines += cli::labelled("tones", where + tones_text(sound.tones));
  }
  if (sounds.empty() || job.cantilever.empty()) return lines;
  const Cantilever& bar = job.cantilever.front();
  const char* name = job.shape == "fork" ? "a tine, if clamped at the bridge" : "the bar";
  return lines + cli::labelled("theory", cli::text("%s: %.2f Hz (Euler, Bernoulli), %.2f Hz (Timoshenko)", name,
                                                   euler_bernoulli(bar, job.params.material, 1).front(),
                                                   timoshenko(bar, job.params.material, 1).front()));
}

cli::Json theory_json(const BeamJob& job) {
  if (job.cantilever.empty()) return nullptr;
  const Cantilever& bar = job.cantilever.front();
  return {{"length", bar.length},
          {"thickness", bar.thickness},
          {"euler_bernoulli", euler_bernoulli(bar, job.params.material, theory_modes)},
          {"timoshenko", timoshenko(bar, job.params.material, theory_modes)}};
}

void keep_state(BeamState state, transient::Checkpoint& checkpoint) {
  checkpoint.doubles["displacement"] = std::move(state.displacement);
  checkpoint.doubles["velocity"] = std::move(state.velocity);
  checkpoint.doubles["mean_velocity"] = std::move(state.mean_velocity);
  checkpoint.doubles["mean_velocity_before"] = std::move(state.mean_velocity_before);
  checkpoint.doubles["factors"] = {state.matrix_factor, state.preconditioner_factor};
}

BeamState kept_state(const transient::Checkpoint& checkpoint, std::int64_t size) {
  const std::vector<double>& factors = checkpoint.doubles_of("factors", 2);
  return {checkpoint.doubles_of("displacement", size),
          checkpoint.doubles_of("velocity", size),
          checkpoint.doubles_of("mean_velocity", size),
          checkpoint.doubles_of("mean_velocity_before", size),
          factors[0],
          factors[1]};
}

}  // namespace newel::beam
