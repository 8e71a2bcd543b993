-- nl.ceil, floor, trunc and full-range sin, cos, tan: no single instruction does them
local nl = require "nki.language"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local sb, hbm = case.sbuf, case.hbm

local x = nd.array {{1.5, -1.5, 2, -0.25, 0.75}}
local angles = nd.array {{0, 1, -2.5, 9, 100, -1000.5}}
local near = {rtol = 2e-7, atol = 1e-7}
local function all(name)
  return function(t) return nl[name](t) end
end

return {
  accept = {
    {"integers", function() nl.floor(sb({4, 8}, nl.int32)) end},
  },
  reject = {
    {"err_unsupported_memory", "nl.sin: x must be in", function() nl.sin(hbm {4, 8}) end},
    {"err_bind_kind", "a tile", function() nl.sin(1.0) end},
  },
  numeric = {
    {"ceil", {x}, all "ceil", {{{2, -1, 2, -0.0, 1}}}},
    {"floor", {x}, all "floor", {{{1, -2, 2, -1, 0}}}},
    {"trunc", {x}, all "trunc", {{{1, -1, 2, -0.0, 0}}}},
    {"sin beyond pi", {angles}, all "sin", {angles:map(math.sin)}, tolerance = near},
    {"cos beyond pi", {angles}, all "cos", {angles:map(math.cos)}, tolerance = near},
    {"tan", {angles}, all "tan", {angles:map(math.tan)}, tolerance = near},
  },
}
