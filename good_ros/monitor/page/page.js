"use strict";
// Draws a session's sections. Running, they come as server-sent events; in a report they stand in
// the page itself, in an element of the id "recorded".

const COLOURS = 8;
const UNSPECIFIED = "unspecified";
const STATES = {
  IDLE: "Waiting for something to do",
  PLANNING: "Planning …",
  EXECUTING: "Acting …",
  WAITING_APPROVAL: "Waits for your approval",
  NO_ACTION: "No action in this turn",
  SUCCEEDED: "Done what was planned",
  FAILED: "Failed",
  DONE: "The task is completed",
};
const LEVELS = { OK: "ok", WARN: "warn", ERROR: "error", STALE: "stale" };

const sections = {};
const byId = (id) => document.getElementById(id);

// Small helpers. Text is only ever set as text, never as markup.

function make(tag, fields, ...children) {
  const result = document.createElement(tag);
  for (const [name, value] of Object.entries(fields || {})) {
    if (name === "class") result.className = value;
    else if (name.startsWith("on")) result.addEventListener(name.slice(2), value);
    else if (value === true) result.setAttribute(name, "");
    else if (value !== false && value !== undefined) result.setAttribute(name, value);
  }
  result.append(...children.filter((child) => child !== null && child !== undefined));
  return result;
}

function draw(tag, fields, text) {
  const result = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(fields)) result.setAttribute(name, value);
  if (text !== undefined) result.textContent = text;
  return result;
}

// Replaces a list's items; a button in it that had the focus has it again.
function fill(list, items) {
  const focus = list.contains(document.activeElement) ? document.activeElement.dataset.key : "";
  list.replaceChildren(...items);
  if (focus) {
    for (const button of list.querySelectorAll("[data-key]")) {
      if (button.dataset.key === focus) button.focus();
    }
  }
}

function percent(share) {
  if (share === null || share === undefined) return "–";
  return `${(100 * share).toFixed(1)} %`;
}

function colourOf(goal) {
  if (goal === UNSPECIFIED) return "cu";
  const known = Object.keys(sections.texts || {}).filter((id) => id !== UNSPECIFIED);
  return `c${Math.max(0, known.indexOf(goal)) % COLOURS}`;
}

function mark(kind, sign) {
  return make("span", { class: `mark ${kind}`, "aria-hidden": "true" }, sign);
}

// Belief.

const barRows = new Map();

function showBelief() {
  const belief = sections.belief;
  const headline = byId("headline");
  if (!belief || !belief.hypotheses.length) {
    headline.replaceChildren(make("span", { class: "empty" }, "Nothing has been said yet."));
    byId("bars").replaceChildren();
    barRows.clear();
    byId("belief-facts").textContent = "";
    return;
  }
  const top = belief.hypotheses[0];
  const said = top.id === UNSPECIFIED
    ? "It does not know yet what is wanted"
    : top.text.charAt(0).toUpperCase() + top.text.slice(1);
  const pass = belief.settled ? "" : ", not settled yet";
  headline.replaceChildren(
    make("small", {}, `After turn ${belief.turn}${pass}, ${percent(top.probability)} sure:`), said);
  const seen = new Set();
  const rows = belief.hypotheses.map((hypothesis) => {
    seen.add(hypothesis.id);
    let row = barRows.get(hypothesis.id);
    if (!row) {
      row = make("li", { "data-goal": hypothesis.id },
        make("span", { class: "name" }), make("span", { class: "share" }),
        make("div", { class: "track" }, make("div", { class: "fill" })));
      barRows.set(hypothesis.id, row);
    }
    const isUnspecified = hypothesis.id === UNSPECIFIED;
    row.className = `${colourOf(hypothesis.id)}${isUnspecified ? " unspecified" : ""}`;
    row.dataset.probability = hypothesis.probability;
    row.querySelector(".name").textContent = isUnspecified ? "none of these" : hypothesis.text;
    row.querySelector(".share").textContent = percent(hypothesis.probability);
    row.querySelector(".fill").style.width = `${100 * hypothesis.probability}%`;
    return row;
  });
  for (const id of [...barRows.keys()]) if (!seen.has(id)) barRows.delete(id);
  byId("bars").replaceChildren(...rows);
  byId("belief-facts").textContent = [
    `entropy ${number(belief.entropy, 2)} nats`,
    belief.model,
    `${number(belief.seconds, 1)} s`,
    `${belief.tokens_scored} tokens read, ${belief.tokens_reused} reused`,
  ].join(" · ");
}

