// The text with the words that carry the answer, and what the answer becomes without keywords and with them alone.

import { figure, make, percent } from "./dom.js";

/** Below this much probability, no single word matters. */
const LEAST_SUPPORT = 0.01;

/** Offsets count code points, a JavaScript string counts UTF-16 units. */
const slice = (points, start, end) => points.slice(start, end).join("");

/** What an answer says, in a few words. */
export function inShort({ label, confidence, is_ood: isOod }) {
  if (confidence === null) return figure(label);
  return isOod ? "none of my classes" : `${label}, ${percent(confidence)}`;
}

export function wordsOf({ text, pair }, answer) {
  const { evidence } = answer;
  const texts = [text, ...(pair === null ? [] : [pair])].map((one) => Array.from(one));
  const shown = make("div", { class: "text", tabindex: "0", role: "group", "aria-label": "The text" });
  const line = make("p", { class: "hint" });
  const views = [{ name: "As written", answer, show: () => asWritten(texts, evidence, answer) }];
  const { keywords } = evidence;
  if (keywords?.masked) {
    const without = { name: "Keywords masked", answer: keywords.masked };
    const only = { name: "Only keywords", answer: keywords.only };
    views.push({ ...without, show: () => hiddenView(texts, evidence, keywords.spans, true) });
    views.push({ ...only, show: () => hiddenView(texts, evidence, keywords.spans, false) });
  }
  const choose = (view) => {
    const { content, note } = view.show();
    shown.replaceChildren(...content);
    line.textContent = note;
  };
  choose(views[0]);
  return [
    make("h3", {}, "Words that carry the answer"),
    views.length > 1 ? chooser(views, choose) : null,
    shown,
    line,
    keywordLine(keywords),
    details(texts, evidence, answer),
  ].filter(Boolean);
}

/** One radio button a view: the arrow keys go through them. */
function chooser(views, choose) {
  const options = views.map((view, place) => {
    const radio = make("input", {
      type: "radio", name: "view", id: `view-${place}`, checked: place === 0, onchange: () => choose(view),
    });
    const label = make("label", { for: radio.id }, view.name, make("small", {}, inShort(view.answer)));
    if (view.answer.is_ood) label.classList.add("out");
    return [radio, label];
  });
  return make("fieldset", { class: "views" }, make("legend", { class: "unseen" }, "Read the text"), ...options.flat());
}

function keywordLine(keywords) {
  if (keywords === null) return make("p", { class: "hint" }, "This model was trained without keywords to mask.");
  if (!keywords.spans.length) return make("p", { class: "hint" }, "None of the model's keywords is in this text.");
  return null;
}

/** Pieces of each text: spans with what belongs to them, and what lies between; the part that was not read is grey. */
function pieces(texts, readTo, spans, makeSpan) {
  return texts.map((points, part) => {
    const nodes = [];
    let at = 0;
    for (const [place, start, end, value] of spans) {
      if (place !== part || start < at) continue;
      nodes.push(slice(points, at, start), makeSpan(slice(points, start, end), value));
      at = end;
    }
    nodes.push(slice(points, at, Math.max(at, readTo[part])));
    const rest = slice(points, Math.max(at, readTo[part]));
    if (rest.trim()) nodes.push(make("span", { class: "unread" }, rest));
    return make("p", {}, ...nodes);
  });
}

const inOrder = (spans) => spans.sort((one, other) => one[0] - other[0] || one[1] - other[1]);

function asWritten(texts, evidence, answer) {
  const most = Math.max(...evidence.parts.map((part) => Math.abs(part.support)), 0);
  const least = Math.max(LEAST_SUPPORT, most / 10);
  const spans = evidence.parts
    .filter((part) => Math.abs(part.support) >= least)
    .flatMap((part) => part.spans.map((span) => [...span, part.support]));
  const content = pieces(texts, evidence.read_to, inOrder(spans), (text, support) => {
    const mark = make("mark", { class: support > 0 ? "for" : "against" }, text);
    mark.style.setProperty("--strength", (Math.abs(support) / most).toFixed(2));
    return mark;
  });
  const unit = evidence.single_words ? "word" : "run of words";
  const what = answer.confidence === null ? "the number falls" : `${answer.label} loses confidence`;
  const note = spans.length
    ? `Filled: ${what} without the ${unit}. Dotted: the opposite.`
    : `No single ${unit} carries the answer: the confidence stays without any one of them.`;
  return { content, note };
}

function hiddenView(texts, evidence, spans, hideSpans) {
  const hidden = (text) =>
    make("span", { class: "gone" }, make("span", { "aria-hidden": "true" }, "▬".repeat(Math.min(6, text.length))),
      make("span", { class: "unseen" }, "hidden"));
  const content = hideSpans
    ? pieces(texts, evidence.read_to, inOrder([...spans]), hidden)
    : pieces(texts, evidence.read_to, inOrder([...spans]), (text) => make("b", {}, text));
  if (!hideSpans) content.forEach((paragraph) => paragraph.classList.add("hidden-context"));
  const note = hideSpans
    ? "A model that reads the context gives the same answer without the keywords."
    : "The model sees the bold words alone. One that reads the context is unsure here.";
  return { content, note };
}

function details(texts, evidence, answer) {
  if (!evidence.parts.length) return null;
  const byWeight = [...evidence.parts].sort((one, other) => other.support - one.support);
  const isNumber = answer.confidence === null;
  const rows = byWeight.map((part) => {
    const [place, start, end] = part.spans[0];
    const without = isNumber ? answer.label - part.support : answer.confidence - part.support;
    return make("tr", {},
      make("th", { scope: "row" }, slice(texts[place], start, end)),
      make("td", { class: "number" }, isNumber ? figure(without) : percent(Math.max(0, without))),
      ...(isNumber ? [] : [
        make("td", { class: "number" }, figure(answer.ood_score - part.strangeness)),
        make("td", {}, part.is_ood ? "none of my classes" : String(part.label)),
      ]));
  });
  const first = evidence.single_words ? "Without the word" : "Without the words";
  const heads = isNumber ? [first, "Answer"] : [first, `Confidence in ${answer.label}`, "Score", "Answer"];
  return make("details", {},
    make("summary", {}, "The numbers"),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "What each word changes" },
      make("table", {},
        make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
        make("tbody", {}, ...rows))));
}
