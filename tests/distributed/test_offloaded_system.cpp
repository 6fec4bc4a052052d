// SPDX-License-Identifier: Apache-2.0
// Ranks of which only some solve. In the space of the host: that of devices differs only in the copies.
#include <newel/distributed/offloaded_system.hpp>
#include <newel/precond/amg/amg_options.hpp>

#include "tests/distributed/rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

using Offloaded = OffloadedSystem<double, host>;

// solves[r]: whether rank r does.
using Solving = std::vector<bool>;
const std::vector<Solving> patterns = {
    {true}, {true, true, true}, {true, false}, {true, false, true, false, false}, {true, true, false, false, true}};

std::optional<Context<host>> context_of(const Solving& solves, int rank) {
  if (!solves[static_cast<std::size_t>(rank)]) return std::nullopt;
  return Context<host>(1);
}

// The rows of a matrix by the ranks of a pattern: each rank's own, and those of each rank that solves.
struct Parts {
  std::vector<Index> first;          // of each rank, and all at the end
  std::vector<Index> first_solving;  // the same of the ranks that solve

  Parts(const HostCsr& a, const Solving& solves) {
    const int size = static_cast<int>(solves.size());
    for (int r = 0; r < size; ++r) {
      first.push_back(share_of(a, r, size).first);
      if (solves[static_cast<std::size_t>(r)]) first_solving.push_back(first.back());
    }
    first.push_back(a.rows);
    first_solving.push_back(a.rows);
  }
};

// x of ranks that all solve, with the rows that those of the pattern solve.
RankSolve solved_by_few(const HostCsr& a, const Parts& parts, const std::vector<double>& b,
                        const SystemOptions& options) {
  RankSolve found;
  found.x.resize(b.size());
  const int size = static_cast<int>(parts.first_solving.size()) - 1;
  found.reports.resize(static_cast<std::size_t>(size));
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const auto r = static_cast<std::size_t>(ranks->rank());
    const OwnRows own(a, parts.first_solving[r], parts.first_solving[r + 1] - parts.first_solving[r]);
    DistributedSystem<double> system(Context<host>(1), ranks, own.view(), options);
    std::vector<double> x(static_cast<std::size_t>(own.rows()), 0.0);
    found.reports[r] = system.solve(own.part_of(b), x);
    std::copy(x.begin(), x.end(), found.x.begin() + own.first);
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
  return found;
}

// f(rank, its rows, the system) on all ranks of a pattern; what each threw.
template <class F>
std::vector<std::string> with_offloaded(const HostCsr& a, const Solving& solves, const SystemOptions& options,
                                        const F& f) {
  const int size = static_cast<int>(solves.size());
  return on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), size);
    Offloaded system(context_of(solves, ranks->rank()), ranks, own.view(), options);
    f(static_cast<std::size_t>(ranks->rank()), own, system);
  });
}

}  // namespace

TEST_CASE("Ranks that hand their rows over get what the others solve", "[distributed][offload]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const std::vector<double> b = rhs_of(a);
  for (const Solving& solves : patterns) {
    for (const std::string solver : {"cg", "gmres"}) {
      const Parts parts(a, solves);
      const SystemOptions options = choice_of(solver, "fsai");
      std::vector<double> x(b.size(), -7.0);
      std::vector<SolveReport> reports(solves.size());
      std::vector<SystemInfo> infos(solves.size());
      std::vector<std::string> links(solves.size());
      const auto thrown =
          with_offloaded(a, solves, options, [&](std::size_t r, const OwnRows& own, Offloaded& system) {
            RANK_CHECK(system.rows() == own.rows());
            RANK_CHECK(system.first_row() == own.first);
            RANK_CHECK(system.all_rows() == a.rows);
            std::vector<double> own_x(static_cast<std::size_t>(own.rows()), 1e300);
            reports[r] = system.solve(own.part_of(b), own_x, {}, InitialGuess::zero);
            std::copy(own_x.begin(), own_x.end(), x.begin() + own.first);
            infos[r] = system.info();
            links[r] = system.link();
          });
      CHECK(thrown == std::vector<std::string>(solves.size()));
      CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
      const RankSolve few = solved_by_few(a, parts, b, options);
      CHECK(same_bits(x, few.x));
      check_equal(reports);
      CHECK(reports[0].history == few.reports[0].history);
      for (std::size_t r = 0; r < solves.size(); ++r) {
        CHECK(reports[r].solver == solver);
        CHECK(reports[r].attempts.size() == few.reports[0].attempts.size());
        CHECK(infos[r].preconditioner.name == infos[0].preconditioner.name);
        CHECK(infos[r].matrix.nonzeros == a.nnz());
        CHECK((infos[r].bytes > 0) == solves[r]);
        CHECK(links[r] == links[0]);
      }
      const auto idle = std::count(solves.begin(), solves.end(), false);
      CHECK((links[0].find(std::to_string(idle) + " of " + std::to_string(solves.size())) != std::string::npos) ==
            (idle > 0));
    }
  }
}