function number(value, digits) {
  return value === null || value === undefined ? "–" : value.toFixed(digits);
}

// Conversation.

function showTalk() {
  const items = [];
  for (const turn of sections.turns || []) {
    items.push(make("li", { class: "turn" }, `turn ${turn.turn}`));
    items.push(make("li", { class: "robot" }, turn.question));
    items.push(make("li", { class: "human" }, turn.utterance));
    const own = turn.actions.length || !sections.status || sections.status.turn !== turn.turn
      ? turn.actions.map((result) => ({ ...result, label: result.step.label }))
      : sections.status.done;
    for (const result of own) items.push(deed(result));
  }
  const question = sections.question;
  const ended = sections.session && sections.session.ended;
  const last = (sections.turns || []).at(-1);
  if (question && (!last || question.turn > last.turn || !question.expects_reply)) {
    items.push(make("li", { class: question.expects_reply ? "robot waits" : "robot" }, question.text));
  }
  if (ended) {
    items.push(make("li", { class: "turn" }, `The session ended: ${sections.session.end_reason}.`));
  }
  if (!items.length) items.push(make("li", { class: "empty" }, "No session is running yet."));
  const list = byId("talk");
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
  list.replaceChildren(...items);
  if (atEnd) list.scrollTop = list.scrollHeight;
}

function deed(result) {
  const why = result.success ? result.effect : result.error_msg;
  return make("li", { class: "deed" },
    mark(result.success ? "ok" : "bad", result.success ? "✓" : "✗"),
    make("span", { class: "hidden" }, result.success ? "done: " : "failed: "),
    result.label, why ? make("span", { class: "why" }, ` – ${why}`) : null);
}

// Plan and approval.

function showPlan() {
  const status = sections.status;
  const state = byId("plan-state");
  if (!status) {
    state.textContent = "No plan yet";
    byId("plan").replaceChildren();
    byId("approval").hidden = true;
    return;
  }
  const words = STATES[status.state] || status.state;
  state.textContent = status.error_msg ? `${words}: ${status.error_msg}` : words;
  const done = status.done;
  const items = done.map(deed);
  // Of the plan, what was not done yet; once the turn is over the rest will not be.
  if (["PLANNING", "EXECUTING", "WAITING_APPROVAL"].includes(status.state)) {
    const ahead = status.plan.filter((label) => !done.some((r) => r.success && r.label === label));
    for (const label of ahead) {
      items.push(make("li", { class: "deed" }, mark("next", "○"), label));
    }
  }
  fill(byId("plan"), items);
  byId("approval").hidden = !status.waits;
}

// Suggestions.

const SIGNS = { accepted: ["ok", "✓"], refused: ["bad", "✗"] };

function showSuggestions() {
  const all = sections.suggestions;
  const last = all.at(-1);
  byId("suggestion").hidden = !(last && last.waits);
  byId("suggestion-text").textContent = last && last.waits ? last.text : "";
  byId("offered").hidden = !all.length;
  byId("suggestions").replaceChildren(...all.map((offer) =>
    make("li", { class: "deed" }, mark(...(SIGNS[offer.state] || ["next", "○"])), offer.text,
      make("span", { class: "why" }, ` – ${offer.state}, for '${offer.goal}' (${percent(offer.probability)})`))));
}

// Goals.

function showGoals() {
  const items = sections.goals.goals.map((goal) => {
    const from = goal.created_turn ? `${goal.origin} in turn ${goal.created_turn}` : goal.origin;
    const buttons = goal.fixed || recorded ? null : make("span", { class: "buttons live-only" },
      make("button", {
        class: "tiny", type: "button", "data-key": `pin ${goal.id}`,
        "aria-pressed": String(goal.pinned), title: "A pinned goal is never removed by the robot",
        onclick: () => post("goals", { [goal.pinned ? "unpin" : "pin"]: [goal.id] }),
      }, goal.pinned ? "Pinned" : "Pin", make("span", { class: "hidden" }, ` ${goal.text}`)),
      make("button", {
        class: "tiny", type: "button", "data-key": `remove ${goal.id}`,
        onclick: () => post("goals", { remove: [goal.id] }),
      }, "Remove", make("span", { class: "hidden" }, ` ${goal.text}`)));
    const text = goal.fixed ? "none of these (‘Unspecified’)" : goal.text;
    return make("li", { class: colourOf(goal.id), "data-goal": goal.id },
      make("i", { class: "key", "aria-hidden": "true" }),
      make("span", { class: "what" }, text,
        make("small", {}, goal.pinned && !goal.fixed ? `${from} · pinned` : from)),
      buttons);
  });
  fill(byId("goals"), items.length ? items : [make("li", { class: "empty" }, "No goals yet")]);
}

