// SPDX-License-Identifier: Apache-2.0
/// The heap of a program that works for milliseconds: pages that come quickly, and stay.
#pragma once

namespace newel::cli {

/// Gives the heap 64 MB of huge pages at once, and keeps what is freed. The pages are used as memory is touched. A
/// setup of a small system otherwise spends a quarter of its time in page faults, since every large array that is
/// freed returns its pages. Does nothing if the C library is not glibc. Called once, before the first thread.
void prepare_heap();

}  // namespace newel::cli
