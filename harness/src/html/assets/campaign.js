const campaign = data("overview");
const page = document.getElementById("page");
const main = h("main", { id: "main", tabindex: "-1", class: "wide" });
// Those that did not pass stand first.
const RANKS = { f: 0, i: 1, k: 2, p: 3 };
campaign.rows.sort((one, other) => RANKS[one.r] - RANKS[other.r] || one.c - other.c || one.v - other.v);
const list = { text: "", results: new Set(), workflow: "" };

function searched(row) {
  if (!row.search) {
    const found = (row.f || []).map((number) => campaign.signatures[number].slice(0, 3).filter(Boolean).join(" ")).join(" ");
    row.search = `${place(row)} case ${row.c} variant ${row.v} ${RESULTS[row.r].name} ${campaign.workflows[row.w]} ${found} ${row.a || ""} ${row.x || ""}${row.o ? " warm only" : ""}${row.g === false ? " not again" : ""}`.toLowerCase();
  }
  return row.search;
}
function chosenRows() {
  const words = list.text.toLowerCase().split(/\s+/).filter(Boolean);
  return campaign.rows.filter((row) => (!list.results.size || list.results.has(row.r)) && (!list.workflow || campaign.workflows[row.w] === list.workflow)
    && (words.every((word) => searched(row).includes(word)) || searched(row).includes(list.text.toLowerCase().trim())));
}

const NOT_SHOWN = { p: "it passed", r: "it passed, and its evidence was removed", l: "this page is long enough" };
function summaryOf(row) {
  if (row.r === "p" && !row.o) return "";
  if (row.r === "i") return foreign(row.x || "");
  const found = (row.f || []).map((number) => campaign.signatures[number]);
  const told = [...new Set(found.map(([oracle, kind, known]) => known || `${oracle}: ${kind}`))];
  return foreign(told.join(", ") + (row.g === false ? " (not again)" : "") + (row.o ? " (warm only: " + row.o[0] + ")" : ""));
}

function variantsSection() {
  const longTable = new LongTable({
    label: "variants", open: (row) => { if (!row.d) location.hash = place(row); },
    columns: [
      { name: "variant", width: "clamp(8.4rem, 14vw, 10.5rem)", cell: (row) => (row.d ? h("span", { title: `not shown in detail: ${NOT_SHOWN[row.d]}` }, `case ${row.c} variant ${row.v}`) : h("a", { href: "#" + place(row), tabindex: "-1" }, `case ${row.c} variant ${row.v}`)) },
      { name: "verdict", width: "clamp(5.6rem, 10vw, 8rem)", cell: (row) => verdict(row.r) },
      { name: "what was found", cell: summaryOf },
      { name: "workflow", width: "9rem", narrow: true, cell: (row) => campaign.workflows[row.w] },
      { name: "resources", width: "6rem", narrow: true, class: "num", cell: (row) => row.n },
      { name: "stages", width: "4.6rem", narrow: true, class: "num", cell: (row) => row.s },
      { name: "time", width: "5.2rem", narrow: true, class: "num", cell: (row) => duration(row.t) },
    ],
  });
  const told = h("span", { class: "small muted", role: "status" });
  const search = h("input", { type: "search", id: "search", placeholder: "search: case, oracle, kind, workflow…", "aria-label": "search variants", value: list.text });
  const counts = tallied(campaign.rows);
  const chips = ["f", "k", "i", "p"].map((result) => h("button", { "data-result": result, "aria-pressed": "false", disabled: !counts[result], onclick: () => {
    if (list.results.has(result)) list.results.delete(result); else list.results.add(result);
    update();
  } }, verdict(result, `${RESULTS[result].name} ${count(counts[result])}`)));
  const workflows = h("select", { "aria-label": "workflow" }, h("option", { value: "" }, "all workflows"), campaign.workflows.slice().sort().map((name) => h("option", { value: name, selected: name === list.workflow }, name)));
  workflows.addEventListener("change", () => { list.workflow = workflows.value; update(); });
  search.addEventListener("input", () => { list.text = search.value; update(); });
  function update() {
    const rows = chosenRows();
    for (const chip of chips) chip.setAttribute("aria-pressed", String(list.results.has(chip.dataset.result)));
    told.textContent = `${count(rows.length)} of ${plural(campaign.rows.length, "variant")}`;
    longTable.set(rows);
  }
  const scroll = { top: 0 };
  longTable.element.addEventListener("scroll", () => { if (longTable.element.isConnected) scroll.top = longTable.element.scrollTop; }, { passive: true });
  const element = section("variants", "Variants", "All variants, beginning with those that did not pass. These, and a few that passed, open with graphs, timelines, programs and lines of the ledger.",
    h("div", { class: "filters" }, search, chips, workflows, told), longTable.element);
  update();
  return { element, back: () => { longTable.element.scrollTop = scroll.top; longTable.draw(true); }, set: (change) => { Object.assign(list, change); search.value = list.text; workflows.value = list.workflow; update(); jump("variants"); } };
}

