// SPDX-License-Identifier: Apache-2.0
// Alternating runs, the host's clock around calls, medians, machine facts.
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <thread>

#include <newel/core/error.hpp>
#include "core/vectors/random.hpp"

#include "apps/common/report_head.hpp"
#include "timer.hpp"

namespace newel::bench {
namespace {

std::string processor() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// Of the last minute, as the run begins: what else the machine was doing.
double load_average() {
  double load = std::nan("");
  std::ifstream("/proc/loadavg") >> load;
  return load;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

}  // namespace

double median(Samples samples) {
  if (samples.empty()) return std::nan("");
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

Json summary(const Samples& samples, double factor) {
  Samples scaled = samples;
  for (double& value : scaled) value *= factor;
  const auto [least, most] = std::minmax_element(scaled.begin(), scaled.end());
  return {{"min", *least}, {"median", median(scaled)}, {"max", *most}, {"samples", scaled}};
}

std::string spread(const Samples& samples, double factor) {
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  char text[96];
  std::snprintf(text, sizeof text, "%.4g (%.4g .. %.4g)", factor * median(samples), factor * *least, factor * *most);
  return text;
}

std::vector<Samples> alternate(const std::vector<Run>& runs, int repeats) {
  for (const Run& run : runs) run();
  std::vector<Samples> samples(runs.size());
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const std::size_t turn = repeat % 2 == 0 ? k : runs.size() - 1 - k;
      samples[turn].push_back(runs[turn]());
    }
  }
  return samples;
}

Samples ratios(const Samples& numerator, const Samples& denominator) {
  Samples result;
  for (std::size_t k = 0; k < numerator.size(); ++k) result.push_back(numerator[k] / denominator[k]);
  return result;
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> random_vector(std::int64_t size) {
  std::vector<double> x(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = detail::random_uniform(1, i);
  return x;
}

std::string typed_command(int argc, char* argv[]) {
  const std::string program = argv[0];
  std::string command = program.substr(program.rfind('/') + 1);
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--report")
      ++k;
    else if (argument.rfind("--report=", 0) != 0)
      command += " " + argument;
  }
  return command;
}

Json report_head(const std::string& program, const std::string& command) {
  Json head = newel::report_head(program);
  head["command"] = command;
  head["date"] = today();
  head["processor"] = processor();
  head["cores"] = std::thread::hardware_concurrency();
  head["load_average"] = load_average();
  head["compiler"] = __VERSION__;
  return head;
}

void write_report(const std::string& file, const Json& report) {
  std::ofstream out(file);
  out << report.dump(1) << "\n";
  out.close();
  if (!out) throw InputError("cannot write " + file);
}

int run_program(int argc, char* argv[], int (*run)(int argc, char* argv[])) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}

double Timer<Space::host>::back_to_back(int count, const Work& work) const {
  return seconds_of([&] {
           for (int k = 0; k < count; ++k) work();
         }) /
         count;
}

double Timer<Space::host>::one_by_one(int count, const Work& before, const Work& work) const {
  double seconds = 0;
  for (int k = 0; k < count; ++k) {
    before();
    seconds += seconds_of(work);
  }
  return seconds / count;
}

}  // namespace newel::bench
