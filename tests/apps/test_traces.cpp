// SPDX-License-Identifier: Apache-2.0
// What the automatic choice does on real systems, move by move, as it was recorded: a change of the code that is not
// meant to change decisions or results leaves the records equal.
#include "tests/catch.hpp"

#include <iomanip>
#include <regex>

#include "apps/newel/input/input_matrix.hpp"

#include <newel/core/machine.hpp>
#include <newel/solver/factorisations.hpp>
#include <newel/solver/linear_system.hpp>

namespace {

// Where the sources lie; NEWEL_TEST_SOURCE says it on a machine where they were not built.
std::string source(const std::string& path) {
  const char* const elsewhere = std::getenv("NEWEL_TEST_SOURCE");
  return (elsewhere != nullptr ? elsewhere : NEWEL_SOURCE) + ("/" + path);
}

// With their own solutions in mind: small ones, those of the table of regrets, and files that come with the program.
const std::vector<std::string> generated = {
    "generate:diffusion:6",        "generate:elasticity:5",    "generate:convection:8:50",
    "generate:grid7:12",           "generate:diffusion:24",    "generate:diffusion:40",
    "generate:elasticity:14",      "generate:elasticity:20",   "generate:grid7:40",
    "generate:grid7:60",           "generate:convection:24:1", "generate:convection:24:50",
    "generate:convection:24:1000", "generate:convection:40:50"};
// For a device, which has solved those above before much is learnt.
const std::vector<std::string> large = {
    "generate:elasticity:30",     "generate:diffusion:50",       "generate:convection:50:1",
    "generate:convection:50:50",  "generate:convection:50:1000", "generate:elasticity:68",
    "generate:diffusion:134",     "generate:grid7:180",          "generate:convection:134:1",
    "generate:convection:134:50", "generate:convection:134:1000"};
const std::vector<std::string> included = {
    "bending_beam.mtx", "cantilever_beam.mtx.gz", "lossless_line.mtx", "reactions.mtx", "recycle.mtx", "truss.mtx"};
const std::vector<std::string> meshes = {"part_winkel.mesh.gz:diffusion:0",
                                         "part_winkel.mesh.gz:elasticity:0",
                                         "part_wheelset.mesh.gz:diffusion:1",
                                         "part_wheelset.mesh.gz:elasticity:0",
                                         "heart_biVentCoarse.mesh.gz:diffusion:0",
                                         "heart_biVentMedium.mesh.gz:diffusion:0",
                                         "heart_human60.mesh.gz:diffusion:0",
                                         "gargoyle.mesh.gz:diffusion:0",
                                         "em_stump.mesh.gz:diffusion:0"};
const std::vector<std::string> matrices = {"teko_lsc_F.mtx.gz",         "ginkgo_multigrid_A.mtx.gz",
                                           "rheolef_solver_tst.mtx.gz", "ani5_crop.mtx.gz",
                                           "shallow_water1.mtx.gz",     "xenon1.mtx.gz"};

// FNV-1a of the bits.
std::string bits_of(const std::vector<double>& x) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const double value : x) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211ull;
  }
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << hash;
  return text.str();
}

template <Space S>
Csr<double, S> copied(const Context<S>& ctx, const Csr<double, Space::host>& a) {
  const auto to = [&](const auto& array) {
    return upload(ctx, std::vector(array.data(), array.data() + array.size()));
  };
  return {a.rows, a.cols, to(a.row_ptr), to(a.col), to(a.val)};
}

// Two solves, new values, two solves: a line each.
template <Space S>
std::string trace(const std::string& system) {
  const Context<Space::host> host(S == Space::host ? 1 : 0);
  const Context<S> ctx = make_context<S>(1);
  const cli::InputMatrix input = cli::load_matrix(host, system);
  const auto& a = input.a;
  SystemOptions options;
  options.deterministic = true;  // by a profile, whatever the processor
  options.spmv.coordinates = cli::read_coordinates(host, "", input);
  const Csr<double, S> matrix = copied(ctx, a);
  LinearSystem<double, S> solver(ctx, matrix, options);
  std::vector<double> ones(static_cast<std::size_t>(a.rows)), b(ones.size());
  for (std::size_t i = 0; i < ones.size(); ++i) ones[i] = 1 + static_cast<double>(i % 7);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      b[static_cast<std::size_t>(i)] += a.val[k] * ones[static_cast<std::size_t>(a.col[k])];
    }
  }
  const Array<double, S> right = upload(ctx, b);
  std::ostringstream lines;
  for (int k = 1; k <= 4; ++k) {
    if (k == 3) solver.refresh(matrix.val.cspan());
    Array<double, S> xs = upload(ctx, std::vector<double>(b.size(), 0.0));
    const SolveReport report = solver.solve(right.cspan(), xs.span());
    const std::vector<double> x = download(ctx, xs);
    const SystemInfo info = solver.info();
    // Estimates of what is to come are no decisions.
    const std::string changed = std::regex_replace(report.changed, std::regex(", with (about )?[^;]*? to go"), "");
    lines << "  " << k << " " << name_of(report.status) << " " << report.solver << " " << report.iterations << ", "
          << info.matrix.name << " " << info.preconditioner.name << (changed.empty() ? "" : ", ") << changed << ", x "
          << bits_of(x) << "\n";
  }
  return lines.str();
}