TEST_CASE("New values, guesses, columns and products reach the ranks that solve", "[distributed][offload]") {
  const HostCsr a = fem_matrix("generate:convection:9");
  const std::vector<double> b = rhs_of(a);
  for (const Solving& solves : patterns) {
    SystemOptions options = choice_of("gmres", "jacobi");
    options.columns = 2;
    std::vector<double> first(b.size()), second(b.size()), product(b.size());
    const auto thrown = with_offloaded(a, solves, options, [&](std::size_t r, const OwnRows& own, Offloaded& system) {
      std::vector<double> values = own.val;
      for (double& value : values) value *= 4;
      system.refresh(Span<const double, host>(values));
      const std::vector<double> own_b = own.part_of(b);
      std::vector<double> two(own_b);  // b and 2 b
      for (const double value : own_b) two.push_back(2 * value);
      std::vector<double> x(two.size(), 0.0);
      const auto reports = system.solve_columns(two, Span<double, host>(x), 2);
      RANK_CHECK(reports.size() == 2 && reports[0].converged() && reports[1].converged());
      const auto middle = x.begin() + static_cast<std::ptrdiff_t>(own_b.size());
      std::copy(x.begin(), middle, first.begin() + own.first);
      std::copy(middle, x.end(), second.begin() + own.first);
      // From the solution on some ranks and zero on the others: not at the end at once, but there.
      std::vector<double> guess(x.begin(), middle);
      SolveReport again = system.solve(own_b, Span<double, host>(guess));
      RANK_CHECK(again.iterations == 0);
      again = system.solve(own_b, Span<double, host>(guess), {}, r == 0 ? InitialGuess::zero : InitialGuess::in_x);
      RANK_CHECK(again.converged());
      std::vector<double> y(own_b.size(), 3.0);
      system.multiply(own_b, Span<double, host>(y));
      std::copy(y.begin(), y.end(), product.begin() + own.first);
      StopCriterion stop;
      stop.max_iterations = 1;
      system.set_stop_criterion(stop);
      RANK_CHECK(system.solve(own_b, Span<double, host>(guess), {}, InitialGuess::zero).status ==
                 Status::max_iterations);
    });
    CHECK(thrown == std::vector<std::string>(solves.size()));
    for (double& value : first) value *= 4;
    for (double& value : second) value *= 2;
    CHECK(residual_norm(a, first, b) <= 1.01e-8 * norm_oracle(b));
    CHECK(residual_norm(a, second, b) <= 1.01e-8 * norm_oracle(b));
    CHECK(first_outside(product, expected_product<double>(a, 4, b)) == "");
  }
}

TEST_CASE("Near-null vectors of ranks that hand their rows over serve AMG", "[distributed][offload]") {
  const HostCsr a = fem_matrix("generate:diffusion:18");
  const std::vector<double> b = rhs_of(a);
  const Solving solves = {true, false, false, true, false};
  const int size = static_cast<int>(solves.size());
  std::vector<int> iterations;
  for (const double of_last : {1.0, 0.0}) {  // wrong on the last rank, which hands its rows over
    std::vector<int> found(solves.size());
    const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(a, ranks->rank(), size);
      SystemOptions options = choice_of("cg", "amg");
      std::vector<double> ones(static_cast<std::size_t>(own.rows()), 1.0);
      for (std::size_t i = 0; i < ones.size() && ranks->rank() == size - 1; ++i) {
        ones[i] = of_last == 1.0 || i % 2 == 0 ? 1.0 : -1.0;
      }
      options.precond.of<AmgOptions>().vectors = std::make_shared<NearNullVectors>(NearNullVectors{1, ones});
      Offloaded system(context_of(solves, ranks->rank()), ranks, own.view(), options);
      std::vector<double> x(ones.size(), 0.0);
      const SolveReport report = system.solve(own.part_of(b), Span<double, host>(x));
      RANK_CHECK(report.converged());
      found[static_cast<std::size_t>(ranks->rank())] = report.iterations;
    });
    CHECK(thrown == std::vector<std::string>(solves.size()));
    iterations.push_back(found.front());
  }
  CHECK(iterations[0] < iterations[1]);
}

TEST_CASE("A rank that fails ends those that solve and those that wait for them", "[distributed][offload]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const std::vector<double> b = rhs_of(a);
  const Solving solves = {true, false, true, false, false};
  for (const std::size_t failing : {0, 1, 2, 4}) {
    const auto thrown =
        with_offloaded(a, solves, choice_of("cg", "none"), [&](std::size_t r, const OwnRows& own, Offloaded& system) {
          std::vector<double> x(static_cast<std::size_t>(own.rows()), 0.0);
          if (r == failing && !solves[r]) x.push_back(0.0);  // of the wrong length
          static_cast<void>(system.solve(own.part_of(b), Span<double, host>(x), [&](const Progress& progress) {
            if (r == failing && progress.iteration > 2) throw std::runtime_error("out of order");
            return true;
          }));
        });
    const std::string words = solves[failing] ? "out of order" : "a vector of length";
    for (std::size_t r = 0; r < thrown.size(); ++r) {
      INFO(failing << ", " << r << ": " << thrown[r]);
      CHECK(thrown[r].find(words) != std::string::npos);
      CHECK((thrown[r].find("rank " + std::to_string(failing) + ": ") == 0) == (r != failing));
    }
  }
}

TEST_CASE("What ranks with and without contexts must have alike is required", "[distributed][offload]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const auto message = [&](const Solving& solves, int unlike, bool cut) {
    const int size = static_cast<int>(solves.size());
    const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
      OwnRows own = share_of(a, ranks->rank(), size);
      if (cut && ranks->rank() == 1) own.col.pop_back();
      Offloaded system(context_of(solves, ranks->rank()), ranks, own.view(),
                       choice_of(ranks->rank() == unlike ? "gmres" : "cg"));
    });
    return thrown[0];
  };
  CHECK(message({false, true}, -1, false).find("rank 0 has no context") != std::string::npos);
  CHECK(message({true, false}, 1, false).find("the options of rank 1") != std::string::npos);
  CHECK(message({true, false}, -1, true).find("rank 1: the row pointers end with") != std::string::npos);
}
