-- collective.lua: the cases that several collectives refuse alike. call: of case.calls, with tensors of shape in lists
-- `srcs` and `dsts`.
local nl = require "nki.language"
local case = require "spec.support.case"
local sb, hbm = case.sbuf, case.hbm

local collective = {}

function collective.groups(call)
  return {
    {"err_replica_group", "there is no list of ranks", rule = "groups_disjoint",
     call(function() return {replica_group = {}} end)},
    {"err_replica_group", "a list of ranks is empty", rule = "groups_disjoint",
     call(function() return {replica_group = {{0, 1}, {}}} end)},
    {"err_replica_group", "replica_group {{0, 1}, {1, 2}}: rank 1 is named twice", rule = "groups_disjoint",
     call(function() return {replica_group = {{0, 1}, {1, 2}}} end)},
    {"err_argument_range", "replica_group is -1; legal is 0..65535",
     call(function() return {replica_group = {{-1, 1}}} end)},
    {"err_bind_kind", "must be an ncc.ReplicaGroup or a list of lists of ranks",
     call(function() return {replica_group = {0, 1}} end)},
  }
end

function collective.equal_groups(call)
  return {
    {"err_replica_group", "the lists must have the same length", rule = "groups_equal",
     call(function() return {replica_group = {{0, 1}, {2}}} end)},
  }
end

function collective.priority(call)
  return {
    {"err_argument_generation", "priority needs gen4", call(function() return {priority = 1} end)},
    {"err_argument_range", "priority is 4; legal is 0..3", target = "trn3",
     call(function() return {priority = 4} end)},
  }
end

function collective.operators(call)
  return {
    {"err_operator_set", "op cannot be multiply; legal operators are add, maximum, minimum",
     call(function() return {op = nl.multiply} end)},
  }
end

function collective.paired(call, shape)
  return {
    {"err_list_lengths", "the numbers of tensors differ: srcs has 2, dsts has 1", rule = "paired",
     call(function() return {srcs = {hbm(shape), hbm(shape)}} end)},
    {"err_dtype_mismatch", "srcs and dsts must have the same dtype", rule = "paired",
     call(function() return {srcs = {hbm(shape, nl.bfloat16)}} end)},
  }
end

function collective.memory(call, src, dst)
  return {
    {"err_collective_memory", "all tensors must be in hbm, or all in sbuf", rule = "one_memory",
     call(function() return {dsts = {sb(dst)}} end)},
    {"err_coalesced_memory", "srcs has 2 tensors in sbuf; several at once must be in hbm", rule = "one_memory",
     call(function() return {srcs = {sb(src), sb(src)}, dsts = {sb(dst), sb(dst)}} end)},
    {"err_unsupported_memory", "srcs must be in sbuf or hbm", call(function() return {srcs = {case.psum(src)}} end)},
  }
end

function collective.hbm_only(call, shape)
  return {{"err_unsupported_memory", "srcs must be in hbm", call(function() return {srcs = {sb(shape)}} end)}}
end

function collective.one_tensor(call, src, dst)
  return {
    {"err_list_one", "srcs has 2 tensors; it takes one", rule = "one_tensor",
     call(function() return {srcs = {hbm(src), hbm(src)}, dsts = {hbm(dst), hbm(dst)}} end)},
  }
end

-- Of rows whose lists have a tensor for each channel: names of all lists.
function collective.channels(call, lists, shape)
  local function on_channels(n, ids, groups)
    return function()
      local args = {channel_ids = ids, replica_group = groups}
      for _, name in ipairs(lists) do
        args[name] = {}
        for i = 1, n do
          args[name][i] = {hbm(shape)}
        end
      end
      return args
    end
  end
  return {
    {"err_channel", "channel_ids names channel 1 twice", rule = "channels", call(on_channels(2, {1, 1}))},
    {"err_channel", lists[1] .. " has tensors for 2 channels and channel_ids names 1", rule = "channels",
     call(on_channels(2))},
    {"err_channel", "3 channels; a group of all ranks has at most 4, several groups have 2", rule = "channels",
     call(on_channels(3, {0, 1, 2}, {{0, 1}, {2, 3}}))},
    {"err_argument_range", "channel_ids is 4; legal is 0..3", call(on_channels(1, {4}))},
    {"err_bind_kind", "a list with a list of one tensor for each channel",
     call(function() return {[lists[1]] = {{hbm(shape), hbm(shape)}}} end)},
    {"err_bind_kind", "a list with a list of one tensor for each channel",
     call(function() return {[lists[1]] = {hbm(shape)}} end)},
  }
end

-- What the rows with counts refuse; n ranks in a group.
function collective.counts(call, n)
  local u32 = nl.uint32
  return {
    {"err_tensor_flat", "srcs must be one run of elements", rule = "flat",
     call(function() return {srcs = {hbm {8, 8}[{{}, {0, 4}}]}} end)},
    {"err_tensor_flat", "dsts must be one run of elements", rule = "flat",
     call(function() return {dsts = {hbm {8, 8}[{{}, {0, 4}}]}} end)},
    {"err_shape_required", ("metadata_tensor must have shape (3 or 4, %d) in hbm or (1, 3 or 4, %d) in sbuf"):format(n,
      n), rule = "metadata", call(function() return {metadata_tensor = hbm({3, n + 1}, u32)} end)},
    {"err_shape_required", "metadata_tensor must have shape", rule = "metadata",
     call(function() return {metadata_tensor = hbm({2, n}, u32)} end)},
    {"err_shape_required", "metadata_tensor must have shape", rule = "metadata",
     call(function() return {metadata_tensor = sb({3, n}, u32)} end)},
    {"err_unsupported_dtype", "metadata_tensor is", call(function() return {metadata_tensor = hbm {3, n}} end)},
  }
end

-- One list of the lists given.
function collective.all(...)
  local out = {}
  for _, list in ipairs {...} do
    table.move(list, 1, #list, #out + 1, out)
  end
  return out
end

return collective
