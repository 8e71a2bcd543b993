-- luacheck runs in CI over lua/, kernels/, examples/, spec/ and bench/.
std = "lua54"
max_line_length = 120
exclude_files = {"lua/meta"} -- written for editors
files["spec"] = {std = "+busted"}
files["spec/programs"] = {ignore = {"211", "212", "213", "311", "542"}} -- programs that are wrong on purpose
