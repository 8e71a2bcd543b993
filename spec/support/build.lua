-- build.lua: where the build under test is, and how a spec runs its programs.
local build = {}

build.dir = os.getenv("NKILUA_BUILD") or "build"
build.program = build.dir .. "/bin/nkilua"
build.library = build.dir .. "/lib/libnkilua.so"
build.modules = build.dir .. "/lua_modules"
build.sanitized = os.getenv("NKILUA_PRELOAD") ~= nil

local function slurp(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end
build.slurp = slurp

function build.spit(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

function build.quote(word)
  return "'" .. tostring(word):gsub("'", "'\\''") .. "'"
end

-- build.shell(command, {stdin = text}) -> {out =, err =, code =, signal =}; one of code and signal is nil.
function build.shell(command, options)
  local names = {input = os.tmpname(), out = os.tmpname(), err = os.tmpname()}
  build.spit(names.input, options and options.stdin or "")
  local line = ("{ %s\n} <%s >%s 2>%s"):format(command, names.input, names.out, names.err)
  local _, how, status = os.execute(line)
  local result = {out = slurp(names.out), err = slurp(names.err)}
  -- The shell reports a child killed by signal n as exit status 128 + n.
  if how == "signal" then
    result.signal = status
  elseif status > 128 and status ~= 130 then
    result.signal = status - 128
  else
    result.code = status
  end
  for _, name in pairs(names) do
    os.remove(name)
  end
  return result
end

local function words(prefix, list)
  local line = {prefix}
  for _, word in ipairs(list) do
    line[#line + 1] = build.quote(word)
  end
  return table.concat(line, " ")
end

-- build.run{"run", "examples/x.lua", "a=f32[2]", stdin = text, env = "NAME=value"}: the program under test.
function build.run(args)
  return build.shell(words((args.env or "") .. " " .. build.quote(build.program), args), args)
end

-- build.stock{"-e", "..."}: Debian's lua5.4 with the C module on its path.
function build.stock(args)
  local env = ("LUA_CPATH_5_4='%s/?.so;;' LUA_PATH_5_4='%s/?.lua;;'"):format(build.modules, build.modules)
  if build.sanitized then
    env = env .. " LD_PRELOAD=" .. build.quote(os.getenv("NKILUA_PRELOAD"))
  end
  return build.shell(words(env .. " " .. (args.env or "") .. " lua5.4", args), args)
end

return build
