// SPDX-License-Identifier: Apache-2.0
// newel_bench_recycle: sequences of systems with a few very small eigenvalues, whose solves by CG or GMRES deflate
// vectors of the solves before, or do not.
#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

#include <newel/config.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/solver/linear_system.hpp>

#include "apps/fem/assembly.hpp"
#include "machine_facts.hpp"
#include "measure.hpp"
#include "sequence_figures.hpp"

namespace {

using namespace newel;
using namespace newel::bench;
constexpr Space host = Space::host;

struct Options {
  std::string place = NEWEL_HAS_CUDA == 1 ? "cuda" : "host", report;
  std::vector<std::string> problems = {"outliers", "jumps",   "bodies", "slivers",
                                       "springs",  "slender", "smooth", "wind"};
  std::vector<std::string> values = {"0", "8", "16", "32", "auto"};
  std::string precond;
  Index side = 24;
  int solves = 60, refresh = 10, threads = 0;
  double rel_tol = 1e-8;
};

/// A matrix, with what a preconditioner may know of it.
struct Problem {
  fem::HostCsr a;
  std::string precond;
  std::shared_ptr<NodeCoordinates> nodes;
  std::string solver = "cg";
};

std::shared_ptr<NodeCoordinates> coordinates_of(const fem::TetMesh& mesh) {
  auto nodes = std::make_shared<NodeCoordinates>();
  for (const fem::Point& at : mesh.nodes) nodes->xyz.insert(nodes->xyz.end(), at.begin(), at.end());
  return nodes;
}

void add_to_diagonal(fem::HostCsr& a, const std::function<double(Index row)>& what) {
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_ptr[i]; e < a.row_ptr[i + 1]; ++e) {
      if (a.col[e] == i) a.val[e] += what(i);
    }
  }
}

fem::Tensor isotropic(double value) { return {{{value, 0, 0}, {0, value, 0}, {0, 0, value}}}; }

// Which of 4 x 4 x 4 blocks a point of the unit cube lies in, or -1 between them.
int block_at(const fem::Point& at) {
  int block = 0;
  for (const double x : at) {
    const double cell = 4 * std::min(x, 0.9999), part = cell - std::floor(cell);
    if (part < 0.2 || part > 0.8) return -1;
    block = 4 * block + static_cast<int>(cell);
  }
  return block;
}

// Conductivity 1 with stiff or loose blocks in it.
Problem diffusion_with_blocks(const Context<host>& ctx, Index side, double inside, const std::string& precond) {
  const fem::TetMesh mesh = fem::make_cube(ctx, side, {0.1, true});
  fem::DiffusionOptions options;
  options.conductivity = [=](Index, const fem::Point& at) { return isotropic(block_at(at) % 3 == 0 ? inside : 1.0); };
  options.clamped = [](Index, const fem::Point& at) { return at[2] == 0; };
  return {fem::assemble_diffusion(ctx, mesh, options), precond, coordinates_of(mesh)};
}

// The same with a wind towards higher numbers: row sums stay as they are, and symmetry is lost.
Problem diffusion_with_wind(const Context<host>& ctx, Index side, double wind) {
  Problem problem = diffusion_with_blocks(ctx, side, 1e2, "jacobi");
  problem.solver = "gmres";
  fem::HostCsr& a = problem.a;
  for (Index i = 0; i < a.rows; ++i) {
    double moved = 0;
    Offset diagonal = a.row_ptr[i];
    for (Offset e = a.row_ptr[i]; e < a.row_ptr[i + 1]; ++e) {
      if (a.col[e] == i) diagonal = e;
      const double more = a.col[e] == i ? 0 : (a.col[e] > i ? wind : -wind) * a.val[e];
      a.val[e] += more;
      moved += more;
    }
    a.val[diagonal] -= moved;
  }
  return problem;
}

// 12 bodies without contact, each on a soft bed.
Problem bodies_on_springs(const Context<host>& ctx, Index side) {
  fem::TetMesh all;
  const fem::TetMesh one = fem::make_cube(ctx, std::max<Index>(side / 2, 4), {0.1, true});
  for (int body = 0; body < 12; ++body) {
    const Index first = all.node_count();
    for (fem::Point at : one.nodes) at[0] += 2 * body, all.nodes.push_back(at);
    for (fem::Tet tet : one.tets) {
      for (Index& node : tet) node += first;
      all.tets.push_back(tet);
    }
  }
  Problem problem{fem::assemble_diffusion(ctx, all), "fsai", coordinates_of(all)};
  const Index rows = one.node_count();
  add_to_diagonal(problem.a, [=](Index row) { return 1e-6 * (1 + row / rows) / rows; });
  return problem;
}

