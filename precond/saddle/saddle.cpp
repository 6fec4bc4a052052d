// SPDX-License-Identifier: Apache-2.0
// The preconditioner for saddle points: its parts, its action and its refresh.
#include "precond/saddle/saddle.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <newel/core/error.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/fsai/fsai_options.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/precond/registry.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/random.hpp"
#include "precond/amg/setup/node_guess.hpp"
#include "precond/matrix_on_host.hpp"
#include "precond/saddle/diagonal_spread.hpp"
#include "precond/saddle/primal_nodes.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel {
namespace {

// Of D^-1 A: mass matrices have less than 10, discrete differential operators 25 and more.
constexpr double close_to_diagonal = 12;

// Multiplications for the Schur complement over entries of A11. Mixed elements need one to three; dense rows of
// constraints make the product dense.
constexpr double most_work = 20;

template <class T, Space S>
detail::SaddleMatrix<T, S> block_of(const Context<S>& ctx, const CsrView<T, S>& a,
                                    const detail::SaddlePattern& pattern, bool multiplied) {
  detail::SaddleMatrix<T, S> block;
  const Array<Offset, S> source = make_array(ctx, pattern.source.cspan());
  block.source = make_value_map(ctx, source.cspan(), a.nnz(), a.value_map);
  block.row_ptr = make_array(ctx, pattern.row_ptr.cspan());
  block.col = make_array(ctx, pattern.col.cspan());
  block.val = Array<T, S>(ctx, pattern.nnz());
  if (pattern.nnz() == 0) return block;
  gather<T, S>(ctx, a.val, make_value_map(ctx, source.cspan(), a.nnz()), block.val.span());
  if (!multiplied) return block;
  const CsrView<T, S> view(pattern.rows, pattern.cols, block.row_ptr.cspan(), block.col.cspan(), block.val.cspan());
  block.product = make_spmv(ctx, view, RowOrder<S>{}, SpmvOptions{});
  return block;
}

template <class T, Space S>
std::vector<double> doubles(const Context<S>& ctx, const Array<T, S>& values) {
  const std::vector<T> on_host = to_vector(ctx, values.cspan());
  return {on_host.begin(), on_host.end()};
}

// Options of a preconditioner of a block: without what belongs to the rows of the whole matrix, and for FSAI none.
PrecondOptions options_of_part(const PrecondOptions& options, const std::string& name, bool symmetric) {
  PrecondOptions part = options;
  part.name = name;
  part.symmetric = symmetric;
  part.of<PatternOptions>() = {};
  part.of<FsaiOptions>() = {};
  part.of<AmgOptions>().vectors = nullptr;
  return part;
}

const char* name_of(SaddleBlock block) {
  static constexpr const char* names[] = {"", "amg", "fsai", "ilu", "ilut", "jacobi"};
  return names[static_cast<int>(block)];
}

// With the caller's row of the first that divides by zero.
void require_diagonal(const detail::SaddleRows& rows, const std::vector<double>& diagonal) {
  const auto zeros = std::count(diagonal.begin(), diagonal.end(), 0.0);
  if (zeros == 0) return;
  const auto first = std::find(diagonal.begin(), diagonal.end(), 0.0) - diagonal.begin();
  throw ZeroDiagonal(rows.primal[static_cast<std::size_t>(first)], zeros, 0);
}

}  // namespace

