// The live panel: how much is asked, how much is rejected, and whether the texts have changed.

import { byId, draw, make, percent, plural } from "./dom.js";
import { call } from "./service.js";

const EVERY = 10_000; // milliseconds
const KEPT = 60; // points of the line
const FEWEST = 20; // texts behind a point: a share of fewer says little
const shares = [];
let before = null; // the counts at the last point

/** Asks now and then, while the page can be seen. */
export async function watchTraffic() {
  if (!document.hidden) await refreshTraffic();
  setTimeout(watchTraffic, EVERY);
}

export const refreshTraffic = () => update().catch(() => {}); // the next one may succeed

async function update() {
  const traffic = await call("v1/traffic", { quiet: true });
  const drift = await call("v1/drift", { quiet: true }).catch(() => ({}));
  before ??= traffic;
  if (traffic.texts >= before.texts + FEWEST) {
    shares.push((traffic.rejected - before.rejected) / (traffic.texts - before.texts));
    shares.splice(0, shares.length - KEPT);
    before = traffic;
  } else if (traffic.texts < before.texts) before = traffic; // the service was started again
  const rejected = traffic.texts ? percent(traffic.rejected / traffic.texts) : "–";
  byId("traffic-figures").replaceChildren(...[
    make("dl", {},
      ...pair("Texts", traffic.texts.toLocaleString("en")),
      ...pair("Requests", traffic.requests.toLocaleString("en")),
      ...pair("Rejected", rejected),
      ...pair("Drift", driftLine(drift))),
    drift.sentence ? make("p", { class: "hint" }, drift.sentence) : null,
    shares.length > 1 ? line() : null,
  ].filter(Boolean));
  byId("traffic").hidden = false;
}

const pair = (name, value) => [make("dt", {}, name), make("dd", {}, value)];

function driftLine(drift) {
  if (drift.alarm === undefined) return "not watched";
  return drift.alarm ? make("b", { class: "out" }, "◇ alarm") : "no alarm";
}

function line() {
  const width = 240, height = 36, step = width / (shares.length - 1);
  const most = Math.max(...shares, 0.1);
  const points = shares.map((share, place) => `${place * step},${height - 2 - (share / most) * (height - 4)}`);
  return make("figure", {},
    draw("svg", { viewBox: `0 0 ${width} ${height}`, class: "spark", "aria-hidden": "true" },
      draw("polyline", { points: points.join(" ") })),
    make("figcaption", { class: "hint" },
      `Rejected share of the last ${plural(shares.length, "reading")}; the top is ${percent(most)}.`));
}
