# Third-party libraries as imported targets, all from Debian packages (packages.txt). A room links what it includes:
#   nk::cjson nk::b64 nk::xxhash nk::zlib nk::sleef nk::lua_headers nk::lua nk::lua_static nk::lpeg_shared
#   nk::lpeg_static nk::cmocka
# oneDNN has no target on purpose: it is opened at the first matmul, because linking it costs 6 ms at every start.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

function(nk_pkg target module)
  pkg_check_modules(${target} REQUIRED IMPORTED_TARGET GLOBAL ${module})
  add_library(nk::${target} ALIAS PkgConfig::${target})
endfunction()

nk_pkg(cjson libcjson)
nk_pkg(xxhash libxxhash)
nk_pkg(zlib zlib)
nk_pkg(sleef sleef)
nk_pkg(lua lua5.4)
if(BUILD_TESTING)
  nk_pkg(cmocka cmocka)
endif()

# libb64 has no .pc file.
find_library(NK_B64_LIBRARY b64 REQUIRED)
find_path(NK_B64_INCLUDE b64/cencode.h REQUIRED)
add_library(nk_b64 INTERFACE)
target_link_libraries(nk_b64 INTERFACE "${NK_B64_LIBRARY}")
target_include_directories(nk_b64 SYSTEM INTERFACE "${NK_B64_INCLUDE}")
add_library(nk::b64 ALIAS nk_b64)

# Headers only: the Lua module must find lua_* in the interpreter that loads it, so only final products link liblua.
add_library(nk_lua_headers INTERFACE)
target_include_directories(nk_lua_headers SYSTEM INTERFACE ${lua_INCLUDE_DIRS})
add_library(nk::lua_headers ALIAS nk_lua_headers)

# All of Lua for the program: what it does not call itself is there for the C modules that it loads.
find_library(NK_LUA_STATIC NAMES liblua5.4.a REQUIRED)
add_library(nk_lua_static INTERFACE)
target_link_libraries(nk_lua_static INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${NK_LUA_STATIC}>" m ${CMAKE_DL_LIBS})
add_library(nk::lua_static ALIAS nk_lua_static)

# LPeg by file: its .pc file would bring liblua along. The archive is for the program: one shared object less to open.
find_library(NK_LPEG_SHARED NAMES liblua5.4-lpeg.so REQUIRED)
find_library(NK_LPEG_STATIC NAMES liblua5.4-lpeg.a REQUIRED)
foreach(kind IN ITEMS SHARED STATIC)
  string(TOLOWER lpeg_${kind} name)
  add_library(nk_${name} INTERFACE)
  target_link_libraries(nk_${name} INTERFACE "${NK_LPEG_${kind}}")
  add_library(nk::${name} ALIAS nk_${name})
endforeach()
