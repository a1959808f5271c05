let current = null;
function leaveCase() { if (current && current.watch) current.watch.disconnect(); current = null; }

function showCase(main, id, stageName, seq) {
  if (!current || current.id !== id) {
    leaveCase();
    const detail = data(id);
    detail.place = id;
    current = { id, detail, byTime: false, whole: false };
    buildCase(main);
    scrollTo({ top: 0, behavior: "instant" });
    main.focus({ preventScroll: true });
  }
  const { stages } = current.detail;
  const chosen = stages.find((stage) => stage.name === stageName) || stages.find((stage) => stage.findings.some((finding) => !finding.known))
    || stages.find((stage) => stage.findings.length) || stages[0];
  current.seq = seq;
  const changed = current.stage !== chosen;
  current.stage = chosen;
  drawTimeline();
  if (chosen) drawStage(changed);
  if (stageName && seq) { const at = document.getElementById("chosen"); if (at) at.scrollIntoView({ block: "nearest" }); }
}
const select = (stage, seq) => { location.hash = `${current.id}/${stage}/${seq}`; };

function buildCase(main) {
  const { detail, id } = current, reduced = id.startsWith("reduced/");
  const row = !reduced && campaign.rows.find((it) => it.c === detail.case && it.v === detail.variant);
  const shown = campaign.rows.filter((it) => !it.d), at = row ? shown.indexOf(row) : -1;
  const title = reduced ? `Reduced case ${id.slice(8)}` : `Case ${detail.case}, variant ${detail.variant}`;
  document.title = `${title} · equiform`;
  const step = (to, name) => (shown[to] && at >= 0 ? h("a", { href: "#" + place(shown[to]) }, name) : h("span", { class: "muted" }, name));
  const groups = new Map();
  for (const stage of detail.stages) for (const finding of stage.findings) {
    const key = JSON.stringify([finding.oracle, finding.kind, finding.known]);
    if (!groups.has(key)) groups.set(key, { finding, stages: [], times: 0 });
    const group = groups.get(key);
    group.times++;
    if (!group.stages.includes(stage.name)) group.stages.push(stage.name);
  }
  const grouped = [...groups.values()];
  const folder = `${campaign.folder}/${id}`;
  current.film = h("div", { class: "film", role: "tablist", "aria-label": "stages" });
  current.lanes = h("div", { class: "scroll-x" });
  current.panel = h("div", { id: "stage", role: "tabpanel", tabindex: "-1" });
  const by = (name, value) => h("button", { "aria-pressed": String(current.byTime === value), onclick: (event) => {
    current.byTime = value;
    for (const button of event.target.parentElement.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button === event.target));
    drawTimeline(); drawStage(false);
  } }, name);
  put(main, 
    h("nav", { class: "crumbs", "aria-label": "Where this is" }, h("span", {}, h("a", { href: "#" }, "Overview"), " / ", reduced ? "reduced" : h("a", { href: `#case-${pad(detail.case)}` }, `case ${detail.case}`)),
      at >= 0 && h("span", { class: "row" }, step(at - 1, "← previous"), step(at + 1, "next →"))),
    h("h2", { style: { "font-size": "1.45rem" } }, title, " ", row && h("span", { class: `badge v-${row.r}` }, verdict(row.r)), row && row.g !== undefined && h("span", { class: "chip" }, row.g ? "came again" : "did not come again")),
    h("dl", { class: "facts", style: { "margin-bottom": "1rem" } }, [["workflow", row && campaign.workflows[row.w]], ["resources", row && row.n], ["seed", detail.seed]].filter((fact) => fact[1] || fact[1] === 0).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, String(value)))),
      h("div", {}, h("dt", {}, "the same as text"), h("dd", {}, copyable(`equiform show ${folder}`)))),
    row && row.r === "i" && h("p", { class: "note" }, foreign(row.x)), row && row.e && h("p", { class: "note" }, foreign(row.e)), detail.broken && h("p", { class: "note" }, foreign(detail.broken)),
    row && row.o && h("p", { class: "note" }, "On a warm engine alone: ", foreign(row.o.join("; "))),
    detail.findings.length > 0 && h("section", { "aria-label": "findings about the whole variant" }, detail.findings.map(found)),
    grouped.length > 0 && h("section", { "aria-label": "findings" }, grouped.map(({ finding, stages, times }) => h("div", { class: `found ${finding.known ? "t-k" : "t-f"}` },
      h("p", {}, finding.known ? verdict("k", "known: " + finding.known) : verdict("f", finding.oracle), " ", h("b", {}, foreign(finding.known ? `${finding.oracle}: ${finding.kind}` : finding.kind)),
        h("span", { class: "small" }, " in ", stages.map((name, number) => [number ? ", " : "", h("a", { href: `#${id}/${name}` }, name)]))),
      h("p", { class: "muted small" }, foreign(finding.text), times > 1 && ` … and ${count(times - 1)} more`)))),
    h("section", { "aria-labelledby": "film-title" }, h("h2", { id: "film-title" }, "Stages"), h("p", { class: "lead" }, "What each stage should have left, above what it did leave. A node has the same place everywhere."), graphLegend(), current.film,
      detail.not_reached.length > 0 && h("p", { class: "muted small" }, `Not reached: ${detail.not_reached.join(", ")}.`)),
    h("section", { "aria-labelledby": "lanes-title" }, h("div", { class: "row", style: { "justify-content": "space-between" } }, h("h2", { id: "lanes-title" }, "Timeline"), h("div", { class: "row", role: "group", "aria-label": "axis" }, by("by order", false), by("by time", true))),
      timelineLegend(), h("div", { class: "card" }, current.lanes)),
    current.panel,
    h("details", {}, h("summary", { class: "small" }, "The program as a term"), h("p", { class: "mono small", dir: "ltr" }, detail.term[0], detail.term[1] ? `… (${count(detail.term[1])} bytes more)` : "")));
  buildFilm();
  current.watch = new ResizeObserver(() => { if (current && current.width !== current.lanes.clientWidth) { drawTimeline(); drawStage(false); } });
  current.watch.observe(current.lanes);
}