function showEdits() {
  const items = [];
  for (const edit of [...sections.edits].reverse()) {
    const when = edit.turn ? `turn ${edit.turn}: ` : "at the start: ";
    for (const goal of edit.added.filter((added) => !added.fixed)) {
      items.push(make("li", {}, mark("ok", "+"), when + goal.text,
        make("span", { class: "why" }, ` – ${goal.origin}`)));
    }
    for (const removal of edit.removed) {
      const detail = removal.detail ? `: ${removal.detail}` : "";
      items.push(make("li", {}, mark("bad", "−"), when + removal.text,
        make("span", { class: "why" }, ` – ${removal.reason}${detail}`)));
    }
  }
  byId("edits").replaceChildren(
    ...(items.length ? items : [make("li", { class: "empty" }, "None yet")]));
}

// Charts. Each is drawn for the width that it has.

const EDGE = { left: 46, right: 10, top: 8, bottom: 20 };

function frame(host, height, label) {
  const width = Math.max(240, host.clientWidth);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label });
  host.replaceChildren(svg);
  return { svg, width, height, inner: width - EDGE.left - EDGE.right, low: height - EDGE.bottom };
}

function places(turns, area) {
  const [first, last] = [turns[0], turns.at(-1)];
  return (turn) => EDGE.left + (last === first ? 0.5 : (turn - first) / (last - first)) * area.inner;
}

function axis(area, x, turns, marks) {
  for (const [share, text] of marks) {
    const y = area.low - share * (area.low - EDGE.top);
    area.svg.append(
      draw("line", { class: "grid", x1: EDGE.left, x2: area.width - EDGE.right, y1: y, y2: y }),
      draw("text", { x: EDGE.left - 6, y: y + 4, "text-anchor": "end" }, text));
  }
  const step = Math.ceil(turns.length / Math.max(2, Math.floor(area.inner / 60)));
  turns.forEach((turn, i) => {
    if (i % step) return;
    const side = turns.length < 2 || (i && i < turns.length - 1) || x(turn) < area.width - 40
      ? "middle" : "end";
    const at = side === "end" ? Math.min(x(turn) + EDGE.right, area.width) : x(turn);
    area.svg.append(draw("text",
      { x: at, y: area.height - 5, "text-anchor": side }, `turn ${turn}`));
  });
}

function orderOfGoals(history) {
  const ids = [];
  for (const entry of history) {
    for (const id of Object.keys(entry.shares)) if (!ids.includes(id)) ids.push(id);
  }
  const age = Object.keys(sections.texts);
  ids.sort((a, b) => age.indexOf(a) - age.indexOf(b));
  return [...ids.filter((id) => id !== UNSPECIFIED), ...ids.filter((id) => id === UNSPECIFIED)];
}

function nameOf(id) {
  return id === UNSPECIFIED ? "none of these" : sections.texts[id] || id;
}

