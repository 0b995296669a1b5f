"use strict";
// What charts.js draws with: scales, ticks, and the kinds of layer.
const marks = (() => {
  const { fixed, number } = page;
  const EMPTY = [Infinity, -Infinity];

  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // Scales, ticks and their text.

  function linear([a, b], [p, q]) {
    const slope = (q - p) / (b - a);
    // A point far outside stays far outside, but a number that SVG can hold.
    const scale = (v) => Number(Math.min(1e5, Math.max(-1e5, p + (v - a) * slope)).toFixed(2));
    scale.invert = (pixel) => a + (pixel - p) / slope;
    return scale;
  }

  function ticks([a, b], most) {
    const rough = Math.abs(b - a) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * (1 - 1e-9));
    const [first, last] = [Math.ceil(a / step - 1e-9), Math.floor(b / step + 1e-9)];
    const values = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
    return { step, values };
  }

  const decimals = (step) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  // Where four digits tell the ticks apart, a power of ten is shorter.
  const plain = (v, step) =>
    (step < 1e-4 || step >= 1e6) && Math.abs(v) < 1e4 * step ? number(v) : fixed(v, decimals(step));
  const percent = (v, step) => `${fixed(100 * v, Math.max(0, decimals(step) - 2))}%`;

  const pen = document.createElement("canvas").getContext("2d");

  pen.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
  const textWidth = (text) => pen.measureText(text).width;

  function elided(text, width) {
    if (textWidth(text) <= width) return text;
    let end = text.length;
    while (end > 1 && textWidth(`${text.slice(0, end)}…`) > width) end -= 1;
    return `${text.slice(0, end).trimEnd()}…`;
  }

  // As many ticks as leave air between their texts.
  function roomy(domain, length, format) {
    const dense = ticks(domain, Math.min(10, length / 40));
    const widest = Math.max(0, ...dense.values.map((at) => textWidth(format(at, dense.step))));
    return dense.values.length * (widest + 12) <= length ? dense : ticks(domain, length / (widest + 12));
  }

  // The same for an axis that counts things: whole numbers, from the first on.
  function counted([a, b], length, format) {
    const all = Array.from({ length: Math.max(0, Math.floor(b) - Math.ceil(a) + 1) }, (_, i) => Math.ceil(a) + i);
    const widest = Math.max(0, ...all.map((at) => textWidth(format(at, 1))));
    const step = Math.max(1, Math.ceil(((widest + 12) * (b - a)) / length));
    return { step, values: all.filter((_, i) => i % step === 0) };
  }

  // Layers: `reach` gives [x, low, high] of each point, to which the y axis is fitted; `draw` gives the shapes.

  const path = (points, x, y) => {
    let open = false;
    return points
      .map(([u, v]) => {
        const gap = u === null || v === null;
        const step = gap ? "" : `${open ? "L" : "M"}${x(u)} ${y(v)}`;
        open = !gap;
        return step;
      })
      .join("");
  };
  const area = (points, x, y) => {
    if (!points.length) return "";
    const back = points.map(([u, low]) => [u, low]).reverse();
    return `${path([...points.map(([u, , high]) => [u, high]), ...back], x, y)}Z`;
  };
  const cross = (u, v, r) => `M${u - r} ${v - r}L${u + r} ${v + r}M${u - r} ${v + r}L${u + r} ${v - r}`;
  const SHAPES = {
    circle: (u, v, r = 3.5) => svg("circle", { cx: u, cy: v, r }),
    square: (u, v, r = 3.5) => svg("rect", { x: u - r, y: v - r, width: 2 * r, height: 2 * r }),
    up: (u, v, r = 5) => svg("path", { d: `M${u - r} ${v + r}L${u} ${v - r}L${u + r} ${v + r}Z` }),
    down: (u, v, r = 5) => svg("path", { d: `M${u - r} ${v - r}L${u} ${v + r}L${u + r} ${v - r}Z` }),
    diamond: (u, v, r = 4) => svg("path", { d: `M${u - r} ${v}L${u} ${v - r}L${u + r} ${v}L${u} ${v + r}Z` }),
    cross: (u, v, r = 3.5) => svg("path", { d: cross(u, v, r), class: "cross" }),
  };
  const KINDS = {
    line: {
      reach: ({ points }) => points.map(([x, y]) => [x, y, y]),
      draw: ({ points }, x, y) => [svg("path", { d: path(points, x, y) })],
    },
    band: {
      reach: ({ points }) => points,
      draw: ({ points }, x, y) => [svg("path", { d: area(points, x, y) })],
    },
    bars: {
      reach: ({ points }) => points.map(([a, b, high]) => [(a + b) / 2, 0, high]),
      draw: ({ points }, x, y) =>
        points.map(([a, b, high]) => {
          const [left, right, top, foot] = [x(a) + 0.5, x(b) - 0.5, y(high), y(0)];
          return svg("rect", { x: left, y: top, width: Math.max(0.5, right - left), height: Math.max(0, foot - top) });
        }),
    },
    dots: {
      reach: ({ points }) => points.map(([x, y]) => [x, y, y]),
      draw: ({ points, shape, size }, x, y) => points.map(([u, v]) => SHAPES[shape](x(u), y(v), size)),
    },
    stems: {
      reach: ({ points }) => points,
      draw: ({ points }, x, y) => points.map(([u, a, b]) => svg("line", { x1: x(u), x2: x(u), y1: y(a), y2: y(b) })),
    },
    whiskers: {
      reach: () => [],
      draw: ({ points }, x, y) => points.map(([v, a, b]) => svg("line", { x1: x(a), x2: x(b), y1: y(v), y2: y(v) })),
    },
    ranges: {
      reach: () => [],
      draw: ({ points }, x, y) =>
        points.map(([v, a, b]) => svg("rect", { x: x(a), y: y(v) - 8, width: Math.max(0, x(b) - x(a)), height: 16 })),
    },
    atoms: {
      reach: () => [],
      draw: ({ points, shift = 0 }, x, y, [top, foot]) =>
        points.flatMap(({ at, share, text, hollow }) => {
          const [middle, height] = [x(at) + shift, share * (foot - top)];
          const stem = svg("rect", { x: middle - 3, y: foot - height, width: 6, height, class: hollow ? "hollow" : "whole" });
          const place = { x: middle, y: Math.max(top + 10, foot - height - 5), "text-anchor": "middle" };
          return text ? [stem, svg("text", place, text)] : [stem];
        }),
    },
    strip: {
      reach: () => [],
      draw: ({ from, to }, x, y, [top, foot]) => [
        svg("rect", { x: x(from), y: top, width: Math.max(0, x(to) - x(from)), height: foot - top }),
      ],
    },
    rule: {
      reach: () => [],
      draw: (rule, x, y, [top, foot], [left, right]) => {
        if (rule.x === undefined) return [svg("line", { x1: left, x2: right, y1: y(rule.y), y2: y(rule.y) })];
        return [svg("line", { x1: x(rule.x), x2: x(rule.x), y1: top, y2: foot })];
      },
    },
  };

  // The heights that the layers reach between a and b; all of them where none lies there.
  function reached(layers, a, b) {
    const all = layers.flatMap((layer) => KINDS[layer.kind].reach(layer));
    const inside = all.filter(([x]) => x !== null && x >= a && x <= b);
    const heights = (inside.length ? inside : all).flatMap(([, low, high]) => [low, high]);
    return heights.filter((v) => v !== null && Number.isFinite(v));
  }

  function fitted({ domain, include = [] }, layers, view) {
    if (domain) return domain;
    const values = [...include, ...reached(layers, ...view)];
    const [low, high] = values.reduce(([p, q], v) => [Math.min(p, v), Math.max(q, v)], EMPTY);
    if (low > high) return [0, 1];
    const pad = 0.06 * (high - low) || 0.5 * Math.abs(high) || 1;
    const keeps = (v) => include.includes(v) && high > low;
    return [keeps(low) ? low : low - pad, keeps(high) ? high : high + pad];
  }

  // The texts of upright rules, above the plot; where two would overlap, that of the later layer stays.
  function ruleTexts(layers, x, top, [left, right]) {
    const placed = [];
    for (const { text, x: at } of layers.filter(({ kind, text }) => kind === "rule" && text).reverse()) {
      const half = textWidth(text) / 2;
      const middle = Math.min(right - half, Math.max(left + half, x(at)));
      const hidden = x(at) < left || x(at) > right;
      if (!hidden && placed.every((other) => Math.abs(other.middle - middle) > other.half + half + 8)) {
        placed.push({ text, middle, half });
      }
    }
    return placed.map(({ text, middle }) => svg("text", { x: middle, y: top - 6, "text-anchor": "middle" }, text));
  }

  function swatch({ kind, series, shape }) {
    const middle = linear([0, 1], [0, 26]);
    const layer = {
      line: { points: [[0, 6], [1, 6]] },
      band: { points: [[0, 11, 1], [1, 11, 1]] },
      bars: { points: [[0, 1, 11]] },
      dots: { points: [[0.5, 6]], shape },
      stems: { points: [[0.5, 0, 12]] },
      whiskers: { points: [[6, 0, 1]] },
      ranges: { points: [[6, 0, 1]] },
      atoms: { points: [{ at: 0.5, share: 1 }] },
      strip: { from: 0, to: 1 },
      rule: { y: 6 },
    }[kind];
    const flip = kind === "bars" ? (v) => 12 - v : (v) => v;
    const shapes = KINDS[kind].draw(layer, middle, flip, [0, 12], [0, 26]);
    const mark = svg("g", { class: `layer ${kind} ${series ?? ""}` }, ...shapes);
    return svg("svg", { width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true" }, mark);
  }

  // Small histograms at the right of a chart of lines: bars outside the band are marked.
  function asides({ label, points }, y, left, width, foot) {
    const HIGH = 18;
    const drawn = points.flatMap(({ at, bars, band: [low, high] }) => {
      const most = Math.max(high, ...bars);
      const floor = y(at) + HIGH / 2;
      const each = width / bars.length;
      const level = (count) => floor - (HIGH * count) / most;
      return [
        svg("rect", { class: "expected", x: left, y: level(high), width, height: level(low) - level(high) }),
        ...bars.map((count, i) =>
          svg("rect", {
            class: count < low || count > high ? "off" : "share",
            x: left + i * each + 0.5,
            y: level(count),
            width: Math.max(0.5, each - 1),
            height: floor - level(count),
          }),
        ),
      ];
    });
    return [svg("text", { x: left + width / 2, y: foot + 17, "text-anchor": "middle" }, label), ...drawn];
  }

  // The corners of a histogram's outline, as a line.
  const steps = (bars) => bars.flatMap(([a, b, high]) => [[a, high], [b, high]]);

  return { KINDS, SHAPES, asides, counted, elided, fitted, linear, percent, plain, roomy, ruleTexts, steps, svg, swatch, textWidth, ticks };
})();
