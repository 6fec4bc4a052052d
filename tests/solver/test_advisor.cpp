// SPDX-License-Identifier: Apache-2.0
// What an Advisor and a Probation say of numbers that are made up: no matrix, no solve and no clock.
#include "tests/catch.hpp"

#include "solver/krylov/monitor/residual_rate.hpp"
#include "solver/policy/advisor.hpp"

using detail::Advisor;
using detail::History;
using detail::Move;
using detail::Probation;
using detail::SolveStanding;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct MadeUp final : detail::Forecasts {
  std::optional<FormatChoice> formats;
  std::optional<detail::PrecondOutlooks> outlooks;
  std::optional<detail::FollowedPrecond> followed;
  bool has_weighed = true, unseen = false;
  double expected = 0, sure = 0, scale = 1, left = infinity;

  bool weighed() const override { return has_weighed; }
  const FormatChoice* format_choice() override { return formats ? &*formats : nullptr; }
  const detail::PrecondOutlooks* stronger_preconditioners(double) override { return outlooks ? &*outlooks : nullptr; }
  bool values_unseen() const override { return unseen; }
  std::optional<detail::FollowedPrecond> followed_preconditioner() const override { return followed; }
  double expected_iterations() override { return expected; }
  double sure_iterations(bool) override { return sure; }
  double estimate_scale() const override { return scale; }
  double seconds_left() const override { return left; }
};

// An iteration takes a second in CSR and half a second in the other format. The setup saves half a second in each.
MadeUp with_format(double setup = 101) {
  FormatTrial csr, ehyb;
  csr.format = "csr";
  csr.iteration_seconds = 1;
  ehyb.format = "ehyb";
  ehyb.iteration_seconds = 0.5;
  ehyb.setup_seconds = setup;
  MadeUp made;
  made.formats.emplace();
  made.formats->format = "csr";
  made.formats->trials = {csr, ehyb};
  return made;
}

double half(double simple) { return simple / 2; }
double quarter(double simple) { return simple / 4; }

// An iteration takes a second with both preconditioners, in whichever format; there are fewer with the stronger one.
void add_stronger(MadeUp& to, double build = 101, ExpectedIterations iterations = half) {
  detail::PrecondOutlook jacobi, fsai;
  jacobi.name = "jacobi";
  jacobi.iteration_seconds = jacobi.now_seconds = 1;
  fsai = jacobi;
  fsai.name = "fsai";
  fsai.build_seconds = build;
  fsai.iterations = iterations;
  to.outlooks = detail::PrecondOutlooks{jacobi, {fsai}};
}

MadeUp with_stronger(double build = 101, ExpectedIterations iterations = half) {
  MadeUp made;
  add_stronger(made, build, iterations);
  return made;
}

// Five tenths before the end, from where the residual does not fall. `left` is by how it fell.
SolveStanding at(int iterations, double left, double sure = 0) { return {iterations, left, true, 1e5, 1, sure}; }

std::string text(const std::optional<Move>& move) {
  if (!move) return "";
  switch (move->kind) {
    case Move::Kind::inspect_values:
      return "inspect";
    case Move::Kind::format:
      return "format " + move->to;
    case Move::Kind::stronger_preconditioner:
      return "stronger " + move->to;
    case Move::Kind::weaker_preconditioner:
      return "weaker";
  }
  return "?";
}

// What is advised first in a solve that is asked in each iteration, and in which; "" and -1: nothing in 3,000.
struct First {
  int iteration = -1;
  std::string move = {};
  bool operator==(const First& other) const { return iteration == other.iteration && move == other.move; }
};
std::ostream& operator<<(std::ostream& out, const First& first) {
  return out << "'" << first.move << "' in " << first.iteration;
}
template <class Standing>
First first_of(MadeUp forecasts, const History& history, Standing&& standing) {
  Advisor advisor;
  for (int k = 0; k < 3000; ++k) {
    if (const auto move = advisor.next(standing(k), history, forecasts)) return {k, text(move)};
  }
  return {};
}
First first_of(const MadeUp& forecasts, double left, const History& history = {}) {
  return first_of(forecasts, history, [&](int k) { return at(k, left); });
}