function overview() {
  const variants = variantsSection();
  const choose = (result) => variants.set({ results: new Set([result]), text: "", workflow: "" });
  const narrow = (text) => variants.set({ results: new Set(text === "inconclusive" ? ["i"] : []), text: text === "inconclusive" ? "" : text, workflow: "" });
  return { top: 0, back: variants.back, children: [verdictsSection(campaign, choose), findingsSection(campaign, narrow), variants.element,
    h("div", { class: "columns" }, timeSection(campaign), diversitySection(campaign)), exercisedSection(campaign), oraclesSection(campaign)] };
}

const PARTS = [["verdicts", "Verdicts"], ["findings", "Findings"], ["variants", "Variants"], ["time", "Rate and time"], ["diversity", "Diversity"], ["exercised", "Exercised"], ["oracles", "Oracles"]];
let kept = null;
function route() {
  const target = decodeURIComponent(location.hash.slice(1));
  const parts = /^(case-\d+\/variant-\d+|reduced\/[^/]+)(?:\/([a-z0-9-]+))?(?:\/(\d+))?$/.exec(target);
  const of = /^case-(\d+)$/.exec(target);
  const shown = parts && document.getElementById(parts[1]);
  document.body.classList.toggle("in-case", Boolean(shown));
  if (shown) {
    if (kept && main.contains(kept.children[0])) kept.top = scrollY;
    showCase(main, parts[1], parts[2], parts[3] && Number(parts[3]));
    return;
  }
  document.title = `equiform: ${campaign.engine}`;
  if (kept && main.contains(kept.children[0])) { if (target && target !== "main") jump(target); return; }
  leaveCase();
  if (!kept) kept = overview();
  put(main, ...kept.children);
  if (of) { kept = null; list.text = target; list.results.clear(); put(main, ...(kept = overview()).children); jump("variants"); }
  else if (parts) main.prepend(h("p", { class: "note", role: "alert" }, `${parts[1]} is not shown in detail here: `, h("code", {}, `equiform show ${campaign.folder}/${parts[1]}`), " shows it."));
  else if (PARTS.some(([id]) => id === target)) jump(target);
  else { kept.back(); scrollTo({ top: kept.top, behavior: "instant" }); }
}

function start() {
  const facts = [["folder", campaign.folder], ...campaign.settings];
  put(page, header(foreign(campaign.engine), "· a campaign of equivalent programs", facts, PARTS), main,
    h("footer", {}, h("div", { class: "wide" }, `Written by equiform ${campaign.equiform}. This file needs no other, and contains the values of programs in clear.`)));
  for (const link of document.querySelectorAll("nav.parts a")) link.addEventListener("click", () => {
    if (document.body.classList.contains("in-case")) location.hash = link.getAttribute("href");
  });
  addEventListener("hashchange", route);
  route();
}
