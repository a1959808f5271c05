const compared = data("overview");
const main = h("main", { id: "main", tabindex: "-1", class: "wide" });
const chosen = { text: "", only: compared.rows.some((row) => row.difference) ? "differ" : "all" };
const caseLink = (row) => `case-${pad(row.case)}/variant-${pad(row.variant)}`;
const short = (title) => title.replace(/^(terraform|tofu)@/, (_, name) => (name === "tofu" ? "tofu " : "tf ")).split(" at ")[0];
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

function groupOf(row, engine) {
  return row.difference ? row.difference.groups.findIndex((group) => group[1].includes(engine)) : -1;
}
function cell(row, engine) {
  const result = row.results[engine] === " " ? "n" : row.results[engine], group = groupOf(row, engine), { page, title } = compared.engines[engine];
  const words = `${title}: ${RESULTS[result].one}${group >= 0 ? `, group ${LETTERS[group]}` : ""}`;
  const inner = [h("span", { class: `verdict v-${result}` }, mark(result)), group >= 0 && h("b", { class: "small" }, " ", LETTERS[group])];
  return page && result !== "n" ? h("a", { href: `${page}#${caseLink(row)}`, title: words, "aria-label": words, tabindex: "-1" }, inner) : h("span", { title: words, role: "img", "aria-label": words }, inner);
}

function verdictsSection() {
  const heads = ["engine", { text: "passed", class: "num" }, { text: "known", class: "num" }, { text: "failed", class: "num" }, { text: "inconclusive", class: "num" }, { text: "" }];
  const rows = compared.engines.map((engine, at) => {
    const tally = { p: 0, k: 0, f: 0, i: 0, " ": 0 };
    for (const row of compared.rows) tally[row.results[at]]++;
    const figure = (result) => (tally[result] ? h("b", { class: result === "p" ? null : `v-${result}` }, count(tally[result])) : h("span", { class: "muted" }, "0"));
    return [engine.page ? h("a", { href: engine.page }, foreign(engine.title)) : foreign(engine.title), figure("p"), figure("k"), figure("f"), figure("i"),
      parts(engine.title, ["p", "f", "k", "i"].map((result) => ({ name: RESULTS[result].name, value: tally[result], class: `f-${result}` })))];
  });
  const differing = compared.rows.filter((row) => row.difference), known = differing.filter((row) => row.difference.known.length);
  const title = compared.compared ? `${plural(compared.compared, "variant")} compared: ${count(differing.length - known.length)} differ, ${count(known.length)} more by known bugs` : "Not compared";
  return section("verdicts", title, "The same cases on each engine, from the oldest version to the newest. Each engine's name leads to the report of its campaign.",
    compared.stopped && h("p", { class: "note" }, foreign(compared.stopped)), h("div", { class: "card" }, table("verdicts by engine", heads, rows, true)));
}

function differencesSection() {
  const differing = compared.rows.filter((row) => row.difference);
  const byWhat = new Map();
  for (const row of differing) {
    const { known, first_in, groups } = row.difference;
    const what = known.length ? known.join(", ") : "new";
    const split = groups.map((group) => group[1].map((engine) => short(compared.engines[engine].title)).join(", ")).join("  |  ");
    const key = JSON.stringify([what, first_in, split]);
    if (!byWhat.has(key)) byWhat.set(key, { what, first_in, split, rows: [] });
    byWhat.get(key).rows.push(row);
  }
  const texts = new Map(compared.known.map(([name, text]) => [name, text]));
  const cards = [...byWhat.values()].sort((a, b) => (a.what === "new" ? -1 : 1) - (b.what === "new" ? -1 : 1) || b.rows.length - a.rows.length).map((group) =>
    h("div", { class: `group ${group.what === "new" ? "t-f" : "t-k"}` }, h("div", { class: "figure" }, count(group.rows.length), h("small", {}, group.rows.length === 1 ? " variant" : " variants")),
      h("div", {}, h("h3", {}, group.what === "new" ? verdict("f", "a difference that no known bug explains") : verdict("k", "known: " + group.what)), group.what !== "new" && h("p", { class: "small" }, foreign(texts.get(group.what) || "")),
        h("p", { class: "small" }, group.first_in.length ? ["another behaviour since ", h("b", {}, foreign(group.first_in.join(" and since ")))] : "no version differs from the one before it: the engines do", h("span", { class: "muted" }, ` · ${group.split}`))),
      h("div", { class: "links" }, group.rows.slice(0, 8).map((row) => h("a", { href: `#${caseLink(row)}` }, `case ${row.case} variant ${row.variant}`)))));
  return section("differences", "Where they differ", "Each difference is reported at the first stage that shows it, because later stages start from different worlds.",
    cards.length ? h("div", { class: "groups" }, cards) : h("div", { class: "card" }, compared.compared ? verdict("p", "They performed the same operations in every variant.") : "This is shown once every engine has run all variants."));
}

