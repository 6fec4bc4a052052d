# SPDX-License-Identifier: Apache-2.0
# install(EXPORT) so that find_package(purlin) works from an install tree.