// Earlier solves of a system whose last one has converged.
History after_solves(const std::vector<int>& iterations) {
  History history;
  for (const int n : iterations) {
    history.count(n);
    history.solved(true, n, &simple_iterations);
  }
  return history;
}

}  // namespace

TEST_CASE("A method that needs a positive preconditioner moves to no other, and has more time to prove itself",
          "[advisor]") {
  MadeUp any = with_stronger(), positive = with_stronger();
  positive.outlooks->stronger.front().positive = true;
  const auto kept = [](int k) {
    detail::SolveStanding standing = at(k, 0);
    standing.keeps_preconditioner = true;
    return standing;
  };
  CHECK(first_of(any, {}, kept) == First{});
  const First moved = first_of(positive, {}, kept);
  CHECK(moved.move == "stronger fsai");
  CHECK(moved == first_of(any, 0));  // where nothing is to be kept
  const auto allowed = [&](MadeUp& forecasts, const detail::SolveStanding& standing) {
    Advisor advisor;
    const auto move = advisor.next(standing, {}, forecasts);
    REQUIRE(move);
    return move->allowed_for_a_tenth;
  };
  const int usual = allowed(any, at(moved.iteration, 0)), longer = allowed(positive, kept(moved.iteration));
  CHECK(longer - 16 >= 3 * (usual - 16));
  CHECK(usual > 16);
}

TEST_CASE("Nothing is advised before anything is missed, nor where there is nothing", "[advisor]") {
  MadeUp both = with_format(1);
  add_stronger(both, 1);
  Advisor advisor;
  CHECK_FALSE(advisor.next(at(0, 1e6), {}, both));
  CHECK_FALSE(Advisor().before_solve({1e-8, 1e6, true}, true, {}, both));
  CHECK_FALSE(Advisor().before_solve({1e-8, 1e6, false}, true, {}, both));
  CHECK(first_of(MadeUp(), 1e6) == First{});
}

// Of a setup of 101 s 0.45 have to be missed, at half a second each: 90.9 iterations.
TEST_CASE("A faster format is advised once its setup is paid back, and not before", "[advisor]") {
  CHECK(first_of(with_format(), 1000) == First{91, "format ehyb"});
  // It has to save 1.1 times its setup, 111.1 s: 222.2 iterations. See the next test for what comes later.
  Advisor advisor;
  MadeUp forecasts = with_format();
  CHECK_FALSE(advisor.next(at(100, 222), {}, forecasts));
  CHECK(text(advisor.next(at(101, 223), {}, forecasts)) == "format ehyb");
  // What is sure to come counts as what was missed.
  CHECK_FALSE(Advisor().next(at(40, 1000, 50), {}, forecasts));
  CHECK(text(Advisor().next(at(40, 1000, 51), {}, forecasts)) == "format ehyb");
  // So do the iterations of earlier solves: 50 of 91.
  History before;
  before.count(50);
  CHECK(first_of(with_format(), 1000, before) == First{41, "format ehyb"});
}

TEST_CASE("A format is not advised that has failed or cannot be made", "[advisor]") {
  MadeUp failed = with_format();
  failed.formats->trials[1].failure = "no memory";
  CHECK(first_of(failed, 1000) == First{});
  History refused;
  refused.change_failed = true;
  CHECK(first_of(with_format(), 1000, refused) == First{});
}

