// SPDX-License-Identifier: Apache-2.0
/// PrecondMethod: the description of a preconditioner for the rest of Newel, one row of the table in
/// `newel/precond/registry.hpp`.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <newel/config.hpp>
#include <newel/core/factory_columns.hpp>
#include <newel/core/method_option.hpp>
#include <newel/spmv/format.hpp>

namespace newel {

/// Which preconditioner, and its options.
struct PrecondOptions {
  /// "none" or a name in the table.
  std::string name = "jacobi";
  /// M must be symmetric, as CG requires. LinearSystem sets it if a solve starts with such a method.
  bool symmetric = false;
  /// The format of the matrices that a preconditioner makes, with a colon and a variant if it has any. Empty: as for
  /// A.
  std::string format = {};
  /// Options of each preconditioner: SpaiOptions, FsaiOptions, PatternOptions.
  OptionBag methods = {};

  /// The options of one preconditioner, for example `options.of<FsaiOptions>().power = 2`.
  template <class Options>
  Options& of() {
    return methods.of<Options>();
  }
  template <class Options>
  const Options& of() const {
    return methods.of<Options>();
  }
};

/// On which side of A a sparse approximate inverse M is computed: right, from the columns of A M - I; left, from the
/// rows of M A - I.
enum class PrecondSide { right, left };

/// A setting to change, for advice. An interface writes it as "--spai-adaptive 0.4" or as spai_adaptive=0.4.
struct SettingChange {
  std::string key;       ///< "preconditioner", or the key of an option in reports
  std::string value;     ///< as typed by a user
  bool is_word = false;  ///< not a number
};

/// Makes M for the matrix in the given order; throws InputError if the matrix does not support it, and OutOfMemory.
template <class T, Space S>
using MakePrecond = OperatorPtr<T, S> (*)(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,
                                          const PrecondOptions&, const SpmvOptions&);

/// Makes M for an operator whose entries are not known; null if the operator does not provide what M needs. `a` must
/// outlive M, whose `refresh` takes no values and reads `a` again.
template <class T, Space S>
using MakePrecondFromOperator = OperatorPtr<T, S> (*)(const Context<S>&, const LinearOperator<T, S>& a,
                                                      const PrecondOptions&);

/// Lower bound on the bytes that the preconditioner holds, with its matrices in `format`; what depends on the pattern
/// is not counted.
using EstimatePrecond = std::uint64_t (*)(const PrecondOptions&, const SpmvFormat& format, Index rows,
                                          Offset nonzeros, std::size_t value_bytes);

/// The values of A, for setup costs that depend on them.
struct KnownValues {
  /// A in the caller's order; empty: its values are not known.
  std::variant<std::monostate, CsrView<double, Space::host>, CsrView<float, Space::host>,
               CsrView<double, Space::device>, CsrView<float, Space::device>>
      matrix;
  int node_rows = 1;   ///< rows per node of A, as far as is known
  bool later = false;  ///< the values are left out now, and will be inspected before anything is set up
};

/// What is known about the origin of a matrix.
enum class MatrixOrigin {
  unknown,  ///< nothing is known
  mesh,     ///< a mesh: the coordinates of its nodes are known
  blocks,   ///< the rows of its nodes form blocks; no coordinates
};

/// Additional input for the estimate of a setup.
struct PrecondSetup {
  Offset stored = 0;                                     ///< entries of M, if it exists; 0: use the estimate
  const Context<Space::host>* host = nullptr;            ///< never null
  const Context<Space::device>* device = nullptr;        ///< where A is stored; null: on the host
  std::function<const Pattern<Space::host>&()> pattern;  ///< of A; the first call copies it from a device
  KnownValues values;                                    ///< values of A
};

/// Input for the cost estimate of a preconditioner.
struct PrecondQuestion {
  const PrecondOptions& options;                ///< only its own options matter
  Machine machine = {};                         ///< that makes and applies it
  Index rows = 0;                               ///< of A
  Offset nonzeros = 0;                          ///< of A
  int block = 1;                                ///< rows per node, if the pattern consists of full blocks
  MatrixOrigin origin = MatrixOrigin::unknown;  ///< of A
  const PrecondSetup* setup = nullptr;          ///< null: setup times are not needed
  const OperatorInfo* made = nullptr;           ///< statistics of the preconditioner, if it was made; null: not yet
  int host_threads = 1;                         ///< host threads that make it
};

/// Seconds of a setup, and of a refresh, which repeats a part of it.
struct PrecondSeconds {
  double build = 0;            ///< of a setup
  double refresh = 0;          ///< of a refresh
  double iteration_share = 1;  ///< factor on the estimated seconds of an iteration, from the values of A
};

/// Expected iterations with a preconditioner, if the simple one of "auto" needs `simple`.
using ExpectedIterations = double (*)(double simple);

/// Estimated cost of a preconditioner, from counts without a clock: the same on every run.
struct PrecondCost {
  double entries = 0;        ///< entries of its matrices; 0: as many as A has
  double vector_passes = 0;  ///< vectors read or written per application, besides those of its products
  double low_share = 1;      ///< share of the bytes of an application that is in single precision, in a system in
                             ///< double
  double start_seconds = 0;  ///< per application on a device, in addition to the time for its bytes
  ExpectedIterations iterations = nullptr;  ///< null: half as many
  double margin = 0;                        ///< required savings over its setup seconds; 0: the usual ratio
  PrecondSeconds setup = {};                ///< scaled up if kernels start slower; 0: one pass over A
  double more_refresh_seconds = 0;          ///< of a refresh, from the statistics of the preconditioner that was made
};

/// Roles of preconditioners under `--precond auto`.
enum class AutoPrecond {
  never,      ///< only used by name
  simple,     ///< costs next to nothing; tried first
  symmetric,  ///< the same for symmetric matrices without a positive diagonal; must be positive definite
  definite,   ///< a stronger one for symmetric matrices with a positive diagonal
  elliptic,   ///< the same, and for other matrices for which MatrixTraits::elliptic holds
  general,    ///< a stronger one for all other matrices
  saddle,     ///< a stronger one where `is_saddle_point` holds
};

/// Name of a figure in OperatorInfo: floating-point operations of the local problems that a refresh solves.
inline constexpr const char* local_operations = "operations of local problems";

/// Sparse matrices of which a preconditioner consists.
struct PrecondMatrices {
  bool in_format = false;  ///< they are in `PrecondOptions::format`
  int products = 0;        ///< products with them per application
  bool triangles = false;  ///< they are triangular, so their rows differ in length
};

/// For a preconditioner that may choose single precision in a system in double. Null: it never chooses.
struct SingleChoice {
  /// Whether the one with these statistics did.
  bool (*chosen)(const PrecondOptions&, const OperatorInfo&) = nullptr;
  /// How to forbid it.
  void (*forbid)(PrecondOptions&) = nullptr;
};

/// One row of the table of preconditioners.
struct PrecondMethod {
  std::string name;                            ///< as users write it
  std::string summary;                         ///< one line for help texts
  std::vector<MethodOption> options;           ///< its own options, one entry each
  bool diagonal = false;                       ///< M is a diagonal matrix
  bool divides_by_diagonal = false;            ///< every diagonal entry of A must be stored and not 0
  bool resident = false;                       ///< supported by kernels for systems that fit on the chip
  PrecondMatrices matrices;                    ///< of which M consists
  bool takes_coordinates = false;              ///< uses `SpmvOptions::coordinates`
  bool takes_pattern = false;                  ///< `PatternOptions::pattern` applies
  AutoPrecond automatic = AutoPrecond::never;  ///< its role under `auto`
  bool positive = false;  ///< positive definite for every symmetric A, if `PrecondOptions::symmetric`
  PrecondCost (*cost)(const PrecondQuestion&) = nullptr;  ///< null: the defaults of PrecondCost
  /// Throws InputError for invalid options. Null: all options are valid.
  void (*check)(const PrecondOptions&) = nullptr;
  EstimatePrecond estimate_bytes = nullptr;  ///< null: counted as 0
  /// Null: right.
  PrecondSide (*side)(const PrecondOptions&) = nullptr;
  SingleChoice single;  ///< whether it may choose single precision
  /// Settings of a stronger version, for advice if M was too weak; empty: there is none. Null: the general one of the
  /// table.
  std::vector<SettingChange> (*stronger)(const PrecondOptions&) = nullptr;
  FactoryColumns<MakePrecond> make = {};                            ///< one for each precision and space
  FactoryColumns<MakePrecondFromOperator> make_from_operator = {};  ///< null: it needs the entries of A
};

/// Fills the `make` columns for a class template with the constructor (ctx, matrix, order, options, format options).
template <template <class, Space> class Operator>
struct MakePrecondOperator {
  /// One column of the table: calls the constructor.
  template <class T, Space S>
  static OperatorPtr<T, S> make(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                const PrecondOptions& options, const SpmvOptions& spmv_options) {
    return std::make_unique<Operator<T, S>>(ctx, a, order, options, spmv_options);
  }
};

/// The columns for such a class that this build supports.
template <template <class, Space> class Operator>
FactoryColumns<MakePrecond> precond_columns() {
  FactoryColumns<MakePrecond> columns;
  fill_columns<MakePrecondOperator<Operator>>(columns);
  return columns;
}

/// The options for the preconditioner's own matrices: those of A, in the format that `options` names. If it names
/// none: in A's format, or in that format's `fallback` if it has one.
SpmvOptions precond_spmv(const PrecondOptions& options, const SpmvOptions& spmv_options);

/// Throws InputError "preconditioner options: WHAT" unless `sound`.
void require_precond_option(bool sound, const std::string& what);

}  // namespace newel
