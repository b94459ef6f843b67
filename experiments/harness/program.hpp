// The main function of an experiment's program.
#pragma once

#include <cstdio>
#include <exception>

#include "harness/arguments.hpp"

namespace experiments {

/// Does a run of these words; what it throws is a message on standard error. Returns the program's exit status.
inline int run_program(int count, char** words, void (*run)(Arguments&)) {
  try {
    Arguments arguments(count, words);
    run(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace experiments
