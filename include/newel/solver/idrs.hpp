// SPDX-License-Identifier: Apache-2.0
/// The preconditioned IDR(s) method, for any square A.
#pragma once

#include <newel/solver/recurrence_solver.hpp>

namespace newel {

/// The options of IDR(s).
struct IdrsOptions {
  int s = 4;  ///< the number of shadow vectors, 1 to 8
};

/// Its row in the table of solvers.
SolverMethod idrs_method();

/// M. B. van Gijzen and P. Sonneveld, "Algorithm 913: An Elegant IDR(s) Variant that Efficiently Exploits
/// Biorthogonality Properties", ACM Trans. Math. Softw. 38 (2011), with right preconditioning. The products with the
/// shadow vectors are made together, as in T. P. Collignon and M. B. van Gijzen, "Minimizing synchronization in
/// IDR(s)", Numer. Linear Algebra Appl. 18 (2011).
///
/// An iteration is one product with A. After s of them, another shrinks the space of residuals. In exact arithmetic
/// n + n/s iterations suffice. Its factor omega is bounded as in G. L. G. Sleijpen and H. A. van der Vorst,
/// "Maintaining convergence properties of BiCGstab methods in finite precision arithmetic", Numer. Algorithms 10
/// (1995), with 0.7.
///
/// The shadow vectors are pseudo-random and the same in every run, whatever the number of threads; entry i belongs to
/// row i of the whole system, however many ranks share it. If a shadow vector is orthogonal to its direction or omega
/// vanishes, the recurrence restarts with r = b - A x and other shadow vectors, at most five times; then the solve
/// ends with `breakdown`. A solve that does not converge returns the best x seen, which is updated every 16
/// iterations.
template <class T, Space S>
class Idrs final : public RecurrenceSolver<T, S> {
 public:
  /// Work vectors for `n` unknowns: 3 s + 4 of length n; s is at most n. Throws InputError if s is not in 1 to 8.
  Idrs(const Context<S>& ctx, Index n, int s = 4);

  std::string_view name() const override { return "idrs"; }
};

}  // namespace newel
