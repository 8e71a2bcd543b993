-- record.lua: counts the calls of one of the library's functions, classes or tokens while something runs.
local record = {}

-- record.calls(target, f, ...): how often target was called while f(...) ran; errors of f pass.
function record.calls(target, f, ...)
  local n = 0
  local is_function = type(target) == "function"
  local func = is_function and target or debug.getmetatable(target).__call -- the metatables of the library are hidden
  debug.sethook(function()
    if debug.getinfo(2, "f").func == func then
      local _, first = debug.getlocal(2, 1)
      if is_function or rawequal(first, target) then
        n = n + 1
      end
    end
  end, "c")
  local result = table.pack(pcall(f, ...))
  debug.sethook()
  if not result[1] then
    error(result[2], 0)
  end
  return n
end

return record
