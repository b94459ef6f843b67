# Finds the libtorch that plated::torch is built on: the CPU build of the Python package torch 2.13.0.
#
# PLATED_TORCH_PYTHON is the Python that has it (python3 unless it says otherwise); where Torch_DIR or CMAKE_PREFIX_PATH
# leads to libtorch, no Python is asked.
set(PLATED_TORCH_VERSION 2.13.0)
set(PLATED_TORCH_PYTHON python3 CACHE STRING "The Python whose package torch has libtorch")

set(torch_advice "plated::torch is built on the CPU build of torch==${PLATED_TORCH_VERSION} of the Python index. Install it with pip and \
set PLATED_TORCH_PYTHON to the Python that has it, or set Torch_DIR; without PLATED_BUILD_TORCH Plated needs no libtorch.")

if(NOT Torch_DIR)
  execute_process(COMMAND ${PLATED_TORCH_PYTHON} -c "import torch; print(torch.utils.cmake_prefix_path)"
    OUTPUT_VARIABLE torch_prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE torch_missing)
  if(NOT torch_missing EQUAL 0)
    set(torch_prefix "")
  endif()
endif()
find_file(PLATED_TORCH_CONFIG TorchConfig.cmake HINTS ${Torch_DIR} ${torch_prefix}/Torch PATH_SUFFIXES share/cmake/Torch NO_CACHE)
if(NOT PLATED_TORCH_CONFIG)
  message(FATAL_ERROR "libtorch was not found: ${PLATED_TORCH_PYTHON} has no package torch. ${torch_advice}")
endif()
cmake_path(GET PLATED_TORCH_CONFIG PARENT_PATH torch_dir)
# Looked at before its own files are: those of other builds stop for want of CUDA before anybody could say why.
cmake_path(SET torch_root NORMALIZE ${torch_dir}/../../..)
if(EXISTS ${torch_root}/lib/libtorch_cuda.so OR EXISTS ${torch_root}/lib/libtorch_hip.so)
  message(FATAL_ERROR "the libtorch in ${torch_root} is a build for graphics processors. ${torch_advice}")
endif()
find_package(Torch QUIET CONFIG PATHS ${torch_dir} NO_DEFAULT_PATH)
if(NOT Torch_FOUND)
  message(FATAL_ERROR "the libtorch in ${torch_root} cannot be used. ${torch_advice}")
endif()
if(NOT Torch_VERSION VERSION_EQUAL PLATED_TORCH_VERSION)
  message(FATAL_ERROR "the libtorch in ${torch_root} has version ${Torch_VERSION}. ${torch_advice}")
endif()
