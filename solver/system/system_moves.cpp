// SPDX-License-Identifier: Apache-2.0
// How a system moves to another format or preconditioner in the middle of a solve.
#include "solver/system/system_state.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "core/text/number_text.hpp"
#include "solver/krylov/steps/cg_spectrum.hpp"
#include "spmv/cost/scaled_estimates.hpp"

namespace newel::detail {
namespace {

// In a row, that took longer with a stronger preconditioner; one that took far longer is enough.
constexpr int solves_to_leave = 2;
// How many times what its size makes expect a solve may take, by its condition number alone.
constexpr double far = 16;

}  // namespace

template <class T, Space S>
bool SystemState<T, S>::due(const SolveStanding& now) {
  next = Move::none;
  if (!may_move) return false;
  standing = now;
  const Verdict verdict = probation_so_far();
  if (verdict == Verdict::failed) next = Move::weaker_preconditioner;
  if (verdict == Verdict::failed || verdict == Verdict::awaited) return next != Move::none;
  const int done = now.iterations;
  estimates.ask_again = 0;
  if (estimates.first_residual == 0) {
    estimates.first_asked = done;
    estimates.first_residual = now.residual;
  }
  left_guessed = false;
  standing.left *= ScaledEstimates::factor();
  const double whole = last_iterations > 0 ? last_iterations : operators->expected_iterations();
  const double by_whole = std::max(whole - done, static_cast<double>(done));
  if (standing.left == 0) {
    standing.left = by_whole;
    left_guessed = last_iterations == 0;
  } else if (!now.by_rate) {  // of a singular matrix nothing but the spectrum is known for long
    standing.left = std::min(standing.left, far * by_whole);
  }
  estimates.believed = standing.left;
  if (!left_guessed) doubt_what_was_overrun();
  choose_move(true);
  if (next == Move::none) ask_less_often();
  in_single.due = next == Move::single_precision;  // where the solve stops next
  return next != Move::none && !in_single.due;
}

// Once a solve takes more than twice what an estimate promised, as many iterations are expected as the way that the
// residual has come since it was first looked at makes expect, up to twice as many as there were: so that estimates
// that are far too low do not keep it from what has long been worth its price.
template <class T, Space S>
void SystemState<T, S>::doubt_what_was_overrun() {
  constexpr double overrun = 2, most = 2;
  const double done = standing.iterations, whole = done + standing.left;
  estimates.promised = estimates.promised > 0 ? std::min(estimates.promised, whole) : whole;
  if (!(done > overrun * estimates.promised)) return;
  const double come = std::log(estimates.first_residual / standing.residual);
  const double to_come = std::log(standing.residual / standing.tolerance);
  const double by_way = come > 0 && to_come > 0 ? (done - estimates.first_asked) * to_come / come : done;
  standing.left = std::max(standing.left, std::min(most * done, by_way));
}

// Each time that a device is asked it waits for the host, which takes as long as some iterations of a small system.
// Where nothing is anywhere near its price by what the solve has shown, it is asked after four times the iterations
// instead of twice as many, or after half as many again where what it has shown is doubted. A host could be asked in
// every iteration, in which nothing new is known as a rule.
template <class T, Space S>
void SystemState<T, S>::ask_less_often() {
  constexpr double near = 1.0 / 3;
  constexpr int times = 4, of_those_before = 16;
  constexpr double half_again = 1.5;
  if (S == Space::host) {
    const int next_ask = standing.iterations + std::max(1, standing.iterations / of_those_before);
    if (estimates.ask_again == 0 && next_ask > standing.iterations) estimates.ask_again = next_ask;
    return;
  }
  const bool waits = left_guessed || estimates.ask_again > 0 || estimates.most_saved >= near;
  if (waits || standing.iterations >= no_exchange / times) return;
  const double next_ask = (standing.left > estimates.believed ? half_again : times) * standing.iterations;
  estimates.ask_again = static_cast<int>(next_ask);
}

template <class T, Space S>
void SystemState<T, S>::choose_move(bool preconditioner_too) {
  next = Move::none;
  const FormatChoice* const choice = formats_to_move_to();
  const double to_come = standing.left + learning.later(last_iterations);
  const FormatTrial* better = nullptr;
  estimates.most_saved = choice != nullptr ? SystemLearning::most_saved(*choice, to_come) : 0;
  if (choice != nullptr)
    better = learning.better_for(*choice, standing.iterations, standing.sure, to_come, !left_guessed);
  const double time_left = work_limit(ctx).seconds_left();
  if (better != nullptr && better->setup_seconds > time_left) better = nullptr;
  const StrongerChoice stronger = preconditioner_too ? stronger_that_pays(better) : StrongerChoice{};
  if (stronger.now) {
    next = Move::stronger_preconditioner;
    next_preconditioner = stronger.outlook->name;
    next_probation = allowed_for_a_tenth(*stronger.outlook);
  } else if (better != nullptr && stronger.outlook == nullptr) {
    const bool in_double = better < choice->trials.data() + operators->format_choice()->trials.size();
    next = in_double ? Move::format : Move::single_precision;
    next_format = better->format;
  }
}

// Whether a solve of `iterations` with the present preconditioner would pay for a faster format or a stronger one.
template <class T, Space S>
bool SystemState<T, S>::would_pay(const FormatChoice* choice, const PrecondOutlooks* outlooks, double iterations) {
  if (choice != nullptr && SystemLearning::most_saved(*choice, iterations) >= usual_margin) return true;
  if (outlooks == nullptr) return false;
  const double present = iterations * outlooks->present.now_seconds;
  return std::any_of(outlooks->stronger.begin(), outlooks->stronger.end(), [&](const PrecondOutlook& stronger) {
    const double saved = present - stronger.iterations_for(iterations) * stronger.now_seconds;
    return !stronger.passed_over && saved >= stronger.margin * stronger.build_seconds;
  });
}

// Where solves like this one have been decided on before it, not until it turns out to be longer than they were. The
// first, where one of half as many again as are expected would not pay, not until half of those have gone. A system
// that has not weighed its alternatives yet does so when there can be a first spectrum.
template <class T, Space S>
int SystemState<T, S>::not_before() {
  if (!may_move) return no_exchange;
  if (probation.length > 0) return 0;
  if (!operators->weighed()) return few_steps;
  const FormatChoice* const choice = formats_to_move_to();
  const double sure = sure_of_solve();
  double least = choice != nullptr ? learning.earliest(*choice, sure) : std::numeric_limits<double>::infinity();
  const double before = std::max(0.0, learning_precond.iterations());
  const PrecondOutlooks* const outlooks = operators->stronger_preconditioners(before);
  if (outlooks != nullptr) {
    constexpr double many = 1e6;  // iterations: more do not make one stronger
    const double present = outlooks->present.now_seconds;
    for (const PrecondOutlook& stronger : outlooks->stronger) {
      if (stronger.passed_over) continue;
      const double gain = present - stronger.iterations_for(many) / many * stronger.now_seconds;
      if (gain > 0) least = std::min(least, earliest_iteration(stronger.build_seconds / gain, before, sure));
    }
  }
  least = std::max(least, static_cast<double>(last_iterations));
  constexpr double more = 1.5, half = 0.5;
  const bool asking_is_dear = S == Space::device;
  const double expected = asking_is_dear && last_iterations == 0 ? operators->expected_iterations() : 0;
  if (expected > 0 && !would_pay(choice, outlooks, more * expected)) least = std::max(least, half * expected);
  return least < no_exchange ? std::max(static_cast<int>(std::ceil(least)), estimates.ask_again) : no_exchange;
}

// A preconditioner that has passed goes on being watched, since one may stall later: a tenth of the residual may then
// take as long as the longest before it. Whatever the energy showed, the residual tells again once it is a tenth of
// the first one.
template <class T, Space S>
typename SystemState<T, S>::Verdict SystemState<T, S>::probation_so_far() {
  if (probation.length == 0) return Verdict::none;
  if (probation.begun == 0) probation.begin(standing);  // taken before the solve, which is asked for the first time
  if (standing.iterations < probation.from) probation.begin(standing);  // of the chain's next solver
  probation.least = std::min(probation.least, standing.residual);
  if (probation.least <= 0.1 * probation.begun) {
    probation.passed = true;
    probation.length = std::max(probation.length, standing.iterations - probation.from);
    probation.without_end = false;
    probation.begun = probation.least;
    probation.from = standing.iterations;
  }
  if (probation.by_gains && standing.iterations >= probation.first + few_steps) {
    probation.by_gains = false;
    if (gains_enough()) {
      probation.passed = probation.without_end = true;
      probation.begun = std::min(probation.begun, standing.initial_residual);
    }
  }
  const bool late = !probation.without_end && standing.iterations >= probation.from + probation.length;
  if (late || falls_too_slowly()) return Verdict::failed;
  return probation.passed ? Verdict::passed : Verdict::awaited;
}

// Of the square of the error in the norm of A, half as much in an iteration as the weaker one did in the last before
// it: what that would gain now, since a recurrence that begins again is slower at first. In plane elasticity of
// Poisson's ratios of 0.3 to 0.499999, of squares, beams, flat elements and contrasts, behind 900 to 3,500 iterations
// with Jacobi, whose residual was 10 to 500 |b|: in the first 16 iterations AMG gained 1.4 to 81 times as much as
// Jacobi in the last 16, FSAI 0.80 to 3.3 times, Jacobi begun again 0.41 to 0.61 times, a diagonal that is off by up
// to e 0.29 to 0.36 times and one by up to e^4 0.03 to 0.07 times. Iterations are compared, not seconds: they are
// limited, and nobody knows how many the weaker one would take. Where nothing is known of that, no CG does worse.
template <class T, Space S>
bool SystemState<T, S>::gains_enough() const {
  constexpr double begun_again = 0.5;
  const double gained = standing.gained - probation.gained_before;
  const int iterations = standing.iterations - probation.first;
  return gained > 0 && gained >= begun_again * probation.weaker_gains * iterations;
}

// By how the residual has come down to a tenth since, twice the seconds are left that the weaker one took for a whole
// solve. Asked early only, and not of short solves, whose residual often falls late.
template <class T, Space S>
bool SystemState<T, S>::falls_too_slowly() const {
  constexpr int enough = 16;
  constexpr double tenth = 0.1, clearly = 2, early = 1.0 / 8;
  const int made = standing.iterations - probation.first;
  const std::optional<FollowedPrecond> followed = operators->followed_preconditioner();
  if (made < enough || !followed || whole_solves.estimated || !(whole_solves.weaker_iterations > 0)) return false;
  if (!(probation.least <= tenth * probation.first_residual) || !(probation.least > standing.tolerance)) return false;
  const double come = std::log(probation.first_residual / probation.least);
  const double left = made * std::log(probation.least / standing.tolerance) / come;
  const double weaker_left = whole_solves.weaker_iterations - probation.first;
  if (!(made <= early * weaker_left)) return false;
  return left * followed->present.iteration_seconds > clearly * weaker_left * whole_solves.weaker_seconds;
}

// What `iterations` with the present preconditioner would take, and each of them: in the format that is the best for
// so many, with its setup.
template <class T, Space S>
std::pair<double, double> SystemState<T, S>::staying(const PrecondOutlook& present, double iterations) {
  const FormatChoice* const choice = formats_to_move_to();
  std::pair<double, double> best{iterations * present.now_seconds, present.now_seconds};
  if (choice == nullptr) return best;
  for (const FormatTrial& trial : choice->trials) {
    if (trial.failure.empty() && trial.format != choice->format) {
      best = std::min(best, {trial.seconds_of(iterations), trial.step_seconds()});
    }
  }
  return best;
}

// The best for the iterations to come, with as many refreshes for each of them as there were so far. Where it is
// measured that it will pay, but too little is missed yet, the format waits, which it would use for a few iterations
// only. Where that is about to change by a guess, the preconditioner comes first if it will ever pay: it is made of
// the matrix as it was given. Where the format is about to change, the preconditioner takes its place, in the present
// format, and saves its setup too. A look at the values comes last: it may still show a higher price.
template <class T, Space S>
typename SystemState<T, S>::StrongerChoice SystemState<T, S>::stronger_that_pays(const FormatTrial* better) {
  const double done = standing.iterations, before = std::max(0.0, learning_precond.iterations());
  const double left = left_guessed ? done : standing.left;  // dear: a guess by the size is not enough
  // Before a format is set up they are looked at in any case, and where iterations are sure before there were any.
  constexpr double enough = std::numeric_limits<double>::infinity();
  const bool in_any_case = better != nullptr || (done == 0 && standing.sure > 0);
  const PrecondOutlooks* const outlooks = operators->stronger_preconditioners(in_any_case ? enough : before + done);
  if (outlooks == nullptr || !(done + left > 0)) return {};
  const PrecondOutlook& present = outlooks->present;
  const bool between = done == 0 && simple_measured > 0;
  const double simple = between ? simple_measured : simple_iterations_for(present.iterations, done + left);
  if (!between) simple_seen = simple;
  const double later = learning_precond.later(last_iterations), later_refreshes = before > 0 ? later / before : 1;
  // A residual often falls late: of a stronger one's solve as large a share is left as of the digits, if not more.
  const double share_left = std::max(left / (done + left), standing.digits_left());
  const auto [staying_seconds, staying_step] = staying(present, later + left);
  next_weaker_seconds = staying_step;
  const double time_left = work_limit(ctx).seconds_left();
  const PrecondOutlook* best = nullptr;
  double most_saved = 0;
  SetupSavings of_best;
  for (const PrecondOutlook& stronger : outlooks->stronger) {
    if (stronger.passed_over && !between) continue;
    if (stronger.build_seconds > time_left) continue;
    const double of_solve = stronger.iterations_for(simple), share = of_solve / (done + left);
    const double seconds = better != nullptr ? stronger.now_seconds : stronger.iteration_seconds;
    const double gain = staying_seconds - (later * share + share_left * of_solve) * seconds;
    const double gain_now = present.now_seconds - share * stronger.now_seconds;
    const double refreshes = learning_precond.refreshes() * (stronger.refresh_seconds - present.refresh_seconds);
    const double ahead = gain - later_refreshes * refreshes;
    const double saved = ahead - stronger.build_seconds;
    if (gain_now > 0) estimates.most_saved = std::max(estimates.most_saved, ahead / stronger.build_seconds);
    if (!(gain > 0) || !(gain_now > 0) || !(saved > most_saved)) continue;
    best = &stronger;
    most_saved = saved;
    // What has been left once comes again by what was missed alone.
    const double sure = stronger.measured_iterations > 0 ? 0 : standing.sure;
    const double least = stronger.iterations_for(simple_iterations_for(present.iterations, done + standing.sure));
    const double missed = (before + done) * gain_now + estimates.former_format;
    of_best = {missed - refreshes, sure * gain_now, ahead, between ? 0 : least * seconds};
  }
  if (best == nullptr) return {};
  const double price = best->build_seconds;
  // In the place of a format that is about to be set up in mid-solve for as many seconds it need not save much more
  // than that: its own seconds depend less on how many iterations are to come.
  constexpr double times_for_format = 1.6;
  const double of_format = done > 0 && better != nullptr ? std::min(1.0, better->setup_seconds / price) : 0;
  const double margin = best->margin / (1 + (times_for_format - 1) * of_format);
  const bool measured = !left_guessed;
  bool now = is_worth(price, of_best, measured, margin);
  if (left_guessed && better != nullptr) now = (of_best.missed + of_best.ahead) / 2 >= price;
  SetupSavings later_on = of_best;
  later_on.missed = std::max(of_best.missed, least_savings(price, of_best));
  const bool soon = measured && is_worth(price, later_on, measured, margin);
  if ((now || soon) && operators->look_at_values()) return stronger_that_pays(better);
  if (soon && !now) estimates.ask_again = iteration_when_due(price, of_best, standing.iterations);
  return now || soon ? StrongerChoice{best, now} : StrongerChoice{};
}

// So long may the stronger preconditioner take for a tenth of the residual: twice the seconds that the weaker one
// would, and what a recurrence needs to get going.
template <class T, Space S>
int SystemState<T, S>::allowed_for_a_tenth(const PrecondOutlook& stronger) {
  constexpr double grace = 16;
  const double present_seconds = operators->stronger_preconditioners(standing.iterations)->present.iteration_seconds;
  const double tenths = std::max(1.0, std::log10(standing.residual / standing.tolerance));
  const double weaker = standing.left / tenths * present_seconds / stronger.iteration_seconds;
  return static_cast<int>(std::min(grace + 2 * weaker, 1e8));
}

template <class T, Space S>
bool SystemState<T, S>::take_stronger() {
  const double by_rate = left_guessed ? 0 : standing.iterations + estimates.believed;
  const double of_solve = last_iterations > 0 ? last_iterations : by_rate;
  if (!operators->take_stronger_preconditioner(next_preconditioner)) return false;
  whole_solves = {};
  whole_solves.weaker_iterations = of_solve;
  whole_solves.weaker_seconds = next_weaker_seconds;
  whole_solves.estimated = last_iterations == 0;
  probation = {};
  probation.length = next_probation;
  probation.begin(standing);
  probation.by_gains = whole_solves.estimated && (standing.iterations == 0 || !standing.by_rate);
  probation.weaker_gains = standing.gained_lately;
  note_other_preconditioner();
  return true;
}

// Whole solves show what tenths of a residual do not: the probation allows for twice the time. The weaker one is
// taken for as fast as it was expected to be in the format that it would have moved to.
template <class T, Space S>
void SystemState<T, S>::compare_with_weaker(const SolveReport& report) {
  constexpr double clearly = 1.2, clearly_if_estimated = 1.4, by_far = 1.5;
  const std::optional<FollowedPrecond> followed = operators->followed_preconditioner();
  const int refreshes = std::exchange(whole_solves.refreshes, 0);
  if (!followed || !(whole_solves.weaker_iterations > 0) || !report.converged()) return;
  const auto seconds_of = [&](const PrecondOutlook& precond, double iterations) {
    return iterations * precond.iteration_seconds + refreshes * precond.refresh_seconds;
  };
  const double present = seconds_of(followed->present, report.iterations);
  PrecondOutlook before = followed->weaker;
  before.iteration_seconds = whole_solves.weaker_seconds;
  const double weaker = seconds_of(before, whole_solves.weaker_iterations);
  whole_solves.iterations = report.iterations;
  const double most = (whole_solves.estimated ? clearly_if_estimated : clearly) * weaker;
  const int solves = present > by_far * most ? solves_to_leave : 1;
  whole_solves.slower = present > most ? whole_solves.slower + solves : 0;
}

template <class T, Space S>
void SystemState<T, S>::leave_what_proved_slower() {
  if (whole_solves.slower < solves_to_leave || !operators->sound()) return;
  const std::string before = operators->preconditioner_name();
  const int iterations = whole_solves.iterations;
  const double weaker = whole_solves.estimated ? 0 : whole_solves.weaker_iterations;
  whole_solves = {};
  if (!operators->leave_preconditioner(iterations)) return;
  chain->use(operators->matrix(), operators->applied_preconditioner());
  leave_single();
  last_iterations = static_cast<int>(std::min(weaker, 1e9));  // so many again, as far as is known
  learning_precond.moved();
  note_change("preconditioner " + operators->preconditioner_name() + " for " + before + ", whose solves took longer");
}

// A preconditioner by the iterations of whole solves: where the last one converged with the present one. Before the
// first solve, of which nothing is known but that it begins at zero, by those that are sure.
template <class T, Space S>
bool SystemState<T, S>::improve(bool preconditioner_too, bool before_the_first) {
  if (!operators->sound()) return false;
  const double sure = before_the_first && solves == 0 && last_iterations == 0 ? operators->sure_iterations(true) : 0;
  if (sure > 0) return take_before_the_first(sure);
  if (!(learning.iterations() > 0) && last_iterations == 0) return false;  // nothing has been spent, nothing is known
  const auto last = static_cast<double>(last_iterations);
  standing = {0, last, true, 1, tolerance_for_estimates(stop.rel_tol), last};  // a solve comes
  estimates.believed = last;
  left_guessed = last_iterations == 0;
  choose_move(preconditioner_too && last_iterations > 0);
  const bool has_single = in_single.operators != nullptr;  // which is what its setup was paid for
  if (next == Move::single_precision) return !has_single && move_to_single(next_format);
  if (next == Move::format && has_single) return false;
  if (next == Move::format) {
    const std::string before = operators->format_choice()->format;
    const std::string after = " after " + plain_number(learning.iterations()) + " iterations";
    if (!move_to(next_format)) return false;
    note_change("format " + next_format + " for " + before + after);
    return true;
  }
  return begin_with_stronger(" after " + plain_number(learning_precond.iterations()) + " iterations");
}

// The format is left to the solve: it moves on without losing an iteration.
template <class T, Space S>
bool SystemState<T, S>::take_before_the_first(double sure) {
  const double most = stop.max_iterations, expected = std::min(operators->expected_iterations(), most);
  standing = {0, expected, true, 1, tolerance_for_estimates(stop.rel_tol), std::min(sure, most)};
  estimates.believed = expected;
  left_guessed = false;
  choose_move(true);
  return begin_with_stronger(" at the beginning, with about " + plain_number(expected, 2) + " iterations to go");
}

// Where that is the next move: M that a solve begins with. `when` ends the note.
template <class T, Space S>
bool SystemState<T, S>::begin_with_stronger(const std::string& when) {
  if (next != Move::stronger_preconditioner) return false;
  const std::string before = operators->preconditioner_name();
  if (!take_stronger()) return false;
  chain->use(operators->matrix(), operators->applied_preconditioner());
  exchanged_precond = false;
  probation.begun = 0;  // at the residual that the solve begins with
  if (pinned) {         // and a solve moves nothing
    probation = {};
    operators->settle_preconditioner();
  }
  note_change("preconditioner " + operators->preconditioner_name() + " for " + before + when);
  return true;
}

// Of an iteration with the present preconditioner and format, where there is a stronger preconditioner; else 0.
template <class T, Space S>
double SystemState<T, S>::seconds_of_step() {
  const PrecondOutlooks* const outlooks = operators->stronger_preconditioners(standing.iterations);
  return outlooks != nullptr ? outlooks->present.now_seconds : 0;
}

template <class T, Space S>
bool SystemState<T, S>::make_move() {
  const std::string after = " after " + plain_number(standing.iterations) + " iterations, ";
  const std::string to_go = "with about " + plain_number(standing.left, 2) + " to go";
  const std::string before = operators->preconditioner_name();
  switch (next) {
    case Move::format: {
      const std::string format = operators->format_choice()->format;
      const double step = seconds_of_step();
      if (!move_to(next_format)) return false;
      if (const double present = seconds_of_step(); step > 0 && present > 0) {
        estimates.former_format += standing.iterations * (step - present);
      }
      note_change("format " + next_format + " for " + format + after + to_go);
      return true;
    }
    case Move::stronger_preconditioner:
      if (!take_stronger()) return false;
      note_change("preconditioner " + operators->preconditioner_name() + " for " + before + after + to_go);
      break;
    case Move::weaker_preconditioner:
      operators->restore_preconditioner();
      probation = {};
      note_other_preconditioner();
      note_change("preconditioner " + operators->preconditioner_name() + " for " + before + after +
                  "which gained less");
      break;
    case Move::single_precision:
    case Move::none:
      return false;
  }
  chain->use(operators->matrix(), operators->applied_preconditioner());
  return true;
}

// Formats are left in the caller's numbering only.
template <class T, Space S>
std::optional<ExchangedSystem<T, S>> SystemState<T, S>::exchange(const std::vector<Span<T, S>>& vectors) {
  Array<T, S> renumbered;
  try {
    if (next == Move::format) renumbered = Array<T, S>(ctx, rows);
  } catch (const OutOfMemory&) {
    change_failed = true;
    return std::nullopt;
  }
  if (!make_move()) return std::nullopt;
  if (next == Move::format && !natural()) {
    std::vector<Span<T, S>> all = vectors;
    all.push_back(chain->kept_x());
    all.push_back(guess.span());
    for (const Span<T, S> vector : all) {
      if (vector.size == 0) continue;
      gather_to_solver_order(vector, renumbered);
      copy<T>(ctx, renumbered.cspan(), vector);
    }
    gather_to_solver_order(present_b, ordered_b);
    gather_to_solver_order(present_x, ordered_x);
    present_b = ordered_b;
    present_x = ordered_x;
    exchanged = true;
  }
  ctx.synchronize();
  return ExchangedSystem<T, S>{operators->matrix(), operators->applied_preconditioner(), present_b, present_x,
                               next == Move::format && operators->same_preconditioner()};
}

#define X(T, S)                                                             \
  template bool SystemState<T, S>::due(const SolveStanding&);               \
  template int SystemState<T, S>::not_before();                             \
  template bool SystemState<T, S>::improve(bool, bool);                     \
  template double SystemState<T, S>::seconds_of_step();                     \
  template void SystemState<T, S>::compare_with_weaker(const SolveReport&); \
  template void SystemState<T, S>::leave_what_proved_slower();              \
  template std::optional<ExchangedSystem<T, S>> SystemState<T, S>::exchange(const std::vector<Span<T, S>>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
