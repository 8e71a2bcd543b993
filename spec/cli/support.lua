-- support.lua: what the specs of the command share: a folder of their own, scripts, and the program's answer.
local assert = require "luassert"
local build = require "spec.support.build"
local lfs = require "lfs"

local cli = {}

-- cli.folder() -> path of a new empty folder; cli.drop(path) removes it with what is in it.
function cli.folder()
  local path = os.tmpname()
  os.remove(path)
  assert(lfs.mkdir(path))
  return path
end

function cli.drop(path)
  for name in lfs.dir(path) do
    if name ~= "." and name ~= ".." then
      os.remove(path .. "/" .. name)
    end
  end
  assert(lfs.rmdir(path))
end

-- The program's absolute path, for commands that run elsewhere.
cli.program = build.program:sub(1, 1) == "/" and build.program or os.getenv("PWD") .. "/" .. build.program

-- Names in a folder, sorted.
function cli.list(path)
  local names = {}
  for name in lfs.dir(path) do
    if name ~= "." and name ~= ".." then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

-- The program with a fixed target, so that what it says does not depend on the machine.
function cli.run(args)
  args.env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn2 " .. (args.env or "")
  return build.run(args)
end

-- Runs and demands exit status 0 and silence on standard error; returns standard output.
function cli.ok(args)
  local r = cli.run(args)
  assert.equal(0, r.code, r.err)
  assert.equal("", r.err)
  return r.out
end

-- Runs and demands a failure: its status, one message that holds all parts, and nothing on standard output.
function cli.fails(code, args, ...)
  local r = cli.run(args)
  assert.equal(code, r.code, ("%s: %s%s"):format(table.concat(args, " "), r.out, r.err))
  assert.equal("", r.out)
  assert.matches("^nkilua: ", r.err)
  for _, part in ipairs {...} do
    assert.truthy(r.err:find(part, 1, true), ("'%s' is not in '%s'"):format(part, r.err))
  end
  return r.err
end

-- Little-endian .npy of a flat list; pack is a string.pack item ("f", "d", "i4" ...).
function cli.npy(path, descr, shape, pack, values)
  local header = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }"):format(descr, table.concat(shape, ", "))
  header = header .. (" "):rep(117 - #header) .. "\n"
  local data = {}
  for i, v in ipairs(values) do
    data[i] = string.pack("<" .. pack, v)
  end
  build.spit(path, "\x93NUMPY\1\0" .. string.pack("<I2", #header) .. header .. table.concat(data))
end

-- The numbers of an .npy that the program wrote.
function cli.numbers(path, pack)
  local text = build.slurp(path)
  local start, values = 11 + string.unpack("<I2", text, 9), {}
  for at = start, #text, string.packsize(pack) do
    values[#values + 1] = string.unpack("<" .. pack, text, at)
  end
  return values
end

return cli
