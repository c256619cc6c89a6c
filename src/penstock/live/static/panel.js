// One row whole, beside the table. Everything in it is text.

import { count, make, visible, write } from "./format.js";

export class Panel {
  constructor(rows, { moved, closed }) {
    this.rows = rows;
    this.moved = moved;
    this.closed = closed;
    this.root = document.getElementById("panel");
    this.title = document.getElementById("panel-title");
    this.body = document.getElementById("panel-body");
    this.place = 0;
    document.getElementById("panel-close").addEventListener("click", () => this.close());
    document.getElementById("panel-up").addEventListener("click", () => this.step(-1));
    document.getElementById("panel-down").addEventListener("click", () => this.step(1));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.root.hidden) this.close();
    });
  }

  async show(place, column) {
    this.place = place;
    const asked = (this.asked = {});
    const focus = this.root.hidden;
    let row;
    try {
      const reply = await fetch(`row?at=${place}&failed=${Number(this.rows.failed)}`);
      row = reply.ok ? await reply.json() : undefined;
    } catch {
      row = undefined;
    }
    if (asked !== this.asked) return;
    this.root.hidden = false;
    document.body.classList.add("with-panel");
    this.title.textContent = row ? `Row ${count(row.number)}` : "This row cannot be read now";
    this.body.replaceChildren(...(row ? this.parts(row) : []));
    this.body.scrollTop = 0;
    const chosen = [...this.body.querySelectorAll("h3")].find((each) => each.column === column);
    if (chosen && column !== undefined) chosen.parentElement.scrollIntoView({ block: "nearest" });
    if (focus) this.title.focus({ preventScroll: true });
  }

  parts(row) {
    const failures = row.failures.map((failure) => {
      const { kind = "failed", message = "", ...rest } = failure;
      const box = make("div", "failure");
      const said = Object.entries(rest).filter(([, value]) => value !== null && value !== "");
      const facts = said.map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`);
      box.append(make("strong", "", visible(String(kind))));
      box.append(write(make("p"), String(message)));
      if (facts.length) box.append(write(make("small"), facts.join(" · ")));
      box.dir = "auto";
      return box;
    });
    const status = make("p", "status", visible(row.status));
    return [...(row.status ? [status] : []), ...failures, ...row.cells.map(cellPart)];
  }

  step(by) {
    const place = this.place + by;
    if (place < 0 || place >= this.rows.count) return;
    this.moved(place);
    this.show(place);
  }

  close() {
    this.asked = {};
    this.root.hidden = true;
    document.body.classList.remove("with-panel");
    this.closed();
  }
}

function cellPart({ name, value, length }) {
  const part = make("section", "value");
  const heading = write(make("h3"), name);
  heading.column = name;
  heading.dir = "auto";
  part.append(heading);
  if (value === null) {
    part.append(make("p", "none", "nothing"));
    return part;
  }
  const shown = write(make("pre"), String(value));
  shown.dir = "auto";
  part.append(shown);
  if (length > String(value).length) part.append(make("small", "", `${count(length)} characters in all`));
  return part;
}
