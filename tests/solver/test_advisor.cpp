// SPDX-License-Identifier: Apache-2.0
// What an Advisor says of numbers that are made up: no matrix, no solve and no clock.
#include "tests/catch.hpp"
#include "tests/solver/advisor_support.hpp"

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
    return text(advisor.choose({}, forecasts));
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

TEST_CASE("A preconditioner with its own method is weighed as that before a solve alone", "[advisor]") {
  const Advisor::Beginning solve{1e-8, 1e6, false};
  for (const bool is_present_in_another_form : {false, true}) {
    MadeUp own = with_stronger(101, &simple_iterations);
    detail::PrecondOutlook& stronger = own.outlooks->stronger.front();
    stronger.passed_over = is_present_in_another_form;
    CHECK_FALSE(Advisor().before_solve(solve, true, after_solves({46}), own));
    stronger.at_beginning = 0.5;  // half the iterations, as above
    CHECK_FALSE(Advisor().before_solve(solve, true, after_solves({45}), own));
    CHECK(text(Advisor().before_solve(solve, true, after_solves({46}), own)) == "stronger fsai");
    CHECK(first_of(own, {}, [](int k) { return at(k, 3000.0 - k); }) == First{});
  }
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
