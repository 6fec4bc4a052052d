// SPDX-License-Identifier: Apache-2.0
// Systems on the GPUs of the processes that mpirun started, by every link: x against b by a residual in long double,
// and bit for bit against as many ranks in threads of the first process. With --fail LINK the last process throws in
// the middle of a solve, with --kill LINK it ends without a word, and the others have to end within 10 s. Without a
// GPU nothing runs, which the exit status 77 says; a link that is not possible is counted as skipped. In the
// emulation fewer systems are solved.
#include <csignal>
#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>

#include <newel/config.hpp>
#include <newel/mpi/mpi_ranks.hpp>
#include <newel/solver/cg.hpp>

#include "tests/distributed/device_rank_support.hpp"
#include "tests/matrices.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

constexpr int exit_skipped = 77;

struct Way {
  const char* name;
  RankLink link;
};
constexpr Way ways[] = {{"packets", RankLink::peers}, {"nccl", RankLink::nccl}, {"staged", RankLink::host}};

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int size_of_world() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

// For the first process alone.
void say(const std::string& line) {
  if (rank_of_world() == 0) std::cout << line << std::endl;
}

// Whether this says that the link is not possible here; else the error is thrown on. A rank may hear of it from
// another.
bool cannot_be_linked(const Way& way, const Error& error) {
  if (std::string(error.what()).find("cannot be linked as asked for") == std::string::npos) throw;
  say("skipped: " + std::string(way.name) + ": " + error.what());
  return true;
}

// x of all ranks on the first.
std::vector<double> gathered(const std::vector<double>& x, const OwnRows& own, Communicator& ranks) {
  const std::vector<double> part = own.part_of(x);
  const std::string mine(reinterpret_cast<const char*>(part.data()), part.size() * sizeof(double));
  std::vector<double> all;
  for (const std::string& text : ranks.texts(mine)) {
    const std::size_t before = all.size();
    all.resize(before + text.size() / sizeof(double));
    std::memcpy(all.data() + before, text.data(), text.size());
  }
  return all;
}

// Checks on the first process.
class Checks {
 public:
  explicit Checks(Linked linked) : linked_(linked) {}

  void solve(const std::shared_ptr<Communicator>& ranks, const std::string& name, const SystemOptions& options,
             bool same_order) {
    const HostCsr a = fem_matrix(name);
    const std::vector<double> b = rhs_of(a);
    DevicePart part(linked_, ranks, a, options);
    std::vector<double> x(b.size(), 0.0);
    const SolveReport report = part.solve(b, x);
    const std::vector<double> all = gathered(x, part.own, *ranks);
    if (ranks->rank() != 0) return;
    const double residual = residual_norm(a, all, b) / norm_oracle(b);
    const RankSolve in_threads = solve_on_devices({RankLink::host, linked_.devices}, ranks->size(), a, b, options);
    const int difference = std::abs(report.iterations - in_threads.reports[0].iterations);
    std::string wrong;
    if (!report.converged() || residual > 1.01e-8) wrong += ", NOT SOLVED";
    if (same_order && !same_bits(all, in_threads.x)) wrong += ", NOT the bits of ranks in threads";
    if (difference > (same_order ? 0 : 1 + report.iterations / 50))
      wrong += ", NOT the iterations of ranks in threads";
    std::cout << "  " << name << ", " << report.solver << " with " << part.system.info().preconditioner.name << ": "
              << report.iterations << " iterations" << (report.resident ? " in one kernel" : "") << ", residual "
              << residual << wrong << std::endl;
    failed_ += wrong.empty() ? 0 : 1;
  }

  // Systems that follow one another use the same memory again; new values.
  void replace(const std::shared_ptr<Communicator>& ranks) {
    const HostCsr a = fem_matrix(few_wanted() ? "generate:grid7:6" : "generate:grid7:18");
    const std::vector<double> b = rhs_of(a);
    std::vector<double> first;
    for (int k = 0; k < 4; ++k) {
      DevicePart part(linked_, ranks, a, choice_of(k % 2 == 0 ? "gmres" : "cg", "jacobi"));
      std::vector<double> twice = part.own.val;
      for (double& value : twice) value *= 2;
      const auto values = upload<double, device>(part.ctx, k == 3 ? twice : part.own.val);
      part.system.refresh(values.cspan());
      std::vector<double> x(b.size(), 0.0);
      const SolveReport report = part.solve(b, x);
      std::vector<double> all = gathered(x, part.own, *ranks);
      if (ranks->rank() != 0) continue;
      if (k == 3) {
        for (double& value : all) value *= 2;
      }
      const bool solved = report.converged() && residual_norm(a, all, b) <= 1.01e-8 * norm_oracle(b);
      if (k == 0) first = all;
      const bool same = k != 2 || same_bits(all, first);
      if (!solved || !same) std::cout << "  system " << k << " in a row: WRONG" << std::endl;
      failed_ += solved && same ? 0 : 1;
    }
  }
  int failed() const { return failed_; }

