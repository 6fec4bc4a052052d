// SPDX-License-Identifier: Apache-2.0
// What a solve is advised to do next.
#include "solver/policy/advisor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "solver/krylov/monitor/residual_rate.hpp"

namespace newel::detail {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

const FormatChoice* formats_to_move_to(const History& history, Forecasts& forecasts) {
  return history.change_failed ? nullptr : forecasts.format_choice();
}

// What `iterations` with the present preconditioner would take, and each of them: in the format that is the best for
// so many, with its setup.
std::pair<double, double> staying(const PrecondOutlook& present, const FormatChoice* choice, double iterations) {
  std::pair<double, double> best{iterations * present.now_seconds, present.now_seconds};
  if (choice == nullptr) return best;
  for (const FormatTrial& trial : choice->trials) {
    if (trial.failure.empty() && trial.format != choice->format) {
      best = std::min(best, {trial.seconds_of(iterations), trial.step_seconds()});
    }
  }
  return best;
}

// Whether a solve of `iterations` with the present preconditioner would pay for a faster format or a stronger one.
bool would_pay(const FormatChoice* choice, const PrecondOutlooks* outlooks, double iterations) {
  if (choice != nullptr && SystemLearning::most_saved(*choice, iterations) >= usual_margin) return true;
  if (outlooks == nullptr) return false;
  const double present = iterations * outlooks->present.now_seconds;
  return std::any_of(outlooks->stronger.begin(), outlooks->stronger.end(), [&](const PrecondOutlook& stronger) {
    const double saved = present - stronger.iterations_for(iterations) * stronger.now_seconds;
    return !stronger.passed_over && saved >= stronger.margin * stronger.build_seconds;
  });
}

// So long may the stronger preconditioner take for a tenth of the residual: twice the seconds that the weaker one
// would, and what a recurrence needs to get going.
int allowed_for_a_tenth(const SolveStanding& standing, bool left_guessed, const PrecondOutlooks& outlooks,
                        const PrecondOutlook& stronger) {
  const double tenths = std::max(1.0, std::log10(standing.residual / standing.tolerance));
  const double weaker = standing.left / tenths * outlooks.present.iteration_seconds / stronger.iteration_seconds;
  const bool far_more = left_guessed && standing.keeps_preconditioner;
  const double times = ProbationConstants::times_weaker * (far_more ? ProbationConstants::times_if_kept : 1);
  return static_cast<int>(std::min(ProbationConstants::grace + times * weaker, 1e8));
}

}  // namespace

std::optional<Move> Advisor::next(const SolveStanding& now, const History& history, Forecasts& forecasts) {
  standing_ = now;
  simple_seen_ = 0;
  format_too_ = true;
  preconditioner_too_ = true;
  if (probation_.on()) {
    const auto verdict = probation_.judge(now, forecasts.followed_preconditioner(), history.whole);
    if (verdict == Probation::Verdict::failed) return Move{Move::Kind::weaker_preconditioner};
    if (verdict == Probation::Verdict::awaited) {
      awaited_ = true;
      return std::nullopt;
    }
  }
  awaited_ = false;
  estimates_.ask_again = 0;
  if (estimates_.first_residual == 0) {
    estimates_.first_asked = now.iterations;
    estimates_.first_residual = now.residual;
  }
  left_guessed_ = false;
  standing_.left *= forecasts.estimate_scale();
  const double done = now.iterations;
  const double whole = history.last_iterations > 0 ? history.last_iterations : forecasts.expected_iterations();
  const double by_whole = std::max(whole - done, done);
  if (standing_.left == 0) {
    standing_.left = by_whole;
    left_guessed_ = history.last_iterations == 0;
  } else if (!now.by_rate) {  // of a singular matrix nothing but the spectrum is known for long
    standing_.left = std::min(standing_.left, DoubtConstants::far * by_whole);
  }
  estimates_.believed = standing_.left;
  if (!left_guessed_) estimates_.raise_after_overrun(standing_);
  estimates_.most_saved = 0;
  return choose(history, forecasts);
}