function buildFilm() {
  const { detail, id } = current, layout = detail.layout;
  const scale = layout ? Math.max(0.5, Math.min(0.82, 300 / Math.max(layout.width, 1))) : 1;
  current.tabs = detail.stages.map((stage) => {
    const off = differs(stage), fresh = stage.findings.some((finding) => !finding.known);
    const picture = (which, other) => (layout ? graph({ names: detail.names, layout, picture: stage[which], expected: other, scale, label: `${stage.name}, ${which}` })
      : h("p", { class: "small muted" }, `${stage[which].nodes.length} resources, too many to be drawn`));
    return h("button", { role: "tab", "data-stage": stage.name, "aria-controls": "stage", onclick: () => { location.hash = `${id}/${stage.name}`; } },
      h("span", { class: "head" }, stage.name, fresh ? verdict("f", " ") : stage.findings.length ? verdict("k", " ") : null),
      h("span", { class: "which" }, "expected"), picture("expected"),
      h("span", { class: `which${off ? " differs" : ""}` }, off ? "observed, differs" : "observed"), picture("observed", stage.expected));
  });
  put(current.film, ...current.tabs);
  current.film.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = current.tabs.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = current.tabs[(at + step + current.tabs.length) % current.tabs.length];
    next.focus(); next.click();
  });
}

function drawTimeline() {
  const { detail, lanes } = current;
  current.width = lanes.clientWidth;
  const stages = detail.stages.filter((stage) => stage.did.length);
  if (!stages.length) { put(lanes, h("p", { class: "muted" }, "The ledger has no operation.")); return; }
  const left = lanes.scrollLeft;
  put(lanes, timeline({ names: detail.names, stages, byTime: current.byTime, width: lanes.clientWidth || 900, at: { stage: current.stage && current.stage.name, seq: current.seq }, select, label: "all operations of this variant" }));
  lanes.scrollLeft = left;
}

function drawStage(changed) {
  const { detail, stage, panel, seq, id } = current, layout = detail.layout;
  if (!stage) return;
  for (const tab of current.tabs) {
    const is = tab.dataset.stage === stage.name;
    tab.setAttribute("aria-selected", String(is));
    tab.tabIndex = is ? 0 : -1;
    if (is && changed) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  const zoom = h("div", { class: "scroll-x card" }), scale = layout ? Math.min(1, Math.max(0.6, 520 / Math.max(1, layout.width))) : 1;
  const picture = (which, other, title) => h("figure", {}, h("figcaption", {}, title), h("div", { class: "large card", tabindex: "0", role: "region", "aria-label": title }, layout
    ? graph({ names: detail.names, layout, picture: stage[which], expected: other, scale, label: `${stage.name}, ${which}` }) : h("p", { class: "muted" }, graphWords(detail.names, layout, stage[which]))));
  const words = h("details", {}, h("summary", { class: "small" }, "The same in words"), h("p", { class: "small" }, h("b", {}, "Expected: "), foreign(graphWords(detail.names, layout, stage.expected))), h("p", { class: "small" }, h("b", {}, "Observed: "), foreign(graphWords(detail.names, layout, stage.observed))));
  const wholes = h("button", { "aria-pressed": String(current.whole), onclick: () => { current.whole = !current.whole; drawStage(false); } }, "whole program");
  panel.setAttribute("aria-label", stage.name);
  put(panel, 
    h("section", {}, h("h2", {}, "Stage ", stage.name, " ", h("a", { class: "small", href: `#${id}/${stage.name}`, "aria-label": "link to this stage" }, "#")),
      h("p", { class: "lead" }, h("code", {}, foreign(stage.command)), ` · ${exitWords(stage)} · ${duration(stage.milliseconds)}${stage.warm ? " · in a warm process" : ""}${stage.repeats ? ` · repeats ${stage.repeats}` : ""}${stage.lock_left ? " · left the state locked" : ""}${stage.failures.length ? ` · the provider was told to fail ${stage.failures.join(", ")}` : ""}`),
      stage.findings.map(found)),
    h("section", { class: "pair", "aria-label": "graphs" }, picture("expected", null, "Expected after it"), picture("observed", stage.expected, "Observed after it")), words,
    h("section", { "aria-label": "operations" }, h("h3", { style: { margin: "1.2rem 0 .5rem" } }, "Operations"), stage.did.length > 0 && zoom, h("div", { style: { margin: ".7rem 0" } }, chosenView(detail, stage, seq)),
      h("div", { class: "card" }, operationsTable(detail, stage)), stage.left_out > 0 && h("p", { class: "muted small" }, `${plural(stage.left_out, "operation")} more are left out.`)),
    h("section", { "aria-label": "program" }, h("div", { class: "row", style: { margin: "0 0 .5rem" } }, h("h3", {}, "Program"), stage.program && wholes), programView(stage.program, current.whole)),
    h("section", { "aria-label": "ledger" }, h("h3", { style: { margin: "0 0 .5rem" } }, "Ledger"), ledgerView(detail, stage, seq)));
  if (stage.did.length) zoom.append(timeline({ names: detail.names, stages: [stage], byTime: current.byTime, width: (zoom.clientWidth || 900) - 36, at: { stage: stage.name, seq }, select, label: `operations of ${stage.name}` }));
}

start();
