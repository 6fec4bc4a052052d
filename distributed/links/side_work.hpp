// SPDX-License-Identifier: Apache-2.0
/// SideWork: what a rank does beside its main work, on a device. Internal.
#pragma once

#include <memory>

#include <newel/core/context.hpp>

namespace newel::detail {

/// A second context of a rank. On the host it is the first, and nothing runs side by side.
template <Space S>
class SideWork {
 public:
  /// `main` has ranks, and must outlive this.
  explicit SideWork(const Context<S>& main) : main_(main) {}

  const Context<S>& context() const { return main_; }
  /// Work of the side from now on waits for what the main work is now.
  void start() const {}
  /// The other way round.
  void finish() const {}

 private:
  Context<S> main_;
};

template <>
class SideWork<Space::device> {
 public:
  explicit SideWork(const Context<Space::device>& main);
  ~SideWork();
  SideWork(const SideWork&) = delete;
  SideWork& operator=(const SideWork&) = delete;

  const Context<Space::device>& context() const;
  void start() const;
  void finish() const;

 private:
  struct Streams;
  std::unique_ptr<Streams> streams_;
};

}  // namespace newel::detail
