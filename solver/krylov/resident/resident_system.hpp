// SPDX-License-Identifier: Apache-2.0
/// ResidentSystem: what every solve in one kernel has in common on the host's side: whether a system fits on the
/// chip, and a launch. Internal; on a device only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <newel/build_config.hpp>
#include "solver/krylov/monitor/convergence_monitor.hpp"
#include "solver/krylov/resident/resident_across.hpp"
#include "spmv/ehyb/ehyb.hpp"

namespace newel::detail {

/// The scalars that one launch hands to the host, and by it to the next.
struct ResidentState {
  double tolerance;
  double residual;  ///< of a launch
  int iteration;
  int max_iterations;
  Event event;
  bool undecided;           ///< CG: p.A p came out at or below 0, but no farther than rounding takes it
  bool started;             ///< false: norms out of range; x is as it was
  double rhs_norm;          ///< |b|
  double initial_residual;  ///< |b - A x| of the guess
  double rho;               ///< CG: r.M r of the last step
  double alpha;             ///< and its length
  double gained;            ///< CG, in the last launch: see EnergyGains
  double r0_norm;           ///< BiCGStab: of the shadow residual
  double epsilon;           ///< of the vectors' precision
  double kept_residual;     ///< of the best x that was kept
  int kept_at;              ///< and after how many iterations that was
  unsigned epoch;           ///< across devices: of the last synchronisation
};

/// What a launch leaves.
struct ResidentLog {
  static constexpr int most_iterations = 256;

