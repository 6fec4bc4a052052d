// SPDX-License-Identifier: Apache-2.0
// Solves systems on the processes that mpirun started, and checks x on the first of them: against b, by a residual in
// long double, and bit for bit against as many ranks in threads. With --fail the third process hands over rows that
// are no matrix, with --fail-in-amg near-null vectors that are none, and the others have to hear of it.
#include <cstdio>
#include <cstring>
#include <iostream>

#include <newel/mpi/mpi_ranks.hpp>
#include <newel/precond/amg/amg_options.hpp>

#include "tests/distributed/rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

// x of all ranks on the first.
std::vector<double> gathered(const std::vector<double>& own, Communicator& ranks) {
  const std::string mine(reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double));
  std::vector<double> all;
  for (const std::string& part : ranks.texts(mine)) {
    const std::size_t before = all.size();
    all.resize(before + part.size() / sizeof(double));
    std::memcpy(all.data() + before, part.data(), part.size());
  }
  return all;
}

bool solves(const std::shared_ptr<Communicator>& ranks, const std::string& system, const std::string& solver,
            const std::string& precond = "auto") {
  const HostCsr a = fem_matrix(system);
  const std::vector<double> b = product_oracle(a, random_vector<double>(a.rows, 3));
  const SystemOptions options = choice_of(solver, precond);
  const OwnRows own = share_of(a, ranks->rank(), ranks->size());
  DistributedSystem<double> distributed(Context<host>(1), ranks, own.view(), options);
  std::vector<double> own_x(static_cast<std::size_t>(own.rows()), 0.0);
  const SolveReport report = distributed.solve(own.part_of(b), own_x);
  const std::vector<double> x = gathered(own_x, *ranks);
  if (ranks->rank() != 0) return true;
  const RankSolve in_threads = solve_on_ranks(ranks->size(), a, b, options);
  const bool same = same_bits(x, in_threads.x) && report.iterations == in_threads.reports[0].iterations;
  const double residual = residual_norm(a, x, b) / norm_oracle(b);
  std::cout << system << ", " << solver << " with " << precond << ": " << report.iterations
            << " iterations, residual " << residual << (same ? "" : ", NOT the bits of ranks in threads") << "\n";
  return report.converged() && residual <= 1.01e-8 && same;
}

int fails(const std::shared_ptr<Communicator>& ranks, bool in_amg) {
  OwnRows own = share_of(tridiagonal_matrix(in_amg ? 6000 : 30), ranks->rank(), ranks->size());
  SystemOptions options = choice_of("cg", in_amg ? "amg" : "auto");
  if (ranks->rank() == 2 && !in_amg) own.col.assign(own.col.size(), 99);
  if (ranks->rank() == 2 && in_amg) options.precond.of<AmgOptions>().vectors = std::make_shared<NearNullVectors>();
  try {
    DistributedSystem<double> system(Context<host>(1), ranks, own.view(), options);
  } catch (const RankFailed& failure) {
    std::cout << "rank " << ranks->rank() << " was told: " << failure.what() << std::endl;
    if (ranks->rank() == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  } catch (const InputError&) {
  }
  while (true) sched_yield();  // until the first ends all
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  {
    const std::shared_ptr<Communicator> ranks = mpi_ranks(MPI_COMM_WORLD);
    if (argc > 1) return fails(ranks, std::strcmp(argv[1], "--fail-in-amg") == 0);
    for (const std::string system : {"generate:diffusion:9", "generate:convection:9"}) {
      for (const std::string solver : {"auto", "gmres"}) status |= solves(ranks, system, solver) ? 0 : 1;
    }
    for (const std::string system : {"generate:grid7:18", "generate:diffusion:18"}) {
      status |= solves(ranks, system, "cg", "amg") ? 0 : 1;
    }
    double failed = status;
    ranks->max(&failed, 1);
    status = static_cast<int>(failed);
  }
  MPI_Finalize();
  return status;
}
