// SPDX-License-Identifier: Apache-2.0
/// Includes the whole public interface. `adapt/` is not included: its headers need other libraries.
#pragma once

#include <newel/config.hpp>
#include <newel/core/array.hpp>
#include <newel/core/assembled_matrix.hpp>
#include <newel/core/context.hpp>
#include <newel/core/csr.hpp>
#include <newel/core/error.hpp>
#include <newel/core/file_text.hpp>
#include <newel/core/file_writer.hpp>
#include <newel/core/matrix_input.hpp>
#include <newel/core/matrix_traits.hpp>
#include <newel/core/memory.hpp>
#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/io/matrix_file.hpp>
#include <newel/io/matrix_market.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/choice.hpp>
#include <newel/precond/fsai/fsai_options.hpp>
#include <newel/precond/inverse_residual.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/precond/registry.hpp>
#include <newel/precond/spai/spai_options.hpp>
#include <newel/reorder/partition.hpp>
#include <newel/reorder/row_order.hpp>
#include <newel/solver/bicgstab.hpp>
#include <newel/solver/cg.hpp>
#include <newel/solver/choice.hpp>
#include <newel/solver/gmres.hpp>
#include <newel/solver/linear_system.hpp>
#include <newel/solver/memory_estimate.hpp>
#include <newel/solver/registry.hpp>
#include <newel/spmv/format_choice.hpp>
#include <newel/spmv/registry.hpp>
