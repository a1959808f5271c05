const exitWords = (stage) => (stage.exceeded ? "exceeded a limit" : stage.timed_out ? "ran out of time" : stage.exit === null ? "was killed" : `exit ${stage.exit}`);
const found = (finding) => h("div", { class: `found ${finding.known ? "t-k" : "t-f"}` },
  h("p", {}, finding.known ? verdict("k", "known: " + finding.known) : verdict("f", finding.oracle), " ", h("b", {}, foreign(finding.known ? `${finding.oracle}: ${finding.kind}` : finding.kind))),
  finding.text && h("p", { class: "muted" }, foreign(finding.text)));

// Expected and done, operation by operation.
function operationsTable(detail, stage, at, select) {
  const rows = [], used = new Set();
  stage.due.forEach(([sign, node]) => {
    const done = stage.did.map((did, number) => [did, number]).filter(([did]) => did.sign === sign && did.node === node);
    done.forEach(([, number]) => used.add(number));
    rows.push({ sign, node, due: true, done });
  });
  stage.did.forEach((did, number) => { if (!used.has(number)) rows.push({ sign: did.sign, node: did.node, due: false, done: [[did, number]] }); });
  const failing = new Set(stage.failures.length ? stage.did.filter((did) => did.fault).map((did) => did.begin) : []);
  const cell = (row) => {
    if (!row.done.length) return verdict("f", "was not done");
    return row.done.map(([did], place) => [place ? ", " : "", h("a", { href: `#${detail.place}/${stage.name}/${did.begin}` }, spanWords(did))]);
  };
  const remark = (row) => {
    const words = [];
    if (!row.due) words.push(verdict("f", "was not due"));
    if (row.done.length > 1) words.push(verdict("f", `${row.done.length} times`));
    for (const [did, number] of row.done) {
      if (did.fault) words.push(h("span", { class: "muted" }, "told to fail: ", foreign(did.fault)));
      for (const [first, second, rule, text] of stage.violated) {
        if (second === number) words.push(h("span", { class: "v-f" }, `did not wait for ${opName(stage.did[first], detail.names)} (rule ${rule}: ${text})`));
      }
      if (!did.took_effect && !failing.has(did.begin) && !did.fault) words.push(h("span", { class: "muted" }, "took no effect"));
    }
    return words.map((word, place) => [place ? ", " : "", word]);
  };
  if (!rows.length) return h("p", { class: "muted" }, "Nothing was due, and nothing was done.");
  return table("operations", ["operation", "expected", "in the ledger", "remarks"], rows.map((row) => [
    h("span", {}, h("b", { class: `mono` }, row.sign === "-" ? "−" : row.sign, " "), SIGNS[row.sign].name, " ", foreign(detail.names[row.node])),
    row.due ? "yes" : h("span", { class: "v-f" }, "no"), cell(row), remark(row)]), true);
}

// A program, with the difference to the one before. Long parts that stay are folded.
function programView(program, whole) {
  if (!program) return h("p", { class: "muted" }, "There is no program in the evidence of this stage.");
  if (program.same && !whole) return h("p", { class: "muted" }, `${program.file} is the same as in the stage before.`);
  const kinds = { "+": "plus", "-": "minus" }, lines = program.lines;
  const near = new Set();
  lines.forEach((line, number) => { if (line[0] !== " ") for (let by = -3; by <= 3; by++) near.add(number + by); });
  const folds = !whole && near.size > 0, children = [];
  for (let number = 0; number < lines.length; number++) {
    if (whole && lines[number][0] === "-") continue;
    if (folds && !near.has(number)) {
      let end = number;
      while (end < lines.length && !near.has(end)) end++;
      children.push(h("div", { class: "gap" }, `${plural(end - number, "line")} as before`));
      number = end - 1;
      continue;
    }
    const line = lines[number];
    children.push(h("div", { class: kinds[line[0]] && !(whole && !near.size) ? kinds[line[0]] : null, dir: "ltr" }, line));
  }
  if (program.left_out) children.push(h("div", { class: "gap" }, `${plural(program.left_out, "line")} more are left out`));
  return h("div", { class: "lines", tabindex: "0", role: "region", "aria-label": `${program.file}, lines with + are new, lines with - are gone` }, children);
}

function ledgerView(detail, stage, at) {
  if (!stage.ledger.length) return h("p", { class: "muted" }, "The ledger has no change in this stage.");
  const chosen = at && stage.did.find((did) => did.begin === at || did.end === at);
  const marked = (seq) => chosen && (seq === chosen.begin || seq === chosen.end);
  const lines = stage.ledger.map(([seq, time, [text, cut]]) => {
    const body = h("pre", { dir: "ltr" });
    const summary = (() => {
      const part = (name) => { const hit = new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)"`).exec(text); try { return hit ? JSON.parse(`"${hit[1]}"`) : ""; } catch { return ""; } };
      return [h("span", { class: "mono" }, String(seq).padStart(5, "\u2007")), "  ", part("op"), " ", part("phase"), " ", foreign(shortened(part("key"), 40)), h("span", { class: "muted small" }, "  ", time.slice(11, 26))];
    })();
    const element = h("details", { class: `line${marked(seq) ? " at" : ""}`, id: `line-${seq}`, open: marked(seq) }, h("summary", {}, summary), body);
    const show = () => { if (!body.textContent) { let told = text; if (!cut) try { told = JSON.stringify(JSON.parse(text), null, 1); } catch { /* as it stands */ }
      body.textContent = cut ? `${told}… (${count(cut)} bytes more are in the ledger)` : told; } };
    element.addEventListener("toggle", show);
    if (marked(seq)) show();
    return element;
  });
  return h("div", { class: "card ledger-lines" }, lines, stage.ledger_left_out > 0 && h("p", { class: "muted small" }, `${plural(stage.ledger_left_out, "line")} more are in the ledger.`));
}

// What is known of the operation that was chosen.
function chosenView(detail, stage, at) {
  const number = at ? stage.did.findIndex((did) => did.begin === at || did.end === at) : -1;
  if (number < 0) return null;
  const did = stage.did[number], told = (other) => h("a", { href: `#${detail.place}/${stage.name}/${stage.did[other].begin}` }, foreign(opName(stage.did[other], detail.names)));
  const pairs = duePairs(stage, number);
  const overlapping = stage.did.map((other, place) => [other, place]).filter(([other, place]) => place !== number && other.begin < (did.end === null ? Infinity : did.end) && did.begin < (other.end === null ? Infinity : other.end));
  const line = (name, list) => list.length > 0 && h("div", {}, h("dt", {}, name), h("dd", {}, list.map((item, place) => [place ? ", " : "", item])));
  return h("div", { class: "card small", id: "chosen", "aria-live": "polite" }, h("h3", {}, foreign(opName(did, detail.names)), h("span", { class: "muted" }, ` · ${spanWords(did)}`)),
    h("dl", { class: "facts" }, line("had to wait for", pairs.filter((pair) => pair[1] === number).map((pair) => h("span", { title: pair[2] }, told(pair[0])))),
      line("had to end before", pairs.filter((pair) => pair[0] === number).map((pair) => h("span", { title: pair[2] }, told(pair[1])))),
      line("under way at once with", overlapping.map(([, place]) => told(place)))));
}
