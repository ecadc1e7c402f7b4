// The answer for one text: verdict, place of its score, words, classes.

import { byId, cosine, figure, make, percent, plural } from "./dom.js";
import { histogramOf } from "./histogram.js";
import { wordsOf } from "./words.js";

let redraw = null;
new ResizeObserver(() => redraw?.()).observe(byId("histogram"));

/** One sentence, which a screen reader speaks as soon as the answer is there. */
export function spoken({ label, confidence, is_ood: isOod }) {
  if (confidence === null) return `The answer is ${figure(label)}.`;
  if (isOod) return `None of my classes. The closest is ${label}.`;
  return `${label}, with a confidence of ${percent(confidence)}.`;
}

export function showAnswer({ input, answer }, model) {
  const isNumber = answer.confidence === null;
  byId("answer").classList.toggle("is-out", answer.is_ood === true);
  byId("verdict").textContent = answer.is_ood ? "None of my classes" : isNumber ? figure(answer.label) : answer.label;
  byId("verdict-line").replaceChildren(...verdictLine(answer));
  byId("answer").hidden = false; // before the histogram, which is as wide as the card
  showHistogram(answer, model);
  byId("words").replaceChildren(...(answer.evidence ? wordsOf(input, answer) : []));
  byId("classes").replaceChildren(...(isNumber ? [] : classesOf(answer)));
  byId("examples").replaceChildren(...examplesOf(answer));
}

function verdictLine(answer) {
  if (answer.confidence === null) return ["This model predicts a number."];
  const badge = make("span", { class: "badge" }, answer.is_ood ? "◇ rejected" : "● known");
  const confidence = percent(answer.confidence);
  const label = make("b", {}, String(answer.closest ?? answer.label));
  if (answer.none && !answer.is_ood) return [badge, "No label holds. The closest is ", label, ` with ${confidence}.`];
  return answer.is_ood
    ? [badge, "The closest class is ", label, ` with a confidence of ${confidence}.`]
    : [badge, `Confidence ${confidence}.`];
}

function showHistogram(answer, { histogram, classes }) {
  const place = classes.indexOf(answer.closest ?? answer.label);
  byId("calibration").hidden = !histogram || answer.ood_score === null;
  redraw = null;
  if (byId("calibration").hidden) return;
  const threshold = histogram.thresholds[place] ?? null;
  let width = 0;
  redraw = () => {
    if (byId("histogram").clientWidth === width) return;
    width = byId("histogram").clientWidth;
    byId("histogram").replaceChildren(histogramOf(histogram, threshold, answer.ood_score, width));
  };
  redraw();
  const side = threshold === null ? "There is no threshold: nothing is rejected."
    : `Its score ${figure(answer.ood_score)} is ${answer.is_ood ? "beyond" : "within"} the threshold ${figure(threshold)}.`;
  const bars = `The bars are ${plural(histogram.documents, "text")} of its classes held out of training.`;
  byId("histogram-line").textContent = `${side} ${strange(answer.p_value)} ${bars}`;
}

function strange(p) {
  const count = Math.round(p * 100);
  return `${count < 1 ? "Fewer than 1" : `About ${count}`} in 100 texts of its classes look at least as strange.`;
}

/** The nearest training texts, if the model was told to keep some. */
function examplesOf({ evidence }) {
  if (!evidence?.examples?.length) return [];
  return [
    make("h3", {}, "Nearest training texts"),
    make("ul", { class: "examples" }, ...evidence.examples.map(({ text, pair, label, similarity }) =>
      make("li", {},
        make("span", {}, [text, pair].filter((part) => part !== null).join(" ⏐ ").slice(0, 300)),
        make("small", {}, `${label}, similarity ${cosine(similarity)}`)))),
  ];
}

/** The most probable and the nearest classes in one table. */
function classesOf(answer) {
  const nearest = answer.evidence?.nearest;
  const byMeans = nearest?.by === "class means" ? new Map(nearest.classes.map((one) => [one.label, one.value])) : null;
  const probable = new Map((answer.top_k ?? []).map((one) => [one.label, one.confidence]));
  const labels = new Set([...probable.keys(), ...(byMeans?.keys() ?? [])]);
  if (!labels.size) return [];
  const rows = [...labels].map((label) => {
    const share = probable.get(label);
    const bar = make("span", { class: "meter", "aria-hidden": "true" }, make("span"));
    bar.firstChild.style.width = `${100 * (share ?? 0)}%`;
    return make("tr", {},
      make("th", { scope: "row" }, String(label)),
      make("td", { class: "share" }, share === undefined ? "–" : bar, share === undefined ? "" : percent(share)),
      byMeans && make("td", { class: "number" }, byMeans.has(label) ? cosine(byMeans.get(label)) : "–"));
  });
  const note = byMeans
    ? "Similarity: the cosine between the text and the mean of the class's training texts, seen from the mean of all."
    : "Nearest by probability: this model keeps no class means.";
  return [
    make("h3", {}, "Nearest classes"),
    make("table", { class: "classes" },
      make("thead", {}, make("tr", {}, ...["Class", "Probability", ...(byMeans ? ["Similarity"] : [])]
        .map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...rows)),
    make("p", { class: "hint" }, note),
  ];
}