std::string without_bits(const std::string& lines) {
  return std::regex_replace(lines, std::regex(", x [0-9a-f]{16}"), "");
}

std::string outcomes(const std::string& lines) {
  return std::regex_replace(lines, std::regex(" [0-9]+, [^\n]*"), "");
}

// What decisions depend on: the cost model is the same on all hosts, caches, the compiler's order of sums and
// libraries of factors are not; a device has a model of its own. What the order of sums depends on besides: the
// instructions that a compiler may use.
template <Space S>
std::string decided_by() {
  const Machine machine = machine_of(make_context<S>(1));
  if (S == Space::device) return "device " + machine.name;
  std::string found = "caches " + std::to_string(machine.cache_bytes) + " " +
                      std::to_string(machine.shared_cache_bytes) + ", compiler " NEWEL_COMPILED_BY;
  for (const Factorisation& factors : factorisations()) {
    if (factors.missing.empty()) found += ", " + factors.title;
  }
  return found;
}

template <Space S>
std::string summed_by() {
  if (S == Space::device) return "multiprocessors " + std::to_string(machine_of(make_context<S>()).processors);
  std::ifstream facts("/proc/cpuinfo");
  for (std::string line; std::getline(facts, line);) {
    if (line.rfind("flags", 0) != 0) continue;
    std::string found = "instructions";
    for (const std::string one : {"fma", "avx2", "avx512f"}) {
      if (contains(line, " " + one)) found += " " + one;
    }
    return found;
  }
  return "instructions unknown";
}

std::map<std::string, std::string> read_records(const std::string& records) {
  std::ifstream file(records);
  std::map<std::string, std::string> found;
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("  ", 0) == 0) {
      found[name] += line + "\n";
    } else if (!line.empty() && line[0] != '#') {
      name = line;
    }
  }
  return found;
}

// With NEWEL_WRITE_TRACES the records are made anew. On another machine, status and solver are compared.
template <Space S>
void compare(const std::vector<std::string>& systems, const std::string& prefix) {
  const char* const to = std::getenv("NEWEL_WRITE_TRACES");
  const std::string here = "  " + decided_by<S>() + "\n  " + summed_by<S>() + "\n";
  if (to != nullptr && std::ofstream(to, std::ios::app).tellp() == 0) {
    std::ofstream(to, std::ios::app) << "recorded on\n" << here;
  }
  const auto recorded = read_records(source("tests/apps/traces_" + std::string(name_of(S)) + ".txt"));
  const auto on = recorded.find("recorded on");
  const bool same_decisions = on != recorded.end() && contains(on->second, decided_by<S>() + "\n");
  const bool same_machine = on != recorded.end() && on->second == here;
  for (const std::string& system : systems) {
    const std::string now = trace<S>(prefix + system);
    if (to != nullptr) {
      std::ofstream(to, std::ios::app) << system << "\n" << now;
      continue;
    }
    INFO(system);
    const auto found = recorded.find(system);
    REQUIRE(found != recorded.end());
    const std::string& before = found->second;
    if (same_machine) CHECK(now == before);
    if (same_decisions) CHECK(without_bits(now) == without_bits(before));
    CHECK(outcomes(now) == outcomes(before));
  }
}

}  // namespace

TEST_CASE("Generated systems are solved with the moves that were recorded", "[traces]") {
  compare<Space::host>(generated, "");
}
TEST_CASE("Systems that are included are solved with the moves that were recorded", "[traces]") {
  compare<Space::host>(included, NEWEL_SOURCE "/apps/data/");
}
TEST_CASE("Bodies are solved with the moves that were recorded", "[traces][data]") {
  if (skipped_without_data()) return;
  compare<Space::host>(meshes, "mesh:" + data_folder() + "/meshes/");
}
TEST_CASE("Real matrices are solved with the moves that were recorded", "[traces][data]") {
  if (skipped_without_data()) return;
  compare<Space::host>(matrices, data_folder() + "/matrices/");
}
#if NEWEL_HAS_CUDA
// With NEWEL_TEST_LARGE also of large systems, which take minutes under a sanitizer.
TEST_CASE("A device makes the moves that were recorded", "[traces][device]") {
  compare<Space::device>(generated, "");
  if (std::getenv("NEWEL_TEST_LARGE") != nullptr) compare<Space::device>(large, "");
}
#endif
