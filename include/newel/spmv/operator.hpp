// SPDX-License-Identifier: Apache-2.0
/// LinearOperator: what a Krylov solver multiplies with. MatrixOperator: one made from a CSR matrix, whose values can
/// be replaced.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <newel/core/csr.hpp>
#include <newel/spmv/residual_sums.hpp>

namespace newel {

template <Space S>
struct RowOrder;
struct SpmvOptions;
struct NodeCoordinates;

namespace detail {

/// A number that nothing else in this process has or had. A copy gets its own, and what is assigned to a new one.
class Serial {
 public:
  Serial();
  Serial(const Serial&) : Serial() {}
  Serial& operator=(const Serial&) {
    value_ = Serial().value_;
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_;
};

template <class T, Space S>
struct ResidentView;

}  // namespace detail

template <class T, Space S>
class LinearOperator;

/// What an operator promises to solvers.
template <class T, Space S>
struct OperatorTraits {
  /// A solver may capture `apply`, `apply_dot` and their forms for several vectors in a CUDA graph and replay that
  /// instead of calling them: they do nothing on the host but queue work on the context's stream, and for the same
  /// arguments the same work on the same addresses as long as the object lives and nothing is assigned to it; what
  /// stands at those addresses may change. True of every format and preconditioner of the library.
  bool capturable = false;
  /// `apply` takes far longer than the host needs to look at the state of a solve on a device, as a multigrid cycle
  /// does: the solve is then looked at often enough for hardly an iteration to be made behind its end.
  bool takes_long = false;
  /// It is a multiple of the identity as it stands now, but for half a percent: as a preconditioner it hardly changes
  /// anything but the time that a Krylov method takes.
  bool multiple_of_identity = false;
  /// Of a diagonal matrix, its diagonal as it stands now, so that a solver can multiply with it in a pass that it
  /// makes anyway; valid as long as the operator. Empty for all others.
  Span<const T, S> diagonal = {};
  /// What to apply after A instead, for a preconditioner that keeps some unknowns as they are and would hide their
  /// rows; null: nothing at all.
  std::optional<const LinearOperator<T, S>*> from_left = {};
};

/// A linear map from vectors of length `cols()` to vectors of length `rows()`, in space S.
template <class T, Space S>
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// Lengths of y and of x in y = A x.
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  /// y = alpha A x + beta y. x has length cols(), y length rows(); they do not overlap. With beta = 0, y is not
  /// read. Queued on the context's stream; allocates nothing, does not synchronise, may be captured in a graph, which
  /// is then launched on the context's stream or while that stream is idle.
  virtual void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const = 0;

  /// y = A x and *xy = x.y, in double, in S. For square operators. The default applies, then takes the dot product;
  /// formats that can do both in one pass override it.
  virtual void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const;

  /// Y = alpha A X + beta Y for k = `columns` vectors at once: 1, 2, 4 or 8. The vectors of a batch are interleaved,
  /// value i k + c being entry i of vector c, so that one read of an entry of A can serve all of them; x holds k
  /// cols() values, y k rows(), both aligned to 16 bytes. `work` is memory in S, aligned as an Array is, of
  /// `column_work_bytes(columns)` bytes; what it holds is lost. Otherwise as `apply`. The default multiplies one
  /// vector after the other; CSR and EHYB override it.
  virtual void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                             Span<char, S> work) const;

  /// Y = A X, and xy[c] = x_c.y_c for the k vectors, in double, in S. For square operators.
  virtual void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                                 Span<char, S> work) const;

  /// What the products of `columns` vectors need of memory from their caller.
  virtual std::uint64_t column_work_bytes(int columns) const;

  /// r = b - A x with products and sums in twice the precision of T (in double for single precision), rounded once,
  /// and a bound of what is still lost: what the outcome of a solve is judged by. r may be b, and overlaps x nowhere.
  /// Nothing, the default, and r is not written: the entries are not known. Waits for the stream; allocates nothing
  /// in S; moves what `apply` does. For the library's own solvers.
  virtual std::optional<detail::ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                                       const detail::ResidualScale& scale, Span<T, S> r) const {
    static_cast<void>(ctx), static_cast<void>(b), static_cast<void>(x), static_cast<void>(scale),
        static_cast<void>(r);
    return std::nullopt;
  }

  /// Writes the diagonal of the matrix that this operator stands for to `d`, which has rows() entries, queued on the
  /// stream, and returns true; returns false, the default, and leaves `d` alone where it is not known. Jacobi asks
  /// for it where a LinearSystem is given an operator.
  virtual bool matrix_diagonal(const Context<S>& ctx, Span<T, S> d) const {
    static_cast<void>(ctx), static_cast<void>(d);
    return false;
  }

  /// What solvers may rely on. The default promises nothing, which is always safe.
  virtual OperatorTraits<T, S> traits() const { return {}; }
  bool capturable() const { return traits().capturable; }
  bool takes_long() const { return traits().takes_long; }
  bool is_multiple_of_identity() const { return traits().multiple_of_identity; }
  Span<const T, S> diagonal() const { return traits().diagonal; }
  /// As a preconditioner that is applied after A; null: none.
  const LinearOperator* from_left() const { return traits().from_left.value_or(this); }

  /// What kernels that keep a whole solve on the chip read of it; the default has nothing for them. For the library's
  /// own solvers.
  virtual detail::ResidentView<T, S> resident_view() const;

  /// Identifies this operator among all that exist or existed, also at the same address.
  std::uint64_t serial() const { return serial_.value(); }

 protected:
  /// It stands for something else from now on: what others keep for it they make again.
  void renew_serial() { serial_ = detail::Serial(); }

 private:
  detail::Serial serial_;
};