Problem elasticity(const Context<host>& ctx, const fem::TetMesh& mesh, const std::string& precond,
                   const fem::NodeFilter& clamped) {
  return {fem::assemble_elasticity(ctx, mesh, 1, 0.3, clamped), precond, coordinates_of(mesh)};
}

// Moves a corner of a tetrahedron towards the opposite face, to a thousandth of its height.
void flatten(fem::TetMesh& mesh, Index tet, int corner) {
  const auto node = [&](int k) -> fem::Point& {
    return mesh.nodes[static_cast<std::size_t>(
        mesh.tets[static_cast<std::size_t>(tet)][static_cast<std::size_t>((corner + k) % 4)])];
  };
  const fem::Point &a = node(1), &b = node(2), &c = node(3);
  fem::Point& top = node(0);
  const double u[] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
  const double normal[] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  double height = 0, length = 0;
  for (std::size_t k = 0; k < 3; ++k) height += normal[k] * (top[k] - a[k]), length += normal[k] * normal[k];
  for (std::size_t k = 0; k < 3; ++k) top[k] -= 0.999 * height / length * normal[k];
}

// A cube with two dozen slivers.
fem::TetMesh with_slivers(const Context<host>& ctx, Index side) {
  fem::TetMesh mesh = fem::make_cube(ctx, side, {0.1, true});
  int made = 0;
  for (Index tet = 0; tet < mesh.tet_count() && made < 24; tet += mesh.tet_count() / 97) {
    for (int corner = 0; corner < 4; ++corner) {
      fem::TetMesh flatter = mesh;
      flatten(flatter, tet, corner);
      if (fem::first_inverted(ctx, flatter) >= 0) continue;
      mesh = std::move(flatter);
      ++made;
      break;
    }
  }
  if (made < 24) throw Error("only " + std::to_string(made) + " slivers");
  return mesh;
}

Problem make_problem(const Context<host>& ctx, const std::string& name, Index side) {
  const auto floor = [](Index, const fem::Point& at) { return at[2] == 0; };
  if (name == "outliers") return diffusion_with_blocks(ctx, side, 1e6, "jacobi");
  if (name == "jumps") return diffusion_with_blocks(ctx, side, 1e6, "fsai");
  if (name == "wind") return diffusion_with_wind(ctx, side, 0.02);
  if (name == "bodies") return bodies_on_springs(ctx, side);
  if (name == "slivers") return elasticity(ctx, with_slivers(ctx, side * 2 / 3), "amg", floor);
  if (name == "slender")
    return elasticity(ctx, fem::make_beam(ctx, side * 4, 5, 5, 40, 1, 1, {0.1, true}), "fsai",
                      [](Index, const fem::Point& at) { return at[0] == 0; });
  if (name == "springs") {
    Problem problem = elasticity(ctx, fem::make_cube(ctx, side * 2 / 3, {0.1, true}), "fsai", {});
    add_to_diagonal(problem.a, [](Index) { return 1e-6; });
    return problem;
  }
  return {fem::grid7(ctx, 2 * side), "amg", {}};
}

struct Figures : SequenceFigures {
  int first = 0, last = 0;  ///< iterations of these solves
};

