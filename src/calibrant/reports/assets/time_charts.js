"use strict";
// How a forecast did along time: coverage and PIT deviation of each period, with the bands that the verdict goes by.
// They show all rows at the coverage of the verdict, whatever the controls say.
const timeViews = (() => {
  const { data, number, percent } = page;
  const periods = data.time;
  const SERIES = ["after", "before"].filter((series) => periods[0]?.[series]);
  const SHAPE = { after: "circle", before: "square" };
  const NAMES = { after: SERIES.length > 1 ? "after" : "forecast", before: "before" };
  const wanted = percent(data.coverage, Number.isInteger(100 * data.coverage) ? 0 : 1);

  const span = (it) => (it.from === it.to ? it.from : `${it.from} to ${it.to}`);
  // A whole number is the place of a period, counted from 1, which is named by its first row.
  const named = (place) => periods[Math.round(place) - 1]?.from ?? "";

  // `of` is the number that is drawn, `band` what chance allows, `text` a number in words, `marked` a period that is off.
  function along(of, band, text, words) {
    const points = (series, off) =>
      periods.flatMap((it, k) => (series === "after" && it.off !== off ? [] : [[k + 1, it[series][of]]]));
    const allowed = periods.flatMap((it, k) => [[k + 0.5, ...band(it)], [k + 1.5, ...band(it)]]);
    const values = (it) => SERIES.map((series) => text(it[series][of]));
    const both = (it) => (SERIES.length > 1 ? SERIES.map((series, i) => `${series} ${values(it)[i]}`).join(", ") : values(it)[0]);
    const others = SERIES.filter((series) => series !== "after");
    return {
      x: { label: "period, by its first row", domain: [0.5, periods.length + 0.5], format: named, whole: true },
      y: { label: words.axis, format: words.format, include: words.include },
      layers: [
        { kind: "band", series: "expected", name: "chance allows", points: allowed },
        ...words.under,
        ...(words.parts?.length ? [{ kind: "dots", series: "expected", name: "with ties split", shape: "diamond", points: words.parts }] : []),
        ...others.map((series) => ({ kind: "dots", series, name: NAMES[series], shape: SHAPE[series], points: points(series) })),
        { kind: "line", series: "after", points: periods.map((it, k) => [k + 1, it.after[of]]) },
        { kind: "dots", series: "after", name: NAMES.after, shape: "circle", points: points("after", false) },
        { kind: "dots", series: "miss", name: "period that is off", shape: "cross", points: points("after", true) },
      ],
      stops: periods.map((it, k) => ({
        x: k + 1,
        marks: SERIES.map((series) => [k + 1, it[series][of], series]),
        say: () => `${span(it)} (${page.rows(it.m)}): ${words.name} ${both(it)}; chance allows ${words.allowed(it)}; ${it.direction}`,
      })),
      summary: words.summary,
      table: () => ({
        head: ["from", "to", "rows", ...SERIES.map((series) => NAMES[series]), ...words.head, "forecasts"],
        rows: periods.map((it) => [it.from, it.to, number(it.m), ...values(it), ...words.cells(it), it.direction]),
      }),
    };
  }

  // Where labels lie on atoms, chance is asked about the share with ties split.
  const parts = periods.flatMap((it, k) => (it.after.part === undefined ? [] : [[k + 1, it.after.part]]));
  const inPart = (it) => (it.after.part === undefined ? "" : ` of the ${percent(it.after.part)} with ties split`);

  const coverage = () =>
    along("covered", (it) => it.band, percent, {
      parts,
      axis: `labels inside the ${wanted} interval`,
      format: charts.percent,
      include: [data.coverage],
      under: [{ kind: "rule", series: "target", name: "target", y: data.coverage }],
      name: "coverage",
      allowed: (it) => `${it.band.map((v) => percent(v)).join(" to ")}${inPart(it)}`,
      head: [...(parts.length ? ["with ties split"] : []), "chance allows from", "to"],
      cells: (it) => [...(parts.length ? [it.after.part] : []), ...it.band].map((v) => percent(v)),
      summary:
        `The share of each period's labels inside the ${wanted} interval. ` +
        (parts.length ? "A value at the end of an interval is inside it; the band is for the diamonds, which split such ties. " : "") +
        "With 95% probability, calibrated forecasts stay inside both grey bands in all periods.",
    });

  const pit = () =>
    along("gap", (it) => [0, it.allowed], (v) => page.fixed(v, 3), {
      axis: "largest |share − level|",
      include: [0],
      under: [],
      name: "PIT deviation",
      allowed: (it) => `up to ${page.fixed(it.allowed, 3)}; mean PIT ${page.fixed(it.after.mean, 3)}`,
      head: ["chance allows", "mean PIT"],
      cells: (it) => [it.allowed, it.after.mean].map((v) => page.fixed(v, 3)),
      summary:
        "How far the share of labels below a quantile is from its level, at worst. " +
        "A mean PIT above 0.5 means that the forecasts are too low.",
    });

  return { "time-coverage": coverage, "time-pit": pit };
})();