/// What an operator is made of; `newel info` and the reports print it.
struct OperatorInfo {
  std::string name;         ///< name and variant as in the table
  std::string detail;       ///< one line for people, or empty
  Index rows = 0;           ///< length of y
  Index cols = 0;           ///< length of x
  Offset nonzeros = 0;      ///< stored entries of the matrix
  Offset stored_slots = 0;  ///< values stored, padding included
  double cached_share = 0;  ///< share of entries that read x from a cache that the format manages itself
  /// What one product moves between memory and processor by the format's own count: its arrays once, x and y as often
  /// as the format reads and writes them.
  std::uint64_t bytes_per_product = 0;
  std::vector<std::pair<std::string, double>> figures;  ///< a format's own: parts, halo, threshold, ...
  /// Figures of the levels of a hierarchy, the finest first; empty for all others.
  std::vector<std::vector<std::pair<std::string, double>>> levels;
  std::vector<std::pair<std::string, std::uint64_t>> bytes;   ///< memory by part: values, columns, ...
  std::vector<std::pair<std::string, double>> setup_seconds;  ///< by phase

  /// The first of `figures` with that name; nothing where there is none.
  std::optional<double> figure(std::string_view figure_name) const {
    for (const auto& [of_figure, value] : figures) {
      if (of_figure == figure_name) return value;
    }
    return std::nullopt;
  }
  /// All of `bytes` together.
  std::uint64_t total_bytes() const {
    std::uint64_t total = 0;
    for (const auto& part : bytes) total += part.second;
    return total;
  }
  /// stored_slots / nonzeros - 1; 0 for an empty matrix.
  double padding_ratio() const {
    return nonzeros == 0 ? 0.0 : static_cast<double>(stored_slots) / static_cast<double>(nonzeros) - 1.0;
  }
};

/// The values of an operator where it stores them, for callers who compute them there: an assembly that writes the
/// matrix of every time step in the format's own order needs no CSR values and no `refresh`.
template <class T, Space S>
struct Slots {
  Span<T, S> values;          ///< valid as long as the operator
  std::vector<Offset> entry;  ///< for each slot the caller's CSR entry that belongs there; -1: padding, to stay 0
};

/// An operator built from a CSR matrix: a product format or a preconditioner.
template <class T, Space S>
class MatrixOperator : public LinearOperator<T, S> {
 public:
  /// Replaces the values and keeps the structure: `values` are the caller's CSR values, in the order of the matrix
  /// that the operator was built from (of the matrix that its value map points into, where it had one). Allocates
  /// nothing. Throws InputError when the count differs; preconditioners also if they do not support the values, for
  /// which they wait on the stream.
  virtual void refresh(const Context<S>& ctx, Span<const T, S> values) = 0;

  /// Where `refresh` writes values; an entry that the operator does not read has no slot. The default, for operators
  /// whose values callers cannot write: throws InputError. Waits on the stream.
  virtual Slots<T, S> slots(const Context<S>& ctx);

  /// To be called when all slots that belong to an entry have been written, on the context's stream: the rest of
  /// `refresh`, with the same errors. Formats have nothing left to do.
  virtual void slots_written(const Context<S>& ctx);

  /// Where the nodes of the mesh lie from now on, for an operator that was made with their coordinates, as many as
  /// these: taken into account by the next `refresh`. The default, for those that do not depend on them, does
  /// nothing.
  virtual void move_nodes(const Context<S>& ctx, const NodeCoordinates& coordinates) {
    static_cast<void>(ctx), static_cast<void>(coordinates);
  }

  /// The matrix with its present values where the operator keeps it as CSR, in its own order; it changes with them
  /// and is valid as long as the operator; with the map from the caller's values where there is one. Nothing for
  /// other formats.
  virtual std::optional<CsrView<T, S>> as_csr() const { return std::nullopt; }

  /// The same operator for vectors in `order`, where this one is for vectors in the caller's: its matrices are
  /// renumbered and multiplied in the format of `options`, their values those that they are here, and refreshed as
  /// here. This operator must not be used any more. Null, the default, where the type cannot do that; it is then as
  /// it was, as after an error. For preconditioners that depend on the order of the rows. Waits on the stream. Throws
  /// OutOfMemory.
  virtual std::unique_ptr<MatrixOperator> renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                     const SpmvOptions& options) {
    static_cast<void>(ctx), static_cast<void>(order), static_cast<void>(options);
    return nullptr;
  }

  /// What the operator is made of, as it is now.
  virtual OperatorInfo info() const = 0;
};

/// A format or a preconditioner, as the tables make it.
template <class T, Space S>
using OperatorPtr = std::unique_ptr<MatrixOperator<T, S>>;

/// A user's own operator: any callable (ctx, alpha, x, beta, y) that fulfils the contract of `apply`.
template <class T, Space S>
class FunctionOperator final : public LinearOperator<T, S> {
 public:
  /// What `apply` calls, with its arguments.
  using Function = std::function<void(const Context<S>&, T alpha, Span<const T, S> x, T beta, Span<T, S> y)>;

  /// A map of rows x cols; `apply` must not be empty.
  FunctionOperator(Index rows, Index cols, Function apply) : rows_(rows), cols_(cols), apply_(std::move(apply)) {}

  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const override {
    apply_(ctx, alpha, x, beta, y);
  }

 private:
  Index rows_;
  Index cols_;
  Function apply_;
};

}  // namespace newel
