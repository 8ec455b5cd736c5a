// Refreshes the page's content while it is in view. Without this script the
// page is the same and stands still.
"use strict";
(() => {
  const main = document.querySelector("main[data-live]");
  const button = document.getElementById("live");
  if (!main || !button) return;
  let live = sessionStorage.getItem("live") !== "off";
  const show = () => {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(live));
    button.textContent = live ? "Pause updates" : "Resume updates";
  };
  button.addEventListener("click", () => {
    live = !live;
    sessionStorage.setItem("live", live ? "on" : "off");
    show();
  });
  // Nothing is pulled away from under a reader who is inside of it, or has written something.
  const written = () => [...main.querySelectorAll("input, textarea")].some((field) => field.value !== field.defaultValue);
  const busy = () => document.hidden || main.contains(document.activeElement) || main.querySelector("details[open]") || written();
  setInterval(async () => {
    if (!live || busy()) return;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (busy()) return;
      main.replaceChildren(...page.querySelector("main").childNodes);
      document.querySelector(".asof time").replaceWith(page.querySelector(".asof time"));
    } catch {
      // The server is away for a moment; the next round asks again.
    }
  }, 2000);
  show();
})();
