-- The C host of examples/embed_c, the stock interpreter with the C module, and busted in it.
local build = require "spec.support.build"
local cli = require "spec.cli.support"

local script = "examples/inplace_update.lua"
local target = "NEURON_PLATFORM_TARGET_OVERRIDE=trn2 "

describe("examples/embed_c", function()
  local function check(program)
    local r = build.shell(target .. build.quote(program) .. " " .. script)
    assert.equal(0, r.code, r.err)
    local config = r.out:match("^config (%S+)\n")
    assert.equal("alias operand 0 output 0\nweights -1.0 0.0 ... 16382.0\n", r.out:match("\n(.*)$"))
    assert.equal(config .. "\n", cli.ok {"config", script, "f32[256,64]", "f32[256,64]", "0.5"})
  end

  it("specializes, prints config and aliases, and computes on its own buffers", function()
    check(build.dir .. "/bin/embed_c")
    local r = build.shell(build.quote(build.dir .. "/bin/embed_c") .. " none.lua")
    assert.equal(1, r.code)
    assert.matches("^err_script_file: cannot open none.lua", r.err:gsub("warning: [^\n]*\n", ""))
    r = build.shell(build.quote(build.dir .. "/bin/embed_c"))
    assert.equal(1, r.code)
    assert.equal("usage: embed_c SCRIPT\n", r.err)
  end)

  it("is also C++11", function()
    if build.sanitized or not os.execute("g++ --version >/dev/null 2>&1") then
      pending("no g++ here, or not one that links the sanitizers")
      return
    end
    local program = os.tmpname()
    local lib = build.quote(build.dir .. "/lib")
    local r = build.shell(("g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Iinclude -x c++ examples/embed_c/host.c "
      .. "-o %s -L%s -lnkilua -Wl,-rpath,$(realpath %s)"):format(program, lib, lib))
    assert.equal(0, r.code, r.err)
    check(program)
    os.remove(program)
  end)
end)

describe("stock lua5.4", function()
  it("requires nki and its modules from the C module", function()
    local r = build.stock {"-e", [[
      local nki, nl, nisa = require "nki", require "nki.language", require "nki.isa"
      assert(nki == require "nki" and nisa.tensor_copy and require "nki.ndarray")
      local k = nki.jit(function(a)
        local out = nl.ndarray(a.shape, a.dtype, {buffer = nl.shared_hbm})
        nl.store(out, nl.load(a) * 2)
        return out
      end)
      print(k:specialize(nki.decl({4, 4}, nl.bfloat16)).ir:match("nisa.tensor_scalar"))
      local ok, e = pcall(nl.load, 3)
      print(ok, e:find("outside_of_nki_kernel") ~= nil)
    ]], env = target}
    assert.equal("", r.err)
    assert.equal("nisa.tensor_scalar\nfalse\ttrue\n", r.out)
  end)

  it("runs specs with its own busted", function()
    local folder = cli.folder()
    build.spit(folder .. "/m_spec.lua", [[
      describe("stock", function()
        it("finds the module", function()
          assert.is_function(require("nki").jit)
        end)
      end)]])
    local r = build.stock {"/usr/bin/busted", "-o", "TAP", "--ROOT=" .. folder, folder .. "/m_spec.lua"}
    cli.drop(folder)
    assert.equal(0, r.code, r.out .. r.err)
    assert.matches("ok 1 %- stock finds the module", r.out)
  end)
end)
