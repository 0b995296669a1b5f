"use strict";
// What charts.js draws with: scales, ticks, and the kinds of layer.
const marks = (() => {
  const { fixed, number } = page;

  function svg(tag, attributes = {}, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function linear([a, b], [p, q]) {
    const slope = (q - p) / (b - a);
    // A point far outside stays far outside, but a number that SVG can hold.
    return (v) => Number(Math.min(1e5, Math.max(-1e5, p + (v - a) * slope)).toFixed(2));
  }

  // Ticks: a function of the domain and the pixels that it has gives [{at, text}, ...].

  function even([a, b], most) {
    const rough = Math.abs(b - a) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * (1 - 1e-9));
    return { step, values: multiples(a, b, step) };
  }

  function multiples(a, b, step) {
    const [first, last] = [Math.ceil(a / step - 1e-9), Math.floor(b / step + 1e-9)];
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step);
  }

  const decimals = (step) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  // Where four digits tell the ticks apart, a power of ten is shorter.
  const plain = (v, step) =>
    (step < 1e-4 || step >= 1e6) && Math.abs(v) < 1e4 * step ? number(v) : fixed(v, decimals(step));
  const percent = (v, step) => `${fixed(100 * v, Math.max(0, decimals(step) - 2))}%`;

  // As many as leave air between their texts.
  const numbers = (format) => (domain, length, upright = false) => {
    const made = (most) => {
      const { step, values } = even(domain, most);
      return values.map((at) => ({ at, text: format(at, step) }));
    };
    if (upright) return made(length / 32);
    const dense = made(Math.min(10, length / 40));
    const widest = Math.max(0, ...dense.map(({ text }) => textWidth(text))) + 12;
    return dense.length * widest <= length ? dense : made(length / widest);
  };

  // The same of milliseconds since 1970: minutes, hours, days, months or years that begin.
  const [MINUTE, HOUR, DAY] = [6e4, 36e5, 864e5];
  const CLOCK = [1, 5, 15, 30].map((k) => k * MINUTE).concat([1, 3, 6, 12].map((k) => k * HOUR), [1, 2, 7, 14].map((k) => k * DAY));
  function dates([a, b], length) {
    const least = (b - a) / Math.max(2, length / 95);
    const iso = (at) => new Date(at).toISOString();
    const step = CLOCK.find((each) => each >= least);
    if (step >= DAY) return multiples(a, b, step).map((at) => ({ at, text: iso(at).slice(0, 10) }));
    if (step) return multiples(a, b, step).map((at) => ({ at, text: iso(at).slice(5, 16).replace("T", " ") }));
    const months = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200].find((k) => k * 30 * DAY >= least) ?? 12000;
    const count = (at) => new Date(at).getUTCFullYear() * 12 + new Date(at).getUTCMonth();
    return multiples(count(a), count(b), months)
      .map((k) => Date.UTC(Math.floor(k / 12), k % 12))
      .filter((at) => at >= a && at <= b)
      .map((at) => ({ at, text: iso(at).slice(0, months < 12 ? 7 : 4) }));
  }

  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
  const textWidth = (text) => pen.measureText(text).width;

  function elided(text, width) {
    if (textWidth(text) <= width) return text;
    let end = text.length;
    while (end > 1 && textWidth(`${text.slice(0, end)}…`) > width) end -= 1;
    return `${text.slice(0, end).trimEnd()}…`;
  }

  // Layers: `reach` gives the heights to which the y axis is fitted; `draw` gives the shapes.

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
    const back = points.map(([u, low]) => [u, low]).reverse();
    return points.length ? `${path([...points.map(([u, , high]) => [u, high]), ...back], x, y)}Z` : "";
  };
  const shape = (d) => (u, v, r = 4) => svg("path", { d: d(u, v, r) });
  const SHAPES = {
    circle: (u, v, r = 3.5) => svg("circle", { cx: u, cy: v, r }),
    square: (u, v, r = 3.5) => svg("rect", { x: u - r, y: v - r, width: 2 * r, height: 2 * r }),
    diamond: shape((u, v, r) => `M${u - r} ${v}L${u} ${v - r}L${u + r} ${v}L${u} ${v + r}Z`),
    up: shape((u, v, r) => `M${u - r} ${v + r}L${u} ${v - r}L${u + r} ${v + r}Z`),
    down: shape((u, v, r) => `M${u - r} ${v - r}L${u} ${v + r}L${u + r} ${v - r}Z`),
    cross: (u, v, r = 3.5) => svg("path", { d: `M${u - r} ${v - r}L${u + r} ${v + r}M${u - r} ${v + r}L${u + r} ${v - r}`, class: "cross" }),
  };
  const box = (x, y, width, height, more = {}) => svg("rect", { x, y, width: Math.max(0, width), height: Math.max(0, height), ...more });
  const upright = (at, from, to) => svg("line", { x1: at, x2: at, y1: from, y2: to });
  const level = (at, from, to) => svg("line", { x1: from, x2: to, y1: at, y2: at });
  const none = () => [];
  const KINDS = {
    line: { reach: ({ points }) => points.map(([, y]) => y), draw: ({ points }, x, y) => [svg("path", { d: path(points, x, y) })] },
    band: { reach: ({ points }) => points.flatMap(([, low, high]) => [low, high]), draw: ({ points }, x, y) => [svg("path", { d: area(points, x, y) })] },
    bars: {
      reach: ({ points }) => points.flatMap(([, , high]) => [0, high]),
      draw: ({ points }, x, y) => points.map(([a, b, high]) => box(x(a) + 0.5, y(high), Math.max(0.5, x(b) - x(a) - 1), y(0) - y(high))),
    },
    dots: {
      reach: ({ points }) => points.map(([, y]) => y),
      draw: ({ points, shape: kind, size }, x, y) => points.map(([u, v]) => SHAPES[kind](x(u), y(v), size)),
    },
    stems: {
      reach: ({ points }) => points.flatMap(([, low, high]) => [low, high]),
      draw: ({ points }, x, y) => points.map(([u, a, b]) => upright(x(u), y(a), y(b))),
    },
    whiskers: { reach: none, draw: ({ points }, x, y) => points.map(([v, a, b]) => level(y(v), x(a), x(b))) },
    ranges: { reach: none, draw: ({ points }, x, y) => points.map(([v, a, b]) => box(x(a), y(v) - 8, x(b) - x(a), 16)) },
    atoms: {
      reach: none,
      draw: ({ points, shift = 0 }, x, y, [top, foot]) =>
        points.flatMap(({ at, share, text, hollow }) => {
          const [middle, height] = [x(at) + shift, share * (foot - top)];
          const stem = box(middle - 3, foot - height, 6, height, { class: hollow ? "hollow" : "whole" });
          const place = { x: middle, y: Math.max(top + 10, foot - height - 5), "text-anchor": "middle" };
          return text ? [stem, svg("text", place, text)] : [stem];
        }),
    },
    strip: { reach: none, draw: ({ from, to }, x, y, [top, foot]) => [box(x(from), top, x(to) - x(from), foot - top)] },
    rule: {
      reach: none,
      draw: (rule, x, y, [top, foot], [left, right]) => [rule.x === undefined ? level(y(rule.y), left, right) : upright(x(rule.x), top, foot)],
    },
  };

  // The y axis: what is asked for, or from the lowest to the highest point, with a little air.
  function fitted({ domain, include = [] }, layers) {
    if (domain) return domain;
    const values = [...include, ...layers.flatMap((layer) => KINDS[layer.kind].reach(layer))].filter(Number.isFinite);
    if (!values.length) return [0, 1];
    const [low, high] = [values.reduce((p, q) => Math.min(p, q)), values.reduce((p, q) => Math.max(p, q))];
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
      if (!hidden && placed.every((other) => Math.abs(other.middle - middle) > other.half + half + 8)) placed.push({ text, middle, half });
    }
    return placed.map(({ text, middle }) => svg("text", { x: middle, y: top - 6, "text-anchor": "middle" }, text));
  }

  function swatch({ kind, series, shape: mark }) {
    const layer = {
      line: { points: [[0, 6], [1, 6]] },
      band: { points: [[0, 11, 1], [1, 11, 1]] },
      bars: { points: [[0, 1, 11]] },
      dots: { points: [[0.5, 6]], shape: mark },
      stems: { points: [[0.5, 0, 12]] },
      whiskers: { points: [[6, 0, 1]] },
      ranges: { points: [[6, 0, 1]] },
      atoms: { points: [{ at: 0.5, share: 1 }] },
      strip: { from: 0, to: 1 },
      rule: { y: 6 },
    }[kind];
    const flip = kind === "bars" ? (v) => 12 - v : (v) => v;
    const shapes = KINDS[kind].draw(layer, linear([0, 1], [0, 26]), flip, [0, 12], [0, 26]);
    return svg("svg", { width: 26, height: 12, viewBox: "0 0 26 12", "aria-hidden": "true" }, svg("g", { class: `layer ${kind} ${series ?? ""}` }, ...shapes));
  }

  // Small histograms at the right of a chart of lines: bars outside the band are marked.
  function asides({ label, points }, y, left, width, foot) {
    const HIGH = 18;
    const drawn = points.flatMap(({ at, bars, band: [low, high] }) => {
      const most = Math.max(high, ...bars);
      const floor = y(at) + HIGH / 2;
      const each = width / bars.length;
      const top = (v) => floor - (HIGH * v) / most;
      return [
        box(left, top(high), width, top(low) - top(high), { class: "expected" }),
        ...bars.map((v, i) => box(left + i * each + 0.5, top(v), Math.max(0.5, each - 1), floor - top(v), { class: v < low || v > high ? "off" : "share" })),
      ];
    });
    return [svg("text", { x: left + width / 2, y: foot + 17, "text-anchor": "middle" }, label), ...drawn];
  }

  return { KINDS, SHAPES, asides, dates, elided, fitted, linear, numbers, percent, plain, ruleTexts, svg, swatch, textWidth };
})();
