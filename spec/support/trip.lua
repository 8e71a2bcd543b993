-- trip.lua: what every spec that traces also checks: an artifact survives its own text, and runs the same without its
-- source.
local nki = require "nki"

local trip = {}

-- Decodes a's backend_config. Printing what was parsed gives the same text, encoding it the same config; returns the
-- decoded artifact.
function trip.decoded(a)
  local b = nki.decode(a.backend_config)
  assert(b.ir == a.ir, "print -> parse -> print is no fixpoint")
  assert(b.backend_config == a.backend_config, "the decoded artifact encodes differently")
  return b
end

local function copies(list, n)
  local out = {}
  for i = 1, n do
    local x = list[i]
    out[i] = type(x) == "userdata" and x.copy and x:copy() or x
  end
  return table.unpack(out, 1, n)
end

local function arrays_of(list, n)
  local out = {}
  for i = 1, n do
    if type(list[i]) == "userdata" then
      out[#out + 1] = list[i]:copy()
    end
  end
  return out
end

-- trip.run(kernel, arrays and constants...): the kernel's outputs; the decoded artifact must give the same bytes.
-- Arguments stay untouched.
function trip.run(kernel, ...)
  local args = table.pack(...)
  local out = table.pack(kernel(copies(args, args.n)))
  local decoded = trip.decoded(kernel:specialize(copies(args, args.n)))
  local again = table.pack(decoded:simulate(table.unpack(arrays_of(args, args.n))))
  assert(again.n == out.n, "run and exec give different numbers of outputs")
  for i = 1, out.n do
    assert(out[i].dtype == again[i].dtype and out[i].shape == again[i].shape and out[i]:bytes() == again[i]:bytes(),
           "run and exec differ")
  end
  return table.unpack(out, 1, out.n)
end

return trip
