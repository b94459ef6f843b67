# Installs plated::core, its public headers and what find_package(plated) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plated)

install(TARGETS plated_core EXPORT plated-targets)
install(DIRECTORY include/plated DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT plated-targets NAMESPACE plated:: DESTINATION ${package_dir})

configure_package_config_file(cmake/plated-config.cmake.in ${PROJECT_BINARY_DIR}/plated-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break callers.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plated-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plated-config.cmake ${PROJECT_BINARY_DIR}/plated-config-version.cmake
  DESTINATION ${package_dir})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
