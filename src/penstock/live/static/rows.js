// Rows in pages, fetched when they are looked at; a bounded number is kept.

const PAGE = 100;
const MOST_PAGES = 30;

export class Rows {
  constructor(changed) {
    this.changed = changed;
    this.failed = false;
    this.begin();
  }

  // Another feed, or another choice of rows: everything is fetched anew.
  begin() {
    this.count = 0;
    this.pages = new Map();
    this.busy = new Set();
    this.generation = {};
  }

  at(place) {
    return this.pages.get(Math.floor(place / PAGE))?.[place % PAGE];
  }

  // A few of those that are there.
  some(most) {
    return [...this.pages.values()].flatMap((page) => page.slice(0, most)).slice(0, most);
  }

  // See to it that these rows come; `changed` is called when they have.
  need(first, last) {
    const end = Math.min(last, this.count - 1);
    for (let page = Math.floor(first / PAGE); page * PAGE <= end; page++) this.fill(page);
    this.forget(Math.floor((first + last) / 2 / PAGE));
  }

  async fill(page) {
    const generation = this.generation;
    const have = this.pages.get(page)?.length ?? 0;
    const wanted = Math.min(PAGE, this.count - page * PAGE) - have;
    if (wanted <= 0 || this.busy.has(page)) return;
    this.busy.add(page);
    let found = [];
    try {
      const start = page * PAGE + have;
      const reply = await fetch(`rows?start=${start}&count=${wanted}&failed=${Number(this.failed)}`);
      if (reply.ok) found = await reply.json();
    } catch {
      // The next look tries again.
    }
    if (generation !== this.generation) return;
    this.busy.delete(page);
    if (!found.length) return;
    this.pages.set(page, [...(this.pages.get(page) ?? []), ...found]);
    this.changed();
  }

  forget(middle) {
    if (this.pages.size <= MOST_PAGES) return;
    const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const page of far.slice(0, this.pages.size - MOST_PAGES)) this.pages.delete(page);
  }
}
