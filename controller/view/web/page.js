"use strict";
// The page of drover's view (docs/view.md). All text from the API is set as text, never as HTML.

const POLL_MS = 5000, RETRY_MS = 3000, PAGE = 1000, ROWS = 50, COLOURS = 8;
const PALETTE = ["#1f77b4", "#2f9e44", "#e8590c", "#9c36b5", "#c2255c", "#0c8599", "#846358", "#868e96"];
const GROUPS = {
  serving: "serving", claimed: "moving", imaging: "moving", attaching: "moving", booting: "moving",
  joining: "moving", gating: "moving", draining: "clean", stopping: "clean", isolating: "clean",
  leaving: "clean", dirty: "clean", inspecting: "clean", wiping: "clean", verifying: "clean",
  quarantined: "bad",
};
// Needs, the most urgent first, with their text and the colour of their group.
const NEEDS = {
  Person: ["needs an operator", "bad"], Late: ["overdue or unreachable", "slow"], Slow: ["slower than usual", "slow"],
  Tenant: ["needs a change by its tenant", "slow"], Waits: ["continues without help", "free"],
  Held: ["held or paused by an operator", "free"],
};
// HELPS: texts of what helps in one entry. FINE: tenants up to which the use of a day is drawn in steps of 5 minutes.
const HELPS = 2, FINE = 20;
const $ = (id) => document.getElementById(id);
const machines = new Map(), tiles = new Map(), racks = new Map();
const stuck = new Map(), cards = new Map();
const tags = {};
let token = sessionStorage.getItem("token") || "", stopped = true, skew = 0, period = "day", opened = "";
let abort = new AbortController(), opener = null;

// --- requests ---------------------------------------------------------------------------------

class Refused extends Error {}

async function request(path, more = {}) {
  const answer = await fetch(path, {
    ...more, signal: abort.signal, cache: "no-store",
    // The API server's service proxy removes the first of the two headers.
    headers: {...more.headers, "Authorization": `Bearer ${token}`, "X-Drover-Authorization": `Bearer ${token}`},
  });
  const date = Date.parse(answer.headers.get("Date") || "");
  if (date) skew = date - Date.now();
  if (answer.ok || answer.status === 304) return answer;
  let text = `HTTP ${answer.status}`;
  try { text = (await answer.json()).error || text; } catch { /* no JSON: the status is all there is */ }
  if (answer.status === 401 || answer.status === 403) throw new Refused(text);
  const error = new Error(text);
  error.status = answer.status;
  throw error;
}

// Returns the list at path with its first pages of `limit` rows, or null if it has not changed since the last call.
async function list(path, member, pages, limit = PAGE) {
  const tag = tags[path], query = `${path}${path.includes("?") ? "&" : "?"}limit=${limit}`;
  let answer = await request(query, tag ? {headers: {"If-None-Match": tag}} : {});
  if (answer.status === 304) return null;
  const first = await answer.json();
  tags[path] = answer.headers.get("ETag");
  for (let next = first.continue, n = 1; next && n < pages; n++) {
    answer = await request(`${query}&continue=${encodeURIComponent(next)}`);
    const more = await answer.json();
    first[member].push(...more[member]);
    next = more.continue;
  }
  return first;
}

// --- texts ------------------------------------------------------------------------------------

function element(name, text, className) {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 90) return `${s}s`;
  if (s < 5400) return `${Math.round(s / 60)}m`;
  return s < 172800 ? `${Math.round(s / 3600)}h` : `${Math.round(s / 86400)}d`;
}

const now = () => Date.now() + skew;
const age = (time) => time ? span(now() - Date.parse(time)) : "";
const ahead = (time) => Date.parse(time) > now() ? `in ${span(Date.parse(time) - now())}` : "now";

function groupOf(m) {
  if (m.state === "quarantined") return "bad";
  if (m.reason || m.slow) return "slow";
  return GROUPS[m.state] || "free";
}

function say(text, bad) {
  $("live").textContent = text;
  $("live").className = bad ? "bad" : "";
}

// --- machines ---------------------------------------------------------------------------------

