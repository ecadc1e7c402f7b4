// Shows the title of a mark at the pointer, also on a touch screen, where browsers do not.
const tip = document.getElementById("tip");
function hide() { tip.hidden = true; }
function show(event) {
  const mark = event.target.closest("svg *");
  const title = mark && mark.querySelector(":scope > title");
  if (title) { mark.dataset.tip = title.textContent; title.remove(); }
  if (!mark || !mark.dataset.tip) { hide(); return; }
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const left = Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 14;
  const top = below + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 10 : below;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}
document.addEventListener("pointerover", show);
document.addEventListener("pointerdown", show);
document.addEventListener("scroll", hide, true);
window.addEventListener("beforeprint", hide);
