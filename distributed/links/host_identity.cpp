// SPDX-License-Identifier: Apache-2.0
// The name of this host.
#include "distributed/links/host_identity.hpp"

#include <unistd.h>

namespace newel::detail {

std::string identity_of_host() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace newel::detail
