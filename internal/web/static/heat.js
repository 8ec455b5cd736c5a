// Draws a table's heatmap: a row a key, a column a step of time. Without this script the
// page has the same keys in a table.
"use strict";
for (const figure of document.querySelectorAll("figure.heat")) (() => {
  const frame = figure.querySelector(".heat-frame");
  const keys = figure.querySelector(".heat-keys");
  const peaks = figure.querySelector(".heat-peaks");
  const canvas = figure.querySelector("canvas");
  const told = figure.querySelector(".heat-cell");
  const invitation = told.textContent;
  const rowHeight = 20, axis = 24, restHeight = 30;
  // The narrowest cells: those that a finger can tell apart, or a mouse; on paper all fit.
  const narrow = matchMedia("screen and (max-width: 700px)").matches ? 4 : 2;
  const narrowest = () => (matchMedia("print").matches ? 0.5 : narrow);
  // The upper ends of the colours, as shares of the limit.
  const steps = figure.dataset.steps.split(" ").map(Number);
  const isOver = (colour) => colour > 0 && steps[colour - 1] >= 1;
  let whole, map, tops = [], at = null, width = narrow, picture = null, drag = null;

  const amount = (v) => v.toLocaleString("en", { maximumFractionDigits: v < 10 ? 1 : 0 });
  const two = (n) => String(n).padStart(2, "0");
  const clock = (date) => `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
  const day = (date) => date.toISOString().slice(0, 10);
  const time = (column) => new Date(Date.parse(map.from) + column * map.step * 1000);
  const iso = (date) => date.toISOString().slice(0, 19) + "Z";
  // What does not print is written out: a key may hold anything.
  const shown = (key) => {
    if (key === "") return "(empty)";
    const text = key.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
    return text !== key || text.trim() !== text ? `“${text}”` : text;
  };
  const colour = (value) => {
    const share = value / map.limit;
    let n = 0;
    while (n < steps.length && share > steps[n]) n++;
    return n;
  };

  // Joins so many columns into one, so that all fit the width. The highest value stays.
  const merge = (by) => {
    map = { ...whole, by, step: whole.step * by, seen: [], full: [], rest: [] };
    whole.seen.forEach((seen, n) => {
      const to = Math.floor(n / by);
      map.seen[to] = (map.seen[to] || 0) + seen;
      map.full[to] = (map.full[to] || 0) + whole.step;
      const load = whole.rest[n];
      if (load !== undefined) map.rest[to] = load === null ? map.rest[to] ?? null : (map.rest[to] || 0) + load;
    });
    map.rows = whole.rows.map((row) => {
      const byColumn = new Map();
      for (const [column, value, low, high, sum, refused, seconds, reasons] of row.cells) {
        const to = Math.floor(column / by), [, v, l, h, s, r, n, why] = byColumn.get(to) || [to, 0, 0, 0, 0, 0, 0, 0];
        const share = sum + s > 0 ? (refused * sum + r * s) / (sum + s) : 0;
        byColumn.set(to, [to, Math.max(value, v), Math.max(low, l), Math.max(high, h), sum + s, share, seconds + n, reasons | why]);
      }
      return { ...row, byColumn, cells: [...byColumn.values()] };
    });
  };

  // An address of this page with other parameters.
  const address = (changes) => {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    return url;
  };
  // The page of a finding, at this page's time.
  const findingPage = (fingerprint) => {
    const url = address({});
    const chosen = [...url.searchParams].filter(([name]) => ["span", "from", "to", "compare"].includes(name));
    url.pathname = `/findings/${encodeURIComponent(fingerprint)}`;
    url.search = new URLSearchParams(chosen);
    return url;
  };
  const enlarged = (from, to) => address({ from: iso(from), to: iso(to), span: null, what: map.what });
  const around = (column) => {
    const half = Math.max(map.step * 10, 60) * 1000;
    const middle = time(column).getTime();
    return enlarged(new Date(middle - half), new Date(middle + half));
  };

  // The heads of partitions, by the rows that they stand above.
  const bands = () => {
    const heads = new Map();
    let row = 0;
    for (const band of whole.partitions) {
      heads.set(row, band.name);
      row += band.rows;
    }
    return heads;
  };
  // Where each row begins, that of everything else last.
  const layRows = () => {
    const heads = bands();
    let top = axis;
    tops = [];
    for (let n = 0; n <= whole.rows.length; n++, top += rowHeight) {
      if (heads.has(n)) top += rowHeight;
      tops.push(top);
    }
  };
  const headed = (items, head) => {
    const heads = bands();
    return items.flatMap((of, n) => (heads.has(n) ? [item(head(heads.get(n)), "band"), of] : [of]));
  };

  const item = (textContent, className) => Object.assign(document.createElement("li"), { textContent, className });
  const label = (row, n) => {
    const link = document.createElement("a");
    link.textContent = shown(row.key) + (row.cut ? "…" : "") + (row.shards ? ` (${row.shards} shards)` : "") + (row.keys ? `… (${row.keys} keys)` : "");
    link.title = link.textContent.slice(0, 300);
    const hottest = row.cells.reduce((a, b) => (b[1] > a[1] ? b : a));
    link.href = (row.finding ? findingPage(row.finding) : around(hottest[0])).href;
    const named = item("", isOver(colour(hottest[1])) ? "over" : "");
    named.append(link);
    named.addEventListener("pointerenter", () => move({ row: n, column: at ? at.column : Math.floor(hottest[0] / map.by) }));
    return named;
  };

  // Where a column begins, on a whole pixel of the screen so that there are no seams.
  const left = (column) => {
    const ratio = window.devicePixelRatio || 1;
    return Math.round(column * width * ratio) / ratio;
  };
  const style = (name) => getComputedStyle(figure).getPropertyValue(name).trim();

  // The hatching of what was not counted, and a coarser one over cells of which some was not.
  const hatching = (context, line, ratio) => {
    const tile = document.createElement("canvas");
    tile.width = tile.height = Math.round(7 * ratio);
    const c = tile.getContext("2d");
    c.strokeStyle = line;
    c.lineWidth = 1.2 * ratio;
    c.beginPath();
    for (const shift of [-tile.width, 0, tile.width]) {
      c.moveTo(shift, tile.height);
      c.lineTo(shift + tile.width, 0);
    }
    c.stroke();
    return context.createPattern(tile, "repeat");
  };

  const tickEvery = () => {
    const candidates = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400];
    return candidates.find((seconds) => (seconds / map.step) * width >= 84) || 4 * 86400;
  };

  const drawAxis = (c, columns) => {
    c.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    c.textBaseline = "middle";
    const every = tickEvery();
    for (let n = 0; n < columns; n++) {
      const date = time(n);
      if ((date.getTime() / 1000) % every >= map.step) continue;
      const text = every >= 86400 || (every >= 3600 && date.getUTCHours() === 0 && date.getUTCMinutes() === 0)
        ? day(date).slice(5) : clock(date).slice(0, every >= 60 ? 5 : 8);
      c.fillStyle = style("--line");
      c.fillRect(left(n), axis - 6, 1, 6 + tops.at(-1) - axis);
      c.fillStyle = style("--dim");
      c.textAlign = "center";
      if (n * width > 28 && n * width < columns * width - 28) c.fillText(text, n * width, axis / 2 - 2);
    }
  };

  // A time that was not counted, with the word where it has room.
  const drawGap = (c, pattern, x, wide, high) => {
    c.fillStyle = pattern;
    c.fillRect(x, axis, wide, high);
    if (wide < 110) return;
    c.fillStyle = style("--card");
    c.fillRect(x + wide / 2 - 42, axis + high / 2 - 9, 84, 18);
    c.fillStyle = style("--dim");
    c.textAlign = "center";
    c.fillText("not counted", x + wide / 2, axis + high / 2);
  };

  // The load of everything else is no key's: it is a line without colours.
  const perSecond = (n) => (map.rest[n] ?? 0) / Math.max(map.seen[n], 1);
  const drawRest = (c, top) => {
    const most = Math.max(...map.rest.map((_, n) => perSecond(n)), 1);
    c.strokeStyle = style("--dim");
    c.lineWidth = 1.5;
    c.beginPath();
    map.rest.forEach((load, n) => {
      if (load === null) return;
      const y = top + restHeight - 2 - (perSecond(n) / most) * (restHeight - 6);
      if (n === 0 || map.rest[n - 1] === null) c.moveTo(left(n), y);
      else c.lineTo(left(n), y);
      c.lineTo(left(n + 1), y);
    });
    c.stroke();
  };

  const draw = () => {
    const ratio = window.devicePixelRatio || 1;
    const room = Math.max(60, frame.clientWidth - keys.offsetWidth - peaks.offsetWidth);
    const by = Math.ceil((whole.seen.length * narrowest()) / room);
    if (map.by !== by) {
      at = null;
      merge(by);
    }
    const columns = map.seen.length;
    width = room / columns;
    const tall = tops.at(-1) - axis, rest = map.rest.length > 0 ? restHeight : 0;
    const across = columns * width, down = axis + tall + rest + 1;
    picture = document.createElement("canvas");
    for (const each of [canvas, picture]) {
      each.width = Math.round(across * ratio);
      each.height = Math.round(down * ratio);
    }
    canvas.style.width = `${across}px`;
    canvas.style.height = `${down}px`;
    const c = picture.getContext("2d");
    c.scale(ratio, ratio);
    const colours = Array.from({ length: 7 }, (_, n) => (n === 0 ? "transparent" : style(`--heat-${n}`)));
    const gap = hatching(c, style("--heat-gap"), ratio);
    const partly = hatching(c, style("--card"), ratio);
    // A pattern is laid in pixels of the screen.
    for (const pattern of [gap, partly]) pattern.setTransform(new DOMMatrix().scale(1 / ratio));
    drawAxis(c, columns);
    for (let n = 0, end = 0; n < columns; n = end + 1) {
      for (end = n; map.seen[end] === 0; end++);
      if (end > n) drawGap(c, gap, left(n), left(end) - left(n), tall + rest);
    }
    drawRest(c, axis + tall);
    const mark = style("--heat-mark");
    map.rows.forEach((row, n) => {
      const top = tops[n];
      for (const cell of row.cells) {
        const x = left(cell[0]), of = colour(cell[1]);
        if (of === 0) continue;
        const inner = left(cell[0] + 1) - x;
        c.fillStyle = colours[of];
        c.fillRect(x, top + 1, inner, rowHeight - 2);
        if (isOver(of)) {
          c.fillStyle = of < steps.length ? style("--ink") : mark;
          if (of < steps.length) c.fillRect(x, top, inner, 2);
          else c.fillRect(x, top + 4, inner, 3);
        }
        if (map.seen[cell[0]] < map.full[cell[0]]) {
          c.fillStyle = partly;
          c.fillRect(x, top + 1, inner, rowHeight - 2);
        }
      }
      c.fillStyle = style("--line");
      c.fillRect(0, top + rowHeight - 0.5, across, 0.5);
    });
    c.fillStyle = style("--ink");
    for (const n of bands().keys()) c.fillRect(0, tops[n] - rowHeight, across, 1);
    show();
  };

  // Shows the picture, with the cell that is pointed at and what is dragged over.
  const show = () => {
    const ratio = window.devicePixelRatio || 1, c = canvas.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.drawImage(picture, 0, 0);
    c.scale(ratio, ratio);
    if (drag && drag.to !== drag.from) {
      const [from, to] = [left(Math.min(drag.from, drag.to)), left(Math.max(drag.from, drag.to) + 1)];
      c.fillStyle = style("--link");
      c.globalAlpha = 0.25;
      c.fillRect(from, axis, to - from, canvas.height);
      c.globalAlpha = 1;
    }
    if (!at) return;
    const x = left(at.column), y = tops[at.row], high = at.row < map.rows.length ? rowHeight : restHeight;
    c.lineWidth = 4;
    c.strokeStyle = style("--card");
    c.strokeRect(x - 1, y, width + 2, high);
    c.lineWidth = 2;
    c.strokeStyle = style("--ink");
    c.strokeRect(x - 1, y, width + 2, high);
  };

  const duration = (seconds) => (seconds % 3600 === 0 ? `${seconds / 3600} h` : seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`);

  // Everything without a row, in words.
  const describeRest = (seen) => {
    const load = map.rest[at.column];
    if (load === null) return "unknown: not counted";
    const listed = map.rows.reduce((sum, row) => sum + (row.byColumn.get(at.column)?.[4] ?? 0), 0);
    const share = load + listed > 0 ? `, ${amount((100 * load) / (load + listed))}% of the table's load` : "";
    return `${amount(load / Math.max(seen, 1))} ${map.unit}/s on average${share}; one key of them had at most ${amount(map.unlisted)} ${map.unit} in a second`;
  };

  const describe = () => {
    const row = map.rows[at.row], cell = row?.byColumn.get(at.column), seen = map.seen[at.column];
    const from = time(at.column), to = new Date(from.getTime() + map.full[at.column] * 1000);
    const when = map.step === 1 ? `${clock(from)} UTC` : `${clock(from)} to ${clock(to)} UTC`;
    const where = `${map.step >= 600 ? day(from) + " " : ""}${when}`;
    let text;
    if (!row) text = describeRest(seen);
    else if (!cell) {
      text = seen === 0 ? "not counted: nothing is known of the load" : map.what === "throttled" ? "nothing throttled" : `no load worth a cell: below ${amount(map.limit / 50)} ${map.unit}/s`;
    } else if (map.what === "throttled") {
      text = `${amount(cell[1])}% of ${amount(cell[4])} units throttled`;
    } else {
      const bounds = cell[2] !== cell[3] ? ` (${amount(cell[2])} to ${amount(cell[3])})` : "";
      text = `${map.step > 1 ? "highest second " : ""}${amount(cell[1])} ${map.unit}${bounds}, ${amount((100 * cell[1]) / map.limit)}% of the limit`;
      if (map.step > 1) text += `; ${amount(cell[4])} ${map.unit} in all, in ${cell[6]} s`;
      if (cell[5] > 0) text += `; ${amount(cell[5])}% throttled`;
    }
    if (cell && cell[7]) {
      const reasons = map.reasons.filter((_, n) => cell[7] & (1 << n)).map((r) => (r === "unknown" ? "reason not known" : r));
      text += ` (${reasons.join(", ")})`;
    }
    text += `. ${seen} of ${duration(map.full[at.column])} counted`.replace(/(\d+) of 1 s counted/, (_, n) => (n === "1" ? "Second counted whole" : "Second not counted whole"));
    told.replaceChildren();
    const name = document.createElement("strong");
    name.className = "key clip";
    name.textContent = row ? shown(row.key) : "Everything else";
    const link = document.createElement("a");
    link.href = target().href;
    link.textContent = row?.finding ? "Its finding" : "Enlarge";
    told.append(name, ` ${where}: ${text}. `, link);
  };

  const target = () => {
    const row = map.rows[at.row];
    return row?.finding ? findingPage(row.finding) : around(at.column);
  };

  const move = (to) => {
    at = { row: Math.min(Math.max(to.row, 0), lastRow()), column: Math.min(Math.max(to.column, 0), map.seen.length - 1) };
    keys.querySelectorAll("li:not(.band)").forEach((item, n) => item.classList.toggle("at", n === at.row));
    describe();
    show();
  };

  // The last row is that of everything else, where there is one.
  const lastRow = () => map.rows.length - (map.rest.length > 0 ? 0 : 1);
  const under = (event) => {
    const box = canvas.getBoundingClientRect();
    const y = event.clientY - box.top, row = Math.min(tops.findLastIndex((top) => top <= y), lastRow());
    const cell = { row, column: Math.floor((event.clientX - box.left) / width) };
    const onHead = row < lastRow() && y >= tops[row] + rowHeight;
    return cell.row >= 0 && !onHead && cell.column >= 0 && cell.column < map.seen.length ? cell : null;
  };

  canvas.addEventListener("pointermove", (event) => {
    const cell = under(event);
    if (!cell) return;
    if (drag) drag.to = cell.column;
    if (drag || !at || at.row !== cell.row || at.column !== cell.column) move(cell);
  });
  canvas.addEventListener("pointerdown", (event) => {
    const cell = under(event);
    if (cell && event.button === 0 && event.pointerType !== "touch") drag = { from: cell.column, to: cell.column };
  });
  window.addEventListener("pointerup", () => {
    const dragged = drag;
    drag = null;
    if (!dragged || Math.abs(dragged.to - dragged.from) < 2) return;
    canvas.addEventListener("click", (event) => event.stopImmediatePropagation(), { once: true, capture: true });
    const [from, to] = [Math.min(dragged.from, dragged.to), Math.max(dragged.from, dragged.to) + 1];
    const least = Math.max(0, 10 - (to - from) * map.step) * 1000;
    location.href = enlarged(time(from), new Date(time(to).getTime() + least)).href;
  });
  canvas.addEventListener("click", (event) => {
    const cell = under(event);
    if (!cell) return;
    move(cell);
    if (event.pointerType !== "touch") location.href = target().href; // a finger first reads, and has the link
  });
  canvas.addEventListener("focus", () => {
    if (!at && canvas.matches(":focus-visible")) move({ row: 0, column: map.seen.length - 1 });
  });
  canvas.addEventListener("keydown", (event) => {
    if (!at) at = { row: 0, column: map.seen.length - 1 };
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [0, -10], PageDown: [0, 10], Home: [0, -map.seen.length], End: [0, map.seen.length] }[event.key];
    if (by) move({ row: at.row + by[0], column: at.column + by[1] });
    else if (event.key === "Enter") location.href = target().href;
    else if (event.key === "Escape") {
      at = null;
      told.textContent = invitation;
      show();
    } else return;
    event.preventDefault();
  });

  const lay = (next) => {
    const last = at && map ? { key: map.rows[at.row]?.key, time: time(at.column).getTime() } : null;
    const held = keys.contains(document.activeElement);
    whole = next;
    layRows();
    merge(map ? map.by : 1);
    figure.hidden = false;
    figure.setAttribute("aria-busy", "false");
    frame.hidden = map.rows.length === 0;
    if (frame.hidden) {
      told.textContent = map.seen.some((n) => n > 0) ? "No key came above a fiftieth of the limit." : "Nothing of this time was counted: the load is unknown.";
      return;
    }
    // Nothing moves under a reader's hand.
    if (!held) {
      keys.replaceChildren(...headed(whole.rows.map(label), (name) => name));
      peaks.replaceChildren(...headed(whole.rows.map((row) => item(`${amount((100 * Math.max(...row.cells.map((cell) => cell[1]))) / map.limit)}%`, row.over > 0 ? "over" : "")), () => ""));
      if (map.rest.length > 0) {
        keys.append(item("Everything else", "rest"));
        peaks.append(item(`${amount(Math.max(...map.rest.map((_, n) => perSecond(n))))} ${map.unit}/s`, "rest"));
      }
    }
    if (last) {
      const row = map.rows.findIndex((r) => r.key === last.key);
      const column = Math.round((last.time - Date.parse(map.from)) / 1000 / map.step);
      at = row >= 0 && column >= 0 && column < map.seen.length ? { row, column } : null;
    }
    draw();
    if (at) describe();
  };

  const load = async () => {
    try {
      const answer = await fetch(figure.dataset.source, { headers: { Accept: "application/json" } });
      if (answer.ok) lay(await answer.json());
    } catch {
      // The server is away for a moment; the next round asks again.
    }
  };

  canvas.addEventListener("pointerleave", () => {
    if (document.activeElement === canvas || drag) return;
    at = null;
    [...keys.children].forEach((item) => item.classList.remove("at"));
    show();
  });
  new ResizeObserver(() => { if (map && map.rows.length) draw(); }).observe(frame);
  // Paper has colours of its own.
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", () => { if (map) draw(); });
  // The page says when it goes on; a reader of a cell, or one who drags, is not disturbed.
  document.addEventListener("keyheat:changed", () => {
    if (at === null && !keys.contains(document.activeElement) && !drag) load();
  });
  load();
})();
