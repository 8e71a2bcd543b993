-- nl.device_print
local nl = require "nki.language"
local case = require "spec.support.case"
local sb, ps, hbm = case.sbuf, case.psum, case.hbm

return {
  accept = {
    {"sbuf, psum and hbm", function()
      nl.device_print("a", sb {4, 8})
      nl.device_print("b", ps {4, 8})
      nl.device_print("c", hbm {4, 8})
    end},
    {"a prefix with quotes and line ends", function() nl.device_print("\"\\\n", sb {1, 1}) end},
  },
  reject = {
    {"err_bind_kind", "a tensor", function() nl.device_print("a", 1) end},
    {"err_bind_kind", "print_prefix", function() nl.device_print(1, sb {1, 1}) end},
    {"err_bind_value", "it is UTF-8 without NUL", function() nl.device_print("\0", sb {1, 1}) end},
    {"err_bind_value", "it is UTF-8 without NUL", function() nl.device_print("\xff", sb {1, 1}) end},
  },
  numeric = {},
  -- {name, value of x, body, what standard output gets}
  prints = {
    {"floats", "{{0, 1.5}, {-2, 1e-3}}", [[nl.device_print("t =", nl.load(x))]],
     "t = sbuf_0[2,2] float32 in sbuf\n[[0.0, 1.5],\n [-2.0, 0.001]]\n"},
    {"integers", "{{3, -128}}", [[nl.device_print("i", nl.load(x, nl.int8))]],
     "i sbuf_0[1,2] int8 in sbuf\n[[3, -128]]\n"},
    {"what is not finite", "{{0 / 0, 1 / 0, -1 / 0}}", [[nl.device_print("n", nl.load(x))]],
     "n sbuf_0[1,3] float32 in sbuf\n[[nan, inf, -inf]]\n"},
    {"once per trip of a device loop", "{{7, 8}}", [[
      local t = nl.load(x)
      for i in nl.dynamic_range(2) do nl.device_print("c", t[{{}, nl.ds(i, 1)}]) end]],
     "c view [1,1] of sbuf_0[1,2] float32 in sbuf\n[[7.0]]\nc view [1,1] of sbuf_0[1,2] float32 in sbuf\n[[8.0]]\n"},
  },
}
