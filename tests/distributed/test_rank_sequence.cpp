// SPDX-License-Identifier: Apache-2.0
// What the ranks of a system decide about guesses from past solutions.
#include "tests/catch.hpp"

#include <newel/core/vector_ops.hpp>
#include "solver/sequence/solve_sequence.hpp"
#include "tests/distributed/rank_support.hpp"

namespace {

using detail::GuessPolicy;
using detail::SequenceSystem;

// After a trial in which guesses save half of the iterations: how many of `size` ranks use guesses on. The last rank
// takes so many seconds for the vectors of a guess, the others none; iterations take 1 s on each.
int ranks_with_guesses(int size, double seconds_of_last) {
  std::vector<int> uses(static_cast<std::size_t>(size));
  constexpr Index rows = 20;
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const bool last = ranks->rank() + 1 == size;
    const Context<host> ctx =
        Context<host>(1).with_ranks({ranks, std::int64_t{rows} * ranks->rank(), std::int64_t{rows} * size});
    const FunctionOperator<double, host> identity(
        rows, rows,
        [](const Context<host>& c, double alpha, Span<const double, host> x, double beta, Span<double, host> y) {
          axpby<double, host>(c, alpha, x, beta, y);
        });
    SequenceSystem<double, host> system{ctx, identity};
    system.definite = true;
    system.costs = [&] { return detail::GuessCosts{1, 0, last ? seconds_of_last : 0}; };
    detail::SolveSequence<double, host> sequence(guess_rule("auto"));
    for (int k = 0; k < GuessPolicy::trial; ++k) {
      const std::vector<double> b = random_vector<double>(rows, 100 * k + ranks->rank());
      std::vector<double> x(b.size(), 0.0);
      const bool guessed = sequence.policy().next() == GuessPolicy::Use::guess;
      sequence.begin(system, b, x, 1, InitialGuess::zero);
      SolveReport report;
      report.status = Status::converged;
      report.iterations = guessed ? 10 : 20;
      sequence.end(system, b, {&report});  // of the identity b is the solution
    }
    uses[static_cast<std::size_t>(ranks->rank())] = sequence.policy().next() == GuessPolicy::Use::nothing ? 0 : 1;
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
  return std::accumulate(uses.begin(), uses.end(), 0);
}

}  // namespace

TEST_CASE("All ranks use guesses on, or none does, though their costs differ", "[distributed][guess]") {
  for (const int size : {1, 2, 3}) {
    CAPTURE(size);
    CHECK(ranks_with_guesses(size, 0) == size);
    CHECK(ranks_with_guesses(size, 5.0 * size) == size);  // 5 s for the 10 that are saved on each
    CHECK(ranks_with_guesses(size, 15.0 * size) == 0);
  }
}
