-- A script of wrk: sends random requests of one kind and prints the result as JSON.
-- Its arguments are the kind, the API key, the number of pets, the seed of the random numbers, and the mean pause of a
-- connection before a request in milliseconds.

local kind, head, pets
local statuses = { "available", "pending", "sold" }

function init(arguments)
  kind, pets = arguments[1], tonumber(arguments[3])
  head = " HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " .. arguments[2] .. "\r\n"
  math.randomseed(tonumber(arguments[4]))
  local pause = tonumber(arguments[5])
  -- Many connections that pause are like independent callers: a slow response delays few other requests.
  if pause > 0 then delay = function() return math.random(0, 2 * pause) end end
end

function request()
  if kind == "get" then return "GET /v1/pets/" .. math.random(pets) .. head .. "\r\n" end
  if kind == "page" then
    -- An unknown parameter makes the URL unique, so that no cached response fits.
    local nonce = math.random(0, 0xfffffff)
    return "GET /v1/pets?limit=20&cursor=" .. math.random(0, pets - 20) .. "&nonce=" .. nonce .. head .. "\r\n"
  end
  if kind == "hot" then return "GET /v1/pets?limit=20" .. head .. "\r\n" end
  local name = string.format("%07x%07x", math.random(0, 0xfffffff), math.random(0, 0xfffffff))
  local rest = math.random(0, 49) .. ',"status":"' .. statuses[math.random(3)] .. '"}'
  local body = '{"name":"' .. name .. '","categoryId":' .. rest
  return "POST /v1/pets" .. head .. "Content-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"microseconds":%d,"failures":%d,"p50":%f,"p99":%f}\n',
    summary.requests,
    summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    latency:percentile(50),
    latency:percentile(99)
  ))
end
