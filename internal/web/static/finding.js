// A finding's page: sliders ask the server again as they move, and code is copied by a
// button. Without this script the form is sent, and code is selected by hand.
"use strict";
(() => {
  for (const button of document.querySelectorAll("button.copy")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("pre").textContent);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  const form = document.querySelector("form.what-if");
  const answer = document.getElementById("what-if-answer");
  if (!form || !answer) return;
  form.querySelector("button").hidden = true;
  let asked = 0;
  form.addEventListener("input", async () => {
    for (const field of form.querySelectorAll("input")) field.parentElement.querySelector("output").textContent = field.value;
    const question = new URLSearchParams(new FormData(form));
    const mine = ++asked;
    try {
      const reply = await fetch(`${location.pathname}?${question}`, { headers: { Accept: "text/html" } });
      if (!reply.ok || mine !== asked) return; // the slider has moved on
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      const next = page.getElementById("what-if-answer");
      if (next && mine === asked) answer.replaceChildren(...next.childNodes);
    } catch {
      // The server is away for a moment; the next move asks again.
    }
  });
})();