  ResidentState state;
  double residual[most_iterations];  ///< after each iteration of the launch
};

/// Where a launch begins.
enum class ResidentBegin {
  guess,     ///< at x: it forms r = b - A x and the norms
  residual,  ///< at x and r = b - A x, with a recurrence of its own
  onward,    ///< where the launch before ended
};

/// How a resident solve ends.
enum class ResidentEnd {
  reported,          ///< the convergence monitor has the outcome
  event,             ///< the recurrence has stopped, or the solve was interrupted
  continue_in_loop,  ///< the usual loop must continue from x, with r = b - A x; the outcome is open
  exchange,          ///< other operators pay from here; the vectors are those of the last step
  declined,          ///< it has not begun, and nothing has changed
};

/// The iterate that a solve keeps as its best, and when; none with an infinite residual.
struct KeptIterate {
  double residual = std::numeric_limits<double>::infinity();
  int iteration = 0;
};

/// What M is to a kernel.
enum class ResidentPrecond {
  none,
  diagonal,
  matrix,   ///< an EHYB matrix of A's parts and node blocks
  factors,  ///< G^T G, both EHYB matrices of A's parts, without node blocks
  other,    ///< nothing that it knows
};

/// How a kernel has its matrices.
enum class ResidentStorage {
  on_chip,    ///< EHYB, in shared memory
  streaming,  ///< EHYB, read anew by every product
  rows_on_chip,
  rows_streaming,  ///< the same of A in CSR: a block has consecutive rows
};

NEWEL_HD constexpr bool stays_on_chip(ResidentStorage storage) {
  return storage == ResidentStorage::on_chip || storage == ResidentStorage::rows_on_chip;
}
NEWEL_HD constexpr bool is_by_rows(ResidentStorage storage) {
  return storage == ResidentStorage::rows_on_chip || storage == ResidentStorage::rows_streaming;
}

/// Which vectors a kernel across devices reads from memory, because the chip has no room for them.
enum class ResidentRoom {
  all,                 ///< none
  diagonal_in_memory,  ///< the diagonal of M
  x_in_memory,         ///< and x
};

/// An EHYB matrix as a kernel reads it.
template <class T>
struct ResidentMatrix {
  const EhybPart* part;
  const Index* halo_node;
  const Index* slice_first;
  const std::uint16_t* column;
  const T* value;
  const unsigned char* marked;  ///< a node: whether another part reads it
  int share;                    ///< lanes of a node
};

/// Entries of a row of a CSR matrix that a lane adds on average at most: where they stay on the chip, and where they
/// stream by. Measured on an H200 against 2 and 8, and against warps that load the entries of several rows in their
/// order (a tenth to a fifth faster for rows of 40 entries, up to a half slower for rows of 14).
inline constexpr int resident_lane_entries[2] = {8, 4};

/// A CSR matrix as a kernel reads it.
template <class T>
struct ResidentRows {
  const Index* first_row;  ///< of a block; behind the last block the number of rows
  const std::int32_t* row_ptr;
  const Index* column;
  const T* value;
  T* operand;     ///< where the blocks publish the vector that A is multiplied with
  int lane_bits;  ///< binary logarithm of the number of lanes that share a row
};

/// What a method asks of one launch.
template <class T>
struct ResidentTask {
  const T *b, *d;                ///< d: the diagonal of M, or null
  T *x, *r, *p, *s;              ///< vectors that are kept from launch to launch; s of CG
  T *r0, *kept;                  ///< of BiCGStab: the shadow residual, the best x; of CG: kept, the guess
  CgCoefficients* coefficients;  ///< of CG: of the first iterations
  double rel_tol, abs_tol;
  int iterations;  ///< of this launch, at most
  ResidentBegin begin;
};

/// What the system has on the chip, in memory and on other devices, and what the launch before left.
template <class T>
struct ResidentSystemArgs {
  Offset rows;
  ResidentMatrix<T> a, first, second;  ///< first, second: of M, G and G^T, or first alone M itself
  ResidentRows<T> rows_of_a;           ///< in the place of `a`
  ResidentAcross across;               ///< of several devices
  ResidentRoom room;                   ///< of several devices
  T* diagonal;                         ///< of several devices: for that of M, each part's with its halo
  std::uint64_t* posted;
  ResidentLog* log;
  ResidentState before;
  unsigned epoch;  ///< of the last synchronisation before the launch
};

/// The arguments of one launch.
template <class T>
struct ResidentArgs : ResidentTask<T>, ResidentSystemArgs<T> {};

template <class T>
using ResidentKernel = void (*)(const ResidentArgs<T>);

/// What a method keeps on the chip for each row, and how often its blocks synchronise.
struct ResidentNeeds {
  int vectors;           ///< with a halo
  int own_vectors;       ///< without
  int sums;              ///< of a synchronisation, at most
  int synchronisations;  ///< of an iteration
  int buffers;           ///< PacketPlaces::buffers
};

/// A method with some M: what it needs, and its kernels for a node of `block` rows. Null where it has none.
template <class T>
struct ResidentMethod {
  using Kernel = ResidentKernel<T> (*)(int block, ResidentPrecond precond, ResidentStorage storage);
  ResidentNeeds needs;
  Kernel kernel;
  Kernel across = nullptr;  ///< of several devices; null: the method has none
  ResidentNeeds (*needs_across)(ResidentPrecond precond, ResidentRoom room) = nullptr;
};

/// Whether this build has kernels for EHYB with vectors of T and nodes of so many rows. All of them take a third of
/// the time of all kernels to compile: NEWEL_KERNELS=COMMON keeps those of scalar problems and of solids in double
/// precision. Solves with others take the loop, as those of large systems do.
template <class T, int B>
inline constexpr bool has_ehyb_kernels = NEWEL_COMMON_KERNELS == 0 ||
                                         (std::is_same_v<T, double> && (B == 1 || B == 3));

/// `kernels` of the rows of a node, which it takes as a std::integral_constant: 1, 2, 3 or 6, as EHYB has them.
template <class Kernels>
auto for_block(int block, const Kernels& kernels) {
  switch (block) {
    case 6:
      return kernels(std::integral_constant<int, 6>());
    case 3:
      return kernels(std::integral_constant<int, 3>());
    case 2:
      return kernels(std::integral_constant<int, 2>());
    default:
      return kernels(std::integral_constant<int, 1>());
  }
}

/// The EHYB matrices of a system: A, and those of M in the order of their products.
template <class T>
class ResidentMatrices {
 public:
  /// M is of `kind`; `across`: A is distributed over several devices. False, and there are none, where they are not
  /// of the kind that a kernel walks.
  bool take(const LinearOperator<T, Space::device>& A, const LinearOperator<T, Space::device>* M,
            ResidentPrecond kind, bool across);
  /// Finds out which nodes other parts of one device read. Queued on the stream.
  void mark_boundaries(const Context<Space::device>& ctx);

  const std::vector<EhybView<T>>& views() const { return view_; }
  Index rows() const { return view_.empty() ? 0 : view_[0].rows; }
  void place(ResidentSystemArgs<T>& args) const;

 private:
  std::vector<EhybView<T>> view_;
  std::vector<Array<unsigned char, Space::device>> marked_;  // of each, a node: whether another part reads it
  const unsigned char* readers_ = nullptr;                   // instead, of several devices
};

/// The packets that blocks post to each other, of one device or of several.
class ResidentPackets {
 public:
  /// Among the blocks of one device.
  void make(const Context<Space::device>& ctx, std::int64_t count);
  /// Among those of all devices, of which `across` learns: false, and there are none, if they share no memory.
  bool make_across(const Context<Space::device>& ctx, std::int64_t count, ResidentAcross& across);

