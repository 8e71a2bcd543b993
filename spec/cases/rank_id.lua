-- ncc.rank_id
local nl, nisa, ncc = require "nki.language", require "nki.isa", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"

local function own()
  local out, t = case.shared({1, 1}, nl.int32), nl.ndarray({1, 1}, nl.int32)
  nisa.register_store(t, ncc.rank_id())
  nl.store(out, t)
  return out
end
local function one(n) return nd.array({{n}}, "int32") end

return {
  accept = {
    {"nothing", function() ncc.rank_id() end},
    {"a name", function() ncc.rank_id "me" end},
    {"use as an offset", function()
      local t = case.sbuf {1, 8}
      nisa.memset(t[{0, nl.ds(ncc.rank_id(), 1)}], 0)
    end},
  },
  reject = {
    {"err_bind_surplus", "ncc.rank_id: too many arguments: at most 1, got 2", function() ncc.rank_id("a", 1) end},
    {"err_bind_kind", "parameter 'name' must be a string", function() ncc.rank_id(1) end},
  },
  numeric = {
    {"its own number on each rank", ranks = 3, {}, own, {{one(0), one(1), one(2)}}},
    {"0 where there is one rank", {}, own, {one(0)}},
  },
}
