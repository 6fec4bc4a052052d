// SPDX-License-Identifier: Apache-2.0
// The module newel.jax._ffi: what XLA calls for a solve. It passes the places of the arrays on to a function of
// Python, which calls newel; the lock is held until that solves, and released meanwhile.
#include <nanobind/nanobind.h>
#include <xla/ffi/api/ffi.h>

#include <cstdint>
#include <exception>
#include <string>

namespace newel::jax {
namespace {

namespace nb = nanobind;
namespace ffi = xla::ffi;

// What solves. Not a global object, which would be destroyed after the interpreter.
nb::object& solver() {
  static auto* const kept = new nb::object();
  return *kept;
}

// As NumPy writes it, without the order of bytes; empty for types that a solve does not take.
const char* type_of(ffi::DataType type) {
  switch (type) {
    case ffi::DataType::F32:
      return "f4";
    case ffi::DataType::F64:
      return "f8";
    case ffi::DataType::S32:
      return "i4";
    case ffi::DataType::S64:
      return "i8";
    case ffi::DataType::U32:
      return "u4";
    case ffi::DataType::U64:
      return "u8";
    default:
      return "";
  }
}

nb::tuple shape_of(const ffi::AnyBuffer& buffer) {
  nb::list result;
  for (const std::int64_t length : buffer.dimensions()) result.append(length);
  return nb::tuple(result);
}

// (memory, shape, type): memory of the host as a memoryview, that of a device as its address.
nb::tuple place_of(const ffi::AnyBuffer& buffer, bool on_host, int access) {
  nb::object memory;
  if (on_host) {
    memory = nb::steal(PyMemoryView_FromMemory(static_cast<char*>(buffer.untyped_data()),
                                               static_cast<Py_ssize_t>(buffer.size_bytes()), access));
    if (!memory.is_valid()) throw nb::python_error();
  } else {
    memory = nb::int_(reinterpret_cast<std::uintptr_t>(buffer.untyped_data()));
  }
  return nb::make_tuple(memory, shape_of(buffer), type_of(buffer.element_type()));
}

// `stream`: None on the host.
ffi::Error solve(const nb::object& stream, ffi::RemainingArgs inputs, ffi::RemainingRets outputs, std::int64_t setups,
                 const std::string& form, bool transposed, bool raises) {
  nb::list places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    places.append(place_of(inputs.get<ffi::AnyBuffer>(i).value(), stream.is_none(), PyBUF_READ));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    places.append(place_of(*outputs.get<ffi::AnyBuffer>(i).value(), stream.is_none(), PyBUF_WRITE));
  }
  const nb::object wrong = solver()(stream, setups, nb::str(form.c_str()), transposed, raises, places);
  if (wrong.is_none()) return ffi::Error::Success();
  return ffi::Error(ffi::ErrorCode::kInternal, nb::cast<nb::str>(wrong).c_str());
}

// No exception may leave what XLA calls.
template <class MakeStream>
ffi::Error guarded(const MakeStream& stream, ffi::RemainingArgs inputs, ffi::RemainingRets outputs,
                   std::int64_t setups, std::string_view form, bool transposed, bool raises) {
  if (!Py_IsInitialized()) return ffi::Error(ffi::ErrorCode::kCancelled, "newel.jax: the interpreter has ended");
  const nb::gil_scoped_acquire locked;
  try {
    return solve(stream(), inputs, outputs, setups, std::string(form), transposed, raises);
  } catch (const std::exception& error) {
    return ffi::Error(ffi::ErrorCode::kInternal, error.what());
  }
}

ffi::Error on_host(ffi::RemainingArgs inputs, ffi::RemainingRets outputs, std::int64_t setups, std::string_view form,
                   bool transposed, bool raises) {
  return guarded([] { return nb::none(); }, inputs, outputs, setups, form, transposed, raises);
}

ffi::Error on_device(void* stream, ffi::RemainingArgs inputs, ffi::RemainingRets outputs, std::int64_t setups,
                     std::string_view form, bool transposed, bool raises) {
  const auto made = [&] { return nb::int_(reinterpret_cast<std::uintptr_t>(stream)); };
  return guarded(made, inputs, outputs, setups, form, transposed, raises);
}

XLA_FFI_DEFINE_HANDLER(host_handler, on_host,
                       ffi::Ffi::Bind()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<std::int64_t>("setups")
                           .Attr<std::string_view>("form")
                           .Attr<bool>("transposed")
                           .Attr<bool>("raises"));

XLA_FFI_DEFINE_HANDLER(device_handler, on_device,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::PlatformStream<void*>>()
                           .RemainingArgs()
                           .RemainingRets()
                           .Attr<std::int64_t>("setups")
                           .Attr<std::string_view>("form")
                           .Attr<bool>("transposed")
                           .Attr<bool>("raises"));

nb::capsule capsule_of(XLA_FFI_Handler* handler) { return nb::capsule(reinterpret_cast<void*>(handler)); }

}  // namespace
}  // namespace newel::jax

NB_MODULE(_ffi, module) {
  using namespace newel::jax;
  module.doc() = "What XLA calls. Its names may change; use those of newel.jax.";
  nb::set_leak_warnings(false);
  module.def("handlers", [] {
    nb::dict result;
    result["cpu"] = capsule_of(host_handler);
    result["CUDA"] = capsule_of(device_handler);
    return result;
  });
  module.def(
      "set_solver", [](nb::object function) { solver() = std::move(function); }, nb::arg("function"),
      "What is called with (stream, setups, form, transposed, raises, places) and returns an error's text or None.");
}
