// fit: learns from all data, then scores what was held out; does so for each number of states that is asked for.
#include "learn/cross_validation.hpp"
#include "learn/fit_once.hpp"
#include "learn/vary.hpp"
#include "learn/with_data.hpp"
#include "plated/error.hpp"
#include "plated/fit.hpp"

namespace plated {
namespace {

/// Throws what is wrong with the options before hours are spent on a fit.
void check_held_out(const Model& model, const Data& data, const FitOptions& options) {
  if (options.held_out) (void)learn::with_data(model, *options.held_out);
  if (!options.cross_validate.empty()) learn::check_folds(model, data, options);
}

}  // namespace

Fit fit(const Model& model, const Data& data, const FitOptions& options) {
  if (!options.vary.empty()) return learn::fit_varied(model, data, options);
  check_held_out(model, data, options);
  Fit result = learn::fit_once(model, data, options);
  if (options.held_out && !result.interrupted) {
    const EvaluateOptions how{
        .threads = options.threads, .memory_limit = options.memory_limit, .cancelled = options.cancelled};
    try {
      result.held_out = evaluate(result.model, *options.held_out, how).log_likelihood;
    } catch (const CancelledError&) {
      result.interrupted = true;
    }
  }
  if (!options.cross_validate.empty() && !result.interrupted) {
    learn::cross_validate(result, model, data, options);
  }
  return result;
}

}  // namespace plated
