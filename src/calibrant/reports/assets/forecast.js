"use strict";
// The report on a forecast: one state, the controls that change it, and what follows from it.
(() => {
  const { data, el, number, percent } = page;
  const { series, label } = data;
  const { coverages, rows, slices } = views;
  const find = (id) => document.getElementById(id);
  const [slider, group, picker, model] = ["coverage", "group", "row", "model"].map(find);
  const models = series.filter(({ base }) => !base).length;
  const drawable = series.map((_, i) => i).filter((i) => slices[0].of[i]);

  const state = {
    coverage: Math.min(98, Math.max(0, Math.round(100 * data.coverage) - 1)),
    slice: 0,
    row: 0,
    shown: 0,
    pickCoverage: (k) => change({ coverage: k }),
    pickRow: (i) => change({ row: i }),
    pickSlice: (i) => change({ slice: i }),
  };
  for (const [id, spec] of Object.entries(data.time.length ? views.inTime : {})) charts.make(find(id)).show(spec());
  const drawn = Object.entries(views.charts).map(([id, view]) => [charts.make(find(id)), view]);

  // Sentences.

  const wide = (v) => (v === null ? "infinitely wide" : `${number(v)} wide`);

  function sayCoverage() {
    const { coverage: k, slice, shown } = state;
    const it = slices[slice];
    const who = `${it.by === null ? "The" : `${views.name(it)} (${page.rows(it.m)}): the`} ${percent(coverages[k], 0)} interval`;
    const of = (i) => `holds ${percent(it.of[i].covered[k])} of the labels and is ${wide(it.of[i].width[k])} on average`;
    const others = drawable.length === 2 ? drawable.filter((i) => i !== shown).map((i) => `; ${series[i].name} it ${of(i)}`) : [];
    find("sentence").textContent = `${who}${drawable.length > 1 ? ` (${series[shown].name})` : ""} ${of(shown)}${others.join("")}.`;
  }

  // The numbers of a base that is no distribution; of many, how many and how far.
  function marked({ marks }, text) {
    if (marks.length <= 4) return marks.map((mark) => `${mark.text} ${text(mark.at)}`).join(", ");
    const places = marks.map(({ at }) => at);
    return `${marks.length} numbers, ${text(Math.min(...places))} to ${text(Math.max(...places))}`;
  }

  function sayRow() {
    const row = rows[state.row];
    const text = views.inRow(row);
    const it = row.of[state.shown];
    const ends = (of) => views.interval(of, state).map(text).join(" to ");
    const others = row.of.flatMap((of, i) => (i === state.shown || series.length > 2 ? [] : [` (${series[i].name}: ${of.q ? ends(of) : marked(of, text)})`]));
    const where = views.outside(row, views.interval(it, state)) ? "outside" : "inside";
    find("row-text").textContent =
      `Row ${row.row}${row.time === undefined ? "" : ` (${row.time})`}: ${label} = ${text(row.y)}, ${where} the ${percent(coverages[state.coverage], 0)} interval ` +
      `${ends(it)}${others.join("")}; P(Y ≤ y) = ${percent(it.pit)}; CRPS ${number(it.crps ?? Infinity)}.`;
    const given = Object.entries(row.features ?? {});
    find("features").replaceChildren(...given.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
    find("features").hidden = !given.length;
  }

  // The misses are of all rows: whoever chooses one from another group sees all rows again.
  function sayMisses() {
    const { head, lines } = views.largest(state);
    const filled = page.table(head, lines.map(({ cells }) => ["", ...cells]));
    filled.className = "cards";
    lines.forEach(({ i }, k) => {
      const button = el("button", { type: "button", class: "link", "aria-label": `Show row ${rows[i].row}` }, String(rows[i].row));
      button.addEventListener("click", () => {
        change({ row: i, slice: rows[i].slices.includes(state.slice) ? state.slice : 0 });
        find("row-text").scrollIntoView({ block: "nearest" });
      });
      filled.tBodies[0].rows[k].cells[0].append(button);
    });
    find("misses-table").replaceChildren(filled);
    find("misses-text").textContent =
      `The ${lines.length === 1 ? "row" : `${lines.length} rows`} with the largest CRPS of all ${number(data.m)}${models > 1 ? `, by ${series[0].name}` : ""}: the place to look for outliers.`;
  }

  // A change of the state: the controls follow, then the sentences and the charts, then the address.
  function change(what) {
    Object.assign(state, what);
    const text = percent(coverages[state.coverage], 0);
    slider.value = state.coverage + 1;
    slider.setAttribute("aria-valuetext", text);
    find("coverage-text").textContent = text;
    group.value = state.slice;
    model.value = state.shown;
    const offered = views.rowsOf(state);
    if (offered.length && !offered.includes(state.row)) [state.row] = offered;
    if ("slice" in what) picker.replaceChildren(...offered.map((i) => el("option", { value: i }, `${rows[i].row} (${label} = ${views.inRow(rows[i])(rows[i].y)})`)));
    const place = offered.indexOf(state.row);
    picker.value = place < 0 ? "" : state.row;
    picker.disabled = !offered.length;
    find("previous").disabled = place <= 0;
    find("next").disabled = place < 0 || place === offered.length - 1;
    sayCoverage();
    sayRow();
    sayMisses();
    for (const [chart, view] of drawn) chart.show(view(state));
    keep();
  }

  const step = (by) => () => {
    const offered = views.rowsOf(state);
    change({ row: offered[offered.indexOf(state.row) + by] });
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
  const inWords = () => ({
    coverage: String(state.coverage + 1),
    rows: views.name(slices[state.slice]),
    row: String(rows[state.row].row),
    model: series[state.shown].name,
  });
  const USUAL = inWords();
  let listening = false;

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
    const said = (name, values, usual) => Math.max(usual, values.indexOf(given.get(name)));
    listening = false;
    const slice = said("rows", slices.map(views.name), 0);
    const row = said("row", rows.map((one) => String(one.row)), 0);
    change({
      coverage: said("coverage", coverages.map((_, k) => String(k + 1)), -1) < 0 ? state.coverage : Number(given.get("coverage")) - 1,
      slice,
      row: rows[row].slices.includes(slice) ? row : state.row,
      shown: drawable.find((i) => series[i].name === given.get("model")) ?? 0,
    });
    listening = true;
  }

  slider.addEventListener("input", () => change({ coverage: Number(slider.value) - 1 }));
  group.addEventListener("change", () => change({ slice: Number(group.value) }));
  model.addEventListener("change", () => change({ shown: Number(model.value) }));
  picker.addEventListener("change", () => change({ row: Number(picker.value) }));
  find("previous").addEventListener("click", step(-1));
  find("next").addEventListener("click", step(1));
  window.addEventListener("hashchange", () => location.hash.includes("=") && restore());

  fillGroups();
  model.append(...drawable.map((i) => el("option", { value: i }, series[i].name)));
  for (const part of document.querySelectorAll(".grouped")) part.hidden = slices.length === 1;
  find("models").hidden = drawable.length === 1;
  const savable = (id, name, table) => find(id).append("Save as ", ...save.buttons([["CSV", () => save.csv(name, table())]], name));
  savable("save-measures", "In numbers", () => data.measures);
  savable("save-misses", "Largest misses", () => {
    const { head, lines } = views.largest(state);
    return { head, rows: lines.map(({ i, cells }) => [String(rows[i].row), ...cells]) };
  });
  restore();
  page.ready();
})();