// A preconditioner by the iterations of whole solves: where the last one converged with the present one. Before the
// first solve, of which nothing is known but that it begins at zero, by those that are sure.
std::optional<Move> Advisor::before_solve(const Beginning& solve, bool preconditioner_too, const History& history,
                                          Forecasts& forecasts) {
  const bool first = solve.from_zero && history.solves == 0 && history.last_iterations == 0;
  const double sure = first ? forecasts.sure_iterations(true) : 0;
  estimates_.most_saved = simple_seen_ = 0;
  format_too_ = !(sure > 0);  // a first solve moves on to it without losing an iteration
  if (sure > 0) {
    const double expected = std::min(forecasts.expected_iterations(), solve.most_iterations);
    standing_ = {0, expected, true, 1, solve.tolerance, std::min(sure, solve.most_iterations)};
    left_guessed_ = false;
    preconditioner_too_ = true;
  } else {
    if (!(history.format.iterations > 0) && history.last_iterations == 0) return std::nullopt;  // nothing is known
    const double last = history.last_iterations;
    standing_ = {0, last, true, 1, solve.tolerance, last};
    left_guessed_ = history.last_iterations == 0;
    preconditioner_too_ = preconditioner_too && history.last_iterations > 0;
  }
  estimates_.believed = standing_.left;
  return choose(history, forecasts);
}

// Once a solve takes more than twice what an estimate promised, as many iterations are expected as the way that the
// residual has come since it was first looked at makes expect, up to twice as many as there were: so that estimates
// that are far too low do not keep it from what has long been worth its price.
void Advisor::Estimates::raise_after_overrun(SolveStanding& standing) {
  const double done = standing.iterations, whole = done + standing.left;
  promised = promised > 0 ? std::min(promised, whole) : whole;
  if (!(done > DoubtConstants::overrun * promised)) return;
  const double come = std::log(first_residual / standing.residual);
  const double to_come = std::log(standing.residual / standing.tolerance);
  const double by_way = come > 0 && to_come > 0 ? (done - first_asked) * to_come / come : done;
  standing.left = std::max(standing.left, std::min(DoubtConstants::most_again * done, by_way));
}

// Each time that a device is asked it waits for the host, which takes as long as some iterations of a small system.
// Where nothing is anywhere near its price by what the solve has shown, it is asked after four times the iterations
// instead of twice as many, or after half as many again where what it has shown is doubted. A host could be asked in
// every iteration, in which usually nothing new is known.
void Advisor::ask_less_often(bool asking_is_dear) {
  using Asking = AskingConstants;
  if (awaited_) return;
  if (!asking_is_dear) {
    const int next_ask = standing_.iterations + std::max(1, standing_.iterations / Asking::of_those_before);
    if (estimates_.ask_again == 0 && next_ask > standing_.iterations) estimates_.ask_again = next_ask;
    return;
  }
  const bool waits = left_guessed_ || estimates_.ask_again > 0 || estimates_.most_saved >= Asking::near;
  if (waits || standing_.iterations >= no_exchange / Asking::times) return;
  const double next_ask =
      (standing_.left > estimates_.believed ? Asking::half_again : Asking::times) * standing_.iterations;
  estimates_.ask_again = static_cast<int>(next_ask);
}

std::optional<Move> Advisor::choose(const History& history, Forecasts& forecasts) {
  const FormatChoice* const choice = formats_to_move_to(history, forecasts);
  const double to_come = standing_.left + SystemLearning(history.format).later(history.last_iterations);
  const FormatTrial* better = nullptr;
  if (choice != nullptr) {
    estimates_.most_saved = std::max(estimates_.most_saved, SystemLearning::most_saved(*choice, to_come));
    better = SystemLearning(history.format)
                 .better_for(*choice, standing_.iterations, standing_.sure, to_come, !left_guessed_);
  }
  if (better != nullptr && better->setup_seconds > forecasts.seconds_left()) better = nullptr;
  const Stronger stronger = preconditioner_too_ ? stronger_that_pays(better, history, forecasts) : Stronger{};
  if (stronger.inspect) return Move{Move::Kind::inspect_values};
  if (stronger.now) {
    const PrecondOutlooks& outlooks = *forecasts.stronger_preconditioners(standing_.iterations);
    return Move{Move::Kind::stronger_preconditioner, stronger.outlook->name,
                allowed_for_a_tenth(standing_, left_guessed_, outlooks, *stronger.outlook), stronger.weaker_seconds};
  }
  if (better != nullptr && stronger.outlook == nullptr && format_too_)
    return Move{Move::Kind::format, better->format};
  return std::nullopt;
}

