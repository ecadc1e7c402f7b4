-- Bodies from a file, one a line, in turns; an optional pause before each request; one line of JSON at the end.
-- wrk ... -s load.lua URL -- FILE [MILLISECONDS]
local bodies, place, pause = {}, 0, 0
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(args)
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  for line in io.lines(args[1]) do
    bodies[#bodies + 1] = wrk.format(nil, nil, nil, line)
  end
  pause = tonumber(args[2] or "0")
  too_many, refused, failed = 0, 0, 0
  if pause > 0 then
    -- Spread over twice the pause, so that connections do not march in step.
    math.randomseed(os.time())
    delay = function() return math.random() * 2 * pause end
  end
end

function request()
  place = place % #bodies + 1
  return bodies[place]
end

function response(status)
  if status == 429 then
    too_many = too_many + 1
  elseif status >= 500 then
    failed = failed + 1
  elseif status >= 400 then
    refused = refused + 1
  end
end

function done(summary, latency)
  local counts = { too_many = 0, refused = 0, failed = 0 }
  for _, thread in ipairs(threads) do
    for name in pairs(counts) do
      counts[name] = counts[name] + thread:get(name)
    end
  end
  io.write(string.format(
    '{"requests": %d, "seconds": %.3f, "p50_ms": %.3f, "p99_ms": %.3f, "max_ms": %.3f, ' ..
    '"too_many": %d, "refused": %d, "failed": %d, "connections_lost": %d, "timeouts": %d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3, counts.too_many, counts.refused, counts.failed,
    summary.errors.connect + summary.errors.read + summary.errors.write, summary.errors.timeout))
end
