// A table of any length: only the rows on the screen are elements, and they are used again.

import { make, oneLine } from "./format.js";

const ROW = 36; // as in style.css
const AROUND = 6;
const TALLEST = 8_000_000; // what is taller, browsers do not draw
const MOST_COLUMNS = 40;
const SAMPLE = 40;
const FIXED = [84, 124];

// A column may be called "constructor".
const cellOf = (row, name) => (Object.hasOwn(row.cells, name) ? row.cells[name] : null);

export class Grid {
  constructor(rows, { open, strayed }) {
    this.rows = rows;
    this.open = open;
    this.strayed = strayed;
    this.root = document.getElementById("grid");
    this.head = document.getElementById("head");
    this.space = document.getElementById("space");
    this.window = document.getElementById("window");
    this.empty = document.getElementById("empty");
    this.columns = [];
    this.sampled = 0;
    this.active = { place: 0, column: 0, shown: false };
    this.follow = false;
    this.pool = [];
    this.root.addEventListener("scroll", () => this.scrolled());
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.window.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => (this.follow ? this.toEnd() : this.render())).observe(this.root);
  }

  // What there is ------------------------------------------------------------------------------

  setColumns(columns) {
    if (columns.length === this.columns.length) return;
    this.columns = columns;
    this.sampled = 0;
    const names = ["row", "status", ...columns.slice(0, MOST_COLUMNS)];
    this.head.replaceChildren(...names.map((name, place) => this.heading(name, place)));
    this.root.ariaColCount = String(names.length);
    for (const line of this.pool) line.remove();
    this.pool = [];
    this.setWidths();
  }

  heading(name, place) {
    const cell = make("div", "cell", oneLine(name));
    cell.role = "columnheader";
    cell.title = cell.textContent;
    cell.dir = "auto";
    cell.ariaColIndex = String(place + 1);
    return cell;
  }

  // As wide as the rows that are there need, within bounds; what is left over is shared.
  setWidths() {
    const rows = this.rows.some(SAMPLE);
    if (rows.length <= this.sampled && this.sampled) return;
    this.sampled = rows.length;
    const names = this.columns.slice(0, MOST_COLUMNS);
    const widths = names.map((name, place) => {
      const values = rows.map((row) => cellOf(row, name)).filter((value) => value !== null);
      const longest = Math.max(name.length + 2, ...values.map((value) => String(value).length));
      const numbers = values.length > 0 && values.every((value) => typeof value === "number");
      this.head.children[place + 2].classList.toggle("number", numbers);
      return Math.min(360, Math.max(88, Math.round(longest * 7.6) + 28));
    });
    const least = [...FIXED, ...widths].reduce((sum, width) => sum + width, 0);
    const template = [
      ...FIXED.map((width) => `${width}px`),
      ...widths.map((width) => `minmax(${width}px, ${width}fr)`),
    ].join(" ");
    this.root.style.setProperty("--columns", template);
    this.root.style.setProperty("--least", `${least}px`);
  }

  setCount(count) {
    this.empty.hidden = count > 0;
    this.root.ariaRowCount = String(count + 1);
    this.space.style.height = `${Math.min(count * ROW, TALLEST)}px`;
    if (this.follow) this.toEnd();
    this.render();
  }

  // Where we are -------------------------------------------------------------------------------

  get viewport() {
    return Math.max(0, this.root.clientHeight - this.head.offsetHeight);
  }

  // Pixels from the first row to the top of the screen, were there room for all of them.
  get top() {
    const [whole, real] = [this.rows.count * ROW, Math.min(this.rows.count * ROW, TALLEST)];
    if (whole === real) return this.root.scrollTop;
    return (this.root.scrollTop / (real - this.viewport)) * (whole - this.viewport);
  }

  set top(pixels) {
    const [whole, real] = [this.rows.count * ROW, Math.min(this.rows.count * ROW, TALLEST)];
    const share = whole === real ? 1 : (real - this.viewport) / (whole - this.viewport);
    this.root.scrollTop = pixels * share;
  }

  toEnd() {
    this.root.scrollTop = this.root.scrollHeight;
    this.render();
  }

  toStart() {
    this.root.scrollTop = 0;
    this.render();
  }

  scrolled() {
    const { scrollHeight, clientHeight, scrollTop } = this.root;
    if (this.follow && scrollHeight - clientHeight - scrollTop > ROW * 2) this.strayed();
    this.frame ??= requestAnimationFrame(() => this.render());
  }

  // Drawing ------------------------------------------------------------------------------------

  render() {
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    const { top, viewport } = this;
    const first = Math.max(0, Math.floor(top / ROW) - AROUND);
    const last = Math.min(this.rows.count, Math.ceil((top + viewport) / ROW) + AROUND);
    const shift = this.root.scrollTop - top + first * ROW;
    this.window.style.transform = `translateY(${shift}px)`;
    for (let line = 0; line < last - first; line++) this.draw(this.line(line), first + line);
    for (const line of this.pool.slice(Math.max(0, last - first))) line.hidden = true;
    if (this.sampled < SAMPLE) this.setWidths();
    clearTimeout(this.later);
    // While it is flung past, nothing is fetched.
    this.later = setTimeout(() => this.rows.need(first, last), 40);
  }

  line(number) {
    if (this.pool[number]) return this.pool[number];
    const line = make("div", "line");
    line.role = "row";
    const cells = 2 + Math.min(this.columns.length, MOST_COLUMNS);
    for (let column = 0; column < cells; column++) {
      const cell = make("div", "cell");
      cell.role = "gridcell";
      cell.id = `cell-${number}-${column}`;
      cell.ariaColIndex = String(column + 1);
      if (column > 1) cell.dir = "auto";
      line.append(cell);
    }
    this.window.append(line);
    return (this.pool[number] = line);
  }

  draw(line, place) {
    const row = this.rows.at(place);
    const active = this.active.shown && this.active.place === place;
    line.hidden = false;
    if (line.row !== row || line.place !== place || !row) this.write(line, place, row);
    line.classList.toggle("active", active);
    for (const [column, cell] of [...line.children].entries()) {
      const chosen = active && column === this.active.column;
      cell.classList.toggle("chosen", chosen);
      if (chosen) this.root.setAttribute("aria-activedescendant", cell.id);
    }
  }

  write(line, place, row) {
    line.row = row;
    line.place = place;
    line.ariaRowIndex = String(place + 2);
    line.classList.toggle("odd", place % 2 === 1);
    line.classList.toggle("waiting", !row);
    const failed = row && (row.kinds.length > 0 || row.status === "failed");
    line.classList.toggle("bad", Boolean(failed));
    const kinds = row && [...new Set(row.kinds)].join(", ").replaceAll("_", " ");
    const names = this.columns.slice(0, MOST_COLUMNS);
    const values = row ? [row.number, kinds || row.status, ...names.map((name) => cellOf(row, name))] : [];
    for (const [column, cell] of [...line.children].entries()) {
      const value = values[column];
      cell.textContent = row ? oneLine(value) : column ? "" : "…";
      cell.classList.toggle("number", typeof value === "number");
      cell.classList.toggle("none", column > 1 && (value === null || value === undefined));
    }
  }

  // Choosing -----------------------------------------------------------------------------------

  click(event) {
    const cell = event.target.closest(".cell");
    const line = cell?.parentElement;
    if (!line?.row) return;
    this.choose(line.place, [...line.children].indexOf(cell));
    this.openActive();
  }

  choose(place, column) {
    const last = this.rows.count - 1;
    if (last < 0) return;
    const columns = 1 + Math.min(this.columns.length, MOST_COLUMNS);
    const bound = (value, most) => Math.max(0, Math.min(most, value));
    this.active = { place: bound(place, last), column: bound(column, columns), shown: true };
    this.reveal();
    this.render();
  }

  reveal() {
    const from = this.active.place * ROW;
    const { top, viewport } = this;
    if (from < top) this.top = from;
    else if (from + ROW > top + viewport) this.top = from + ROW - viewport;
    const heading = this.head.children[this.active.column];
    if (!heading) return;
    const [left, right] = [heading.offsetLeft, heading.offsetLeft + heading.offsetWidth];
    if (left < this.root.scrollLeft) this.root.scrollLeft = left;
    else if (right > this.root.scrollLeft + this.root.clientWidth)
      this.root.scrollLeft = Math.min(left, right - this.root.clientWidth);
  }

  openActive() {
    this.open(this.active.place, this.columns[this.active.column - 2]);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { place, column, shown } = this.active;
    const page = Math.max(1, Math.floor(this.viewport / ROW) - 1);
    const here = shown ? place : Math.floor(this.top / ROW);
    const moves = {
      ArrowDown: [here + Number(shown), column],
      ArrowUp: [here - Number(shown), column],
      ArrowRight: [here, column + Number(shown)],
      ArrowLeft: [here, column - Number(shown)],
      PageDown: [here + page, column],
      PageUp: [here - page, column],
      Home: [0, column],
      End: [this.rows.count - 1, column],
    };
    if (moves[event.key]) {
      if (this.follow && event.key !== "End") this.strayed();
      this.choose(...moves[event.key]);
    } else if ((event.key === "Enter" || event.key === " ") && shown) this.openActive();
    else return;
    event.preventDefault();
  }
}
