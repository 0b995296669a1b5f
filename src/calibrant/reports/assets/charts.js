"use strict";
// Small SVG charts for the eye, the pointer, the keyboard and the screen reader.
//
//   const chart = charts.make(figure);   <figure class="chart" id="pit"><figcaption>...</figcaption></figure>
//   chart.show(spec);                    again with another spec whenever the data change
//
// spec = {
//   x: {label, domain: [a, b], ticks?}                    ticks: charts.plain (default), charts.percent, charts.dates
//   y: {label, ticks?, include?: [values], domain?, names?: [{at, text, class?, indent?}]}
//                                                         fitted to the layers and `include`, unless `domain`
//   layers: [{kind, series?, name?, ...}]                 in painting order; `name` puts it into the legend, by `rank`;
//                                                         `series` (s0, s1, expected, ...) are classes in charts.css
//     line {points: [[x, y], ...]}        band {points: [[x, low, high], ...]}     bars {points: [[x0, x1, y], ...]}
//     dots {points: [[x, y], ...], shape, size?}            strip {from, to}: a part of the x axis
//     stems {points: [[x, low, high], ...]}: upright        whiskers, ranges {points: [[y, low, high], ...]}: lying
//     atoms {points: [{at, share, text?, hollow?}], shift?}   stems whose height is a probability, 1 the whole plot
//     rule {x | y, text?}                                   null is a gap; infinite ends leave the picture
//   stops: [{x, y?, marks?: [[x, y, series]], say: () => text}]   where pointer and arrow keys stop; what is then read
//   along: "x" (default) | "y" | "both"                   the axis along which the stops lie
//   aside: {label, points: [{at, bars, band: [low, high]}]}   a small histogram beside each line of names
//   pick: (index of the stop) => ...                      click, tap or Enter
//   summary, table: () => ({head, rows})                  the same in words and in numbers
//   height                                                in pixels, where the style sheet's is not right
// }
const charts = (() => {
  const { el } = page;
  const { KINDS, SHAPES, asides, elided, fitted, linear, numbers, ruleTexts, svg, swatch, textWidth } = marks;
  const plain = numbers(marks.plain);

  class Chart {
    #spec = null;
    #stop = -1;
    #scales = null;
    #size = null; // known after the first layout, and kept: to ask for it costs another layout

    constructor(figure) {
      this.figure = figure;
      const caption = figure.querySelector("figcaption");
      this.name = caption.textContent.trim();
      this.legend = el("ul", { class: "legend" });
      this.summary = el("p", { class: "summary", id: `${figure.id}-summary` });
      this.plot = el("div", { class: "plot" });
      this.readout = el("p", { class: "readout", "aria-live": "polite" });
      this.frame = svg("svg", { tabindex: 0, role: "application", "aria-roledescription": "chart" });
      this.frame.setAttribute("aria-label", `${this.name}: arrow keys read the values`);
      this.frame.setAttribute("aria-describedby", this.summary.id);
      this.details = el("details", {}, el("summary", {}, "Table and files", el("span", { class: "hidden" }, `(${this.name})`)));
      this.numbers = el("div", { class: "numbers", tabindex: 0, role: "region", "aria-label": `${this.name}, as a table` });
      const acts = [["SVG", () => save.svg(this)], ["PNG", () => save.png(this)], ["CSV", () => save.csv(this.name, this.#spec.table())]];
      this.details.append(el("p", { class: "saves" }, "Save as ", ...save.buttons(acts, this.name)), this.numbers);
      this.plot.append(this.frame);
      caption.id ||= `${figure.id}-caption`;
      figure.setAttribute("role", "group");
      figure.setAttribute("aria-labelledby", caption.id);
      figure.append(this.summary, this.legend, this.plot, this.readout, this.details);
      this.#listen();
    }

    show(spec) {
      if (this.#spec?.stops.length !== spec.stops.length) this.#stop = -1;
      this.#spec = spec;
      this.summary.textContent = spec.summary;
      const named = spec.layers.filter((layer) => layer.name).sort((p, q) => (p.rank ?? 0) - (q.rank ?? 0));
      this.legend.replaceChildren(...named.map((layer) => el("li", {}, swatch(layer), layer.name)));
      if (spec.height) this.plot.style.height = `${spec.height}px`;
      this.#draw();
      if (this.details.open) this.#tabulate();
    }

    #tabulate() {
      const { head, rows } = this.#spec.table();
      this.numbers.replaceChildren(page.table(head, rows));
    }

    #draw() {
      if (!this.#spec || !this.#size?.width) return;
      const { width, height } = this.#size;
      const { x: xAxis, y: yAxis, layers, along, aside } = this.#spec;
      const yDomain = fitted(yAxis, layers);
      const lettered = layers.some(({ kind, text }) => kind === "rule" && text);
      const [top, foot] = [(yAxis.label ? 26 : 8) + (lettered ? 14 : 0), height - 40];
      const yNames = yAxis.names ?? (yAxis.ticks ?? plain)(yDomain, foot - top, true);
      const room = Math.max(...yNames.map(({ text, indent = 0 }) => textWidth(text) + indent), 8);
      const left = Math.min(Math.ceil(room) + 10, Math.round(width * 0.47));
      const margin = aside ? Math.min(110, Math.round(width * 0.16)) : 0;
      const right = width - 18 - (margin && margin + 8);
      const [x, y] = [linear(xAxis.domain, [left, right]), linear(yDomain, [foot, top])];
      this.#scales = { x, y, left, right, top, foot };
      const xTicks = (xAxis.ticks ?? plain)(xAxis.domain, right - left);
      const grid = along === "y"
        ? xTicks.map(({ at }) => svg("line", { x1: x(at), x2: x(at), y1: top, y2: foot }))
        : yNames.map(({ at }) => svg("line", { x1: left, x2: right, y1: y(at), y2: y(at) }));
      const xTexts = xTicks.map(({ at, text }) => {
        const half = textWidth(text) / 2; // a long text at the end of the axis stays in the picture
        return svg("text", { x: Math.min(Math.max(x(at), half), width - half), y: foot + 17, "text-anchor": "middle" }, text);
      });
      const yTexts = yNames.map(({ at, text, class: kind = "", indent = 0 }) => {
        const place = yAxis.names ? { x: indent } : { x: left - 8, "text-anchor": "end" };
        return svg("text", { ...place, y: y(at) + 4, class: kind }, elided(text, left - 10 - indent));
      });
      const clip = `${this.figure.id}-clip`;
      const window = svg("rect", { x: left, y: top - 1, width: right - left, height: foot - top + 2 });
      const drawn = layers.map((layer) =>
        svg("g", { class: `layer ${layer.kind} ${layer.series ?? ""}` }, ...KINDS[layer.kind].draw(layer, x, y, [top, foot], [left, right])),
      );
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
          ...(margin ? [svg("g", { class: "aside s0" }, ...asides(aside, y, right + 16, margin, foot))] : []),
          svg("g", { class: "rules" }, ...ruleTexts(layers, x, top, [left, right])),
          svg("g", { class: "ticks x" }, ...xTexts),
          svg("g", { class: "ticks y" }, ...yTexts),
          svg("text", { class: "label", x: right, y: height - 5, "text-anchor": "end" }, xAxis.label),
          svg("text", { class: "label", x: 0, y: 12 }, yAxis.label ?? ""),
        ),
      );
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
      const known = (stop.marks ?? []).filter(([, v]) => v !== null && Number.isFinite(v));
      const dots = known.map(([u, v, series]) => svg("g", { class: `dots ${series}` }, SHAPES.circle(x(u), y(v), 4.5)));
      this.cursor.replaceChildren(svg("line", across), ...dots);
      const text = stop.say();
      if (this.readout.textContent !== text) this.readout.textContent = text;
    }

    #leave() {
      this.#stop = -1;
      this.cursor?.replaceChildren();
      this.readout.textContent = "";
    }

    #hover(event) {
      const { x, y } = this.#scales;
      const box = this.frame.getBoundingClientRect();
      const [px, py] = [event.clientX - box.left, event.clientY - box.top];
      const far = {
        x: (stop) => Math.abs(x(stop.x) - px),
        y: (stop) => Math.abs(y(stop.y) - py),
        both: (stop) => Math.hypot(x(stop.x) - px, y(stop.y) - py),
      }[this.#spec.along ?? "x"];
      const index = this.#spec.stops.reduce((best, stop, i, all) => (best < 0 || far(stop) < far(all[best]) ? i : best), -1);
      if (index >= 0) this.#point(index);
    }

    #key(event) {
      if (event.altKey || event.metaKey || event.ctrlKey) return;
      const { stops, along } = this.#spec;
      const to = (index) => stops.length && this.#point(Math.min(stops.length - 1, Math.max(0, index)));
      const by = (step) => to(this.#stop < 0 ? 0 : this.#stop + step);
      const acts = {
        [along === "y" ? "ArrowDown" : "ArrowRight"]: () => by(1),
        [along === "y" ? "ArrowUp" : "ArrowLeft"]: () => by(-1),
        PageDown: () => by(10),
        PageUp: () => by(-10),
        Home: () => to(0),
        End: () => to(stops.length - 1),
        Escape: () => this.#leave(),
        Enter: () => this.#pick(),
        " ": () => this.#pick(),
      };
      if (!(event.key in acts)) return;
      event.preventDefault();
      acts[event.key]();
    }

    #pick() {
      if (this.#stop >= 0) this.#spec.pick?.(this.#stop);
    }

    #listen() {
      const { frame } = this;
      frame.addEventListener("keydown", (event) => this.#key(event));
      frame.addEventListener("blur", () => this.#leave());
      // A finger that is lifted leaves the chart too, but its reader has only begun.
      frame.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.#leave());
      frame.addEventListener("pointermove", (event) => this.#hover(event));
      frame.addEventListener("click", (event) => {
        this.#hover(event);
        this.#pick();
      });
      this.details.addEventListener("toggle", () => this.details.open && this.#tabulate());
      new ResizeObserver(([{ contentRect }]) => {
        this.#size = contentRect;
        this.#draw();
      }).observe(this.plot);
    }
  }

  return { make: (figure) => new Chart(figure), dates: marks.dates, percent: numbers(marks.percent), plain };
})();
