// SPDX-License-Identifier: Apache-2.0
// Builds it, measures |A M - I|, and says what it is or why it is refused.
#include "precond_facts.hpp"

#include <newel/precond/registry.hpp>

#include "apps/common/precond_report.hpp"
#include "apps/common/stopwatch.hpp"
#include "apps/common/text.hpp"

namespace newel::cli {
PrecondFacts precond_facts(const Context<Space::host>& ctx, const CsrView<double, Space::host>& a,
                           const PrecondOptions& options, std::shared_ptr<const NodeCoordinates> coordinates) {
  PrecondFacts facts;
  facts.options = options;
  SpmvOptions csr;
  csr.coordinates = std::move(coordinates);
  const Stopwatch watch;
  try {
    const auto m = make_precond<double, Space::host>(ctx, a, {}, options, csr);
    facts.seconds = watch.seconds();
    facts.info = m->info();
    facts.residual =
        inverse_residual(ctx, *make_spmv<double, Space::host>(ctx, a, {}, csr), *m, precond_side(options));
  } catch (const ZeroDiagonal& error) {
    facts.refusal = in_words_of_the_file(error, options.name);
  } catch (const NotSymmetric& error) {
    facts.refusal = in_words_of_the_file(error, options.name);
  } catch (const NotPositiveDefinite& error) {
    facts.refusal = in_words_of_the_file(error, options.name);
  } catch (const InputError& error) {
    facts.refusal = error.what();
  }
  return facts;
}

std::string precond_facts_text(const PrecondFacts& facts) {
  if (!facts.refusal.empty())
    return labelled("preconditioner", facts.options.name + " cannot be set up: " + facts.refusal);
  std::string result = labelled("preconditioner", precond_text(facts.info)) + levels_text(facts.info);
  std::string phases;
  for (const auto& [phase, seconds] : facts.info.setup_seconds) {
    phases += (phases.empty() ? ": " : ", ") + phase + ' ' + duration(seconds);
  }
  result += labelled("built in", duration(facts.seconds) + phases);
  const char* product = precond_side(facts.options) == PrecondSide::left ? "|M A - I|_F" : "|A M - I|_F";
  return result + labelled(product, inverse_residual_text(*facts.residual));
}

Json precond_facts_json(const PrecondFacts& facts) {
  Json result = {{"name", facts.options.name}, {"options", precond_options_json(facts.options, facts.files)}};
  result["refusal"] = facts.refusal.empty() ? Json() : Json(facts.refusal);
  result["build_seconds"] = facts.refusal.empty() ? Json(facts.seconds) : Json();
  result["operator"] = facts.refusal.empty() ? operator_json(facts.info) : Json();
  result["residual"] = residual_json(facts.residual);
  return result;
}

}  // namespace newel::cli
