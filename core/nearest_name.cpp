// SPDX-License-Identifier: Apache-2.0
// Names of other packages, edit distance, and beginnings.
#include <purlin/core/nearest_name.hpp>

#include <algorithm>
#include <array>

#include <purlin/core/error.hpp>
#include <purlin/core/table.hpp>

namespace purlin::detail {
namespace {

// What other packages and programs call it, and what it is here: an option of a command line or a keyword, or a name
// of one of the tables. Canonical; of several with one name the first that is among the names.
struct OtherName {
  std::string_view theirs, ours;
};

constexpr std::array other_names = {
    OtherName{"b", "rhs"},
    OtherName{"righthandside", "rhs"},
    OtherName{"o", "out"},
    OtherName{"x", "out"},
    OtherName{"output", "out"},
    OtherName{"outdir", "out"},
    OtherName{"outputdir", "out"},
    OtherName{"solution", "out"},
    OtherName{"save", "out"},
    OtherName{"x0", "guess"},
    OtherName{"initialguess", "guess"},
    OtherName{"initialguess", "x0"},
    OtherName{"guess", "x0"},
    OtherName{"tol", "rtol"},
    OtherName{"tolerance", "rtol"},
    OtherName{"reltol", "rtol"},
    OtherName{"tolerance", "tol"},
    OtherName{"rtol", "tol"},
    OtherName{"reltol", "tol"},
    OtherName{"eps", "rtol"},
    OtherName{"eps", "tol"},
    OtherName{"abstol", "atol"},
    OtherName{"maxiter", "maxiterations"},
    OtherName{"maxiters", "maxiterations"},
    OtherName{"maxit", "maxiterations"},
    OtherName{"maxits", "maxiterations"},
    OtherName{"iterations", "maxiterations"},
    OtherName{"niter", "maxiterations"},
    OtherName{"itmax", "maxiterations"},
    OtherName{"timeout", "timelimit"},
    OtherName{"maxtime", "timelimit"},
    OtherName{"preconditioner", "precond"},
    OtherName{"precond", "preconditioner"},
    OtherName{"pc", "precond"},
    OtherName{"pc", "preconditioner"},
    OtherName{"pctype", "precond"},
    OtherName{"pctype", "preconditioner"},
    OtherName{"m", "precond"},
    OtherName{"m", "preconditioner"},
    OtherName{"method", "solver"},
    OtherName{"ksp", "solver"},
    OtherName{"ksptype", "solver"},
    OtherName{"nearnullspace", "amgvectors"},
    OtherName{"nthreads", "threads"},
    OtherName{"numthreads", "threads"},
    OtherName{"nproc", "threads"},
    OtherName{"j", "threads"},
    OtherName{"t", "threads"},
    OtherName{"gpu", "device"},
    OtherName{"cuda", "device"},
    OtherName{"cpu", "device"},
    OtherName{"dtype", "precision"},
    OtherName{"float", "precision"},
    OtherName{"json", "report"},
    OtherName{"log", "report"},
    OtherName{"silent", "quiet"},
    OtherName{"q", "quiet"},
    OtherName{"v", "version"},
    OtherName{"timestep", "dt"},
    OtherName{"tend", "duration"},
    OtherName{"endtime", "duration"},
    OtherName{"restartfrom", "resume"},
    OtherName{"continue", "resume"},
    OtherName{"parameters", "params"},
    OtherName{"config", "params"},
    // names of the tables
    OtherName{"gpu", "cuda"},
    OtherName{"cpu", "host"},
    OtherName{"pcg", "cg"},
    OtherName{"minres", "gmres"},
    OtherName{"fgmres", "gmres"},
    OtherName{"lgmres", "gmres"},
    OtherName{"bcgs", "bicgstab"},
    OtherName{"bicg", "bicgstab"},
    OtherName{"cgs", "bicgstab"},
    OtherName{"ic", "fsai"},
    OtherName{"icc", "fsai"},
    OtherName{"ichol", "fsai"},
    OtherName{"ic0", "fsai"},
    OtherName{"ilu", "spai"},
    OtherName{"ilu0", "spai"},
    OtherName{"ilut", "spai"},
    OtherName{"iluk", "spai"},
    OtherName{"spilu", "spai"},
    OtherName{"diag", "jacobi"},
    OtherName{"diagonal", "jacobi"},
    OtherName{"multigrid", "amg"},
    OtherName{"mg", "amg"},
    OtherName{"gamg", "amg"},
    OtherName{"boomeramg", "amg"},
    OtherName{"smoothedaggregation", "amg"},
    OtherName{"no", "none"},
    OtherName{"off", "none"},
    OtherName{"identity", "none"},
    OtherName{"hyb", "ehyb"},
    OtherName{"ell", "ellwarp"},
    OtherName{"sell", "ellwarp"},
    OtherName{"bsr", "bce"},
    OtherName{"float64", "double"},
    OtherName{"fp64", "double"},
    OtherName{"float", "single"},
    OtherName{"float32", "single"},
    OtherName{"fp32", "single"},
};

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

const std::string* find_other(const std::string& canonical, const std::vector<std::string>& names) {
  for (const OtherName& other : other_names) {
    if (other.theirs != canonical) continue;
    if (const std::string* found = find_canonical(other.ours, names)) return found;
  }
  return nullptr;
}

std::string fewest_edits(std::string_view given, const std::vector<std::string>& names) {
  constexpr std::size_t longest = 200;  // what is longer is no name, and would take a while
  std::string nearest;
  if (given.size() > longest) return nearest;
  std::size_t fewest = std::max<std::size_t>(given.size() / 3, 1) + 1;
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
  if (const std::string* found = find_other(canonical, names)) return *found;
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
  throw InputError("there is no " + kind + " '" + std::string(given) + "'" + did_you_mean(given, names) +
                   "; there are: " + known + more);
}

}  // namespace purlin::detail
