// EM steps for the parameters of a program that are tables of probabilities.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plated/fit.hpp"
#include "plated/torch/parameters.hpp"
#include "plated/torch/program.hpp"

namespace plated::torch {

/// Learns tables of a program by EM, with plated::fit, and writes them into their parameters; all else stays as it is.
/// `tables` says of which sites a parameter is the table: a simplex of a Categorical, a unit interval of a Bernoulli;
/// several sites share its numbers. An optimiser of the other parameters, Parameters::free, may take turns with it.
///
///   fit(p, model(p, data), {{"initial", {"start"}}, {"transition", {"x"}}}, {.iterations = 1});
///
/// The options and what is returned are those of plated::fit; `learn` is what `tables` says. A site that observes a
/// parameter, its prior, does not count here: FitOptions::pseudo_count does. Throws UnknownNameError for parameters and
/// sites that are not there, OptionError where a parameter is not the table of its site, and what plated::fit throws.
Fit fit(Parameters& parameters, const Program& program, const std::map<std::string, std::vector<std::string>>& tables,
        const FitOptions& options = {});

}  // namespace plated::torch
