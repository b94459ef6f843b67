# Installs a build of Plated into a fresh prefix, then configures, builds and runs the consumer project against it.
set(work ${BUILD_DIR}/consumer)
set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed: ${command}")
  endif()
endfunction()

set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

step(${CMAKE_COMMAND} --install ${BUILD_DIR} --config ${CONFIG} --prefix ${prefix})
step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -G Ninja -D CMAKE_BUILD_TYPE=${CONFIG}
  -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_CXX_FLAGS=${flags} -D WANTED_VERSION=${VERSION})
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/consumer)
step(${work}/build/consumer_of_models)
