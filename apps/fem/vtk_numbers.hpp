// SPDX-License-Identifier: Apache-2.0
/// Words and numbers of legacy VTK files: keywords in any case, escaped names, the types of arrays. For their reader.
#pragma once

#include <string>
#include <string_view>

#include "apps/fem/mesh_text.hpp"

namespace newel::fem::detail {

enum class VtkType { bit, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

/// Binary numbers are big-endian.
constexpr bool vtk_swap = __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__;

std::string vtk_upper(std::string_view word);
/// "%20" and its like in the names of arrays.
std::string vtk_decoded(std::string_view name);

/// The name of a type, which is the next word; InputError for others.
VtkType read_vtk_type(MeshText& text);
/// 1 for a bit, although eight of them share a byte.
std::size_t vtk_bytes(VtkType type);
/// The next binary number.
double raw_vtk_number(MeshText& text, VtkType type);

}  // namespace newel::fem::detail
