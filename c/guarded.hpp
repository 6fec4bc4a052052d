// SPDX-License-Identifier: Apache-2.0
/// What a newel_system is, and how the functions of newel.h use it: exceptions become numbers and texts here, and
/// nowhere else. Internal.
#pragma once

#include <atomic>
#include <new>
#include <string>

#include <newel/core/error.hpp>

#include "newel.h"
#include "settings.hpp"
#include "system.hpp"

struct newel_system {
  newel::c::Settings settings;
  std::unique_ptr<newel::c::System> system;
  std::vector<newel::SolveReport> reports;
  newel::SystemInfo info;
  double setup_seconds = 0;
  newel_progress progress = nullptr;
  void* user = nullptr;
  std::string error, text;
  std::atomic<bool> busy{false};
};

namespace newel::c {

inline int failed(newel_system* s, int code, const char* words) {
  try {
    s->error = words;
  } catch (const std::bad_alloc&) {
    s->error.clear();
  }
  return code;
}

// Runs `work` if nobody else uses the system; what it throws becomes a number and a text.
template <class Work>
int guarded(newel_system* s, Work&& work) noexcept {
  if (s == nullptr || s->busy.exchange(true)) return NEWEL_INVALID;
  int code = NEWEL_OK;
  try {
    s->error.clear();
    code = work();
  } catch (const InputError& e) {
    code = failed(s, NEWEL_INVALID, e.message().text(s->settings.index_base).c_str());
  } catch (const OutOfMemory& e) {
    code = failed(s, NEWEL_OUT_OF_MEMORY, e.what());
  } catch (const std::bad_alloc&) {
    code = failed(s, NEWEL_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    code = failed(s, NEWEL_INTERNAL, e.what());
  } catch (...) {
    code = failed(s, NEWEL_INTERNAL, "an exception of an unknown type");
  }
  s->busy = false;
  return code;
}

inline System& system_of(newel_system* s) {
  if (s->system == nullptr)
    throw InputError("the system has not been set up: call one of the newel_setup functions first");
  return *s->system;
}

}  // namespace newel::c
