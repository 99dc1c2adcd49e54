// Puts a picture of the runs and of one run into the page. Decides nothing; what a person presses goes to `act`.

import { exact, heldExecution, outcome, standing, tree } from "./model.js";

const byId = (id) => document.getElementById(id);

export function text(id, value) {
  byId(id).textContent = value;
}

export function notice(message) {
  byId("notice").hidden = !message;
  text("notice", message);
}

export function drawRuns(runs, shown, act) {
  const sorted = [...runs.values()].sort((a, b) => b.startedAt - a.startedAt).slice(0, 200);
  byId("runs").replaceChildren(...sorted.map((run) => {
    const choose = button(run.app, () => act.show(run.id));
    choose.dataset.key = `run ${run.id}`;
    choose.ariaCurrent = String(run.id === shown?.id);
    const state = run.held ? "held" : run.status;
    const errors = run.errorCount ? `, ${counted(run.errorCount, "error")}` : "";
    const words = `${run.held ? `${run.held} held` : run.status}, ${counted(run.eventCount, "event")}${errors}`;
    const at = new Date(run.startedAt).toLocaleTimeString();
    choose.append(element("br"), element("small", `${at} ${run.id}`), element("br"), element("small", words, state));
    const item = element("li");
    item.append(choose);
    return item;
  }));
}

export function drawRun(run, info, chosen, act) {
  text("title", run ? run.id : "No run yet");
  text("summary", info
    ? `${info.app}: ${info.status}${info.live ? ", program connected" : ""}, ${counted(info.errorCount, "error")}`
    : missing(run, act));
  byId("run").hidden = !run || !(info || run.nodes.size);
  if (byId("run").hidden) return;
  const held = standing(run, info);
  drawHeld(run, held, act);
  const waiting = new Set([...held.values()].map((pause) => pause.nodeId));
  byId("nodes").replaceChildren(...tree(run).map(({ id, depth, node }) => {
    const row = element("tr");
    const name = button(node.name, () => act.choose(id));
    name.style.marginInlineStart = `${Math.min(depth, 12)}rem`;
    name.dataset.key = `node ${id}`;
    name.ariaCurrent = String(id === chosen);
    const state = waiting.has(id) ? "held" : outcome(node, info);
    const ran = node.executions.map((execution) => execution.ran).filter((ms) => ms !== undefined);
    const cell = element("td");
    cell.append(name);
    row.append(cell, element("td", node.kind), element("td", state, state));
    row.append(element("td", ran.length ? duration(ran.reduce((sum, ms) => sum + ms)) : ""), element("td", String(node.executions.length)));
    return row;
  }));
  drawChosen(run, chosen);
}

/** What to say while there is nothing to show. */
function missing(run, act) {
  if (!run) return "Put `graphmind mcp-proxy --` before a server's command and its calls show up here.";
  if (!act.listed() || run.nodes.size) return "";
  return "This hub knows no run of this id. Should one begin, it shows up here.";
}

function drawHeld(run, held, act) {
  const list = byId("held");
  const known = new Map([...list.children].map((item) => [item.dataset.pause, item]));
  const items = [...held.values()].map((pause) => known.get(pause.pauseId) ?? hold(run, pause, act));
  for (const item of items) countdown(item, held.get(item.dataset.pause));
  list.replaceChildren(...(items.length ? items : [element("li", "none")]));
}

function hold(run, pause, act) {
  const item = element("li");
  item.dataset.pause = pause.pauseId;
  const name = run.nodes.get(pause.nodeId)?.name ?? pause.nodeId;
  const why = pause.smart?.rule ?? pause.hold?.cause ?? pause.reason ?? "";
  item.append(element("span", `${name} stands at ${pause.point}${why ? ` (${why})` : ""} `, "held"), element("small"));
  const editor = inject(run, pause, act);
  for (const action of ["continue", "retry", "abort"]) {
    const press = button(action, () => act.release(pause, action));
    press.ariaLabel = `${action} ${name}`;
    item.append(press);
  }
  const open = button("inject…", () => { editor.hidden = !editor.hidden; });
  open.ariaLabel = `inject an answer for ${name}`;
  item.append(open, editor);
  return item;
}

function inject(run, pause, act) {
  const form = element("form");
  form.hidden = true;
  const area = element("textarea");
  area.rows = 6;
  area.spellcheck = false;
  area.ariaLabel = "Answer as JSON";
  const { output, input } = heldExecution(run, pause) ?? {};
  const recorded = output !== undefined || pause.point === "after" ? output : input;
  area.value = JSON.stringify(recorded ?? {}, null, 2);
  const send = element("button", "send this answer");
  form.append(area, send);
  if (pause.point === "after" && output === undefined) {
    form.prepend(element("small", "The call has answered, but its answer is not recorded before it is let go."));
  }
  form.onsubmit = (event) => {
    event.preventDefault();
    try {
      act.release(pause, "inject", exact(area.value));
    } catch (problem) {
      notice(`this is not JSON: ${problem.message}`);
    }
  };
  return form;
}

function countdown(item, pause) {
  const at = pause?.until?.at;
  const left = at === undefined ? "" : `ends with ${pause.until.action} in ${duration(Math.max(0, at - Date.now()))} `;
  item.querySelector("small").textContent = left;
}

function drawChosen(run, chosen) {
  const node = run.nodes.get(chosen);
  byId("node").hidden = !node;
  if (!node) return;
  text("node-title", `${node.kind} ${node.name}`);
  const last = node.executions.at(-1) ?? {};
  text("node-error", last.error ? `${last.error.name}: ${last.error.message}` : "");
  text("node-input", show(last.input));
  text("node-output", `${show(last.output)}${last.injected ? "\n(injected)" : ""}`);
}

function show(value) {
  return value === undefined ? "none" : JSON.stringify(value, null, 2);
}

/** Rounded before the unit is chosen, so that 9.96 is 10ms and 999.6 is 1.0s. */
export function duration(ms) {
  if (!(ms > 0)) return "<1ms";
  if (ms < 0.1) return "<0.1ms";
  const tenths = Math.round(ms * 10) / 10;
  if (tenths < 10) return `${tenths.toFixed(1)}ms`;
  const whole = Math.round(ms);
  return whole < 1000 ? `${whole}ms` : `${(Math.round(ms / 100) / 10).toFixed(1)}s`;
}

export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function button(content, press) {
  const made = element("button", content);
  made.type = "button";
  made.onclick = press;
  return made;
}

function element(name, content = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = content;
  if (kind) made.className = kind;
  return made;
}