function showAreas() {
  const history = sections.history;
  const host = byId("areas");
  if (!history.length) {
    host.replaceChildren(make("p", { class: "empty" }, "Drawn after the first turn."));
    byId("legend").replaceChildren();
    byId("areas-caption").textContent = "";
    byId("after-first-turn").hidden = true;
    return;
  }
  byId("after-first-turn").hidden = false;
  const turns = history.map((entry) => entry.turn);
  const goals = orderOfGoals(history);
  const area = frame(host, 220, `Probability of each goal over turns ${turns[0]} to ${turns.at(-1)}`);
  const x = places(turns, area);
  // A single turn is drawn over the whole width.
  const points = history.length > 1
    ? history.map((entry) => [x(entry.turn), entry.shares])
    : [[EDGE.left, history[0].shares], [area.width - EDGE.right, history[0].shares]];
  const below = points.map(() => 0);
  for (const id of goals) {
    const lower = points.map(([px], i) => [px, below[i]]);
    points.forEach(([, shares], i) => { below[i] += shares[id] || 0; });
    const upper = points.map(([px], i) => [px, below[i]]);
    const path = [...upper, ...lower.reverse()].map(([px, share], i) =>
      `${i ? "L" : "M"}${px.toFixed(1)} ${(area.low - share * (area.low - EDGE.top)).toFixed(1)}`);
    const shape = draw("path", { class: `area ${colourOf(id)}`, d: `${path.join("")}Z`, "data-goal": id });
    shape.append(draw("title", {}, nameOf(id)));
    area.svg.append(shape);
  }
  axis(area, x, turns, [[0, "0 %"], [0.5, "50 %"], [1, "100 %"]]);
  const guide = draw("line", { class: "guide", y1: EDGE.top, y2: area.low, x1: -9, x2: -9 });
  area.svg.append(guide);
  const tell = (entry) => {
    const shares = Object.entries(entry.shares).sort((a, b) => b[1] - a[1]).slice(0, 3);
    byId("areas-caption").textContent = `turn ${entry.turn}: `
      + shares.map(([id, share]) => `${percent(share)} ${nameOf(id)}`).join("; ");
    guide.setAttribute("x1", x(entry.turn));
    guide.setAttribute("x2", x(entry.turn));
  };
  area.svg.addEventListener("pointermove", (event) => {
    const at = (event.offsetX * area.width) / area.svg.clientWidth;
    tell(history.reduce((best, entry) =>
      Math.abs(x(entry.turn) - at) < Math.abs(x(best.turn) - at) ? entry : best));
  });
  byId("areas-caption").textContent = "";
  byId("legend").replaceChildren(...goals.map((id) =>
    make("li", { class: colourOf(id) }, make("i", { class: "key" }), nameOf(id))));
  showEntropy(history, turns);
  showNumbers(history, goals);
}

function showEntropy(history, turns) {
  const area = frame(byId("entropy"), 90, "Entropy of the belief over the turns, in nats");
  const x = places(turns, area);
  const most = Math.max(0.1, ...history.map((entry) => entry.entropy || 0));
  const y = (value) => area.low - ((value || 0) / most) * (area.low - EDGE.top);
  axis(area, x, turns, [[0, "0"], [1, most.toFixed(2)]]);
  const path = history.map((e, i) => `${i ? "L" : "M"}${x(e.turn).toFixed(1)} ${y(e.entropy).toFixed(1)}`);
  area.svg.append(draw("path", { class: "line", d: path.join("") }));
  for (const entry of history) {
    area.svg.append(draw("circle", { class: "point", cx: x(entry.turn), cy: y(entry.entropy), r: 3 }));
  }
}

function showNumbers(history, goals) {
  const head = make("tr", {}, make("th", { scope: "col" }, "goal"),
    ...history.map((entry) => make("th", { scope: "col" }, `turn ${entry.turn}`)));
  const rows = goals.map((id) => make("tr", {}, make("th", { scope: "row" }, nameOf(id)),
    ...history.map((entry) => make("td", {}, percent(entry.shares[id])))));
  const entropy = make("tr", {}, make("th", { scope: "row" }, "entropy (nats)"),
    ...history.map((entry) => make("td", {}, number(entry.entropy, 3))));
  byId("numbers").replaceChildren(make("table", {}, make("thead", {}, head),
    make("tbody", {}, ...rows, entropy)));
}

function showTiming() {
  const turns = Object.keys(sections.timing).map(Number).filter((turn) => turn > 0);
  const host = byId("timing");
  if (!turns.length) {
    host.replaceChildren(make("p", { class: "empty" }, "Drawn after the first turn."));
    byId("timing-legend").hidden = true;
    return;
  }
  byId("timing-legend").hidden = false;
  turns.sort((a, b) => a - b);
  const of = (turn) => sections.timing[turn];
  const most = Math.max(0.01, ...turns.map((t) => Math.max(of(t).turn_s || 0, of(t).belief_s || 0)));
  const area = frame(host, 110, "Seconds of each turn");
  const slot = area.inner / turns.length;
  const wide = Math.min(40, slot * 0.6);
  const x = (turn) => EDGE.left + (turns.indexOf(turn) + 0.5) * slot;
  axis(area, x, turns, [[0, "0 s"], [1, `${most < 10 ? most.toFixed(most < 1 ? 2 : 1) : Math.round(most)} s`]]);
  for (const turn of turns) {
    for (const [kind, seconds] of [["k-turn", of(turn).turn_s], ["k-belief", of(turn).belief_s]]) {
      if (!seconds) continue;
      const height = (seconds / most) * (area.low - EDGE.top);
      const bar = draw("rect", { class: kind, x: x(turn) - wide / 2, width: wide, y: area.low - height, height, rx: 2 });
      bar.append(draw("title", {}, `turn ${turn}: ${seconds.toFixed(2)} s`));
      area.svg.append(bar);
    }
  }
}

