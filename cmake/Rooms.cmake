# What the CMakeLists.txt of a room, a spec folder or fuzz/ may call.

# nk_room(ir SOURCES a.c b.c LINK nk_base PRIVATE_LINK nk::cjson): the static library nk_<room>. It offers its own
# folder as include path and passes on those of the rooms below; libraries in PRIVATE_LINK are seen by this room alone.
function(nk_room name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(nk_${name} STATIC ${arg_SOURCES})
  target_include_directories(nk_${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(nk_${name} PUBLIC ${arg_LINK} PRIVATE ${arg_PRIVATE_LINK})
endfunction()

# nk_c_test(NAME base_json SOURCES json_test.c LINK nk_base): a cmocka program, run by ctest in the source tree's root.
function(nk_c_test)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINK" ${ARGN})
  add_executable(${arg_NAME}_test ${arg_SOURCES})
  target_link_libraries(${arg_NAME}_test PRIVATE ${arg_LINK} nk::cmocka)
  set_target_properties(${arg_NAME}_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME}_test WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT 300)
endfunction()

# nk_fuzzer(NAME json SOURCES fuzz_json.c LINK nk_base): a libFuzzer program in <build>/fuzz.
function(nk_fuzzer)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINK" ${ARGN})
  add_executable(fuzz_${arg_NAME} ${arg_SOURCES})
  target_compile_options(fuzz_${arg_NAME} PRIVATE -Wno-missing-prototypes) # LLVMFuzzerTestOneInput has no header in C
  target_link_options(fuzz_${arg_NAME} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${arg_NAME} PRIVATE ${arg_LINK})
  set_target_properties(fuzz_${arg_NAME} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
endfunction()

# nk_embed_lua(target): compiles lua/nki/**.lua (module nki.x.y) and kernels/*.lua (module nki.kernels.x) into target,
# as the table declared in src/lang/embedded.h.
function(nk_embed_lua target)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/lua/nki/*.lua" "${PROJECT_SOURCE_DIR}/kernels/*.lua")
  list(SORT files)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/nki_embedded.c")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_lua.cmake")
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE depends)
  list(JOIN files "|" joined)
  add_custom_command(
    OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DFILES=${joined}" "-DOUT=${out}" -P "${script}"
    DEPENDS ${depends} "${script}"
    COMMENT "Embedding the Lua half"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()

# nk_build_id(target): compiles into target what the program calls itself, a digest of everything that a trace may
# depend on: the sources of src/ without the command, lua/ and kernels/.
function(nk_build_id target)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/src/*.c" "${PROJECT_SOURCE_DIR}/src/*.h" "${PROJECT_SOURCE_DIR}/src/*.def"
       "${PROJECT_SOURCE_DIR}/lua/*.lua" "${PROJECT_SOURCE_DIR}/kernels/*.lua")
  list(FILTER files EXCLUDE REGEX "^src/(cli|api|sim)/")
  list(SORT files)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/build_id.c")
  set(names "${CMAKE_CURRENT_BINARY_DIR}/build_id.list")
  set(script "${PROJECT_SOURCE_DIR}/cmake/build_id.cmake")
  list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE depends)
  list(JOIN files "\n" lines)
  file(CONFIGURE OUTPUT "${names}" CONTENT "${lines}\n" @ONLY)
  add_custom_command(
    OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}" "-DLIST=${names}"
            "-DOUT=${out}" -P "${script}"
    DEPENDS ${depends} "${names}" "${script}"
    COMMENT "Naming the build"
    VERBATIM)
  target_sources(${target} PRIVATE "${out}")
endfunction()