 private:
  Linked linked_;
  int failed_ = 0;
};

// The number of checks that failed, the same on all processes; -1: this link is not possible here.
int checked(const Way& way, int devices) {
  const std::shared_ptr<Communicator> ranks = mpi_ranks(MPI_COMM_WORLD);
  const Linked linked{way.link, devices};
  if (ranks->size() == 1 && way.link != RankLink::host) {
    say("skipped: " + std::string(way.name) + ": there is one process");
    return -1;
  }
  try {
    DevicePart part(linked, ranks, tridiagonal_matrix(300), choice_of("cg", "jacobi"));
    say(std::string(way.name) + ": " + part.system.link());
  } catch (const Error& error) {
    if (cannot_be_linked(way, error)) return -1;
  }
  Checks checks(linked);
  SystemOptions in_graphs = choice_of("cg");
  in_graphs.solver.of<CgOptions>().resident = false;  // one kernel adds in another order
  checks.solve(ranks, few_wanted() ? "generate:diffusion:5" : "generate:elasticity:9", in_graphs, true);
  checks.solve(ranks, few_wanted() ? "generate:convection:5" : "generate:convection:9", choice_of("gmres", "none"),
               true);
  if (!few_wanted()) {
    checks.solve(ranks, "generate:diffusion:9", choice_of("cg", "jacobi"), false);
    checks.solve(ranks, "generate:grid7:18", choice_of("cg", "amg"), false);
    checks.solve(ranks, "generate:diffusion:9", choice_of("cg", "fsai"), false);
  }
  checks.replace(ranks);
  double failed = checks.failed();
  ranks->max(&failed, 1);
  return static_cast<int>(failed);
}

// The last process throws, or is killed, in the middle of a solve.
int ends_alike(const Way& way, int devices, bool killed) {
  const std::shared_ptr<Communicator> ranks = mpi_ranks(MPI_COMM_WORLD);
  const bool is_last = ranks->rank() == ranks->size() - 1;
  const HostCsr a = fem_matrix(few_wanted() ? "generate:diffusion:5" : "generate:diffusion:18");
  SystemOptions options = choice_of("cg", "jacobi");
  options.stop.rel_tol = 1e-300;
  options.stop.max_iterations = 100'000'000;
  std::unique_ptr<DevicePart> part;
  try {
    part = std::make_unique<DevicePart>(Linked{way.link, devices}, ranks, a, options);
  } catch (const Error& error) {
    if (cannot_be_linked(way, error)) return exit_skipped;
  }
  say(std::string(way.name) + ": " + part->system.link());
  const std::vector<double> b = rhs_of(a);
  std::vector<double> x(b.size(), 0.0);
  int polls = 0;
  auto failed_at = std::chrono::steady_clock::now();
  try {
    static_cast<void>(part->solve(b, x, [&](const Progress&) {
      failed_at = std::chrono::steady_clock::now();
      if (is_last && ++polls == 3) {
        if (killed) raise(SIGKILL);
        throw std::runtime_error("out of order in mid-solve");
      }
      return true;
    }));
  } catch (const RankFailed& failure) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - failed_at).count();
    if (ranks->rank() == 0) {
      std::cout << "rank 0 was told: " << failure.what() << (seconds < 10 ? ", in time" : ", TOO LATE") << " ("
                << seconds << " s)" << std::endl;
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  } catch (const std::runtime_error&) {
  }
  while (true) sched_yield();  // until the first, or the launcher, ends all
}

int run(int argc, char** argv) {
  const int devices = device_count();
  if (devices == 0) {
    say("skipped: no CUDA device: all links");
    return exit_skipped;
  }
  if (argc == 3) {
    for (const Way& way : ways) {
      if (std::strcmp(argv[2], way.name) == 0) return ends_alike(way, devices, std::strcmp(argv[1], "--kill") == 0);
    }
    return 2;
  }
  int failed = 0, skipped = 0;
  for (const Way& way : ways) {
    const int found = checked(way, devices);
    failed += std::max(found, 0);
    skipped += found < 0 ? 1 : 0;
  }
  say(std::to_string(size_of_world()) + " processes, " + std::to_string(devices) +
      " devices: " + std::to_string(failed) + " checks failed, " + std::to_string(skipped) + " links skipped");
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int status = run(argc, argv);
  MPI_Finalize();
  return status;
}
