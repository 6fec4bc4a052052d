// SPDX-License-Identifier: Apache-2.0
// Keywords, names and types of legacy VTK files.
#include "apps/fem/vtk_numbers.hpp"

namespace newel::fem::detail {
namespace {

struct NamedType {
  std::string_view name;
  VtkType type;
};
// vtkIdType is written as 32 bits before version 5.1 and does not occur after. VTK itself calls two types by the
// names of their widths, vtktypeint64 and vtktypeuint64; meshio does so with all integers but the bytes without a
// sign.
constexpr NamedType types[] = {{"BIT", VtkType::bit},
                               {"CHAR", VtkType::int8},
                               {"SIGNED_CHAR", VtkType::int8},
                               {"UNSIGNED_CHAR", VtkType::uint8},
                               {"SHORT", VtkType::int16},
                               {"UNSIGNED_SHORT", VtkType::uint16},
                               {"INT", VtkType::int32},
                               {"UNSIGNED_INT", VtkType::uint32},
                               {"VTKIDTYPE", VtkType::int32},
                               {"LONG", VtkType::int64},
                               {"UNSIGNED_LONG", VtkType::uint64},
                               {"VTKTYPEINT8", VtkType::int8},
                               {"VTKTYPEUINT8", VtkType::uint8},
                               {"VTKTYPEINT16", VtkType::int16},
                               {"VTKTYPEUINT16", VtkType::uint16},
                               {"VTKTYPEINT32", VtkType::int32},
                               {"VTKTYPEUINT32", VtkType::uint32},
                               {"VTKTYPEINT64", VtkType::int64},
                               {"VTKTYPEUINT64", VtkType::uint64},
                               {"VTKTYPEFLOAT32", VtkType::float32},
                               {"VTKTYPEFLOAT64", VtkType::float64},
                               {"FLOAT", VtkType::float32},
                               {"DOUBLE", VtkType::float64}};

}  // namespace

std::string vtk_upper(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

std::string vtk_decoded(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    unsigned char byte = 0;
    if (name[i] == '%' && i + 2 < name.size() &&
        std::from_chars(name.data() + i + 1, name.data() + i + 3, byte, 16).ptr == name.data() + i + 3) {
      result += static_cast<char>(byte);
      i += 2;
    } else {
      result += name[i];
    }
  }
  return result;
}

VtkType read_vtk_type(MeshText& text) {
  const std::string_view word = text.word();
  const std::string name = vtk_upper(word);
  for (const NamedType& known : types) {
    if (known.name == name) return known.type;
  }
  text.expect("a type of numbers, such as float or double", word);
}

std::size_t vtk_bytes(VtkType type) {
  switch (type) {
    case VtkType::bit:
    case VtkType::int8:
    case VtkType::uint8:
      return 1;
    case VtkType::int16:
    case VtkType::uint16:
      return 2;
    case VtkType::int32:
    case VtkType::uint32:
    case VtkType::float32:
      return 4;
    default:
      return 8;
  }
}

double raw_vtk_number(MeshText& text, VtkType type) {
  switch (type) {
    case VtkType::int8:
      return text.raw<std::int8_t>(false);
    case VtkType::bit:
    case VtkType::uint8:
      return text.raw<std::uint8_t>(false);
    case VtkType::int16:
      return text.raw<std::int16_t>(vtk_swap);
    case VtkType::uint16:
      return text.raw<std::uint16_t>(vtk_swap);
    case VtkType::int32:
      return text.raw<std::int32_t>(vtk_swap);
    case VtkType::uint32:
      return text.raw<std::uint32_t>(vtk_swap);
    case VtkType::int64:
      return static_cast<double>(text.raw<std::int64_t>(vtk_swap));
    case VtkType::uint64:
      return static_cast<double>(text.raw<std::uint64_t>(vtk_swap));
    case VtkType::float32:
      return text.raw<float>(vtk_swap);
    default:
      return text.raw<double>(vtk_swap);
  }
}

}  // namespace newel::fem::detail
