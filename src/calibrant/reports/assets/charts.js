"use strict";
// Small SVG charts for the eye, the pointer, the keyboard and the screen reader.
//
//   const chart = charts.make(figure);   <figure class="chart" id="pit"><figcaption>...</figcaption></figure>
//   chart.show(spec);                    again with another spec whenever the data change
//
// spec = {
//   x: {label, domain: [a, b], format?, whole?}           format: charts.plain (default), charts.percent
//                                                         whole: its ticks are whole numbers
//   y: {label, format?, include?: [values], domain?, names?: [{at, text, class?, indent?}]}
//                                                         fitted to what is in view and `include`, unless `domain`
//   layers: [{kind, series?, name?, ...}]                 in painting order; `name` puts it into the legend,
//                                                         `series` (after, before, expected, ...) is a class in charts.css
//     line {points: [[x, y], ...]}        band {points: [[x, low, high], ...]}     bars {points: [[x0, x1, y], ...]}
//     dots {points: [[x, y], ...], shape: "circle" | "square" | "cross" | "up" | "down"}   strip {from, to}: a part of the x axis
//     stems {points: [[x, low, high], ...]}: upright        whiskers, ranges {points: [[y, low, high], ...]}: lying
//     atoms {points: [{at, share, text?, hollow?}], shift?}   stems whose height is a probability, 1 the whole plot
//     rule {x | y, text?}                                   null is a gap; infinite ends leave the picture
//   stops: [{x, y?, marks?: [[x, y, series]], say: () => text}]   where pointer and arrow keys stop; what is then read
//   aside: {label, points: [{at, bars, band: [low, high]}]}   a small histogram beside each line of names
//   along: "x" (default) | "y"                            the axis along which the stops lie
//   pick: (index of the stop) => ...                      click, tap or Enter
//   summary, table: () => ({head, rows})                  the same in words and in numbers
//   height                                                in pixels, where the style sheet's is not right
//   key                                                   the zoom is forgotten when it changes
// }
const charts = (() => {
  const { el } = page;
  const { KINDS, SHAPES, asides, counted, elided, fitted, linear, plain, roomy, ruleTexts, svg, swatch, textWidth, ticks } = marks;
  const CLOSEST = 1 / 50; // how far one can zoom in
  const DRAG = 5; // pixels: less is a click

  class Chart {
    #spec = null;
    #view = null; // the zoomed part of the x axis
    #stop = -1;
    #scales = null;
    #drag = null;
    #size = null; // known after the first layout, and kept: to ask for it costs another layout

    constructor(figure) {
      this.figure = figure;
      this.name = figure.querySelector("figcaption").textContent.trim();
      this.legend = el("ul", { class: "legend" });
      this.summary = el("p", { class: "summary", id: `${figure.id}-summary` });
      this.plot = el("div", { class: "plot" });
      this.readout = el("p", { class: "readout", "aria-live": "polite" });
      this.frame = svg("svg", { tabindex: 0, role: "application", "aria-roledescription": "chart" });
      this.frame.setAttribute("aria-label", `${this.name}: arrow keys read the values, plus and minus zoom`);
      this.frame.setAttribute("aria-describedby", this.summary.id);
      this.tools = el("div", { class: "tools" }, ...this.#buttons());
      this.details = el("details", {}, el("summary", {}, "Table and files", el("span", { class: "hidden" }, `(${this.name})`)));
      this.numbers = el("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": `${this.name}, as a table` });
      const acts = [["SVG", () => save.svg(this)], ["PNG", () => save.png(this)], ["CSV", () => save.csv(this.name, this.#spec.table())]];
      this.details.append(el("p", { class: "saves" }, "Save as ", ...save.buttons(acts, this.name)), this.numbers);
      this.plot.append(this.frame);
      const caption = figure.querySelector("figcaption");
      caption.id ||= `${figure.id}-caption`;
      figure.setAttribute("role", "group");
      figure.setAttribute("aria-labelledby", caption.id);
      figure.append(this.tools, this.summary, this.legend, this.plot, this.readout, this.details);
      this.#listen();
    }

    show(spec) {
      if (this.#spec && spec.key !== this.#spec.key) this.#view = null;
      if (this.#spec?.stops.length !== spec.stops.length) this.#stop = -1;
      this.#spec = spec;
      this.summary.textContent = spec.summary;
      const named = spec.layers.filter((layer) => layer.name);
      this.legend.replaceChildren(...named.map((layer) => el("li", {}, swatch(layer), layer.name)));
      if (spec.height) this.plot.style.height = `${spec.height}px`;
      this.#draw();
      if (this.details.open) this.#tabulate();
    }

    #buttons() {
      const button = (sign, action, act) => {
        const made = el("button", { type: "button", "aria-label": `${action}: ${this.name}`, title: action }, sign);
        made.addEventListener("click", act);
        return made;
      };
      this.back = button("Reset", "Reset zoom", () => this.#zoom(Infinity));
      return [
        button("+", "Zoom in", () => this.#zoom(0.5)),
        button("\u2212", "Zoom out", () => this.#zoom(2)),
        this.back,
      ];
    }

    #tabulate() {
      const { head, rows } = this.#spec.table();
      this.numbers.replaceChildren(page.table(head, rows));
    }

    // Drawing.

    #draw() {
      if (!this.#spec || !this.#size?.width) return;
      const { width, height } = this.#size;
      const { x: xAxis, y: yAxis, layers, along } = this.#spec;
      const xDomain = this.#view ?? xAxis.domain;
      const yDomain = fitted(yAxis, layers, xDomain);
      const lettered = layers.some(({ kind, text }) => kind === "rule" && text);
      const [top, foot] = [(yAxis.label ? 26 : 8) + (lettered ? 14 : 0), height - 40];
      const yTicks = yAxis.names ? { values: [] } : ticks(yDomain, (foot - top) / 32);
      const yNames =
        yAxis.names ?? yTicks.values.map((at) => ({ at, text: (yAxis.format ?? plain)(at, yTicks.step) }));
      const room = Math.max(...yNames.map(({ text, indent = 0 }) => textWidth(text) + indent), 8);
      const left = Math.min(Math.ceil(room) + 10, Math.round(width * 0.42));
      const margin = this.#spec.aside ? Math.min(110, Math.round(width * 0.16)) : 0;
      const right = width - 18 - (margin && margin + 8);
      const x = linear(xDomain, [left, right]);
      const y = linear(yDomain, [foot, top]);
      this.#scales = { x, y, left, right, top, foot };
      const xFormat = xAxis.format ?? plain;
      const xTicks = (xAxis.whole ? counted : roomy)(xDomain, right - left, xFormat);
      const grid = along === "y"
        ? xTicks.values.map((at) => svg("line", { x1: x(at), x2: x(at), y1: top, y2: foot }))
        : yTicks.values.map((at) => svg("line", { x1: left, x2: right, y1: y(at), y2: y(at) }));
      const xTexts = xTicks.values.map((at) => {
        const text = xFormat(at, xTicks.step);
        const half = textWidth(text) / 2; // a long text at the end of the axis stays in the picture
        return svg("text", { x: Math.min(Math.max(x(at), half), width - half), y: foot + 17, "text-anchor": "middle" }, text);
      });
      const yTexts = yNames.map(({ at, text, class: kind = "", indent = 0 }) => {
        const place = yAxis.names ? { x: indent } : { x: left - 8, "text-anchor": "end" };
        return svg("text", { ...place, y: y(at) + 4, class: kind }, elided(text, left - 10 - indent));
      });
      const clip = `${this.figure.id}-clip`;
      const window = svg("rect", { x: left, y: top - 1, width: right - left, height: foot - top + 2 });
      const drawn = layers.map((layer) => {
        const shapes = KINDS[layer.kind].draw(layer, x, y, [top, foot], [left, right]);
        return svg("g", { class: `layer ${layer.kind} ${layer.series ?? ""}` }, ...shapes);
      });
      this.cursor = svg("g", { class: "cursor" });
      this.frame.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.frame.replaceChildren(
        svg("defs", {}, svg("clipPath", { id: clip }, window)),
        svg(
          "g",
          { "aria-hidden": "true" },
          svg("g", { class: "grid" }, ...grid),
          svg("line", { class: "axis", x1: left, x2: right, y1: foot, y2: foot }),
          svg("g", { "clip-path": `url(#${clip})` }, ...drawn, this.cursor),
          ...(margin ? [svg("g", { class: "aside" }, ...asides(this.#spec.aside, y, right + 16, margin, foot))] : []),
          svg("g", { class: "rules" }, ...ruleTexts(layers, x, top, [left, right])),
          svg("g", { class: "ticks x" }, ...xTexts),
          svg("g", { class: "ticks y" }, ...yTexts),
          svg("text", { class: "label", x: right, y: height - 5, "text-anchor": "end" }, xAxis.label),
          svg("text", { class: "label", x: 0, y: 12 }, yAxis.label ?? ""),
        ),
      );
      this.back.disabled = this.#view === null;
      if (this.#stop >= 0) this.#point(this.#stop);
    }

    // The crosshair and the words that go with it.
    #point(index) {
      const stop = this.#spec.stops[index];
      const { x, y, left, right, top, foot } = this.#scales;
      this.#stop = index;
      const across = this.#spec.along === "y"
        ? { x1: left, x2: right, y1: y(stop.y), y2: y(stop.y) }
        : { x1: x(stop.x), x2: x(stop.x), y1: top, y2: foot };
      const marks = (stop.marks ?? []).filter(([, v]) => v !== null && Number.isFinite(v));
      const dots = marks.map(([u, v, series]) => svg("g", { class: `dots ${series}` }, SHAPES.circle(x(u), y(v), 4.5)));
      this.cursor.replaceChildren(svg("line", across), ...dots);
      const text = stop.say();
      if (this.readout.textContent !== text) this.readout.textContent = text;
    }

    #leave() {
      this.#stop = -1;
      this.cursor?.replaceChildren();
      this.readout.textContent = "";
    }

    // Zoom.

    #show(a, b) {
      const [low, high] = this.#spec.x.domain;
      const span = Math.min(high - low, Math.max(b - a, (high - low) * CLOSEST));
      const from = Math.min(Math.max((a + b - span) / 2, low), high - span);
      this.#view = span < high - low ? [from, from + span] : null;
      this.#draw();
    }

    #zoom(factor, about) {
      const [a, b] = this.#view ?? this.#spec.x.domain;
      if (factor === Infinity) return this.#show(...this.#spec.x.domain);
      const centre = about ?? (a + b) / 2;
      return this.#show(centre - (centre - a) * factor, centre + (b - centre) * factor);
    }

    // Pointer and keyboard.

    #place(event) {
      const box = this.frame.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    }

    #nearest([px, py]) {
      const { x, y } = this.#scales;
      const far = this.#spec.along === "y" ? (stop) => Math.abs(y(stop.y) - py) : (stop) => Math.abs(x(stop.x) - px);
      return this.#spec.stops.reduce((best, stop, i, all) => (best < 0 || far(stop) < far(all[best]) ? i : best), -1);
    }

    #hover(event) {
      const index = this.#nearest(this.#place(event));
      if (index >= 0) this.#point(index);
    }

    #step(to) {
      const { stops, along } = this.#spec;
      if (!stops.length) return;
      const index = Math.min(stops.length - 1, Math.max(0, to));
      const [a, b] = this.#view ?? this.#spec.x.domain;
      const at = stops[index].x;
      if (along !== "y" && (at < a || at > b)) this.#show(at - (b - a) / 2, at + (b - a) / 2);
      this.#point(index);
    }

    #first() {
      const [a, b] = this.#view ?? this.#spec.x.domain;
      return this.#spec.along === "y" ? 0 : this.#spec.stops.findIndex((stop) => stop.x >= a && stop.x <= b);
    }

    #key(event) {
      if (event.altKey || event.metaKey || event.ctrlKey) return;
      const upright = this.#spec.along === "y";
      const by = (step) => this.#step(this.#stop < 0 ? this.#first() : this.#stop + step);
      const acts = {
        [upright ? "ArrowDown" : "ArrowRight"]: () => by(1),
        [upright ? "ArrowUp" : "ArrowLeft"]: () => by(-1),
        PageDown: () => by(10),
        PageUp: () => by(-10),
        Home: () => this.#step(0),
        End: () => this.#step(this.#spec.stops.length - 1),
        "+": () => this.#zoom(0.5, this.#about()),
        "=": () => this.#zoom(0.5, this.#about()),
        "-": () => this.#zoom(2, this.#about()),
        0: () => this.#zoom(Infinity),
        Escape: () => this.#leave(),
        Enter: () => this.#pick(),
        " ": () => this.#pick(),
      };
      if (!(event.key in acts)) return;
      event.preventDefault();
      acts[event.key]();
    }

    #about() {
      return this.#stop >= 0 && this.#spec.along !== "y" ? this.#spec.stops[this.#stop].x : undefined;
    }

    #pick() {
      if (this.#stop >= 0) this.#spec.pick?.(this.#stop);
    }

    // A finger moves the readout and scrolls the page upright; a mouse that is dragged chooses what to zoom to.
    #listen() {
      const { frame } = this;
      frame.addEventListener("keydown", (event) => this.#key(event));
      frame.addEventListener("blur", () => this.#leave());
      // A finger that is lifted leaves the chart too, but its reader has only begun.
      frame.addEventListener("pointerleave", (event) => {
        if (!this.#drag && event.pointerType !== "touch") this.#leave();
      });
      frame.addEventListener("pointercancel", () => this.#end());
      frame.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        this.#drag = this.#place(event);
        frame.setPointerCapture(event.pointerId);
        this.#hover(event);
      });
      frame.addEventListener("pointermove", (event) => {
        if (!this.#dragged(event) || event.pointerType === "touch") return this.#hover(event);
        const [from, to] = this.#chosen(event);
        const { top, foot } = this.#scales;
        return this.cursor.replaceChildren(
          svg("rect", { class: "choice", x: from, y: top, width: to - from, height: foot - top }),
        );
      });
      frame.addEventListener("pointerup", (event) => {
        if (!this.#drag) return;
        const [dragged, [from, to]] = [this.#dragged(event), this.#chosen(event)];
        this.#end();
        if (!dragged) this.#pick();
        else if (event.pointerType !== "touch") this.#show(this.#scales.x.invert(from), this.#scales.x.invert(to));
      });
      frame.addEventListener(
        "wheel",
        (event) => {
          if (!event.ctrlKey) return;
          event.preventDefault();
          this.#zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#scales.x.invert(this.#place(event)[0]));
        },
        { passive: false },
      );
      this.details.addEventListener("toggle", () => this.details.open && this.#tabulate());
      new ResizeObserver(([{ contentRect }]) => {
        this.#size = contentRect;
        this.#draw();
      }).observe(this.plot);
    }

    #dragged(event) {
      return this.#drag !== null && Math.abs(this.#place(event)[0] - this.#drag[0]) > DRAG;
    }

    #chosen(event) {
      const { left, right } = this.#scales;
      const ends = [this.#drag[0], this.#place(event)[0]].sort((p, q) => p - q);
      return ends.map((pixel) => Math.min(right, Math.max(left, pixel)));
    }

    #end() {
      this.#drag = null;
    }
  }

  return { make: (figure) => new Chart(figure), percent: marks.percent, plain, steps: marks.steps };
})();
