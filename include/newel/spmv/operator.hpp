// SPDX-License-Identifier: Apache-2.0
/// LinearOperator: what a Krylov solver multiplies with. MatrixOperator: an operator made from a CSR matrix, whose
/// values can be replaced.
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

/// A number that is unique in this process and never reused. A copy gets a new number; so does the target of an
/// assignment.
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
  /// A solver may capture `apply`, `apply_dot` and their versions for several vectors in a CUDA graph and replay the
  /// graph instead of calling them. Then these functions must only queue work on the context's stream. For the same
  /// arguments they must queue the same work on the same addresses, as long as the object lives and is not assigned
  /// to; the data at those addresses may change. True for all formats and preconditioners of the library.
  bool capturable = false;
  /// `apply` takes much longer than a poll of the solver's state on a device, for example a multigrid cycle. The
  /// solve is then polled so often that hardly any iteration runs after its end.
  bool takes_long = false;
  /// With its present values the operator is a multiple of the identity, up to half a percent. As a preconditioner it
  /// then costs time and changes little else.
  bool multiple_of_identity = false;
  /// For a diagonal matrix, its present diagonal, so that a solver can multiply in a pass over vectors that it makes
  /// anyway. Valid as long as the operator. Empty for all others.
  Span<const T, S> diagonal = {};
  /// The operator to apply from the left instead of this one, if this preconditioner sets components to zero and
  /// would hide the residuals of their rows. Null: no preconditioner from the left. nullopt: this one.
  std::optional<const LinearOperator<T, S>*> from_left = {};
  /// Its matrix is 2^exponent times the one that solvers were made from. For the library's own solvers.
  int exponent = 0;
};

/// Statistics of an operator; printed by `newel info` and in reports.
struct OperatorInfo {
  std::string name;         ///< name and variant in the table
  std::string detail;       ///< one line of text, or empty
  Index rows = 0;           ///< length of y
  Index cols = 0;           ///< length of x
  Offset nonzeros = 0;      ///< stored entries of the matrix
  Offset stored_slots = 0;  ///< stored values, padding included
  double cached_share = 0;  ///< share of entries that read x from a cache managed by the format
  /// Bytes that one product moves between memory and processor, counted by the format: its arrays once, x and y as
  /// often as it reads and writes them.
  std::uint64_t bytes_per_product = 0;
  std::vector<std::pair<std::string, double>> figures;  ///< specific to the format: parts, halo, threshold, ...
  /// Figures of the levels of a hierarchy, finest first; empty for all others.
  std::vector<std::vector<std::pair<std::string, double>>> levels;
  std::vector<std::pair<std::string, std::uint64_t>> bytes;   ///< memory by part: values, columns, ...
  std::vector<std::pair<std::string, double>> setup_seconds;  ///< by phase

  /// The first of `figures` with that name; nullopt if there is none.
  std::optional<double> figure(std::string_view figure_name) const {
    for (const auto& [of_figure, value] : figures) {
      if (of_figure == figure_name) return value;
    }
    return std::nullopt;
  }
  /// Sum of `bytes`.
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

/// A linear map from vectors of length `cols()` to vectors of length `rows()`, in space S.
template <class T, Space S>
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// Length of y (rows) and of x (cols) in y = A x.
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  /// y = alpha A x + beta y. x has length cols(), y length rows(); they must not overlap. With beta = 0, y is not
  /// read. Queued on the context's stream; allocates nothing and does not synchronise. It may be captured in a graph,
  /// which is then launched on the context's stream or while that stream is idle.
  virtual void apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const = 0;

  /// y = A x and *xy = x.y in double, in S. For square operators. The default calls `apply` and computes the dot
  /// product; formats that do both in one pass override it.
  virtual void apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const;

