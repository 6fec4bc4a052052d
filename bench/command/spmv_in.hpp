// SPDX-License-Identifier: Apache-2.0
/// All contenders on one matrix, in a space and a precision: build, check, time turn by turn, check again.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <optional>

#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>

#include "bench/contender.hpp"
#include "bench/product_oracle.hpp"
#include "bench/timer.hpp"
#include "matrix.hpp"
#include "progress.hpp"
#include "spmv.hpp"

namespace newel::cli {

struct BenchSettings {
  int repeats = 11;
  double block_seconds = 0.01;         ///< of products between two readings of the clock, at least one
  std::uint64_t displacing_bytes = 0;  ///< written before each cold product
  std::vector<int> columns;            ///< vectors at once, each a measurement of its own
};

/// The competitors and the formats of `names` (empty: all, with all variants), those of the table first.
template <class T, Space S>
std::vector<bench::Contender<T, S>> choose_contenders(const Context<S>& ctx, std::vector<std::string> names) {
  if (names.empty()) names = bench::all_format_names();
  std::vector<bench::Contender<T, S>> contenders;
  for (const std::string& name : names) contenders.push_back(bench::format_contender<T, S>(name));
  for (bench::Contender<T, S>& competitor : bench::competitors<T>(ctx)) {
    const auto same = std::find_if(contenders.begin(), contenders.end(),
                                   [&](const auto& contender) { return contender.name == competitor.name; });
    if (same == contenders.end())
      contenders.push_back(std::move(competitor));
    else
      *same = std::move(competitor);
  }
  return contenders;
}

/// Products are timed in each format's own order, without the gathers between the orders (a solve permutes once), and
/// checked in the caller's, before anything is timed and after all of it, so that refresh is checked too.
template <class T, Space S>
class BenchRun {
 public:
  /// Converts and uploads `a`, which must outlive the run. Throws InputError where it exceeds the precision.
  BenchRun(const Context<Space::host>& host, const Context<S>& ctx, const Csr<double, Space::host>& a,
           const BenchSettings& settings)
      : ctx_(ctx),
        settings_(settings),
        progress_(stderr),
        timer_(ctx),
        displaced_(ctx, std::int64_t(settings.displacing_bytes)),
        matrix_(host, a),
        placed_(ctx, matrix_.view()) {
    const std::vector<double> random = bench::random_vector(std::int64_t{a.rows} + a.cols);
    const std::vector<T> x(random.begin(), random.begin() + a.cols);
    y_before_.assign(random.begin() + a.cols, random.end());
    x_ = make_array(ctx, x);
    y_ = Array<T, S>(ctx, a.rows);
    oracle_.emplace(host, matrix_.view(), x);
  }

  /// One line for each contender, in their order.
  std::vector<BenchLine> run(const std::vector<bench::Contender<T, S>>& contenders) {
    lines_.clear();
    entrants_.clear();
    build_small(contenders);
    progress_.begin("setting up", static_cast<int>(contenders.size()));
    for (const bench::Contender<T, S>& contender : contenders) add(contender);
    measure();
    progress_.finish();
    for (Entrant& entrant : entrants_) {
      BenchLine& line = lines_[entrant.line];
      line.error = std::max(line.error, worst_error(entrant.product));
    }
    share();
    return std::move(lines_);
  }

 private:
  struct Entrant {
    std::size_t line;
    bench::BuiltProduct<T, S> product;
  };

  // See small_identity.
  void build_small(const std::vector<bench::Contender<T, S>>& contenders) {
    const PlacedMatrix<T, S> small = small_identity<T>(ctx_);
    const Span<const T, S> ones = small.values();
    Array<T, S> y(ctx_, ones.size);
    for (const bench::Contender<T, S>& contender : contenders) {
      try {
        const auto built = contender.build(ctx_, small.view());
        built.matrix->apply(ctx_, T(1), ones, T(0), y.span());
        ctx_.synchronize();
      } catch (const Error&) {  // it says so again for the matrix itself
      }
    }
  }