// The best for the iterations to come, with as many refreshes for each of them as there were so far. Where it is
// measured that it will pay, but too little is missed yet, the format waits, which it would use for a few iterations
// only. Where that is about to change by a guess, the preconditioner comes first if it will ever pay: it is made of
// the matrix as it was given. Where the format is about to change, the preconditioner takes its place, in the present
// format, and saves its setup too. A look at the values comes last: it may still show a higher price.
Advisor::Stronger Advisor::stronger_that_pays(const FormatTrial* better, const History& history,
                                              Forecasts& forecasts) {
  const SolveCounts& counts = history.preconditioner;
  const double done = standing_.iterations, before = std::max(0.0, counts.iterations);
  const double left = left_guessed_ ? done : standing_.left;  // dear: a guess by the size is not enough
  // Before a format is set up they are looked at in any case, and where iterations are sure before there were any.
  const bool in_any_case = better != nullptr || (done == 0 && standing_.sure > 0);
  const PrecondOutlooks* const outlooks = forecasts.stronger_preconditioners(in_any_case ? infinity : before + done);
  if (outlooks == nullptr || !(done + left > 0)) return {};
  const PrecondOutlook& present = outlooks->present;
  const bool between = done == 0 && history.simple_measured > 0;
  const double simple = between ? history.simple_measured : simple_iterations_for(present.iterations, done + left);
  if (!between) simple_seen_ = simple;
  const double later = SystemLearning(counts).later(history.last_iterations);
  const double later_refreshes = before > 0 ? later / before : 1;
  // A residual often falls late: of a stronger one's solve as large a share is left as of the digits, if not more.
  const double share_left = std::max(left / (done + left), standing_.digits_left());
  const auto [staying_seconds, staying_step] = staying(present, formats_to_move_to(history, forecasts), later + left);
  const double time_left = forecasts.seconds_left();
  const PrecondOutlook* best = nullptr;
  double most_saved = 0;
  estimates_.with_stronger = infinity;
  SetupSavings of_best;
  for (const PrecondOutlook& stronger : outlooks->stronger) {
    const bool begins = done == 0 && stronger.has_own_method();
    if (stronger.passed_over && !between && !begins) continue;
    if (standing_.keeps_preconditioner && !stronger.positive) continue;
    if (stronger.build_seconds > time_left) continue;
    const double of_solve = stronger.iterations_for(simple, done == 0), share = of_solve / (done + left);
    const double seconds = better != nullptr ? stronger.now_seconds : stronger.iteration_seconds;
    const double alone = stronger.build_seconds + share_left * of_solve * seconds;
    estimates_.with_stronger = std::min(estimates_.with_stronger, alone);
    const double gain = staying_seconds - (later * share + share_left * of_solve) * seconds;
    const double gain_now = present.now_seconds - share * stronger.now_seconds;
    const double refreshes = counts.refreshes * (stronger.refresh_seconds - present.refresh_seconds);
    const double ahead = gain - later_refreshes * refreshes;
    const double saved = ahead - stronger.build_seconds;
    if (gain_now > 0) estimates_.most_saved = std::max(estimates_.most_saved, ahead / stronger.build_seconds);
    if (!(gain > 0) || !(gain_now > 0) || !(saved > most_saved)) continue;
    best = &stronger;
    most_saved = saved;
    // What has been left once comes again by what was missed alone.
    const double sure = stronger.measured_iterations > 0 ? 0 : standing_.sure;
    const double least = stronger.iterations_for(simple_iterations_for(present.iterations, done + standing_.sure));
    const double missed = (before + done) * gain_now + estimates_.former_format;
    of_best = {missed - refreshes, sure * gain_now, ahead, between ? 0 : least * seconds};
  }
  if (best == nullptr) return {};
  const double price = best->build_seconds;
  const double of_format = done > 0 && better != nullptr ? std::min(1.0, better->setup_seconds / price) : 0;
  const double margin = best->margin / (1 + (WorthConstants::times_for_format - 1) * of_format);
  const bool measured = !left_guessed_;
  bool now = is_worth(price, of_best, measured, margin);
  if (left_guessed_ && better != nullptr) now = (of_best.missed + of_best.ahead) / 2 >= price;
  SetupSavings later_on = of_best;
  later_on.missed = std::max(of_best.missed, least_savings(price, of_best));
  const bool soon = measured && is_worth(price, later_on, measured, margin);
  if (!now && !soon) return {};
  Stronger found{best, now, forecasts.values_unseen(), staying_step};
  if (soon && !now && !found.inspect) {
    estimates_.ask_again = iteration_when_due(price, of_best, standing_.iterations);
  }
  return found;
}

