-- What messages quote: long strings are cut, NULs and NaN are spelled, and the reason is the one that holds.
local kernel = require "spec.support.kernel"
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"

local long = ("\u{e4}"):rep(50000) -- two bytes each
local cut = ("\u{e4}"):rep(40) .. "..."

local function says(id, text, body)
  local e = kernel.error_of(body)
  assert.equal(id, e.id, e.message)
  assert.truthy(e.message:find(text, 1, true), e.message:sub(1, 1000))
  assert.is_true(#e.message < 400, #e.message)
end

describe("a message quotes at most 80 bytes of", function()
  local cases = {
    {"an index string", "err_key_syntax", function(t) return t[{long}] end},
    {"an index string at the top", "err_key_syntax", function(t) return t[long] end},
    {"an attribute of a register", "err_no_such_name", function() return nisa.register_alloc()[long] end},
    {"a name in a module", "err_no_such_name", function() return nl[long] end},
    {"a parameter", "err_bind_unknown", function() return nl.zeros({1, 1}, nl.float32, {[long] = 1}) end},
    {"a dtype", "err_unknown_dtype", function() return nl.zeros({1, 1}, long) end},
    {"a name in a pattern", "err_rearrange", function(t) return t:rearrange("a b -> b a", {[long] = 2}) end},
  }
  for _, case in ipairs(cases) do
    it(case[1], function() says(case[2], cut, case[3]) end)
  end

  it("an attribute of a tile and of an array", function()
    local name = ("x"):rep(100000)
    says("err_no_such_name", ("x"):rep(80) .. "...", function(t) return t[name] end)
    local ok, e = pcall(function() return nd.ones({1})[name] end)
    assert.is_false(ok)
    assert.is_true(#e.message < 400)
  end)

  it("which it shows whole when they fit", function()
    local fits = ("?"):rep(80)
    says("err_key_syntax", '"' .. fits .. '"', function(t) return t[fits] end)
    says("err_rearrange", "'" .. fits .. "' in", function(t) return t:rearrange("a b -> b a", {[fits] = 2}) end)
  end)
end)

describe("a message spells", function()
  it("NUL bytes", function()
    says("err_key_syntax", [["0:64\x00junk" of 'sbuf_0': unexpected '\x00' at character 5]],
      function(t) return t["0:64\0junk"] end)
    says("err_key_syntax", [["...\x00"]], function(t) return t["...\0"] end)
    says("err_key_syntax", [[":\x00"]], function(t) return t[":\0"] end)
    says("err_key_syntax", "unexpected '\u{e4}' at", function(t) return t["0:64\u{e4}"] end)
    says("err_no_such_name", [[ab\x00junk]], function(t) return t["ab\0junk"] end)
    says("err_rearrange", [[in 'a b -> b a \x00']], function(t) return t:rearrange "a b -> b a \0" end)
  end)

  it("NaN without its sign", function()
    for _, nan in ipairs {0 / 0, -(0 / 0)} do
      says("err_argument_value", "value is nan; int32", function() return nl.full({1, 1}, nan, nl.int32) end)
      says("err_key_kind", "is the number nan;", function(t) return t[nan] end)
    end
    says("err_argument_range", "nan", function(t) return nl.dropout(t, 0 / 0) end)
  end)
end)

describe("the reason of a slice", function()
  local cases = {
    {"that is empty", "slice [64, 0) of axis 0 of sbuf_0[128,64] float32 in sbuf is out of bounds: it is empty, "
      .. "its stop must be above its start; axis 0 has 128", function(t) return t["64:0"] end},
    {"that slice() is asked for", "slice [5, 2) of axis 1 of tile sbuf_0[128,64] float32 in sbuf is out of bounds: "
      .. "it is empty", function(t) return t:slice(1, 5, 2) end},
    {"that is beyond the end", "out of bounds: axis 0", function(t) return t["0:1000"] end},
    {"is in the numbers written", "slice [-9223372036854775808, 128)",
      function(t) return t["-9223372036854775808:"] end},
    {"is in the numbers written, to slice() too", "slice [-100, 2)", function(t) return t:slice(1, -100, 2) end},
  }
  for _, case in ipairs(cases) do
    it(case[1], function() says("err_tensor_access_out_of_bound", case[2], case[3]) end)
  end

  it("of nl.ds tells a start from a size", function()
    says("err_bind_value", "'start' is negative", function() return nl.ds(-1, 1) end)
    says("err_bind_value", "'size' is too large", function() return nl.ds(1 << 62, 1 << 62) end)
  end)
end)
