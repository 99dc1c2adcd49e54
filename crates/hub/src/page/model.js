// What one run looks like after the events seen so far. Knows no socket and no element.

/** @returns an empty run of that id */
export function newRun(id) {
  return { id, ord: 0, nodes: new Map(), held: new Map() };
}

/** A frame of the hub. What programs sent or got keeps its numbers as they were spelled; the rest is for reckoning. */
export function read(json) {
  const frame = JSON.parse(json);
  const payload = frame.envelope?.payload;
  for (const name of ["input", "output"]) {
    if (payload && name in payload) payload[name] = exact(json).envelope.payload[name];
  }
  return frame;
}

/** JSON whose numbers go out as they came in, where the browser can do that; elsewhere doubles have to do. */
export function exact(json) {
  return JSON.parse(json, (_, value, context) => {
    const spelled = typeof value === "number" && JSON.rawJSON ? context?.source : undefined;
    return spelled === undefined || spelled === String(value) ? value : JSON.rawJSON(spelled);
  });
}

/** Takes one event of the run in. Unknown types change nothing. */
export function apply(run, { ord, envelope: { type, payload, ts } }) {
  if (ord) run.ord = Math.max(run.ord, ord);
  switch (type) {
    case "graph.hint":
      for (const hint of payload.nodes ?? []) {
        const node = nodeOf(run, hint.nodeId);
        Object.assign(node, { kind: hint.kind, name: hint.name, parent: hint.parentId ?? node.parent });
      }
      break;
    case "node.started": {
      const node = nodeOf(run, payload.nodeId);
      Object.assign(node, { kind: payload.kind, name: payload.name, parent: payload.parentId ?? node.parent, state: "running" });
      node.executions.push({ id: payload.instanceId, input: payload.input, started: ts, state: "running" });
      break;
    }
    case "node.finished": {
      const node = nodeOf(run, payload.nodeId);
      const execution = executionOf(node, payload.instanceId);
      Object.assign(execution, { state: payload.status, output: payload.output, injected: payload.injected === true });
      execution.ran = Math.max(0, payload.durationMs - (payload.heldMs ?? 0));
      node.state = payload.status;
      break;
    }
    case "node.error":
      executionOf(nodeOf(run, payload.nodeId), payload.instanceId).error = payload.error;
      break;
    case "exec.paused":
      run.held.set(payload.pauseId, payload);
      break;
    case "exec.until":
      if (run.held.has(payload.pauseId)) run.held.get(payload.pauseId).until = payload;
      break;
    case "exec.resumed":
      run.held.delete(payload.pauseId);
      break;
    case "run.finished":
      run.held.clear();
      break;
  }
}

/** Calls that stand. What a program held went on when it vanished. */
export function standing(run, info) {
  return info?.status === "abandoned" ? new Map() : run.held;
}

/** How a node stands: in a run that is over nothing goes on any more. */
export function outcome(node, info) {
  return node.state === "running" && info && info.status !== "running" ? "cut off" : node.state;
}

/** Nodes in order, each below its parent, with how deep it lies. */
export function tree(run) {
  const children = new Map();
  for (const [id, node] of run.nodes) {
    const parent = run.nodes.has(node.parent) && node.parent !== id ? node.parent : "";
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(id);
  }
  const rows = [];
  const open = (children.get("") ?? []).map((id) => [id, 0]).reverse();
  while (open.length) {
    const [id, depth] = open.pop();
    rows.push({ id, depth, node: run.nodes.get(id) });
    for (const child of (children.get(id) ?? []).toReversed()) open.push([child, depth + 1]);
    children.delete(id);
  }
  return rows;
}

/** The execution a held call belongs to: the one it names, else the newest. */
export function heldExecution(run, pause) {
  const executions = run.nodes.get(pause.nodeId)?.executions ?? [];
  return executions.findLast((one) => one.id === pause.instanceId) ?? executions.at(-1);
}

function nodeOf(run, id) {
  if (!run.nodes.has(id)) run.nodes.set(id, { name: id, kind: "", parent: undefined, state: "expected", executions: [] });
  return run.nodes.get(id);
}

function executionOf(node, id) {
  const found = node.executions.findLast((one) => one.id === id) ?? node.executions.findLast((one) => one.state === "running");
  return found ?? node.executions.at(-1) ?? {};
}
