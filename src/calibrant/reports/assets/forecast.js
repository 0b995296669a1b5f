"use strict";
// The report on a forecast: one state, the controls that change it, and what follows from it.
(() => {
  const { data, el, number, percent } = page;
  const { coverages, slices, rows, label } = data;
  const find = (id) => document.getElementById(id);
  const [slider, sliderText, group, picker] = ["coverage", "coverage-text", "group", "row"].map(find);
  const SLICED = ["pit", "reliability", "deviation", "reached", "width", "intervals", "groups"];
  const COVERED = ["reached", "width", "intervals", "density", "cdf", "groups"];

  const state = {
    coverage: Math.min(98, Math.max(0, Math.round(100 * data.coverage) - 1)),
    slice: 0,
    row: 0,
    shown: "after",
    pickCoverage: (k) => setCoverage(k),
    pickRow: (i) => setRow(i),
    pickSlice: (i) => setSlice(i),
  };
  if (data.time.length) {
    for (const [id, spec] of Object.entries(timeViews)) charts.make(find(id)).show(spec());
  }
  const drawn = Object.fromEntries(Object.keys(views.charts).map((id) => [id, charts.make(find(id))]));

  function show(ids) {
    for (const id of ids) {
      if (rows.length || !["density", "cdf"].includes(id)) drawn[id].show(views.charts[id](state));
    }
  }

  // Sentences.

  const wide = (v) => (v === null ? "infinitely wide" : `${number(v)} wide`);

  function sayCoverage() {
    const k = state.coverage;
    const slice = slices[state.slice];
    const { before, after } = slice;
    const than = (text) => (before ? ` (before: ${text(before)})` : "");
    const share = `${percent(after.covered[k])} of the labels${than((of) => percent(of.covered[k]))}`;
    const width = `${wide(after.width[k])} on average${than((of) => number(of.width[k] ?? Infinity))}`;
    const who = slice.by === null ? "The" : `${views.name(slice)} (${page.rows(slice.m)}): the`;
    find("sentence").textContent = `${who} ${percent(coverages[k], 0)} interval holds ${share} and is ${width}.`;
  }

  // The numbers of a base that is no distribution; of many, how many and how far.
  function marked({ marks }, text) {
    if (marks.length <= 4) return marks.map((mark) => `${mark.text} ${text(mark.at)}`).join(", ");
    const places = marks.map(({ at }) => at);
    return `${marks.length} numbers, ${text(Math.min(...places))} to ${text(Math.max(...places))}`;
  }

  function sayRow() {
    const row = rows[state.row];
    const interval = views.interval(row.after, state);
    const text = views.inRow(row);
    const ends = (of) => of.map(text).join(" to ");
    const base = row.before && (row.before.q ? ends(views.interval(row.before, state)) : marked(row.before, text));
    const before = base ? ` (before: ${base})` : "";
    const where = views.outside(row, interval) ? "outside" : "inside";
    find("row-text").textContent =
      `Row ${row.row}${row.time === undefined ? "" : ` (${row.time})`}: ${label} = ${text(row.y)}, ${where} the ${percent(coverages[state.coverage], 0)} interval ` +
      `${ends(interval)}${before}; P(Y ≤ y) = ${number(row.pit, 3)}; CRPS ${number(row.crps ?? Infinity)}.`;
  }

  function sayFeatures() {
    const given = Object.entries(rows[state.row].features ?? {});
    find("features").replaceChildren(...given.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    find("features").hidden = !given.length;
  }

  // The misses are of all rows: whoever chooses one from another group sees all rows again.
  function sayMisses() {
    const { head, lines } = views.largest(state);
    const filled = page.table(head, lines.map(({ cells }) => ["", ...cells]));
    lines.forEach(({ i }, k) => {
      const button = el("button", { type: "button", class: "link", "aria-label": `Show row ${rows[i].row}` }, String(rows[i].row));
      button.addEventListener("click", () => {
        if (!rows[i].slices.includes(state.slice)) setSlice(0);
        setRow(i);
        find("row-text").scrollIntoView({ block: "nearest" });
      });
      filled.tBodies[0].rows[k].cells[0].append(button);
    });
    find("misses").querySelector(".numbers").replaceChildren(filled);
    find("misses-text").textContent =
      `The ${lines.length === 1 ? "row" : `${lines.length} rows`} with the largest CRPS of all ${number(data.m)}, whatever the coverage: the place to look for outliers.`;
  }

  // The state's four parts.

  function setCoverage(k) {
    state.coverage = k;
    slider.value = k + 1;
    const text = percent(coverages[k], 0);
    sliderText.textContent = text;
    slider.setAttribute("aria-valuetext", text);
    sayCoverage();
    if (rows.length) sayRow();
    sayMisses();
    show(COVERED);
    keep();
  }

  function setSlice(index) {
    state.slice = index;
    group.value = index;
    const offered = views.rowsOf(state);
    picker.replaceChildren(...offered.map((i) => el("option", { value: i }, `${rows[i].row} (${label} = ${views.inRow(rows[i])(rows[i].y)})`)));
    if (offered.length && !offered.includes(state.row)) state.row = offered[0];
    sayCoverage();
    setRow(state.row);
    show(SLICED);
  }

  function setRow(index) {
    state.row = index;
    const offered = views.rowsOf(state);
    const place = offered.indexOf(index);
    picker.value = place < 0 ? "" : index;
    picker.disabled = !offered.length;
    find("previous").disabled = place <= 0;
    find("next").disabled = place < 0 || place === offered.length - 1;
    if (rows.length) sayRow();
    if (rows.length) sayFeatures();
    show(["intervals", "density", "cdf"]);
    keep();
  }

  function setShown(series) {
    state.shown = series;
    find("shown").querySelector(`[value=${series}]`).checked = true;
    show(["intervals"]);
    keep();
  }

  const step = (by) => () => {
    const offered = views.rowsOf(state);
    setRow(offered[offered.indexOf(state.row) + by]);
  };

  // The choice of rows: all, then the values of each grouping under its name.
  function fillGroups() {
    for (const [i, slice] of slices.entries()) {
      const option = el("option", { value: i }, `${slice.value} (${number(slice.m)})`);
      if (slice.by !== null && slice.by !== slices[i - 1].by) group.append(el("optgroup", { label: slice.by }));
      (slice.by === null ? group : group.lastElementChild).append(option);
    }
  }

  // The state lives in the address, so that it survives a reload and can be sent. What is as it was is left out.
  const USUAL = { coverage: String(state.coverage + 1), rows: views.name(slices[0]), row: rows.length ? String(rows[0].row) : null, shown: "after" };
  let listening = false;

  const inWords = () => ({
    coverage: String(state.coverage + 1),
    rows: views.name(slices[state.slice]),
    row: rows.length ? String(rows[state.row].row) : null,
    shown: state.shown,
  });

  function keep() {
    if (!listening) return;
    const changed = Object.entries(inWords()).filter(([name, value]) => value !== USUAL[name]);
    try {
      history.replaceState(null, "", changed.length ? `#${new URLSearchParams(changed)}` : location.href.split("#")[0]);
    } catch {
      // a frame of a notebook has no address of its own
    }
  }

  // What the address says; a name that is not on this page changes nothing.
  function restore() {
    const given = new URLSearchParams(location.hash.slice(1));
    const coverage = Number(given.get("coverage") ?? USUAL.coverage);
    const slice = slices.findIndex((one) => views.name(one) === (given.get("rows") ?? USUAL.rows));
    const row = rows.findIndex((one) => String(one.row) === given.get("row"));
    listening = false;
    setCoverage(Number.isInteger(coverage) && coverage >= 1 && coverage <= 99 ? coverage - 1 : state.coverage);
    setSlice(Math.max(0, slice));
    if (row >= 0 && rows[row].slices.includes(state.slice)) setRow(row);
    const series = given.get("shown") === "before" && rows.some((one) => one.before?.q) ? "before" : "after";
    setShown(series);
    listening = true;
  }

  slider.addEventListener("input", () => setCoverage(Number(slider.value) - 1));
  group.addEventListener("change", () => setSlice(Number(group.value)));
  picker.addEventListener("change", () => setRow(Number(picker.value)));
  find("previous").addEventListener("click", step(-1));
  find("next").addEventListener("click", step(1));
  find("shown").addEventListener("change", (event) => setShown(event.target.value));
  find("shown").hidden = !rows.some((row) => row.before?.q);
  for (const part of document.querySelectorAll(".grouped")) part.hidden = slices.length === 1;

  const savable = (id, name, table) =>
    find(id).append("Save as ", ...save.buttons([["CSV", () => save.csv(name, table())]], name));
  savable("save-measures", find("measures").textContent, () => data.measures);
  if (data.models) savable("save-models", "Models", () => data.models);
  savable("save-misses", "Largest misses", () => {
    const { head, lines } = views.largest(state);
    return { head, rows: lines.map(({ i, cells }) => [String(rows[i].row), ...cells]) };
  });
  window.addEventListener("hashchange", () => location.hash.includes("=") && restore());

  fillGroups();
  restore();
  page.ready();
})();
