"use strict";
// The study's charts: what each shows of the state {datasets, one, other, metric}.
const views = (() => {
  const { data, fixed, number, percent } = page;
  const { datasets: names, methods, metrics } = data;
  const title = ({ base, score, interpolator }) => `${score}-${interpolator}${base === "distribution" ? "" : `, ${base}`}`;
  const heading = (key) => metrics.find((metric) => metric.key === key).heading;
  // A mean to as many decimals as its error has, which is given two digits.
  function plusMinus({ value, se }) {
    if (value === null || !se) return number(value);
    const decimals = Math.max(0, 1 - Math.floor(Math.log10(se)));
    return decimals > 7 ? `${number(value)} ± ${number(se, 2)}` : `${fixed(value, decimals)} ± ${fixed(se, decimals)}`;
  }
  const SURE = 2; // standard errors on either side

  // Means on lines of their own: spots = [{at, mean, series}]; the mean itself is drawn whatever is known of its error.
  function spotted(spots, labels) {
    const known = spots.filter(({ mean }) => mean.value !== null);
    const ends = ({ mean }) => [mean.value - SURE * (mean.se ?? 0), mean.value + SURE * (mean.se ?? 0)];
    const each = Object.entries(labels).filter(([series]) => known.some((spot) => spot.series === series));
    return {
      ends: known.flatMap(ends),
      layers: each.flatMap(([series, name], i) => {
        const own = known.filter((spot) => spot.series === series);
        return [
          { kind: "whiskers", series, points: own.map((spot) => [spot.at, ...ends(spot)]) },
          { kind: "dots", series, name, shape: i ? "square" : "circle", points: own.map(({ at, mean }) => [mean.value, at]) },
        ];
      }),
    };
  }

  function padded(values) {
    if (!values.length) return [0, 1];
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const pad = 0.05 * (high - low) || 0.1;
    return [low - pad, high + pad];
  }

  // Lines, one below the other, a name each.
  function upright(lines, spec) {
    return {
      ...spec,
      along: "y",
      height: 66 + 26 * lines.length,
      y: {
        domain: [lines.length - 0.5, -0.5],
        names: lines.map(({ text, strong }, at) => ({ at, text, class: strong ? "strong" : "" })),
      },
    };
  }

  function differences({ datasets, one, other, metric }) {
    const ours = datasets.map((d) => means.difference(one, other, metric, d));
    const theirs = datasets.map((d) => means.gap(means.published(one, metric, d), means.published(other, metric, d)));
    const lines = [
      ...datasets.map((d, i) => ({ text: names[d], ours: ours[i], theirs: theirs[i] })),
      { text: "mean", strong: true, ours: means.overDatasets(ours), theirs: means.overDatasets(theirs) },
    ];
    const spots = lines.flatMap(({ ours: here, theirs: there }, at) => [
      { at: at - 0.15, mean: here, series: "s0" },
      { at: at + 0.15, mean: there, series: "s1" },
    ]);
    const { ends, layers } = spotted(spots, { s0: "here", s1: "published" });
    return upright(lines, {
      key: `${one} ${other} ${metric}`,
      x: { label: `${heading(metric)}: ${title(methods[one])} minus ${title(methods[other])}`, domain: padded([0, ...ends]) },
      layers: [{ kind: "rule", series: "target", x: 0 }, ...layers],
      stops: lines.map(({ text, ours: here, theirs: there }, at) => ({
        x: here.value ?? 0,
        y: at,
        say: () => `${text}: ${plusMinus(here)}${there.value === null ? "" : `; published ${plusMinus(there)}`}`,
      })),
      summary: "The bars are two standard errors on either side. Ours are of paired differences, split by split; the published ones are not.",
      table: () => ({
        head: ["dataset", "here", "standard error", "published", "standard error"],
        rows: lines.map(({ text, ours: a, theirs: b }) => [text, ...[a.value, a.se, b.value, b.se].map((v) => number(v))]),
      }),
    });
  }

  function published({ datasets, one, metric }) {
    const lines = datasets.map((d) => ({
      text: names[d],
      ours: means.of(one, metric, d),
      theirs: means.published(one, metric, d),
    }));
    const spots = lines.flatMap(({ ours, theirs }, at) => [
      { at: at - 0.15, mean: ours, series: "s0" },
      { at: at + 0.15, mean: theirs, series: "s1" },
    ]);
    const { ends, layers } = spotted(spots, { s0: "here", s1: "published" });
    const known = lines.some(({ theirs }) => theirs.value !== null);
    return upright(lines, {
      key: `${one} ${metric}`,
      x: { label: `${heading(metric)} of ${title(methods[one])}`, domain: padded(ends) },
      layers,
      stops: lines.map(({ text, ours, theirs }, at) => ({
        x: ours.value ?? 0,
        y: at,
        say: () => `${text}: ${plusMinus(ours)}; published ${plusMinus(theirs)}`,
      })),
      summary: known
        ? "Each dataset's mean over its splits; the bars are two standard errors on either side."
        : "The paper has no such numbers by dataset for this method; these are ours.",
      table: () => ({
        head: ["dataset", "here", "standard error", "published", "standard error"],
        rows: lines.map(({ text, ours: a, theirs: b }) => [text, ...[a.value, a.se, b.value, b.se].map((v) => number(v))]),
      }),
    });
  }

  // The study's figure: conformal and credible intervals of the same base type.
  function paired(what, ticks, said) {
    return ({ datasets }) => {
      const lines = methods.flatMap((method, i) => {
        const [conformal, credible] = ["conformal", "credible"].map((kind) => means.average(i, `${kind}_${what}`, datasets));
        const text = method.base === "distribution" ? `${method.base}, ${method.score}` : method.base;
        return conformal.value === null ? [] : [{ text, conformal, credible }];
      });
      const spots = lines.flatMap(({ conformal, credible }, at) => [
        { at: at - 0.15, mean: conformal, series: "s0" },
        { at: at + 0.15, mean: credible, series: "s1" },
      ]);
      const { ends, layers } = spotted(spots, { s0: "conformal", s1: "credible" });
      const target = what === "coverage" ? [data.coverage] : [];
      return upright(lines, {
        key: "",
        x: { label: `${what} of the 90% interval`, domain: padded([...target, ...ends]), ticks },
        layers: [...target.map((x) => ({ kind: "rule", series: "target", name: "target", x })), ...layers],
        stops: lines.map(({ text, conformal, credible }, at) => ({
          x: conformal.value,
          y: at,
          say: () => `${text}: conformal ${said(conformal.value)}, credible ${said(credible.value)}`,
        })),
        summary: `The mean ${what} over the chosen datasets; the bars are two standard errors on either side.`,
        table: () => ({
          head: ["base type", "conformal", "credible"],
          rows: lines.map(({ text, conformal, credible }) => [text, said(conformal.value), said(credible.value)]),
        }),
      });
    };
  }

  return {
    charts: {
      differences,
      published,
      widths: paired("width", charts.plain, (v) => number(v)),
      coverages: paired("coverage", charts.percent, (v) => percent(v)),
    },
    heading, plusMinus, title,
  };
})();