// Up to twice what was promised an estimate is believed, and what was missed times what is ahead has to be the square
// of the price, 10,201: d / 2 times 75 from d = 272.03 on, and times 25 from 816.1 on. Behind that as many are
// expected as there were, where the residual has not fallen: (d / 2)^2, from 202 on.
TEST_CASE("An estimate that a solve overruns is doubted", "[advisor]") {
  CHECK(first_of(with_format(), 150) == First{273, "format ehyb"});
  CHECK(first_of(with_format(), 50) == First{202, "format ehyb"});
  MadeUp scaled = with_format();
  scaled.scale = 0.05;
  CHECK(first_of(scaled, 1000) == First{202, "format ehyb"});
  // Where the residual has come from e^4 to e^2 above the tolerance in 200 iterations, 200 more are expected, which
  // save 100 s: 150 s were missed, and 15,000 is the square of 122.5.
  for (const double setup : {122.0, 123.0}) {
    Advisor advisor;
    MadeUp forecasts = with_format(setup);
    CHECK_FALSE(advisor.next({100, 10, true, std::exp(4.0), 1, 0}, {}, forecasts));
    const auto move = advisor.next({300, 10, true, std::exp(2.0), 1, 0}, {}, forecasts);
    CHECK(text(move) == (setup < 122.5 ? "format ehyb" : ""));
  }
}

// By a guess what was missed times what is ahead has to be the square of the price, 10,201: 0.25 d (n - d) for d of n
// iterations, behind the half of them 0.25 d^2.
TEST_CASE("By the size alone a setup is paid by what was missed and what is ahead", "[advisor]") {
  const auto first = [](double expected) {
    MadeUp forecasts = with_format();
    forecasts.expected = expected;
    return first_of(forecasts, 0);
  };
  CHECK(first(450) == First{126, "format ehyb"});  // 225 - (225^2 - 40,804)^(1/2) = 125.9
  CHECK(first(1000) == First{91, "format ehyb"});  // 42.6, before 0.45 of the price is missed
  CHECK(first(400) == First{202, "format ehyb"});  // 10,000 at the most, then (4 x 10,201)^(1/2) = 202
  // For a stronger preconditioner the size is not enough, and as many are taken to come as there were: d / 2 >=
  // 101.25.
  MadeUp stronger = with_stronger(101.25);
  stronger.expected = 450;
  CHECK(first_of(stronger, 0) == First{203, "stronger fsai"});
}

// Sixteen times as many as there were: 16 x 13 / 2 = 104 s, and 112 s behind one more.
TEST_CASE("What a spectrum says of the iterations to come is limited by those that there were", "[advisor]") {
  MadeUp forecasts = with_format();
  for (const int done : {13, 14}) {
    const SolveStanding by_spectrum{done, 1e9, false, 1e5, 1, 91};
    CHECK(text(Advisor().next(by_spectrum, {}, forecasts)) == (done == 14 ? "format ehyb" : ""));
  }
}

// Half as many iterations save half a second each, and of d iterations d / 2 would come behind the setup:
// d / 2 >= 0.45 (101 + d / 2), from d = 45.45 / 0.275 = 165.3 on. Of 1,000 iterations it saves 500 s.
TEST_CASE("A stronger preconditioner is advised once it is paid back, with the time that it gets", "[advisor]") {
  CHECK(first_of(with_stronger(), 1000) == First{166, "stronger fsai"});
  MadeUp forecasts = with_stronger();
  const std::optional<Move> move = Advisor().next(at(166, 1000), {}, forecasts);
  REQUIRE(move.has_value());
  CHECK(move->allowed_for_a_tenth == 416);  // twice the 200 iterations of each of five tenths, and 16
  CHECK(move->weaker_seconds == 1);
  // 222 iterations save 111 s, less than 1.1 times 101 s; 223 save 111.5 s.
  CHECK_FALSE(Advisor().next(at(170, 222), {}, forecasts));
  CHECK(text(Advisor().next(at(170, 223), {}, forecasts)) == "stronger fsai");
  // What takes more seconds for the whole solve is none.
  forecasts.outlooks->stronger[0].iteration_seconds = forecasts.outlooks->stronger[0].now_seconds = 2.01;
  CHECK(first_of(forecasts, 1000) == First{});
  // Nor is what does so in the present format, whose values need not be looked at.
  forecasts.outlooks->stronger[0].iteration_seconds = 1;
  forecasts.unseen = true;
  CHECK(first_of(forecasts, 1000) == First{});
}

