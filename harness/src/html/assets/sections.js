const place = (row) => `case-${pad(row.c)}/variant-${pad(row.v)}`;
const tallied = (rows) => rows.reduce((sum, row) => ({ ...sum, [row.r]: sum[row.r] + 1 }), { p: 0, f: 0, k: 0, i: 0 });

function verdictsSection(campaign, choose) {
  const counts = { ...tallied(campaign.rows), n: campaign.not_run };
  const all = Object.values(counts).reduce((sum, value) => sum + value, 0);
  const notAgain = campaign.rows.filter((row) => row.r === "f" && row.g === false).length;
  const warm = campaign.rows.filter((row) => row.o).length;
  const cell = (result) => h("button", { onclick: () => choose(result), disabled: result === "n" || !counts[result] },
    h("span", { class: "figure" }, count(counts[result])), verdict(result, RESULTS[result].name),
    result === "f" && notAgain > 0 && h("span", { class: "small muted" }, ` ${count(notAgain)} not again`));
  const shown = ["p", "f", "k", "i"].concat(counts.n ? ["n"] : []);
  return section("verdicts", `${plural(all, "variant")}: ${counts.f ? count(counts.f) + " failed" : counts.n ? count(counts.n) + " not run" : "nothing new was found"}`,
    "Each variant is a program, deployed batch by batch and judged by the provider's ledger. Known: all that was found is a listed engine bug.",
    h("div", { class: "card" },
      parts("verdicts", shown.map((result) => ({ name: RESULTS[result].name, value: counts[result], class: `f-${result}` }))),
      h("div", { class: "counts" }, shown.map(cell)),
      warm > 0 && h("p", { class: "small muted" }, `In ${count(warm)} of them a warm engine showed something that fresh processes do not show.`)));
}

function findingsSection(campaign, narrow) {
  const groups = campaign.signatures.map(([oracle, kind, known, text]) => ({ oracle, kind, known, text, rows: [] }));
  const unsure = [];
  for (const row of campaign.rows) {
    for (const number of row.f || []) groups[number].rows.push(row);
    if (row.r === "i") unsure.push(row);
  }
  const fresh = groups.filter((group) => !group.known).sort((a, b) => b.rows.length - a.rows.length);
  const names = new Map(campaign.known.map(([name, text, page]) => [name, { text, page }]));
  const byName = new Map();
  for (const group of groups.filter((group) => group.known)) byName.set(group.known, (byName.get(group.known) || []).concat(group));
  const links = (rows) => {
    const shown = rows.filter((row) => !row.d).slice(0, 6);
    return h("div", { class: "links" }, shown.map((row) => h("a", { href: "#" + place(row) }, `case ${row.c} variant ${row.v}`)));
  };
  const all = (rows, text) => h("button", { onclick: () => narrow(text) }, `list ${rows.length === 1 ? "it" : "all " + count(rows.length)}`);
  const reduced = (group) => campaign.reduced.filter((it) => it.signature.oracle === group.oracle && it.signature.kind === group.kind)
    .map((it) => reducedLine(it));
  const cards = fresh.map((group) => h("div", { class: "group t-f" },
    h("div", { class: "figure" }, count(group.rows.length), h("small", {}, group.rows.length === 1 ? " variant" : " variants")),
    h("div", {}, h("h3", {}, h("span", { class: "chip" }, group.oracle), " ", foreign(group.kind)),
      h("p", { class: "small muted" }, foreign(group.text || "")), reduced(group)),
    h("div", { class: "row" }, links(group.rows), all(group.rows, group.kind))));
  for (const [name, list] of byName) {
    const rows = [...new Set(list.flatMap((group) => group.rows))];
    const { text, page } = names.get(name) || {};
    cards.push(h("div", { class: "group t-k" },
      h("div", { class: "figure" }, count(rows.length), h("small", {}, rows.length === 1 ? " variant" : " variants")),
      h("div", {}, h("h3", {}, verdict("k", "known"), " ", foreign(name)), text && h("p", { class: "small" }, foreign(text)),
        h("p", { class: "small muted" }, "seen as ", list.map((group, at) => [at ? ", " : "", h("span", { class: "chip" }, group.oracle), " ", foreign(group.kind)]), page && [" · ", h("code", {}, foreign(page))])),
      h("div", { class: "row" }, links(rows), all(rows, name))));
  }
  if (unsure.length) cards.push(h("div", { class: "group t-i" },
    h("div", { class: "figure" }, count(unsure.length), h("small", {}, unsure.length === 1 ? " variant" : " variants")),
    h("div", {}, h("h3", {}, verdict("i", "could not be judged")), h("p", { class: "small muted" }, foreign(unsure[0].x || ""))),
    h("div", { class: "row" }, links(unsure), all(unsure, "inconclusive"))));
  const orphans = campaign.reduced.filter((it) => !fresh.some((group) => group.oracle === it.signature.oracle && group.kind === it.signature.kind));
  return section("findings", "What was found", `On ${campaign.engine}, grouped by oracle and kind of difference. A variant may stand in several groups.`,
    campaign.notes.map((note) => h("p", { class: "note" }, foreign(note))),
    cards.length ? h("div", { class: "groups" }, cards) : h("div", { class: "card" }, h("p", {}, verdict("p", "No oracle found anything."), " What was not exercised is not proven by that: see ", h("a", { href: "#exercised", onclick: (event) => { event.preventDefault(); jump("exercised"); } }, "what was exercised"), ".")),
    orphans.length > 0 && h("div", { class: "card small" }, h("h3", {}, "Reduced cases"), orphans.map(reducedLine)));
}

