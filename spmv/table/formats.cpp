// SPDX-License-Identifier: Apache-2.0
// The table of product formats: one line each. No other file includes them all.
#include <newel/spmv/registry.hpp>
#include "spmv/bce/bce.hpp"
#include "spmv/csr/csr.hpp"
#include "spmv/ehyb/ehyb.hpp"
#include "spmv/ehyb/ehyb_plan.hpp"
#include "spmv/ehyb_symmetric/ehyb_symmetric.hpp"
#include "spmv/ell_warp/ell_warp.hpp"
#include "spmv/evc_hyb/evc_hyb.hpp"

namespace newel::detail {

Table<SpmvFormat>& format_table() {
  static Table<SpmvFormat> formats = {
      "format",
      {},
      {
          with_operator<CsrOperator>({"csr",
                                      csr_variants(),
                                      "compressed sparse rows; on the device also by cuSPARSE: alg1, alg2",
                                      &csr_bytes,
                                      &csr_cost,
                                      nullptr,
                                      nullptr,
                                      {},
                                      false,
                                      true}),
          with_operator<EhybOperator, &plan_ehyb_order>({"ehyb",
                                                         ehyb_variants(),
                                                         "parts with their x cached, 16-bit columns",
                                                         &ehyb_bytes,
                                                         &ehyb_cost,
                                                         &plan_ehyb_order,
                                                         &ehyb_square_only,
                                                         {},
                                                         true,
                                                         true}),
          with_operator<EhybSymmetricOperator, &plan_ehyb_symmetric_order>(
              {"ehyb-symmetric",
               {},
               "ehyb with opposite blocks of a part read once",
               &ehyb_symmetric_bytes,
               &ehyb_symmetric_cost,
               &plan_ehyb_symmetric_order,
               &ehyb_symmetric_square_only,
               "ehyb",
               true}),
          with_operator<BceOperator>(
              {"bce", {}, "rows of similar width in blocks, by an optimal partition", &bce_bytes, &bce_cost}),
          with_operator<EllWarpOperator>({"ellwarp", ell_warp_variants(),
                                          "rows sorted by length, padded warp by warp, several threads for long rows",
                                          &ell_warp_bytes, &ell_warp_cost, &plan_ell_warp_order,
                                          &ell_warp_square_only}),
          with_operator<EvcHybOperator>({"evchyb", evc_hyb_variants(),
                                         "short rows as ELL by length, long ones as vectorised CSR", &evc_hyb_bytes,
                                         &evc_hyb_cost, &plan_evc_hyb_order, &evc_hyb_square_only}),
      }};
  return formats;
}

}  // namespace newel::detail
