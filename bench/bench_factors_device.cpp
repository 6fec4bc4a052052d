// SPDX-License-Identifier: Apache-2.0
// newel_bench_factors: ILU(0) on a device, its factorisations and applications beside those of cuSPARSE.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include <newel/precond/incomplete/incomplete_options.hpp>
#include <newel/precond/registry.hpp>
#include <newel/reorder/row_order.hpp>
#include <newel/spmv/registry.hpp>

#include "comparison.hpp"
#include "cusparse_factors_device.hpp"
#include "machine_facts.hpp"
#include "precond/incomplete/incomplete.hpp"
#include "timer.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host, device = Space::device;

struct Options {
  std::vector<std::string> systems = {"generate:grid7:64", "generate:convection:64", "generate:elasticity:24"};
  FactorOrder order = FactorOrder::automatic;
  int repeats = 9;
  std::string report;
};

const std::map<std::string, FactorOrder>& orders() {
  static const std::map<std::string, FactorOrder> all = {{"auto", FactorOrder::automatic},
                                                         {"natural", FactorOrder::natural},
                                                         {"rcm", FactorOrder::rcm},
                                                         {"colours", FactorOrder::colours}};
  return all;
}

bool has_full_diagonal(const Csr<double, host>& a) {
  for (Index i = 0; i < a.rows; ++i) {
    if (!std::binary_search(a.col.data() + a.row_ptr[i], a.col.data() + a.row_ptr[i + 1], i)) return false;
  }
  return true;
}

std::unique_ptr<IncompleteOperator<double, device>> factors_of(const Context<device>& ctx,
                                                               const CsrView<double, device>& a, FactorOrder order,
                                                               int sweeps) {
  detail::FactorRecipe recipe;
  recipe.name = "ilu";
  recipe.text = "ILU(0)";
  recipe.factors = {order, sweeps};
  return std::make_unique<IncompleteOperator<double, device>>(ctx, a, RowOrder<device>{}, recipe);
}

// Calls that take about 20 ms together.
int calls_for(const Timer<device>& timer, const Work& work) {
  constexpr double enough = 0.02;
  return std::clamp(static_cast<int>(enough / std::max(timer.back_to_back(3, work), 1e-7)), 3, 1000);
}

struct Measured {
  Samples apply, sweep, product, factorise, rival_apply, rival_factorise;
  double difference = 0;  ///< of the two results, relative
};

double relative_difference(const std::vector<double>& x, const std::vector<double>& y) {
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    apart = std::max(apart, std::fabs(x[i] - y[i]));
    largest = std::max(largest, std::fabs(y[i]));
  }
  return largest > 0 ? apart / largest : apart;
}

// Our factors and those of cuSPARSE, which gets the matrix in the order of ours.
class Comparison {
 public:
  Comparison(const Context<device>& ctx, const Csr<double, host>& a, FactorOrder order)
      : ctx_(ctx),
        matrix_(make_csr(ctx, CsrView<double, host>(a))),
        ours_(factors_of(ctx, matrix_, order, 0)),
        swept_(factors_of(ctx, matrix_, order, 2)),
        product_(make_spmv(ctx, CsrView<double, device>(matrix_), RowOrder<device>{}, SpmvOptions{})),
        order_(make_row_order(ctx, to_vector(ctx, ours_->factors().rows().of_vectors.cspan()))),
        permuted_(permute(ctx, CsrView<double, device>(matrix_), order_)),
        x_(make_array(ctx, random_vector(a.rows))),
        x_in_order_(in_order(x_)),
        y_(ctx, a.rows),
        z_(ctx, a.rows) {
    if (!has_full_diagonal(a)) {
      refusal_ = "a diagonal entry is missing";
      return;
    }
    try {
      rival_ = std::make_unique<CusparseFactors>(ctx, permuted_.view());
    } catch (const std::exception& failure) {
      refusal_ = failure.what();
    }
  }

  OperatorInfo info() const { return ours_->info(); }
  const CusparseFactors* rival() const { return rival_.get(); }
  const std::string& refusal() const { return refusal_; }