function rackOf(name) {
  let rack = racks.get(name);
  if (rack) return rack;
  const box = element("section", undefined, "rack"), title = element("h3", name || "no rack label");
  const grid = element("div", undefined, "tiles");
  title.id = `rack-${racks.size}`;
  box.setAttribute("aria-labelledby", title.id);
  box.append(title, grid);
  const after = [...racks.keys()].filter((k) => k > name).sort()[0];
  $("racks").insertBefore(box, after === undefined ? null : racks.get(after).box);
  rack = {box, grid, names: []};
  racks.set(name, rack);
  return rack;
}

function forget(name) {
  const tile = tiles.get(name);
  if (!tile) return;
  const rack = racks.get(tile.rack);
  tile.box.remove();
  rack.names.splice(rack.names.indexOf(name), 1);
  tiles.delete(name);
  if (!rack.names.length) {
    rack.box.remove();
    racks.delete(tile.rack);
  }
}

function tileOf(m) {
  const at = m.rack || "";
  let tile = tiles.get(m.name);
  if (tile && tile.rack !== at) {
    forget(m.name);
    tile = undefined;
  }
  if (tile) return tile;
  const rack = rackOf(at), box = element("button", undefined, "tile");
  tile = {rack: at, box, title: element("b", m.name), state: element("span"), tenant: element("span")};
  box.type = "button";
  box.dataset.name = m.name;
  box.tabIndex = rack.names.length ? -1 : 0;
  box.append(tile.title, tile.state, tile.tenant);
  let i = rack.names.findIndex((n) => n > m.name);
  if (i < 0) i = rack.names.length;
  rack.grid.insertBefore(box, rack.grid.children[i] || null);
  rack.names.splice(i, 0, m.name);
  tiles.set(m.name, tile);
  return tile;
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function draw(m) {
  const tile = tileOf(m), group = groupOf(m);
  if (tile.group !== group) {
    tile.box.className = `tile ${group}`;
    tile.state.className = `state ${group}`;
    tile.group = group;
  }
  set(tile.state, `${m.state} ${age(m.since)}`);
  set(tile.tenant, m.reason || m.tenant || m.waitingFor || "\u00a0");
}

function matches(m, words) {
  const text = [m.name, m.state, m.tenant, m.rack, m.pool, m.reason].join(" ").toLowerCase();
  return words.every((w) => text.includes(w));
}

function filter() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  let n = 0;
  for (const [name, m] of machines) {
    const hit = matches(m, words);
    n += hit;
    tiles.get(name).box.hidden = !hit;
  }
  for (const [object, card] of cards) card.box.hidden = !words.every((w) => textOf(stuck.get(object)).includes(w));
  for (const rack of racks.values()) rack.box.hidden = rack.names.every((x) => tiles.get(x).box.hidden);
  set($("found"), words.length ? `${n} of ${machines.size} machines match` : "");
}

function drawTotals() {
  const count = {};
  for (const m of machines.values()) count[m.state] = (count[m.state] || 0) + 1;
  $("totals").replaceChildren(...Object.entries(count).sort((a, b) => b[1] - a[1])
    .map(([state, n]) => element("li", `${n} ${state}`)));
}

function changed(rows, removed, whole) {
  if (whole) {
    const names = new Set(rows.map((m) => m.name));
    removed = [...machines.keys()].filter((n) => !names.has(n));
  }
  for (const name of removed) {
    machines.delete(name);
    forget(name);
  }
  for (const m of rows) {
    machines.set(m.name, m);
    draw(m);
  }
  drawTotals();
  filter();
  if (opened && rows.some((m) => m.name === opened)) open(opened);
}

// --- what needs attention ---------------------------------------------------------------------

const textOf = (r) => [r.object, r.state, r.tenant, r.reason, r.text].join(" ").toLowerCase();

function byUrgency(a, b) {
  const rank = (r) => Object.keys(NEEDS).indexOf(r.need), key = (r) => `${r.since || ""} ${r.object}`;
  return rank(a) - rank(b) || (key(a) < key(b) ? -1 : 1);
}

function drawAge(card, r) {
  set(card.age, r.since ? `for ${age(r.since)}` : "for an unknown time");
}

