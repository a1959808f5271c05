// The entries of a ledger, and the world at any of them.
class LedgerData {
  constructor(raw) {
    Object.assign(this, raw);
    this.ops = raw.op; this.phasesOf = raw.phase;
    this.length = raw.key.length;
    this.times = new Float64Array(this.length);
    let time = raw.first_time ? Date.parse(raw.first_time) * 1000 : 0;
    raw.time.forEach((by, place) => { time += by; this.times[place] = time; });
    // What became of each object, in order.
    this.history = new Map();
    for (const change of raw.changes) { if (!this.history.has(change[1])) this.history.set(change[1], []); this.history.get(change[1]).push(change); }
    // Objects by their keys, as people sort names: sorted once, and not at every point.
    const collator = new Intl.Collator("en", { numeric: true }), nameOf = (object) => this.keys[this.history.get(object)[0][2] - 1] || "";
    this.sorted = [...this.history.keys()].sort((a, b) => collator.compare(nameOf(a), nameOf(b)) || a - b);
    this.op = (seq) => this.operations[parseInt(this.ops[seq - 1], 36)] || "unknown";
    this.phase = (seq) => this.phases[Number(this.phasesOf[seq - 1])] || "";
    this.keyOf = (seq) => this.keys[this.key[seq - 1] - 1] || "";
    this.idOf = (seq) => this.ids[this.object[seq - 1] - 1] || "";
    this.runOf = (seq) => this.runs[this.run[seq - 1] - 1] || "";
    this.isRequest = (seq) => ["read", "plan", "configure", "stop", "list"].includes(this.op(seq));
  }
  at(object, seq) {
    const list = this.history.get(object);
    if (!list) return null;
    let low = 0, high = list.length;
    while (low < high) { const middle = (low + high) >> 1; if (list[middle][0] <= seq) low = middle + 1; else high = middle; }
    const change = low ? list[low - 1] : null;
    return change && change[4] ? change : null;
  }
  world(seq) {
    const there = [];
    for (const object of this.sorted) { const change = this.at(object, seq); if (change) there.push(change); }
    return there;
  }
  // The last point at which most objects were there.
  fullest() {
    let there = 0, most = 0, at = 0;
    const objects = new Set();
    for (const [seq, object, , , attributes] of this.changes) {
      if (attributes) objects.add(object); else objects.delete(object);
      there = objects.size;
      if (there >= most) { most = there; at = seq; }
    }
    return at;
  }
  line(seq) {
    const together = this.lines_together, first = Math.floor((seq - 1) / together) * together + 1;
    if (!this.chunk || this.chunk.first !== first) this.chunk = { first, lines: data(`lines-${first}`) || [] };
    return this.chunk.lines[seq - first] || null;
  }
  clock(seq) { return new Date(this.times[seq - 1] / 1000).toISOString().slice(11, 23); }
  referents(change, seq) {
    return (change[3] || []).map(([path, id]) => {
      const target = this.at(id, seq);
      return { path: this.paths[path - 1], id: this.ids[id - 1], key: target ? target[2] : 0, name: target ? this.keys[target[2] - 1] || this.ids[id - 1] : null };
    });
  }
}

// The graph at a point, in the layout of all of them; or what surrounds one resource, where they are too many.
function worldGraph(ledger, world, seq, key, pick) {
  if (!world.length) return h("p", { class: "muted" }, "Nothing exists at this point.");
  if (ledger.layout && ledger.drawn.length) {
    const number = new Map(ledger.drawn.map((it, place) => [it, place])), names = ledger.drawn.map((it) => ledger.keys[it - 1]);
    const edgeNumber = new Map(ledger.layout.edges.map(([from, to], place) => [`${from}/${to}`, place]));
    const objects = new Map();
    for (const change of world) objects.set(change[2], (objects.get(change[2]) || 0) + 1);
    const changed = new Map(world.filter((change) => change[0] === seq).map((change) => [change[2], ledger.op(seq) === "create" ? "a" : "c"]));
    const nodes = [...objects].filter(([it]) => number.has(it)).map(([it, times]) => [number.get(it), changed.get(it) || "k", times]);
    const edges = [];
    for (const change of world) for (const it of ledger.referents(change, seq)) {
      const edge = edgeNumber.get(`${number.get(it.key)}/${number.get(change[2])}`);
      if (Number.isInteger(edge)) edges.push([edge, it.path, false]);
    }
    const scale = Math.max(0.55, Math.min(1, 900 / Math.max(1, ledger.layout.width)));
    return h("div", { class: "large card", tabindex: "0", role: "region", "aria-label": "graph" }, graph({ names, layout: ledger.layout, picture: { nodes, edges }, scale, label: `the graph at seq ${seq}`, pick: (place) => pick(ledger.drawn[place]) }));
  }
  if (!key) return h("p", { class: "muted" }, `${plural(world.length, "object")}: too many to be drawn at once. Choose a resource, and what surrounds it is drawn.`);
  return neighbours(ledger, world, seq, key, pick);
}

function neighbours(ledger, world, seq, key, pick) {
  const own = world.filter((change) => change[2] === key), MOST = 12;
  if (!own.length) return h("p", { class: "muted" }, "It does not exist at this point.");
  const above = [...new Set(own.flatMap((change) => ledger.referents(change, seq).map((it) => it.key)).filter(Boolean))];
  const ids = new Set(own.map((change) => change[1]));
  const below = [...new Set(world.filter((change) => (change[3] || []).some(([, id]) => ids.has(id))).map((change) => change[2]))];
  const shown = (list) => list.slice(0, MOST);
  const columns = Math.max(1, shown(above).length, shown(below).length), width = 134, whole = columns * width;
  const keys = [...shown(above), key, ...shown(below)].filter((it, place, all) => all.indexOf(it) === place), names = keys.map((it) => ledger.keys[it - 1]);
  const spot = new Map();
  const place = (list, y) => list.forEach((it, at) => { if (!spot.has(it)) spot.set(it, [(whole / (list.length + 1)) * (at + 1), y]); });
  place([key], 90); place(shown(above), 14); place(shown(below), 166);
  const layout = { width: whole, height: 180, nodes: keys.map((it) => [...spot.get(it), 120]), edges: [] };
  const join = (from, to) => layout.edges.push([keys.indexOf(from), keys.indexOf(to), [[spot.get(from)[0], spot.get(from)[1] + 13], [spot.get(to)[0], spot.get(to)[1] - 13]]]);
  shown(above).forEach((it) => it !== key && join(it, key)); shown(below).forEach((it) => it !== key && join(key, it));
  const more = above.length + below.length - shown(above).length - shown(below).length;
  return h("div", { class: "large card", tabindex: "0", role: "region", "aria-label": "graph" }, graph({ names, layout, picture: { nodes: keys.map((_, at) => [at, keys[at] === key ? "c" : "k", 1]), edges: layout.edges.map((_, at) => [at, "refs", false]) }, scale: 1, label: `what ${ledger.keys[key - 1]} refers to, and what refers to it`, pick: (at) => pick(keys[at]) }),
    more > 0 && h("p", { class: "muted small" }, `and ${count(more)} more`));
}
