// Elements and numbers. Text is always text: nothing on this page is parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const make = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);

export const draw = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

/** A probability for people: never a false 0 or 100 %. */
export function percent(share) {
  if (share >= 0.995) return share === 1 ? "100 %" : "> 99 %";
  if (share < 0.005) return share === 0 ? "0 %" : "< 1 %";
  return `${Math.round(share * 100)} %`;
}

/** Three significant digits, and a minus sign that is as wide as a plus. */
export function figure(value) {
  if (!Number.isFinite(value)) return "–";
  const rounded = Number(value.toPrecision(3));
  return (Math.abs(rounded) >= 1e6 ? rounded.toExponential(1) : String(rounded)).replace("-", "−");
}

/** Two decimals, for values between −1 and 1. */
export const cosine = (value) => value.toFixed(2).replace("-", "−");

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

export function download(name, content) {
  const type = name.endsWith(".csv") ? "text/csv" : "application/jsonl";
  const url = URL.createObjectURL(new Blob([content], { type: `${type};charset=utf-8` }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
