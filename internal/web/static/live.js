// Follows the page while it is in view: the server says when it has changed. The page then
// fetches itself, and the new content is worked into it, so that the focus, what is open and
// what is written stay. Without this script the page is the same and stands still.
"use strict";
(() => {
  const main = document.querySelector("main[data-live]");
  const button = document.getElementById("live");
  const time = document.querySelector(".asof time");
  const stale = document.getElementById("stale");
  if (!main || !button) return;
  let wanted = sessionStorage.getItem("live") !== "off";
  let stream = null, again = 0, text = "", behind = false, loading = false, waiting = false, failures = 0;

  // Rows do not come, go or move under a reader's hand.
  const held = (rows) => rows.matches(":hover") || rows.contains(document.activeElement);

  const morph = (old, next) => {
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
      return;
    }
    if (old.hasAttribute("data-own")) return; // a script of its own writes it
    if (old.hasAttribute("data-held") && held(old)) {
      waiting = true;
      return;
    }
    for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    for (const { name } of [...old.attributes]) if (name !== "open" && !next.hasAttribute(name)) old.removeAttribute(name);
    morphChildren(old, next);
  };

  const morphChildren = (old, next) => {
    const byID = new Map([...old.children].filter((e) => e.id).map((e) => [e.id, e]));
    if (old.nodeName === "TBODY" && held(old)) {
      for (const row of next.children) if (byID.has(row.id)) morph(byID.get(row.id), row);
      waiting = true;
      return;
    }
    let at = old.firstChild;
    for (const child of [...next.childNodes]) {
      const same = child.id ? byID.get(child.id) : at && !at.id && at.nodeName === child.nodeName ? at : null;
      if (!same) {
        old.insertBefore(child, at);
        continue;
      }
      if (same === at) at = at.nextSibling;
      else old.insertBefore(same, at);
      morph(same, child);
    }
    while (at) {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    }
  };

  const apply = () => {
    const page = new DOMParser().parseFromString(text, "text/html");
    document.getElementById("health").replaceWith(page.getElementById("health"));
    waiting = false;
    morphChildren(main, page.getElementById("main"));
    document.dispatchEvent(new Event("keyheat:changed"));
  };
  const release = () => { if (waiting) setTimeout(() => { if (waiting && wanted) apply(); }); };
  main.addEventListener("focusout", release);
  main.addEventListener("pointerout", release);

  // A page that could not be fetched is fetched on the next event.
  const load = async () => {
    if (!behind || loading) return;
    behind = false;
    loading = true;
    try {
      const reply = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
      if (!reply.ok) throw reply;
      text = await reply.text();
      if (wanted) apply();
    } catch {
      behind = true;
    }
    loading = false;
  };

  const disconnect = () => {
    clearTimeout(again);
    if (stream) stream.close();
    stream = null;
  };
  const connect = () => {
    disconnect();
    if (!wanted || document.hidden) return;
    stream = new EventSource(location.pathname + location.search);
    stream.onmessage = ({ data }) => {
      failures = 0;
      stale.textContent = "";
      time.dateTime = data;
      time.textContent = data.slice(11, 19);
      load();
    };
    stream.addEventListener("changed", (event) => {
      behind = true;
      stream.onmessage(event);
    });
    // A browser connects again by itself, but not to a server that has no room.
    // It says so when it connected again in vain: the page then shows what was.
    stream.onerror = () => {
      failures++;
      if (failures > 1 || stream && stream.readyState === EventSource.CLOSED) stale.textContent = "No answer since: this is old. Trying again.";
      if (stream && stream.readyState === EventSource.CLOSED) again = setTimeout(connect, 30000);
    };
  };

  const show = () => {
    button.hidden = false;
    button.textContent = wanted ? "Pause updates" : "Resume updates";
  };
  button.addEventListener("click", () => {
    wanted = !wanted;
    failures = 0;
    stale.textContent = "";
    sessionStorage.setItem("live", wanted ? "on" : "off");
    show();
    connect();
  });
  document.addEventListener("visibilitychange", connect);
  show();
  connect();
})();
