// SPDX-License-Identifier: Apache-2.0
// The progress of a solve on a terminal or in a pipe.
#include "live_progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "text.hpp"

namespace newel::cli {
namespace {

// Takes away what stands on a terminal's line.
constexpr const char* clear_line = "\r\x1b[K";

constexpr double live_interval_seconds = 0.1;
constexpr double plain_interval_seconds = 1.0;
constexpr double plain_interval_share = 0.05;  // keeps the log of an hour's solve below a few hundred lines
constexpr int narrowest_bar = 10;
constexpr int widest_bar = 30;

// 1, 2, 5, 10, 20, 50, ...: the first of them above `iteration`.
int next_round_number(int iteration) {
  for (std::int64_t power = 1;; power *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      if (factor * power > iteration) return static_cast<int>(std::min<std::int64_t>(factor * power, INT32_MAX));
    }
  }
}

std::string left_text(double left) {
  if (!(left > 0)) return {};
  if (!(left < 1e15)) return text("  about %.3g to go", left);
  return "  about " + thousands(std::llrint(std::strtod(text("%.1e", left).c_str(), nullptr))) + " to go";
}

std::string rate_text(double rate) { return std::isfinite(rate) && rate > 0 ? text("%.3f", rate) : "  -  "; }

}  // namespace

int terminal_width(std::FILE* out) {
  constexpr int usual_width = 80;
  winsize size = {};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual_width;
}

std::string clock_text(double seconds) {
  if (seconds < 60) return text("%.1f s", seconds);
  const auto whole = static_cast<long long>(seconds);
  if (whole < 3600) return text("%lld:%02lld min", whole / 60, whole % 60);
  return text("%lld:%02lld:%02lld h", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string format_live_line(const ProgressLine& line, int width) {
  std::string result =
      text("%s  iteration %s  residual %.2e  rate %s  %s", line.solver.c_str(), thousands(line.iteration).c_str(),
           line.residual, rate_text(line.rate).c_str(), clock_text(line.seconds).c_str()) +
      left_text(line.left);
  const int bar = std::min(widest_bar, width - static_cast<int>(result.size()) - 4);
  if (bar >= narrowest_bar) {
    const int filled = static_cast<int>(std::lround(std::clamp(line.done, 0.0, 1.0) * bar));
    result += "  [" + std::string(static_cast<std::size_t>(filled), '#') +
              std::string(static_cast<std::size_t>(bar - filled), '-') + ']';
  }
  if (static_cast<int>(result.size()) > width) result.resize(static_cast<std::size_t>(std::max(width, 0)));
  return result;
}

std::string format_plain_line(const ProgressLine& line) {
  return text("  %-8s iteration %8d  relative residual %.3e  rate %s  %s", line.solver.c_str(), line.iteration,
              line.residual, rate_text(line.rate).c_str(), clock_text(line.seconds).c_str()) +
         left_text(line.left);
}

std::string format_columns_line(const ColumnsLine& line) {
  return text("%s  %s of %s columns at the tolerance  iteration %s  worst residual %.2e  %s", line.solver.c_str(),
              thousands(line.done).c_str(), thousands(line.columns).c_str(), thousands(line.iteration).c_str(),
              line.residual, clock_text(line.seconds).c_str());
}

LiveProgress::Mode LiveProgress::mode_for(std::FILE* out, bool quiet) {
  if (quiet) return Mode::silent;
  const char* terminal = std::getenv("TERM");
  const bool overwrites = terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
  return isatty(fileno(out)) != 0 && overwrites ? Mode::live : Mode::plain;
}

void LiveLine::draw(const std::string& line) {
  std::fprintf(out_, "%s%s", clear_line, line.c_str());
  std::fflush(out_);
  shown_ = true;
}

void LiveLine::erase() {
  if (!shown_) return;
  std::fputs(clear_line, out_);
  std::fflush(out_);
  shown_ = false;
}

void LiveProgress::start_attempt(const Progress& progress) {
  if (started_) {
    finish();
    std::fprintf(out_, "  %s stopped; continuing with %s\n", solver_.c_str(), std::string(progress.solver).c_str());
  }
  started_ = true;
  solver_ = progress.solver;
  first_iteration_ = progress.iteration;
  first_residual_ = progress.relative_residual;
  next_plain_iteration_ = progress.iteration > 0 ? progress.iteration : 1;
  last_drawn_seconds_ = progress.seconds;
}

ProgressLine LiveProgress::line_of(const Progress& progress) const {
  ProgressLine line;
  line.solver = solver_;
  line.iteration = progress.iteration;
  line.residual = progress.relative_residual;
  line.seconds = progress.seconds;
  if (progress.residual > progress.tolerance) line.left = progress.iterations_left;
  const double gained = std::log(progress.relative_residual / first_residual_);
  line.rate = std::exp(gained / (progress.iteration - first_iteration_));
  // The tolerance is absolute, as is `residual`: their quotient needs no |b|.
  const double wanted = std::log(progress.tolerance / progress.residual) + gained;
  line.done = wanted < 0 && std::isfinite(gained) ? gained / wanted : 0;
  return line;
}

bool LiveProgress::plain_line_due(const Progress& progress) {
  const double interval = std::max(plain_interval_seconds, plain_interval_share * progress.seconds);
  if (progress.iteration < next_plain_iteration_ && progress.seconds - last_drawn_seconds_ < interval) return false;
  next_plain_iteration_ = next_round_number(progress.iteration);
  return true;
}

void LiveProgress::draw(const std::string& line) {
  if (mode_ == Mode::live) return live_.draw(line);
  std::fprintf(out_, "%s\n", line.c_str());
  std::fflush(out_);
}

// Columns begin at different times, so that their own clocks are no measure of what was drawn when.
void LiveProgress::update_columns(const Progress& progress) {
  heard_.resize(static_cast<std::size_t>(progress.columns));
  heard_[static_cast<std::size_t>(progress.column)] = {progress.relative_residual,
                                                       progress.residual <= progress.tolerance};
  const auto now = std::chrono::steady_clock::now();
  if (!started_) start_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double interval =
      mode_ == Mode::live ? live_interval_seconds : std::max(plain_interval_seconds, plain_interval_share * seconds);
  if (started_ && seconds - last_drawn_seconds_ < interval) return;
  started_ = true;
  last_drawn_seconds_ = seconds;
  ColumnsLine line{std::string(progress.solver), progress.columns, 0, progress.iteration, 0, seconds};
  for (const Heard& column : heard_) {
    line.done += column.done ? 1 : 0;
    line.residual = std::max(line.residual, column.relative_residual);
  }
  const std::string all = format_columns_line(line);
  draw(mode_ == Mode::plain ? "  " + all : all.substr(0, static_cast<std::size_t>(terminal_width(out_) - 1)));
}

void LiveProgress::update(const Progress& progress) {
  if (mode_ == Mode::silent) return;
  if (progress.columns > 1) return update_columns(progress);
  if (!started_ || progress.solver != solver_) start_attempt(progress);
  if (mode_ == Mode::plain) {
    if (!plain_line_due(progress)) return;
    draw(format_plain_line(line_of(progress)));
  } else {
    if (live_.shown() && progress.seconds - last_drawn_seconds_ < live_interval_seconds) return;
    // The last column stays free: some terminals wrap when it is written.
    draw(format_live_line(line_of(progress), terminal_width(out_) - 1));
  }
  last_drawn_seconds_ = progress.seconds;
}

}  // namespace newel::cli