function reducedLine(it) {
  const sizes = ["resources", "edges", "batches", "commands"].filter((what) => what in it.before && what in it.after).map((what) => `${what} ${it.before[what]} → ${it.after[what]}`);
  return h("p", { class: "small" }, "reduced case ", it.shown ? h("a", { href: `#reduced/${it.name}` }, foreign(it.name)) : foreign(it.name),
    ` of ${it.from}: ${sizes.join(", ")} (${plural(it.attempts, "attempt")}, ${duration(it.seconds * 1000)})`,
    it.flaky_rate !== null && it.flaky_rate !== undefined && `, shows in ${Math.round(it.flaky_rate * 100)} % of runs`,
    it.bundle && [", bundle in ", h("code", {}, foreign(`reduced/${it.name}/bundle`))]);
}

function oraclesSection(campaign) {
  const counts = new Map(campaign.oracles.map(([name]) => [name, [0, 0]]));
  for (const row of campaign.rows) for (const known of [false, true]) {
    const seen = new Set((row.f || []).map((number) => campaign.signatures[number]).filter((it) => Boolean(it[2]) === known).map((it) => it[0]));
    for (const oracle of seen) { if (!counts.has(oracle)) counts.set(oracle, [0, 0]); counts.get(oracle)[known ? 1 : 0]++; }
  }
  const about = new Map(campaign.oracles);
  return section("oracles", "By oracle", `Variants in which each oracle saw something on ${campaign.engine}.`, h("div", { class: "card" },
    table("oracles", ["oracle", { text: "what must hold", class: "narrow-hide" }, { text: "new", class: "num" }, { text: "known", class: "num" }],
      [...counts].map(([name, [fresh, known]]) => [h("code", {}, name), h("span", { class: "muted" }, about.get(name) || ""),
        fresh ? h("b", { class: "v-f" }, count(fresh)) : h("span", { class: "muted" }, "0"), known ? h("b", { class: "v-k" }, count(known)) : h("span", { class: "muted" }, "0")]), true)));
}

