// SPDX-License-Identifier: Apache-2.0
// Where flat elements need FSAI as AMG's smoother on a host, and where Chebyshev's polynomial does.
#include "precond/amg/cycle/chebyshev_trial.hpp"

#include "tests/precond/smoother_support.hpp"

namespace {

int iterations(const HostCsr& a, AmgSmoother smoother) { return cg_iterations(a, smoother_options(smoother), 1e-6); }

// Whether FSAI smooths the first level where nobody asks for a smoother.
template <class T, Space S>
bool takes_fsai(const Context<S>& ctx, const HostCsr& a, const std::vector<Index>& old_of_new = {}) {
  const auto m = amg<T, S>(ctx, a, smoother_options(AmgSmoother::automatic), nullptr, old_of_new);
  REQUIRE(m.hierarchy().levels().front().smoother == AmgSmoother::fsai);  // asks for a trial
  return contains(m.info().detail, "fsai");
}

bool has_phase(const OperatorInfo& info, const std::string& name) {
  return std::any_of(info.setup_seconds.begin(), info.setup_seconds.end(),
                     [&](const auto& phase) { return phase.first == name; });
}

}  // namespace

TEST_ON_HOST("On a host AMG takes FSAI for flat elements where it saves more than half of the iterations", "[amg]") {
  for (const double stiffness : {0.3, 1.0, 10.0, 1e3, 1e5}) {  // of an element, where a diagonal entry is about 1
    const HostCsr a = with_flat_elements(20, 100, stiffness);
    const bool slow = iterations(a, AmgSmoother::chebyshev) > 2.5 * iterations(a, AmgSmoother::fsai);
    INFO(stiffness);
    CHECK(slow == (stiffness > 3));
    CHECK(takes_fsai<double>(ctx, a) == slow);
    CHECK(takes_fsai<float>(ctx, a) == slow);
    CHECK(takes_fsai<double>(ctx, kron_identity(a, 2)) == slow);
  }
}

TEST_ON_HOST("A trial of AMG's smoother begins at the few tied nodes of a matrix in any order", "[amg]") {
  for (const double stiffness : {1.0, 1e3}) {
    const HostCsr a = with_flat_elements(20, 2000, stiffness);
    INFO(stiffness);
    CHECK(takes_fsai<double>(ctx, a) == (stiffness > 10));
    CHECK(takes_fsai<double>(ctx, a, random_order(a.rows, 5)) == (stiffness > 10));
  }
}

TEST_BOTH("AMG tries Chebyshev's polynomial on a host, where FSAI would smooth flat elements", "[amg]") {
  const auto info = [&](double stiffness, AmgSmoother asked) {
    return amg<double, S>(ctx, with_flat_elements(9, 100, stiffness), smoother_options(asked)).info();
  };
  const OperatorInfo mild = info(1, AmgSmoother::automatic), stiff = info(1e3, AmgSmoother::automatic);
  CHECK(has_phase(mild, "trial of the smoother") == (S == host));
  CHECK(has_phase(mild, "smoother of the first level") == (S != host));
  CHECK(contains(mild.detail, "fsai") == (S != host));
  CHECK(has_phase(stiff, "trial of the smoother") == (S == host));
  CHECK(has_phase(stiff, "smoother of the first level"));
  CHECK(contains(stiff.detail, "fsai"));
  for (const AmgSmoother asked : {AmgSmoother::fsai, AmgSmoother::chebyshev}) {
    const OperatorInfo told = info(1, asked);
    CHECK_FALSE(has_phase(told, "trial of the smoother"));
    CHECK(contains(told.detail, detail::name_of(asked)));
  }
}

TEST_ON_HOST("A trial of AMG's smoother begins everywhere where many small entries entangle nodes", "[amg]") {
  for (const double value : {0.02, 0.0435}) {  // the smallest eigenvalue is about 0.5, and nearly 0
    constexpr Index n = 1000, reach = 50;
    MapRows rows(n);
    for (Index i = 0; i < n; ++i) {
      rows[i][i] = 1;
      for (Index k = 1; k <= reach; ++k) rows[i][(i + 7 * k) % n] = rows[i][(i + 7 * (n - k)) % n] = value;
    }
    CHECK(takes_fsai<double>(ctx, from_rows(n, rows)) == (value > 0.04));
  }
}

TEST_CASE("Chebyshev's polynomial smooths a body whose surface is meshed badly, FSAI refined flat elements",
          "[amg][data]") {
  if (skipped_without_data()) return;
  const Context<host> ctx;
  const auto system = [](const std::string& name) { return MeshSystem("mesh:" + data_folder() + "/meshes/" + name); };
  const MeshSystem body = system("em_stump.mesh.gz:diffusion:0"), heart = system("heart_human60.mesh.gz:diffusion:1");
  CHECK_FALSE(takes_fsai<double>(ctx, body.a));
  CHECK(iterations(body.a, AmgSmoother::automatic) < 1.5 * iterations(body.a, AmgSmoother::fsai));
  CHECK(takes_fsai<double>(ctx, heart.a));
  CHECK(iterations(heart.a, AmgSmoother::automatic) < 0.5 * iterations(heart.a, AmgSmoother::chebyshev));
}
