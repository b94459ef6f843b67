// Runs a benchmark's main and turns exceptions into a message and an exit code.
#pragma once

#include <cstdio>
#include <exception>

namespace bench {

template <class Run>
int run_program(const char* name, Run run, int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace bench
