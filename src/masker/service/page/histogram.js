// Where a score falls among those of held-out texts of the model's own classes.

import { draw, figure } from "./dom.js";

const HEIGHT = 132, TOP = 30, BOTTOM = 34, SIDE = 12;

/** The SVG; `threshold` is null if nothing is ever rejected. */
export function histogramOf({ edges, counts, beyond }, threshold, score, width) {
  const low = Math.min(edges[0], score), end = edges[edges.length - 1];
  // A score far beyond the bars would squeeze them together: it is drawn at the end of the axis, with an arrow.
  const room = 0.3 * (end - edges[0]);
  const off = score > end + room;
  const high = off || beyond ? end + room : Math.max(end, score, threshold ?? end) + 0.03 * (end - edges[0]);
  const x = (value) => SIDE + (width - 2 * SIDE) * ((Math.min(value, high) - low) / (high - low));
  const base = HEIGHT - BOTTOM, tallest = Math.max(...counts, 1);
  const chart = draw("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}` });
  if (threshold !== null && threshold < high) {
    const wide = x(high) - x(threshold);
    chart.append(draw("rect", { class: "beyond", x: x(threshold), y: TOP, width: wide, height: base - TOP }));
    if (wide > 70) chart.append(draw("text", { x: x(threshold) + 8, y: TOP + 16, class: "beyond" }, "rejected"));
  }
  counts.forEach((count, bin) => {
    const left = x(edges[bin]), tall = (count / tallest) * (base - TOP - 4);
    const size = { x: left + 0.5, y: base - tall, width: Math.max(1, x(edges[bin + 1]) - left - 1), height: tall };
    if (count) chart.append(draw("rect", { class: "bar", ...size }));
  });
  chart.append(draw("line", { class: "axis", x1: SIDE, x2: width - SIDE, y1: base, y2: base }));
  const ticks = [[edges[0], figure(Number(edges[0].toFixed(2)))]];
  if (threshold !== null && threshold <= high) {
    chart.append(draw("line", { class: "threshold", x1: x(threshold), x2: x(threshold), y1: TOP - 4, y2: base }));
    ticks.push([threshold, `threshold ${figure(threshold)}`]);
  }
  for (const [value, text] of ticks) chart.append(label(x(value), base + 14, text, width));
  chart.append(label(width - SIDE, HEIGHT - 4, "out-of-distribution score →", width));
  const at = x(score);
  chart.append(
    draw("line", { class: "here", x1: at, x2: at, y1: TOP - 8, y2: base }),
    draw("path", { class: "here", d: `M${at - 5},${TOP - 13}h10l-5,8z` }),
    label(at, TOP - 17, off ? `this text ${figure(score)} →` : `this text ${figure(score)}`, width, "here"),
  );
  return chart;
}

/** Text centred at x, moved inwards where it would leave the chart. */
function label(x, y, content, width, kind = "") {
  const half = content.length * 3.4;
  const anchor = x < half ? "start" : x > width - half ? "end" : "middle";
  const inside = Math.max(2, Math.min(width - 2, x));
  return draw("text", { x: inside, y, "text-anchor": anchor, class: kind }, content);
}