// With a quarter of the iterations 1,000 take 250 s, in the faster format 500 s and its setup.
TEST_CASE("A stronger preconditioner goes before a format where both pay", "[advisor]") {
  MadeUp both = with_format();
  CHECK(text(Advisor().next(at(300, 1000), {}, both)) == "format ehyb");
  add_stronger(both, 101, quarter);
  const std::optional<Move> move = Advisor().next(at(300, 1000), {}, both);
  CHECK(text(move) == "stronger fsai");
  CHECK(move->weaker_seconds == 0.5);  // in the format that it would have got
  // It saves 601 - 250 = 351 s.
  add_stronger(both, 352, quarter);
  CHECK(text(Advisor().next(at(300, 1000), {}, both)) == "format ehyb");
}

// 0.75 s are missed in each of d iterations, up to 0.45 (200 + d / 4): from d = 90 / 0.6375 = 141.2 on. The format
// alone is paid in 91.
TEST_CASE("A format waits for a stronger preconditioner that will pay", "[advisor]") {
  MadeUp both = with_format();
  add_stronger(both, 200, quarter);
  CHECK(first_of(both, 1000) == First{142, "stronger fsai"});
  // In its place it need not save 1.1 times its seconds, of 340 s 374: 1.1 / (1 + 0.6 x 101 / 340) times are 317, and
  // it saves 601 - 250 = 351.
  add_stronger(both, 340, quarter);
  CHECK(text(Advisor().next(at(300, 1000), {}, both)) == "stronger fsai");
}

TEST_CASE("Values are looked at before a preconditioner is built, and may show that it is too dear", "[advisor]") {
  const auto behind_look = [](MadeUp forecasts, double build) {
    forecasts.unseen = true;
    Advisor advisor;
    CHECK(text(advisor.next(at(200, 1000), {}, forecasts)) == "inspect");
    forecasts.unseen = false;
    forecasts.outlooks->stronger[0].build_seconds = build;
    return text(advisor.after_inspection({}, forecasts));
  };
  CHECK(behind_look(with_stronger(), 101) == "stronger fsai");
  CHECK(behind_look(with_stronger(), 1e4) == "");
  MadeUp both = with_format();
  add_stronger(both, 101, quarter);
  CHECK(behind_look(both, 101) == "stronger fsai");
  CHECK(behind_look(both, 1e4) == "format ehyb");
  // What pays at no price that is known is not looked at.
  MadeUp dear = with_stronger(1e4);
  dear.unseen = true;
  CHECK(first_of(dear, 1000) == First{});
}

TEST_CASE("The time that is left forbids setups that take longer", "[advisor]") {
  for (const double left : {100.0, 102.0}) {
    CAPTURE(left);
    MadeUp format = with_format(), stronger = with_stronger();
    format.left = stronger.left = left;
    CHECK(first_of(format, 1000) == (left > 101 ? First{91, "format ehyb"} : First{}));
    CHECK(first_of(stronger, 1000) == (left > 101 ? First{166, "stronger fsai"} : First{}));
  }
}

// Before a solve as many iterations are expected as the last one took, and those are sure: half a second was missed
// in each of the last one and half a second is sure in each of the next, and 45.45 s are needed.
TEST_CASE("Between solves what they took is what is to come", "[advisor]") {
  MadeUp format = with_format(), stronger = with_stronger();
  const Advisor::Beginning solve{1e-8, 1e6, false};
  CHECK_FALSE(Advisor().before_solve(solve, true, after_solves({45}), format));
  CHECK(text(Advisor().before_solve(solve, true, after_solves({46}), format)) == "format ehyb");
  CHECK_FALSE(Advisor().before_solve(solve, true, after_solves({45}), stronger));
  CHECK(text(Advisor().before_solve(solve, true, after_solves({46}), stronger)) == "stronger fsai");
  CHECK_FALSE(Advisor().before_solve(solve, false, after_solves({46}), stronger));
  History failed = after_solves({46});
  failed.count(1000);
  failed.solved(false, 1000, &simple_iterations);
  CHECK_FALSE(Advisor().before_solve(solve, true, failed, stronger));
}

