-- Whole kernels that are wrong: spec/programs/*.lua. Each says in comments what it is given and what must come of it:
--   -- given: x=f32[128,8] n=3        the values of its parameters, as on the command line
--   -- grid: 2                        the SPMD grid
--   -- also: text                     must be in the error's further lines, or be another error's note
--   code -- error: err_id text        this line must be blamed, with this id and a message that has the text
--   code -- report: text              the run succeeds and reports this line; with --strict it fails on it
-- Each runs in this process and through `nkilua run`, which must say the same and write nothing.
local lfs = require "lfs"
local nd = require "nki.ndarray"
local build = require "spec.support.build"
local values = require "nki.values"

local function read(path)
  local program = {given = {}, also = {}, path = path, name = path:match "[^/]+$"}
  local number = 0
  for line in io.lines(path) do
    number = number + 1
    for word in (line:match "^%-%- given: (.*)" or ""):gmatch "%S+" do
      table.insert(program.given, word)
    end
    program.grid = program.grid or line:match "^%-%- grid: (%S+)"
    table.insert(program.also, line:match "^%-%- also: (.*)")
    local id, text = line:match "%-%- error: (err_[%w_]+) (.+)$"
    local report = line:match "%-%- report: (.+)$"
    if id or report then
      assert(not program.line, path .. " blames two lines")
      program.line, program.id, program.text, program.report = number, id, text or report, report
    end
  end
  assert(program.line, path .. " blames no line")
  return program
end

local function array(value)
  if value.fill == "normal" or (not value.fill and value.dtype:find "f") then
    return nd.random.normal(value.shape, {dtype = value.dtype, seed = 1})
  elseif value.fill == "full" then
    return nd.full(value.shape, value.number, value.dtype)
  end
  return nd.zeros(value.shape, value.dtype)
end

local function run_here(program)
  local named = {}
  for _, word in ipairs(program.given) do
    local name, text = word:match "^([%w_]+)=(.*)$"
    local value = assert(values(text))
    if value.kind == "array" then
      named[name] = array(value)
    else
      named[name] = value.value
    end
  end
  local kernel = dofile(program.path)
  if program.grid then
    kernel = kernel[math.tointeger(tonumber(program.grid))]
  end
  return kernel(named)
end

local function run_program(program, ...)
  local words = {"run", program.path, ...}
  table.move(program.given, 1, #program.given, #words + 1, words)
  if program.grid then
    words[#words + 1] = "-g" .. program.grid
  end
  words.env = "NEURON_PLATFORM_TARGET_OVERRIDE=trn1"
  return build.run(words)
end

local function has(text, part)
  assert.is_truthy(text:find(part, 1, true), ("no '%s' in:\n%s"):format(part, text))
end

-- The command prints an id only where it helps; the place and the message it prints always.
local function check_failure(program, result)
  assert.equal(1, result.code, result.err)
  assert.equal("", result.out)
  local first = result.err:match "[^\n]*"
  has(first, ("nkilua: %s:%d: "):format(program.name, program.line))
  has(first, program.text)
  for _, text in ipairs(program.also) do
    has(result.err, text)
  end
end

describe("spec/programs/", function()
  local names = {}
  for name in lfs.dir "spec/programs" do
    if name:find "%.lua$" and not name:find "_spec%.lua$" then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local program = read("spec/programs/" .. name)
    if program.id then
      it(name .. " fails with " .. program.id, function()
        local ok, e = pcall(run_here, program)
        assert.is_false(ok, "it did not fail")
        assert.equal(program.id, type(e) == "table" and e.id or tostring(e), tostring(e))
        has(e.message, program.text)
        assert.same({program.name, program.line}, {e.file, e.line}, tostring(e))
        for _, text in ipairs(program.also) do
          has(tostring(e), text)
        end
        check_failure(program, run_program(program))
      end)
    else
      it(name .. " is reported, and refused by --strict", function()
        local result = run_program(program)
        assert.equal(0, result.code, result.err)
        has(result.err, ("%s:%d: %s"):format(program.name, program.line, program.report))
        check_failure(program, run_program(program, "--strict"))
      end)
    end
  end
end)
