// The bearer token: asked for when the service wants one, kept in this tab only.

import { byId } from "./dom.js";

const KEY = "masker-token";
let inMemory = null; // where the browser forbids session storage
let asking = null;

export function currentToken() {
  try {
    return sessionStorage.getItem(KEY) ?? inMemory;
  } catch {
    return inMemory;
  }
}

function keep(token) {
  inMemory = token;
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // the tab's memory has it
  }
}

/** Ask once, however many requests wait for it; resolves to whether there is a new token. */
export function askForToken(refused) {
  asking ??= show(refused).finally(() => { asking = null; });
  return asking;
}

function show(refused) {
  const dialog = byId("token-dialog"), field = byId("token");
  byId("token-line").textContent = refused
    ? "The service did not accept the token. Try another one."
    : "Whoever runs the service has it.";
  field.value = "";
  dialog.returnValue = "";
  dialog.showModal();
  field.focus();
  return new Promise((resolve) => {
    byId("token-cancel").onclick = () => dialog.close();
    byId("token-form").onsubmit = () => keep(field.value.trim());
    dialog.onclose = () => {
      resolve(field.value.trim() !== "" && currentToken() === field.value.trim());
      field.value = "";
    };
  });
}
