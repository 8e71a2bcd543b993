-- Nodes: a kernel inserted into a graph, with its operands and results. Inside a running kernel the graph is that
-- kernel's program, which keeps a list of its own (src/lang/node.c); outside it is the framework's, and a node carries
-- the kernel's IR. The chunk is given
-- fail(id, message), the contents of nki and the primitives.
local _, _, lib, nki, steps = ...

local function node_class(name)
  return setmetatable({__name = name}, {
    __tostring = function()
      return "class " .. name
    end,
  })
end

-- A kernel that is traced at this call, and one that comes from the kernel library.
local External = node_class("ExternalNativeNkiKernel")
local Materialized = node_class("InternalMaterializedNkiKernel")
for _, class in ipairs{External, Materialized} do
  class.__index = class
  class.__tostring = function(node)
    local operands = {}
    for i, operand in ipairs(node.operands) do
      operands[i] = operand.name
    end
    return ("%s %s(%s)"):format(class.__name, node.func_name, table.concat(operands, ", "))
  end
end

-- The tensors among the arguments, by parameter, in order.
local function operands_of(kernel, boundargs, kind)
  local list = {}
  steps.check_bound(kernel, boundargs, "insert_nki_kernel")
  for _, name in ipairs(kernel.params) do
    local value = boundargs.arguments[name]
    if steps.kind(value) == kind then
      list[#list + 1] = {name = name, value = value}
    end
  end
  return list
end

local function new(kernel, operands)
  return setmetatable({kernel = kernel, func_name = kernel.func_name, library = kernel.library, operands = operands},
    kernel.library and Materialized or External)
end

-- Inside a kernel: the body becomes part of the running program; operands and results are checked to be in shared_hbm.
local function insert_here(kernel, ...)
  local node = new(kernel, operands_of(kernel, kernel:bind_arguments(...), "tile"))
  local results = table.pack(kernel(...))
  if results.n == 1 and type(results[1]) == "table" then
    results = results[1]
  end
  node.results = {table.unpack(results)}
  return node
end

-- Outside: the node holds the IR, one declaration per result.
local function insert_in_graph(kernel, ...)
  local artifact = steps.specialize(kernel, ...)
  local node = new(kernel, operands_of(kernel, kernel:bind_arguments(...), "decl"))
  node.artifact, node.serialize_ir_string, node.results = artifact, artifact.ir, {}
  for i, result in ipairs(artifact.return_types) do
    node.results[i] = nki.decl(result.shape, result.dtype)
  end
  return node
end

-- nki.insert_nki_kernel(kernel, arguments ...): the node.
function nki.insert_nki_kernel(kernel, ...)
  if steps.kind(kernel) ~= "kernel" then
    lib.half "nki.callables".kind_error("nki.insert_nki_kernel", "kernel", "a kernel, which nki.jit makes", kernel)
  end
  return (steps.in_kernel() and insert_here or insert_in_graph)(kernel, ...)
end

nki.ExternalNativeNkiKernel, nki.InternalMaterializedNkiKernel = External, Materialized
