"use strict";
// What the charts of a forecast's report show: from the data and the state {coverage, slice, row, shown} to a spec for
// charts.js. `coverage` counts from 0 (1%) to 98 (99%); `slice` and `row` are places in data.slices and data.rows.
const views = (() => {
  const { data, number, percent } = page;
  const { levels, coverages, slices, rows, label } = data;
  const SERIES = ["after", "before"];
  const SHAPE = { after: "circle", before: "square" };
  // With nothing to compare, the forecast needs no name.
  const alone = !rows.some((row) => row.before);
  const NAMES = { after: alone ? "forecast" : "after", before: "before" };

  const has = (thing) => SERIES.filter((series) => thing[series]);
  const name = (slice) => (slice.by === null ? slice.value : `${slice.by}: ${slice.value}`);
  const named = (series, text) => (alone ? text : `${NAMES[series]} ${text}`);
  const each = (thing, text) => has(thing).map((series) => named(series, text(thing[series]))).join(", ");
  const wanted = (state) => percent(coverages[state.coverage], 0);
  const pairs = (xs, ys) => xs.map((x, i) => [x, ys[i]]);
  const plus = (v, text) => (v > 0 ? `+${text}` : text);

  // The interval at the state's coverage: [lower, upper] of one row's quantiles; null there is infinity.
  const interval = (distribution, { coverage }) => [distribution.q[98 - coverage] ?? -Infinity, distribution.q[100 + coverage] ?? Infinity];
  const inRow = (row) => (v) => page.near(v, row.after.to - row.after.from);
  const outside = (row, [lower, upper]) => row.y < lower || row.y > upper;
  const rowsOf = (state) => rows.map((_, i) => i).filter((i) => rows[i].slices.includes(state.slice));

  function pit({ slice }) {
    const it = slices[slice];
    const BINS = it.after.pit.length; // fewer in small groups
    const edges = (i) => [i / BINS, (i + 1) / BINS];
    const [low, high] = it.band.pit;
    const bars = (series) => it[series].pit.map((count, i) => [...edges(i), count]);
    const out = ({ pit }) => pit.filter((count) => count < low || count > high).length;
    return {
      x: { label: "H(y): the share of the forecast below the label", domain: [0, 1] },
      y: { label: "rows", include: [0] },
      layers: [
        { kind: "bars", series: "after", name: NAMES.after, points: bars("after") },
        { kind: "band", series: "expected", name: "calibrated", points: [[0, low, high], [1, low, high]] },
        ...(it.before ? [{ kind: "line", series: "before", name: NAMES.before, points: charts.steps(bars("before")) }] : []),
      ],
      stops: it.after.pit.map((_, i) => ({
        x: (i + 0.5) / BINS,
        marks: has(it).map((series) => [(i + 0.5) / BINS, it[series].pit[i], series]),
        say: () =>
          `H(y) from ${number(edges(i)[0])} to ${number(edges(i)[1])}: ${each(it, (of) => number(of.pit[i]))} rows; ` +
          `expected ${number(low)} to ${number(high)}`,
      })),
      summary: `A calibrated forecast's bars all lie in the grey band, with 95% confidence. Outside it, of ${BINS}: ${each(it, out)}.`,
      table: () => ({
        head: ["H(y)", ...has(it).map((series) => NAMES[series]), "from", "to"],
        rows: it.after.pit.map((_, i) => [
          `${number(edges(i)[0])} to ${number(edges(i)[1])}`,
          ...has(it).map((series) => number(it[series].pit[i])),
          number(low),
          number(high),
        ]),
      }),
    };
  }

  // Reliability, and the same less the diagonal: `less` is what to subtract at each level.
  function shares({ slice }, less, words) {
    const it = slices[slice];
    const { low, high } = it.band.below;
    const of = (series) => levels.map((level, i) => [level, it[series].below[i] - less(level)]);
    const band = levels.map((level, i) => [level, low[i] - less(level), high[i] - less(level)]);
    const { text } = words;
    return {
      x: { label: "level", domain: [0, 1] },
      y: { label: words.axis, include: words.include, format: words.format },
      layers: [
        { kind: "band", series: "expected", name: "calibrated", points: band },
        { kind: "line", series: "ideal", points: [[0, -less(0)], [1, 1 - less(1)]] },
        ...has(it).reverse().map((series) => ({ kind: "line", series, name: NAMES[series], points: of(series) })),
      ],
      stops: levels.map((level, i) => ({
        x: level,
        marks: has(it).map((series) => [level, it[series].below[i] - less(level), series]),
        say: () =>
          `level ${number(level)}: ${each(it, (of) => text(of.below[i] - less(level)))}; ` +
          `band ${text(band[i][1])} to ${text(band[i][2])}`,
      })),
      summary: words.summary(it),
      table: () => ({
        head: ["level", ...has(it).map((series) => NAMES[series]), "band from", "to"],
        rows: levels.map((level, i) => [
          number(level),
          ...[...has(it).map((series) => it[series].below[i]), low[i], high[i]].map((v) => text(v - less(level))),
        ]),
      }),
    };
  }

  const signed = (v) => plus(v, page.fixed(v, 3));

  const reliability = (state) =>
    shares(state, () => 0, {
      axis: "share of labels below the quantile",
      include: [0, 1],
      format: charts.percent,
      text: (v) => percent(v),
      summary: () => "The share of the labels that lie below the forecast's quantile of each level.",
    });

  const deviation = (state) =>
    shares(state, (level) => level, {
      axis: "share − level",
      include: [0],
      text: signed,
      summary: (it) => `The same, less the level. Largest gap: ${each(it, (curve) => number(curve.gap, 3))}.`,
    });

  function curve(state, of, words) {
    const it = slices[state.slice];
    const at = coverages[state.coverage];
    const shown = has(it).filter((series) => it[series][of]);
    const points = (series) => pairs(coverages, it[series][of]);
    return {
      x: { label: "nominal coverage", domain: [0, 1], format: charts.percent },
      y: { label: words.axis, include: words.include, format: words.format },
      layers: [
        ...words.under,
        ...shown.toReversed().map((series) => ({ kind: "line", series, name: NAMES[series], points: points(series) })),
        { kind: "rule", series: "chosen", x: at, text: percent(at, 0) },
      ],
      stops: coverages.map((coverage, i) => ({
        x: coverage,
        marks: shown.map((series) => [coverage, it[series][of][i], series]),
        say: () => `${percent(coverage, 0)} interval: ${each(it, (curves) => words.text(curves[of][i]))}`,
      })),
      pick: state.pickCoverage,
      summary: words.summary,
      table: () => ({
        head: ["coverage", ...has(it).map((series) => NAMES[series])],
        rows: coverages.map((coverage, i) => [percent(coverage, 0), ...has(it).map((series) => words.text(it[series][of][i]))]),
      }),
    };
  }

  // Whether labels lie on atoms: then the share with ties split is another.
  const tied = (slices[0].interval?.part ?? null) !== null;
  const reached = (state) =>
    curve(state, "covered", {
      axis: "share of labels inside",
      include: [0, 1],
      format: charts.percent,
      text: percent,
      under: [{ kind: "line", series: "ideal", points: [[0, 0], [1, 1]] }],
      summary:
        "The share of the labels inside the central interval of each coverage. A click moves the slider." +
        (tied ? " Labels have ties, as counts do: an interval holds whole values, so it reaches more than its nominal coverage." : ""),
    });

  const width = (state) =>
    curve(state, "width", {
      axis: `mean width, in units of ${label}`,
      include: [0],
      text: (v) => number(v ?? Infinity),
      under: [],
      summary: "What that coverage costs: the mean width of the intervals.",
    });

  // What is drawn is a sample: of all rows a random one, of a group all its rows that were kept but not for being misses.
  const misses = new Set(data.misses);
  const drawable = (i, { slice }) => rows[i].sample || (slice !== 0 && !misses.has(i));
  const picked = data.sampled ? ", a random sample" : "";

  // How far up and down is drawn: so that nine of ten intervals fit. What lies beyond has an arrow at the edge.
  function reach(ends) {
    const sizes = ends.flat().map(Math.abs).filter(Number.isFinite).sort((p, q) => p - q);
    return 1.6 * (sizes[Math.floor(0.9 * (sizes.length - 1))] ?? 1) || 1;
  }

  function intervals(state) {
    const { shown } = state;
    const able = rowsOf(state).filter((i) => rows[i][shown]?.q && drawable(i, state));
    const size = (i) => {
      const [lower, upper] = interval(rows[i][shown], state);
      return upper - lower;
    };
    const order = able.toSorted((i, j) => size(i) - size(j) || i - j);
    const centre = (i) => rows[i][shown].q[99] ?? 0;
    const ends = order.map((i) => interval(rows[i][shown], state));
    const around = order.map((i, k) => ends[k].map((end) => end - centre(i)));
    const above = order.map((i) => rows[i].y - centre(i));
    const missed = order.map((i, k) => outside(rows[i], ends[k]));
    const limit = reach(around);
    const inView = (v) => Math.abs(v) <= limit;
    const dots = (miss) => above.flatMap((v, k) => (missed[k] === miss && inView(v) ? [[k + 1, v]] : []));
    const beyond = (up) => above.flatMap((v, k) => (!inView(v) && v > 0 === up ? [[k + 1, up ? limit : -limit]] : []));
    const cut = around.filter((both) => !both.every(inView)).length;
    const far = [beyond(true), beyond(false)];
    const at = order.indexOf(state.row) + 1;
    const arrows = far.flatMap((points, down) =>
      points.length ? [{ kind: "dots", series: "miss", points, shape: down ? "down" : "up", size: 5 }] : [],
    );
    if (arrows.length) arrows[0].name = "label beyond the picture";
    const many = missed.filter(Boolean).length;
    return {
      key: `${state.slice} ${shown}`,
      x: { label: "rank by width", domain: [0.4, Math.max(order.length, 1) + 0.6] },
      y: { label: `${label} − median`, domain: order.length ? [-1.06 * limit, 1.06 * limit] : [-1, 1] },
      layers: [
        ...(at ? [{ kind: "strip", series: "chosen", from: at - 0.5, to: at + 0.5 }] : []),
        { kind: "rule", series: "target", name: "median", y: 0 },
        { kind: "stems", series: shown, name: `${wanted(state)} interval`, points: order.map((_, k) => [k + 1, ...around[k]]) },
        { kind: "dots", series: "label-mark", name: "label inside", points: dots(false), shape: "circle", size: 2 },
        { kind: "dots", series: "miss", name: "label outside", points: dots(true), shape: "cross" },
        ...arrows,
      ],
      stops: order.map((i, k) => ({
        x: k + 1,
        say: () =>
          `Row ${rows[i].row}: ${label} = ${inRow(rows[i])(rows[i].y)}, ${missed[k] ? "outside" : "inside"} ` +
          `${ends[k].map(inRow(rows[i])).join(" to ")}; Enter or a click chooses it`,
      })),
      pick: (k) => state.pickRow(order[k]),
      summary: order.length
        ? `Rows shown: ${order.length}${picked}; ${many} of their labels lie outside (${percent(many / order.length, 0)}).` +
          (cut ? ` Intervals that leave the picture: ${cut}.` : "") + " A click chooses a row."
        : "None of the rows kept on this page lies in this group.",
      table: () => ({
        head: ["row", label, "lower", "upper", "label"],
        rows: order.map((i, k) => [
          String(rows[i].row),
          ...[rows[i].y, ...ends[k]].map(inRow(rows[i])),
          missed[k] ? "outside" : "inside",
        ]),
      }),
    };
  }

  // The rows with the largest CRPS: how far each label is outside the interval, counted in widths of it.
  function largest(state) {
    const lines = data.misses.map((i) => {
      const row = rows[i];
      const [lower, upper] = interval(row.after, state);
      const off = row.y > upper ? row.y - upper : row.y < lower ? lower - row.y : 0;
      const widths = off / (upper - lower);
      const side = row.y > upper ? "above" : "below";
      const where = !off ? "inside" : Number.isFinite(widths) ? `${number(widths, 2)} widths ${side}` : side;
      return { i, cells: [...(row.time === undefined ? [] : [row.time]), inRow(row)(row.y), `${[lower, upper].map(inRow(row)).join(" to ")}`, where, number(row.crps ?? Infinity, 3)] };
    });
    const when = rows.some((row) => row.time !== undefined) ? ["time"] : [];
    return { head: ["row", ...when, label, `${wanted(state)} interval`, "label", "CRPS"], lines };
  }

  // A density has its mean height in equal cells: a line through their middles. Counts are bars: the line goes up and down
  // at their sides, and heights are probabilities of a bar. `unit` is what densities are multiplied by for that.
  const cell = ({ from, to, density }) => (to - from) / density.length;
  const unit = ({ after }) => (after.bars ? cell(after) : 1);
  const heights = (distribution, times) =>
    distribution.density.flatMap((height, i) =>
      (distribution.bars ? [0, 1] : [0.5]).map((place) => [distribution.from + (i + place) * cell(distribution), height * times]),
    );

  function heightAt(points, x) {
    const j = points.findIndex(([u]) => u > x);
    if (j <= 0) return 0;
    const [[a, p], [b, q]] = [points[j - 1], points[j]];
    return p + ((x - a) / (b - a)) * (q - p);
  }

  // The values that a bar stands for, [first, last].
  const valuesOf = (distribution, i) => {
    const [left, right] = [i, i + 1].map((place) => distribution.from + place * cell(distribution));
    return [left + distribution.step / 2, right - distribution.step / 2];
  };
  const distributions = (row) => has(row).filter((series) => row[series].q);
  // A base that is no distribution: its numbers, as rules that share one place in the legend.
  const marksOf = (row) =>
    (row.before?.marks ?? []).map(({ at, text }, i) => {
      const rule = { kind: "rule", series: "before", x: at, text };
      return i === 0 ? { ...rule, name: NAMES.before } : rule;
    });
  // A label far outside has its rule at the edge, and an arrow: it must not squash the forecast.
  function labelRule(row) {
    const [low, high] = domain(row);
    const text = `${label} = ${inRow(row)(row.y)}`;
    const rule = { kind: "rule", series: "label-mark" };
    if (row.y > high) return { ...rule, x: high, text: `${text} →` };
    return row.y < low ? { ...rule, x: low, text: `← ${text}` } : { ...rule, x: row.y, text };
  }

  // Wide enough for both distributions and what else is near them.
  function domain(row) {
    const ends = distributions(row).flatMap((series) => [row[series].from, row[series].to]).filter((v) => v !== null);
    const [from, to] = [Math.min(...ends), Math.max(...ends)];
    const near = (v) => v !== null && v >= from - (to - from) && v <= to + (to - from);
    const all = [from, to, ...[row.y, ...(row.before?.marks ?? []).map(({ at }) => at)].filter(near)];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return low < high ? [low, high] : [low - 1, high + 1];
  }

  // What is shaded: the density between the ends of the interval, or the bars of the counts inside it, whole.
  function shaded(distribution, line, [lower, upper]) {
    if (distribution.bars) {
      const inside = distribution.density.map((_, i) => valuesOf(distribution, i)).map(([first, last]) => last > lower - distribution.step / 2 && first < upper + distribution.step / 2);
      return line.filter((_, k) => inside[Math.floor(k / 2)]);
    }
    const ends = [lower, upper].map((end) => [end, heightAt(line, end)]).filter(([end]) => Number.isFinite(end));
    return [...line.filter(([x]) => x > lower && x < upper), ...ends].sort(([a], [b]) => a - b);
  }

  const atomsOf = (distribution) => distribution.atoms ?? [];
  const atomAt = (distribution, x) => atomsOf(distribution).find(([at]) => at === x)?.[1] ?? 0;

  // Stems for the atoms: before stands beside after.
  const stems = (row, state) => {
    const series = distributions(row).filter((each) => atomsOf(row[each]).length);
    return series.toReversed().map((each) => {
      const [first] = atomsOf(row[each]);
      const more = atomsOf(row[each]).length > 1 ? " and more" : "";
      const text = `P(${label} = ${inRow(row)(first[0])}) = ${number(first[1], 3)}`;
      const ends = interval(row[each], state);
      return {
        kind: "atoms",
        series: each,
        name: `${named(each, text)}${more}`,
        shift: series.length > 1 ? { after: -4, before: 4 }[each] : 0,
        points: atomsOf(row[each]).map(([at, share]) => ({
          at,
          share,
          hollow: at < ends[0] || at > ends[1],
          text: each === "after" ? number(share, 2) : "",
        })),
      };
    });
  };

  function density(state) {
    const row = rows[state.row];
    const { bars } = row.after;
    const what = bars ? "probability" : "density";
    const lines = Object.fromEntries(distributions(row).map((series) => [series, heights(row[series], unit(row))]));
    const text = inRow(row);
    const of = (x) => distributions(row).map((series) => heightAt(lines[series], x));
    const short = (values) => values.map((v) => number(v, 3));
    const words = (values) => distributions(row).map((series, i) => named(series, short(values)[i])).join(", ");
    const stands = (distribution, i) => [...new Set(valuesOf(distribution, i).map(text))].join(" to ");
    const places = [
      ...(bars
        ? row.after.density.map((_, i) => ({ x: row.after.from + (i + 0.5) * cell(row.after), name: stands(row.after, i) }))
        : lines.after.slice(0, -1).map(([x]) => ({ x, name: text(x) }))
      ).map((place) => ({ ...place, what, values: of(place.x) })),
      // a stem has a scale of its own: no mark on the density's
      ...[...new Set(distributions(row).flatMap((series) => atomsOf(row[series]).map(([at]) => at)))].map((x) => ({
        x,
        name: text(x),
        what: "probability of this value",
        values: distributions(row).map((series) => atomAt(row[series], x)),
        stem: true,
      })),
    ].sort((p, q) => p.x - q.x);
    const atoms = stems(row, state);
    const legend = `${wanted(state)} interval`;
    const many = bars && cell(row.after) > 1.5 * row.after.step;
    return {
      key: state.row,
      x: { label, domain: domain(row) },
      y: { label: many ? `probability of ${number(cell(row.after) / row.after.step)} values together` : what, include: [0] },
      layers: [
        { kind: "band", series: "after", name: legend, points: shaded(row.after, lines.after, interval(row.after, state)).map(([x, height]) => [x, 0, height]) },
        ...marksOf(row),
        ...distributions(row).reverse().map((series) => ({ kind: "line", series, name: NAMES[series], points: lines[series] })),
        ...atoms,
        labelRule(row),
      ],
      stops: places.map(({ x, name, what, values, stem }) => ({
        x,
        marks: stem ? [] : distributions(row).map((series, i) => [x, values[i], series]),
        say: () => `${label} = ${name}: ${what} ${words(values)}`,
      })),
      summary:
        `The forecast of row ${row.row}; the ${wanted(state)} interval is shaded.${cutWords(row)}` +
        (distributions(row).some((series) => row[series].smoothed) ? " A rough density is smoothed for drawing; the CDF is exact." : "") +
        (atoms.length ? " A stem is the probability of one value, on a scale from 0 to 1; the line is the density of all others." : ""),
      table: () => ({
        head: [label, ...(atoms.length ? ["what"] : []), ...distributions(row).map((series) => NAMES[series])],
        rows: places.map(({ name, what, values, stem }) => [name, ...(atoms.length ? [stem ? "probability" : what] : []), ...short(values)]),
      }),
    };
  }

  // The CDF of counts is flat between them, and rises at each.
  const treads = (distribution, points) =>
    distribution.bars ? points.flatMap(([q, level], i) => (i && q > points[i - 1][0] ? [[q, points[i - 1][1]], [q, level]] : [[q, level]])) : points;
  const isCut = (distribution) => (distribution.q[0] ?? distribution.from) < distribution.from || (distribution.q.at(-1) ?? distribution.to) > distribution.to;
  const cutWords = (row) => (distributions(row).some((series) => isCut(row[series])) ? " Its tails go on beyond the picture." : "");

  function cdf(state) {
    const row = rows[state.row];
    const [low, high] = domain(row);
    const [lower, upper] = interval(row.after, state);
    const line = (series) => treads(row[series], pairs(row[series].q, levels).filter(([q]) => q !== null));
    const quantiles = (i) => distributions(row).map((series) => named(series, inRow(row)(row[series].q[i]))).join(", ");
    return {
      key: state.row,
      x: { label, domain: [low, high] },
      y: { label: "P(Y ≤ y)", include: [0, 1] },
      layers: [
        { kind: "strip", series: "after", name: `${wanted(state)} interval`, from: Math.max(lower, low), to: Math.min(upper, high) },
        ...marksOf(row),
        ...distributions(row).reverse().map((series) => ({ kind: "line", series, name: NAMES[series], points: line(series) })),
        labelRule(row),
      ],
      stops: levels.flatMap((level, i) =>
        row.after.q[i] === null
          ? []
          : [{
              x: row.after.q[i],
              marks: distributions(row).map((series) => [row[series].q[i], level, series]),
              say: () => `quantile ${number(level)}: ${quantiles(i)}`,
            }],
      ),
      summary: `Cumulative probability: P(Y ≤ y) for every value y.${cutWords(row)}`,
      table: () => ({
        head: ["level", ...distributions(row).map((series) => NAMES[series])],
        rows: levels.map((level, i) => [number(level), ...distributions(row).map((series) => inRow(row)(row[series].q[i]))]),
      }),
    };
  }

  // At the verdict's coverage, so that the order stays as the slider moves.
  const gapOf = ({ interval, after }) => Math.abs((interval?.part ?? interval?.share ?? after.covered[Math.round(100 * data.coverage) - 1] ?? 0) - data.coverage);

  // The bands are those of the verdict, and so of its coverage: elsewhere on the slider there are none.
  function groups(state) {
    const target = coverages[state.coverage];
    const judged = Math.abs(target - data.coverage) < 1e-9;
    const bandOf = (slice) => (judged && slice.interval ? slice.interval : null);
    const share = (slice, series) => (series === "after" && bandOf(slice)?.share) || slice[series].covered[state.coverage];
    // Where labels lie on atoms, chance is asked about the share with ties split.
    const partOf = (slice) => bandOf(slice)?.part ?? null;
    // Each grouping has its name on a line of its own, and its groups below it, the farthest from the target first.
    const lines = [...new Set(slices.map(({ by }) => by))].flatMap((by) => {
      const own = slices.map((slice, i) => ({ slice, i })).filter(({ slice }) => slice.by === by);
      const sorted = own.toSorted((p, q) => gapOf(q.slice) - gapOf(p.slice) || p.i - q.i);
      return by === null ? sorted : [{ heading: by }, ...sorted];
    });
    const shown = lines.flatMap((line, at) => (line.slice ? [{ ...line, at }] : []));
    const spots = shown.flatMap(({ slice, at }) =>
      has(slice).map((series) => ({
        series,
        place: at,
        share: share(slice, series),
        off: series === "after" && bandOf(slice)?.off,
      })),
    );
    const of = (series, off) => spots.filter((spot) => spot.series === series && Boolean(spot.off) === off).map((it) => [it.share, it.place]);
    const bands = shown.flatMap(({ slice, at }) => (bandOf(slice) ? [[at, bandOf(slice).low, bandOf(slice).high]] : []));
    const parts = shown.flatMap(({ slice, at }) => (partOf(slice) === null ? [] : [[partOf(slice), at]]));
    const reach = [target, ...spots.map((spot) => spot.share), ...parts.map(([part]) => part), ...bands.flatMap(([, low, high]) => [low, high])];
    const pad = 0.04 * (Math.max(...reach) - Math.min(...reach)) + 0.005;
    const chosen = shown.find(({ i }) => i === state.slice).at;
    const misses = of("after", true);
    const ends = (slice) => (bandOf(slice) ? [bandOf(slice).low, bandOf(slice).high].map((v) => percent(v)) : ["–", "–"]);
    const inPart = (slice) => (partOf(slice) === null ? "" : `; ${percent(partOf(slice))} with ties split`);
    const allows = (slice) => (bandOf(slice) ? `${inPart(slice)}; chance allows ${ends(slice).join(" to ")}` : "");
    const shares = (slice) => has(slice).map((series) => named(series, percent(share(slice, series)))).join(", ");
    return {
      key: state.coverage,
      along: "y",
      height: 66 + 26 * lines.length,
      x: {
        label: `labels inside the ${wanted(state)} interval`,
        domain: [Math.max(0, Math.min(...reach) - pad), Math.min(1, Math.max(...reach) + pad)],
        format: charts.percent,
      },
      y: {
        domain: [lines.length - 0.5, -0.5],
        names: lines.map(({ heading, slice }, at) => ({
          at,
          text: heading ?? slice.value,
          indent: slice && slice.by !== null ? 12 : 0,
          class: heading === undefined && at !== chosen ? "" : "strong",
        })),
      },
      layers: [
        ...(bands.length ? [{ kind: "ranges", series: "expected", name: "chance allows", points: bands }] : []),
        { kind: "rule", series: "target", name: "target", x: target },
        ...has(slices[0]).toReversed().map((series) => ({ kind: "dots", series, name: NAMES[series], shape: SHAPE[series], points: of(series, false) })),
        ...(parts.length ? [{ kind: "dots", series: "expected", name: "with ties split", shape: "diamond", points: parts }] : []),
        ...(misses.length ? [{ kind: "dots", series: "miss", name: "group that is off", shape: "cross", points: misses }] : []),
      ],
      stops: shown.map(({ slice, i, at }) => ({
        x: share(slice, "after"),
        y: at,
        say: () =>
          `${name(slice)} (${page.rows(slice.m)}): ${shares(slice)} of the labels inside; target ${wanted(state)}` +
          `${allows(slice)}${i === state.slice ? "" : "; Enter or a click shows these rows"}`,
      })),
      pick: (k) => state.pickSlice(shown[k].i),
      summary:
        `The share of each group's labels inside the ${wanted(state)} interval. ` +
        (judged
          ? "The grey bars are what chance allows in all groups at once, as the verdict has it; a group may also be off elsewhere in its distribution. " +
            (parts.length ? "A value at the end of an interval is inside it; the bars are for the diamonds, which split such ties. " : "")
          : `What chance allows is shown at ${percent(data.coverage, 0)}, the coverage of the verdict. `) +
        "Groups are in the order of their gap; next to each is its PIT histogram, which is flat if calibrated.",
      aside: { label: "PIT", points: shown.map(({ slice, at }) => ({ at, bars: slice.after.pit, band: slice.band.pit })) },
      table: () => ({
        head: ["group", "rows", ...has(slices[0]).map((series) => NAMES[series]), ...(parts.length ? ["with ties split"] : []), "chance allows from", "to"],
        rows: shown.map(({ slice }) => [
          name(slice),
          number(slice.m),
          ...has(slice).map((series) => percent(share(slice, series))),
          ...(parts.length ? [partOf(slice) === null ? "–" : percent(partOf(slice))] : []),
          ...ends(slice),
        ]),
      }),
    };
  }

  return {
    charts: { pit, reliability, deviation, reached, width, intervals, density, cdf, groups },
    inRow, interval, largest, name, outside, rowsOf,
  };
})();
