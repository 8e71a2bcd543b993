-- raises.lua: raises("err_x", "text", f): f() must raise an error object of that id whose message has the text. Returns
-- the object.
return function(id, text, f)
  local ok, e = pcall(f)
  if ok then
    error(("nothing was raised; %s was expected"):format(id), 2)
  end
  local got = type(e) == "table" and e.id or "no error object"
  if got ~= id or not e.message:find(text, 1, true) then
    error(("expected %s: ...%s...\n  got %s: %s"):format(id, text, got, tostring(e)), 2)
  end
  return e
end
