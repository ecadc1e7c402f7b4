// The page: what happens when.

import { showAnswer, spoken } from "./answer.js";
import { byId, download, make, percent, plural } from "./dom.js";
import { prepareGroups, showCount } from "./groups.js";
import { call, explain } from "./service.js";
import { Session, fragmentOf, inputOf } from "./session.js";
import { answersCsv, openFile } from "./table.js";
import { listenToTabs, showTab } from "./tabs.js";
import { refreshTraffic, watchTraffic } from "./traffic.js";
import { inShort } from "./words.js";

const session = new Session();
let model = null; // what the service says of it
let described = null; // the promise of that
let asked = null; // the request under way
let shown = null; // the entry on display

// Messages ------------------------------------------------------------------------------------------------------------

function showError(message) {
  byId("error").textContent = message.charAt(0).toUpperCase() + message.slice(1);
  byId("error").hidden = message === "";
  if (message) byId("status").textContent = "";
}

// One text ------------------------------------------------------------------------------------------------------------

function typed() {
  return { text: byId("text").value, pair: model.pairs ? byId("pair").value : null };
}

function fillIn(input) {
  byId("text").value = input.text;
  byId("pair").value = input.pair ?? "";
}

/** Classify a text, or what is typed in. */
async function classify(input = null) {
  asked?.abort();
  const control = new AbortController();
  asked = control;
  showError("");
  byId("status").textContent = "Classifying.";
  byId("ask").setAttribute("aria-busy", "true");
  try {
    await ready();
    const asking = input ?? typed();
    const entry = { input: asking, answer: await explain(asking, model.evidence, control.signal) };
    session.add(entry);
    show(entry);
    refreshTraffic();
  } catch (error) {
    if (error.name === "AbortError") return;
    byId("answer").hidden = true;
    showError(error.message);
  } finally {
    if (asked === control) byId("ask").removeAttribute("aria-busy");
  }
}

function show(entry) {
  shown = entry;
  showError("");
  showAnswer(entry, model);
  byId("status").textContent = spoken(entry.answer);
  byId("link-line").textContent = "";
  const fragment = fragmentOf(entry.input);
  history.replaceState(null, "", fragment ?? location.pathname + location.search);
  byId("copy-link").disabled = fragment === null;
  if (fragment === null) byId("link-line").textContent = "The text is too long for a link.";
  showHistory();
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    byId("link-line").textContent = "Copied. The text is in the link; the service does not see it until it is opened.";
  } catch {
    byId("link-line").textContent = "The address of this page is the link.";
  }
}

// History -------------------------------------------------------------------------------------------------------------

function showHistory() {
  byId("history-line").hidden = session.entries.length > 0 || session.rejected.length > 0;
  byId("history").replaceChildren(...session.entries.map((entry) => {
    const again = () => {
      showTab(byId("texts-tab"));
      fillIn(entry.input);
      show(entry);
      byId("verdict").focus();
    };
    const button = make("button", { type: "button", onclick: again, "aria-current": entry === shown ? "true" : null },
      make("span", {}, entry.input.text.slice(0, 120) || "(empty)"),
      make("small", {}, `${entry.answer.is_ood ? "◇ " : ""}${inShort(entry.answer)}`));
    return make("li", { class: entry.answer.is_ood ? "out" : null }, button);
  }));
  const count = session.rejected.length;
  byId("download-rejected").hidden = count === 0;
  byId("download-rejected").textContent = `Download ${plural(count, "rejected text")}`;
  showCount(count, model);
}

// Files ---------------------------------------------------------------------------------------------------------------

async function open(file) {
  showError("");
  showTab(byId("texts-tab"));
  try {
    await ready();
  } catch (error) {
    return showError(error.message);
  }
  return openFile(file, {
    pairs: model.pairs,
    onError: showError,
    onRows: (rows) => { session.addRows(rows); showHistory(); refreshTraffic(); },
    onOpen: (input) => { fillIn(input); classify(input).then(() => byId("verdict").focus()); },
  });
}

function acceptDrops() {
  const target = byId("drop-target");
  const holdsFile = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    target.hidden = false;
  });
  addEventListener("dragleave", (event) => { if (event.relatedTarget === null) target.hidden = true; });
  addEventListener("drop", (event) => {
    if (!holdsFile(event)) return;
    event.preventDefault();
    target.hidden = true;
    open(event.dataTransfer.files[0]);
  });
}

// Start ---------------------------------------------------------------------------------------------------------------

/** Resolves when the model is known; a failure is tried again next time. */
function ready() {
  described ??= describeModel().catch((error) => { described = null; throw error; });
  return described;
}

async function describeModel() {
  const about = await call("v1/model");
  const histogram = about.detector && (await call("v1/calibration"));
  model = { ...about, histogram };
  document.title = `${about.name} · masker`;
  byId("pair-field").hidden = !about.pairs;
  showCount(session.rejected.length, model);
  byId("model-line").textContent = about.regression ? "This model predicts a number." : sentence(about);
}

/** After an extension: the classes, the histogram and the answers on display are those of the model before. */
async function describeAgain() {
  described = null;
  await ready();
  shown = null;
  byId("answer").hidden = true;
  byId("rows").hidden = true;
  showHistory();
  refreshTraffic();
}

function sentence({ classes, detector }) {
  const named = classes.slice(0, 6).join(", ") + (classes.length > 6 ? " and others" : "");
  const promise = detector.promised === null ? "" : ` At most ${percent(detector.promised)} of their texts are rejected.`;
  return `${plural(classes.length, "class").replace("classs", "classes")}: ${named}.${promise}`;
}

function restore() {
  const input = inputOf(location.hash, model.pairs);
  if (input === null) return;
  fillIn(input);
  classify(input);
}

function listen() {
  byId("ask").addEventListener("submit", (event) => { event.preventDefault(); classify(); });
  byId("ask").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("ask").requestSubmit();
  });
  byId("file").addEventListener("change", () => {
    if (byId("file").files.length) open(byId("file").files[0]);
    byId("file").value = ""; // so that the same file can be opened again
  });
  byId("copy-link").addEventListener("click", copyLink);
  byId("download-rejected").addEventListener("click", () => download("rejected.csv", answersCsv(session.rejected)));
  addEventListener("hashchange", restore);
  listenToTabs();
  prepareGroups({ session, model: () => model, onError: showError, onExtended: describeAgain });
  acceptDrops();
}

listen();
ready().then(restore, (error) => showError(error.message)).finally(watchTraffic);
