# Declares the rooms of src/ and their tests.
#
# plated_batches(<target>): the target's sources are compiled in batches, unless PLATED_UNITY is off.
# plated_room(<name> SOURCES … [ALONE …] [LIBRARIES …]): a room of src/ as an object library, compiled in batches but for
# the sources named after ALONE; tests/architecture checks that it includes only the rooms it may.
# plated_library(<name> ROOMS … [LIBRARIES …]): plated::<name>, a static library of rooms, which is a component of the
# installed package; all but the core link to plated::core.
# plated_test(<name> LABEL <folder> [threads …] SOURCES … [ROOMS …] [LIBRARIES …] [TIMEOUT <seconds>]
# [UNSANITIZED]): a GoogleTest program; each of its cases is a CTest test with those labels, named after the first. With
# ROOMS it links just those rooms, without it the whole of plated::core. Tests labelled `threads` also run under
# ThreadSanitizer. With UNSANITIZED it is left out of sanitized builds.

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
  if(PLATED_SANITIZE MATCHES "address")
    # Checks by call compile in half the time of checks in place.
    target_compile_options(plated_flags INTERFACE $<IF:$<CXX_COMPILER_ID:GNU>,--param=asan-instrumentation-with-call-threshold=0,SHELL:-mllvm$<SEMICOLON>-asan-instrumentation-with-call-threshold=0>)
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

# The programs whose tests are labelled `threads`, which are all that a ThreadSanitizer build needs, and the others.
add_custom_target(plated_threads_tests)
add_custom_target(plated_sanitized_tests)

# What every room compiles with.
function(plated_room_flags name)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${name} PRIVATE plated_flags)
  # One section per function and object, so that the linker leaves out what a program does not use.
  target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
  if(name MATCHES "_(graph|planner|engine|adjoint|api|model|reduce|io|draw)$")
    # They have few loops over numbers: what -O3 adds is a quarter more code, and no speed.
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  if(PLATED_SANITIZE MATCHES "undefined" AND NOT name STREQUAL plated_room_kernels)
    # A null or wrongly typed pointer that is followed meets AddressSanitizer or the machine's own fault: those checks would
    # cost a lot of time for nothing. SIMD loops would take longest of all to compile, and have little else to find.
    target_compile_options(${name} PRIVATE -fsanitize=undefined
      -fno-sanitize=null,vptr,alignment,object-size,nonnull-attribute,returns-nonnull-attribute)
  endif()
  if(PLATED_BUILD_FUZZ AND name MATCHES "_(base|tensor|graph|model|io)$")
    target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# Most of the time to compile a small source goes into headers and templates that its neighbours need as well. Batches are
# small enough to make a change quick to compile, and of about equal size.
function(plated_batches target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(alone ${target} PLATED_ALONE)
  if(alone)
    set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    list(REMOVE_ITEM sources ${alone})
  endif()
  list(LENGTH sources count)
  math(EXPR batches "(${count} + 19) / 20")
  math(EXPR size "(${count} + ${batches} - 1) / ${batches}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${PLATED_UNITY} UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

function(plated_room name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;LIBRARIES" ${ARGN})
  if(NOT ARG_SOURCES)
    return()
  endif()
  set(target plated_room_${name})
  add_library(${target} OBJECT ${ARG_SOURCES} ${ARG_ALONE})
  set_target_properties(${target} PROPERTIES PLATED_ALONE "${ARG_ALONE}")
  plated_room_flags(${target})
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES})
  plated_batches(${target})
  set_property(GLOBAL APPEND PROPERTY PLATED_ROOMS ${target})
endfunction()

function(plated_library name)
  cmake_parse_arguments(ARG "" "" "ROOMS;LIBRARIES" ${ARGN})
  set(target plated_${name})
  set(file_name plated)
  if(NOT name STREQUAL core)
    set(file_name ${target})
  endif()
  add_library(${target} STATIC)
  add_library(plated::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME ${file_name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  foreach(room IN LISTS ARG_ROOMS)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:plated_room_${room}>)
  endforeach()
  if(NOT name STREQUAL core)
    target_link_libraries(${target} PUBLIC plated_core)
  elseif(CMAKE_SYSTEM_NAME STREQUAL Linux)
    # Programs are linked without the kernels and verbs that they do not use.
    target_link_options(${target} INTERFACE $<INSTALL_INTERFACE:LINKER:--gc-sections>)
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} $<BUILD_INTERFACE:plated_flags>)
  set_property(GLOBAL APPEND PROPERTY PLATED_COMPONENTS ${name})
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
  add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/support/verify_plans.cpp)
  plated_test_flags(${name})
  plated_test_headers()
  target_precompile_headers(${name} REUSE_FROM plated_test_headers)
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES})
  if(ARG_ROOMS)
    list(TRANSFORM ARG_ROOMS PREPEND plated_room_)
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
  else()
    add_dependencies(plated_sanitized_tests ${name})
  endif()
endfunction()
