// Tells what is under the pointer on a heatmap, or under the arrow keys, and enlarges a time
// that is dragged over. The server draws the map. Without this script the page has the same
// keys in a table.
"use strict";
for (const figure of document.querySelectorAll("figure.heat")) (() => {
  const map = figure.querySelector(".plot");
  const told = figure.querySelector(".heat-cell");
  const invitation = told.textContent;
  let at = null, drag = null, words = null;

  const columns = () => Number(figure.dataset.columns);
  const rows = () => [...figure.querySelectorAll(".heat-keys li")];
  const limit = (n, most) => Math.min(Math.max(n, 0), most);

  // This page from one column to another, of ten seconds at least.
  const enlarged = (from, to) => {
    const { from: begin, step, what } = figure.dataset;
    const url = new URL(location.href);
    const iso = (column) => new Date((Number(begin) + column * step) * 1000).toISOString().slice(0, 19) + "Z";
    url.searchParams.delete("span");
    url.searchParams.set("from", iso(from));
    url.searchParams.set("to", iso(Math.max(to, from + 10 / step)));
    url.searchParams.set("what", what);
    return url.href;
  };
  const target = () => {
    const finding = rows()[at.row].querySelector("a.finding");
    const around = Math.max(10, 60 / figure.dataset.step);
    return finding ? { href: finding.href, text: "Its finding" } : { href: enlarged(at.column - around, at.column + around), text: "Enlarge" };
  };

  // The words are of the map as it is drawn: another map has others. While the server is away
  // the next cell asks again.
  const describe = async () => {
    const source = figure.dataset.words;
    if (words?.source !== source) {
      words = { source };
      const answer = await fetch(source, { headers: { Accept: "application/json" } }).catch(() => null);
      if (words?.source !== source) return;
      words = answer?.ok ? { source, ...(await answer.json()) } : null;
    }
    if (!at || !words?.columns) return;
    const name = document.createElement("strong");
    name.className = "key clip";
    name.textContent = rows()[at.row].textContent;
    const link = document.createElement("a");
    Object.assign(link, { href: target().href, textContent: target().text });
    told.replaceChildren(name, ` ${words.columns[at.column]}: ${words.rows[at.row]?.[at.column] ?? words.empty[at.column]}. `, link);
  };

  const place = (mark, from, to) => {
    mark.setAttribute("x", `${(100 * from) / columns()}%`);
    mark.setAttribute("width", `${(100 * (to - from)) / columns()}%`);
  };
  const move = (to) => {
    at = to && { row: limit(to.row, rows().length - 1), column: limit(to.column, columns() - 1) };
    const mark = map.querySelector(".at");
    rows().forEach((row, n) => row.classList.toggle("at", at?.row === n));
    place(mark, at ? at.column : 0, at ? at.column + 1 : 0);
    place(map.querySelector(".dragged"), drag ? Math.min(drag.from, drag.to) : 0, drag ? Math.max(drag.from, drag.to) + 1 : 0);
    if (!at) return;
    const row = rows()[at.row];
    mark.setAttribute("y", row.getBoundingClientRect().top - map.getBoundingClientRect().top);
    mark.setAttribute("height", row.offsetHeight);
    describe();
  };

  const under = (event) => {
    const box = map.getBoundingClientRect();
    const row = rows().findIndex((item) => event.clientY < item.getBoundingClientRect().bottom);
    return row < 0 ? null : { row, column: limit(Math.floor(((event.clientX - box.left) / box.width) * columns()), columns() - 1) };
  };
  map.addEventListener("pointermove", (event) => {
    const cell = under(event);
    if (!cell) return;
    if (drag) drag.to = cell.column;
    if (drag || at?.row !== cell.row || at.column !== cell.column) move(cell);
  });
  map.addEventListener("pointerdown", (event) => {
    const cell = under(event);
    if (cell && event.button === 0 && event.pointerType !== "touch") drag = { from: cell.column, to: cell.column };
  });
  window.addEventListener("pointerup", () => {
    const dragged = drag;
    drag = null;
    if (!dragged || Math.abs(dragged.to - dragged.from) < 2) return;
    map.addEventListener("click", (event) => event.stopImmediatePropagation(), { once: true, capture: true });
    location.href = enlarged(Math.min(dragged.from, dragged.to), Math.max(dragged.from, dragged.to) + 1);
  });
  map.addEventListener("click", (event) => {
    const cell = under(event);
    if (!cell) return;
    move(cell);
    if (event.pointerType !== "touch") location.href = target().href; // a finger first reads, and has the link
  });
  map.addEventListener("pointerleave", () => {
    if (document.activeElement !== map && !drag) move(null);
  });
  map.addEventListener("focus", () => {
    if (!at && map.matches(":focus-visible")) move({ row: 0, column: columns() - 1 });
  });
  map.addEventListener("keydown", (event) => {
    const from = at ?? { row: 0, column: columns() - 1 };
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -columns()], End: [0, columns()] }[event.key];
    if (by) move({ row: from.row + by[0], column: from.column + by[1] });
    else if (event.key === "Enter" && at) location.href = target().href;
    else if (event.key === "Escape") {
      move(null);
      told.textContent = invitation;
    } else return;
    event.preventDefault();
  });
})();
