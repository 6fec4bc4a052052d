// SPDX-License-Identifier: Apache-2.0
// Directions of CG that are stored on other devices while they are made.
#include "tests/catch.hpp"

#include <cmath>
#include <limits>

#include <newel/solver/cg.hpp>

#include "distributed/links/device_link.hpp"
#include "distributed/rows/distributed_operator.hpp"
#include "distributed/rows/halo.hpp"
#include "solver/krylov/steps/published_direction.hpp"
#include "spmv/resident_view.hpp"
#include "tests/distributed/device_rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

// A line of nodes, each of which is also tied to those 1/4, 1/2 and 3/4 of the line away: every rank reads of every
// other, and a row goes to several.
HostCsr tied_line(Index n) {
  Rows rows(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = 9;
    for (const Index apart : {Index{1}, n / 4, n / 2, n - n / 4, n - 1}) rows[i][(i + apart) % n] = -1;
  }
  return from_rows(n, rows);
}

// A rank's matrix on devices that exchange packets.
struct RankOperator {
  OwnRows own;
  Context<device> ctx;
  detail::DistributedOperator<double, device> A;

  RankOperator(const std::shared_ptr<Communicator>& ranks, const HostCsr& a)
      : own(share_of(a, ranks->rank(), ranks->size())),
        ctx(linked(ranks, own, a.rows)),
        A(ctx, own.view(), detail::first_rows(*ranks, own.rows()), detail::RankFormat::automatic) {}

  static Context<device> linked(const std::shared_ptr<Communicator>& ranks, const OwnRows& own, Index all) {
    const Context<device> of_rank(ranks->rank());
    of_rank.make_current();
    return detail::with_ranks(of_rank,
                              {ranks, own.first, all, detail::link_devices(of_rank, ranks, RankLink::peers)});
  }
  // From the caller's order to that of the rank.
  std::vector<double> in_rank_order(const std::vector<double>& values) const {
    const std::vector<Index> old_of_new = to_vector(ctx, A.order().old_of_new.cspan());
    std::vector<double> ordered = values;
    for (std::size_t i = 0; i < old_of_new.size(); ++i) {
      ordered[i] = values[static_cast<std::size_t>(old_of_new[i])];
    }
    return ordered;
  }
};

// p = z, the direction of a first iteration, is another one in each of several rounds, by one of two steps.
void check_products(int size, const HostCsr& a) {
  constexpr int rounds = 7;
  const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    RankOperator rank(ranks, a);
    const Context<device>& ctx = rank.ctx;
    const detail::PublishedProduct<double>* const published = rank.A.resident_view().published;
    RANK_CHECK(published != nullptr);
    if (published == nullptr) return;
    const std::int64_t n = rank.own.rows();
    detail::CgState start{};
    start.monitor.max_iterations = rounds;
    start.rho_old = std::numeric_limits<double>::infinity();
    auto state = make_array(ctx, std::vector<detail::CgState>{start});
    auto p = upload<double, device>(ctx, std::vector<double>(n, 0.0));
    auto x = upload<double, device>(ctx, std::vector<double>(n, 0.0));
    const auto d = upload<double, device>(ctx, std::vector<double>(n, 2.0));
    auto dot = upload<double, device>(ctx, {0.0});
    for (int round = 0; round < rounds; ++round) {
      std::vector<double> whole = random_vector<double>(a.rows, 100 + round);
      const auto z = upload<double, device>(ctx, rank.in_rank_order(rank.own.part_of(whole)));
      if (round % 2 == 0) {
        const detail::CgDirection<double, false> plain{state.data(), nullptr, z.data(), p.data(), x.data()};
        detail::sweep_and_send(ctx, n, plain, published->rows());
      } else {
        const detail::CgDirection<double, true> scaled{state.data(), d.data(), z.data(), p.data(), x.data()};
        detail::sweep_and_send(ctx, n, scaled, published->rows());
        for (double& value : whole) value *= 2;
      }
      auto y = poisoned<double, device>(ctx, n);
      published->multiply(ctx, p.cspan(), y.span(), dot.data());
      const std::vector<double> expected = product_oracle(a, whole), found = download<double, device>(ctx, y);
      const std::vector<double> of_rank = rank.in_rank_order(rank.own.part_of(expected));
      double xy = 0;
      for (Index i = 0; i < a.rows; ++i) xy += whole[i] * expected[i];
      for (std::int64_t i = 0; i < n; ++i) RANK_CHECK(found[i] == Approx(of_rank[i]).margin(1e-12));
      RANK_CHECK(download<double, device>(ctx, dot)[0] == Approx(xy).epsilon(1e-10));
      // The product that fetches what it needs has the same bits.
      auto fetched = poisoned<double, device>(ctx, n);
      auto its_dot = upload<double, device>(ctx, {0.0});
      rank.A.apply_dot(ctx, p.cspan(), fetched.span(), its_dot.data());
      RANK_CHECK(same_bits(download<double, device>(ctx, fetched), found));
      RANK_CHECK(download<double, device>(ctx, its_dot)[0] == download<double, device>(ctx, dot)[0]);
    }
    ranks->texts("");
  });
  CHECK(thrown == std::vector<std::string>(static_cast<std::size_t>(size)));
}

}  // namespace

TEST_CASE("A direction that is sent while it is made is multiplied as one that is fetched", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const int devices : numbers_of_devices()) {
    check_products(devices, fem_matrix("generate:diffusion:12"));
    check_products(devices, fem_matrix("generate:elasticity:8"));
    check_products(devices, tied_line(600));
  }
}

TEST_CASE("CG on several devices whose directions are sent has the bits of exchanges", "[distributed][device]") {
  if (skipped_without_devices(2)) return;
  for (const HostCsr& a :
       {fem_matrix("generate:diffusion:14"), fem_matrix("generate:elasticity:8"), tied_line(400)}) {
    const std::vector<double> b = rhs_of(a);
    for (const std::string precond : {"jacobi", "none", "fsai"}) {
      SystemOptions options = choice_of("cg", precond);
      options.solver.of<CgOptions>().resident = false;
      for (const int devices : numbers_of_devices()) {
        INFO(a.rows << " rows, " << precond << ", " << devices << " devices");
        const RankSolve staged = solve_on_devices({RankLink::host, devices}, devices, a, b, options);
        const RankSolve packets = solve_on_devices(by_packets(devices), devices, a, b, options);
        CHECK(packets.reports[0].converged());
        CHECK(packets.reports[0].history == staged.reports[0].history);
        CHECK(same_bits(packets.x, staged.x));
      }
    }
  }
}
