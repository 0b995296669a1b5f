"use strict";
// What every page has: its data, its numbers in words, elements made without markup, and the choice of colours.
//
//   page.data                         the object that Python gave to page()
//   page.number(v), page.percent(v)   text for a number; null is "–", infinity "∞"
//   page.near(v, range)               text for a number that may differ little from its neighbours
//   page.el("p", {class: "a"}, "text", child)   an element; what is text stays text
//   page.table(head, rows)            a table, the first cell of each row its header
//   page.ready()                      the last line of a page's script: everything is drawn
const page = (() => {
  const root = document.documentElement;
  root.dataset.script = "on";

  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const absent = (v) => v === null || v === undefined || Number.isNaN(v);
  const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  const superscript = (text) => text.replace("+", "").replace("-", "⁻").replace(/\d/g, (d) => SUPERSCRIPTS[d]);

  function grouped(text) {
    const [whole, rest] = text.split(".");
    const parts = whole.replace(/\B(?=(\d{3})+$)/g, ",");
    return rest === undefined ? parts : `${parts}.${rest}`;
  }

  // With a fixed number of decimals: what the ticks of one axis share.
  function fixed(v, decimals) {
    const text = Math.abs(v).toFixed(Math.min(decimals, 20));
    return (v < 0 && Number(text) !== 0 ? "\u2212" : "") + grouped(text);
  }

  function number(v, digits = 4) {
    if (absent(v)) return "–";
    const sign = v < 0 ? "\u2212" : "";
    const size = Math.abs(v);
    if (size === Infinity) return `${sign}∞`;
    if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
      const [mantissa, power] = size.toExponential(digits - 1).split("e");
      return `${sign}${trimmed(mantissa)}×10${superscript(power)}`;
    }
    const decimals = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
    const text = trimmed(size.toFixed(decimals));
    return (text === "0" ? "" : sign) + grouped(text);
  }

  // A number among others that lie within `range`: with the decimals that tell them apart.
  function near(v, range) {
    const decimals = 1 - Math.floor(Math.log10(range));
    const enough = !(Math.abs(v) > 100 * range) || !Number.isFinite(v) || decimals > 20;
    return enough ? number(v) : fixed(v, Math.max(0, decimals));
  }

  const rows = (m) => (m === 1 ? "1 row" : `${number(m)} rows`);

  const percent = (v, decimals = 1) => (absent(v) ? "–" : `${fixed(100 * v, decimals)}%`);

  function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  function table(head, rows) {
    const cells = ([first, ...others]) => [el("th", { scope: "row" }, first), ...others.map((text, i) => el("td", { "data-name": head[i + 1] }, text))];
    return el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row)))),
    );
  }

  // The choice lives as long as the page: a file opened from disk has no storage to rely on.
  document.getElementById("theme").addEventListener("change", (event) => {
    root.dataset.theme = event.target.value;
  });

  // Charts draw after the first layout, before the second frame.
  const ready = () =>
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        root.dataset.ready = "true";
      }),
    );

  return { data: JSON.parse(document.getElementById("data").textContent), el, fixed, near, number, percent, ready, rows, table };
})();
