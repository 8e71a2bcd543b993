-- nisa.register_move
local nl, nisa = require "nki.language", require "nki.isa"
local nd = require "nki.ndarray"

local function stored(register)
  local out = nl.ndarray({1, 1}, nl.int32)
  nisa.register_store(out, register)
  return out
end

return {
  accept = {
    {"an integer, and another register", function()
      local a, b = nisa.register_alloc(), nisa.register_alloc(4)
      nisa.register_move(a, -5)
      nisa.register_move(b, a)
    end},
    {"a float with an integral value", function() nisa.register_move(nisa.register_alloc(), 6 / 2) end},
  },
  reject = {
    {"err_bind_kind", "src", function() nisa.register_move(nisa.register_alloc(), 0.5) end},
    {"err_bind_kind", "dst", function() nisa.register_move(3, 4) end},
    {"err_argument_range", "src is 4294967296", function() nisa.register_move(nisa.register_alloc(), 1 << 32) end},
    {"err_index_frozen", "dst", function()
      for i in nl.dynamic_range(4) do
        nisa.register_move(i, 0)
      end
    end},
  },
  numeric = {
    {"integers at the ends of their range", {}, function()
      local a, b = nisa.register_alloc(), nisa.register_alloc()
      nisa.register_move(a, -2147483648)
      nisa.register_move(b, 2147483647)
      return stored(a), stored(b)
    end, {nd.array({{-2147483648}}, "int32"), nd.array({{2147483647}}, "int32")}},
    {"a register's value at that moment", {}, function()
      local a, b = nisa.register_alloc(7), nisa.register_alloc()
      nisa.register_move(b, a)
      nisa.register_move(a, 8)
      return stored(b), stored(a)
    end, {nd.array({{7}}, "int32"), nd.array({{8}}, "int32")}},
    {"a counter in a device loop", {}, function()
      local n = nisa.register_alloc(3)
      local total = nl.zeros({1, 1}, nl.float32)
      nl.while_loop(n, function(r)
        nisa.tensor_scalar(total, total, nl.add, 10.0)
        return r - 1
      end)
      return total
    end, {{{30}}}},
  },
}