function cardOf(r) {
  const box = element("li"), head = element("p"), [need, group] = NEEDS[r.need] || [r.need, "free"];
  const name = element(r.kind === "Machine" ? "button" : "b", r.object, "object"), when = element("time");
  const why = [r.reason, r.text].filter(Boolean).join(": ") || (r.waitingFor && `waits for ${r.waitingFor}`);
  if (r.since) {
    when.dateTime = r.since;
    when.title = r.since.replace("T", " ").replace("Z", " UTC");
  }
  if (r.kind === "Machine") {
    name.type = "button";
    name.dataset.machine = r.name;
  }
  box.className = group;
  box.dataset.object = r.object;
  head.append(name, element("span", r.state || ""), when, element("span", need, `need ${group}`),
    element("span", r.tenant && r.kind !== "VirtualCluster" ? `tenant ${r.tenant}` : ""),
    element("span", r.pods > 1 ? `and ${r.pods - 1} more pods` : ""));
  box.append(head);
  if (why) box.append(element("p", why, "why"));
  for (const text of (r.help || []).slice(0, HELPS)) box.append(element("p", `What helps: ${text}`));
  if (r.commands && r.commands.length) {
    const p = element("p", "Then run: ");
    p.append(element("code", r.commands[0]));
    box.append(p);
  }
  const card = {box, age: when, row: r};
  drawAge(card, r);
  return card;
}

// Keeps the elements of unchanged rows, so that a text that is being read or copied stays.
function drawStuck() {
  const rows = [...stuck.values()].sort(byUrgency), shown = rows.slice(0, ROWS), old = new Map(cards), count = {};
  for (const r of rows) count[r.need] = (count[r.need] || 0) + 1;
  cards.clear();
  for (const r of shown) {
    const card = old.get(r.object);
    cards.set(r.object, card && card.row === r ? card : cardOf(r));
  }
  for (const [object, card] of old) if (cards.get(object) !== card) card.box.remove();
  let at = $("stuck").firstElementChild;
  for (const card of cards.values()) {
    if (card.box === at) at = at.nextElementSibling;
    else $("stuck").insertBefore(card.box, at);
  }
  set($("stuck-total"), !rows.length ? "Nothing is stuck."
    : Object.keys(NEEDS).filter((n) => count[n]).map((n) => `${count[n]} ${NEEDS[n][0]}`).join(", ") +
      (rows.length > ROWS ? `; the first ${ROWS} are shown, drover why lists all` : ""));
  filter();
}

function stuckChanged(rows, removed, whole) {
  if (whole) stuck.clear();
  for (const object of removed) stuck.delete(object);
  for (const r of rows) stuck.set(r.object, r);
  drawStuck();
}

// --- queue ------------------------------------------------------------------------------------

const gangText = (g) => `gang ${g.name}: ${g.waiting} wait, ${g.bound} have a Node${g.size ? `, ${g.size} needed` : ""}`;

function drawQueue({ total, rows }, pods) {
  set($("queue-total"), total ? `${total} pods wait${rows > ROWS ? `; the first ${ROWS} rows are shown` : ""}` : "No pod waits.");
  $("queue").replaceChildren(...pods.slice(0, ROWS).map((p) => {
    const row = element("tr");
    row.append(element("td", p.place ? String(p.place) : "–"), element("td", p.gang ? gangText(p.gang) : p.pod), element("td", p.tenant),
      element("td", p.expectedP50 ? `${ahead(p.expectedP50)} to ${ahead(p.expectedP90)}` : "–"),
      element("td", `${p.reason}: ${p.message}`));
    return row;
  }));
}

// --- GPU use ----------------------------------------------------------------------------------