template <class T, Space S>
SaddleOperator<T, S>::SaddleOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                     const PrecondOptions& options, const SpmvOptions& spmv_options)
    : rows_(a.rows), natural_(order.natural()) {
  detail::PhaseClock clock;
  if (a.rows != a.cols) throw InputError("a saddle point is a square matrix");
  const auto& own = options.of<SaddleOptions>();
  if (options.symmetric && own.form == SaddleForm::triangular) {
    throw InputError(
        "the block-triangular form of the preconditioner for saddle points is not symmetric, which the "
        "solver needs: use the block-diagonal form");
  }
  triangular_ = own.form == SaddleForm::triangular || (own.form == SaddleForm::automatic && !options.symmetric);
  const std::vector<Index> new_of_old = to_vector(ctx, order.new_of_old.cspan());
  {
    Csr<T, Space::host> kept;
    const CsrView<T, Space::host> on_host = detail::matrix_on_host(ctx, a, kept);
    users_ = detail::find_saddle_rows(host_context(ctx), on_host, to_vector(ctx, order.old_of_new.cspan()), own);
    patterns_ =
        std::make_unique<detail::SaddlePatterns>(detail::split(host_context(ctx), on_host, users_, new_of_old));
  }
  primal_ = block_of(ctx, a, patterns_->primal, own.schur == SaddleSchur::commutator);
  coupling_ = block_of(ctx, a, patterns_->coupling, true);
  transposed_ = block_of(ctx, a, patterns_->transposed, true);
  constraint_ = block_of(ctx, a, patterns_->constraint, true);
  clock.end("blocks");
  place(ctx, new_of_old);
  make_parts(ctx, options, spmv_options.coordinates);
  ctx.synchronize();
  clock.end("inverses of the blocks");
  find_scale(ctx);
  clock.end("scale");
  seconds_ = clock.seconds();
}

// Where the rows of the blocks are in vectors, and vectors to work with.
template <class T, Space S>
void SaddleOperator<T, S>::place(const Context<S>& ctx, const std::vector<Index>& new_of_old) {
  std::vector<Index> row = users_.primal, at(static_cast<std::size_t>(rows_));
  row.insert(row.end(), users_.constraints.begin(), users_.constraints.end());
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!new_of_old.empty()) row[i] = new_of_old[row[i]];
    at[row[i]] = static_cast<Index>(i);
  }
  row_ = make_array(ctx, row);
  place_ = make_array(ctx, at);
  in_ = Array<T, S>(ctx, rows_);
  out_ = Array<T, S>(ctx, rows_);
  between_ = Array<T, S>(ctx, rows_);
  spare_ = Array<T, S>(ctx, rows_);
  ctx.synchronize();
}

template <class T, Space S>
void SaddleOperator<T, S>::make_parts(const Context<S>& ctx, const PrecondOptions& options,
                                      std::shared_ptr<const NodeCoordinates> coordinates) {
  const auto& own = options.of<SaddleOptions>();
  const detail::SaddlePattern& pattern = patterns_->primal;
  const Context<Space::host> host = host_context(ctx);
  const detail::SaddleValues values = values_on_host(ctx);
  require_diagonal(users_, values.diagonal);

  const std::vector<T> on_host = to_vector(ctx, primal_.val.cspan());
  const CsrView<T, Space::host> a11(pattern.rows, pattern.cols, pattern.row_ptr.cspan(), pattern.col.cspan(),
                                    {on_host.data(), static_cast<std::int64_t>(on_host.size())});
  const MatrixTraits traits = matrix_traits(host, a11);
  const bool symmetric = options.symmetric || traits.symmetric();
  const bool near = symmetric && traits.positive_diagonal() && detail::diagonal_spread(host, a11) < close_to_diagonal;
  SaddleBlock block = own.block;
  if (block == SaddleBlock::automatic) {
    block = near ? SaddleBlock::fsai : symmetric || traits.elliptic() ? SaddleBlock::amg : SaddleBlock::ilut;
  }
  primal_name_ = name_of(block);
  const CsrView<T, S> view(pattern.rows, pattern.cols, primal_.row_ptr.cspan(), primal_.col.cspan(),
                           primal_.val.cspan());
  PrecondOptions of_primal = options_of_part(options, primal_name_, symmetric);
  SpmvOptions spmv_of_primal;
  auto& amg = of_primal.of<AmgOptions>();
  amg.vectors = detail::vectors_of_rows(options.of<AmgOptions>().vectors, users_.primal, rows_);
  const detail::PrimalNodes nodes = detail::nodes_of_rows(std::move(coordinates), users_.primal, rows_);
  if (nodes.points != nullptr && (amg.node_rows == 0 || amg.node_rows == nodes.node_rows)) {
    spmv_of_primal.coordinates = nodes.points;
    if (amg.numbering == AmgNumbering::automatic) amg.numbering = nodes.numbering;
  } else if (amg.node_rows == 0) {
    amg.node_rows = detail::guessed_node_rows(a11);
  }
  primal_inverse_ = make_precond(ctx, view, RowOrder<S>{}, of_primal, spmv_of_primal);
  SaddleSchur schur = own.schur;
  if (schur == SaddleSchur::automatic) {
    const bool sparse = detail::SchurSum::work(*patterns_) <= most_work * static_cast<double>(pattern.nnz());
    schur = near && sparse ? SaddleSchur::product : SaddleSchur::diagonal;
  }
  schur_ = detail::SchurInverse<T, S>(ctx, *patterns_, values, schur, own,
                                      options_of_part(options, "amg", options.symmetric));
}

