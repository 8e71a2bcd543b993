-- schema_spec.lua: docs/backend_config.schema.json says what the writer writes and what the reader accepts.
local build = require "spec.support.build"
local example = require "spec.support.example"
local golden = require "spec.support.golden"
local json = require "spec.support.json"
local schema = require "spec.support.schema"
local nki, nl = require "nki", require "nki.language"

local SCHEMA, PAGE = "docs/backend_config.schema.json", "docs/backend-config.md"
local root = json.parse(build.slurp(SCHEMA))

local function run(words)
  local program = "NEURON_PLATFORM_TARGET_OVERRIDE=trn2 " .. build.quote(build.program)
  local result = build.shell(program .. " " .. words)
  assert.equal(0, result.code, result.err)
  return result.out
end

local digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
local function base64(text)
  local coded = text:gsub("..?.?", function(three)
    local a, b, c = three:byte(1, 3)
    local bits, out = a << 16 | (b or 0) << 8 | (c or 0), {}
    for i = 1, 4 do
      local digit = bits >> (24 - 6 * i) & 63
      out[i] = i <= #three + 1 and digits:sub(digit + 1, digit + 1) or "="
    end
    return table.concat(out)
  end)
  return coded
end

-- The config of a kernel with a constant of every kind that a script can bind.
local function whole()
  local text = [[
    local nki, nl = require "nki", require "nki.language"
    return nki.jit(function(x, a, b, c, d, e, f, g, h, i, j)
      local out = nl.ndarray(x.shape, x.dtype, {buffer = nl.shared_hbm})
      nl.store(out, nl.load(x) * 2)
      return out, x
    end, {func_name = "all", platform_target = "trn2", opts = {level = 2, fast = true, name = "x", ratio = 0.5}})]]
  local k = load(text)()
  return k:specialize(nki.decl({4, 8}, nl.float32), true, 1, 0.5, "text", "\xff\0", nl.exp,
    nki.tuple{1, 2.0, nki.tuple{math.huge}}, nil, math.maxinteger, function(y)
      return y
    end)
end

local function refusal(config)
  local ok, e = pcall(nki.decode, base64(json.encode(config)))
  return not ok and tostring(e) or nil
end

