// SPDX-License-Identifier: Apache-2.0
/// What calls of METIS have in common. Internal; in builds with METIS.
#pragma once

#include <metis.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include <newel/core/types.hpp>

namespace newel::detail {

static_assert(sizeof(idx_t) * 8 == IDXTYPEWIDTH, "metis.h does not agree with itself");
static_assert(sizeof(idx_t) >= sizeof(Index), "METIS numbers fewer vertices than Newel");

/// One call at a time. METIS calls srand: the caller's sequence of rand and random is put aside meanwhile.
class MetisTurn {
 public:
  MetisTurn() : lock_(one_at_a_time()), callers_(initstate(1, state_, sizeof state_)) {}
  ~MetisTurn() { setstate(callers_); }
  MetisTurn(const MetisTurn&) = delete;
  MetisTurn& operator=(const MetisTurn&) = delete;

 private:
  static std::mutex& one_at_a_time() {
    static std::mutex mutex;
    return mutex;
  }

  std::lock_guard<std::mutex> lock_;
  char state_[128];  // the size of the C library's own
  char* callers_;
};

template <class From>
std::vector<idx_t> metis_numbers(const From& from) {
  return std::vector<idx_t>(from.begin(), from.end());
}

/// Empty: no error.
inline std::string metis_error(int code) {
  switch (code) {
    case METIS_OK:
      return "";
    case METIS_ERROR_INPUT:
      return "METIS rejected its input";
    case METIS_ERROR_MEMORY:
      return "METIS ran out of memory";
    default:
      return "METIS failed";
  }
}

}  // namespace newel::detail