template <class T, Space S>
detail::SaddleValues SaddleOperator<T, S>::values_on_host(const Context<S>& ctx) const {
  detail::SaddleValues values;
  const std::vector<double> primal = doubles(ctx, primal_.val);
  const detail::SaddlePattern& pattern = patterns_->primal;
  values.diagonal.assign(static_cast<std::size_t>(pattern.rows), 0.0);
  for (Index i = 0; i < pattern.rows; ++i) {
    for (Offset k = pattern.row_ptr[i]; k < pattern.row_ptr[i + 1]; ++k) {
      if (pattern.col[k] == i) values.diagonal[i] = primal[static_cast<std::size_t>(k)];
    }
  }
  values.coupling = doubles(ctx, coupling_.val);
  values.transposed = doubles(ctx, transposed_.val);
  values.constraint = doubles(ctx, constraint_.val);
  return values;
}

template <class T, Space S>
detail::SaddleProducts<T, S> SaddleOperator<T, S>::products() const {
  return {primal_.product.get(), coupling_.product.get(), transposed_.product.get(), constraint_.product.get()};
}

// The largest eigenvalue of Q s (A21 P A12 - C), by a few steps of the power method, which come within a third of it;
// c Q has its eigenvalues around 1 then, few of them above 2 and most of them below.
template <class T, Space S>
void SaddleOperator<T, S>::find_scale(const Context<S>& ctx) {
  constexpr int steps = 6;
  constexpr double of_largest = 0.6;
  scale_ = 1;
  if (coupling_.product == nullptr || transposed_.product == nullptr) return;
  const auto primal = static_cast<std::int64_t>(users_.primal.size()),
             constraints = static_cast<std::int64_t>(users_.constraints.size());
  const Span<T, S> moved(between_.data(), primal), solved(spare_.data(), primal), v(in_.data(), constraints),
      product(out_.data(), constraints);
  std::vector<T> start(static_cast<std::size_t>(constraints));
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = static_cast<T>(detail::random_uniform(0, i));
  copy<T>(ctx, Span<const T, Space::host>(start.data(), constraints), v);
  const T sign = static_cast<T>(schur_.sign());
  Array<double, S> norm(ctx, 1);
  double largest = 0;
  const auto norm_of = [&](Span<const T, S> x) {
    norm2<T, S>(ctx, x, norm.data());
    return fetch<double, S>(ctx, norm.data());
  };
  double before = norm_of(v);
  for (int step = 0; step < steps; ++step) {
    newel::scale<T, S>(ctx, static_cast<T>(1 / before), v);
    coupling_.product->apply(ctx, T(1), v, T(0), moved);
    primal_inverse_->apply(ctx, T(1), moved, T(0), solved);
    transposed_.product->apply(ctx, sign, solved, T(0), product);
    if (constraint_.product != nullptr) constraint_.product->apply(ctx, -sign, v, T(1), product);
    schur_.apply(ctx, products(), product, v);
    before = largest = norm_of(v);
    if (!(largest > 0) || !std::isfinite(largest)) return;
  }
  scale_ = 1 / (of_largest * largest);
}

