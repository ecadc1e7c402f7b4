// What was classified in this session, and links that restore a text. Texts are in the fragment of a link: a browser
// does not send it, so they reach no log.

/** Longer addresses break in mail programs and chats. */
const LONGEST_LINK = 8000;

export function fragmentOf({ text, pair }) {
  const fields = new URLSearchParams({ text });
  if (pair !== null) fields.set("pair", pair);
  const fragment = `#${fields}`;
  return fragment.length > LONGEST_LINK ? null : fragment;
}

export function inputOf(fragment, pairs) {
  const fields = new URLSearchParams(fragment.slice(1));
  if (!fields.has("text")) return null;
  return { text: fields.get("text"), pair: pairs ? (fields.get("pair") ?? "") : null };
}

export class Session {
  #entries = [];
  #fromFiles = [];

  /** Keep an answer; the same text again moves to the front. */
  add(entry) {
    this.#entries = [entry, ...this.#entries.filter((other) => keyOf(other) !== keyOf(entry))];
  }

  addRows(rows) {
    this.#fromFiles.push(...rows.filter((row) => row.answer?.is_ood));
  }

  /** New answers for some entries, as after the model has changed. */
  answer(entries, answers) {
    const told = new Map(entries.map((entry, place) => [keyOf(entry), answers[place]]));
    const renewed = (entry) => (told.has(keyOf(entry)) ? { ...entry, answer: told.get(keyOf(entry)) } : entry);
    this.#entries = this.#entries.map(renewed);
    this.#fromFiles = this.#fromFiles.map(renewed).filter((entry) => entry.answer.is_ood);
  }

  get entries() {
    return this.#entries;
  }

  /** Rejected texts, each once. */
  get rejected() {
    const typed = this.#entries.filter((entry) => entry.answer.is_ood).reverse();
    return [...new Map([...typed, ...this.#fromFiles].map((entry) => [keyOf(entry), entry])).values()];
  }
}

const keyOf = ({ input }) => JSON.stringify([input.text, input.pair]);
