-- report.lua: busted's own plain report, then the closing line `N passed, N failed, N skipped` alone on a line.
-- A run that executes no test at all (a misspelt --filter, say) is an error, not a success.
return function(options)
  local busted = require "busted"
  local handler = require "busted.outputHandlers.plainTerminal"(options)

  local function closing()
    local passed, skipped = handler.successesCount, handler.pendingsCount
    local failed = handler.failuresCount + handler.errorsCount
    if passed + failed + skipped == 0 then
      busted.publish({"error", "suite"}, {descriptor = "suite", name = "suite"}, nil, "no test ran")
      io.write("\nno test ran\n")
    end
    io.write(("\n%d passed, %d failed, %d skipped\n"):format(passed, failed, skipped))
    io.flush()
    return nil, true
  end

  busted.subscribe({"suite", "end"}, closing)
  return handler
end
