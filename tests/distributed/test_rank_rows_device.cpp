// SPDX-License-Identifier: Apache-2.0
// The rows of ranks on their devices: how their columns are numbered, and what is found out of them there.
#include "tests/catch.hpp"

#include <algorithm>
#include <set>

#include <newel/core/machine.hpp>

#include "distributed/links/device_link.hpp"
#include "distributed/precond/rank_traits.hpp"
#include "distributed/rows/halo.hpp"
#include "distributed/rows/distributed_operator.hpp"
#include "distributed/rows/rows_on_device.hpp"
#include "tests/distributed/device_rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

struct DeviceShare {
  OwnRows own;
  std::vector<std::int64_t> first;  // rows of all ranks
  Context<device> ctx;
  RankRows<double> view;
  detail::ColumnsOfRank columns;

  DeviceShare(const HostCsr& a, const std::shared_ptr<Communicator>& ranks)
      : own(share_of(a, ranks->rank(), ranks->size())),
        first(detail::first_rows(*ranks, own.rows())),
        ctx(detail::with_ranks(Context<device>(0), {ranks, own.first, a.rows})),
        view(own.view()),
        columns{view.row_ptr, view.col, first, ranks->rank()} {}
};

template <class F>
void on_shares(const HostCsr& a, F&& f) {
  for (const int size : {1, 2, 3, 5}) {
    INFO(size << " ranks");
    CHECK(on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
            DeviceShare share(a, ranks);
            f(share);
          }) == std::vector<std::string>(static_cast<std::size_t>(size)));
  }
}

void check_numbers(const DeviceShare& s) {
  const detail::NumberedColumns found(s.ctx, s.columns);
  std::set<std::int64_t> others;
  for (const std::int64_t j : s.own.col) {
    if (!s.columns.owns(j)) others.insert(j);
  }
  RANK_CHECK(found.others == std::vector<std::int64_t>(others.begin(), others.end()));
  RANK_CHECK(found.lower == std::distance(others.begin(), others.lower_bound(s.columns.first())));
  const std::vector<Index> col = to_vector(s.ctx, found.col.cspan());
  const std::vector<unsigned char> reads = to_vector(s.ctx, found.reads_others.cspan());
  const std::vector<Offset> diagonal = to_vector(s.ctx, diagonal_positions(s.ctx, found, {}).cspan());
  const detail::OwnPattern own(s.ctx, found);
  const std::vector<Offset> own_ptr = to_vector(s.ctx, own.row_ptr.cspan());
  const std::vector<Index> own_col = to_vector(s.ctx, own.col.cspan());
  std::vector<Index> expected_own;
  for (Index i = 0; i < s.own.rows(); ++i) {
    bool any = false;
    Offset place = -1;
    for (Offset k = s.own.row_ptr[i]; k < s.own.row_ptr[i + 1]; ++k) {
      const std::int64_t j = s.own.col[k];
      if (j == s.own.first + i) place = k;
      if (s.columns.owns(j)) {
        RANK_CHECK(col[k] == j - s.own.first);
        expected_own.push_back(col[k]);
      } else {
        any = true;
        RANK_CHECK(found.others[static_cast<std::size_t>(col[k] - s.own.rows())] == j);
      }
    }
    RANK_CHECK((reads[i] != 0) == any);
    RANK_CHECK(diagonal[i] == place);
    RANK_CHECK(own_ptr[i + 1] == static_cast<Offset>(expected_own.size()));
  }
  RANK_CHECK(own_col == expected_own);
}

// In nodes of two rows, of which only one may be read.
void check_nodes(const DeviceShare& s) {
  const detail::NumberedColumns found(s.ctx, s.columns);
  const std::vector<std::int64_t> nodes = detail::nodes_of_rows(found.others, 2);
  const std::vector<Index> col = to_vector(s.ctx, columns_in_nodes(s.ctx, found, nodes, 2).cspan());
  for (std::size_t k = 0; k < col.size(); ++k) {
    const std::int64_t j = s.own.col[k];
    if (s.columns.owns(j)) {
      RANK_CHECK(col[k] == j - s.own.first);
    } else {
      const Index behind = col[k] - s.own.rows();
      RANK_CHECK(2 * nodes[static_cast<std::size_t>(behind / 2)] + behind % 2 == j);
    }
  }
}

// Products with a matrix on ranks, and with one of new values. look(matrix) on each rank.
template <class Look>
void check_products(const HostCsr& a, int size, detail::RankFormat format, Look&& look) {
  const std::vector<double> x = random_vector<double>(a.rows);
  HostCsr changed = a;
  for (double& value : changed.val) value *= 3;
  std::vector<double> y(x.size(), std::nan("")), anew = y;
  CHECK(on_ranks(size, [&](const std::shared_ptr<Communicator>& communicator) {
          const DeviceShare s(a, communicator);
          const Context<device> of_rank(0);
          Ranks ranks{communicator, s.own.first, a.rows};
          ranks.device = detail::link_devices(of_rank, communicator, RankLink::host);
          const Context<device> ctx = detail::with_ranks(of_rank, ranks);
          detail::DistributedOperator<double, device> matrix(ctx, s.view, s.first, format);
          look(matrix);
          const auto multiply = [&](std::vector<double>& to) {
            const std::vector<Index> order = to_vector(ctx, matrix.order().old_of_new.cspan());
            std::vector<double> in = s.own.part_of(x);
            for (std::size_t i = 0; i < order.size(); ++i)
              in[i] = x[static_cast<std::size_t>(s.own.first + order[i])];
            auto out = poisoned<double, device>(ctx, s.own.rows());
            matrix.apply(ctx, 1.0, upload<double, device>(ctx, in).cspan(), 0.0, out.span());
            const std::vector<double> found = download<double, device>(ctx, out);
            for (std::size_t i = 0; i < found.size(); ++i) {
              to[static_cast<std::size_t>(s.own.first + (order.empty() ? static_cast<Index>(i) : order[i]))] =
                  found[i];
            }
          };
          multiply(y);
          const auto values = upload<double, device>(ctx, share_of(changed, communicator->rank(), size).val);
          matrix.refresh(ctx, values.cspan());
          multiply(anew);
        }) == std::vector<std::string>(static_cast<std::size_t>(size)));
  CHECK(first_outside(y, expected_product<double>(a, 1, x)) == "");
  CHECK(first_outside(anew, expected_product<double>(changed, 1, x)) == "");
}

