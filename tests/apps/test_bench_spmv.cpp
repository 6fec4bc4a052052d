// SPDX-License-Identifier: Apache-2.0
// `newel bench spmv` measured: all formats on small and awkward matrices, and one that multiplies wrongly.
#include "tests/catch.hpp"

#include "bench/product_oracle.hpp"
#include "bench/command/spmv.hpp"
#include "bench/command/spmv_in.hpp"

using namespace newel::cli;

namespace {

BenchSettings quick() {
  BenchSettings settings;
  settings.repeats = 2;
  settings.block_seconds = 0;
  settings.displacing_bytes = 1 << 16;
  return settings;
}

Csr<double, host> matrix_of(const testing::HostCsr& a) { return testing::make_matrix<double>(Context<host>(), a); }

template <class T, Space S>
std::vector<BenchLine> measured(const Context<S>& ctx, const Csr<double, host>& a,
                                const std::vector<bench::Contender<T, S>>& contenders) {
  return BenchRun<T, S>(Context<host>(), ctx, a, quick()).run(contenders);
}

template <class T, Space S>
void check_lines(const Csr<double, host>& a) {
  const Context<S> ctx = testing::make_context<S>();
  const auto contenders = choose_contenders<T>(ctx, {});
  const std::vector<BenchLine> lines = measured(ctx, a, contenders);
  REQUIRE(lines.size() == contenders.size());
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const BenchLine& line = lines[k];
    INFO(line.name << " " << line.refused << " error " << line.error);
    CHECK(line.name == contenders[k].name);
    if (!line.measured()) {
      CHECK(line.name == "cusparse:bsr");  // no blocks
      continue;
    }
    CHECK(line.error <= 1);
    for (const auto* samples : {&line.warm, &line.cold, &line.refresh}) {
      CHECK(samples->size() == 2);
      CHECK(*std::min_element(samples->begin(), samples->end()) > 0);
    }
    CHECK(line.info.nonzeros == a.nnz());
    CHECK(line.setup_seconds() > 0);
  }
}

// Multiplies as CSR does, but for one row of y.
template <class T, Space S>
class OneRowWrong final : public MatrixOperator<T, S> {
 public:
  OneRowWrong(OperatorPtr<T, S> right, bool after_refresh) : right_(std::move(right)), wrong_(!after_refresh) {}
  Index rows() const override { return right_->rows(); }
  Index cols() const override { return right_->cols(); }
  void refresh(const Context<S>& ctx, Span<const T, S> values) override {
    right_->refresh(ctx, values);
    wrong_ = true;
  }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    right_->apply(ctx, alpha, x, beta, y);
    if (wrong_) y[y.size / 2] += T(0.001);
  }
  OperatorInfo info() const override {
    OperatorInfo info = right_->info();
    info.name = "wrong";
    return info;
  }

 private:
  OperatorPtr<T, S> right_;
  bool wrong_;
};

// Multiplies one vector as CSR does, and several but for the last row of the last.
class LastColumnWrong final : public MatrixOperator<double, host> {
 public:
  explicit LastColumnWrong(OperatorPtr<double, host> right) : right_(std::move(right)) {}
  Index rows() const override { return right_->rows(); }
  Index cols() const override { return right_->cols(); }
  void refresh(const Context<host>& ctx, Span<const double, host> values) override { right_->refresh(ctx, values); }
  void apply(const Context<host>& ctx, double alpha, Span<const double, host> x, double beta,
             Span<double, host> y) const override {
    right_->apply(ctx, alpha, x, beta, y);
  }
  void apply_columns(const Context<host>& ctx, int columns, double alpha, Span<const double, host> x, double beta,
                     Span<double, host> y, Span<char, host> work) const override {
    right_->apply_columns(ctx, columns, alpha, x, beta, y, work);
    y[y.size - 1] *= 1.001;
  }
  std::uint64_t column_work_bytes(int columns) const override { return right_->column_work_bytes(columns); }
  OperatorInfo info() const override {
    OperatorInfo info = right_->info();
    info.name = "wrong";
    return info;
  }

 private:
  OperatorPtr<double, host> right_;
};

// Puts a Wrong around CSR.
template <class Wrong, class... Arguments>
bench::Contender<double, host> contender_of(Arguments... arguments) {
  bench::Contender<double, host> contender;
  contender.name = "wrong";
  contender.build = [arguments...](const Context<host>& ctx, const CsrView<double, host>& a) {
    auto built = bench::format_contender<double, host>("csr").build(ctx, a);
    built.matrix = std::make_unique<Wrong>(std::move(built.matrix), arguments...);
    return built;
  };
  return contender;
}

const BenchLine& named(const std::vector<BenchLine>& lines, const std::string& name) {
  const auto at = std::find_if(lines.begin(), lines.end(), [&](const BenchLine& line) { return line.name == name; });
  REQUIRE(at != lines.end());
  return *at;
}

}  // namespace

TEST_BOTH("Every format and every competitor is measured, each right", "[bench]") {
  for (const char* spec : {"generate:elasticity:5", "generate:diffusion:8", "generate:grid7:6"}) {
    const Csr<double, host> a = fem::generate_matrix(Context<host>(), spec);
    check_lines<double, S>(a);
    check_lines<float, S>(a);
  }
  check_lines<double, S>(matrix_of(testing::arrow_matrix(33)));
}

TEST_ON_HOST("All formats with all variants take part, and the competitors, none of them twice", "[bench]") {
  const auto contenders = choose_contenders<double>(ctx, {});
  std::vector<std::string> names;
  for (const auto& contender : contenders) names.push_back(contender.name);
  for (const std::string& name : bench::all_format_names()) {
    INFO(name);
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  }
  for (const auto& competitor : bench::competitors<double>(ctx)) {
    const auto at = std::find(names.begin(), names.end(), competitor.name);
    REQUIRE(at != names.end());
    CHECK(contenders[at - names.begin()].competitor);
  }
  const auto few = choose_contenders<double>(ctx, {"ehyb"});
  CHECK(few.front().name == "ehyb");
  CHECK(few[1].name == "csr");
  CHECK(few[1].break_even);
}

