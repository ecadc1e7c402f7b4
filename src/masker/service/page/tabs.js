// Two views of the page as tabs: arrow keys go from one to the other.

import { byId } from "./dom.js";

const tabs = () => [...document.querySelectorAll('[role="tab"]')];

export function showTab(chosen) {
  for (const tab of tabs()) {
    const selected = tab === chosen;
    tab.setAttribute("aria-selected", String(selected));
    tab.tabIndex = selected ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !selected;
  }
}

export function listenToTabs() {
  for (const tab of tabs()) tab.addEventListener("click", () => showTab(tab));
  byId("tabs").addEventListener("keydown", (event) => {
    const all = tabs(), at = all.indexOf(document.activeElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || next === undefined) return;
    event.preventDefault();
    const tab = all[(next + all.length) % all.length];
    showTab(tab);
    tab.focus();
  });
}
