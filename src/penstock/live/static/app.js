// Looks at the run now and then, and puts together head, table and panel.

import { count } from "./format.js";
import { Grid } from "./grid.js";
import { Panel } from "./panel.js";
import { Rows } from "./rows.js";
import { showLost, showSummary } from "./summary.js";

const SOON = 400;
const LATER = 3000;

const failedButton = document.getElementById("failed");
const followButton = document.getElementById("follow");
const place = document.getElementById("place");

const rows = new Rows(() => grid.render());
const grid = new Grid(rows, {
  open: (at, column) => panel.show(at, column),
  strayed: () => setFollow(false),
});
const panel = new Panel(rows, {
  moved: (at) => grid.choose(at, grid.active.column),
  closed: () => grid.root.focus({ preventScroll: true }),
});

let state;

function setFollow(on) {
  grid.follow = on;
  followButton.ariaPressed = String(on);
  if (on) grid.toEnd();
}

function setCount() {
  rows.count = rows.failed ? state.failed_rows : state.rows;
  grid.setCount(rows.count);
  place.textContent = rows.failed
    ? `${count(rows.count)} failed of ${count(state.rows)} rows`
    : `${count(rows.count)} ${rows.count === 1 ? "row" : "rows"}`;
}

function begin() {
  rows.begin();
  grid.active.shown = false;
  grid.sampled = 0;
}

failedButton.addEventListener("click", () => {
  rows.failed = !rows.failed;
  failedButton.ariaPressed = String(rows.failed);
  begin();
  if (!panel.root.hidden) panel.close();
  if (state) setCount();
  if (!grid.follow) grid.toStart();
});
followButton.addEventListener("click", () => setFollow(!grid.follow));

async function look() {
  try {
    const reply = await fetch("state");
    if (!reply.ok) throw new Error(String(reply.status));
    const found = await reply.json();
    const first = state === undefined;
    if (found.feed !== state?.feed) begin();
    state = found;
    showLost(false);
    showSummary(state);
    grid.setColumns(state.columns);
    setCount();
    if (first) setFollow(!state.ended);
  } catch {
    showLost(true);
  }
  setTimeout(look, document.hidden || !state || state.ended ? LATER : SOON);
}

look();
