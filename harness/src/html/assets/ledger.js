const ledger = new LedgerData(data("overview"));
const main = h("main", { id: "main", tabindex: "-1", class: "wide" });
const view = { point: ledger.length, key: 0, text: "", requests: false };

const timelineView = new LedgerTimeline(ledger, (seq) => goTo(seq));
const worldBox = h("div"), graphBox = h("div"), resourceBox = h("div", { "aria-live": "polite" }), lineBox = h("div", { "aria-live": "polite" });
const slider = h("input", { type: "range", id: "point", min: 0, max: ledger.length, value: ledger.length, "aria-label": "point in the ledger" });
const pointTold = h("output", { for: "point" });
const worldTable = new LongTable({ label: "objects", open: (change) => choose(change[2]), columns: [
  { name: "key", width: "9rem", cell: (change) => foreign(ledger.keys[change[2] - 1] || "–") },
  { name: "refers to", cell: (change) => { const list = ledger.referents(change, view.point); return list.length ? foreign(list.map((it) => `${it.name === null ? it.id + " (gone)" : it.name}`).join(", ")) : ""; } },
  { name: "attributes", narrow: true, cell: (change) => foreign(Object.entries(change[4]).filter(([name]) => !/refs$/.test(name)).map(([name, value]) => `${name}=${shortened(value, 40)}`).join("  ")) },
  { name: "changed", width: "5.5rem", class: "num", cell: (change) => count(change[0]) },
  { name: "id", width: "11rem", narrow: true, cell: (change) => h("code", {}, shortened(ledger.ids[change[1] - 1], 18)) }] });
const entries = new LongTable({ label: "entries", open: (seq) => goTo(seq), columns: [
  { name: "seq", width: "5.6rem", class: "num", cell: (seq) => h("a", { href: `#${seq}`, tabindex: "-1" }, count(seq)) },
  { name: "operation", width: "8.5rem", cell: (seq) => { const op = ledger.op(seq), tone = { create: "v-p", update: "", delete: "v-f", drift: "v-k" }[op] || "muted"; return [h("span", { class: `mono ${tone}` }, { create: "+ ", update: "~ ", delete: "− ", drift: "≈ " }[op] || "  "), op]; } },
  { name: "phase", width: "5rem", cell: (seq) => { const phase = ledger.phase(seq); return phase === "fail" ? h("b", { class: "v-f" }, phase) : phase; } },
  { name: "key", width: "9rem", cell: (seq) => foreign(ledger.keyOf(seq)) },
  { name: "run", width: "8rem", narrow: true, cell: (seq) => foreign(ledger.runOf(seq)) },
  { name: "remarks", narrow: true, cell: (seq) => h("span", { class: "muted" }, ledger.begin[seq - 1] ? `began ${count(ledger.begin[seq - 1])}` : "", " ", foreign(ledger.remarks[seq] || "")) },
  { name: "time", width: "7.6rem", narrow: true, class: "num", cell: (seq) => h("span", { class: "muted" }, ledger.clock(seq)) }] });

function goTo(seq) { view.chosen = true; if (location.hash === `#${seq}`) show(seq); else location.hash = String(seq); }
function show(seq) { point(seq); showWorld(); }
// What follows a moving slider at once; the rest follows when there is time for it.
function point(seq) {
  view.point = Math.max(0, Math.min(ledger.length, seq));
  slider.value = view.point;
  pointTold.textContent = `seq ${count(view.point)}`;
  timelineView.point = view.point;
  timelineView.see(view.point);
}
function showWorld() {
  clearTimeout(view.soon);
  view.soon = 0;
  const world = ledger.world(view.point);
  slider.setAttribute("aria-valuetext", `seq ${view.point}, ${world.length} objects`);
  worldTold.textContent = `${plural(world.length, "object")} just after seq ${count(view.point)}`;
  const top = worldTable.element.scrollTop;
  worldTable.set(world);
  worldTable.element.scrollTop = top;
  put(graphBox, worldGraph(ledger, world, view.point, view.key, choose));
  showLine();
}
const worldTold = h("span", { class: "small muted", role: "status" });

function showLine() {
  const seq = view.point;
  if (!seq) { put(lineBox, h("p", { class: "muted" }, "Before the first entry, nothing exists.")); return; }
  const line = ledger.line(seq);
  let told = "This line is left out to keep the page small; the ledger has it.";
  if (line) { told = line[0]; if (!line[1]) try { told = JSON.stringify(JSON.parse(line[0]), null, 1); } catch { /* as it stands */ } else told += `… (${count(line[1])} bytes more are in the ledger)`; }
  put(lineBox, h("details", { class: "line", open: view.chosen }, h("summary", {}, `Entry ${count(seq)}: ${ledger.op(seq)} ${ledger.phase(seq)} `, foreign(ledger.keyOf(seq))), h("pre", { dir: "ltr" }, told)));
}