// Half a second each: s / 2 >= 0.45 (101 + s / 2), from 165.3 on.
TEST_CASE("A first solve begins with a stronger preconditioner by the iterations that are sure", "[advisor]") {
  const auto advice = [](double sure, const Advisor::Beginning& solve, const History& history = {}) {
    MadeUp forecasts = with_format();
    forecasts.formats->trials[1].iteration_seconds = 0.9;
    add_stronger(forecasts);
    forecasts.expected = 1000;
    forecasts.sure = sure;
    return text(Advisor().before_solve(solve, true, history, forecasts));
  };
  CHECK(advice(165, {1e-8, 1e6, true}) == "");
  CHECK(advice(166, {1e-8, 1e6, true}) == "stronger fsai");
  CHECK(advice(166, {1e-8, 1e6, false}) == "");
  CHECK(advice(166, {1e-8, 200, true}) == "");  // that may take no more, which save 100 s
  History second;
  second.count(0);
  CHECK(advice(166, {1e-8, 1e6, true}, second) == "");
  // A format is left to the solve.
  MadeUp format = with_format();
  format.expected = format.sure = 1000;
  CHECK_FALSE(Advisor().before_solve({1e-8, 1e6, true}, true, {}, format));
}

TEST_CASE("Where nothing is near its price a solve is asked less often", "[advisor]") {
  // 0.45 x 202 iterations, of which 2.5 are sure for each that there was: 90.9 / 3.5 = 26.
  MadeUp forecasts = with_format();
  CHECK(Advisor().not_before(false, {}, forecasts) == 26);
  CHECK(Advisor().not_before(true, {}, forecasts) == 26);
  const auto then = [&](int iterations, double left, bool dear) {
    Advisor advisor;
    CHECK_FALSE(advisor.next(at(iterations, left), {}, forecasts));
    advisor.ask_less_often(dear);
    return advisor.not_before(dear, {}, forecasts);
  };
  CHECK(then(80, 5, false) == 85);   // a sixteenth of those before
  CHECK(then(16, 5, true) == 64);    // 5 would save 0.025 of the price
  CHECK(then(16, 200, true) == 26);  // and 200 nearly all of it
  forecasts.has_weighed = false;
  CHECK(Advisor().not_before(false, {}, forecasts) == 16);
  forecasts.has_weighed = true;
  forecasts.sure = 91;  // of the whole solve
  CHECK(Advisor().not_before(false, {}, forecasts) == 16);
  MadeUp nothing;
  CHECK(Advisor().not_before(false, {}, nothing) == detail::no_exchange);
  MadeUp again = with_format();
  CHECK(Advisor().not_before(false, after_solves({50}), again) == 50);
}

// As many are sure as ResidualRate::sure says at most.
TEST_CASE("A solve is asked no later than something is advised", "[advisor]") {
  int advised = 0;
  for (const bool format : {false, true}) {
    for (const bool stronger : {false, true}) {
      for (const double setup : {3.0, 25.0, 101.0, 700.0}) {
        for (const double build : {2.0, 60.0, 400.0}) {
          for (const int before : {0, 30, 500}) {
            for (const double left : {0.0, 300.0, 1e6}) {
              MadeUp forecasts = format ? with_format(setup) : MadeUp();
              if (stronger) add_stronger(forecasts, build, quarter);
              forecasts.expected = 800;
              History history;
              history.count(before);
              const First first = first_of(forecasts, history, [&](int k) {
                return at(k, left, k < detail::few_steps ? 0 : std::max(80.0 - k, 2.5 * k));
              });
              if (first.iteration < 0) continue;
              ++advised;
              CAPTURE(format, stronger, setup, build, before, left, first);
              CHECK(Advisor().not_before(false, history, forecasts) <= first.iteration);
            }
          }
        }
      }
    }
  }
  CHECK(advised > 200);
}