  /// Where this device has them.
  std::uint64_t* posted() const { return posted_; }
  /// An upper bound on the last synchronisation: as many as a launch may have are counted. Across devices it is the
  /// last one.
  unsigned epoch() const { return epoch_; }
  void set_epoch(unsigned epoch) { epoch_ = epoch; }
  /// The next launch may have so many synchronisations: before the count overflows it restarts, with packets that
  /// carry no number. All devices call it together.
  void prepare(const Context<Space::device>& ctx, unsigned synchronisations);

 private:
  Array<std::uint64_t, Space::device> own_;
  std::vector<std::shared_ptr<void>> of_devices_;  // instead of `own_`
  std::uint64_t* posted_ = nullptr;
  std::size_t bytes_ = 0;
  unsigned epoch_ = 0;
};

/// One block of threads has one part of an EHYB matrix, and its rows of all vectors in shared memory; of those that a
/// product reads or that others read too, also what its halo needs. Where the part's values and columns fit too,
/// they stay there. Needs every part of the matrix to be at work at the same time, one a multiprocessor, without
/// extra rows. The matrices of a preconditioner have to have A's parts, and stay on the chip or stream by with A.
///
/// Of a CSR matrix whose rows are not cut, a block has consecutive rows with about as many entries as the others',
/// and no halo: before a product the vector is published in memory, and the grid synchronises. M is none or diagonal.
template <class T>
class ResidentSystem {
 public:
  bool fits() const { return fits_; }

  /// Whether it was made for these.
  bool serves(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
              const LinearOperator<T, Space::device>* M) const;

 protected:
  using Method = ResidentMethod<T> (*)(ResidentPrecond precond);

  /// For A and M, which may turn out not to support it.
  ResidentSystem(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
                 const LinearOperator<T, Space::device>* M, Method method);

  /// What the context's launches leave.
  static ResidentLog& log_of(const Context<Space::device>& ctx);
  /// The system, and its criterion. `asks_from`: the iteration from which on the solve asks between launches for
  /// better operators, as ExchangeQuestion::not_before has it.
  ResidentTask<T> task_of(const SolveRequest<T, Space::device>& system, int asks_from, int done) const;
  /// Iterations of the next launch, behind `done` of them: up to `asks_from` where that is still to come.
  int launch_length(const SolveRequest<T, Space::device>& system, int asks_from, int done) const;
  /// Queues the kernel, prepares an exchange of operators meanwhile, and waits for its end. False if the device did
  /// not accept the launch: the usual loop then does all the work, now and later.
  bool launch(const Context<Space::device>& ctx, const ResidentTask<T>& task,
              ConvergenceMonitor<T, Space::device>& convergence);

 private:
  bool fit(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A,
           const LinearOperator<T, Space::device>* M);
  bool fit_across(const Context<Space::device>& ctx);
  bool plan(const Context<Space::device>& ctx);
  bool plan_across(const Context<Space::device>& ctx);
  bool take_rows(const Context<Space::device>& ctx, const LinearOperator<T, Space::device>& A);
  bool admits(const Context<Space::device>& ctx, ResidentStorage storage, std::size_t bytes);
  ResidentKernel<T> kernel(ResidentStorage storage) const {
    const auto& kernels = across_.devices > 0 ? method_.across : method_.kernel;
    return kernels(is_by_rows(storage) ? 1 : matrices_.views()[0].block, kind_, storage);
  }
  int synchronisations() const { return method_.needs.synchronisations * (is_by_rows(storage_) ? 2 : 1); }

  std::uint64_t matrix_, precond_;  // serial numbers of A, and of M where that has matrices
  const void* context_;             // its state
  ResidentPrecond kind_;
  ResidentMethod<T> method_;
  ResidentMatrices<T> matrices_;
  ResidentPackets packets_;
  bool fits_ = false;
  ResidentStorage storage_ = ResidentStorage::streaming;
  unsigned blocks_ = 0;
  std::size_t shared_bytes_ = 0;
  ResidentRows<T> rows_{};
  Array<Index, Space::device> first_row_;
  Array<T, Space::device> operand_;
  ResidentAcross across_{};  // of several devices, if there are any
  ResidentRoom room_ = ResidentRoom::all;
  Array<T, Space::device> diagonal_;  // in memory: each part's with its halo
};

}  // namespace newel::detail