/// Right-hand sides without relation; all values grow by a tenth now and then.
template <Space S>
Figures run_sequence(const Context<S>& ctx, const Options& options, const Problem& problem,
                     const std::string& recycle, Json& system_json) {
  SystemOptions system;
  system.solver.name = problem.solver;
  system.precond.name = options.precond.empty() ? problem.precond : options.precond;
  system.stop.rel_tol = options.rel_tol;
  system.expected_products = 200.0 * options.solves;
  if (problem.nodes) system.spmv.coordinates = problem.nodes;
  system.solver.of<RecycleOptions>().recycle = recycle;
  const Csr<double, S> a = make_csr(ctx, CsrView<double, host>(problem.a));
  LinearSystem<double, S> solver(ctx, a, system);
  const SystemInfo info = solver.info();
  system_json = {{"rows", solver.rows()},
                 {"nonzeros", info.matrix.nonzeros},
                 {"format", info.matrix.name},
                 {"preconditioner", info.preconditioner.name},
                 {"solver", info.solver}};
  const auto noise = random_vector(std::int64_t{solver.rows()} + options.solves);
  auto x = make_array(ctx, std::vector<double>(static_cast<std::size_t>(solver.rows()), 0.0));
  std::vector<double> values(problem.a.val.data(), problem.a.val.data() + problem.a.val.size());
  Figures figures;
  for (int k = 0; k < options.solves; ++k) {
    if (options.refresh > 0 && k > 0 && k % options.refresh == 0) {
      for (double& value : values) value *= 1.1;
      const auto changed = make_array(ctx, values);
      solver.refresh(changed.cspan());
    }
    const auto b = make_array(ctx, std::vector<double>(noise.begin() + k, noise.begin() + k + solver.rows()));
    ctx.synchronize();
    const auto began = std::chrono::steady_clock::now();
    const SolveReport report = solver.solve(b.cspan(), x.span(), {}, InitialGuess::zero);
    figures.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    if (!report.converged()) throw Error("solve " + std::to_string(k) + ": " + report.reason);
    figures.iterations += report.iterations;
    if (k == 0) figures.first = report.iterations;
    figures.last = report.iterations;
    figures.vectors = std::max(figures.vectors, report.recycle.vectors);
    figures.own_seconds += report.recycle.seconds;
  }
  figures.bytes = ctx.memory()->use().bytes;
  return figures;
}

template <Space S>
Json measured(const Context<host>& on_host, const Context<S>& ctx, const Options& options) {
  Json report = machine_facts(ctx);
  report["solves"] = options.solves;
  report["refreshed_every"] = options.refresh;
  report["rel_tol"] = options.rel_tol;
  for (const std::string& name : options.problems) {
    const Problem problem = make_problem(on_host, name, options.side);
    Json of{{"problem", name}};
    Figures base;
    for (const std::string& value : options.values) {
      Json system;
      const Figures found = run_sequence<S>(ctx, options, problem, value, system);
      if (of["recycle"].empty()) base = found;
      of["system"] = system;
      Json one{{"recycle", value}, {"first_iterations", found.first}, {"last_iterations", found.last}};
      one.update(found.json(base, options.solves, "recycle"));
      of["recycle"].push_back(one);
      found.print(base, options.solves, name + " " + value, "vectors");
    }
    report["sequences"].push_back(of);
  }
  return report;
}

int run(int argc, char* argv[]) {
  Options options;
  CLI::App app(
      "Sequences of solves by CG or GMRES with recycled vectors; the first of --values is what others are compared "
      "with");
  app.add_option("--device", options.place, "host or cuda")->capture_default_str();
  app.add_option("--problems", options.problems, "outliers, jumps, bodies, slivers, springs, slender, smooth, wind")
      ->delimiter(',');
  app.add_option("--values", options.values, "Values of the option recycle")->delimiter(',');
  app.add_option("--side", options.side, "Nodes along an edge")->capture_default_str();
  app.add_option("--precond", options.precond, "Instead of that of each problem");
  app.add_option("--solves", options.solves, "Solves")->capture_default_str();
  app.add_option("--refresh", options.refresh, "Solves between new values; 0: none")->capture_default_str();
  app.add_option("--tol", options.rel_tol, "Relative tolerance")->capture_default_str();
  app.add_option("--threads", options.threads, "Threads of the host; 0: all")->capture_default_str();
  app.add_option("--report", options.report, "Write the figures as JSON");
  CLI11_PARSE(app, argc, argv);
  Json report = report_head("newel_bench_recycle", typed_command(argc, argv));
  const Context<host> on_host(options.threads);
  if (options.place == "host") {
    report.update(measured(on_host, on_host, options));
  } else if constexpr (NEWEL_HAS_CUDA == 1) {
    report.update(measured(on_host, Context<Space::device>(), options));
  } else {
    std::fprintf(stderr, "this build has no CUDA\n");
    return 2;
  }
  if (!options.report.empty()) write_report(options.report, report);
  return 0;
}

}  // namespace

int main(int argc, char* argv[]) { return newel::bench::run_program(argc, argv, &run); }
