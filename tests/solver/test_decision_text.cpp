// SPDX-License-Identifier: Apache-2.0
// Decisions as text: everything comes back, and nothing else is taken for one.
#include "tests/catch.hpp"

#include <newel/solver/decision.hpp>

namespace {

SystemDecision full_decision() {
  SystemDecision d;
  d.format = "ehyb";
  d.preconditioner = "fsai";
  d.solvers = {"cg", "gmres"};
  d.history.solves = 12;
  d.history.last_iterations = 34;
  d.history.simple_measured = 77;
  d.history.simple_iterations = 0.1;
  d.rows = 56;
  d.entries = 3000000000;
  d.reasons.format = "a \"reason\"";
  d.reasons.preconditioner = "b";
  d.reasons.solver = "c";
  d.preconditioner_first = true;
  d.expected.format = "bce";
  d.expected.iterations = 1.0 / 3;
  d.expected.preconditioner = "auto";
  d.history.change_failed = true;
  d.provisional = true;
  d.untried = {"spai", "none"};
  d.ranked = PrecondRanking{{"fsai", 1e-5, 2e-3, 3e-4}, {{"amg", 4e-5, 5e-1, 6e-2, 5e-5, 115}}};
  d.builds_estimated = true;
  d.builds_by_values = true;
  d.weaker = PrecondRanking{{"jacobi", 7e-6, 0, 0}, {}};
  d.traits = MatrixTraits{3000, true, true, 2.5, 0.5, 1e-14, 5e-15, {0, -1}, {1, 7}, {2, 8}, {3, 9}};
  d.traits_older = true;
  d.history.format.iterations = -50;  // in mid-solve
  d.history.format.refreshes = 2;
  d.history.preconditioner.iterations = -3;
  d.history.preconditioner.refreshes = 4;
  d.history.whole.weaker_iterations = 99.5;
  d.history.whole.weaker_seconds = 7e-6;
  d.history.whole.iterations = 21;
  d.history.whole.slower = 1;
  d.history.whole.refreshes = 5;
  d.history.whole.estimated = true;
  return d;
}

}  // namespace

TEST_CASE("A decision is one line of JSON, with the fields that a reader wants by name", "[decision]") {
  const std::string text = json_of(full_decision());
  CHECK(text.find('\n') == std::string::npos);
  for (const char* part : {R"("newel_decision": 1)", R"("format": "ehyb")", R"("preconditioner": "fsai")",
                           R"("solvers": ["cg", "gmres"])", R"("solves": 12)", R"("last_iterations": 34)",
                           R"("simple_iterations": 0.1)", R"("entries": 3000000000)",
                           R"("format_reason": "a \"reason\"")", R"("negative_diagonal": {"count": 3, "first": 9})",
                           R"("iteration_seconds": 7e-06)", R"("format_iterations": -50)"}) {
    CAPTURE(part);
    CHECK(contains(text, part));
  }
}

TEST_CASE("Every field of a decision comes back", "[decision]") {
  for (const SystemDecision& d : {full_decision(), SystemDecision{}}) {
    const SystemDecision again = decision_of(json_of(d));
    CHECK(json_of(again) == json_of(d));
    CHECK(again.solvers == d.solvers);
    CHECK(again.history.simple_iterations == d.history.simple_iterations);
    CHECK(again.history.simple_measured == d.history.simple_measured);
    CHECK(again.expected.iterations == d.expected.iterations);
    CHECK(again.entries == d.entries);
    CHECK(again.history.whole.estimated == d.history.whole.estimated);
    REQUIRE(again.traits.has_value() == d.traits.has_value());
    REQUIRE(again.ranked.has_value() == d.ranked.has_value());
    if (!d.traits) continue;
    CHECK(again.traits->zero_diagonal.first == 8);
    CHECK(again.ranked->stronger.at(0).build_seconds == 5e-1);
    CHECK(again.ranked->stronger.at(0).measured_iterations == 115);
    CHECK(again.weaker->present.name == "jacobi");
  }
  // Fields of a later release are passed over, those of an earlier one missing.
  const SystemDecision few = decision_of(R"({"newel_decision": 1, "format": "bce", "colour": [1, {"a": null}]})");
  CHECK(few.format == "bce");
  CHECK(few.solvers.empty());
  CHECK_FALSE(few.ranked.has_value());
}

TEST_CASE("What is no decision is refused", "[decision]") {
  const std::string sound = json_of(full_decision());
  for (std::size_t length = 0; length < sound.size(); length += 7) {
    CHECK_THROWS_AS(decision_of(sound.substr(0, length)), InputError);
  }
  for (const char* bad : {
           R"({})",
           R"([1])",
           R"({"newel_decision": 2})",
           R"({"newel_decision": "1"})",
           R"({"newel_decision": 1, "format": 3})",
           R"({"newel_decision": 1, "solves": -1})",
           R"({"newel_decision": 1, "solves": 1.5})",
           R"({"newel_decision": 1, "solves": 1e10})",
           R"({"newel_decision": 1, "solvers": ["cg", 2]})",
           R"({"newel_decision": 1, "ranked": {"present": 1}})",
           R"({"newel_decision": 1, "provisional": "yes"})",
           R"({"newel_decision": 1, "expected_iterations": null})",
       }) {
    CAPTURE(bad);
    CHECK_THROWS_AS(decision_of(bad), InputError);
  }
}
