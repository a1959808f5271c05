const SVG = "http://www.w3.org/2000/svg";
const REFERENCE = /^(#|[^:/?#]+\/report\.html(#.*)?$)/;

// Elements are made of names, attributes and texts; no text is ever read as markup.
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.setAttribute("class", value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [key, how] of Object.entries(value)) element.style.setProperty(key, how);
    else if (name === "href" && !REFERENCE.test(value)) continue;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}
// Puts children in the place of those that are there.
function put(element, ...children) { element.textContent = ""; return fill(element, {}, children); }
const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
// A text that somebody else has written: whatever its direction, what stands beside it stays where it is.
const foreign = (text) => h("bdi", { dir: "auto" }, text);

function data(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

const count = (number) => Number(number).toLocaleString("en-GB");
const plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many || one + "s"}`;
const pad = (number) => String(number).padStart(4, "0");
const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

const RESULTS = {
  p: { name: "passed", one: "pass", shape: () => s("circle", { cx: 8, cy: 8, r: 6.6 }) },
  f: { name: "failed", one: "fail", shape: () => s("path", { d: "M2.6 2.6 13.4 13.4M13.4 2.6 2.6 13.4", stroke: "currentColor", "stroke-width": 4 }) },
  k: { name: "known", one: "known", shape: () => s("path", { d: "M8 0.6 15.4 8 8 15.4 0.6 8z" }) },
  i: { name: "inconclusive", one: "inconclusive", shape: () => s("path", { d: "M8 2.8 13.9 13.2H2.1z", fill: "none", stroke: "currentColor", "stroke-width": 2.4, "stroke-linejoin": "round" }) },
  n: { name: "not run", one: "not run", shape: () => s("path", { d: "M2 8H14", stroke: "currentColor", "stroke-width": 2 }) },
};
// A verdict is told by its colour, by its shape and by its name.
const mark = (result) => s("svg", { class: "mark", viewBox: "0 0 16 16", fill: "currentColor", "aria-hidden": "true" }, RESULTS[result].shape());
const verdict = (result, text) => h("span", { class: `verdict v-${result}` }, mark(result), text || RESULTS[result].one);

function section(id, title, lead, ...children) {
  return h("section", { id, "aria-labelledby": id + "-title" },
    h("h2", { id: id + "-title", tabindex: "-1" }, title), lead && h("p", { class: "lead" }, lead), ...children);
}

function table(caption, heads, rows, hidden) {
  return h("div", { class: "scroll-x" }, h("table", {},
    h("caption", { class: hidden ? "unseen" : null }, caption),
    h("thead", {}, h("tr", {}, heads.map((head) =>
      h("th", { scope: "col", class: head.class }, head.text !== undefined ? head.text : head)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, at) => {
      const kind = heads[at].class;
      return at === 0 ? h("th", { scope: "row", class: kind }, cell) : h("td", { class: kind }, cell);
    }))))));
}

const meter = (share) => h("div", { class: "meter", "aria-hidden": "true" },
  h("span", { style: { width: `${Math.max(share > 0 ? 1 : 0, Math.min(100, share * 100))}%` } }));

// A bar of parts, which are also told in words.
function parts(label, list) {
  const all = list.reduce((sum, part) => sum + part.value, 0) || 1;
  const words = list.filter((part) => part.value > 0).map((part) => `${part.name} ${part.told || count(part.value)}`).join(", ");
  return h("div", { class: "bar", role: "img", "aria-label": `${label}: ${words}` }, list.filter((part) => part.value > 0).map(
    (part) => h("span", { class: part.class, style: { flex: `${part.value / all} 1 0` }, title: `${part.name}: ${part.told || count(part.value)}` })));
}

function header(title, brand, facts, links) {
  return h("header", { class: "top" }, h("div", { class: "wide" },
    h("p", { class: "brand" }, h("b", {}, "equiform"), " ", brand),
    h("h1", {}, title),
    h("dl", { class: "facts" }, facts.filter((fact) => fact[1] !== null && fact[1] !== "").map(([name, value]) =>
      h("div", {}, h("dt", {}, name), h("dd", {}, foreign(value))))),
    links && h("nav", { class: "parts", "aria-label": "Parts of this page" }, links.map(([to, name]) =>
      h("a", { href: "#" + to, onclick: (event) => { event.preventDefault(); jump(to); } }, name)))));
}
function jump(id) {
  const target = document.getElementById(id);
  if (!target) return;
  target.scrollIntoView();
  const title = document.getElementById(id + "-title");
  if (title) title.focus({ preventScroll: true });
}
function copyable(text) {
  const button = h("button", { onclick: async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "copied"; } catch { button.textContent = "select it by hand"; }
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  } }, "copy");
  button.setAttribute("aria-label", `copy: ${text}`);
  return h("span", { class: "row" }, h("code", {}, foreign(text)), button);
}
