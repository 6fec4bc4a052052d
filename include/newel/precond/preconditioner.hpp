// SPDX-License-Identifier: Apache-2.0
/// PrecondMethod: what the rest of Newel knows of a preconditioner, one line of the table in
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

/// Which preconditioner, and its choices.
struct PrecondOptions {
  /// "none" or a name of the table.
  std::string name = "jacobi";
  /// M has to be symmetric, as CG needs it. LinearSystem sets it where a solve starts with such a method.
  bool symmetric = false;
  /// The format of the matrices that a preconditioner makes, with a variant behind a colon where it has any. Empty:
  /// as for A.
  std::string format = {};
  /// Of each preconditioner its own: SpaiOptions, FsaiOptions, PatternOptions.
  OptionBag methods = {};

  /// The options of one preconditioner: `options.of<FsaiOptions>().power = 2`.
  template <class Options>
  Options& of() {
    return methods.of<Options>();
  }
  template <class Options>
  const Options& of() const {
    return methods.of<Options>();
  }
};

/// On which side of A a sparse approximate inverse M is made: right, from the columns of A M - I; left, from the rows
/// of M A - I.
enum class PrecondSide { right, left };

/// A setting to change, for advice: an interface writes it as "--spai-adaptive 0.4" or as spai_adaptive=0.4.
struct SettingChange {
  std::string key;       ///< "preconditioner", or the key of an option in reports
  std::string value;     ///< as it is typed
  bool is_word = false;  ///< not a number
};

/// Makes M for the matrix in the given order; throws InputError where the matrix does not support it, and
/// OutOfMemory.
template <class T, Space S>
using MakePrecond = OperatorPtr<T, S> (*)(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&,
                                          const PrecondOptions&, const SpmvOptions&);

/// M for an operator whose entries are not known; null where it does not tell what is needed. `a` outlives M, whose
/// `refresh` takes no values and asks `a` again.
template <class T, Space S>
using MakePrecondFromOperator = OperatorPtr<T, S> (*)(const Context<S>&, const LinearOperator<T, S>& a,
                                                      const PrecondOptions&);

/// At least the bytes that the preconditioner will hold, its matrices in `format`; what the pattern decides is not
/// counted.
using EstimatePrecond = std::uint64_t (*)(const PrecondOptions&, const SpmvFormat& format, Index rows,
                                          Offset nonzeros, std::size_t value_bytes);

/// What of a setup depends on the values of A, where they can be looked at.
struct KnownValues {
  /// A in the caller's order; nothing: its values are not known.
  std::variant<std::monostate, CsrView<double, Space::host>, CsrView<float, Space::host>,
               CsrView<double, Space::device>, CsrView<float, Space::device>>
      matrix;
  int node_rows = 1;   ///< rows of a node of A, as far as is known
  bool later = false;  ///< nothing is made before its values have been looked at: they are left out for now
};

/// What is known of where a matrix comes from.
enum class MatrixOrigin {
  unknown,  ///< nothing
  mesh,     ///< the coordinates of its nodes
  blocks,   ///< that the rows of its nodes form blocks, without coordinates
};

/// What the cost of a setup is estimated from besides.
struct PrecondSetup {
  Offset stored = 0;                               ///< entries of M, if it is there; 0: as many as are estimated
  const Context<Space::host>* host = nullptr;      ///< never null
  const Context<Space::device>* device = nullptr;  ///< where A is; null: on the host
  std::function<const Pattern<Space::host>&()> pattern;  ///< of A; copied from a device by the first call
  KnownValues values;                                    ///< of A
};

/// What the cost of a preconditioner is estimated from.
struct PrecondQuestion {
  const PrecondOptions& options;                ///< those of its kind count
  Machine machine = {};                         ///< that makes and applies it
  Index rows = 0;                               ///< of A
  Offset nonzeros = 0;                          ///< of A
  int block = 1;                                ///< rows of a node, where the pattern consists of full blocks
  MatrixOrigin origin = MatrixOrigin::unknown;  ///< of A
  const PrecondSetup* setup = nullptr;          ///< null: the seconds of a setup are not wanted
  const OperatorInfo* made = nullptr;           ///< one that was made; null: there is none yet
  int host_threads = 1;                         ///< of the host that makes it
};

/// Seconds of a setup, and of a refresh, which is a part of that.
struct PrecondSeconds {
  double build = 0;            ///< of a setup
  double refresh = 0;          ///< of a refresh
  double iteration_share = 1;  ///< of what an iteration is estimated to take, it takes so much, by the values of A
};