  void add(const bench::Contender<T, S>& contender) {
    progress_.turn_of(contender.name);
    BenchLine line;
    line.name = contender.name;
    line.competitor = contender.competitor;
    line.break_even = contender.break_even;
    try {
      bench::BuiltProduct<T, S> product = contender.build(ctx_, placed_.view());
      line.info = product.matrix->info();
      line.order = product.order.report;
      line.plan_seconds = product.plan_seconds;
      line.permute_seconds = product.permute_seconds;
      line.format_seconds = product.format_seconds;
      line.error = worst_error(product);
      product.matrix->refresh(ctx_, placed_.values());
      ctx_.synchronize();
      line.same_as = twin_of(line.info, product);
      if (line.same_as.empty()) entrants_.push_back({lines_.size(), std::move(product)});
    } catch (const Error& error) {
      line.refused = error.what();
    } catch (const std::bad_alloc&) {
      line.refused = "the operating system refused an allocation on the host";
    }
    lines_.push_back(std::move(line));
  }

  // The line that was built as the same format, with as many slots and bytes, in the natural order or not; or "".
  std::string twin_of(const OperatorInfo& info, const bench::BuiltProduct<T, S>& product) const {
    for (const Entrant& entrant : entrants_) {
      const OperatorInfo& other = lines_[entrant.line].info;
      if (other.name == info.name && other.stored_slots == info.stored_slots &&
          other.bytes_per_product == info.bytes_per_product && other.total_bytes() == info.total_bytes() &&
          entrant.product.order.natural() == product.order.natural()) {
        return lines_[entrant.line].name;
      }
    }
    return "";
  }

  // As many calls as make a block, by the fastest of a few: one may have met the machine at other work.
  template <class Block>
  int calls_for(const bench::BuiltProduct<T, S>& product, Block&& block) const {
    constexpr double most = 1000;
    double seconds = block(product, 1);
    for (int again = 0; again < 3; ++again) seconds = std::min(seconds, block(product, 1));
    return static_cast<int>(std::clamp(settings_.block_seconds / std::max(seconds, 1e-9), 1.0, most));
  }

  // Blocks of calls, turn by turn; the seconds of a call go to where `samples` says of a line. Each contender has its
  // turn once for `calls_for`, once to warm up, and then for each repeat.
  template <class SamplesOf, class Block>
  void alternate(const std::string& what, SamplesOf&& samples, Block&& block) {
    progress_.begin(what, static_cast<int>(entrants_.size()) * (settings_.repeats + 2));
    std::vector<bench::Run> runs;
    for (const Entrant& entrant : entrants_) {
      progress_.turn_of(lines_[entrant.line].name);
      const int count = calls_for(entrant.product, block);
      runs.push_back([this, &entrant, &block, count] {
        progress_.turn_of(lines_[entrant.line].name);
        return block(entrant.product, count);
      });
    }
    if (runs.empty()) return;
    const auto seconds = bench::alternate(runs, settings_.repeats);
    for (std::size_t k = 0; k < entrants_.size(); ++k) samples(lines_[entrants_[k].line]) = seconds[k];
  }

  void measure() {
    const auto multiply = [this](const bench::BuiltProduct<T, S>& product) {
      product.matrix->apply(ctx_, T(1), x_.cspan(), T(0), y_.span());
    };
    alternate("warm products", std::mem_fn(&BenchLine::warm),
              [&](const bench::BuiltProduct<T, S>& product, int count) {
                multiply(product);  // not timed: the turn before was another's
                return timer_.back_to_back(count, [&] { multiply(product); });
              });
    alternate("cold products", std::mem_fn(&BenchLine::cold),
              [&](const bench::BuiltProduct<T, S>& product, int count) {
                return timer_.one_by_one(
                    std::min(count, most_cold), [&] { bench::displace_caches(ctx_, displaced_.span()); },
                    [&] { multiply(product); });
              });
    alternate("refreshes", std::mem_fn(&BenchLine::refresh),
              [&](const bench::BuiltProduct<T, S>& product, int count) {
                return timer_.back_to_back(count, [&] { product.matrix->refresh(ctx_, placed_.values()); });
              });
    for (const int columns : settings_.columns) measure_columns(columns);
  }

  // Interleaved vectors: the c-th is 2^c x.
  Array<T, S> columns_of(Span<const T, S> x, int columns) const {
    std::vector<T> all;
    for (const T value : to_vector(ctx_, x)) {
      for (int c = 0; c < columns; ++c) all.push_back(std::ldexp(value, c));
    }
    return make_array(ctx_, all);
  }

