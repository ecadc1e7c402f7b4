// A dropped CSV file: which column, progress, answers as a table, and as a file again.

import { decode, formatCsv, parseCsv } from "./csv.js";
import { byId, download, figure, make, percent, plural } from "./dom.js";
import { classifyAll } from "./service.js";

const AT_A_TIME = 64; // texts of a request
const SHOWN = 100; // rows shown at first, and added on demand
const LARGEST = 50e6; // bytes

const COLUMNS = ["label", "confidence", "p_value", "ood_score", "is_ood"];
const section = () => byId("rows");
let running = null;

const title = (text) => make("h2", { id: "rows-title", tabindex: "-1" }, text);

function place(...content) {
  section().replaceChildren(...content);
  section().hidden = false;
}

/** Reads the file, asks for the column if none is named text, and classifies its rows. */
export async function openFile(file, { pairs, onError, onRows, onOpen }) {
  running?.abort();
  if (file.size > LARGEST) {
    return onError(`${file.name} has ${Math.round(file.size / 1e6)} MB; this page takes 50. Use masker predict for it.`);
  }
  const content = decode(await file.arrayBuffer());
  if (content.includes("\0")) return onError(`${file.name} is not a CSV file; export it as CSV first.`);
  const rows = parseCsv(content);
  if (!rows.length) return onError(`${file.name} is empty; choose a CSV file with a column of texts.`);
  const names = rows[0].map((name) => name.trim().toLowerCase());
  const columns = [names.indexOf("text"), ...(pairs ? [names.indexOf("text_pair")] : [])];
  const start = (chosen, header) =>
    classifyRows(file.name, inputsOf(rows.slice(header ? 1 : 0), chosen), { onError, onRows, onOpen });
  if (!columns.includes(-1)) return start(columns, true);
  return askForColumns(file.name, rows, pairs, start);
}

function inputsOf(rows, [text, pair]) {
  return rows
    .map((row) => ({ text: row[text] ?? "", pair: pair === undefined ? null : (row[pair] ?? "") }))
    .filter((input) => input.text.trim() !== "");
}

function askForColumns(name, rows, pairs, start) {
  const header = make("input", { type: "checkbox", id: "has-header", checked: true });
  const select = (id) => make("select", { id }, ...rows[0].map((cell, column) =>
    make("option", { value: column, selected: column === longest(rows) },
      `${column + 1}: ${cell.trim().slice(0, 40) || "(no name)"}`)));
  const fields = [["column", "Column of the text"], ...(pairs ? [["pair-column", "Column of the second text"]] : [])]
    .map(([id, label]) => make("div", {}, make("label", { for: id }, label), select(id)));
  const form = make("form", { class: "stack" }, ...fields,
    make("div", { class: "check" }, header, make("label", { for: "has-header" }, "The first row holds names")),
    make("div", { class: "row" }, make("button", { type: "submit", class: "primary" }, "Classify")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    start([...form.querySelectorAll("select")].map((one) => Number(one.value)), header.checked);
  });
  place(title(name), make("p", {}, `No column of this file is named ${pairs ? "text and text_pair" : "text"}.`), form);
  form.querySelector("select").focus();
}

/** The column with the longest cells is the likely one. */
function longest(rows) {
  const lengths = rows[0].map((_, column) => rows.slice(1, 50).reduce((sum, row) => sum + (row[column] ?? "").length, 0));
  return lengths.indexOf(Math.max(...lengths));
}

async function classifyRows(name, inputs, { onError, onRows, onOpen }) {
  if (!inputs.length) {
    section().hidden = true;
    return onError(`${name} has no row with a text in it.`);
  }
  const control = new AbortController();
  running = control;
  const bar = make("progress", { max: inputs.length, value: 0, "aria-label": "Rows classified" });
  const stop = make("button", { type: "button", onclick: () => control.abort() }, "Stop");
  place(title(name), make("div", { class: "row" }, bar, stop));
  byId("rows-title").focus();
  const done = [];
  try {
    while (done.length < inputs.length && !control.signal.aborted) {
      const part = inputs.slice(done.length, done.length + AT_A_TIME);
      const answers = await classifyAll(part, control.signal);
      done.push(...answers.map((answer, index) => ({
        input: part[index],
        ...(answer instanceof Error ? { error: answer.message } : { answer }),
        row: done.length + index + 1,
      })));
      bar.value = done.length;
    }
  } catch (error) {
    if (error.name !== "AbortError") onError(error.message);
  }
  if (running !== control) return; // another file has been opened
  running = null;
  if (!done.length) { section().hidden = true; return; }
  onRows(done);
  showRows(name, done, inputs.length, onOpen);
}

function showRows(name, rows, total, onOpen) {
  const rejected = rows.filter((row) => row.answer?.is_ood).length;
  const failed = rows.filter((row) => row.error).length;
  const body = make("tbody");
  const more = make("button", { type: "button" });
  const filter = make("input", { type: "checkbox", id: "only-rejected" });
  let shown = SHOWN;
  const fill = () => {
    const chosen = filter.checked ? rows.filter((row) => row.answer?.is_ood) : rows;
    body.replaceChildren(...chosen.slice(0, shown).map((row) => tableRow(row, onOpen)));
    more.hidden = chosen.length <= shown;
    more.textContent = `Show more (${(chosen.length - shown).toLocaleString("en")} left)`;
  };
  filter.addEventListener("change", fill);
  more.addEventListener("click", () => { shown += SHOWN; fill(); });
  const counted = [plural(rows.length, "text"), `${rejected} rejected`, failed ? `${failed} refused` : null,
    rows.length < total ? `stopped before ${total - rows.length} more` : null];
  const summary = make("p", { role: "status" }, `${counted.filter(Boolean).join(", ")}.`);
  place(title(name), summary,
    make("div", { class: "row" },
      make("div", { class: "check" }, filter, make("label", { for: "only-rejected" }, "Only rejected")),
      make("button", { type: "button", onclick: () => download("answers.csv", answersCsv(rows)) }, "Download answers")),
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Answers" },
      make("table", {},
        make("thead", {}, make("tr", {}, ...["Row", "Text", "Answer", "Confidence"]
          .map((head) => make("th", { scope: "col" }, head)))),
        body)),
    more);
  fill();
  byId("rows-title").focus();
}

function tableRow({ input, answer, error, row }, onOpen) {
  const text = [input.text, input.pair].filter((part) => part !== null).join(" ⏐ ");
  const open = make("button", { type: "button", class: "link", onclick: () => onOpen(input) }, text.slice(0, 200));
  const outcome = error ?? (answer.is_ood ? "◇ none of my classes" : String(answer.label));
  const confidence = answer?.confidence === undefined || answer.confidence === null ? "" : percent(answer.confidence);
  return make("tr", { class: answer?.is_ood || error ? "out" : null },
    make("td", { class: "number" }, String(row)),
    make("td", {}, open),
    make("td", {}, answer && answer.confidence === null ? figure(answer.label) : outcome),
    make("td", { class: "number" }, confidence));
}

/** Texts with their answers as CSV. */
export function answersCsv(rows) {
  const pairs = rows.some((row) => row.input.pair !== null), failed = rows.some((row) => row.error);
  const head = ["text", ...(pairs ? ["text_pair"] : []), ...COLUMNS, ...(failed ? ["error"] : [])];
  return formatCsv([head, ...rows.map(({ input, answer, error }) => [
    input.text, ...(pairs ? [input.pair] : []), ...COLUMNS.map((name) => answer?.[name]), ...(failed ? [error] : []),
  ])]);
}
