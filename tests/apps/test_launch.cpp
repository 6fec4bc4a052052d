// SPDX-License-Identifier: Apache-2.0
// Whether a launcher of MPI has started the process.
#include "tests/catch.hpp"

#include <map>

#include "apps/newel/ranks/launch.hpp"

using namespace newel::cli;

namespace {

Launch launch(const std::map<std::string, std::string>& environment) {
  return launch_from([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

}  // namespace

TEST_CASE("The variables of launchers tell how many processes there are, and which this is", "[cli][ranks]") {
  const Launch open_mpi = launch({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}});
  CHECK(open_mpi.size == 4);
  CHECK(open_mpi.rank == 3);
  const Launch mpich = launch({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}});
  CHECK(mpich.size == 2);
  CHECK(mpich.rank == 1);
  const Launch slurm = launch({{"PMIX_RANK", "5"}, {"SLURM_STEP_NUM_TASKS", "6"}});
  CHECK(slurm.size == 6);
  CHECK(slurm.rank == 5);
}

TEST_CASE("A process without a launcher, or in a batch job of several tasks, is alone", "[cli][ranks]") {
  for (const auto& environment : std::vector<std::map<std::string, std::string>>{
           {},
           {{"SLURM_STEP_NUM_TASKS", "6"}, {"SLURM_PROCID", "2"}},
           {{"PMIX_RANK", "5"}},
           {{"PMI_SIZE", "2"}, {"PMI_RANK", "2"}},
           {{"PMI_SIZE", "two"}, {"PMI_RANK", "1"}},
           {{"PMI_SIZE", "2x"}, {"PMI_RANK", "1"}},
           {{"PMI_SIZE", "2"}, {"PMI_RANK", "-1"}},
           {{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}}) {
    CHECK(launch(environment).size == 1);
    CHECK(launch(environment).rank == 0);
  }
}
