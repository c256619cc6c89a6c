// The head of the page: how far the run is, how fast, what it costs, what failed.

import { count, make, money, rate, short, span, visible } from "./format.js";

const STATES = {
  pending: ["Not begun", ""],
  running: ["Running", "busy"],
  waiting: ["Waiting for batches", "busy"],
  completed: ["Completed", "good"],
  "completed with failures": ["Completed with failures", "warn"],
  stopped: ["Stopped", "warn"],
  cancelled: ["Cancelled", "warn"],
  failed: ["Failed", "bad"],
  killed: ["Ended without a word", "bad"],
};
const get = (id) => document.getElementById(id);

export function showSummary(state) {
  const [name, tone] = STATES[state.state] ?? [state.state, ""];
  setText(get("title"), visible(state.title));
  setText(get("run"), state.run);
  setText(get("state"), name);
  get("state").className = `badge ${tone}`;
  setText(get("message"), visible(state.message));
  get("message").hidden = !state.message;
  showBar(state, tone);
  showFacts(facts(state));
  const kinds = Object.entries(state.failures).sort(([, a], [, b]) => b - a);
  const chips = kinds.map(([kind, many]) => `${kind.replaceAll("_", " ")} ${count(many)}`);
  const list = get("kinds");
  if ([...list.children].map((each) => each.textContent).join() !== chips.join())
    list.replaceChildren(...chips.map((text) => make("li", "", text)));
}

export function showLost(lost) {
  document.body.classList.toggle("lost", lost);
  if (!lost) return;
  setText(get("state"), "No longer connected");
  get("state").className = "badge bad";
}

function showBar(state, tone) {
  const bar = get("progress");
  const known = state.total !== null;
  const share = state.total ? Math.min(1, state.done / state.total) : state.ended ? 1 : 0;
  bar.className = known || state.ended ? tone : `${tone} unknown`;
  bar.firstElementChild.style.width = `${100 * share}%`;
  if (known) {
    bar.ariaValueMax = String(state.total);
    bar.ariaValueNow = String(state.done);
    bar.ariaValueText = `${count(state.done)} of ${count(state.total)} rows`;
  }
  const percent = known && !state.ended ? `${Math.floor(100 * share)} % · ` : "";
  document.title = `${percent}${visible(state.title)}`;
}

function facts(state) {
  const cost = state.cost === null ? "unknown" : money(state.cost);
  const more = state.cost_expected === null || Number(state.cost_expected) === 0;
  const total = state.total === null ? "" : `of ${count(state.total)}`;
  const recorded = state.recorded ? `${short(state.recorded)} answers recorded before` : "";
  const left = state.left === null ? "" : `${span(state.left)} left`;
  const unsure = state.may_be_paid ? `${count(state.may_be_paid)} without an answer may be paid` : "";
  return [
    ["Rows", count(state.done), total],
    ["Rows a second", rate(state.rate), recorded || (state.ended ? "on average" : "")],
    ["Time", state.elapsed === null ? "–" : span(state.elapsed), left],
    ["Cost", cost, more ? unsure : `of about ${money(state.cost_expected)}`],
    ["Tokens", count(state.input_tokens + state.output_tokens), inAndOut(state)],
    ["Failed rows", count(state.failed_rows), "", state.failed_rows ? "bad" : ""],
  ];
}

function inAndOut(state) {
  if (!state.input_tokens && !state.output_tokens) return "";
  return `${short(state.input_tokens)} in, ${short(state.output_tokens)} out`;
}

function showFacts(list) {
  const root = get("facts");
  if (root.children.length !== list.length)
    root.replaceChildren(
      ...list.map(([name]) => {
        const fact = make("div");
        fact.append(make("dt", "", name), make("dd"), make("dd", "note"));
        return fact;
      }),
    );
  for (const [place, [, value, note, tone = ""]] of list.entries()) {
    const [, shown, under] = root.children[place].children;
    setText(shown, value);
    setText(under, note);
    shown.className = tone;
  }
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