  void measure_columns(int columns) {
    const Array<T, S> x = columns_of(x_.cspan(), columns);
    Array<T, S> y(ctx_, y_.size() * columns);
    std::uint64_t bytes = 0;
    for (const Entrant& entrant : entrants_) {
      bytes = std::max(bytes, entrant.product.matrix->column_work_bytes(columns));
    }
    Array<char, S> work(ctx_, static_cast<std::int64_t>(bytes));
    const auto multiply = [&](const bench::BuiltProduct<T, S>& product) {
      product.matrix->apply_columns(ctx_, columns, T(1), x.cspan(), T(0), y.span(), work.span());
    };
    const auto samples = [columns](BenchLine& line) -> bench::Samples& {
      line.columns.push_back({columns, {}});
      return line.columns.back().warm;
    };
    alternate("with " + std::to_string(columns) + " vectors", samples,
              [&](const bench::BuiltProduct<T, S>& product, int count) {
                multiply(product);
                return timer_.back_to_back(count, [&] { multiply(product); });
              });
    for (const Entrant& entrant : entrants_) {
      BenchLine& line = lines_[entrant.line];
      line.error = std::max(line.error, worst_column_error(entrant.product, columns, y, work));
    }
  }

  // Once as it is timed, on a poisoned y, and once with other alpha and beta.
  double worst_error(const bench::BuiltProduct<T, S>& product) {
    const RowOrder<S>& order = product.order;
    const Array<T, S> x = in_order_of(order, x_);
    Array<T, S> y(ctx_, y_.size());
    fill(ctx_, std::numeric_limits<T>::quiet_NaN(), y.span());
    product.matrix->apply(ctx_, T(1), x.cspan(), T(0), y.span());
    const double plain = oracle_->worst(in_callers_order(order, y), T(1));

    y = in_order_of(order, make_array(ctx_, y_before_));
    product.matrix->apply(ctx_, T(-0.75), x.cspan(), T(0.5), y.span());
    return std::max(plain, oracle_->worst(in_callers_order(order, y), T(-0.75), T(0.5), y_before_));
  }

  // Once, on a poisoned y.
  double worst_column_error(const bench::BuiltProduct<T, S>& product, int columns, Array<T, S>& y,
                            Array<char, S>& work) const {
    const Array<T, S> x = columns_of(in_order_of(product.order, x_).cspan(), columns);
    fill(ctx_, std::numeric_limits<T>::quiet_NaN(), y.span());
    product.matrix->apply_columns(ctx_, columns, T(1), x.cspan(), T(0), y.span(), work.span());
    const std::vector<T> all = to_vector(ctx_, y.cspan());
    double worst = 0;
    std::vector<T> one(all.size() / static_cast<std::size_t>(columns));
    for (int c = 0; c < columns; ++c) {
      for (std::size_t i = 0; i < one.size(); ++i) one[i] = all[i * static_cast<std::size_t>(columns) + c];
      worst = std::max(worst,
                       oracle_->worst(in_callers_order(product.order, make_array(ctx_, one)), std::ldexp(T(1), c)));
    }
    return worst;
  }

  Array<T, S> in_order_of(const RowOrder<S>& order, const Array<T, S>& v) const {
    Array<T, S> result(ctx_, v.size());
    if (order.natural())
      copy<T>(ctx_, v.cspan(), result.span());
    else
      gather<T, S>(ctx_, v.cspan(), order.old_of_new.cspan(), result.span());
    return result;
  }

  std::vector<T> in_callers_order(const RowOrder<S>& order, const Array<T, S>& y) const {
    if (order.natural()) return to_vector(ctx_, y.cspan());
    Array<T, S> result(ctx_, y.size());
    gather<T, S>(ctx_, y.cspan(), order.new_of_old.cspan(), result.span());
    return to_vector(ctx_, result.cspan());
  }

  // What was timed once for several lines.
  void share() {
    for (BenchLine& line : lines_) {
      if (line.same_as.empty()) continue;
      const auto twin = std::find_if(lines_.begin(), lines_.end(),
                                     [&](const BenchLine& other) { return other.name == line.same_as; });
      line.warm = twin->warm;
      line.cold = twin->cold;
      line.refresh = twin->refresh;
      line.columns = twin->columns;
      line.error = std::max(line.error, twin->error);
    }
  }

  static constexpr int most_cold = 3;  // a displacement takes longer than the product

  const Context<S>& ctx_;
  BenchSettings settings_;
  BenchProgress progress_;
  bench::Timer<S> timer_;
  Array<char, S> displaced_;
  InPrecision<T> matrix_;
  PlacedMatrix<T, S> placed_;
  Array<T, S> x_, y_;
  std::vector<T> y_before_;
  std::optional<bench::ProductOracle<T>> oracle_;
  std::vector<BenchLine> lines_;
  std::vector<Entrant> entrants_;
};

}  // namespace newel::cli