describe("the schema of a backend_config", function()
  for _, path in ipairs(example.paths()) do
    it("holds for " .. path, function()
      local config = json.parse(run("config --decode " .. example.usage(path)))
      assert.is_nil(schema.check(config, root))
    end)
  end

  it("has the keys in the writer's order, all required", function()
    local config = json.parse(run("config --decode " .. example.usage("examples/tensor_add.lua")))
    assert.same(json.keys(config), json.keys(root.properties))
    assert.same(json.keys(config), {table.unpack(root.required)})
  end)

  it("knows every dtype and target", function()
    for table_name, list in pairs {dtypes = root["$defs"].dtype.enum, targets = root.properties.platform_target.enum} do
      local names = {}
      for i, row in ipairs(json.parse(run("ops --json --table " .. table_name))) do
        names[i] = row.name
      end
      assert.same(names, {table.unpack(list)})
    end
  end)

  it("holds for constants and options of every kind, and its kinds are the reader's", function()
    local config = json.parse(run("config --decode " .. example.usage("examples/inplace_update.lua")))
    local made = json.parse(whole().config_json)
    assert.is_nil(schema.check(made, root))
    local seen = {tensor = true}
    for _, constant in ipairs(made.constant_values) do
      seen[constant.kind] = true
    end
    for _, one in ipairs(root["$defs"].value.oneOf) do
      local kind = one.properties.kind.const
      assert.is_true(seen[kind], kind)
      seen[kind] = nil
      config.constant_values[1].kind = kind
      local e = refusal(config)
      assert.is_nil(e and e:find("with a known kind", 1, true), kind)
    end
    assert.same({tensor = true}, seen)
  end)

  it("and the reader ask for the same keys and types", function()
    local text = run("config --decode " .. example.usage("examples/inplace_update.lua"))
    assert.is_nil(refusal(json.parse(text)))
    local others = {json.null, true, 7, 7.5, "x", json.list {}, json.object({}, {})}
    for at, key in ipairs(json.keys(root.properties)) do
      local config = json.parse(text)
      local kept = config[key]
      for _, other in ipairs(others) do
        if json.type(other) ~= json.type(kept) then
          config[key] = other
          local wrong, refused = schema.check(config, root), refusal(config)
          assert.is_truthy(refused, key .. " = " .. json.encode(other))
          assert.is_truthy(wrong and wrong:find("^" .. key .. " "), key .. " = " .. json.encode(other))
          assert.is_truthy(refused:find("'" .. key .. "'", 1, true) or refused:find(key, 1, true), refused)
        end
      end
      config[key] = nil
      table.remove(json.keys(config), at)
      assert.equal("has no " .. key, schema.check(config, root))
      assert.is_truthy(refusal(config):find("missing key '" .. key .. "'", 1, true))
    end
    local config = json.parse(text)
    config.more = 1
    table.insert(json.keys(config), "more")
    assert.equal("more is not known", schema.check(config, root))
    assert.is_truthy(refusal(config):find("unknown key 'more'", 1, true))
  end)

  it("is what the page says #docs", function()
    local rows = {"| key | JSON | what it holds |\n|---|---|---|\n"}
    for _, key in ipairs(json.keys(root.properties)) do
      local rule = root.properties[key]
      local kind = rule.type or rule["$ref"]:match("[^/]+$")
      kind = ({array = "list", tensors = "list of tensors"})[kind] or kind
      local values = {}
      for i, v in ipairs(rule.enum or {rule.const}) do
        values[i] = "`" .. tostring(v) .. "`"
      end
      local listed = #values > 0 and ": " .. table.concat(values, ", ") or ""
      rows[#rows + 1] = ("| `%s` | %s | %s%s |\n"):format(key, kind, rule.description, listed)
    end
    local page = build.slurp(PAGE)
    local before, after = page:match("^(.-## Keys, in this order\n\n)| key .-\n(\n.*)$")
    assert.is_truthy(before)
    golden.check(PAGE, before .. table.concat(rows) .. after)
  end)
end)

describe("the validator of the specs", function()
  local function wrong(text, rules)
    return schema.check(json.parse(text), json.parse(rules))
  end

  it("checks every keyword", function()
    assert.is_nil(wrong('{"a": 1, "b": [1, 2]}', '{"type": "object", "properties": {"a": {"minimum": 1}}}'))
    assert.equal("a is not within 2", wrong('{"a": 1}', '{"properties": {"a": {"minimum": 2}}}'))
    assert.equal("is not within 0", wrong("1", '{"maximum": 0}'))
    assert.equal("is of type integer", wrong("1", '{"type": ["string", "null"]}'))
    assert.is_nil(wrong("1", '{"type": "number"}'))
    assert.equal("is not within 2", wrong("[1]", '{"minItems": 2}'))
    assert.equal("is not within 1", wrong('"ab"', '{"maxLength": 1}'))
    assert.equal("[1] is none of [1]", wrong("[1, 2]", '{"items": {"enum": [1]}}'))
    assert.equal("fits 2 of 2 forms: ", wrong("1", '{"oneOf": [{}, {"const": 1}]}'))
    assert.equal("is not 2", wrong("1", '{"$ref": "#/$defs/two", "$defs": {"two": {"const": 2}}}'))
    assert.equal("does not match ^x", wrong('"y"', '{"pattern": "^x"}'))
    assert.equal("b is of type integer", wrong('{"b": 1}', '{"additionalProperties": {"type": "string"}}'))
    assert.has_error(function()
      wrong("1", '{"multipleOf": 2}')
    end)
  end)
end)
