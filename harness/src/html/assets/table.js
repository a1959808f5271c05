// A table of any length: rows that are not in sight are not in the page. Rows have one height.
const ROW = 34;
class LongTable {
  constructor({ label, columns, height, open, key }) {
    Object.assign(this, { columns, open, key });
    this.rows = [];
    this.at = -1;
    const space = () => h("tr", { class: "space", "aria-hidden": "true" }, h("td"));
    Object.assign(this, { drawn: new Map(), above: space(), below: space() });
    this.body = h("tbody", {}, this.above, this.below);
    this.table = h("table", { "aria-label": label },
      h("colgroup", {}, columns.map((column) => h("col", { class: column.narrow ? "narrow-hide" : null, style: column.width ? { width: column.width } : {} }))),
      h("thead", {}, h("tr", {}, columns.map((column) =>
        h("th", { scope: "col", class: [column.class, column.narrow && "narrow-hide"].filter(Boolean).join(" ") || null }, column.name)))), this.body);
    this.element = h("div", { class: "virtual", tabindex: "0", role: "region", "aria-label": `${label}: arrow keys move, Enter opens` }, this.table);
    this.height = height;
    this.shown = [0, -1];
    this.element.addEventListener("scroll", () => this.schedule(), { passive: true });
    this.element.addEventListener("keydown", (event) => this.pressed(event));
    new ResizeObserver(() => this.draw(true)).observe(this.element);
  }
  set(rows) {
    this.rows = rows;
    this.at = -1;
    this.table.setAttribute("aria-rowcount", rows.length + 1);
    const needed = rows.length * ROW + 36;
    this.element.style.height = this.height || `${Math.max(3 * ROW, Math.min(needed, 44 * 16))}px`;
    this.element.scrollTop = 0;
    this.draw(true);
  }
  schedule() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(false); });
  }
  draw(anew) {
    const height = this.element.clientHeight || 600;
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - 8);
    const last = Math.min(this.rows.length, first + Math.ceil(height / ROW) + 16);
    if (!anew && this.shown[0] <= first + 4 && this.shown[1] >= last - 4 && this.shown[1] - this.shown[0] <= last - first + 24) return;
    this.shown = [first, last];
    // Rows that stay in sight stay in the page.
    for (const [place, row] of this.drawn) if (anew || place < first || place >= last) { row.remove(); this.drawn.delete(place); }
    let next = this.below;
    for (let place = last - 1; place >= first; place--) {
      if (!this.drawn.has(place)) { this.drawn.set(place, this.row(place)); this.body.insertBefore(this.drawn.get(place), next); }
      next = this.drawn.get(place);
    }
    this.above.firstChild.style.height = `${first * ROW}px`;
    this.below.firstChild.style.height = `${(this.rows.length - last) * ROW}px`;
  }
  row(place) {
    const row = this.rows[place];
    return h("tr", { "aria-rowindex": place + 2, class: place === this.at ? "at" : null, onclick: (event) => {
      if (!event.target.closest("a")) { this.at = place; this.draw(true); if (this.open) this.open(row, place); }
    } }, this.columns.map((column, number) => {
      const kind = [column.class, column.narrow && "narrow-hide"].filter(Boolean).join(" ") || null;
      return h(number === 0 ? "th" : "td", { scope: number === 0 ? "row" : null, class: kind }, column.cell(row, place));
    }));
  }
  move(to) {
    if (!this.rows.length) return;
    this.at = Math.max(0, Math.min(this.rows.length - 1, to));
    const top = this.at * ROW, bottom = top + ROW + 40;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (bottom > this.element.scrollTop + this.element.clientHeight) this.element.scrollTop = bottom - this.element.clientHeight;
    this.draw(true);
  }
  pressed(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
    const steps = { ArrowDown: this.at + 1, ArrowUp: this.at - 1, PageDown: this.at + page, PageUp: this.at - page, Home: 0, End: this.rows.length - 1 };
    if (event.key in steps) { event.preventDefault(); this.move(steps[event.key]); }
    else if (event.key === "Enter" && this.at >= 0 && event.target === this.element && this.open) { event.preventDefault(); this.open(this.rows[this.at], this.at); }
  }
}
