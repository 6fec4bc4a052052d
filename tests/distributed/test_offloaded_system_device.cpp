// SPDX-License-Identifier: Apache-2.0
// Ranks that hand their rows to ranks with a device.
#include <newel/core/cuda_interop.hpp>
#include <newel/distributed/offloaded_system.hpp>
#include <newel/distributed/rank_device.hpp>

#include "tests/distributed/device_rank_support.hpp"

using namespace newel;
using namespace newel::testing;

TEST_CASE("Ranks without a device get what ranks with one solve", "[distributed][offload][device]") {
  const HostCsr a = fem_matrix("generate:diffusion:9");
  const std::vector<double> b = rhs_of(a);
  for (const std::vector<bool>& solves :
       {std::vector<bool>{true}, {true, false, false}, {true, false, true, false, false}}) {
    const int size = static_cast<int>(solves.size());
    std::vector<double> x(b.size()), scaled(b.size()), product(b.size()), preconditioned(b.size());
    const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
      const OwnRows own = share_of(a, ranks->rank(), size);
      std::optional<Context<device>> ctx;
      if (solves[static_cast<std::size_t>(ranks->rank())]) ctx.emplace(0);
      OffloadedSystem<double, device> system(ctx, ranks, own.view(), choice_of("cg", "jacobi"));
      RANK_CHECK((system.info().bytes > 0) == ctx.has_value());
      const std::vector<double> own_b = own.part_of(b);
      std::vector<double> found(own_b.size(), 5.0);
      const auto put = [&](std::vector<double>& whole) {
        std::copy(found.begin(), found.end(), whole.begin() + own.first);
      };
      RANK_CHECK(system.solve(own_b, Span<double, host>(found), {}, InitialGuess::zero).converged());
      put(x);
      system.multiply(own_b, Span<double, host>(found));
      put(product);
      system.precondition(own_b, Span<double, host>(found));
      put(preconditioned);
      std::vector<double> values = own.val;
      for (double& value : values) value *= 8;
      system.refresh(Span<const double, host>(values));
      RANK_CHECK(system.solve(own_b, Span<double, host>(found)).converged());
      put(scaled);
    });
    CHECK(thrown == std::vector<std::string>(solves.size()));
    CHECK(residual_norm(a, x, b) <= 1.01e-8 * norm_oracle(b));
    for (double& value : scaled) value *= 8;
    CHECK(residual_norm(a, scaled, b) <= 1.01e-8 * norm_oracle(b));
    CHECK(first_outside(product, expected_product<double>(a, 1, b)) == "");
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        if (a.col[k] != i) continue;
        CHECK(preconditioned[static_cast<std::size_t>(i)] ==
              Approx(b[static_cast<std::size_t>(i)] / a.val[k]).epsilon(1e-14));
      }
    }
  }
}

TEST_CASE("Ranks of a host take its devices in turn, and consecutive ranks share them", "[distributed][device]") {
  const int devices = device_count();
  for (const int size : {1, devices, devices + 1, 4 * devices}) {
    std::vector<int> taken(static_cast<std::size_t>(size)), firsts(taken.size());
    const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
      const RankDevice own = device_of_rank(*ranks);
      RANK_CHECK(own.rank_on_host == ranks->rank() && own.ranks_on_host == size && own.ranks == size);
      RANK_CHECK(own.all_have);
      taken[static_cast<std::size_t>(ranks->rank())] = own.device;
      firsts[static_cast<std::size_t>(ranks->rank())] = own.shares ? 0 : 1;
    });
    CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
    CHECK(std::is_sorted(taken.begin(), taken.end()));
    CHECK(taken.back() == std::min(size, devices) - 1);
    for (std::size_t r = 1; r < taken.size(); ++r) CHECK((firsts[r] == 0) == (taken[r] == taken[r - 1]));
  }
}
