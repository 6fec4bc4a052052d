// SPDX-License-Identifier: Apache-2.0
/// Measuring two things against each other: alternating runs, medians with their spread, and the JSON that keeps
/// them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace newel::bench {

using Json = nlohmann::ordered_json;

/// Numbers of one kind, one a repeat.
using Samples = std::vector<double>;

double median(Samples samples);

/// {"min": ..., "median": ..., "max": ..., "samples": [...]}, each multiplied by `factor`.
Json summary(const Samples& samples, double factor = 1);

/// {"milliseconds": summary} of samples in seconds.
inline Json milliseconds(const Samples& seconds) { return {{"milliseconds", summary(seconds, 1e3)}}; }

/// "1.234 (1.200 .. 1.300)": median and range, each multiplied by `factor`.
std::string spread(const Samples& samples, double factor = 1);

/// One repeat of a measurement: runs it and returns its seconds.
using Run = std::function<double()>;

/// Runs each of `runs` once to warm up and then `repeats` times in turn, every other round backwards, so that what
/// the machine does meanwhile meets all of them. Entry k holds the seconds of runs[k], round by round.
std::vector<Samples> alternate(const std::vector<Run>& runs, int repeats);

/// numerator[k] / denominator[k]: of the two runs of one round.
Samples ratios(const Samples& numerator, const Samples& denominator);

/// Seconds that one call of `work` takes, by the host's clock.
double seconds_of(const std::function<void()>& work);

/// Values in [-1, 1), the same on every machine.
std::vector<double> random_vector(std::int64_t size);

/// The arguments as given, but for where the report goes; the program without its folder.
std::string typed_command(int argc, char* argv[]);

/// What every report opens with: program, versions, command, date, processor, compiler.
Json report_head(const std::string& program, const std::string& command);

/// Writes `report` as indented text. Throws InputError when the file cannot be written.
void write_report(const std::string& file, const Json& report);

/// Calls `run` and returns what it returns; prints what it throws, and returns 2 then.
int run_program(int argc, char* argv[], int (*run)(int argc, char* argv[]));

}  // namespace newel::bench