  Measured measure(int repeats) {
    const Timer<device> timer(ctx_);
    Measured found;
    std::vector<Run> runs;
    std::vector<Samples*> to;
    const auto add = [&](const Work& work, Samples& samples) {
      const int calls = calls_for(timer, work);
      runs.emplace_back([&timer, calls, work] { return timer.back_to_back(calls, work); });
      to.push_back(&samples);
    };
    add([&] { ours_->apply(ctx_, 1, x_.cspan(), 0, y_.span()); }, found.apply);
    add([&] { swept_->apply(ctx_, 1, x_.cspan(), 0, z_.span()); }, found.sweep);
    add([&] { product_->apply(ctx_, 1, x_.cspan(), 0, z_.span()); }, found.product);
    add([&] { ours_->refresh(ctx_, matrix_.val.cspan()); }, found.factorise);
    if (rival_ != nullptr) {
      found.difference = difference();
      add([&] { rival_->solve(x_in_order_.cspan(), z_.span()); }, found.rival_apply);
      add([&] { rival_->factorise(permuted_.matrix.val.cspan()); }, found.rival_factorise);
    }
    const std::vector<Samples> samples = alternate(runs, repeats);
    for (std::size_t i = 0; i < to.size(); ++i) *to[i] = samples[i];
    return found;
  }

 private:
  Array<double, device> in_order(const Array<double, device>& vector) const {
    Array<double, device> moved(ctx_, vector.size());
    gather<double, device>(ctx_, vector.cspan(), order_.old_of_new.cspan(), moved.span());
    return moved;
  }

  double difference() {
    ours_->apply(ctx_, 1, x_.cspan(), 0, y_.span());
    rival_->solve(x_in_order_.cspan(), z_.span());
    return relative_difference(to_vector(ctx_, in_order(y_).cspan()), to_vector(ctx_, z_.cspan()));
  }

  const Context<device>& ctx_;
  Csr<double, device> matrix_;
  std::unique_ptr<IncompleteOperator<double, device>> ours_, swept_;
  OperatorPtr<double, device> product_;
  RowOrder<device> order_;
  PermutedCsr<double, device> permuted_;
  Array<double, device> x_, x_in_order_, y_, z_;
  std::unique_ptr<CusparseFactors> rival_;
  std::string refusal_;
};

void print(const std::string& spec, const OperatorInfo& info, const Measured& found) {
  std::printf("%-40s %9d rows %6.0f levels  apply %s us  factorise %s us", spec.c_str(), info.rows,
              info.figure("levels").value_or(0), spread(found.apply, 1e6).c_str(),
              spread(found.factorise, 1e6).c_str());
  if (!found.rival_apply.empty()) {
    std::printf("  cuSPARSE %s us, %s us", spread(found.rival_apply, 1e6).c_str(),
                spread(found.rival_factorise, 1e6).c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

Json measured_system(const std::string& spec, const Options& options) {
  const Context<device> ctx;
  const Csr<double, host> a = system_of(spec);
  Comparison comparison(ctx, a, options.order);
  const OperatorInfo info = comparison.info();
  const Measured found = comparison.measure(options.repeats);
  print(spec, info, found);
  double setup = 0;
  for (const auto& phase : info.setup_seconds) setup += phase.second;
  Json result{{"system", spec},
              {"rows", a.rows},
              {"nonzeros", a.nnz()},
              {"detail", info.detail},
              {"levels", info.figure("levels").value_or(0)},
              {"bounded_pivots", info.figure("bounded pivots").value_or(0)},
              {"setup_milliseconds", 1e3 * setup},
              {"apply_microseconds", summary(found.apply, 1e6)},
              {"two_sweeps_microseconds", summary(found.sweep, 1e6)},
              {"product_microseconds", summary(found.product, 1e6)},
              {"factorise_microseconds", summary(found.factorise, 1e6)}};
  if (comparison.rival() == nullptr) {
    result["cusparse"] = comparison.refusal();
    return result;
  }
  result["cusparse"] = {{"setup_milliseconds", 1e3 * comparison.rival()->setup_seconds()},
                        {"apply_microseconds", summary(found.rival_apply, 1e6)},
                        {"factorise_microseconds", summary(found.rival_factorise, 1e6)},
                        {"relative_difference", found.difference}};
  result["apply_over_cusparse"] = median(ratios(found.apply, found.rival_apply));
  result["factorise_over_cusparse"] = median(ratios(found.factorise, found.rival_factorise));
  return result;
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "ILU(0) in double on a device beside cuSPARSE's csrilu02 and SpSV on the same matrix in the same order: "
      "microseconds of an application and of a factorisation with new values, median (min .. max)");
  app.add_option("systems", options.systems, "Matrix Market files, or systems as newel generates them")
      ->capture_default_str();
  app.add_option("--order", options.order, "Order of elimination")
      ->transform(CLI::CheckedTransformer(orders(), CLI::ignore_case));
  app.add_option("--repeats", options.repeats, "Repeats of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);
  Json report = report_head("newel_bench_factors", typed_command(argc, argv));
  report.update(machine_facts(Context<device>()));
  return measure_systems(std::move(report), options.systems, options.report,
                         [&](const std::string& spec) { return measured_system(spec, options); });
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, &run); }
