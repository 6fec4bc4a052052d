// SPDX-License-Identifier: Apache-2.0
// KLU, called alone with its defaults.
#include "direct_alone.hpp"

#include <newel/core/error.hpp>
#include "solver/direct/libraries/klu_library.hpp"

namespace newel::bench {
namespace {

class KluAlone final : public DirectAlone {
 public:
  explicit KluAlone(const ByColumns& a) : klu_(*detail::klu()), a_(a) {
    klu_.klu_defaults(&common_);
    symbolic_ = klu_.klu_analyze(a.size, plain(a.begin), plain(a.row), &common_);
    if (symbolic_ != nullptr)
      numeric_ = klu_.klu_factor(plain(a.begin), plain(a.row), plain(a.value), symbolic_, &common_);
    if (numeric_ == nullptr) {
      drop();
      throw InputError("KLU finds no factors");
    }
  }
  ~KluAlone() override { drop(); }
  KluAlone(const KluAlone&) = delete;
  KluAlone& operator=(const KluAlone&) = delete;

  void refactorise() override {
    klu_.klu_refactor(plain(a_.begin), plain(a_.row), plain(a_.value), symbolic_, numeric_, &common_);
  }
  void solve(std::vector<double>& v) override { klu_.klu_solve(symbolic_, numeric_, a_.size, 1, v.data(), &common_); }

 private:
  // KLU takes pointers to what it only reads.
  template <class Value>
  static Value* plain(const std::vector<Value>& values) {
    return const_cast<Value*>(values.data());
  }
  void drop() {
    if (numeric_ != nullptr) klu_.klu_free_numeric(&numeric_, &common_);
    if (symbolic_ != nullptr) klu_.klu_free_symbolic(&symbolic_, &common_);
  }

  const detail::Klu& klu_;
  const ByColumns& a_;
  detail::KluCommon common_{};
  detail::KluSymbolic* symbolic_ = nullptr;
  detail::KluNumeric* numeric_ = nullptr;
};

}  // namespace

ByColumns::ByColumns(const Csr<double, Space::host>& a) : size(a.rows) {
  const auto n = static_cast<std::size_t>(size), entries = static_cast<std::size_t>(a.nnz());
  begin.assign(n + 1, 0);
  for (std::size_t e = 0; e < entries; ++e) ++begin[static_cast<std::size_t>(a.col.data()[e]) + 1];
  for (std::size_t j = 0; j < n; ++j) begin[j + 1] += begin[j];
  row.resize(entries);
  value.resize(entries);
  std::vector<int> next(begin.begin(), begin.end() - 1);
  const CsrView<double, Space::host> view(a);
  for (int i = 0; i < size; ++i) {
    for (Offset e = view.row_begin(i); e < view.row_begin(i + 1); ++e) {
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(view.col[e])]++);
      row[to] = i;
      value[to] = view.val[e];
    }
  }
}

std::unique_ptr<DirectAlone> direct_alone(const std::string& title, const ByColumns& a) {
  if (title == "L U by KLU") return detail::klu() != nullptr ? std::make_unique<KluAlone>(a) : nullptr;
#ifdef NEWEL_BENCH_HAS_SUITESPARSE
  if (auto found = suitesparse_alone(title, a)) return found;
#endif
#ifdef NEWEL_BENCH_HAS_EIGEN
  return eigen_alone(title, a);
#else
  return nullptr;
#endif
}

}  // namespace newel::bench
