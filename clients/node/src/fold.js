// Equal records of one second, folded into one with a count, until they are sent.

const BATCH_LETTERS = 1_300_000; // of at most three bytes: with one more record below a collector's limit of 4 MiB

export class Fold {
  cells = new Map();
  lost = undefined;
  isClosed = false;

  constructor(limit, stats) {
    Object.assign(this, { limit, stats });
  }

  add({ record, together, conflicts, conditions }, waited) {
    const text = JSON.stringify(record);
    const id = [together, conflicts, conditions, text].join();
    const cell = this.cells.get(id) ?? { text, ts: record.ts, together, conflicts, conditions, n: 0, waited: 0 };
    this.stats.records++;
    if (this.isClosed || (cell.n === 0 && this.cells.size >= this.limit)) {
      this.drop({ n: 1, ts: record.ts });
      return;
    }
    if (cell.n === 0) this.cells.set(id, cell);
    cell.n++;
    if (record.attempts) cell.waited += waited;
  }

  drop({ n, ts }) {
    this.stats.dropped += n;
    this.lose({ n, since: ts, until: ts });
  }

  /** Notes requests between two Unix times in milliseconds that the next batch reports as lost. */
  lose({ n, since, until }) {
    const lost = this.lost ?? { n: 0, since, until };
    this.lost = { n: lost.n + n, since: Math.min(lost.since, since), until: Math.max(lost.until, until) };
  }

  /** Returns and removes the cells of one batch and their lines, and what was lost before. */
  take() {
    const batch = { cells: [], text: "", lost: this.lost };
    for (const [id, cell] of this.cells) {
      if (batch.text.length > BATCH_LETTERS) break;
      this.cells.delete(id);
      batch.cells.push(cell);
      batch.text += line(cell);
    }
    this.lost = undefined;
    return batch;
  }
}

function line({ text, together, conflicts, conditions, n, waited }) {
  const sums = { waited_ms: waited / n, conflict: n * conflicts, condition_failed: n * conditions, n: n > 1 && n };
  const given = Object.fromEntries(Object.entries(sums).filter(([, value]) => value));
  return `${text.slice(0, -1)},${JSON.stringify({ ...given, calls: n / together }).slice(1)}\n`;
}
