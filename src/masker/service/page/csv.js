// CSV in and out.

/** Comma, semicolon or tab: whichever the first line has most of, outside quotes. */
export function delimiterOf(content) {
  const counts = { ",": 0, ";": 0, "\t": 0 };
  let quoted = false;
  for (const character of content) {
    if (character === '"') quoted = !quoted;
    else if (character === "\n" && !quoted) break;
    else if (!quoted && character in counts) counts[character] += 1;
  }
  return Object.keys(counts).reduce((best, one) => (counts[one] > counts[best] ? one : best));
}

/** Rows of cells; quotes, doubled quotes and line breaks within quotes as in RFC 4180. Blank lines are left out. */
export function parseCsv(content, delimiter = delimiterOf(content)) {
  const rows = [];
  let row = [], cell = "", quoted = false;
  const endRow = () => {
    row.push(cell);
    if (row.length > 1 || cell.trim() !== "") rows.push(row);
    row = [];
    cell = "";
  };
  for (let place = 0; place < content.length; place += 1) {
    const character = content[place];
    if (quoted) {
      if (character !== '"') cell += character;
      else if (content[place + 1] === '"') { cell += '"'; place += 1; }
      else quoted = false;
    } else if (character === '"' && cell === "") quoted = true;
    else if (character === delimiter) { row.push(cell); cell = ""; }
    else if (character === "\n") endRow();
    else if (character !== "\r" || content[place + 1] !== "\n") cell += character;
  }
  if (cell !== "" || row.length) endRow();
  return rows;
}

/** UTF-8 with or without its mark; what is not UTF-8 is read as Windows-1252, which spreadsheets write. */
export function decode(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** A spreadsheet runs cells that begin like this as formulas. */
const FORMULA = /^[=+\-@\t\r]/;

function cellOf(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const formatCsv = (rows) => rows.map((row) => row.map(cellOf).join(",") + "\r\n").join("");
