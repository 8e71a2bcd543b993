-- golden.lua: text that is committed and must stay what the program prints. NKILUA_BLESS=1 (`./dev bless`) rewrites it.
local golden = {}

golden.blessing = (os.getenv("NKILUA_BLESS") or "") ~= ""

-- Where two different texts part: line number and the two lines there, "\\n" shown at their ends.
local function first_difference(want, got)
  local line, position = 1, 1
  while true do
    local a, b = want:match("[^\n]*\n?", position), got:match("[^\n]*\n?", position)
    if a ~= b then
      return line, (a:gsub("\n", "\\n")), (b:gsub("\n", "\\n"))
    end
    position, line = position + #a, line + 1
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
