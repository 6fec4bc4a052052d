// SPDX-License-Identifier: Apache-2.0
// CHOLMOD and UMFPACK, called alone with their defaults. Only this program links them; both are under the GPL.
#include "direct_alone.hpp"

#include <suitesparse/cholmod.h>
#include <suitesparse/umfpack.h>

#include <cstring>

#include <newel/core/error.hpp>

namespace newel::bench {
namespace {

// L L^T of the lower triangle. CHOLMOD chooses order, and rows or supernodes, by itself.
class CholmodAlone final : public DirectAlone {
 public:
  explicit CholmodAlone(const ByColumns& a) {
    cholmod_start(&common_);
    common_.print = 0;
    matrix_.nrow = matrix_.ncol = static_cast<std::size_t>(a.size);
    matrix_.nzmax = a.row.size();
    matrix_.p = const_cast<int*>(a.begin.data());
    matrix_.i = const_cast<int*>(a.row.data());
    matrix_.x = const_cast<double*>(a.value.data());
    matrix_.stype = -1;  // what lies above the diagonal is not read
    matrix_.itype = CHOLMOD_INT;
    matrix_.xtype = CHOLMOD_REAL;
    matrix_.dtype = CHOLMOD_DOUBLE;
    matrix_.sorted = matrix_.packed = 1;
    factor_ = cholmod_analyze(&matrix_, &common_);
    refactorise();
    if (common_.status == CHOLMOD_OK && factor_ != nullptr) return;
    drop();
    throw InputError("CHOLMOD finds no factors");
  }
  ~CholmodAlone() override { drop(); }
  CholmodAlone(const CholmodAlone&) = delete;
  CholmodAlone& operator=(const CholmodAlone&) = delete;

  void refactorise() override { cholmod_factorize(&matrix_, factor_, &common_); }
  void solve(std::vector<double>& v) override {
    cholmod_dense b{};
    b.nrow = b.nzmax = b.d = v.size();
    b.ncol = 1;
    b.x = v.data();
    b.xtype = CHOLMOD_REAL;
    b.dtype = CHOLMOD_DOUBLE;
    cholmod_dense* x = cholmod_solve(CHOLMOD_A, factor_, &b, &common_);
    if (x == nullptr) throw InputError("CHOLMOD finds no x");
    std::memcpy(v.data(), x->x, v.size() * sizeof(double));
    cholmod_free_dense(&x, &common_);
  }

 private:
  void drop() {
    cholmod_free_factor(&factor_, &common_);
    cholmod_finish(&common_);
  }

  cholmod_common common_{};
  cholmod_sparse matrix_{};
  cholmod_factor* factor_ = nullptr;
};

class UmfpackAlone final : public DirectAlone {
 public:
  explicit UmfpackAlone(const ByColumns& a) : a_(a) {
    if (umfpack_di_symbolic(a.size, a.size, a.begin.data(), a.row.data(), a.value.data(), &symbolic_, nullptr,
                            nullptr) != UMFPACK_OK) {
      throw InputError("UMFPACK finds no factors");
    }
    refactorise();
  }
  ~UmfpackAlone() override {
    umfpack_di_free_numeric(&numeric_);
    umfpack_di_free_symbolic(&symbolic_);
  }
  UmfpackAlone(const UmfpackAlone&) = delete;
  UmfpackAlone& operator=(const UmfpackAlone&) = delete;

  void refactorise() override {
    umfpack_di_free_numeric(&numeric_);
    umfpack_di_numeric(a_.begin.data(), a_.row.data(), a_.value.data(), symbolic_, &numeric_, nullptr, nullptr);
  }
  void solve(std::vector<double>& v) override {
    std::vector<double> x(v.size());
    umfpack_di_solve(UMFPACK_A, a_.begin.data(), a_.row.data(), a_.value.data(), x.data(), v.data(), numeric_,
                     nullptr, nullptr);
    v = x;
  }

 private:
  const ByColumns& a_;
  void *symbolic_ = nullptr, *numeric_ = nullptr;
};

}  // namespace

std::unique_ptr<DirectAlone> suitesparse_alone(const std::string& title, const ByColumns& a) {
  if (title == "L L^T by CHOLMOD") return std::make_unique<CholmodAlone>(a);
  if (title == "L U by UMFPACK") return std::make_unique<UmfpackAlone>(a);
  return nullptr;
}

}  // namespace newel::bench