std::vector<NamedMatrix> matrices() {
  std::vector<NamedMatrix> all = awkward_square_matrices();
  all.push_back({"diffusion", fem_matrix("generate:diffusion:6")});
  all.push_back({"convection", fem_matrix("generate:convection:6")});
  return all;
}

}  // namespace

TEST_CASE("Columns of ranks on devices are numbered as their rows have them", "[distributed][device]") {
  for (const NamedMatrix& named : matrices()) {
    INFO(named.name);
    on_shares(named.matrix, [](const DeviceShare& s) {
      check_numbers(s);
      check_nodes(s);
    });
  }
}

TEST_CASE("Rows that are wrong are refused on devices as on the host", "[distributed][device]") {
  const HostCsr a = fem_matrix("generate:diffusion:4");
  const auto refusal = [&](const std::function<void(OwnRows&)>& spoil) {
    std::string what;
    static_cast<void>(on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
      DeviceShare s(a, ranks);
      spoil(s.own);
      try {
        const detail::NumberedColumns found(s.ctx, s.columns);
      } catch (const InputError& error) {
        if (ranks->rank() == 0) what = error.what();
      }
    }));
    return what;
  };
  CHECK(refusal([](OwnRows&) {}).empty());
  CHECK(refusal([](OwnRows& own) { std::swap(own.col[1], own.col[2]); }).find("columns must ascend") !=
        std::string::npos);
  CHECK(refusal([](OwnRows& own) { own.col[0] = -1; }).find("column -1 of a matrix") != std::string::npos);
  CHECK(refusal([](OwnRows& own) { own.col.back() = 1 << 30; }).find("of a matrix with") != std::string::npos);
  CHECK(refusal([](OwnRows& own) { own.row_ptr[1] = 1 << 30; }).find("row pointers are") != std::string::npos);
}

TEST_CASE("Facts of a matrix on ranks with devices are those of the whole", "[distributed][device]") {
  for (const NamedMatrix& named : matrices()) {
    INFO(named.name);
    const Context<host> alone(1);
    const auto there = upload_matrix<double>(alone, named.matrix);
    const MatrixTraits whole = matrix_traits(alone, there.wide());
    on_shares(named.matrix, [&](const DeviceShare& s) {
      const detail::RowsOnDevice<double> rows(s.ctx, s.columns, s.view.val);
      const MatrixTraits found = detail::rank_traits(s.ctx, {s.view, s.first, {}}, rows);
      rank_check_traits(found, whole);
    });
  }
}

TEST_CASE("Rows that stay as they are on devices multiply as one matrix", "[distributed][device]") {
  for (const NamedMatrix& named : matrices()) {
    for (const int size : {2, 3}) {
      INFO(named.name << " on " << size << " ranks");
      check_products(named.matrix, size, detail::RankFormat::at_once,
                     [](const auto& matrix) { RANK_CHECK(matrix.order().natural()); });
    }
  }
}

// A plan sees a line, of which a part reads as many rows of the other rank as it has: twice as much as is cached.
TEST_CASE("EHYB is planned again where parts read more of other ranks than they can cache", "[distributed][device]") {
  const Machine machine = machine_of(Context<device>(0));
  const auto rows = static_cast<Index>(machine.processors * 0.6 * static_cast<double>(machine.cache_bytes) / 8);
  Rows entries(static_cast<std::size_t>(2 * rows));
  for (Index i = 0; i < 2 * rows; ++i) {
    MapRows::value_type& row = entries[static_cast<std::size_t>(i)];
    row[i] = 4;
    row[(i + rows) % (2 * rows)] = -1;
    if (i % rows > 0) row[i - 1] = -1;
    if (i % rows + 1 < rows) row[i + 1] = -1;
  }
  check_products(from_rows(2 * rows, entries), 2, detail::RankFormat::automatic, [](const auto& matrix) {
    const OperatorInfo info = matrix.stored().info();
    RANK_CHECK(info.name.substr(0, 4) == "ehyb");
    RANK_CHECK(std::find(info.figures.begin(), info.figures.end(), std::pair<std::string, double>("plans", 2)) !=
               info.figures.end());
  });
}

TEST_CASE("With multigrid devices keep rows in CSR unless many products are expected", "[distributed][device]") {
  const HostCsr a = fem_matrix("generate:elasticity:6");
  for (const double products : {0.0, 5000.0}) {
    std::string name;
    CHECK(on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
            SystemOptions options = choice_of("cg", "amg");
            options.expected_products = products;
            const DevicePart part(shared_gpu, ranks, a, options);
            if (ranks->rank() == 0) name = part.system.info().matrix.name;
          }) == std::vector<std::string>(2));
    CHECK(name.substr(0, 4) == (products == 0 ? "csr" : "ehyb"));
  }
}
