// SPDX-License-Identifier: Apache-2.0
/// LiveProgress: a solve as it runs, of one column or many, as one line updated in place on a terminal, as a few
/// plain lines in a pipe.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <newel/solver/krylov.hpp>

namespace newel::cli {

/// What a line shows.
struct ProgressLine {
  std::string solver;
  int iteration = 0;
  double residual = 0;  ///< relative to |b|
  double rate = 0;      ///< factor by which an iteration shrinks the residual, on average since the start
  double done = 0;      ///< 0 at the first residual, 1 at the tolerance, in log scale
  double seconds = 0;
  double left = 0;  ///< about the iterations to go; 0: not known
};

/// The line in at most `width` columns. A bar takes what room is left, where that is enough for one.
std::string format_live_line(const ProgressLine& line, int width);

/// The line for a pipe, of any width.
std::string format_plain_line(const ProgressLine& line);

/// What a line shows of several right-hand sides.
struct ColumnsLine {
  std::string solver;
  Index columns = 0;
  Index done = 0;       ///< columns whose residual has met the tolerance
  int iteration = 0;    ///< of the column that was heard of last
  double residual = 0;  ///< relative to |b|, the largest of those that were heard of
  double seconds = 0;
};

/// That line, for a terminal and for a pipe.
std::string format_columns_line(const ColumnsLine& line);

/// Columns of the terminal behind `out`; 80 where that is unknown.
int terminal_width(std::FILE* out);

/// "12.3 s", "4:05 min", "1:02:03 h"
std::string clock_text(double seconds);

/// A terminal's line that is drawn over and over, and taken away at the end.
class LiveLine {
 public:
  explicit LiveLine(std::FILE* out) : out_(out) {}
  ~LiveLine() { erase(); }
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  void draw(const std::string& line);
  /// Nothing where no line stands.
  void erase();
  bool shown() const { return shown_; }

 private:
  std::FILE* out_;
  bool shown_ = false;
};

/// Draws on `out`; nothing at all when silent.
class LiveProgress {
 public:
  enum class Mode { silent, plain, live };

  LiveProgress(std::FILE* out, Mode mode) : out_(out), mode_(mode), live_(out) {}

  /// How to draw on `out`: live on a terminal that can overwrite a line, plain elsewhere, silent on request.
  static Mode mode_for(std::FILE* out, bool quiet);

  /// A step of a solve. Cheap when nothing is due: live lines are drawn ten times a second at most; plain ones at
  /// iterations 1, 2, 5, 10, 20, 50, ... and when a second, or a twentieth of the time so far, went without one.
  void update(const Progress& progress);

  /// Ends the drawing: a live line is taken away. May be called again.
  void finish() { live_.erase(); }

 private:
  void start_attempt(const Progress& progress);
  void update_columns(const Progress& progress);
  void draw(const std::string& line);
  ProgressLine line_of(const Progress& progress) const;
  bool plain_line_due(const Progress& progress);

  std::FILE* out_;
  Mode mode_;
  LiveLine live_;
  bool started_ = false;
  std::string solver_;
  int first_iteration_ = 0;
  double first_residual_ = 0;
  double last_drawn_seconds_ = 0;
  int next_plain_iteration_ = 1;

  /// Of a column: the latest that was heard.
  struct Heard {
    double relative_residual = 0;
    bool done = false;
  };
  std::vector<Heard> heard_;
  std::chrono::steady_clock::time_point start_;  ///< when the first column was heard of
};

}  // namespace newel::cli
