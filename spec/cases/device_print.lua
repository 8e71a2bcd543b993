-- nl.device_print: what it writes is in spec/cli
local nl = require "nki.language"
local nd = require "nki.ndarray"
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
}
