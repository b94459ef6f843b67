# Installs a build with plated::torch into a fresh prefix, then builds and runs a user's project against it.
set(work ${BUILD_DIR}/torch_consumer)
file(REMOVE_RECURSE ${work})
foreach(command IN ITEMS
    "--install;${BUILD_DIR};--prefix;${work}/prefix"
    "-S;${CMAKE_CURRENT_LIST_DIR}/consumer;-B;${work}/build;-G;Ninja;-D;CMAKE_BUILD_TYPE=Debug;-D;CMAKE_CXX_COMPILER=${CXX};-D;plated_ROOT=${work}/prefix;-D;Torch_DIR=${TORCH_DIR}"
    "--build;${work}/build")
  execute_process(COMMAND ${CMAKE_COMMAND} ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${work}/build/torch_consumer COMMAND_ERROR_IS_FATAL ANY)
