# cmake -DROOT=dir -DFILES=a.lua|b.lua -DOUT=file.c -P embed_lua.cmake: writes the sources as one C table.
# Names are module names: lua/nki/a/b.lua is nki.a.b, kernels/c.lua is nki.kernels.c, an init.lua is its folder.
string(REPLACE "|" ";" files "${FILES}")
set(arrays "")
set(rows "")
set(openers "") # luaopen_nki_kernels_x: require "nki.kernels.x" in a stock Lua that has loaded nothing of ours
set(i 0)
foreach(file IN LISTS files)
  file(READ "${ROOT}/${file}" hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  # 24 bytes a line; a final 0 so that src is also a C string.
  string(REGEX REPLACE "(................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "\\.lua$" "" name "${file}")
  string(REGEX REPLACE "^lua/" "" name "${name}")
  string(REGEX REPLACE "^kernels/" "nki/kernels/" name "${name}")
  string(REGEX REPLACE "/init$" "" name "${name}")
  string(REPLACE "/" "." name "${name}")
  string(APPEND arrays "static const unsigned char src_${i}[] = {\n${bytes}0x00};\n")
  string(APPEND rows "  {\"${name}\", (const char *)src_${i}, ${size}},\n")
  if(name MATCHES "^nki\\.kernels\\.")
    string(REPLACE "." "_" symbol "luaopen_${name}")
    string(APPEND openers "NKI_OPENER int ${symbol}(struct lua_State *L);
int ${symbol}(struct lua_State *L) { return nki_open_embedded(L, \"${name}\"); }
")
  endif()
  math(EXPR i "${i} + 1")
endforeach()
file(WRITE "${OUT}.new" "/* Generated from lua/ and kernels/ by cmake/embed_lua.cmake. */
#include \"embedded.h\"

${arrays}
const struct nki_embedded nki_embedded[] = {
${rows}  {0, 0, 0},
};

#define NKI_OPENER __attribute__((visibility(\"default\")))
${openers}")
file(RENAME "${OUT}.new" "${OUT}")
