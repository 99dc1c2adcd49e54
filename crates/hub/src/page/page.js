// Follows the hub over its viewer socket, and sends back what a person decides.

import { drawRun, drawRuns, notice, text } from "./draw.js";
import { apply, newRun, read } from "./model.js";

const runs = new Map();
let shown = null;
let chosen = "";
let socket = null;
let wait = 500;
let drawing = false;
/** Whether the hub has said which runs there are. */
let listed = false;

const TOKEN = "graphmind.viewerToken";
const act = { show, choose, release, listed: () => listed };

window.onhashchange = () => follow(location.hash);
setInterval(() => { if (shown?.held.size) schedule(); }, 1000);
follow(location.hash);
connect(localStorage.getItem(TOKEN));

/** `#token=T`, `#/run/ID`, `#/run/ID/node/ID`, or a token and a place joined by `&`. A token must not stay in the address. */
function follow(hash) {
  const token = /(?:^#|&)token=([A-Za-z0-9_-]{16,128})(?=&|$)/.exec(hash);
  const place = /\/run\/([^/&]+)(?:\/node\/([^/&]+))?/.exec(hash);
  if (token) {
    localStorage.setItem(TOKEN, token[1]);
    history.replaceState(null, "", place ? `#${place[0]}` : location.pathname);
  }
  const [run, node] = place ? [decoded(place[1]), decoded(place[2] ?? "")] : [];
  if (!run) return;
  show(run);
  if (node) choose(node);
}

/** Nothing of what is no address. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

async function connect(token) {
  if (token && !(await tokenHolds(token))) {
    localStorage.removeItem(TOKEN);
    token = null;
  }
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/ws/ui`, ["graphmind.v1", ...(token ? [`gm.auth.${token}`] : [])]);
  socket.onopen = () => {
    wait = 500;
    text("link", token ? "connected" : "connected without a token: calls can be let go, not changed");
    say({ type: "subscribe", runId: "*" });
    if (shown) say({ type: "subscribe", runId: shown.id, after: shown.ord });
  };
  socket.onmessage = (message) => take(read(message.data));
  socket.onclose = () => {
    text("link", "not connected, trying again");
    setTimeout(() => connect(localStorage.getItem(TOKEN)), wait);
    wait = Math.min(wait * 2, 10000);
  };
}

/** Only a plain no drops a token; a hub that is away says nothing about it. */
async function tokenHolds(token) {
  try {
    return (await fetch("/api/session", { headers: { Authorization: `Bearer ${token}` } })).status !== 401;
  } catch {
    return true;
  }
}

function say(frame) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
}

function take(frame) {
  switch (frame.type) {
    case "welcome":
    case "state":
      notice(frame.storage ? `Runs are not kept at the moment: ${frame.storage}` : "");
      break;
    case "runs":
      runs.clear();
      for (const run of frame.runs) runs.set(run.id, run);
      listed = true;
      if (!shown) showNewest();
      break;
    case "run.update":
      runs.set(frame.run.id, frame.run);
      if (!shown) showNewest();
      break;
    case "event":
      if (shown?.id !== frame.runId) return;
      apply(shown, frame);
      if (frame.envelope.type === "exec.paused" && !chosen) chosen = frame.envelope.payload.nodeId;
      break;
    case "error":
    case "resume.result":
      if (frame.message) notice(frame.message);
      break;
  }
  schedule();
}

/** Where something waits for a person, else where something happened last. */
function showNewest() {
  const sorted = [...runs.values()].sort((a, b) => (b.held > 0) - (a.held > 0) || b.startedAt - a.startedAt);
  if (sorted.length) show(sorted[0].id);
}

function show(id) {
  if (shown?.id === id) return;
  if (shown) say({ type: "unsubscribe", runId: shown.id });
  shown = newRun(id);
  chosen = "";
  say({ type: "subscribe", runId: id });
  address();
  schedule();
}

function choose(node) {
  chosen = node;
  address();
  schedule();
}

function address() {
  const node = chosen ? `/node/${encodeURIComponent(chosen)}` : "";
  history.replaceState(null, "", `#/run/${encodeURIComponent(shown.id)}${node}`);
}

function release(pause, action, output) {
  notice("");
  const payload = { pauseId: pause.pauseId, action, ...(action === "inject" ? { output } : {}) };
  const envelope = { gm: 1, seq: 0, ts: Date.now(), runId: shown.id, type: "exec.resume", payload };
  say({ type: "control", envelope });
}

function schedule() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    // Rows are made anew; who stands on one with the keyboard stays on it.
    const focus = document.activeElement?.dataset.key;
    drawRuns(runs, shown, act);
    drawRun(shown, shown && runs.get(shown.id), chosen, act);
    if (focus) document.querySelector(`[data-key="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  });
}
