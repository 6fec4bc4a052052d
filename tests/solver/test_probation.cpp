// SPDX-License-Identifier: Apache-2.0
// What a Probation says of numbers that are made up, and what becomes of a preconditioner on it.
#include "solver/policy/whole_solves.hpp"
#include "tests/catch.hpp"
#include "tests/solver/advisor_support.hpp"

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
    CHECK(history.preconditioner.iterations == -166);
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
    WholeSolves whole;
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
    for (const int iterations : solves) detail::compare_with_weaker(iterations, history, forecasts);
    return detail::proved_slower(history);
  };
  CHECK_FALSE(detail::proved_slower({}));
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
    detail::compare_with_weaker(iterations, history, forecasts);
    CHECK(history.whole.slower == (iterations > 82 ? 1 : 0));
    CHECK(history.whole.refreshes == 0);
    CHECK(history.whole.iterations == iterations);
  }
}