const detail = h("div", { "aria-live": "polite" });
function showDifference(row) {
  const { difference } = row;
  put(detail, h("div", { class: "card", id: "difference", style: { "margin-top": ".8rem" } }, h("h3", {}, `Case ${row.case}, variant ${row.variant}`, h("span", { class: "muted" }, ` · ${row.workflow}${difference ? ` · ${difference.stage}` : ""}`)),
    difference ? table("what each group of engines did", ["group", "what it did", "engines"], difference.groups.map(([did, engines], at) => [LETTERS[at], h("code", {}, foreign(did)), foreign(engines.map((engine) => compared.engines[engine].title).join(", "))]), true)
      : h("p", { class: "muted" }, "All engines did the same."),
    h("p", { class: "small" }, compared.engines.map((engine, at) => engine.page && row.results[at] !== " " && [at ? " · " : "", h("a", { href: `${engine.page}#${caseLink(row)}` }, `on ${short(engine.title)}`)]))));
}

function matrixSection() {
  const narrowTitle = (engine) => h("span", { title: engine.title }, short(engine.title));
  const long = new LongTable({ label: "engines and variants", open: (row) => { location.hash = caseLink(row); },
    columns: [{ name: "variant", width: "10.5rem", cell: (row) => h("a", { href: "#" + caseLink(row), tabindex: "-1" }, `case ${row.case} variant ${row.variant}`) },
      ...compared.engines.map((engine, at) => ({ name: narrowTitle(engine), width: "6.4rem", cell: (row) => cell(row, at) })),
      { name: "since", width: "11rem", narrow: true, cell: (row) => (row.difference ? foreign(row.difference.first_in.join(", ") || "–") : "") },
      { name: "workflow", width: "9rem", narrow: true, cell: (row) => row.workflow }] });
  long.table.style.minWidth = `${10.5 + 6.4 * compared.engines.length + (innerWidth > 640 ? 20 : 0)}rem`;
  const told = h("span", { class: "small muted", role: "status" });
  const search = h("input", { type: "search", id: "search", placeholder: "search: case, stage, known bug, what was done…", "aria-label": "search variants" });
  const text = (row) => `${caseLink(row)} case ${row.case} variant ${row.variant} ${row.workflow} ${row.difference ? JSON.stringify(row.difference) : ""} ${[...row.results].map((result) => (RESULTS[result] || RESULTS.n).name).join(" ")}`.toLowerCase();
  const choices = [["differ", "differ", (row) => row.difference], ["found", "did not all pass", (row) => /[fki]/.test(row.results)], ["all", "all", () => true]];
  const buttons = choices.map(([id, name, is]) => h("button", { "data-only": id, onclick: () => { chosen.only = id; update(); } }, `${name} ${count(compared.rows.filter(is).length)}`));
  function update() {
    const is = choices.find(([id]) => id === chosen.only)[2], words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = compared.rows.filter((row) => is(row) && words.every((word) => text(row).includes(word)));
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.only === chosen.only));
    told.textContent = `${count(rows.length)} of ${plural(compared.rows.length, "variant")}`;
    long.set(rows);
  }
  search.addEventListener("input", update);
  update();
  return section("matrix", "Engines and variants", "A letter names the group of engines that did the same.", h("div", { class: "filters" }, search, buttons, told), h("div", { class: "matrix" }, long.element), detail);
}

function oraclesSection() {
  const rows = compared.oracles.map((name, at) => [h("code", {}, name), ...compared.engines.map((engine) => {
    const [fresh, known] = engine.oracles[at];
    return fresh || known ? [fresh > 0 && h("b", { class: "v-f" }, count(fresh), " new"), fresh > 0 && known > 0 && ", ", known > 0 && h("span", { class: "v-k" }, count(known), " known")] : h("span", { class: "muted" }, "–");
  })]);
  return section("oracles", "By oracle and engine", "Variants in which each oracle saw something.", h("div", { class: "card" }, table("oracles and engines", ["oracle", ...compared.engines.map((engine) => ({ text: short(engine.title), class: "num" }))], rows, true)));
}

const PARTS = [["verdicts", "Verdicts"], ["differences", "Differences"], ["matrix", "Variants"], ["oracles", "Oracles"]];
function route() {
  const hit = /^case-(\d+)\/variant-(\d+)$/.exec(decodeURIComponent(location.hash.slice(1)));
  const row = hit && compared.rows.find((it) => it.case === Number(hit[1]) && it.variant === Number(hit[2]));
  if (row) { showDifference(row); document.getElementById("difference").scrollIntoView({ block: "center" }); }
}
put(document.getElementById("page"), header(`${plural(compared.engines.length, "engine")} compared`, "· the same programs on several engines", [["folder", compared.folder], ["seed", compared.seed], ["engines", compared.engines.map((engine) => engine.title).join(", ")]], PARTS), main,
  h("footer", {}, h("div", { class: "wide" }, `Written by equiform ${compared.equiform}. This file needs no other.`)));
put(main, verdictsSection(), differencesSection(), matrixSection(), oraclesSection());
addEventListener("hashchange", route);
route();
