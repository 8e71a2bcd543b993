-- ncc.collective_permute_implicit_current_processing_rank_id
local nl, nisa, ncc = require "nki.language", require "nki.isa", require "nki.collectives"
local nd = require "nki.ndarray"
local case = require "spec.support.case"
local collective = require "spec.support.collective"

local current = ncc.collective_permute_implicit_current_processing_rank_id
local call = case.calls(current, function() return {iteration_id = 0, replica_group = {{0, 1}}} end)

-- The ranks of steps 0..n-1.
local function steps(n, groups)
  return function()
    local out, t = case.shared({1, n}, nl.int32), nl.ndarray({1, n}, nl.int32)
    for i = 0, n - 1 do
      nisa.register_store(t[{0, {i, i + 1}}], current(i, groups))
    end
    nl.store(out, t)
    return out
  end
end
local function row(...) return nd.array({{...}}, "int32") end

return {
  accept = {{"a step", call()}, {"a channel and a name", call(function() return {channel_id = 3, name = "who"} end)}},
  reject = collective.all(collective.groups(call), {
    {"err_argument_range", "iteration_id is -1", call(function() return {iteration_id = -1} end)},
    {"err_argument_range", "channel_id is 4; legal is 0..3", call(function() return {channel_id = 4} end)},
    {"err_bind_unknown", "no parameter 'dst'", call(function() return {dst = 1} end)},
    {"err_bind_surplus", "too many arguments: at most 4, got 5", function() current(0, {{0}}, 0, "a", 1) end},
  }),
  numeric = {
    {"the own rank, then those before it, round and round", ranks = 4, {}, steps(5, {{0, 2, 1}}),
     {{row(0, 1, 2, 0, 1), row(1, 2, 0, 1, 2), row(2, 0, 1, 2, 0), row(-1, -1, -1, -1, -1)}}},
  },
}
