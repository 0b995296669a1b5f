"use strict";
// The study's page: one state, the controls that change it, the table and the charts that follow from it.
(() => {
  const { data, el, fixed } = page;
  const { datasets: names, methods, metrics, printed } = data;
  const { heading, plusMinus, title } = views;
  const find = (id) => document.getElementById(id);
  const INTERVAL = (key) => /^(conformal|credible)_/.test(key);
  const keys = metrics.map(({ key }) => key);

  const named = (wanted, otherwise) => Math.max(otherwise, methods.findIndex((method) => title(method) === wanted));
  const state = {
    datasets: names.map((_, i) => i),
    table: "1",
    sort: { key: null, falling: false },
    one: named("zscore-naf", 0),
    other: named("zscore-linear", 0),
    metric: "nll",
  };
  const drawn = Object.fromEntries(Object.keys(views.charts).map((id) => [id, charts.make(find(id))]));

  // The table.

  const columns = () => keys.filter((key) => INTERVAL(key) === (state.table === "intervals"));

  function listed() {
    const every = methods.map((_, i) => i);
    if (state.table === "all") return every;
    if (state.table === "intervals") return every.filter((i) => methods[i].interpolator === "linear");
    return every.filter((i) => methods[i].tables.includes(state.table));
  }

  const rowName = (method) => (state.table === "2" ? method.base : title(method));

  // The paper's mean over the chosen datasets, and ours over those that have both; Table 2 is printed as a whole only.
  function beside(method, key) {
    if (state.table === "2") {
      const pair = state.datasets.length === names.length ? printed[key][method] : null;
      return pair && { there: { value: pair[0], se: pair[1] }, here: means.average(method, key, state.datasets), of: "over 17 datasets" };
    }
    const both = state.datasets.filter(
      (d) => means.published(method, key, d).value !== null && means.of(method, key, d).value !== null,
    );
    if (!both.length) return null;
    const there = means.overDatasets(both.map((d) => means.published(method, key, d)));
    const some = both.length < state.datasets.length ? `over ${both.length} of ${state.datasets.length}` : "";
    return { there, here: means.average(method, key, both), of: some };
  }

  function cell(method, key) {
    const mean = means.average(method, key, state.datasets);
    const found = el("td", {}, plusMinus(mean));
    const below = (text) => found.append(el("span", { class: "range" }, text));
    if (mean.value !== null && mean.count < mean.of) below(`${mean.count} of ${mean.of} datasets`);
    const paper = beside(method, key);
    if (paper) {
      const { value, se } = means.gap(paper.here, paper.there);
      below(`paper ${plusMinus(paper.there)}`);
      if (paper.of) below(paper.of);
      if (se) below(`${value > 0 ? "+" : ""}${fixed(value / se, 1)} se apart`);
    }
    return found;
  }

  function ordered(rows) {
    const { key, falling } = state.sort;
    if (key === null) return rows;
    if (key === "name") {
      const sorted = rows.toSorted((a, b) => rowName(methods[a]).localeCompare(rowName(methods[b])));
      return falling ? sorted.toReversed() : sorted;
    }
    const value = new Map(rows.map((i) => [i, means.average(i, key, state.datasets).value]));
    const [known, unknown] = [true, false].map((has) => rows.filter((i) => (value.get(i) !== null) === has));
    return [...known.sort((a, b) => (value.get(a) - value.get(b)) * (falling ? -1 : 1)), ...unknown];
  }

  function head(key, text) {
    const sorted = state.sort.key === key;
    const arrow = sorted ? (state.sort.falling ? " ▾" : " ▴") : "";
    const button = el("button", { type: "button", class: "sort", "data-key": key }, text, el("span", { "aria-hidden": "true" }, arrow));
    button.addEventListener("click", () => {
      state.sort = { key, falling: sorted && !state.sort.falling };
      showTable();
      find("results-table").querySelector(`[data-key="${key}"]`).focus();
    });
    const order = sorted ? (state.sort.falling ? "descending" : "ascending") : "none";
    return el("th", { scope: "col", "aria-sort": order }, button);
  }

  function showTable() {
    const shown = columns();
    const rows = ordered(listed()).map((i) =>
      el("tr", {}, el("th", { scope: "row" }, rowName(methods[i])), ...shown.map((key) => cell(i, key))),
    );
    find("results-table").replaceChildren(
      el(
        "table",
        {},
        el("caption", {}, "Mean ± standard error, and the paper's; press a heading to sort."),
        el("thead", {}, el("tr", {}, head("name", state.table === "2" ? "base type" : "method"), ...shown.map((key) => head(key, heading(key))))),
        el("tbody", {}, ...rows),
      ),
    );
    const chosen = state.datasets.length;
    find("sentence").textContent =
      chosen === 0
        ? "No dataset is chosen."
        : chosen === 1
          ? `Means over the splits of ${names[state.datasets[0]]}.`
          : `Means over ${chosen === names.length ? `all ${chosen}` : `${chosen} of ${names.length}`} datasets.`;
  }

  // Two methods.

  function sayCompared() {
    const { datasets, one, other, metric } = state;
    const gaps = datasets.map((d) => means.difference(one, other, metric, d));
    const mean = means.overDatasets(gaps);
    const [first, second] = [one, other].map((i) => title(methods[i]));
    if (mean.value === null) {
      find("compared").textContent = `Of the chosen datasets none has the ${heading(metric)} of both ${first} and ${second}.`;
      return;
    }
    const lower = gaps.filter(({ value }) => value !== null && value < 0).length;
    const sure = mean.se !== null && Math.abs(mean.value) > 2 * mean.se;
    find("compared").textContent =
      `${heading(metric)} of ${first} is lower than that of ${second} on ${lower} of ${mean.count} datasets; ` +
      `the mean difference is ${plusMinus(mean)}${sure ? "" : ", which is not two standard errors from 0"}.`;
  }

  const CHARTS = Object.keys(views.charts);
  const show = (ids) => ids.forEach((id) => drawn[id].show(views.charts[id](state)));

  function showComparison() {
    sayCompared();
    show(["differences", "published"]);
  }

  function showAll() {
    showTable();
    sayCompared();
    show(CHARTS);
  }

  // The controls.

  const boxes = names.map((name, i) => {
    const box = el("input", { type: "checkbox", value: i, checked: "", autocomplete: "off" });
    find("datasets").append(el("label", {}, box, name));
    return box;
  });

  function choose(wanted) {
    boxes.forEach((box, i) => (box.checked = wanted(box, i)));
    state.datasets = names.map((_, i) => i).filter((i) => boxes[i].checked);
    showAll();
  }

  function fill(id, texts, value, change) {
    const select = find(id);
    select.append(...texts.map(([key, text]) => el("option", { value: key }, text)));
    select.value = value;
    select.addEventListener("change", () => {
      change(select.value);
      showComparison();
    });
  }

  find("datasets").addEventListener("change", () => choose((box) => box.checked));
  find("all").addEventListener("click", () => choose(() => true));
  find("none").addEventListener("click", () => choose(() => false));
  find("table").addEventListener("change", (event) => {
    state.table = event.target.value;
    state.sort = { key: null, falling: false };
    showTable();
  });
  const titles = methods.map((method, i) => [i, title(method)]);
  fill("one", titles, state.one, (value) => (state.one = Number(value)));
  fill("other", titles, state.other, (value) => (state.other = Number(value)));
  fill("metric", keys.filter((key) => !INTERVAL(key)).map((key) => [key, heading(key)]), state.metric, (value) => (state.metric = value));

  showAll();
  page.ready();
})();