TEST_CASE("The same questions have the same answers", "[advisor]") {
  MadeUp both = with_format();
  add_stronger(both, 200, quarter);
  both.expected = 500;
  const auto answers = [&] {
    std::vector<std::string> all;
    Advisor advisor;
    History history;
    for (int solve = 0; solve < 3; ++solve) {
      all.push_back(text(advisor.before_solve({1e-8, 1e6, true}, true, history, both)));
      for (int k = 0; k < 300; k += 7) {
        all.push_back(text(advisor.next(at(k, k % 3 == 0 ? 0 : 40), history, both)));
        advisor.ask_less_often(solve % 2 == 1);
        all.push_back(std::to_string(advisor.not_before(solve % 2 == 1, history, both)));
      }
      history.count(300);
      history.solved(true, 300, &simple_iterations);
      advisor.end_solve();
    }
    return all;
  };
  CHECK(answers() == answers());
}

TEST_CASE("A preconditioner that brings no tenth in time is left again, and one that does is not", "[advisor]") {
  for (const bool falls : {true, false}) {
    CAPTURE(falls);
    MadeUp forecasts = with_stronger();
    Advisor advisor;
    History history;
    const std::optional<Move> move = advisor.next(at(166, 1000), history, forecasts);
    REQUIRE(text(move) == "stronger fsai");
    advisor.took_stronger(*move, history);
    CHECK(history.whole.weaker_iterations == 1166);
    CHECK(history.whole.weaker_seconds == 1);
    CHECK(history.whole.estimated);
    CHECK(history.preconditioner.iterations() == -166);
    forecasts = with_format();  // which nothing is said of before the verdict
    CHECK(advisor.not_before(false, history, forecasts) == 0);
    CHECK_FALSE(advisor.next(at(300, 1000), history, forecasts));
    // 416 iterations were allowed.
    SolveStanding late = at(166 + 415, 1000);
    if (falls) late.residual = 1e4;
    CHECK(text(advisor.next(late, history, forecasts)) == (falls ? "format ehyb" : ""));
    ++late.iterations;
    CHECK(text(advisor.next(late, history, forecasts)) == (falls ? "format ehyb" : "weaker"));
    advisor.end_solve();
    CHECK_FALSE(advisor.probation().on());
  }
  // What an earlier solve took is no estimate.
  for (const bool between : {true, false}) {
    History known = after_solves({200});
    MadeUp forecasts = with_stronger();
    Advisor advisor;
    const std::optional<Move> move = between ? advisor.before_solve({1e-8, 1e6, false}, true, known, forecasts)
                                             : advisor.next(at(300, 1000), known, forecasts);
    REQUIRE(text(move) == "stronger fsai");
    advisor.took_stronger(*move, known);
    CHECK(known.whole.weaker_iterations == 200);
    CHECK_FALSE(known.whole.estimated);
    CHECK(known.last_iterations == 0);
  }
}