function timeSection(campaign) {
  const figures = [];
  if (campaign.run && campaign.run[0] > 0) {
    const [seconds, variants, jobs] = campaign.run, share = variants / Math.max(1, campaign.rows.length);
    figures.push([count(Math.round((variants / seconds) * 60)), "variants a minute"], [count(Math.round((campaign.applies * share / seconds) * 60)), "applies a minute"],
      [duration(seconds * 1000), `by the clock, ${plural(jobs, "job")}`]);
  }
  figures.push([count(campaign.applies), "applies and destroys"], [count(campaign.commands), "commands in all"]);
  const names = { engine: "engine", judging: "judging", keeping: "keeping evidence", generating: "generating", rendering: "rendering" };
  const spent = Object.entries(names).filter(([kind]) => campaign.spent[kind]).map(([kind, name], at) => ({ name, value: campaign.spent[kind], told: duration(campaign.spent[kind]), class: `f-${at + 1}` }));
  const total = spent.reduce((sum, part) => sum + part.value, 0);
  const slowest = campaign.stages.slice().sort((a, b) => b[2] - a[2]);
  const most = slowest.length ? slowest[0][2] : 1;
  return section("time", "Rate and time", "Where the time went, summed over all jobs. The engine's time includes that of the provider it calls.",
    h("div", { class: "card" }, h("div", { class: "figures" }, figures.map(([figure, name]) => h("div", {}, h("b", {}, figure), h("span", {}, name)))),
      spent.length > 0 && h("div", { style: { "margin-top": "1rem" } }, parts("time", spent), h("p", { class: "small muted" }, spent.map((part) => `${part.name} ${(100 * part.value / total).toFixed(1)} %`).join(" · "),
        campaign.spent.provider !== undefined && ` · the provider computed for ${duration(campaign.spent.provider)} of it`)),
      slowest.length > 0 && h("details", { style: { "margin-top": ".8rem" } }, h("summary", {}, "By kind of stage"),
        table("engine's time by kind of stage", ["stage", { text: "commands", class: "num" }, { text: "mean", class: "num" }, { text: "all", class: "num" }, { text: "", class: "narrow-hide" }],
          slowest.map(([kind, commands, took]) => [kind, count(commands), duration(took / Math.max(1, commands)), duration(took), meter(took / most)]), true))));
}

function exercisedSection(campaign) {
  const { rules, edges, replacements, workflows, changes, checks, not_exercised, left_out } = campaign.exercised;
  const dash = (shown, value) => (shown ? count(value) : h("span", { class: "muted", "aria-label": "does not apply" }, "–"));
  const heads = ["rule", { text: "exercised", class: "num" }, { text: "kept", class: "num" }, { text: "adjacent", class: "num" }, { text: "overlap", class: "num" }, { text: "reversed", class: "num" }];
  const lines = (list, prefix) => list.map((it) => [h("span", { title: it.about }, prefix, it.name, it.about && h("span", { class: "unseen" }, ": " + it.about)),
    it.exercised ? count(it.exercised) : h("b", { class: "v-k" }, "0"), dash(true, it.kept), dash(it.columns === "o", it.adjacent), dash(it.columns !== "s", it.overlapped), dash(it.columns === "o", it.reversed)]);
  const bars = (title, list) => list.length > 0 && h("div", { class: "card" }, h("h3", {}, title), h("div", { class: "hbars" },
    table(title, [{ text: "what" }, { text: "times", class: "num" }, { text: "" }], list.map(([name, times]) => [name, count(times), meter(times / list[0][1])]), true)));
  return section("exercised", "What was exercised", "How often each rule of the model was exercised. A clean run says nothing about a rule that was not exercised. Adjacent: nothing else had ended in between, so without the rule the two would have overlapped.",
    h("p", { class: not_exercised.length ? "note" : "small muted" }, not_exercised.length ? `Not exercised: ${not_exercised.join(", ")}.` : "Every rule, kind of edge and order of replacement was exercised."),
    left_out.length > 0 && h("p", { class: "note" }, `Rules that were not judged by: ${left_out.join(", ")}.`),
    h("div", { class: "card" }, table("how often rules were exercised", heads, [...lines(rules, ""), ...lines(edges, "edges by "), ...lines(replacements, "replacement, ")], true)),
    h("div", { class: "columns", style: { "margin-top": "1rem" } }, bars("Workflows, in variants", workflows), bars("Changes", changes), bars("Checks", checks)));
}

function diversitySection(campaign) {
  return section("diversity", "Diversity", "How many of the things that were tried differ from each other.",
    h("div", { class: "card" }, table("diversity", ["what", { text: "different", class: "num" }, { text: "of", class: "num" }, { text: "", class: "narrow-hide" }, { text: "which is", class: "narrow-hide" }],
      campaign.diversity.map((it) => [it.what, count(it.different), count(it.all), meter(it.different / Math.max(1, it.all)), h("span", { class: "muted" }, it.about)]), true)));
}
