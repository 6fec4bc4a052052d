// SPDX-License-Identifier: Apache-2.0
// From what was requested to what a Monodomain is made with.
#include "heart_job.hpp"

#include "apps/transient/resume.hpp"

namespace newel::heart {

void set_heart_defaults(transient::RunOptions& options) {
  options.duration = 400;
  options.dt = 0.25;
  options.output_every = 5;
  options.system.solver.name = "cg";
  options.system.stop.rel_tol = 1e-6;
}

// What a run asks of one setup: about two Newton iterations a step, a dozen products each; formats differ by far
// more.
SystemOptions system_options_of(const HeartJob& job) {
  constexpr double products_a_step = 24;
  SystemOptions options = job.options.system;
  options.expected_products = products_a_step * job.options.duration / job.options.dt;
  if (job.resume) take_kept_order(*job.resume, job.body.input.mesh.node_count(), options);
  return options;
}

NewtonOptions newton_options_of(const HeartJob& job) {
  return {job.options.system.stop.rel_tol, static_cast<int>(job.params.newton_iterations)};
}

HeartView heart_of(const Context<Space::host>& host, const HeartJob& job) {
  HeartView heart(job.body.input.mesh, job.body.fibers);
  heart.marks = mark_elements(host, job.body, job.stimuli, job.params.stimulus_radius);
  heart.tissue = job.params.tissue;
  heart.conductivity = job.params.conductivity;
  heart.around = job.body.input.around;
  return heart;
}

}  // namespace newel::heart
