# Installs the libraries, their public headers, the package files for find_package(plated), and the program.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plated)

# One file of targets for each component: a user's project looks only for what those it asks for need.
get_property(components GLOBAL PROPERTY PLATED_COMPONENTS)
foreach(component IN LISTS components)
  install(TARGETS plated_${component} EXPORT plated-${component}-targets)
  install(EXPORT plated-${component}-targets NAMESPACE plated:: DESTINATION ${package_dir})
endforeach()
install(DIRECTORY include/plated DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
if(PLATED_BUILD_TORCH)
  install(DIRECTORY torch/include/plated DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
endif()

configure_package_config_file(cmake/plated-config.cmake.in ${PROJECT_BINARY_DIR}/plated-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break callers.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plated-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plated-config.cmake ${PROJECT_BINARY_DIR}/plated-config-version.cmake
  DESTINATION ${package_dir})
# The same for builds that do without CMake: one file for each component, which finds its prefix beside itself. The
# libraries are static, so that what they need is part of what a user links.
file(RELATIVE_PATH PLATED_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
function(plated_pkg_config name description requires libs)
  set(PLATED_PC_NAME ${name})
  set(PLATED_PC_DESCRIPTION ${description})
  set(PLATED_PC_REQUIRES "${requires}")
  set(PLATED_PC_LIBS "${libs}")
  configure_file(cmake/plated.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
set(zlib "")
if(ZLIB_FOUND)
  set(zlib -lz)
endif()
set(leave_out "")
if(CMAKE_SYSTEM_NAME STREQUAL Linux)
  set(leave_out -Wl,--gc-sections)  # what a program does not use
endif()
plated_pkg_config(plated "${PROJECT_DESCRIPTION}" "" "-lplated -lhwy -pthread ${leave_out}")
plated_pkg_config(plated_models "${PROJECT_DESCRIPTION}: models and their files" plated "-lplated_models ${zlib}")
plated_pkg_config(plated_draw "${PROJECT_DESCRIPTION}: pictures" plated "-lplated_draw")

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(PLATED_BUILD_CLI)
  install(TARGETS plated_cli RUNTIME)
  install(FILES cli/plated.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  # The program knows its own options: its scripts are what it prints.
  install(CODE "
    foreach(script IN ITEMS bash:share/bash-completion/completions/plated zsh:share/zsh/site-functions/_plated
        fish:share/fish/vendor_completions.d/plated.fish)
      string(REPLACE : \";\" script \"\${script}\")
      list(GET script 0 shell)
      list(GET script 1 path)
      execute_process(COMMAND \"$<TARGET_FILE:plated_cli>\" completion \${shell} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
      file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/\${path}\" \"\${text}\")
    endforeach()")
endif()