function choose(key) {
  view.key = key;
  timelineView.key = key; timelineView.schedule();
  if (!key) { put(resourceBox, h("p", { class: "muted" }, "Choose a resource in the graph, in the table of objects, or here.")); return; }
  const name = ledger.keys[key - 1], rows = [], before = new Map();
  const told = (change) => {
    const was = before.get(change[1]) || {}, is = change[4];
    before.set(change[1], is || {});
    if (!is) return "gone";
    const words = (values) => Object.entries(values).map(([what, value]) => `${what}=${shortened(value, 60)}`);
    const different = Object.fromEntries(Object.entries(is).filter(([what, value]) => was[what] !== value)), lost = Object.keys(was).filter((what) => !(what in is));
    return [...words(different), ...lost.map((what) => `${what} gone`)].join(", ") || "as before";
  };
  for (const change of ledger.changes) if (change[2] === key) rows.push(change);
  const MOST = 200;
  const entriesOf = []; for (let seq = 1; seq <= ledger.length; seq++) if (ledger.key[seq - 1] === key && !ledger.isRequest(seq)) entriesOf.push(seq);
  put(resourceBox, h("div", { class: "row" }, h("h3", {}, foreign(name)), h("span", { class: "muted small" }, `${plural(rows.length, "change")}, ${plural(entriesOf.length, "entry", "entries")} that tell of it`), h("button", { onclick: () => { search.value = name; update(); jump("entries"); } }, "list its entries"), h("button", { onclick: () => choose(0) }, "leave")),
    table(`what happened to ${name}`, [{ text: "seq", class: "num" }, "operation", "object", "what changed"], rows.slice(0, MOST).map((change) => [h("a", { href: `#${change[0]}` }, count(change[0])), ledger.op(change[0]), h("code", {}, shortened(ledger.ids[change[1] - 1], 18)), foreign(told(change))]), true),
    rows.length > MOST && h("p", { class: "muted small" }, `and ${count(rows.length - MOST)} more`));
  put(graphBox, worldGraph(ledger, ledger.world(view.point), view.point, key, choose));
}

const search = h("input", { type: "search", id: "search", placeholder: "search: key, id, run, operation, phase…", "aria-label": "search entries" });
const requests = h("button", { "aria-pressed": "false", onclick: () => { view.requests = !view.requests; requests.setAttribute("aria-pressed", String(view.requests)); update(); } }, "plans and reads too");
const told = h("span", { class: "small muted", role: "status" });
const low = (list) => list.map((text) => text.toLowerCase());
const lowered = { keys: low(ledger.keys), ids: low(ledger.ids), runs: low(ledger.runs) };
function update() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean), rows = [];
  const { keys, ids, runs } = lowered;
  for (let seq = 1; seq <= ledger.length; seq++) {
    if (!view.requests && ledger.isRequest(seq)) continue;
    if (words.length) {
      const text = `${ledger.op(seq)} ${ledger.phase(seq)} ${keys[ledger.key[seq - 1] - 1] || ""} ${ids[ledger.object[seq - 1] - 1] || ""} ${runs[ledger.run[seq - 1] - 1] || ""} ${(ledger.remarks[seq] || "").toLowerCase()}`;
      if (!words.every((word) => text.includes(word))) continue;
    }
    rows.push(seq);
  }
  told.textContent = `${count(rows.length)} of ${plural(ledger.length, "entry", "entries")}`;
  entries.set(rows);
}
search.addEventListener("input", update);
slider.addEventListener("input", () => {
  if (!slider.waiting) slider.waiting = requestAnimationFrame(() => { slider.waiting = 0; point(Number(slider.value)); });
  if (!view.soon) view.soon = setTimeout(showWorld, 120);
});
slider.addEventListener("change", () => history.replaceState(null, "", `#${slider.value}`));

const resources = h("select", { "aria-label": "resource", onchange: (event) => choose(Number(event.target.value)) }, h("option", { value: 0 }, "choose a resource…"),
  ledger.keys.slice(0, 2000).map((name, place) => [name, place + 1]).sort(((collator) => (a, b) => collator.compare(a[0], b[0]))(new Intl.Collator("en", { numeric: true }))).map(([name, key]) => h("option", { value: key }, shortened(name, 60))));
const PARTS = [["timeline", "Timeline"], ["world", "World"], ["resource", "One resource"], ["entries", "Entries"]];
put(document.getElementById("page"), header(foreign(ledger.file.split("/").pop()), "· a ledger", [["file", ledger.file], ["id", ledger.id], ["begun", ledger.created], ["entries", count(ledger.length)], ["open operations", count(ledger.open)], ["unfinished bytes at the end", ledger.torn_bytes ? count(ledger.torn_bytes) : null]], PARTS), main,
  h("footer", {}, h("div", { class: "wide" }, `Written by equiform ${ledger.equiform}. This file needs no other, and contains what the ledger contains.`)));
put(main, 
  section("timeline", "Timeline", timelineView.byKey ? "A lane for each resource. Click to choose a point; drag, or Shift with the wheel, moves; Ctrl with the wheel zooms." : "Operations that ran at the same time are below each other. Click to choose a point; drag, or Shift with the wheel, moves; Ctrl with the wheel zooms.",
    timelineView.canvas, h("div", { class: "at-point" }, pointTold, slider, h("button", { "aria-label": "zoom in", onclick: () => timelineView.zoom(0.5) }, "+"), h("button", { "aria-label": "zoom out", onclick: () => timelineView.zoom(2) }, "−")), lineBox),
  section("world", "The world at that point", null, h("div", { class: "filters" }, worldTold), graphBox, h("div", { style: { height: ".8rem" } }), worldTable.element),
  section("resource", "What happened to one resource", null, h("div", { class: "filters" }, resources), resourceBox),
  section("entries", "Entries", null, h("div", { class: "filters" }, search, requests, told), entries.element));
function route() { const seq = /^\d+$/.exec(location.hash.slice(1)); if (seq) show(Number(seq[0])); else if (PARTS.some(([id]) => id === location.hash.slice(1))) jump(location.hash.slice(1)); }
addEventListener("hashchange", route);
update();
choose(0);
// The end is often empty again: then what was there at most says more.
show(ledger.world(ledger.length).length ? ledger.length : ledger.fullest());
route();