function drawUse(use) {
  const names = Object.keys(use.tenants || {}).sort(), sum = (v) => v.reduce((a, b) => a + (b || 0), 0);
  names.sort((a, b) => sum(use.tenants[b]) - sum(use.tenants[a]));
  const points = use.points || 0, svg = $("use"), bars = [];
  let most = 1;
  for (let i = 0; i < points; i++) most = Math.max(most, names.reduce((n, t) => n + (use.tenants[t][i] || 0), 0));
  for (let i = 0; i < points; i++) {
    let y = 60;
    names.forEach((tenant, k) => {
      const h = (use.tenants[tenant][i] || 0) * 60 / most;
      if (!h) return;
      const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      y -= h;
      for (const [key, value] of Object.entries({x: i * 288 / points, y, width: 288 / points, height: h,
        fill: PALETTE[Math.min(k, COLOURS - 1)]})) bar.setAttribute(key, value);
      bars.push(bar);
    });
  }
  svg.replaceChildren(...bars);
  const last = (v) => v.filter((x) => x !== null).pop() || 0;
  svg.setAttribute("aria-label", `GPUs in use, at most ${most}. Now: ${names.map((t) => `${t} ${last(use.tenants[t])}`).join(", ") || "none"}`);
  $("legend").replaceChildren(...names.map((tenant, k) => {
    const item = element("li"), key = element("span", undefined, "key");
    key.style.background = PALETTE[Math.min(k, COLOURS - 1)];
    item.append(key, `${tenant}: ${last(use.tenants[tenant])} now`);
    return item;
  }));
  $("use-section").hidden = false;
}

async function readUse() {
  const days = period === "day" ? 1 : 7, tenants = new Set([...machines.values()].map((m) => m.tenant)).size;
  const from = new Date(now() - days * 86400000).toISOString().replace(/\.\d+Z$/, "Z");
  try {
    const answer = await request(`v1/history?from=${encodeURIComponent(from)}&step=${days === 1 && tenants <= FINE ? "5m" : "1h"}`);
    if (answer.status === 200) drawUse(await answer.json());
  } catch (e) {
    if (e.status !== 404) throw e; // 404: a leader without history
  }
}

// --- one machine ------------------------------------------------------------------------------

function fact(label, value) {
  if (value) $("facts").append(element("dt", label), element("dd", value));
}

function stated(error) {
  return error ? [error.reason, error.message].filter(Boolean).join(": ") : "";
}

function moment(time, text, more) {
  const item = element("li"), when = element("time", time ? time.replace("T", " ").replace("Z", " UTC") : "");
  if (time) when.dateTime = time;
  item.append(when, element("span", text));
  if (more) item.append(element("span", more));
  return item;
}

function drawMachine(m) {
  $("machine-title").textContent = m.name;
  $("facts").replaceChildren();
  fact("State", `${m.state}, for ${age(m.since)}`);
  fact("Meaning", m.doing);
  fact("Tenant", m.tenant);
  fact("Pool", m.pool);
  fact("Claim", m.claim);
  fact("Rack", m.rack);
  fact("Provider", [m.provider, m.instanceType].filter(Boolean).join(", "));
  fact("GPUs", m.gpus && String(m.gpus));
  fact("Step", m.step);
  fact("Waits for", m.waitingFor);
  fact("Next try", m.nextTry && ahead(m.nextTry));
  fact("Deadline", m.deadline && `${ahead(m.deadline)}, then ${m.then}`);
  fact("Quarantine", stated(m.quarantine));
  fact("Last error", stated(m.lastError));
  fact("Power", m.power);
  fact("Network", m.network);
  $("helps").replaceChildren(...(m.helps || []).map((text) => {
    const p = element("p", "What helps: ");
    p.append(element("code", text));
    return p;
  }));
  const states = m.states || [];
  $("states").replaceChildren(...states.map((s, i) => {
    const until = i + 1 < states.length ? Date.parse(states[i + 1].since) : now();
    const lasted = s.since ? span(until - Date.parse(s.since)) : "";
    return moment(s.since, s.state, [lasted, s.tenant && `tenant ${s.tenant}`].filter(Boolean).join(", "));
  }).reverse());
  $("wipes").replaceChildren(...(m.wipes || []).map((w) => moment(w.end || w.start, `${w.level}, ${w.record}`,
    [w.unfinished, ...w.drives.map((d) => `${d.serial || d.wwn} ${d.technique} ${d.level}${d.reason ? ` ${d.reason}` : ""}`)]
      .filter(Boolean).join("; "))));
  $("failures").replaceChildren(...(m.failures || []).map((f) => moment(f.time, f.reason, f.message)).reverse());
  for (const id of ["states", "wipes", "failures"]) if (!$(id).children.length) $(id).append(element("li", "none"));
}

async function open(name) {
  try {
    const answer = await request(`v1/machines/${encodeURIComponent(name)}`);
    drawMachine(await answer.json());
  } catch (e) {
    if (e.name === "AbortError") return;
    $("machine-title").textContent = name;
    $("facts").replaceChildren();
    fact("Error", e.message);
  }
  opened = name;
  if (!$("machine").open) $("machine").showModal();
}

