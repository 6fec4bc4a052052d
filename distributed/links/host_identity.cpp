// SPDX-License-Identifier: Apache-2.0
// The names of this host and of this process.
#include "distributed/links/host_identity.hpp"

#include <unistd.h>

#include <sstream>

namespace newel::detail {

std::string identity_of_host() {
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

std::string identity_of_process() {
  static const char anchor = 0;  // processes of containers may have equal numbers
  std::ostringstream text;
  text << identity_of_host() << ' ' << getpid() << ' ' << static_cast<const void*>(&anchor);
  return text.str();
}

}  // namespace newel::detail
