// SPDX-License-Identifier: Apache-2.0
// Names of other packages, edit distance, and beginnings.
#include <newel/core/table.hpp>

#include <algorithm>
#include <array>

#include <newel/core/error.hpp>

namespace newel {
namespace {

// What one thing is called here, in every interface, and what other packages and programs call it: an option of a
// command line, a keyword, or a name of one of the tables. All canonical. Whichever is given, one of ours is meant,
// the first that is among the names.
struct Synonyms {
  std::array<std::string_view, 3> ours;
  std::array<std::string_view, 8> theirs;
};

constexpr Synonyms synonyms[] = {
    {{"a"}, {"matrix", "operator"}},
    {{"rhs", "b"}, {"righthandside"}},
    {{"out"}, {"o", "x", "output", "outdir", "outputdir", "solution", "save"}},
    {{"guess", "x0"}, {"initialguess", "x", "start"}},
    {{"rtol", "tol"}, {"tolerance", "reltol", "eps"}},
    {{"atol"}, {"abstol"}},
    {{"maxiterations", "maxiter"}, {"maxiters", "maxit", "maxits", "iterations", "niter", "itmax"}},
    {{"timelimit"}, {"timeout", "maxtime", "time"}},
    {{"precond", "preconditioner", "m"}, {"prec", "pc", "pctype", "m1", "pl"}},
    {{"solver"}, {"method", "krylov", "ksp", "ksptype", "accel", "linearsolver"}},
    {{"restart"}, {"restrt", "innerm", "gmresrestart"}},
    {{"amgvectors", "nearnullspace"}, {"modes"}},
    {{"coordinates"}, {"coords", "nodes", "points", "vertices"}},
    {{"threads"}, {"nthreads", "numthreads", "nproc", "njobs", "workers", "j", "t"}},
    {{"device"}, {"gpu", "cuda", "cpu", "backend"}},
    {{"precision"}, {"dtype", "float"}},
    {{"callback"}, {"cb", "monitor", "progress"}},
    {{"raiseonfailure"}, {"raiseonerror", "check"}},
    {{"values"}, {"data"}},
    {{"report"}, {"json", "log"}},
    {{"quiet"}, {"silent", "q"}},
    {{"version"}, {"v"}},
    {{"dt"}, {"timestep"}},
    {{"duration"}, {"tend", "endtime"}},
    {{"resume"}, {"restartfrom", "continue"}},
    {{"params", "options"}, {"parameters", "config", "amgoptions"}},
    // names of the tables
    {{"cuda"}, {"gpu"}},
    {{"host"}, {"cpu"}},
    {{"cg"}, {"pcg"}},
    {{"gmres"}, {"lgmres"}},
    {{"minres"}, {"symmlq", "minresqlp"}},
    {{"bicgstab"}, {"bcgs", "bicg", "cgs"}},
    {{"fgmres"}, {"flexiblegmres", "gcr"}},
    {{"idrs"}, {"idr", "bicgstabl", "bcgsl"}},
    {{"fsai"}, {"ic", "icc", "ichol", "ic0"}},
    {{"spai"}, {"ilu", "ilu0", "ilut", "iluk", "spilu"}},
    {{"jacobi"}, {"diag", "diagonal"}},
    {{"blockjacobi"}, {"bjacobi", "pbjacobi"}},
    {{"amg"}, {"multigrid", "mg", "gamg", "boomeramg", "smoothedaggregation"}},
    {{"none"}, {"no", "off", "identity"}},
    {{"ehyb"}, {"hyb"}},
    {{"ellwarp"}, {"ell", "sell"}},
    {{"bce"}, {"bsr"}},
    {{"double"}, {"float64", "fp64"}},
    {{"single"}, {"float", "float32", "fp32"}},
};

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
std::size_t edits_between(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> edits((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return edits[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return edits.back();
}

const std::string* find_canonical(std::string_view canonical, const std::vector<std::string>& names) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const std::string& name) { return canonical_name(name) == canonical; });
  return found == names.end() ? nullptr : &*found;
}

const std::string* find_synonym(const std::string& canonical, const std::vector<std::string>& names) {
  for (const Synonyms& row : synonyms) {
    if (!contains(row.ours, canonical) && !contains(row.theirs, canonical)) continue;
    for (const std::string_view ours : row.ours) {
      const std::string* const found = ours.empty() ? nullptr : find_canonical(ours, names);
      if (found != nullptr) return found;
    }
  }
  return nullptr;
}

std::string fewest_edits(std::string_view given, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 200;  // what is longer is no name, and would take a while
  std::string nearest;
  if (given.size() > longest) return nearest;
  // Of one letter nothing is left by an edit.
  std::size_t fewest = std::min(std::max<std::size_t>(given.size() / 3, 1) + 1, given.size());
  for (const std::string& name : names) {
    const std::size_t edits = edits_between(given, name);
    if (edits < fewest) {
      fewest = edits;
      nearest = name;
    }
  }
  return nearest;
}

// The shortest name that begins with what was given, or the longest that it begins with.
std::string same_beginning(const std::string& canonical, const std::vector<std::string>& names) {
  constexpr std::size_t least = 3;
  std::string longer, shorter;
  for (const std::string& name : names) {
    const std::string other = canonical_name(name);
    if (std::min(canonical.size(), other.size()) < least) continue;
    if (other.rfind(canonical, 0) == 0 && (longer.empty() || name.size() < longer.size())) longer = name;
    if (canonical.rfind(other, 0) == 0 && name.size() > shorter.size()) shorter = name;
  }
  return longer.empty() ? shorter : longer;
}

}  // namespace

std::string nearest_name(std::string_view given, const std::vector<std::string>& names) {
  const std::string canonical = canonical_name(given);
  if (canonical.empty()) return "";
  if (const std::string* found = find_canonical(canonical, names)) return *found;
  if (const std::string* found = find_synonym(canonical, names)) return *found;
  const std::string by_edits = fewest_edits(given, names);
  return by_edits.empty() ? same_beginning(canonical, names) : by_edits;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(given, names);
  return nearest.empty() ? "" : " (did you mean " + nearest + "?)";
}

void refuse_unknown(const std::string& kind, std::string_view given, const std::vector<std::string>& names,
                    const std::string& more) {
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  throw InputError("unknown " + kind + " '" + std::string(given) + "'" + did_you_mean(given, names) +
                   "; expected one of: " + known + more);
}

}  // namespace newel