  /// Y = alpha A X + beta Y for k = `columns` vectors at once: 1, 2, 4 or 8. The vectors are interleaved: value i k +
  /// c is entry i of vector c, so one read of an entry of A serves all of them. x holds k cols() values, y k rows(),
  /// both aligned to 16 bytes. `work` is scratch memory in S of `column_work_bytes(columns)` bytes, aligned like an
  /// Array. Otherwise like `apply`. The default multiplies one vector after another; CSR and EHYB override it.
  virtual void apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta, Span<T, S> y,
                             Span<char, S> work) const;

  /// Y = A X, and xy[c] = x_c.y_c for the k vectors, in double, in S. For square operators.
  virtual void apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y, double* xy,
                                 Span<char, S> work) const;

  /// Bytes of scratch memory that products of `columns` vectors need from the caller.
  virtual std::uint64_t column_work_bytes(int columns) const;

  /// r = b - A x with products and sums in twice the precision of T (double for single precision), rounded once, and
  /// a bound on the remaining error. The outcome of a solve is judged by this. r may be b, and must not overlap x.
  /// The default returns nullopt and does not write r: the entries are not known. Waits for the stream; allocates
  /// nothing in S; moves as many bytes as `apply`. For the library's own solvers.
  virtual std::optional<detail::ResidualSums> residual(const Context<S>& ctx, Span<const T, S> b, Span<const T, S> x,
                                                       const detail::ResidualScale& scale, Span<T, S> r) const {
    static_cast<void>(ctx), static_cast<void>(b), static_cast<void>(x), static_cast<void>(scale),
        static_cast<void>(r);
    return std::nullopt;
  }

  /// Writes the diagonal of the operator's matrix to `d`, which has rows() entries, queued on the stream, and returns
  /// true. The default returns false and leaves `d` unchanged: the diagonal is not known. Used by Jacobi if a
  /// LinearSystem is given an operator.
  virtual bool matrix_diagonal(const Context<S>& ctx, Span<T, S> d) const {
    static_cast<void>(ctx), static_cast<void>(d);
    return false;
  }

  /// Properties that solvers may rely on. The default promises nothing, which is always safe.
  virtual OperatorTraits<T, S> traits() const { return {}; }
  bool capturable() const { return traits().capturable; }

  /// What reports say of the operator, and the bytes from which the cost model estimates a product. The default knows
  /// rows and columns, and leaves the name empty.
  virtual OperatorInfo info() const {
    OperatorInfo info;
    info.rows = rows();
    info.cols = cols();
    return info;
  }

  /// Data for kernels that keep a whole solve on the chip; empty by default. For the library's own solvers.
  virtual detail::ResidentView<T, S> resident_view() const;

  /// A number unique among all operators that exist or existed, even at the same address.
  std::uint64_t serial() const { return serial_.value(); }

 protected:
  /// Call this when the operator starts to represent something else: data cached for its serial number becomes
  /// invalid.
  void renew_serial() { serial_ = detail::Serial(); }

 private:
  detail::Serial serial_;
};

/// The stored values of an operator, for callers that compute them in place. For example, a code that assembles its
/// matrix in the format's own order needs no CSR values and no `refresh`.
template <class T, Space S>
struct Slots {
  Span<T, S> values;          ///< valid as long as the operator
  std::vector<Offset> entry;  ///< per slot, the index of the caller's CSR entry stored there; -1: padding, must stay
                              ///< 0
};

/// An operator built from a CSR matrix: a product format or a preconditioner.
template <class T, Space S>
class MatrixOperator : public LinearOperator<T, S> {
 public:
  /// Replaces the values and keeps the structure. `values` are the caller's CSR values, in the order of the matrix
  /// that the operator was built from; if that matrix had a value map, in the order that the map refers to. Allocates
  /// nothing. Throws InputError if the count differs. Preconditioners also throw InputError if they do not support
  /// the values; they wait on the stream to check.
  virtual void refresh(const Context<S>& ctx, Span<const T, S> values) = 0;

  /// Where `refresh` writes values; an entry that the operator does not read has no slot. The default throws
  /// InputError, for operators whose values cannot be written in place. Waits on the stream.
  virtual Slots<T, S> slots(const Context<S>& ctx);

  /// Call this when all slots that belong to an entry have been written, on the context's stream. It does the rest of
  /// `refresh`, with the same errors. Formats have nothing left to do.
  virtual void slots_written(const Context<S>& ctx);

  /// Replaces the coordinates of the mesh nodes, for an operator that was made with coordinates of as many nodes. The
  /// next `refresh` uses them. The default does nothing, for operators that do not depend on coordinates.
  virtual void move_nodes(const Context<S>& ctx, const NodeCoordinates& coordinates) {
    static_cast<void>(ctx), static_cast<void>(coordinates);
  }

  /// The matrix with its present values, if the operator stores it as CSR, in the operator's row order. Valid as long
  /// as the operator; its values change with the operator's. It carries the map from the caller's values, if there is
  /// one. nullopt for other formats.
  virtual std::optional<CsrView<T, S>> as_csr() const { return std::nullopt; }

  /// Converts an operator for vectors in the caller's order into the same operator for vectors in `order`. Its
  /// matrices are renumbered and stored in the format of `options`; values and refreshes are as before. This operator
  /// must not be used afterwards. The default returns null: the type cannot do that, and this operator is unchanged,
  /// as after an error. For preconditioners that depend on the row order. Waits on the stream. Throws OutOfMemory.
  virtual std::unique_ptr<MatrixOperator> renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                     const SpmvOptions& options) {
    static_cast<void>(ctx), static_cast<void>(order), static_cast<void>(options);
    return nullptr;
  }

  /// Present statistics of the operator.
  OperatorInfo info() const override = 0;
};

/// A format or a preconditioner, as made by the tables.
template <class T, Space S>
using OperatorPtr = std::unique_ptr<MatrixOperator<T, S>>;

/// A user-defined operator: any callable (ctx, alpha, x, beta, y) that fulfils the contract of `apply`.
template <class T, Space S>
class FunctionOperator final : public LinearOperator<T, S> {
 public:
  /// Called by `apply` with its arguments.
  using Function = std::function<void(const Context<S>&, T alpha, Span<const T, S> x, T beta, Span<T, S> y)>;

  /// An operator of rows x cols; `apply` must not be empty.
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
