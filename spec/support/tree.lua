-- tree.lua: the files of the source tree, as paths from its root, and their text.
local lfs = require "lfs"

local tree = {}

local folders = {
  ".ci", "bench", "bridges", "cmake", "docs", "examples", "fuzz", "include", "kernels", "lua", "spec", "src",
}

local function walk(folder, found)
  for name in lfs.dir(folder) do
    local path = folder .. "/" .. name
    local mode = lfs.symlinkattributes(path, "mode")
    if mode == "directory" and name ~= "." and name ~= ".." then
      walk(path, found)
    elseif mode == "file" then
      found[#found + 1] = path
    end
  end
end

-- tree.files(pattern): every file of the project's folders and its root whose path matches, sorted.
function tree.files(pattern)
  local found = {}
  for _, folder in ipairs(folders) do
    if lfs.attributes(folder, "mode") == "directory" then
      walk(folder, found)
    end
  end
  for name in lfs.dir(".") do
    if lfs.attributes(name, "mode") == "file" then
      found[#found + 1] = name
    end
  end
  local matching = {}
  for _, path in ipairs(found) do
    if path:find(pattern or "") then
      matching[#matching + 1] = path
    end
  end
  table.sort(matching)
  return matching
end

function tree.read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

-- tree.lines(text): iterator of (number, line), without the line ends.
function tree.lines(text)
  local number, position = 0, 1
  return function()
    if position > #text then
      return nil
    end
    local stop = text:find("\n", position, true) or #text + 1
    local line = text:sub(position, stop - 1)
    position, number = stop + 1, number + 1
    return number, line
  end
end

function tree.count(text)
  local count = 0
  for _ in tree.lines(text) do
    count = count + 1
  end
  return count
end

return tree
