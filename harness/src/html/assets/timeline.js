const SIGNS = { "+": { name: "create", past: "created" }, "~": { name: "update", past: "updated" }, "-": { name: "delete", past: "deleted" } };
const opName = (did, names) => `${SIGNS[did.sign].name} ${names[did.node]}`;
function spanWords(did) {
  const end = did.end === null ? "never ended" : `to ${did.end}${did.took_effect ? "" : ", without effect"}`;
  return `seq ${did.begin} ${end}`;
}

// Milliseconds with their fractions, which dates of scripts do not have.
const moment = (time) => Date.parse(time.slice(0, 19) + "Z") + 1000 * parseFloat("0" + time.slice(19, -1));
// When each operation began and ended: a lane for each resource, a bar for each operation.
function timeline({ names, stages, byTime, width, at, select, label }) {
  const LANE = 28, HEAD = 26, FOOT = 18, LEFT = Math.min(130, 26 + 7.4 * Math.max(2, ...stages.flatMap((stage) => stage.did.map((did) => Math.min(14, names[did.node].length)))));
  const lanes = [...new Set(stages.flatMap((stage) => stage.did.map((did) => did.node)))];
  const lane = new Map(lanes.map((number, place) => [number, place]));
  const times = new Map(stages.flatMap((stage) => stage.ledger.map(([seq, time]) => [seq, moment(time)])));
  // Positions: the order of begins and ends, or the clock.
  const columns = stages.map((stage) => {
    const moments = [...new Set(stage.did.flatMap((did) => (did.end === null ? [did.begin] : [did.begin, did.end])))].sort((a, b) => a - b);
    const clock = moments.map((seq) => times.get(seq));
    const usable = byTime && clock.length > 1 && clock.every((time) => time !== undefined) && clock[clock.length - 1] > clock[0];
    const places = moments.map((seq, place) => (usable ? ((clock[place] - clock[0]) / (clock[clock.length - 1] - clock[0])) * (moments.length - 1) : place));
    return { stage, moments, places: new Map(moments.map((seq, place) => [seq, places[place]])), size: Math.max(1, moments.length) };
  });
  const GAP = stages.length > 1 ? 1.2 : 0.5;
  const units = columns.reduce((sum, column) => sum + column.size + GAP, 0);
  const unit = Math.max(stages.length > 1 ? 9 : 16, (width - LEFT - 14) / units);
  const whole = LEFT + units * unit + 12, height = HEAD + lanes.length * LANE + FOOT;
  const id = `drawing-${++drawings}`;
  const violations = stages.flatMap((stage) => stage.violated.map(([first, second, , rule]) => `${opName(stage.did[first], names)} had not ended when ${opName(stage.did[second], names)} began: ${rule}`));
  const words = stages.flatMap((stage) => stage.did.map((did) => `${stage.name}: ${opName(did, names)}, ${spanWords(did)}`)).join("; ");
  const head = (kind) => s("marker", { id: `${id}-${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerUnits: "userSpaceOnUse", markerWidth: 9, markerHeight: 9, orient: "auto" }, s("path", { class: `${kind}-head`, d: "M0 0 8 4 0 8z" }));
  const svg = s("svg", { role: "group", "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-words`, width: whole, height },
    s("title", { id: id + "-title" }, label), s("desc", { id: id + "-words" }, (violations.length ? violations.join("; ") + ". " : "") + (words || "no operation")),
    s("defs", {}, head("wrong"), head("must")));
  lanes.forEach((number, place) => {
    const y = HEAD + place * LANE + LANE / 2;
    svg.append(s("path", { class: "lane", d: `M${LEFT} ${y}H${whole}` }), s("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, s("title", {}, names[number]), shortened(names[number], 14)));
  });
  let x = LEFT + unit * GAP / 2;
  const spots = new Map();
  for (const column of columns) {
    const { stage, moments } = column, start = x;
    if (stages.length > 1) svg.append(
      s("rect", { class: "band", x: start - unit * 0.4, y: 0, width: (column.size - 1) * unit + unit * 1.3, height: height - FOOT + 4, rx: 5 }),
      s("text", { class: `band-name${stage.findings.some((finding) => !finding.known) ? " found" : ""}`, x: start - unit * 0.4 + 5, y: 15 }, shortened(stage.name, Math.max(2, Math.floor((column.size * unit + unit * .4) / 6.6)))));
    else {
      let last = -99;
      for (const seq of moments) {
        const tick = start + column.places.get(seq) * unit + 4;
        if (tick - last < 14 + 7 * String(seq).length) continue;
        last = tick;
        svg.append(s("text", { class: "tick", x: tick, y: height - 4, "text-anchor": "middle" }, seq));
      }
    }
    const bars = stage.did.map((did) => {
      const from = start + column.places.get(did.begin) * unit;
      const to = did.end === null ? start + column.size * unit : start + column.places.get(did.end) * unit;
      const y = HEAD + lane.get(did.node) * LANE + 4;
      return { did, from, to: Math.max(to + unit * 0.42, from + 9), y, middle: y + (LANE - 8) / 2 };
    });
    bars.forEach((bar, place) => spots.set(`${stage.name}/${bar.did.begin}`, bar) && svg.append(drawBar(bar, stage, place)));
    for (const [first, second, , rule] of stage.violated) svg.append(arrow(bars[first], bars[second], "wrong", `${opName(bars[first].did, names)} had not ended when ${opName(bars[second].did, names)} began: ${rule}`));
    if (at && at.stage === stage.name) {
      const chosen = stage.did.findIndex((did) => did.begin === at.seq || did.end === at.seq);
      if (chosen >= 0) for (const [first, second, rule] of duePairs(stage, chosen)) {
        if (!stage.violated.some((pair) => pair[0] === first && pair[1] === second)) svg.append(arrow(bars[first], bars[second], "must", rule));
      }
    }
    x += (column.size + GAP) * unit;
  }
  // From the end of the first bar to the beginning of the second, leaving and arriving upright.
  function arrow(from, to, kind, text) {
    const half = (LANE - 8) / 2, down = to.middle >= from.middle ? 1 : -1, same = to.middle === from.middle;
    const x1 = from.to - 3, x2 = to.from + 4, y1 = from.middle + (same ? -1 : down) * half, y2 = to.middle - (same ? 1 : down) * (half + 1);
    const bend = same ? -16 : down * Math.max(14, Math.abs(y2 - y1) * 0.55);
    return s("path", { class: kind, d: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${same ? y2 + bend : y2 - bend} ${x2} ${y2}`, "marker-end": `url(#${id}-${kind})` }, s("title", {}, text));
  }
  function drawBar(bar, stage) {
    const { did } = bar, chosen = at && at.stage === stage.name && (at.seq === did.begin || at.seq === did.end);
    const text = `${opName(did, names)}, ${spanWords(did)}${did.was_due ? "" : ", was not due"}`;
    const open = () => select(stage.name, did.begin);
    return s("g", { class: `op ${SIGNS[did.sign].name}${did.took_effect ? "" : " failed"}${chosen ? " at" : ""}`, tabindex: "0", role: "button", "aria-label": `${stage.name}: ${text}`,
      onclick: open, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); open(); } } },
      s("title", {}, text), s("rect", { x: bar.from, y: bar.y, width: bar.to - bar.from, height: LANE - 8 }),
      bar.to - bar.from > 11 && s("text", { x: (bar.from + bar.to) / 2, y: bar.middle + 4.5 }, did.sign === "-" ? "−" : did.sign));
  }
  return svg;
}

// The pairs of a stage's order in which an operation takes part, by the places of what was done.
function duePairs(stage, chosen) {
  const place = (due) => stage.did.findIndex((did) => did.sign === stage.due[due][0] && did.node === stage.due[due][1]);
  return stage.pairs.map(([first, second, number, rule]) => [place(first), place(second), `rule ${number}: ${rule}`])
    .filter(([first, second]) => first >= 0 && second >= 0 && (first === chosen || second === chosen));
}

function timelineLegend() {
  const sample = (kind, sign, name) => h("span", {}, s("svg", { width: 30, height: 20, "aria-hidden": "true" },
    s("g", { class: `op ${kind}` }, s("rect", { x: 1, y: 2, width: 28, height: 16 }), s("text", { x: 15, y: 14.5 }, sign))), name);
  const line = (kind, name) => h("span", {}, s("svg", { width: 34, height: 8, "aria-hidden": "true" }, s("path", { class: kind, d: "M1 4H33" })), name);
  return h("div", { class: "legend" }, sample("create", "+", "create"), sample("update", "~", "update"), sample("delete", "−", "delete"),
    sample("create failed", "+", "without effect"), line("wrong", "order not kept"), line("must", "had to wait (of the chosen bar)"));
}
