// Lists runs as they happen, shows the nodes of one, and lets held calls go.

const runs = new Map();
let shown = null;
let socket = null;
let wait = 500;

const byId = (id) => document.getElementById(id);
const text = (id, value) => { byId(id).textContent = value; };

connect(takeToken());

/** The link of this start carries the token; it must not stay in the address. */
function takeToken() {
  const found = /^#token=([A-Za-z0-9_-]{16,128})/.exec(location.hash);
  if (found) {
    localStorage.setItem("graphmind.viewerToken", found[1]);
    history.replaceState(null, "", location.pathname);
  }
  return localStorage.getItem("graphmind.viewerToken");
}

async function connect(token) {
  if (token && !(await tokenHolds(token))) {
    localStorage.removeItem("graphmind.viewerToken");
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
  socket.onmessage = (message) => take(JSON.parse(message.data));
  socket.onclose = () => {
    text("link", "not connected, trying again");
    setTimeout(() => connect(localStorage.getItem("graphmind.viewerToken")), wait);
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
      drawRuns();
      break;
    case "run.update":
      runs.set(frame.run.id, frame.run);
      drawRuns();
      break;
    case "event":
      if (shown?.id === frame.runId) apply(frame);
      break;
    case "error":
    case "resume.result":
      if (frame.message) notice(frame.message);
      break;
  }
}

function notice(message) {
  byId("notice").hidden = !message;
  text("notice", message);
}

function show(id) {
  if (shown) say({ type: "unsubscribe", runId: shown.id });
  shown = { id, ord: 0, nodes: new Map(), held: new Map() };
  say({ type: "subscribe", runId: id });
  drawRuns();
  drawRun();
}

function apply({ ord, envelope: { type, payload } }) {
  shown.ord = ord;
  const node = () => {
    const known = shown.nodes.get(payload.nodeId) ?? { name: payload.nodeId, kind: "", state: "expected", count: 0 };
    shown.nodes.set(payload.nodeId, known);
    return known;
  };
  switch (type) {
    case "node.started":
      Object.assign(node(), { name: payload.name, kind: payload.kind, state: "running" }).count += 1;
      break;
    case "node.finished":
      node().state = payload.status;
      break;
    case "node.error":
      node().state = "error";
      break;
    case "exec.paused":
      shown.held.set(payload.pauseId, payload);
      break;
    case "exec.resumed":
      shown.held.delete(payload.pauseId);
      break;
    case "run.finished":
      shown.held.clear();
      break;
  }
  schedule();
}

let drawing = false;
function schedule() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    drawRun();
  });
}

function drawRuns() {
  const sorted = [...runs.values()].sort((a, b) => b.startedAt - a.startedAt).slice(0, 200);
  byId("runs").replaceChildren(...sorted.map((run) => {
    const button = element("button", run.app);
    button.type = "button";
    button.ariaCurrent = String(run.id === shown?.id);
    button.onclick = () => show(run.id);
    const state = run.held ? "held" : run.status;
    const words = `${run.held ? `${run.held} held` : run.status}, ${run.eventCount} events`;
    button.append(element("br"), element("small", run.id), element("br"), element("small", words, state));
    const item = element("li");
    item.append(button);
    return item;
  }));
  drawSummary();
}

function drawSummary() {
  const run = shown && runs.get(shown.id);
  text("title", shown ? shown.id : "No run chosen");
  text("summary", run ? `${run.app}: ${run.status}${run.live ? ", program connected" : ""}, ${run.errorCount} errors` : "");
}

function drawRun() {
  drawSummary();
  const held = [...shown.held.values()];
  byId("held").replaceChildren(...(held.length ? held.map(hold) : [element("li", "none")]));
  byId("nodes").replaceChildren(...[...shown.nodes.entries()].map(([id, node]) => {
    const waits = held.some((pause) => pause.nodeId === id);
    const row = element("tr");
    const state = waits ? "held" : node.state;
    row.append(element("td", node.name), element("td", node.kind), element("td", state, state), element("td", String(node.count)));
    return row;
  }));
}

function hold(pause) {
  const item = element("li");
  const name = shown.nodes.get(pause.nodeId)?.name ?? pause.nodeId;
  item.append(element("span", `${name}, ${pause.point}${pause.reason ? ` (${pause.reason})` : ""}`, "held"));
  for (const action of ["continue", "retry", "abort"]) {
    const button = element("button", action);
    button.type = "button";
    button.ariaLabel = `${action} ${name}`;
    button.onclick = () => resume(pause.pauseId, action);
    item.append(button);
  }
  return item;
}

function resume(pauseId, action) {
  notice("");
  const payload = { pauseId, action };
  const envelope = { gm: 1, seq: 0, ts: Date.now(), runId: shown.id, type: "exec.resume", payload };
  say({ type: "control", envelope });
}

function element(name, content = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = content;
  if (kind) made.className = kind;
  return made;
}