template <class T, Space S>
void SaddleOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  for (detail::SaddleMatrix<T, S>* block : {&primal_, &coupling_, &transposed_, &constraint_}) {
    if (block->val.size() == 0) continue;
    gather<T, S>(ctx, values, block->source, block->val.span());
    if (block->product != nullptr) block->product->refresh(ctx, block->val.cspan());
  }
  const detail::SaddleValues on_host = values_on_host(ctx);
  require_diagonal(users_, on_host.diagonal);
  primal_inverse_->refresh(ctx, primal_.val.cspan());
  schur_.refresh(ctx, on_host);
  find_scale(ctx);
}

template <class T, Space S>
OperatorPtr<T, S> SaddleOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                   const SpmvOptions&) {
  if (!natural_) return nullptr;
  std::unique_ptr<SaddleOperator> moved(new SaddleOperator(std::move(*this)));
  moved->natural_ = order.natural();
  moved->place(ctx, to_vector(ctx, order.new_of_old.cspan()));
  return moved;
}

template <class T, Space S>
void SaddleOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  const auto primal = static_cast<std::int64_t>(users_.primal.size()),
             constraints = static_cast<std::int64_t>(users_.constraints.size());
  gather<T, S>(ctx, x, row_.cspan(), in_.span());
  const Span<T, S> top(in_.data(), primal), bottom(in_.data() + primal, constraints), z_top(out_.data(), primal),
      z_bottom(out_.data() + primal, constraints);
  schur_.apply(ctx, products(), bottom, z_bottom);
  const double sign = triangular_ ? -schur_.sign() : 1;
  newel::scale<T, S>(ctx, static_cast<T>(sign * scale_), z_bottom);
  if (triangular_ && coupling_.product != nullptr) coupling_.product->apply(ctx, T(-1), z_bottom, T(1), top);
  primal_inverse_->apply(ctx, T(1), top, T(0), z_top);
  if (alpha == T(1) && beta == T(0)) return gather<T, S>(ctx, out_.cspan(), place_.cspan(), y);
  gather<T, S>(ctx, out_.cspan(), place_.cspan(), between_.span());
  axpby<T, S>(ctx, alpha, between_.cspan(), beta, y);
}

template <class T, Space S>
OperatorTraits<T, S> SaddleOperator<T, S>::traits() const {
  OperatorTraits<T, S> traits;
  traits.capturable = primal_inverse_->capturable() && schur_.capturable();
  traits.takes_long = S == Space::device;
  return traits;
}

template <class T, Space S>
OperatorInfo SaddleOperator<T, S>::info() const {
  OperatorInfo info;
  const OperatorInfo of_primal = primal_inverse_->info();
  const auto add = [&](const OperatorInfo& part, std::uint64_t times) {
    info.nonzeros += part.nonzeros;
    info.stored_slots += part.stored_slots;
    info.bytes_per_product += times * part.bytes_per_product;
    info.bytes.insert(info.bytes.end(), part.bytes.begin(), part.bytes.end());
  };
  add(of_primal, 1);
  const bool commutes = schur_.kind() == SaddleSchur::commutator;
  if (schur_.inverse() != nullptr) add(schur_.inverse()->info(), commutes ? 2 : 1);
  if (triangular_ && coupling_.product != nullptr) add(coupling_.product->info(), 1);
  info.name = "saddle";
  info.rows = info.cols = rows_;
  info.detail = std::to_string(users_.constraints.size()) + " constraints, block-" +
                (triangular_ ? "triangular" : "diagonal") + "; " + primal_name_ + " on the other " +
                std::to_string(users_.primal.size()) + " rows; Schur complement: " + schur_.text();
  info.figures = {{"constraints", static_cast<double>(users_.constraints.size())}, {"scale", scale_}};
  info.levels = of_primal.levels;
  std::uint64_t of_blocks = 0;
  for (const auto* block : {&primal_, &coupling_, &transposed_, &constraint_}) {
    of_blocks += block->val.bytes() + block->source.bytes() + block->row_ptr.bytes() + block->col.bytes();
  }
  info.bytes.emplace_back("blocks", of_blocks);
  info.bytes.emplace_back("vectors", 4 * in_.bytes() + row_.bytes() + place_.bytes());
  info.bytes_per_product += 4 * in_.bytes() + 2 * row_.bytes();
  info.setup_seconds = seconds_;
  return info;
}

#define X(T, S) template class SaddleOperator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
