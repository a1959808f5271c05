// A ledger's operations on a canvas: any number of them, of which those in sight are drawn.
class LedgerTimeline {
  constructor(ledger, pick) {
    Object.assign(this, { ledger, pick, from: 1, to: Math.max(2, ledger.length), point: ledger.length, key: 0 });
    this.operations();
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "operations by their place in the ledger; arrow keys move, plus and minus zoom, the list below has the same as text" });
    this.height = Math.min(420, 34 + this.lanes * this.lane);
    this.canvas.style.height = `${this.height}px`;
    new ResizeObserver(() => this.schedule()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.schedule());
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.down(event));
    this.canvas.addEventListener("keydown", (event) => this.pressed(event));
  }
  // A lane for each resource where they are few; else as many lanes as there are operations at once.
  operations() {
    const { ledger } = this, open = new Map(), all = [];
    for (let seq = 1; seq <= ledger.length; seq++) {
      const op = ledger.op(seq), phase = ledger.phase(seq);
      if (op !== "create" && op !== "update" && op !== "delete" && op !== "drift" && op !== "import") continue;
      if (phase === "begin") { const it = { seq, end: 0, op, key: ledger.key[seq - 1], effect: false }; open.set(seq, it); all.push(it); }
      else {
        const it = open.get(ledger.begin[seq - 1]);
        if (it) { it.end = seq; it.effect = phase === "commit"; open.delete(it.seq); }
        else all.push({ seq, end: seq, op, key: ledger.key[seq - 1], effect: true });
      }
    }
    const keys = [...new Set(all.map((it) => it.key))];
    this.byKey = keys.length <= 40;
    if (this.byKey) {
      const lanes = new Map(keys.map((key, place) => [key, place]));
      for (const it of all) it.lane = lanes.get(it.key);
      this.names = keys.map((key) => ledger.keys[key - 1] || "?");
      this.lanes = Math.max(1, keys.length);
    } else {
      const ends = [];
      for (const it of all) {
        let lane = ends.findIndex((end) => end < it.seq);
        if (lane < 0) lane = ends.length;
        ends[lane] = it.end || Infinity;
        it.lane = lane;
      }
      this.names = [];
      this.lanes = Math.max(1, Math.min(ends.length, 40));
    }
    this.lane = this.byKey ? 18 : Math.max(8, Math.min(22, 300 / this.lanes));
    this.all = all;
    this.longest = all.reduce((most, it) => Math.max(most, (it.end || it.seq) - it.seq), 1);
  }
  left() { return this.byKey ? 86 : 10; }
  set(from, to) {
    const size = Math.max(8, Math.min(this.ledger.length, to - from));
    this.from = Math.max(1, Math.min(from, this.ledger.length + 1 - size));
    this.to = this.from + size;
    this.schedule();
  }
  zoom(by, around) { const at = around === undefined ? this.point : around; const from = at - (at - this.from) * by; this.set(from, from + (this.to - this.from) * by); }
  see(seq) { const size = this.to - this.from; if (seq < this.from || seq > this.to) this.set(seq - size / 2, seq + size / 2); else this.schedule(); }
  seqAt(x) { const width = this.canvas.clientWidth; return Math.round(this.from + ((x - this.left()) / (width - this.left() - 10)) * (this.to - this.from)); }
  x(seq) { const width = this.canvas.clientWidth; return this.left() + ((seq - this.from) / (this.to - this.from)) * (width - this.left() - 10); }
  schedule() { if (!this.waiting) this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.draw(); }); }
  // Bars are drawn when they change; the point moves over them.
  draw() {
    const { canvas } = this, width = canvas.clientWidth, scale = devicePixelRatio || 1;
    if (!width) return;
    const style = getComputedStyle(document.documentElement), colour = (name) => style.getPropertyValue(name).trim();
    const state = [this.from, this.to, this.key, width, scale, colour("--card")].join();
    if (state !== this.state) {
      this.state = state;
      canvas.width = Math.round(width * scale); canvas.height = Math.round(this.height * scale);
      this.bars = this.bars || document.createElement("canvas");
      this.bars.width = canvas.width; this.bars.height = canvas.height;
      this.drawBars(this.bars.getContext("2d"), width, scale, colour);
    }
    const context = canvas.getContext("2d"), bottom = 10 + this.lanes * this.lane;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(this.bars, 0, 0);
    if (this.point < this.from || this.point > this.to) return;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const x = this.x(this.point);
    context.strokeStyle = colour("--accent"); context.lineWidth = 2; context.beginPath(); context.moveTo(x, 2); context.lineTo(x, bottom + 4); context.stroke();
    context.fillStyle = colour("--accent"); context.beginPath(); context.moveTo(x - 5, 0); context.lineTo(x + 5, 0); context.lineTo(x, 7); context.fill();
  }
  drawBars(context, width, scale, colour) {
    const { ledger } = this;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, this.height);
    context.font = `11px ${colour("--sans")}`;
    const tones = { create: [colour("--added"), colour("--added-wash")], update: [colour("--changed"), colour("--changed-wash")], delete: [colour("--removed"), colour("--removed-wash")], drift: [colour("--known"), colour("--known-wash")], import: [colour("--unsure"), colour("--unsure-wash")] };
    const soft = colour("--soft"), line = colour("--line"), bottom = 10 + this.lanes * this.lane;
    this.names.forEach((name, place) => {
      const y = 10 + place * this.lane + this.lane / 2;
      context.strokeStyle = line; context.beginPath(); context.moveTo(this.left(), y); context.lineTo(width - 8, y); context.stroke();
      context.fillStyle = soft; context.textAlign = "right"; context.fillText(shortened(name, 12), this.left() - 6, y + 4);
    });
    let low = 0, high = this.all.length;
    const first = this.from - this.longest;
    while (low < high) { const middle = (low + high) >> 1; if (this.all[middle].seq < first) low = middle + 1; else high = middle; }
    const wide = (width - this.left()) / (this.to - this.from) > 1.2, last = new Float64Array(this.lanes).fill(-9);
    for (let place = low; place < this.all.length && this.all[place].seq <= this.to; place++) {
      const it = this.all[place];
      if (it.lane >= this.lanes) continue;
      const x = Math.max(this.x(it.seq), this.left()), end = Math.min(this.x((it.end || this.ledger.length) + 0.6), width - 8), y = 10 + it.lane * this.lane + 2;
      if (end < this.left() || (!wide && end < last[it.lane] + 0.5)) continue;
      last[it.lane] = end;
      const [edge, wash] = tones[it.op], dim = this.key && it.key !== this.key;
      context.globalAlpha = dim ? 0.2 : 1;
      if (end - x > 5) {
        context.fillStyle = wash; context.strokeStyle = edge; context.lineWidth = 1.2; context.setLineDash(it.effect ? [] : [3, 2]);
        context.beginPath(); context.roundRect(x, y, end - x, this.lane - 4, 3); context.fill(); context.stroke(); context.setLineDash([]);
        if (end - x > 12 && this.lane > 12) { context.fillStyle = edge; context.textAlign = "center"; context.fillText({ create: "+", update: "~", delete: "−", drift: "≈", import: "→" }[it.op], (x + end) / 2, y + this.lane / 2 + 2); }
      } else { context.fillStyle = edge; context.fillRect(x, y, Math.max(1, end - x), this.lane - 4); }
    }
    context.globalAlpha = 1;
    context.fillStyle = soft; context.textAlign = "center"; context.lineWidth = 1;
    const rough = (this.to - this.from) / Math.max(2, width / 110), power = 10 ** Math.floor(Math.log10(Math.max(1, rough))), step = Math.max(1, [1, 2, 5, 10].map((by) => by * power).find((by) => by >= rough));
    for (let seq = Math.ceil(this.from / step) * step; seq <= this.to && seq <= ledger.length; seq += step) context.fillText(count(seq), Math.min(width - 24, this.x(seq)), bottom + 18);
  }
  wheel(event) {
    if (!event.ctrlKey && !event.shiftKey && Math.abs(event.deltaX) < Math.abs(event.deltaY)) return;
    event.preventDefault();
    if (event.ctrlKey) this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, this.seqAt(event.offsetX));
    else { const by = ((event.deltaX || event.deltaY) / this.canvas.clientWidth) * (this.to - this.from); this.set(this.from + by, this.to + by); }
  }
  down(event) {
    const start = event.offsetX, { from, to } = this;
    let moved = false;
    const move = (now) => { const by = ((start - now.offsetX) / this.canvas.clientWidth) * (to - from); if (Math.abs(now.offsetX - start) > 3) { moved = true; this.set(from + by, to + by); } };
    const up = (now) => {
      this.canvas.removeEventListener("pointermove", move); removeEventListener("pointerup", up);
      if (!moved) this.pick(Math.max(0, Math.min(this.ledger.length, this.seqAt(now.offsetX))));
    };
    this.canvas.addEventListener("pointermove", move); addEventListener("pointerup", up);
  }
  pressed(event) {
    const size = this.to - this.from, act = { ArrowRight: () => this.pick(Math.min(this.ledger.length, this.point + 1)), ArrowLeft: () => this.pick(Math.max(0, this.point - 1)), PageDown: () => this.set(this.from + size / 2, this.to + size / 2), PageUp: () => this.set(this.from - size / 2, this.to - size / 2), "+": () => this.zoom(0.5), "-": () => this.zoom(2), Home: () => this.pick(0), End: () => this.pick(this.ledger.length) }[event.key];
    if (act) { event.preventDefault(); act(); }
  }
}
