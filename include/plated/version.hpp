// The version of Plated, which CMake, the program and the Python package take from here.
#pragma once

#define PLATED_VERSION_MAJOR 0
#define PLATED_VERSION_MINOR 1
#define PLATED_VERSION_PATCH 0
#define PLATED_VERSION "0.1.0"