// Room, nodes, log, header.

let pictureTried = 0;

function showRoom() {
  const scene = sections.status && sections.status.scene;
  const places = scene ? scene.split("; ") : ["Not known yet"];
  byId("scene").replaceChildren(...places.map((place) => {
    const colon = place.indexOf(": ");
    return colon < 0 ? make("li", {}, place)
      : make("li", {}, make("b", {}, place.slice(0, colon)), place.slice(colon));
  }));
  if (recorded) return;
  const tried = (pictureTried = sections.room);
  const picture = new Image();
  picture.onload = () => {
    if (tried !== pictureTried) return;
    byId("room-picture").src = picture.src;
    byId("room-picture").hidden = false;
  };
  // Asked first, so that a world without a picture is no error in the console.
  fetch(`/api/room?n=${tried}`).then((reply) => {
    if (reply.status === 200 && tried === pictureTried) picture.src = `/api/room?n=${tried}`;
  }).catch(() => {});
}

function showNodes() {
  const open = new Set([...document.querySelectorAll("#nodes details[open]")].map((d) => d.dataset.key));
  const names = Object.keys(sections.nodes).sort();
  const items = names.map((name) => {
    const node = sections.nodes[name];
    const facts = Object.entries(node.facts).flatMap(([key, value]) =>
      [make("dt", {}, key), make("dd", {}, value)]);
    return make("li", {}, make("details", { open: open.has(name), "data-key": name },
      make("summary", { "data-key": name },
        make("span", { class: `dot ${LEVELS[node.level]}`, "aria-hidden": "true" }),
        name, make("span", { class: "quiet" }, node.message)),
      make("dl", {}, ...facts)));
  });
  fill(byId("nodes"), items.length ? items : [make("li", { class: "empty" }, "None heard yet")]);
}

function showLog() {
  const items = [...sections.log].reverse().map((line) => make("li", { class: line.level },
    `${new Date(1000 * line.time).toLocaleTimeString()} ${line.node}: ${line.message}`));
  byId("log").replaceChildren(...(items.length ? items : [make("li", { class: "empty" }, "None")]));
}

let connection = ["stale", "connecting …"];

function showHeader() {
  const session = sections.session || { id: "" };
  const where = session.namespace && session.namespace !== "/" ? ` in ${session.namespace}` : "";
  byId("session-line").textContent = session.id
    ? `session ${session.id}${where}, turn ${session.turn}${session.ended ? ", ended" : ""}` : "no session";
  const chips = [];
  const chip = (level, text) => chips.push(make("li", {},
    make("span", { class: `dot ${level}`, "aria-hidden": "true" }), text));
  if (!recorded) {
    const nodes = Object.entries(sections.nodes || {});
    const find = (ending) => (nodes.find(([name]) => name.endsWith(ending)) || [])[1];
    const belief = find("/goal_belief");
    if (belief) chip(LEVELS[belief.level], belief.level === "OK" ? `model ${belief.facts.model}` : `model: ${belief.message}`);
    const executor = find("/executor");
    if (executor && executor.facts.world) chip(LEVELS[executor.level], `world ${executor.facts.world}`);
    const worst = nodes.filter(([, node]) => node.level === "ERROR" || node.level === "STALE");
    if (worst.length) chip("error", `${worst.length} of ${nodes.length} nodes need attention`);
  }
  chip(...connection);
  byId("chips").replaceChildren(...chips);
}

// What depends on which sections.
const PARTS = [
  [showHeader, ["session", "nodes"]],
  [showBelief, ["belief", "texts"]],
  [showTalk, ["turns", "question", "session", "status"]],
  [showPlan, ["status"]],
  [showSuggestions, ["suggestions"]],
  [showAreas, ["history", "texts"]],
  [showGoals, ["goals", "texts"]],
  [showEdits, ["edits"]],
  [showRoom, ["room", "status"]],
  [showTiming, ["timing"]],
  [showNodes, ["nodes"]],
  [showLog, ["log"]],
];