TEST_CASE("On probation each tenth may take what was allowed, or what the longest took", "[advisor]") {
  using Verdict = Probation::Verdict;
  const auto residual_at = [](int iterations, double residual) {
    SolveStanding standing = at(iterations, 0);
    standing.residual = residual;
    standing.tolerance = 1e-8;
    return standing;
  };
  CHECK(Probation().judge(residual_at(10, 1), {}, {}) == Verdict::none);
  Probation never(20, residual_at(100, 1), false);
  CHECK(never.judge(residual_at(119, 0.11), {}, {}) == Verdict::awaited);
  CHECK_FALSE(never.passed());
  CHECK(never.judge(residual_at(120, 0.11), {}, {}) == Verdict::failed);

  Probation stalls(20, residual_at(100, 1), false);
  CHECK(stalls.judge(residual_at(110, 0.1), {}, {}) == Verdict::passed);
  CHECK(stalls.judge(residual_at(129, 0.011), {}, {}) == Verdict::passed);
  CHECK(stalls.judge(residual_at(130, 0.011), {}, {}) == Verdict::failed);

  Probation long_tenth(20, residual_at(100, 1), false);  // that nobody asked for in time
  CHECK(long_tenth.judge(residual_at(150, 0.1), {}, {}) == Verdict::passed);
  CHECK(long_tenth.judge(residual_at(199, 0.1), {}, {}) == Verdict::passed);
  CHECK(long_tenth.judge(residual_at(200, 0.1), {}, {}) == Verdict::failed);

  Probation with_the_solve(20, residual_at(0, 1), false);
  with_the_solve.begin_with_the_solve();
  CHECK(with_the_solve.judge(residual_at(5, 50), {}, {}) == Verdict::awaited);
  CHECK(with_the_solve.judge(residual_at(24, 6), {}, {}) == Verdict::awaited);
  CHECK(with_the_solve.judge(residual_at(25, 6), {}, {}) == Verdict::failed);

  // The least residual counts, and it begins where the next solve or the next solver does.
  Probation rises(20, residual_at(100, 1), false);
  rises.begin_with_the_solve();
  CHECK(rises.judge(residual_at(3, 50), {}, {}) == Verdict::awaited);
  CHECK(rises.judge(residual_at(22, 6), {}, {}) == Verdict::awaited);
  CHECK(rises.judge(residual_at(1, 60), {}, {}) == Verdict::awaited);
  CHECK(rises.judge(residual_at(20, 6), {}, {}) == Verdict::passed);
  CHECK(rises.judge(residual_at(21, 60), {}, {}) == Verdict::passed);
}

// In sixteen iterations half of what the weaker one gained in as many: 0.5 x 2 x 16 = 16.
TEST_CASE("On probation what CG gains is asked once where no residual tells", "[advisor]") {
  using Verdict = Probation::Verdict;
  for (const double gained : {15.9, 16.1}) {
    CAPTURE(gained);
    SolveStanding now{100, 0, false, 50, 1e-8, 0, 1, 30, 2};
    Probation probation(40, now, true);
    now.iterations = 115;
    now.gained = 30 + gained;
    CHECK(probation.judge(now, {}, {}) == Verdict::awaited);
    now.iterations = 116;
    const bool passes = gained > 16;
    CHECK(probation.judge(now, {}, {}) == (passes ? Verdict::passed : Verdict::awaited));
    now.iterations = 140;
    now.gained = 1000;
    CHECK(probation.judge(now, {}, {}) == (passes ? Verdict::passed : Verdict::failed));
    if (!passes) continue;
    now.iterations = 600;  // less than a tenth of 50 is none
    now.residual = 4;
    CHECK(probation.judge(now, {}, {}) == Verdict::passed);
    now.iterations = 1100;  // it may take its time for a tenth of the first residual, which was 1
    now.residual = 0.1;
    CHECK(probation.judge(now, {}, {}) == Verdict::passed);
    now.iterations = 2099;
    CHECK(probation.judge(now, {}, {}) == Verdict::passed);
    now.iterations = 2100;
    CHECK(probation.judge(now, {}, {}) == Verdict::failed);
  }
}

