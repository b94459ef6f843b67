# Declares the rooms of src/ and their tests.
#
# plated_room(<name> SOURCES … [LIBRARIES …]): a room of src/ as an object library; tests/architecture checks that it
# includes only the rooms it may.
# plated_test(<name> LABEL <folder> [threads …] SOURCES … [ROOMS …] [LIBRARIES …] [TIMEOUT <seconds>]
# [UNSANITIZED]): a GoogleTest program; each of its cases is a CTest test with those labels, named after the first. With
# ROOMS it links just those rooms, without it the whole of plated::core. Tests labelled `threads` also run under
# ThreadSanitizer. With UNSANITIZED it is left out of sanitized builds: it runs no code that others do not, or takes long
# for what it could find.

include(GoogleTest)

add_library(plated_flags INTERFACE)
target_compile_options(plated_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wno-missing-field-initializers -fno-math-errno $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi -Wno-maybe-uninitialized -Wno-restrict>)
if(PLATED_SANITIZE)
  # Undefined behaviour is searched for in the rooms alone: in tests it would double the time of a compilation.
  string(REPLACE ",undefined" "" sanitizers "${PLATED_SANITIZE}")
  target_compile_options(plated_flags INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(plated_flags INTERFACE -fsanitize=${PLATED_SANITIZE})
  find_program(PLATED_GOLD ld.gold)
  if(PLATED_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Hundreds of large programs are linked.
    target_link_options(plated_flags INTERFACE -fuse-ld=gold)
  endif()
  if(PLATED_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Checks by call compile in half the time of checks in place.
    target_compile_options(plated_flags INTERFACE --param=asan-instrumentation-with-call-threshold=0)
  endif()
  # Instrumented SIMD loops are slow to compile: one target finds what a sanitizer can find. It is the wide one where this
  # machine has it, as the kernels' baseline.
  include(CheckCXXSourceRuns)
  check_cxx_source_runs([[int main() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") ? 0 : 1;
  }]] PLATED_MACHINE_HAS_AVX2)
  target_compile_definitions(plated_flags INTERFACE
    "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|$<$<NOT:$<BOOL:${PLATED_MACHINE_HAS_AVX2}>>:HWY_AVX2|>HWY_AVX3|HWY_AVX3_DL)")
endif()

# The programs whose tests are labelled `threads`: all that a ThreadSanitizer build needs.
add_custom_target(plated_threads_tests)

# What every room compiles with.
function(plated_room_flags name)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE plated_flags)
  if(PLATED_SANITIZE)
    # GCC takes what is precompiled for our own, and warns of strings of the standard library that cannot be.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds -Wno-stringop-overflow
      -Wno-stringop-overread>)
  endif()
  if(PLATED_SANITIZE MATCHES "undefined" AND NOT name STREQUAL plated_kernels)
    # A null or wrongly typed pointer that is followed meets AddressSanitizer or the machine's own fault: those checks would
    # cost a lot of time for nothing. SIMD loops would take longest of all to compile, and have little else to find.
    target_compile_options(${name} PRIVATE -fsanitize=undefined
      -fno-sanitize=null,vptr,alignment,object-size,nonnull-attribute,returns-nonnull-attribute)
  endif()
endfunction()

# A library without code, whose precompiled header saves rooms a fifth to a third of their time to compile. Only where
# sanitizers make every build a first one: elsewhere ccache shares objects between the release build and the Python
# package, which it cannot where each has a header of its own.
function(plated_room_headers)
  if(TARGET plated_room_headers)
    return()
  endif()
  set(empty ${PROJECT_BINARY_DIR}/plated_room_headers.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "// Nothing but the headers that rooms share.\n")
  add_library(plated_room_headers OBJECT ${empty})
  plated_room_flags(plated_room_headers)
  target_precompile_headers(plated_room_headers PRIVATE <algorithm> <cmath> <cstdint> <cstring> <functional> <limits> <map>
    <memory> <numeric> <optional> <set> <span> <string> <string_view> <utility> <vector>)
endfunction()

function(plated_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  add_library(plated_${name} OBJECT ${ARG_SOURCES})
  plated_room_flags(plated_${name})
  target_link_libraries(plated_${name} PRIVATE ${ARG_LIBRARIES})
  if(PLATED_SANITIZE AND NOT name STREQUAL kernels)  # which have other flags
    plated_room_headers()
    target_precompile_headers(plated_${name} REUSE_FROM plated_room_headers)
  endif()
  set_property(GLOBAL APPEND PROPERTY PLATED_ROOMS plated_${name})
endfunction()

# What every test program compiles with.
function(plated_test_flags name)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/tests)
  # Only what is tested need be optimised.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(PLATED_SANITIZE)
    target_compile_options(${name} PRIVATE -Og -g0)
  endif()
  target_link_libraries(${name} PRIVATE plated_flags GTest::gtest GTest::gtest_main hwy::hwy Threads::Threads)
endfunction()

# A program without tests, whose precompiled header saves the others a quarter of their time to compile.
function(plated_test_headers)
  if(TARGET plated_test_headers)
    return()
  endif()
  set(empty ${PROJECT_BINARY_DIR}/plated_test_headers.cpp)
  file(CONFIGURE OUTPUT ${empty} CONTENT "// Nothing but the headers that tests share.\n")
  add_executable(plated_test_headers ${empty})
  plated_test_flags(plated_test_headers)
  target_precompile_headers(plated_test_headers PRIVATE <gtest/gtest.h> <algorithm> <cmath> <cstdint> <cstring> <functional>
    <limits> <map> <memory> <numeric> <optional> <random> <set> <span> <string> <utility> <vector>)
endfunction()

function(plated_test name)
  cmake_parse_arguments(ARG "UNSANITIZED" "TIMEOUT" "LABEL;SOURCES;ROOMS;LIBRARIES" ${ARGN})
  if(PLATED_SANITIZE AND ARG_UNSANITIZED)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  plated_test_flags(${name})
  plated_test_headers()
  target_precompile_headers(${name} REUSE_FROM plated_test_headers)
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES})
  if(ARG_ROOMS)
    list(TRANSFORM ARG_ROOMS PREPEND plated_)
    target_link_libraries(${name} PRIVATE ${ARG_ROOMS})
  else()
    target_link_libraries(${name} PRIVATE plated_core)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)
  endif()
  if(PLATED_SANITIZE)
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")
  endif()
  list(GET ARG_LABEL 0 folder)
  gtest_discover_tests(${name} TEST_PREFIX "${folder}/" DISCOVERY_TIMEOUT 60
    # A refused allocation is a null pointer, as without the sanitizer, and not the end of the program.
    PROPERTIES LABELS ${folder} TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1)
  if(NOT ARG_LABEL STREQUAL folder)
    # gtest_discover_tests takes one label; further ones are set when CTest reads the discovered list.
    set(labels_file ${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake)
    file(CONFIGURE OUTPUT ${labels_file} @ONLY CONTENT [[
if(DEFINED @name@_TESTS)
  set_tests_properties(${@name@_TESTS} PROPERTIES LABELS "@ARG_LABEL@")
endif()
]])
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${labels_file})
  endif()
  if("threads" IN_LIST ARG_LABEL)
    add_dependencies(plated_threads_tests ${name})
  endif()
endfunction()
