// SPDX-License-Identifier: Apache-2.0
// Work of a device beside its main work: a stream, and events between the two.
#include "distributed/links/side_work.hpp"

#include "distributed/links/device_link.hpp"
#include "distributed/links/device_memory_device.hpp"

namespace newel::detail {

struct SideWork<Space::device>::Streams {
  explicit Streams(const Context<Space::device>& ctx) : main(ctx), side(with_stream(ctx, stream.get())) {}

  Context<Space::device> main;
  OwnStream stream = make_stream();
  OwnEvent started = make_event(), finished = make_event();
  Context<Space::device> side;
};

SideWork<Space::device>::SideWork(const Context<Space::device>& main) : streams_(std::make_unique<Streams>(main)) {}
SideWork<Space::device>::~SideWork() = default;

const Context<Space::device>& SideWork<Space::device>::context() const { return streams_->side; }

void SideWork<Space::device>::start() const {
  let_follow(streams_->stream.get(), streams_->main.stream(), streams_->started);
}

void SideWork<Space::device>::finish() const {
  let_follow(streams_->main.stream(), streams_->stream.get(), streams_->finished);
}

}  // namespace newel::detail
