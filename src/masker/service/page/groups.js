// The rejected texts of the session in groups: name them, download them as labelled data, or extend the model by them.

import { byId, cosine, download, make, plural } from "./dom.js";
import { asInput, call, classifyAll } from "./service.js";

let found = null; // { inputs, answer } of the last grouping
let busy = false;

const say = (text) => { byId("groups-status").textContent = text; };

/** `session` has the texts, `model()` what the service says of itself; `onExtended` is told when the model is new. */
export function prepareGroups({ session, model, onError, onExtended }) {
  const guarded = (work) => async () => {
    if (busy) return;
    busy = true;
    onError("");
    byId("groups-panel").setAttribute("aria-busy", "true");
    try {
      await work();
    } catch (error) {
      say("");
      onError(error.message);
    } finally {
      busy = false;
      byId("groups-panel").removeAttribute("aria-busy");
    }
  };
  byId("find-groups").addEventListener("click", guarded(() => findGroups(session, model())));
  byId("download-groups").addEventListener("click", () => downloadNamed(named()));
  byId("extend").addEventListener("click", guarded(() => extend(session, onExtended)));
}

/** Say how many texts wait, and whether they can be grouped. */
export function showCount(count, model) {
  byId("rejects-tab").textContent = `Rejected (${count.toLocaleString("en")})`;
  byId("groups-line").textContent = lineOf(count, model);
  byId("find-groups").disabled = count === 0 || !model?.discover;
  byId("find-groups").textContent = found ? "Group them again" : "Group them";
}

function lineOf(count, model) {
  if (model && !model.discover) return "This service cannot group texts: it lacks scikit-learn, or predicts numbers.";
  if (!count) return "No text was rejected in this session yet. Classify some, or open a CSV file.";
  return `${plural(count, "text")} of this session ${count === 1 ? "was" : "were"} rejected. Texts that have something ` +
    "in common may be a class that the model does not know yet.";
}

async function findGroups(session, model) {
  say("Grouping.");
  const inputs = session.rejected.map((entry) => entry.input).slice(-model.limits.max_texts);
  const answer = await call("v1/discover", { body: { texts: inputs.map(asInput) } });
  found = { inputs, answer };
  byId("groups").replaceChildren(...answer.groups.map((group, place) => card(group, place)));
  byId("class-names").replaceChildren(...model.classes.map((name) => make("option", { value: String(name) })));
  byId("find-groups").textContent = "Group them again";
  byId("extend").hidden = !model.extend;
  byId("extend-line").hidden = model.extend;
  update();
  const left = session.rejected.length - inputs.length;
  say(answer.sentence + (left > 0 ? ` ${plural(left, "earlier text")} left out.` : ""));
  byId("groups-title").focus();
}

function card(group, place) {
  const title = `group-${place}`, field = `name-${place}`;
  const name = make("input", {
    type: "text", id: field, list: "class-names", autocomplete: "off", "data-group": place, oninput: update,
    "aria-describedby": `${title}-line`,
  });
  const one = make("button", { type: "button", "data-download": place, disabled: true,
    "aria-label": `Download “${group.name}”`,
    onclick: () => downloadNamed(named().filter((entry) => entry.place === place)) }, "Download");
  return make("li", { class: "group" },
    make("h3", { id: title }, group.name),
    make("p", { id: `${title}-line`, class: "hint" }, factsOf(group)),
    listOf(group.middle),
    group.edge.length
      ? make("details", {}, make("summary", {}, "From its edge"), listOf(group.edge))
      : null,
    make("div", { class: "naming" },
      make("div", {}, make("label", { for: field }, `Class of “${group.name}”`), name),
      one));
}

function factsOf({ texts, cohesion, nearest, novelty, is_new: isNew }) {
  const facts = [plural(texts, "text"), `cohesion ${cosine(cohesion)}`];
  if (nearest !== null) {
    facts.push(isNew ? `new; the nearest class is ${nearest}` : `maybe a part of ${nearest} that the model misses`);
    facts.push(`novelty ${novelty.toFixed(1)}`);
  }
  return `${facts.join(", ")}.`;
}

const listOf = (texts) =>
  make("ul", { class: "examples" }, ...texts.map((text) => make("li", {}, text.slice(0, 300))));

/** The groups that have a name, with their texts. */
function named() {
  if (found === null) return [];
  return [...byId("groups").querySelectorAll("input[data-group]")]
    .map((field) => ({ place: Number(field.dataset.group), name: field.value.trim() }))
    .filter(({ name }) => name !== "")
    .map(({ place, name }) => {
      const inputs = found.answer.groups[place].members.map((number) => found.inputs[number]);
      return { place, name, inputs };
    });
}

/** Buttons follow what has a name. */
function update() {
  const some = named(), places = new Set(some.map(({ place }) => place));
  const count = some.reduce((sum, { inputs }) => sum + inputs.length, 0);
  for (const button of byId("groups").querySelectorAll("[data-download]")) {
    button.disabled = !places.has(Number(button.dataset.download));
  }
  byId("groups-actions").hidden = found === null || !found.answer.groups.length;
  byId("download-groups").disabled = byId("extend").disabled = count === 0;
  byId("download-groups").textContent = count ? `Download ${plural(count, "labelled text")}` : "Download labelled texts";
}

/** Not CSV: a cell that a spreadsheet would run gets an apostrophe there, and the model would learn it. */
function downloadNamed(groups) {
  const rows = groups.flatMap(({ name, inputs }) => inputs.map(({ text, pair }) =>
    ({ text, ...(pair === null ? {} : { text_pair: pair }), label: name })));
  download("labelled.jsonl", rows.map((row) => JSON.stringify(row) + "\n").join(""));
}

async function extend(session, onExtended) {
  const groups = named();
  const inputs = groups.flatMap((group) => group.inputs);
  const labels = groups.flatMap((group) => group.inputs.map(() => group.name));
  say("Extending the model.");
  const report = await call("v1/extend", { body: { texts: inputs.map(asInput), labels } });
  found = null; // the model has these texts now: whatever fails below, they must not be sent again
  byId("groups").replaceChildren();
  update();
  const before = session.rejected;
  try {
    session.answer(before, await judgeAgain(before));
  } finally {
    await onExtended(); // shows the new model and the answers, whichever they are
  }
  const still = session.rejected.length;
  const what = report.new_classes.length ? `New: ${report.new_classes.join(", ")}. ` : "";
  say(`The model has ${plural(report.classes, "class").replace("classs", "classes")} now. ${what}` +
    `Of ${plural(before.length, "rejected text")}, ${still === 1 ? "1 is" : `${still} are`} still rejected.`);
  byId("groups-title").focus();
}

/** Answers of the new model; a text that the service refuses keeps its answer. */
async function judgeAgain(entries) {
  const answers = [];
  while (answers.length < entries.length) {
    const part = entries.slice(answers.length, answers.length + 64);
    const told = await classifyAll(part.map((entry) => entry.input));
    answers.push(...told.map((answer, place) => (answer instanceof Error ? part[place].answer : answer)));
  }
  return answers;
}
