-- NkiTensor.rearrange: split, permute and merge axes by name, as a chain of views.
local fail, _, lib = ...

-- A string as a message quotes it: at most 80 bytes, no half character at the cut, NULs spelled.
local function clip(v)
  if type(v) ~= "string" then return v end
  if #v > 80 then
    local n = 80
    while n > 76 and v:find("^[\x80-\xBF]", n + 1) do n = n - 1 end
    v = v:sub(1, n) .. "..."
  end
  return (v:gsub("\0", "\\x00"))
end

local function complain(format, ...)
  local list = table.pack(...)
  for i = 1, list.n do list[i] = clip(list[i]) end
  return fail("rearrange", format:format(table.unpack(list, 1, list.n)))
end

-- "b (h w)" -> {{"b"}, {"h", "w"}}
local function parse_side(text, pattern)
  local lpeg = require "lpeg"
  local P, R, S, C, Ct, Cp = lpeg.P, lpeg.R, lpeg.S, lpeg.C, lpeg.Ct, lpeg.Cp
  local space = S " \t\n" ^ 0
  local name = C((R("az", "AZ") + "_") * (R("az", "AZ", "09") + "_") ^ 0) * space
  local group = Ct(P "(" * space * name ^ 0 * P ")" * space) + Ct(name)
  local groups, at = (space * Ct(group ^ 1) * Cp()):match(text)
  if not groups or at <= #text then complain("'%s' is no list of axis names and (groups), in '%s'", text, pattern) end
  return groups
end

local function from_list(list, which)
  local groups = {}
  if not lib.is_list(list) then complain("%s must be a list of axis names and lists of names", which) end
  for i, item in ipairs(list) do
    groups[i] = lib.is_list(item) and {table.unpack(item)} or {item}
    for _, name in ipairs(groups[i]) do
      if type(name) ~= "string" then complain("%s: axis names are strings", which) end
    end
  end
  return groups
end

-- The first name, in their order, that the pattern lacks.
local function check_sizes(fixed, axes)
  if type(fixed) ~= "table" then complain("sizes are a table such as {a = 4}, got a %s", type(fixed)) end
  local strange = {}
  for name in pairs(fixed) do
    if not axes[name] then strange[#strange + 1] = tostring(name) end
  end
  table.sort(strange)
  if strange[1] then complain("no axis '%s' in the pattern", strange[1]) end
end

local function flat(groups, seen, which)
  local names = {}
  for _, group in ipairs(groups) do
    for _, name in ipairs(group) do
      if seen[name] then complain("axis '%s' occurs twice in the %s pattern", name, which) end
      seen[name] = #names
      names[#names + 1] = name
    end
  end
  return names
end

-- Sizes of the names of one group; one may be open.
local function sizes_of(group, total, fixed, axis)
  local sizes, open, product = {}, nil, 1
  for i, name in ipairs(group) do
    local size = fixed[name]
    if size == nil and #group == 1 then size = total end
    if size == nil then
      if open then complain("sizes of '%s' and '%s' cannot both be inferred; give one", group[open], name) end
      open = i
    else
      if math.tointeger(size) == nil or size < 1 then complain("the size of '%s' must be a positive integer",
        name) end
      sizes[i] = math.tointeger(size)
      product = product * size
    end
  end
  if open then
    sizes[open] = total // product
    product = product * sizes[open]
  end
  if product ~= total then complain("axis %d has %d elements, its names make %d", axis, total, product) end
  return sizes
end

return function(t, src, dst, fixed)
  local left, right
  if type(src) == "string" then
    local a, b = src:match "^(.-)%->(.*)$"
    if not a or dst ~= nil then
      complain("a pattern is a string 'a (b c) -> a c b' with the sizes in a table behind it")
    end
    left, right = parse_side(a, src), parse_side(b, src)
  else
    left, right = from_list(src, "src_pattern"), from_list(dst, "dst_pattern")
  end
  if fixed == nil then fixed = {} end
  local from, to = {}, {}
  local names, order = flat(left, from, "source"), flat(right, to, "destination")
  for _, name in ipairs(names) do
    if not to[name] then complain("axis '%s' is missing in the destination", name) end
  end
  for _, name in ipairs(order) do
    if not from[name] then complain("axis '%s' is missing in the source", name) end
  end
  check_sizes(fixed, from)
  if #left ~= t.ndim then complain("the pattern has %d axes, the tensor %d", #left, t.ndim) end
  for axis = #left, 1, -1 do
    local sizes = sizes_of(left[axis], t.shape[axis - 1], fixed, axis - 1)
    if #sizes == 0 then
      t = t:squeeze_dim(axis - 1)
    elseif #sizes > 1 then
      t = t:reshape_dim(axis - 1, sizes)
    end
  end
  local dims, moved = {}, false
  for i, name in ipairs(order) do
    dims[i] = from[name]
    moved = moved or dims[i] ~= i - 1
  end
  if moved then t = t:permute(dims) end
  local at = 0
  for _, group in ipairs(right) do
    if #group == 0 then
      t = t:expand_dim(at)
    elseif #group > 1 then
      t = t:flatten_dims(at, at + #group - 1)
    end
    at = at + 1
  end
  return t
end