function moveFocus(event) {
  const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity}[event.key];
  const from = event.target.closest(".tile");
  if (!step || !from) return;
  const all = [...$("racks").querySelectorAll(".tile:not([hidden])")];
  const to = all[Math.min(all.length - 1, Math.max(0, all.indexOf(from) + step))];
  event.preventDefault();
  to.tabIndex = 0;
  if (to !== from && to.parentNode === from.parentNode) from.tabIndex = -1;
  to.focus();
}

// --- live -------------------------------------------------------------------------------------

async function readLists() {
  const attention = await list("v1/attention", "rows", 20), fleet = await list("v1/fleet?brief=true", "machines", 20);
  const queue = await list("v1/queue", "pods", 1, ROWS);
  if (attention) stuckChanged(attention.rows, [], true);
  if (fleet) changed(fleet.machines, [], true);
  if (queue) drawQueue(queue, queue.pods);
}

function onEvent(name, data) {
  if (name === "fleet") changed(data.machines, data.removed, false);
  else if (name === "attention") stuckChanged(data.rows, data.removed, false);
  else if (name === "queue") drawQueue(data, data.first);
}

// Reads server-sent events until the stream ends. EventSource cannot send the token.
async function follow() {
  const answer = await request("v1/events?brief=true", {headers: {"Accept": "text/event-stream"}});
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  await readLists();
  say("Live");
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split("\n");
      const of = (key) => lines.filter((l) => l.startsWith(key)).map((l) => l.slice(key.length).trimStart()).join("\n");
      if (of("data:")) onEvent(of("event:"), JSON.parse(of("data:")));
    }
  }
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function run() {
  stopped = false;
  abort = new AbortController();
  for (const key of Object.keys(tags)) delete tags[key];
  say("Connecting");
  while (!stopped) {
    try {
      await readLists();
      $("main").hidden = $("find").hidden = false;
      $("login").hidden = true;
      sessionStorage.setItem("token", token);
      await readUse();
      try {
        await follow();
      } catch (e) {
        if (e.status !== 404) throw e; // 404: a leader without events
        say(`Read every ${POLL_MS / 1000} s`);
        await sleep(POLL_MS);
      }
    } catch (e) {
      if (e.name === "AbortError") return;
      if (e instanceof Refused) {
        leave();
        say(e.message, true);
        return;
      }
      say(`${e.message}; trying again`, true);
      await sleep(RETRY_MS);
    }
  }
}

function leave() {
  stopped = true;
  abort.abort();
  token = "";
  sessionStorage.removeItem("token");
  changed([], [], true);
  stuckChanged([], [], true);
  drawQueue({}, []);
  $("main").hidden = $("find").hidden = true;
  $("login").hidden = false;
  say("Not connected");
}

$("login").addEventListener("submit", (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  $("token").value = "";
  run();
});
$("find").addEventListener("submit", (event) => event.preventDefault());
$("leave").addEventListener("click", leave);
$("search").addEventListener("input", filter);
function onMachine(selector, member) {
  return (event) => {
    const from = event.target.closest(selector);
    if (!from) return;
    opener = from;
    open(from.dataset[member]);
  };
}
$("racks").addEventListener("click", onMachine(".tile", "name"));
$("stuck").addEventListener("click", onMachine("[data-machine]", "machine"));
$("racks").addEventListener("keydown", moveFocus);
$("close").addEventListener("click", () => $("machine").close());
$("machine").addEventListener("close", () => {
  opened = "";
  if (opener) opener.focus();
});
for (const id of ["day", "week"]) $(id).addEventListener("click", () => {
  period = id;
  $("day").setAttribute("aria-pressed", String(id === "day"));
  $("week").setAttribute("aria-pressed", String(id === "week"));
  readUse().catch((e) => say(e.message, true));
});
setInterval(() => {
  for (const m of machines.values()) draw(m);
  for (const card of cards.values()) drawAge(card, card.row);
}, 10000);
setInterval(() => { if (!stopped) readUse().catch(() => {}); }, 300000);
if (token) run();
