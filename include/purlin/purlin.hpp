// SPDX-License-Identifier: Apache-2.0
/// All of the library's public interface. `adapt/` is not in it: its headers need those of other libraries.
#pragma once

#include <purlin/config.hpp>
#include <purlin/core/array.hpp>
#include <purlin/core/assembled_matrix.hpp>
#include <purlin/core/context.hpp>
#include <purlin/core/csr.hpp>
#include <purlin/core/error.hpp>
#include <purlin/core/matrix_input.hpp>
#include <purlin/core/matrix_market.hpp>
#include <purlin/core/matrix_traits.hpp>
#include <purlin/core/memory.hpp>
#include <purlin/core/vector_ops.hpp>
#include <purlin/io/matrix_file.hpp>
#include <purlin/precond/amg/amg_options.hpp>
#include <purlin/precond/choice.hpp>
#include <purlin/precond/fsai/fsai_options.hpp>
#include <purlin/precond/inverse_residual.hpp>
#include <purlin/precond/pattern_options.hpp>
#include <purlin/precond/registry.hpp>
#include <purlin/precond/spai/spai_options.hpp>
#include <purlin/reorder/partition.hpp>
#include <purlin/reorder/row_order.hpp>
#include <purlin/solver/bicgstab.hpp>
#include <purlin/solver/cg.hpp>
#include <purlin/solver/choice.hpp>
#include <purlin/solver/gmres.hpp>
#include <purlin/solver/linear_system.hpp>
#include <purlin/solver/memory_estimate.hpp>
#include <purlin/solver/registry.hpp>
#include <purlin/spmv/format_choice.hpp>
#include <purlin/spmv/registry.hpp>
