// Requests to the service.

import { askForToken, currentToken } from "./token.js";

export class ServiceError extends Error {
  constructor(status, message, retryAfter = 0) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** GET, or POST if there is a body. With `quiet`, a missing token is an error instead of a question. */
export async function call(path, { body, signal, quiet = false } = {}) {
  const token = currentToken();
  const headers = { Accept: "application/json" };
  if (token !== null) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const content = body === undefined ? undefined : JSON.stringify(body);
  let response;
  try {
    response = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: content, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError(0, "The service does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const refused = [401, 403].includes(response.status);
  if (refused && !quiet && (await askForToken(token !== null))) return call(path, { body, signal });
  const message = answer.error ?? `The service answered with status ${response.status}.`;
  throw new ServiceError(response.status, message, Number(response.headers.get("Retry-After")) || 1);
}

export const asInput = ({ text, pair }) => (pair === null ? text : [text, pair]);

/** An answer with several labels, in the form that the page shows: their names in one, and the closest of all. */
function asShown(answer) {
  if (!Array.isArray(answer.confidence)) return answer;
  const [best] = answer.top_k ?? [];
  const label = answer.labels.join(" · ") || "none of the labels";
  return { ...answer, label, closest: best?.label, confidence: answer.confidence[0] ?? best?.confidence ?? 0 };
}

/** One text, with everything the page shows about it; `evidence` only if the service offers it. */
export async function explain(input, evidence, signal) {
  const body = { texts: [asInput(input)], top_k: 5, evidence };
  return asShown((await call("v1/classify", { body, signal })).predictions[0]);
}

/**
 * Many texts: an answer or an Error for each. A request that the service refuses is halved until the texts that it
 * refuses stand alone, so that one text of too many characters does not cost the others their answers.
 */
export async function classifyAll(inputs, signal) {
  try {
    return (await call("v1/classify", { body: { texts: inputs.map(asInput) }, signal })).predictions.map(asShown);
  } catch (error) {
    if (error.status === 429 || error.status === 503) {
      await new Promise((resolve) => setTimeout(resolve, error.retryAfter * 1000));
      if (signal?.aborted) throw error;
      return classifyAll(inputs, signal);
    }
    if (![413, 422].includes(error.status)) throw error;
    if (inputs.length === 1) return [error];
    const middle = Math.ceil(inputs.length / 2);
    const first = await classifyAll(inputs.slice(0, middle), signal);
    return [...first, ...(await classifyAll(inputs.slice(middle), signal))];
  }
}