// Where solves like this one have been decided on before it, not until it turns out to be longer than they were. The
// first, where one of half as many again as are expected would not pay, not until half of those have gone. A system
// that has not weighed its alternatives yet does so when there can be a first spectrum.
int Advisor::not_before(bool asking_is_dear, const History& history, Forecasts& forecasts) {
  if (probation_.on()) return 0;
  if (!forecasts.weighed()) return few_steps;
  const FormatChoice* const choice = formats_to_move_to(history, forecasts);
  const double sure = std::max(SureConstants::of_any_solve, forecasts.sure_iterations(false));
  double least = choice != nullptr ? SystemLearning(history.format).earliest(*choice, sure) : infinity;
  const double before = std::max(0.0, history.preconditioner.iterations);
  const PrecondOutlooks* const outlooks = forecasts.stronger_preconditioners(before);
  if (outlooks != nullptr) {
    constexpr double many = 1e6;  // iterations: more do not make one stronger
    const double present = outlooks->present.now_seconds;
    for (const PrecondOutlook& stronger : outlooks->stronger) {
      if (stronger.passed_over) continue;
      const double gain = present - stronger.iterations_for(many) / many * stronger.now_seconds;
      if (gain > 0) least = std::min(least, earliest_iteration(stronger.build_seconds / gain, before, sure));
    }
  } else {
    least = std::min(least, forecasts.worth_a_look());
  }
  least = std::max(least, static_cast<double>(history.last_iterations));
  const double expected = asking_is_dear && history.last_iterations == 0 ? forecasts.expected_iterations() : 0;
  if (expected > 0 && !would_pay(choice, outlooks, AskingConstants::more * expected))
    least = std::max(least, AskingConstants::half * expected);
  return least < no_exchange ? std::max(static_cast<int>(std::ceil(least)), estimates_.ask_again) : no_exchange;
}

void Advisor::took_stronger(const Move& move, History& history) {
  const double by_rate = left_guessed_ ? 0 : standing_.iterations + estimates_.believed;
  history.whole = {};
  history.whole.weaker_iterations = history.last_iterations > 0 ? history.last_iterations : by_rate;
  history.whole.weaker_seconds = move.weaker_seconds;
  history.whole.estimated = history.last_iterations == 0;
  const bool by_gains = history.whole.estimated && (standing_.iterations == 0 || !standing_.by_rate);
  probation_ = Probation(move.allowed_for_a_tenth, standing_, by_gains);
  took_other_preconditioner(history);
}

void Advisor::took_other_preconditioner(History& history) {
  estimates_ = {};
  history.last_iterations = 0;
  history.preconditioner = counts_after_move(standing_.iterations);
}

// The weaker preconditioner is not renumbered.
void Advisor::took_format(History& history, bool in_a_solve) {
  history.format = counts_after_move(in_a_solve ? standing_.iterations : 0);
  probation_ = {};
}

}  // namespace newel::detail
