const CHANGES = {
  a: { name: "added", sign: "+" }, c: { name: "changed", sign: "~" }, r: { name: "replaced", sign: "±" },
  d: { name: "removed", sign: "−" }, k: { name: "kept", sign: "" }, x: { name: "not there", sign: "×" },
};
const EDGES = { refs: "", pinned_refs: "pinned", depends_on: "order", triggered_by: "trigger", triggered_by_label: "trigger" };
const NODE = 26;
let drawings = 0;

// A smooth line through points that a layout gives.
function path(points) {
  if (points.length < 2) return "";
  let text = `M${points[0][0]} ${points[0][1]}`;
  for (let at = 1; at < points.length - 1; at++) {
    const [x, y] = points[at], [nx, ny] = points[at + 1];
    text += at === points.length - 2 ? `Q${x} ${y} ${nx} ${ny}` : `Q${x} ${y} ${(x + nx) / 2} ${(y + ny) / 2}`;
  }
  return points.length === 2 ? text + `L${points[1][0]} ${points[1][1]}` : text;
}

function node(name, x, y, width, change, options) {
  const kind = change[0], failed = change.includes("!"), { sign } = CHANGES[kind];
  const round = { a: NODE / 2, c: 6, r: 4, d: 3, k: 3, x: 3 }[kind];
  const left = x - width / 2, top = y - NODE / 2;
  const box = (dx, dy) => s("rect", { x: left + dx, y: top + dy, width, height: NODE, rx: round });
  const words = `${name}: ${CHANGES[kind].name}${failed ? ", an operation failed" : ""}${options.off ? `, expected ${options.off}` : ""}${options.objects > 1 ? `, ${options.objects} objects` : ""}`;
  return s("g", { class: `node ${kind}${options.pick ? " pick" : ""}`, onclick: options.pick, "data-name": name },
    s("title", {}, words),
    options.off && s("rect", { class: "off", x: left - 4, y: top - 4, width: width + 8, height: NODE + 8, rx: round + 4 }),
    kind === "r" && box(4, -4), box(0, 0),
    sign && s("text", { class: "sign", x: left + 11, y: y + 4.5 }, sign),
    s("text", { class: "name", x: x + (sign ? 6 : 0), y: y + 4.5 }, shortened(name, 14)),
    (options.off || failed) && s("text", { class: "off-mark", x: left + width + 7, y: top + 3 }, options.off ? "≠" : "!"),
    options.objects > 1 && s("text", { class: "off-mark", x: left + width + 9, y: y + NODE / 2 + 6 }, `×${options.objects}`));
}

// What a picture shows, in words.
function graphWords(names, layout, picture) {
  const groups = {};
  for (const [number, change] of picture.nodes) (groups[CHANGES[change[0]].name] = groups[CHANGES[change[0]].name] || []).push(names[number]);
  const nodes = Object.entries(groups).map(([name, list]) => `${name}: ${list.join(", ")}`).join("; ");
  const edges = picture.edges.filter((edge) => !edge[2]).map(([number, kind]) => {
    const ends = layout && layout.edges[number];
    return ends ? `${names[ends[1]]} depends on ${names[ends[0]]} by ${kind}` : "";
  }).filter(Boolean).join("; ");
  return (nodes || "nothing is there") + (edges ? ". " + edges : "");
}

// A graph in its layout. `expected` is the picture that it should be like.
function graph({ names, layout, picture, expected, scale, label, pick }) {
  const id = `drawing-${++drawings}`, margin = 14;
  const width = Math.max(layout.width, 40) + 2 * margin, height = Math.max(layout.height, NODE) + 2 * margin;
  const should = new Map((expected ? expected.nodes : []).map(([number, change]) => [number, change[0]]));
  const arrow = s("marker", { id: id + "-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: 7, markerHeight: 7, orient: "auto" },
    s("path", { class: "head-of", d: "M0 0 8 4 0 8z" }));
  const svg = s("svg", { role: "img", "aria-labelledby": `${id}-title ${id}-words`, viewBox: `${-margin} ${-margin} ${width} ${height}`,
    width: Math.round(width * scale), height: Math.round(height * scale) },
    s("title", { id: id + "-title" }, label), s("desc", { id: id + "-words" }, graphWords(names, layout, picture)), s("defs", {}, arrow));
  const there = new Map(picture.nodes.map((entry) => [entry[0], entry]));
  for (const [number, kind, going] of picture.edges) {
    const [from, to, points] = layout.edges[number] || [];
    if (!points || !there.has(from) || !there.has(to)) continue;
    svg.append(s("path", { class: `edge ${EDGES[kind] || ""} ${going ? "going" : ""}`, d: path(points), "marker-end": `url(#${id}-arrow)` },
      s("title", {}, `${names[to]} depends on ${names[from]} by ${kind}`)));
  }
  for (const [number, change, objects] of picture.nodes) {
    const [x, y, nodeWidth] = layout.nodes[number];
    const due = should.get(number);
    let off = null;
    if (expected) {
      const same = due === change[0] || (due === undefined && change[0] === "x");
      if (!same) off = due ? CHANGES[due].name : "nothing";
    }
    svg.append(node(names[number], x, y, nodeWidth, change, { off, objects, pick: pick && (() => pick(number)) }));
  }
  if (expected) for (const [number, change] of expected.nodes) {
    if (there.has(number) || change[0] === "d" || change[0] === "x") continue;
    const [x, y, nodeWidth] = layout.nodes[number];
    svg.append(node(names[number], x, y, nodeWidth, "x", { off: CHANGES[change[0]].name, objects: 0 }));
  }
  return svg;
}

// Whether what was observed differs from what was expected.
function differs(stage) {
  const should = new Map(stage.expected.nodes.map(([number, change]) => [number, change[0]]));
  const is = new Map(stage.observed.nodes.map(([number, change]) => [number, change[0]]));
  for (const [number, change] of is) if ((should.get(number) || "x") !== change) return true;
  for (const [number, change] of should) if (!is.has(number) && change !== "d" && change !== "x") return true;
  return stage.observed.nodes.some((entry) => entry[2] > 1);
}

function graphLegend() {
  const sample = (kind) => {
    const svg = s("svg", { width: 52, height: 34, viewBox: "-4 -8 60 38", "aria-hidden": "true" });
    svg.append(node("r1", 26, 13, 46, kind, {}));
    return h("span", {}, svg, CHANGES[kind].name);
  };
  const line = (kind, name) => h("span", {}, s("svg", { width: 34, height: 8, "aria-hidden": "true" }, s("path", { class: `edge ${kind}`, d: "M1 4H33" })), name);
  return h("div", { class: "legend" }, ["k", "a", "c", "r", "d"].map(sample), line("", "refs"), line("pinned", "pinned_refs"), line("order", "depends_on"), line("trigger", "triggered_by"));
}
