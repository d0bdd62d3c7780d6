-- A script of wrk: sends the requests of a file, which a zero byte separates, and prints the result as JSON.

local requests = {}
local index = 0

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  for each in file:read("*a"):gmatch("%Z+") do
    requests[#requests + 1] = each
  end
  file:close()
end

function request()
  index = index % #requests + 1
  return requests[index]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"cpuSeconds":%f,"failures":%d,"p50":%f,"p99":%f,"p999":%f}\n',
    summary.requests,
    summary.duration,
    os.clock(),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50),
    latency:percentile(99),
    latency:percentile(99.9)
  ))
end
