# What users get: bin/nkilua, lib/libnkilua.so and .a, lua_modules/nki.so, and their installation.
set(nk_map "${PROJECT_SOURCE_DIR}/cmake/exports.map")

# Final products see the public header alone; the rooms come in as objects ($<LINK_ONLY>), never as include paths.
function(nk_product target)
  cmake_parse_arguments(arg "" "" "WHOLE" ${ARGN})
  foreach(room IN LISTS arg_WHOLE)
    target_link_libraries(${target} PRIVATE $<LINK_ONLY:${room}>)
  endforeach()
  list(JOIN arg_WHOLE "," whole)
  set_property(TARGET ${target} PROPERTY LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${whole}")
  target_link_options(${target} PRIVATE "-Wl,--version-script=${nk_map}")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${nk_map}" LINKER_LANGUAGE C)
endfunction()

# libnkilua.so links Lua and LPeg itself, so a host that never exported lua_* symbols can load it.
add_library(nkilua_shared SHARED "${PROJECT_SOURCE_DIR}/cmake/whole.c")
nk_product(nkilua_shared WHOLE nk_api nk_lang)
target_link_libraries(nkilua_shared PRIVATE $<LINK_ONLY:nk::lua> $<LINK_ONLY:nk::lpeg_shared>)
target_include_directories(nkilua_shared INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
set_target_properties(nkilua_shared PROPERTIES
  OUTPUT_NAME nkilua VERSION ${PROJECT_VERSION} SOVERSION 0)

# nki.so: found by `require "nki"` and, through Lua's all-in-one searcher, by `require "nki.language"` and the others.
# It links no liblua: the interpreter that loads it has one.
add_library(nki_module MODULE "${PROJECT_SOURCE_DIR}/cmake/whole.c")
nk_product(nki_module WHOLE nk_lang)
target_link_libraries(nki_module PRIVATE $<LINK_ONLY:nk::lpeg_shared>)
set(NK_LUA_MODULES "${PROJECT_BINARY_DIR}/lua_modules")
set_target_properties(nki_module PROPERTIES
  OUTPUT_NAME nki PREFIX "" LIBRARY_OUTPUT_DIRECTORY "${NK_LUA_MODULES}")
file(MAKE_DIRECTORY "${NK_LUA_MODULES}/nki")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/kernels" "${NK_LUA_MODULES}/nki/kernels" SYMBOLIC)

# libnkilua.a: the rooms' archives in one file.
set(nk_static "${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libnkilua.a")
set(mri "create ${nk_static}\n")
foreach(room IN LISTS NK_ROOMS)
  string(APPEND mri "addlib $<TARGET_FILE:${room}>\n")
endforeach()
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/libnkilua.mri" CONTENT "${mri}save\nend\n")
add_custom_command(
  OUTPUT "${nk_static}"
  COMMAND "${CMAKE_COMMAND}" -E rm -f "${nk_static}"
  COMMAND "${CMAKE_AR}" -M < "${PROJECT_BINARY_DIR}/libnkilua.mri"
  DEPENDS ${NK_ROOMS} "${PROJECT_BINARY_DIR}/libnkilua.mri"
  COMMENT "Gathering libnkilua.a")
add_custom_target(nkilua_static ALL DEPENDS "${nk_static}")

# The program holds the rooms themselves (no libnkilua.so to open at start) and, as the lua program does, the whole Lua:
# a call into it costs no jump through a table, and C modules such as lfs.so find all lua_* symbols here.
add_subdirectory(src/cli)
target_include_directories(nkilua PRIVATE "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(nkilua PRIVATE $<LINK_ONLY:nk_api> nk::lua_static nk::lpeg_static)
set_target_properties(nkilua PROPERTIES ENABLE_EXPORTS ON)
install(TARGETS nkilua)
add_subdirectory(examples/embed_c)

set(NK_INSTALL_CMOD "${CMAKE_INSTALL_LIBDIR}/lua/5.4" CACHE STRING "where nki.so goes, below the prefix")
set(NK_INSTALL_LMOD "${CMAKE_INSTALL_DATADIR}/lua/5.4" CACHE STRING "where the kernel library goes, below the prefix")
install(TARGETS nkilua_shared)
install(FILES "${nk_static}" DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/include/nkilua.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS nki_module LIBRARY DESTINATION "${NK_INSTALL_CMOD}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/kernels/" DESTINATION "${NK_INSTALL_LMOD}/nki/kernels"
        FILES_MATCHING PATTERN "*.lua")
# To read; nki.so holds it.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/lua/" DESTINATION "${CMAKE_INSTALL_DATADIR}/nkilua/lua")
file(RELATIVE_PATH NK_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/nkilua.pc.in" "${PROJECT_BINARY_DIR}/nkilua.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/nkilua.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