function take(changed) {
  Object.assign(sections, changed);
  for (const [show, needs] of PARTS) {
    if (needs.some((name) => name in changed) && needs.every((name) => name in sections)) show();
  }
}

// What a visitor does.

let toastTimer = 0;

function toast(text) {
  const host = byId("toast");
  host.textContent = text;
  host.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => host.classList.remove("shown"), 5000);
}

async function post(action, fields) {
  const { ok, message } = await send(action, fields);
  if (message) toast(message);
  return ok;
}

async function send(action, fields) {
  try {
    const reply = await fetch(`/api/${action}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(fields),
    });
    const answer = await reply.json();
    return { ok: reply.ok, message: answer.message };
  } catch {
    return { ok: false, message: "The monitor cannot be reached." };
  }
}

// What is taught, with what the robot says back.
async function teach(text) {
  const { ok, message } = await send("teach", { person_id: byId("teach-person").value.trim(), text });
  byId("lessons").append(make("li", { class: "deed" }, mark(ok ? "ok" : "bad", ok ? "✓" : "✗"), text,
    make("span", { class: "why" }, ` – ${message}`)));
  return ok;
}

async function answerSuggestion(accept) {
  const buttons = [byId("suggestion-yes"), byId("suggestion-no")];
  for (const button of buttons) button.disabled = true;
  const last = sections.suggestions.at(-1);
  await post("suggestion", { session_id: sections.session.id, suggestion_id: last.id, accept });
  for (const button of buttons) button.disabled = false;
}

function onSubmit(form, input, action) {
  byId(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = byId(input).value.trim();
    if (text && (await action(text))) byId(input).value = "";
  });
}

async function decide(approve) {
  const buttons = [byId("approve"), byId("refuse")];
  for (const button of buttons) button.disabled = true;
  await post("approve", { session_id: sections.session.id, turn: sections.status.turn, approve });
  for (const button of buttons) button.disabled = false;
}

// Two columns where there is room: each holds its cards in order, one below the other.
function arrange() {
  const main = document.querySelector("main");
  const cards = Object.fromEntries([...main.querySelectorAll(".card")].map((card) => [card.id, card]));
  const wide = matchMedia("(min-width: 900px)");
  const narrowOrder = ["belief", "talk", "plan", "turns", "goals", "teach", "room", "time", "nodes"];
  const columns = [["belief", "turns", "goals", "time"], ["talk", "plan", "teach", "room", "nodes"]];
  const place = () => {
    const focus = document.activeElement;
    if (wide.matches) {
      main.replaceChildren(...columns.map((names) =>
        make("div", { class: "column" }, ...names.map((name) => cards[`card-${name}`]))));
    } else {
      main.replaceChildren(...narrowOrder.map((name) => cards[`card-${name}`]));
    }
    if (focus && focus !== document.body) focus.focus();
  };
  wide.addEventListener("change", place);
  place();
}

const recorded = byId("recorded");

function follow() {
  const source = new EventSource("/api/events");
  source.onopen = () => { connection = ["ok", "live"]; showHeader(); };
  source.onmessage = (event) => take(JSON.parse(event.data));
  source.onerror = () => {
    connection = source.readyState === EventSource.CLOSED
      ? ["error", "refused: open the address that the monitor logged"]
      : ["warn", "connection lost, trying again …"];
    showHeader();
  };
}

arrange();
let width = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  if ("history" in sections) { showAreas(); showTiming(); }
}).observe(document.body);

if (recorded) {
  document.body.classList.add("report");
  connection = ["stale", "a recording"];
  take(JSON.parse(recorded.textContent));
} else {
  onSubmit("say", "say-text", (text) => post("say", { text }));
  onSubmit("add-goal", "add-goal-text", (text) => post("goals", { add: [text] }));
  byId("approve").addEventListener("click", () => decide(true));
  byId("refuse").addEventListener("click", () => decide(false));
  byId("suggestion-yes").addEventListener("click", () => answerSuggestion(true));
  byId("suggestion-no").addEventListener("click", () => answerSuggestion(false));
  onSubmit("teach", "teach-text", teach);
  follow();
}
