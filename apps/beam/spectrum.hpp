// SPDX-License-Identifier: Apache-2.0
/// The tones of a record: the peaks of its Fourier transform.
#pragma once

#include <vector>

namespace newel::beam {

struct Tone {
  double frequency = 0;  ///< Hz
  double amplitude = 0;  ///< of the sine, in the unit of the record
};

/// The strongest tones of values that are `step` seconds apart, at most `most`, the strongest first; weaker than a
/// thousandth of the strongest does not count. The record without its mean is weighted with Hann's window; its
/// transform is computed at four or more points for each period that fits into the record, and a parabola through the
/// logarithms of three of them places a peak. Two tones are told apart from four periods of their difference on. No
/// tones for fewer than 16 values, or if all are the same.
std::vector<Tone> tones_of(const std::vector<double>& values, double step, int most);

/// What rings at `frequency` in steps of average acceleration would ring at this frequency in exact time: a step
/// turns an oscillation of angular frequency w by 2 atan(w step / 2) (K.-J. Bathe, "Finite Element Procedures",
/// 1996, section 9.4).
double without_step(double frequency, double step);

}  // namespace newel::beam