// A tenth in 16 iterations, seven tenths to go: 112 iterations, 4 s each, are twice 224 of a second.
TEST_CASE("On probation what would take twice a whole solve fails early", "[advisor]") {
  using Verdict = Probation::Verdict;
  struct Case {
    int iterations;
    double residual, weaker_iterations;
    bool estimated, fails;
  };
  for (const Case& c : {Case{16, 0.1, 223, false, true}, Case{16, 0.1, 225, false, false},
                        Case{15, 0.1, 200, false, false},                                   // too few to judge by
                        Case{16, 0.11, 223, false, false},                                  // no tenth yet
                        Case{16, 0.1, 129, false, true}, Case{16, 0.1, 127, false, false},  // eight times 16: short
                        Case{16, 0.1, 223, true, false}, Case{16, 0.1, 0, false, false}}) {
    CAPTURE(c.iterations, c.residual, c.weaker_iterations, c.estimated);
    detail::FollowedPrecond followed;
    followed.present.iteration_seconds = 4;
    detail::WholeSolves whole;
    whole.weaker_iterations = c.weaker_iterations;
    whole.weaker_seconds = 1;
    whole.estimated = c.estimated;
    SolveStanding now{0, 0, false, 1, 1e-8};
    Probation probation(1000, now, false);
    now.iterations = c.iterations;
    now.residual = c.residual;
    Probation unknown = probation;
    CHECK((probation.judge(now, followed, whole) == Verdict::failed) == c.fails);
    CHECK(unknown.judge(now, {}, whole) != Verdict::failed);
  }
}

// The weaker one took 100 s. 1.2 times that is slower, 1.4 times where it is an estimate; 1.5 times as much again is
// far slower.
TEST_CASE("Two whole solves that took longer prove a preconditioner slower, or one that took far longer",
          "[advisor]") {
  MadeUp forecasts;
  forecasts.followed.emplace();
  forecasts.followed->present.iteration_seconds = 1;
  const auto proved = [&](const std::vector<int>& solves, bool estimated) {
    History history;
    history.whole.weaker_iterations = 50;
    history.whole.weaker_seconds = 2;
    history.whole.estimated = estimated;
    for (const int iterations : solves) Advisor::compare_with_weaker(iterations, history, forecasts);
    return Advisor::proved_slower(history);
  };
  CHECK_FALSE(Advisor::proved_slower({}));
  CHECK_FALSE(proved({121}, false));
  CHECK(proved({121, 121}, false));
  CHECK_FALSE(proved({119, 119, 119}, false));
  CHECK_FALSE(proved({121, 119, 121}, false));  // not in a row
  CHECK(proved({121, -1, 121}, false));         // of one that did not converge nothing is known
  CHECK_FALSE(proved({179}, false));
  CHECK(proved({181}, false));
  CHECK_FALSE(proved({139, 139}, true));
  CHECK(proved({141, 141}, true));
  CHECK_FALSE(proved({209}, true));
  CHECK(proved({211}, true));
  forecasts.followed.reset();
  CHECK_FALSE(proved({1000, 1000}, false));
}

// 110 s with a refresh, of which 1.2 times are 132 s.
TEST_CASE("Whole solves are compared with their refreshes", "[advisor]") {
  MadeUp forecasts;
  forecasts.followed.emplace();
  forecasts.followed->present.iteration_seconds = 1;
  forecasts.followed->present.refresh_seconds = 50;
  forecasts.followed->weaker.refresh_seconds = 10;
  for (const int iterations : {81, 83}) {
    History history;
    history.whole.weaker_iterations = 100;
    history.whole.weaker_seconds = 1;
    history.count_refresh();
    Advisor::compare_with_weaker(iterations, history, forecasts);
    CHECK(history.whole.slower == (iterations > 82 ? 1 : 0));
    CHECK(history.whole.refreshes == 0);
    CHECK(history.whole.iterations == iterations);
  }
}

TEST_CASE("What a solve was taken for is forgotten with the next question", "[advisor]") {
  MadeUp stronger = with_stronger(1e9);
  Advisor advisor;
  static_cast<void>(advisor.next(at(100, 300), {}, stronger));
  CHECK(advisor.simple_seen() == 400);  // made and left, with the simple preconditioner
  // Between solves the measured iterations count, not those that the last solve was taken for on its way.
  static_cast<void>(advisor.before_solve({1e-8, 1e6, false}, true, after_solves({250}), stronger));
  CHECK(advisor.simple_seen() == 0);
  static_cast<void>(advisor.next(at(100, 300), {}, stronger));
  stronger.outlooks.reset();
  static_cast<void>(advisor.next(at(120, 300), {}, stronger));
  CHECK(advisor.simple_seen() == 0);
}