/// The iterations to be expected with a preconditioner where those with the simple one of `auto` are `simple`.
using ExpectedIterations = double (*)(double simple);

/// What a preconditioner costs, by counts, not a clock: the same on every run.
struct PrecondCost {
  double entries = 0;        ///< of the matrices that it is made of; 0: as many as A has
  double vector_passes = 0;  ///< vectors that an application reads or writes beside those of its products
  double low_share = 1;      ///< of its bytes, that an application in a system in double moves, in single precision
  double start_seconds = 0;  ///< of an application on a device, beside those that its bytes take
  ExpectedIterations iterations = nullptr;  ///< null: half
  double margin = 0;                        ///< what it has to save over the seconds of its setup; 0: as any setup
  PrecondSeconds setup = {};                ///< by itself: where kernels start later, more; 0: those of a pass over A
  double more_refresh_seconds = 0;          ///< of a refresh of the one that was made, by its figures
};

/// What `--precond auto` compares.
enum class AutoPrecond {
  never,     ///< only by name
  simple,    ///< costs next to nothing; tried first
  definite,  ///< the stronger one for symmetric matrices with a positive diagonal
  general,   ///< the stronger one for all others
};

/// A figure of OperatorInfo: floating-point operations of the local problems that a refresh solves.
inline constexpr const char* local_operations = "operations of local problems";

/// One line of the table.
struct PrecondMethod {
  std::string name;                            ///< as users write it
  std::string summary;                         ///< one line for help texts
  std::vector<MethodOption> options;           ///< its own, a row each
  bool diagonal = false;                       ///< M is a diagonal matrix
  bool divides_by_diagonal = false;            ///< every diagonal entry of A has to be there and not 0
  bool own_matrices = false;                   ///< M is made of sparse matrices in `PrecondOptions::format`
  bool resident = false;                       ///< solvers with a kernel for what fits on the chip apply it there
  int products = 0;                            ///< with sparse matrices, that an application consists of
  bool triangles = false;                      ///< its matrices are triangles, whose rows differ in length
  bool takes_coordinates = false;              ///< `SpmvOptions::coordinates` makes a difference
  bool takes_pattern = false;                  ///< `PatternOptions::pattern` applies
  AutoPrecond automatic = AutoPrecond::never;  ///< its role under `auto`
  PrecondCost (*cost)(const PrecondQuestion&) = nullptr;  ///< null: as PrecondCost has it
  /// Throws InputError for options that make no sense. Null: none can.
  void (*check)(const PrecondOptions&) = nullptr;
  EstimatePrecond estimate_bytes = nullptr;  ///< null: counted as 0
  /// Null: from the right.
  PrecondSide (*side)(const PrecondOptions&) = nullptr;
  /// Of one that may choose to work in single precision in a system in double: whether the one with these figures
  /// has; and the options with which it would not. Null: none chooses.
  bool (*chose_single)(const PrecondOptions&, const OperatorInfo&) = nullptr;
  void (*forbid_single)(PrecondOptions&) = nullptr;
  /// What to ask for where M was too weak, the preconditioner with options; empty: nothing. Null: the general one of
  /// the table.
  std::vector<SettingChange> (*stronger)(const PrecondOptions&) = nullptr;
  FactoryColumns<MakePrecond> make = {};                            ///< one for each precision and space
  FactoryColumns<MakePrecondFromOperator> make_from_operator = {};  ///< null: it needs the entries of A
};

/// The columns of a class template with the constructor (ctx, matrix, order, options, format options).
template <template <class, Space> class Operator>
struct MakePrecondOperator {
  /// A column of the table: calls the class's constructor.
  template <class T, Space S>
  static OperatorPtr<T, S> make(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                const PrecondOptions& options, const SpmvOptions& spmv_options) {
    return std::make_unique<Operator<T, S>>(ctx, a, order, options, spmv_options);
  }
};

/// The columns of a line for such a class, those of this build.
template <template <class, Space> class Operator>
FactoryColumns<MakePrecond> precond_columns() {
  FactoryColumns<MakePrecond> columns;
  fill_columns<MakePrecondOperator<Operator>>(columns);
  return columns;
}

/// The options with which a preconditioner makes its own matrices: those of A, in the format that the options name,
/// else in A's, or the one that stands beside A's in the table.
SpmvOptions precond_spmv(const PrecondOptions& options, const SpmvOptions& spmv_options);

/// Throws InputError "preconditioner options: WHAT" unless `sound`.
void require_precond_option(bool sound, const std::string& what);

}  // namespace newel
