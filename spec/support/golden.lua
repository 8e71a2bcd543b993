-- golden.lua: text that is committed and must stay what the program prints. NKILUA_BLESS=1 (`./dev bless`) rewrites it.
local golden = {}

golden.blessing = (os.getenv("NKILUA_BLESS") or "") ~= ""

local function first_difference(want, got)
  local line = 1
  local next_want, next_got = want:gmatch("([^\n]*)\n?"), got:gmatch("([^\n]*)\n?")
  while true do
    local a, b = next_want(), next_got()
    if a ~= b then
      return line, a or "<end>", b or "<end>"
    end
    line = line + 1
  end
end

-- Compares text with the file at path (from the root of the tree), or writes the file when blessing.
function golden.check(path, text)
  if golden.blessing then
    local file = assert(io.open(path, "wb"))
    assert(file:write(text))
    assert(file:close())
    return
  end
  local file = io.open(path, "rb")
  if not file then
    error(path .. " does not exist; `./dev bless` writes it", 2)
  end
  local want = file:read("a")
  file:close()
  if want ~= text then
    local line, a, b = first_difference(want, text)
    error(("%s:%d is stale (`./dev bless` rewrites it)\n  file:    %s\n  program: %s"):format(path, line, a, b), 2)
  end
end

return golden
