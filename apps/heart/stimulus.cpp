// SPDX-License-Identifier: Apache-2.0
// Stimuli: their words, and the elements that they reach.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/text.hpp"
#include "apps/fem/geometry.hpp"
#include "apps/fem/mesh.hpp"
#include "heart_body.hpp"

namespace newel::heart {
namespace {

using cli::text;
using fem::detail::dot;

constexpr double inner_share = 0.2;  // of the wall that "endo" stimulates

[[noreturn]] void refuse(const std::string& given) {
  throw cli::UsageError(
      "--stimulus: expected apex, base, endo or X,Y,Z, then @START or @START:MS if needed, found '" + given + "'");
}

double number(std::string_view word, const std::string& given) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) refuse(given);
  return value;
}

// How far outside of the stimulus the middle of a tetrahedron lies; not positive: within.
double outside(const HeartBody& body, const Stimulus& s, double radius, Index tet) {
  const fem::TetMesh& mesh = body.input.mesh;
  const fem::Point middle = fem::tet_centroid(mesh, tet);
  switch (s.place) {
    case Stimulus::Place::base:
      return body.base - dot(middle, body.axis) - radius;
    case Stimulus::Place::endo: {
      double depth = 0;
      for (const Index corner : mesh.tets[tet]) depth += body.transmural[corner] / 4;
      return depth - inner_share;
    }
    case Stimulus::Place::point:
      return fem::detail::length(fem::detail::minus(middle, s.at)) - radius;
    default:
      return fem::detail::length(fem::detail::minus(middle, mesh.nodes[body.apex])) - radius;
  }
}

// No tetrahedron lies within the stimulus; the nearest is `nearest` mm outside of it.
[[noreturn]] void refuse_unreached(const HeartBody& body, const Stimulus& s, double nearest, double radius) {
  const std::string name = s.by_default ? "the default stimulus, --stimulus " + s.text + "," : "--stimulus " + s.text;
  if (s.place == Stimulus::Place::endo) {
    throw InputError(name + ": no tetrahedron lies in the inner fifth of the wall; --refine 1 may help");
  }
  std::string words = name + text(
                                 " reaches no tetrahedron: the centre of the nearest is %.3g mm beyond the radius of "
                                 "%g mm (stimulus.radius of --params)",
                                 nearest, radius);
  if (!body.input.file_unit.empty()) {
    words += "; the mesh was assumed to be in " + body.input.file_unit + " (--mesh-unit mm|cm|m)";
  }
  throw InputError(words);
}

}  // namespace

Stimulus parse_stimulus(const std::string& given) {
  Stimulus s;
  s.text = given;
  const std::size_t at = given.find('@');
  const std::string place = given.substr(0, at);
  if (place == "apex") {
    s.place = Stimulus::Place::apex;
  } else if (place == "base") {
    s.place = Stimulus::Place::base;
  } else if (place == "endo") {
    s.place = Stimulus::Place::endo;
  } else {
    s.place = Stimulus::Place::point;
    const std::size_t first = place.find(','), second = place.find(',', first + 1);
    if (first == std::string::npos || second == std::string::npos) refuse(given);
    const std::string_view words = place;
    s.at = {number(words.substr(0, first), given), number(words.substr(first + 1, second - first - 1), given),
            number(words.substr(second + 1), given)};
  }
  if (at == std::string::npos) return s;
  const std::string when = given.substr(at + 1);
  const std::size_t colon = when.find(':');
  s.start = number(std::string_view(when).substr(0, colon), given);
  if (colon != std::string::npos) s.duration = number(std::string_view(when).substr(colon + 1), given);
  if (s.start < 0 || s.duration <= 0) refuse(given);
  return s;
}

std::vector<std::uint32_t> mark_elements(const Context<Space::host>& host, const HeartBody& body,
                                         const std::vector<Stimulus>& stimuli, double radius) {
  if (stimuli.size() > StimulusRates::most) {
    throw InputError(text("%zu stimuli, more than %d", stimuli.size(), StimulusRates::most));
  }
  const Index tets = body.input.mesh.tet_count();
  std::vector<std::uint32_t> marks(static_cast<std::size_t>(tets), 0);
  for (std::size_t k = 0; k < stimuli.size(); ++k) {
    const double nearest = parallel_reduce(
        host, tets, std::numeric_limits<double>::max(),
        [&](Index t, double& least) {
          const double beyond = outside(body, stimuli[k], radius, t);
          least = std::min(least, beyond);
          if (!(beyond > 0)) marks[t] |= std::uint32_t{1} << k;
        },
        [](double& least, double mine) { least = std::min(least, mine); });
    if (nearest > 0) refuse_unreached(body, stimuli[k], nearest, radius);
  }
  return marks;
}

StimulusRates stimulus_rates(const std::vector<Stimulus>& stimuli, double strength, double from, double to) {
  StimulusRates rates;
  for (std::size_t k = 0; k < stimuli.size(); ++k) {
    rates.set(static_cast<int>(k), strength * stimuli[k].share(from, to));
  }
  return rates;
}

}  // namespace newel::heart