TEST_BOTH("Every format and every competitor is measured with several vectors, each right", "[bench][columns]") {
  BenchSettings settings = quick();
  settings.columns = {8, 2};
  const Csr<double, host> a = fem::generate_matrix(Context<host>(), "generate:elasticity:4");
  const auto lines = BenchRun<double, S>(Context<host>(), ctx, a, settings).run(choose_contenders<double>(ctx, {}));
  for (const BenchLine& line : lines) {
    INFO(line.name << " " << line.refused << " error " << line.error);
    REQUIRE(line.measured());
    CHECK(line.error <= 1);
    REQUIRE(line.columns.size() == 2);
    CHECK(line.columns[0].columns == 8);
    CHECK(line.columns[1].columns == 2);
    for (const ColumnsProduct& of : line.columns) {
      CHECK(of.warm.size() == 2);
      CHECK(*std::min_element(of.warm.begin(), of.warm.end()) > 0);
    }
  }
}

TEST_CASE("A format whose last column of several is wrong is found out", "[bench][columns]") {
  BenchSettings settings = quick();
  settings.columns = {4};
  const Csr<double, host> a = matrix_of(testing::arrow_matrix(40));
  BenchSystem system;
  system.lines = BenchRun<double, host>(Context<host>(), Context<host>(), a, settings)
                     .run({bench::format_contender<double, host>("csr"), contender_of<LastColumnWrong>()});
  CHECK_FALSE(named(system.lines, "csr").wrong());
  CHECK(named(system.lines, "wrong").wrong());
}

TEST_CASE("A format that multiplies one row wrongly is found out, before or after its refresh", "[bench]") {
  const Csr<double, host> a = matrix_of(testing::arrow_matrix(40));
  for (const bool after_refresh : {false, true}) {
    BenchSystem system;
    system.lines = measured<double, host>(
        Context<host>(), a,
        {bench::format_contender<double, host>("csr"), contender_of<OneRowWrong<double, host>>(after_refresh)});
    CHECK_FALSE(named(system.lines, "csr").wrong());
    CHECK(named(system.lines, "wrong").wrong());
    CHECK(named(system.lines, "wrong").warm.size() == 2);
    CHECK(any_wrong(std::vector{system}));
  }
}

TEST_CASE("A rectangular matrix is refused with a reason by what renumbers, and measured by the rest", "[bench]") {
  const Csr<double, host> a = matrix_of(testing::from_rows(5, {{{0, 1.0}, {4, 2.0}}, {{2, -1.0}}, {}}));
  const Context<host> ctx;
  const std::vector<BenchLine> lines = measured(ctx, a, choose_contenders<double>(ctx, {}));
  for (const BenchLine& line : lines) {
    INFO(line.name);
    if (line.name != "eigen" && takes_square_only(line.name)) {
      CHECK(contains(line.refused, "square"));
    } else {
      CHECK(line.measured());
      CHECK(line.error <= 1);
    }
  }
  CHECK_FALSE(named(lines, "ehyb").measured());
}

TEST_CASE("What does not fit into memory is a line with the reason", "[bench]") {
  bench::Contender<double, host> hungry;
  hungry.name = "hungry";
  hungry.build = [](const Context<host>&, const CsrView<double, host>&) -> bench::BuiltProduct<double, host> {
    throw OutOfMemory("host", "'hungry'", 2000, 1000);
  };
  const Csr<double, host> a = matrix_of(testing::diagonal_matrix(10));
  const std::vector<BenchLine> lines =
      measured<double, host>(Context<host>(), a, {hungry, bench::format_contender<double, host>("csr")});
  CHECK(contains(named(lines, "hungry").refused, "memory for 'hungry'"));
  CHECK(named(lines, "csr").measured());
}

TEST_CASE("Names that become the same arrays are timed once and keep their own setup", "[bench]") {
  const Csr<double, host> a = fem::generate_matrix(Context<host>(), "generate:diffusion:6");
  const Context<host> ctx;
  const std::vector<BenchLine> lines = measured(ctx, a, choose_contenders<double>(ctx, {"csr", "csr:alg2", "ehyb"}));
  CHECK(lines[1].same_as == "csr");
  CHECK(lines[1].warm == lines[0].warm);
  CHECK(lines[1].setup_seconds() > 0);
  CHECK(lines[2].same_as.empty());
}

TEST_CASE("The oracle allows what rounding allows and nothing else", "[bench]") {
  const Csr<double, host> a = matrix_of(testing::from_rows(2, {{{0, 2.0}, {1, 4.0}}, {}}));
  const bench::ProductOracle<double> oracle(Context<host>(), a, {1.0, -0.5});
  const double bound = (2 + 3) * std::numeric_limits<double>::epsilon() * 4;  // |A||x| = 4, A x = 0
  CHECK(oracle.worst({0, 0}, 1) == 0);
  CHECK(oracle.worst({bound / 2, 0}, 1) == Approx(0.5));
  CHECK(oracle.worst({4 * bound, 0}, 2) == Approx(2));
  CHECK(std::isinf(oracle.worst({0, 1e-300}, 1)));  // a row without entries is 0
  CHECK(std::isinf(oracle.worst({std::nan(""), 0}, 1)));
  CHECK(std::isinf(oracle.worst({0}, 1)));
  CHECK(oracle.worst({1.5, 4}, 1, 0.5, {3, 8}) == 0);
}
