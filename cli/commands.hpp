// The commands, each in a file of its own name. They return an exit code; errors.cpp handles what they throw.
#pragma once

#include <string>
#include <vector>

#include "arguments.hpp"

namespace plated::cli {

int solve(const Solve& wanted, const Common& common);
int fit(const FitCommand& wanted, const Common& common);
int evaluate(const Evaluate& wanted, const Common& common);
int convert(const Convert& wanted, const Common& common);
int einsum(const Einsum& wanted, const Common& common);
int explain(const Explain& wanted, const Common& common);
int draw(const Draw& wanted, const Common& common);
int bench(const Bench& wanted, const Common& common);
int completion(const Completion& wanted, const std::vector<CommandHelp>& commands);

}  // namespace plated::cli
