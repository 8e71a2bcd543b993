-- protoc_spec.lua: an independent reader takes the binary HLO apart; ./dev xla asks XLA what it means.
local build = require "spec.support.build"
local example = require "spec.support.example"

local has_protoc = build.shell("command -v protoc").code == 0

local function emit(words, form)
  local program = "NEURON_PLATFORM_TARGET_OVERRIDE=trn2 " .. build.quote(build.program)
  local result = build.shell(("%s hlo --as %s %s"):format(program, form, words))
  assert.equal(0, result.code, result.err)
  return result.out
end

-- The fields of a decoded message by number, each a list; a message is a table again, the rest is protoc's spelling.
local function parse(lines, at)
  local fields = {}
  while lines[at] and not lines[at]:match("^%s*}$") do
    local number, value = lines[at]:match("^%s*(%d+): (.*)$")
    if not number then
      number = assert(lines[at]:match("^%s*(%d+) {$"), lines[at])
      value, at = parse(lines, at + 1)
    end
    number = math.tointeger(number)
    fields[number] = fields[number] or {}
    table.insert(fields[number], value)
    at = at + 1
  end
  return fields, at
end

local function decode(proto)
  local result = build.shell("protoc --decode_raw", {stdin = proto})
  assert.same({code = 0, err = ""}, {code = result.code, err = result.err})
  local lines = {}
  for line in result.out:gmatch("[^\n]+") do
    lines[#lines + 1] = line
  end
  return (parse(lines, 1))
end

-- Names and opcodes of the instructions, in order, from the text form.
local function instructions(text)
  local list = {}
  for name, opcode in text:gmatch("\n  R?O?O?T? ?%%(%S+) = [^\n]-([%a-]+)%(") do
    list[#list + 1] = {'"' .. name .. '"', '"' .. opcode .. '"'}
  end
  return list
end

describe("the binary HLO, read by protoc: #protoc", function()
  local function needs_protoc(name, body)
    it(name, function()
      if not has_protoc then
        pending("no protoc here: ./dev setup installs protobuf-compiler")
        return
      end
      body()
    end)
  end

  for _, path in ipairs(example.paths()) do
    needs_protoc(path, function()
      local words = example.usage(path)
      local text, module = emit(words, "hlo"), decode(emit(words, "proto"))
      assert.same({'"' .. text:match("^HloModule ([^,]+)") .. '"'}, module[1])
      local found = {}
      for i, instruction in ipairs(module[3][1][2]) do
        found[i] = {instruction[1][1], instruction[2][1]}
        assert.same({tostring(i)}, instruction[35])
      end
      local listed = instructions(text)
      assert.is_true(#listed >= 2)
      assert.same(listed, found)
      local call = module[3][1][2][#module[3][1][2]]
      assert.same({'"' .. text:match('backend_config="([^"]+)"') .. '"'}, call[43])
      assert.same({'"AwsNeuronCustomNativeKernel"'}, call[28])
    end)
  end

  needs_protoc("damage is noticed", function()
    local proto = emit(example.usage("examples/tensor_add.lua"), "proto")
    assert.not_equal(0, build.shell("protoc --decode_raw", {stdin = proto:sub(1, -2)}).code)
  end)
end)
