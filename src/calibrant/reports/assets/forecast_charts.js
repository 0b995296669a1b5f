"use strict";
// What the charts of a forecast's report show: from the data and the state {coverage, slice, row, shown} to a spec for
// charts.js. `coverage` counts from 0 (1%) to 98 (99%); the others are places in slices, rows and series.
const views = (() => {
  const { data, number, percent } = page;
  const { series, label } = data;
  const SHAPES = ["circle", "square", "diamond", "up", "down"];
  const [levels, coverages] = [200, 100].map((parts) => Array.from({ length: parts - 1 }, (_, k) => (k + 1) / parts));
  const ink = series.map(({ base }, i) => `s${i % 10}${base ? " base" : ""}`);
  const who = (i) => ({ series: ink[i], name: series[i].name, rank: i });
  const shape = (i) => SHAPES[i % SHAPES.length];

  // The data are whole numbers, most of them differences from the one before.
  function sums(steps) {
    let sum = 0;
    return steps.map((step) => (step === null ? null : (sum += step)));
  }

  const slices = data.slices.map((slice) => ({
    ...slice,
    band: { pit: slice.band.pit.map((count) => count / slice.m), low: sums(slice.band.low).map((v) => v / 1e4), high: sums(slice.band.high).map((v) => v / 1e4) },
    of: slice.of.map((it) => it && {
      ...it,
      pit: it.pit.map((count) => count / slice.m),
      below: sums(it.below).map((count) => count / slice.m),
      covered: sums(it.covered).map((count) => count / slice.m),
    }),
  }));

  // The numbers of a row are multiples of a power of ten.
  const rows = data.rows.map((row) => {
    const value = (k) => (k === null ? null : row.power < 0 ? k / 10 ** -row.power : k * 10 ** row.power);
    const side = (it) =>
      it.marks
        ? { ...it, marks: it.marks.map(({ at, text }) => ({ at: value(at), text })) }
        : {
            ...it,
            q: sums(it.q).map(value),
            from: value(it.from),
            to: value(it.to),
            density: it.density.map((part) => (part * it.peak) / 9999),
            atoms: (it.atoms ?? []).map(([at, share]) => [value(at), share]),
          };
    return { ...row, y: value(row.y), of: row.of.map(side) };
  });

  const has = (thing) => thing.of.flatMap((it, i) => (it && !it.marks ? [i] : []));
  const names = (thing) => has(thing).map((i) => series[i].name);
  const name = (slice) => (slice.by === null ? slice.value : `${slice.by}: ${slice.value}`);
  const named = (i, text) => (series.length === 1 ? text : `${series[i].name} ${text}`);
  const each = (thing, text) => has(thing).map((i) => named(i, text(thing.of[i]))).join(", ");
  const backwards = (thing) => has(thing).reverse(); // what is painted last is on top: the first
  const wanted = (state) => percent(coverages[state.coverage], 0);
  const target = percent(data.coverage, Number.isInteger(100 * data.coverage) ? 0 : 1);
  const pairs = (xs, ys) => xs.map((x, i) => [x, ys[i]]);
  const share = { domain: [0, 1], ticks: charts.percent };

  // The interval at the state's coverage: [lower, upper] of one row's quantiles; null there is infinity.
  const interval = ({ q }, { coverage }) => [q[98 - coverage] ?? -Infinity, q[100 + coverage] ?? Infinity];
  const inRow = (row) => (v) => page.near(v, Math.max(...has(row).map((i) => row.of[i].to - row.of[i].from)));
  const outside = (row, [lower, upper]) => row.y < lower || row.y > upper;
  const rowsOf = (state) => rows.map((_, i) => i).filter((i) => rows[i].slices.includes(state.slice));

  function pit({ slice }) {
    const it = slices[slice];
    const bins = it.of[0].pit.length; // fewer in small groups
    const edges = (i) => [i / bins, (i + 1) / bins];
    const part = (i) => edges(i).map((v) => percent(v, 0)).join(" to ");
    const [low, high] = it.band.pit;
    const bars = (i) => it.of[i].pit.map((height, k) => [...edges(k), height]);
    const out = ({ pit: heights }) => heights.filter((v) => v < low - 1e-12 || v > high + 1e-12).length;
    const others = has(it).filter((i) => i > 0);
    return {
      x: { label: "PIT: forecast probability below the label", ...share },
      y: { label: "share of rows", include: [0], ticks: charts.percent },
      layers: [
        { kind: "bars", ...who(0), points: bars(0) },
        { kind: "band", series: "expected", name: "calibrated", points: [[0, low, high], [1, low, high]] },
        ...others.map((i) => ({ kind: "line", ...who(i), points: bars(i).flatMap(([a, b, v]) => [[a, v], [b, v]]) })),
      ],
      stops: it.of[0].pit.map((_, k) => ({
        x: (k + 0.5) / bins,
        marks: has(it).map((i) => [(k + 0.5) / bins, it.of[i].pit[k], ink[i]]),
        say: () => `${part(k)}: ${each(it, (of) => percent(of.pit[k]))} of the rows; calibrated forecasts have ${percent(low)} to ${percent(high)}`,
      })),
      summary: `The bars of a calibrated forecast are level: all ${bins} lie in the grey band, in 95 of 100 such charts. Outside it: ${each(it, out)}.`,
      table: () => ({
        head: ["PIT", ...names(it), "band from", "to"],
        rows: it.of[0].pit.map((_, k) => [part(k), ...[...has(it).map((i) => it.of[i].pit[k]), low, high].map((v) => percent(v))]),
      }),
    };
  }

  // Reliability, and the same less the diagonal: `less` is what to subtract at each level.
  function shares({ slice }, less, words) {
    const it = slices[slice];
    const { low, high } = it.band;
    const of = (i) => levels.map((level, k) => [level, it.of[i].below[k] - less(level)]);
    const band = levels.map((level, k) => [level, low[k] - less(level), high[k] - less(level)]);
    const { text } = words;
    return {
      x: { label: "level of the quantile", ...share },
      y: { ticks: charts.percent, ...words.axis },
      layers: [
        { kind: "band", series: "expected", name: "calibrated", points: band },
        { kind: "line", series: "ideal", points: [[0, -less(0)], [1, 1 - less(1)]] },
        ...backwards(it).map((i) => ({ kind: "line", ...who(i), points: of(i) })),
      ],
      stops: levels.map((level, k) => ({
        x: level,
        marks: has(it).map((i) => [level, it.of[i].below[k] - less(level), ink[i]]),
        say: () => `level ${percent(level)}: ${each(it, ({ below }) => text(below[k] - less(level)))}; band ${text(band[k][1])} to ${text(band[k][2])}`,
      })),
      summary: words.summary(it),
      table: () => ({
        head: ["level", ...names(it), "band from", "to"],
        rows: levels.map((level, k) => [percent(level), ...[...has(it).map((i) => it.of[i].below[k]), low[k], high[k]].map((v) => text(v - less(level)))]),
      }),
    };
  }

  const signed = (v) => (v > 0 ? "+" : "") + percent(v);
  const reliability = (state) =>
    shares(state, () => 0, {
      axis: { label: "share of labels below it", include: [0, 1] },
      text: percent,
      summary: () => "The share of the labels that lie below the forecast's quantile of each level.",
    });
  const deviation = (state) =>
    shares(state, (level) => level, {
      axis: { label: "share less level", include: [0] },
      text: signed,
      summary: (it) => `The same, less the diagonal. Largest gap: ${each(it, ({ gap }) => percent(gap))}.`,
    });

  function curve(state, of, words) {
    const it = slices[state.slice];
    const at = coverages[state.coverage];
    return {
      x: { label: "nominal coverage", ...share },
      y: words.axis,
      layers: [
        ...words.under,
        ...backwards(it).map((i) => ({ kind: "line", ...who(i), points: pairs(coverages, it.of[i][of]) })),
        { kind: "rule", series: "chosen", x: at, text: percent(at, 0) },
      ],
      stops: coverages.map((coverage, k) => ({
        x: coverage,
        marks: has(it).map((i) => [coverage, it.of[i][of][k], ink[i]]),
        say: () => `${percent(coverage, 0)} interval: ${each(it, (curves) => words.text(curves[of][k]))}`,
      })),
      pick: state.pickCoverage,
      summary: words.summary,
      table: () => ({
        head: ["coverage", ...names(it)],
        rows: coverages.map((coverage, k) => [percent(coverage, 0), ...has(it).map((i) => words.text(it.of[i][of][k]))]),
      }),
    };
  }

  // Where labels lie on atoms, chance is asked about the share with ties split.
  const tied = (slices[0].interval?.part ?? null) !== null;
  const reached = (state) =>
    curve(state, "covered", {
      axis: { label: "share of labels inside", include: [0, 1], ticks: charts.percent },
      text: percent,
      under: [{ kind: "line", series: "ideal", points: [[0, 0], [1, 1]] }],
      summary:
        "The share of the labels inside the central interval of each coverage. A click moves the slider." +
        (tied ? " Labels have ties, as counts do: an interval holds whole values, so it reaches more than its nominal coverage." : ""),
    });
  const width = (state) =>
    curve(state, "width", {
      axis: { label: `mean width, in units of ${label}`, include: [0] },
      text: (v) => number(v ?? Infinity),
      under: [],
      summary: "What that coverage costs: the mean width of the intervals.",
    });

  // What is drawn is a sample: of all rows a random one, of a group all its rows that were kept but not for being misses.
  const misses = new Set(data.misses);
  const drawable = (i, { slice }) => rows[i].sample || (slice !== 0 && !misses.has(i));

  // From where to where: the middle 95 of 100 numbers, and some room. What lies beyond has an arrow at the edge.
  function reach(values, room) {
    const sorted = values.filter(Number.isFinite).sort((p, q) => p - q);
    const [low, high] = [0.025, 0.975].map((at) => sorted[Math.round(at * (sorted.length - 1))] ?? 0);
    const pad = room * (high - low) || 0.5 * Math.abs(high) || 1;
    return [Math.max(low - pad, sorted[0] - 0.1 * pad), Math.min(high + pad, sorted.at(-1) + 0.1 * pad)];
  }

  function observed(state) {
    const { shown } = state;
    const median = (i, s) => rows[i].of[s].q?.[99] ?? null;
    const order = rowsOf(state).filter((i) => median(i, shown) !== null && drawable(i, state)).sort((i, j) => median(i, shown) - median(j, shown) || i - j);
    // Where many have one prediction, as counts do, they stand side by side.
    const places = [...new Set(order.map((i) => median(i, shown)))];
    const gap = Math.min(1, ...places.slice(1).map((at, k) => at - places[k]));
    const tied = places.length <= order.length / 3;
    const aside = new Map(places.flatMap((at) => order.filter((i) => median(i, shown) === at).map((i, k, all) => [i, tied ? 0.7 * gap * ((k + 0.5) / all.length - 0.5) : 0])));
    const centre = (i, s) => median(i, s) + aside.get(i);
    const ends = order.map((i) => interval(rows[i].of[shown], state));
    const missed = order.map((i, k) => outside(rows[i], ends[k]));
    const others = series.map((_, s) => s).filter((s) => s !== shown && order.every((i) => median(i, s) !== null));
    const [low, high] = order.length ? reach([...ends.flat(), ...order.map((i) => rows[i].y)], 0.25) : [0, 1];
    const domain = order.length ? reach(order.flatMap((i) => [shown, ...others].map((s) => centre(i, s))), 0.15) : [0, 1];
    const inView = (i) => rows[i].y >= low && rows[i].y <= high;
    const dots = (miss) => order.flatMap((i, k) => (missed[k] === miss && inView(i) ? [[centre(i, shown), rows[i].y]] : []));
    const beyond = [[high, "up"], [low, "down"]].map(([edge, arrow]) => ({
      kind: "dots", series: "miss", shape: arrow, size: 5,
      points: order.filter((i) => !inView(i) && rows[i].y > high === (arrow === "up")).map((i) => [centre(i, shown), edge + (arrow === "up" ? -1 : 1) * 0.015 * (high - low)]),
    })).filter(({ points }) => points.length);
    if (beyond.length) beyond[0].name = "label beyond the picture";
    const many = missed.filter(Boolean).length;
    const chosen = order.includes(state.row) ? [[centre(state.row, shown), rows[state.row].y]] : [];
    return {
      x: { label: `predicted ${label} (median)`, domain },
      y: { label: `observed ${label}`, domain: [low, high] },
      along: "both",
      layers: [
        { kind: "line", series: "ideal", name: "observed as predicted", points: [[domain[0], domain[0]], [domain[1], domain[1]]] },
        { kind: "stems", series: ink[shown], name: `${wanted(state)} interval`, points: order.map((i, k) => [centre(i, shown), ...ends[k]]) },
        ...others.map((s) => ({ kind: "dots", series: `${ink[s]} pale`, name: series[s].name, shape: shape(s), size: 2, points: order.filter(inView).map((i) => [centre(i, s), rows[i].y]) })),
        { kind: "dots", series: ink[shown], name: "label inside", points: dots(false), shape: "circle", size: 3 },
        { kind: "dots", series: "miss", name: "label outside", points: dots(true), shape: "cross" },
        ...beyond,
        { kind: "dots", series: "chosen ring", points: chosen, shape: "circle", size: 8 },
      ],
      stops: order.map((i, k) => ({
        x: centre(i, shown),
        y: rows[i].y,
        say: () => `Row ${rows[i].row}: ${label} = ${inRow(rows[i])(rows[i].y)}, ${missed[k] ? "outside" : "inside"} ${ends[k].map(inRow(rows[i])).join(" to ")}; Enter or a click chooses it`,
      })),
      pick: (k) => state.pickRow(order[k]),
      summary: order.length
        ? `${page.rows(order.length)}${data.sampled ? ", a random sample" : ""}; ${many} of their labels lie outside the interval (${percent(many / order.length, 0)}).${tied ? " Rows with the same prediction stand side by side." : ""} A click chooses a row.`
        : "None of the rows kept on this page lies in this group.",
      table: () => ({
        head: ["row", "predicted", "lower", "upper", "observed", "label"],
        rows: order.map((i, k) => [String(rows[i].row), ...[median(i, shown), ...ends[k], rows[i].y].map(inRow(rows[i])), missed[k] ? "outside" : "inside"]),
      }),
    };
  }

  // The rows with the largest CRPS.
  function largest(state) {
    const timed = rows.some((row) => row.time !== undefined);
    const lines = data.misses.map((i) => {
      const row = rows[i];
      const text = inRow(row);
      const [lower, upper] = interval(row.of[0], state);
      const where = row.y > upper ? `above by ${number(row.y - upper, 2)}` : row.y < lower ? `below by ${number(lower - row.y, 2)}` : "inside";
      return { i, cells: [...(timed ? [row.time] : []), text(row.y), `${text(lower)} to ${text(upper)}`, where, number(row.of[0].crps ?? Infinity, 3)] };
    });
    return { head: ["row", ...(timed ? ["time"] : []), label, `${wanted(state)} interval`, "label", "CRPS"], lines };
  }

  // A density has its mean height in equal cells: a line through their middles. Counts are bars: the line goes up and down
  // at their sides, and heights are probabilities of a bar. `unit` is what densities are multiplied by for that.
  const cell = ({ from, to, density }) => (to - from) / density.length;
  const unit = ({ of: [first] }) => (first.bars ? cell(first) : 1);
  const heights = (of, times) => of.density.flatMap((height, i) => (of.bars ? [0, 1] : [0.5]).map((place) => [of.from + (i + place) * cell(of), height * times]));

  function heightAt(points, x) {
    const j = points.findIndex(([u]) => u > x);
    if (j <= 0) return 0;
    const [[a, p], [b, q]] = [points[j - 1], points[j]];
    return p + ((x - a) / (b - a)) * (q - p);
  }

  // The values that a bar stands for, [first, last].
  const valuesOf = (of, i) => [of.from + i * cell(of) + of.step / 2, of.from + (i + 1) * cell(of) - of.step / 2];

  // The numbers of a base that is no distribution, as rules that share one place in the legend.
  const rules = (row) =>
    row.of.flatMap((it, s) => (it.marks ?? []).map(({ at, text }, k) => ({ kind: "rule", series: ink[s], x: at, text, name: k ? undefined : series[s].name })));

  // Wide enough for all distributions and what else is near them.
  function domain(row) {
    const ends = has(row).flatMap((i) => [row.of[i].from, row.of[i].to]);
    const [from, to] = [Math.min(...ends), Math.max(...ends)];
    const near = [row.y, ...rules(row).map(({ x }) => x)].filter((v) => v !== null && v >= from - (to - from) && v <= to + (to - from));
    return [Math.min(from, ...near), Math.max(to, ...near)];
  }

  // A label far outside has its rule at the edge, and an arrow: it must not squash the forecast.
  function labelRule(row) {
    const [low, high] = domain(row);
    const text = `${label} = ${inRow(row)(row.y)}`;
    const [x, said] = row.y > high ? [high, `${text} →`] : row.y < low ? [low, `← ${text}`] : [row.y, text];
    return { kind: "rule", series: "label-mark", x, text: said };
  }

  // What is shaded: the density between the ends of the interval, or the bars of the counts inside it, whole.
  function shaded(of, line, [lower, upper]) {
    if (of.bars) {
      const inside = of.density.map((_, i) => valuesOf(of, i)).map(([first, last]) => last > lower - of.step / 2 && first < upper + of.step / 2);
      return line.filter((_, k) => inside[Math.floor(k / 2)]);
    }
    const ends = [lower, upper].map((end) => [end, heightAt(line, end)]).filter(([end]) => Number.isFinite(end));
    return [...line.filter(([x]) => x > lower && x < upper), ...ends].sort(([a], [b]) => a - b);
  }

  // Stems for the atoms, those of several forecasts side by side.
  function stems(row, state) {
    const all = has(row).filter((i) => row.of[i].atoms.length);
    return all.toReversed().map((i) => {
      const { atoms } = row.of[i];
      const [lower, upper] = interval(row.of[i], state);
      const text = `P(${label} = ${inRow(row)(atoms[0][0])}) = ${number(atoms[0][1], 3)}`;
      return {
        kind: "atoms",
        series: ink[i],
        name: `${named(i, text)}${atoms.length > 1 ? " and more" : ""}`,
        shift: 8 * (all.indexOf(i) - (all.length - 1) / 2),
        points: atoms.map(([at, part]) => ({ at, share: part, hollow: at < lower || at > upper, text: i === 0 ? number(part, 2) : "" })),
      };
    });
  }

  function density(state) {
    const row = rows[state.row];
    const [first] = row.of;
    const lines = row.of.map((of) => (of.density ? heights(of, unit(row)) : []));
    const text = inRow(row);
    const what = first.bars ? "probability" : "density";
    const words = (values) => has(row).map((i, k) => named(i, number(values[k], 3))).join(", ");
    const middles = first.bars
      ? first.density.map((_, i) => ({ x: first.from + (i + 0.5) * cell(first), name: [...new Set(valuesOf(first, i).map(text))].join(" to ") }))
      : lines[0].slice(0, -1).map(([x]) => ({ x, name: text(x) }));
    const atoms = [...new Set(has(row).flatMap((i) => row.of[i].atoms.map(([at]) => at)))];
    const places = [
      ...middles.map(({ x, name: at }) => ({ x, name: at, what, values: has(row).map((i) => heightAt(lines[i], x)) })),
      // a stem has a scale of its own: no mark on the density's
      ...atoms.map((x) => ({ x, name: text(x), what: "probability", stem: true, values: has(row).map((i) => row.of[i].atoms.find(([at]) => at === x)?.[1] ?? 0) })),
    ].sort((p, q) => p.x - q.x);
    const many = first.bars && cell(first) > 1.5 * first.step;
    const shown = row.of[state.shown];
    return {
      x: { label, domain: domain(row) },
      y: { label: many ? `probability of ${number(cell(first) / first.step)} values together` : what, include: [0] },
      layers: [
        { kind: "band", series: ink[state.shown], name: `${wanted(state)} interval`, points: shaded(shown, lines[state.shown], interval(shown, state)).map(([x, height]) => [x, 0, height]) },
        ...rules(row),
        ...backwards(row).map((i) => ({ kind: "line", ...who(i), points: lines[i] })),
        ...stems(row, state),
        labelRule(row),
      ],
      stops: places.map(({ x, name: at, what: kind, values, stem }) => ({
        x,
        marks: stem ? [] : has(row).map((i, k) => [x, values[k], ink[i]]),
        say: () => `${label} = ${at}: ${kind} ${words(values)}`,
      })),
      summary:
        `The forecast of row ${row.row}; the ${wanted(state)} interval is shaded.${cutWords(row)}` +
        (has(row).some((i) => row.of[i].smoothed) ? " A rough density is smoothed for drawing; the CDF is exact." : "") +
        (atoms.length ? " A stem is the probability of one value, on a scale from 0 to 1; the line is the density of all others." : ""),
      table: () => ({
        head: [label, ...(atoms.length ? ["what"] : []), ...names(row)],
        rows: places.map(({ name: at, what: kind, values }) => [at, ...(atoms.length ? [kind] : []), ...values.map((v) => number(v, 3))]),
      }),
    };
  }

  // The CDF of counts is flat between them, and rises at each by its probability.
  function rising(of, [low, high]) {
    if (!of.bars) return pairs(of.q, levels).filter(([q]) => q !== null);
    let sum = of.start;
    const steps = of.density.flatMap((height, i) => [[valuesOf(of, i)[0], sum], [valuesOf(of, i)[0], (sum += height * cell(of))]]);
    return [[low, of.start], ...steps, [high, sum]];
  }

  const isCut = ({ q, from, to }) => (q[0] ?? from) < from || (q.at(-1) ?? to) > to;
  const cutWords = (row) => (has(row).some((i) => isCut(row.of[i])) ? " Its tails go on beyond the picture." : "");

  function cdf(state) {
    const row = rows[state.row];
    const [low, high] = domain(row);
    const [lower, upper] = interval(row.of[state.shown], state);
    const quantiles = (k) => each(row, ({ q }) => inRow(row)(q[k]));
    return {
      x: { label, domain: [low, high] },
      y: { label: "probability of a value no larger", include: [0, 1], ticks: charts.percent },
      layers: [
        { kind: "strip", series: ink[state.shown], name: `${wanted(state)} interval`, from: Math.max(lower, low), to: Math.min(upper, high) },
        ...rules(row),
        ...backwards(row).map((i) => ({ kind: "line", ...who(i), points: rising(row.of[i], [low, high]) })),
        labelRule(row),
      ],
      stops: levels.flatMap((level, k) =>
        row.of[0].q[k] === null
          ? []
          : [{ x: row.of[0].q[k], marks: row.of[0].bars ? [] : has(row).map((i) => [row.of[i].q[k], level, ink[i]]), say: () => `quantile at ${percent(level)}: ${quantiles(k)}` }],
      ),
      summary: `The cumulative probability of every value.${cutWords(row)}`,
      table: () => ({ head: ["level", ...names(row)], rows: levels.map((level, k) => [percent(level), ...has(row).map((i) => inRow(row)(row.of[i].q[k]))]) }),
    };
  }

  // The bands are those of the verdict, and so of its coverage: elsewhere on the slider there are none.
  function groups(state) {
    const judged = Math.abs(coverages[state.coverage] - data.coverage) < 1e-9;
    const bandOf = (slice) => (judged && slice.interval) || null;
    const inside = (slice, i) => (i === 0 && bandOf(slice)?.share) || slice.of[i].covered[state.coverage];
    const partOf = (slice) => bandOf(slice)?.part ?? null;
    const numbered = slices.map((slice, i) => ({ slice, i }));
    // Each grouping has its name on a line of its own, and its groups below it, in their order.
    const lines = [...new Set(slices.map(({ by }) => by))].flatMap((by) => [...(by === null ? [] : [{ heading: by }]), ...numbered.filter(({ slice }) => slice.by === by)]);
    const drawn = lines.flatMap((line, at) => (line.slice ? [{ ...line, at }] : []));
    const spots = drawn.flatMap(({ slice, at }) => has(slice).map((i) => ({ i, at, x: inside(slice, i), off: i === 0 && Boolean(bandOf(slice)?.off) })));
    const of = (i, off) => spots.filter((spot) => spot.i === i && spot.off === off).map(({ x, at }) => [x, at]);
    const bands = drawn.flatMap(({ slice, at }) => (bandOf(slice) ? [[at, bandOf(slice).low, bandOf(slice).high]] : []));
    const parts = drawn.flatMap(({ slice, at }) => (partOf(slice) === null ? [] : [[partOf(slice), at]]));
    const all = [coverages[state.coverage], ...spots.map(({ x }) => x), ...parts.map(([x]) => x), ...bands.flatMap(([, low, high]) => [low, high])];
    const pad = 0.04 * (Math.max(...all) - Math.min(...all)) + 0.005;
    const ends = (slice) => (bandOf(slice) ? [bandOf(slice).low, bandOf(slice).high].map((v) => percent(v)) : ["–", "–"]);
    const split = (slice) => (partOf(slice) === null ? "" : `; ${percent(partOf(slice))} with ties split`);
    const allows = (slice) => (bandOf(slice) ? `${split(slice)}; chance allows ${ends(slice).join(" to ")}` : "");
    return {
      along: "y",
      height: 66 + 26 * lines.length,
      x: { label: `labels inside the ${wanted(state)} interval`, domain: [Math.max(0, Math.min(...all) - pad), Math.min(1, Math.max(...all) + pad)], ticks: charts.percent },
      y: {
        domain: [lines.length - 0.5, -0.5],
        names: lines.map(({ heading, slice, i }, at) => ({
          at,
          text: heading ?? `${slice.value} (${number(slice.m)})`,
          indent: slice && slice.by !== null ? 12 : 0,
          class: heading === undefined && i !== state.slice ? "" : "strong",
        })),
      },
      layers: [
        ...(bands.length ? [{ kind: "ranges", series: "expected", name: "chance allows", points: bands }] : []),
        { kind: "rule", series: "target", name: "target", x: coverages[state.coverage] },
        ...backwards(slices[0]).map((i) => ({ kind: "dots", ...who(i), shape: shape(i), points: of(i, false) })),
        ...(parts.length ? [{ kind: "dots", series: "expected", name: "with ties split", shape: "diamond", points: parts }] : []),
        ...(of(0, true).length ? [{ kind: "dots", series: "miss", name: "group that is off", shape: "cross", points: of(0, true) }] : []),
      ],
      stops: drawn.map(({ slice, i, at }) => ({
        x: inside(slice, 0),
        y: at,
        say: () =>
          `${name(slice)} (${page.rows(slice.m)}): ${has(slice).map((s) => named(s, percent(inside(slice, s)))).join(", ")} of the labels inside; target ${wanted(state)}` +
          `${allows(slice)}${bandOf(slice)?.fault ? `; ${bandOf(slice).fault}` : ""}${i === state.slice ? "" : "; Enter or a click shows these rows"}`,
      })),
      pick: (k) => state.pickSlice(drawn[k].i),
      summary:
        `The share of each group's labels inside the ${wanted(state)} interval. ` +
        (judged
          ? `The grey bars are what chance allows in all groups at once${series.filter(({ base }) => !base).length > 1 ? `, for ${series[0].name}` : ""}; a group may also be off elsewhere in its distribution. ` +
            (parts.length ? "A value at the end of an interval is inside it; the bars are for the diamonds, which split such ties. " : "")
          : `What chance allows is shown at ${target}, the coverage of the verdict. `) +
        "Next to each group is its PIT histogram, which is level if calibrated.",
      aside: { label: "PIT", points: drawn.map(({ slice, at }) => ({ at, bars: slice.of[0].pit, band: slice.band.pit })) },
      table: () => ({
        head: ["group", "rows", ...names(slices[0]), ...(parts.length ? ["with ties split"] : []), "chance allows from", "to"],
        rows: drawn.map(({ slice }) => [
          name(slice),
          number(slice.m),
          ...has(slice).map((i) => percent(inside(slice, i))),
          ...(parts.length ? [partOf(slice) === null ? "–" : percent(partOf(slice))] : []),
          ...ends(slice),
        ]),
      }),
    };
  }

  // Over time: all rows at the coverage of the verdict, whatever the controls say. A period is drawn where it is in time.
  const moment = (text) => (data.dates ? Date.parse(`${text.replace(" ", "T")}${text.length > 10 ? "Z" : ""}`) : Number(text));
  const periods = data.time.map((it, k, all) => {
    const [from, to] = [moment(it.from), moment(all[k + 1]?.from ?? it.to)];
    return { ...it, range: [from, to], middle: (from + to) / 2, span: it.from === it.to ? it.from : `${it.from} to ${it.to}` };
  });

  // `of` is the number that is drawn, `band` what chance allows, `text` a number in words.
  function along(of, band, words) {
    const points = (i, off) => periods.flatMap((it) => (i === 0 && it.off !== off ? [] : [[it.middle, it.of[i][of]]]));
    const texts = (it) => has(it).map((i) => words.text(it.of[i][of]));
    const parts = words.parts ? periods.flatMap((it) => (it.of[0].part === undefined ? [] : [[it.middle, it.of[0].part]])) : [];
    const chance = (it) => band(it).map((v) => words.text(v));
    const [first, last] = [periods[0].range[0], periods.at(-1).range[1]];
    return {
      x: { label: data.dates ? "time (UTC)" : "time", domain: first < last ? [first, last] : [first - 1, last + 1], ticks: data.dates ? charts.dates : charts.plain },
      y: { label: words.axis, ticks: charts.percent, include: words.include },
      layers: [
        { kind: "band", series: "expected", name: "chance allows", points: periods.flatMap((it) => it.range.map((at) => [at, ...band(it)])) },
        ...words.under,
        ...(parts.length ? [{ kind: "dots", series: "expected", name: "with ties split", shape: "diamond", points: parts }] : []),
        ...backwards(periods[0]).flatMap((i) => [
          { kind: "line", series: `${ink[i]} thin`, points: periods.map((it) => [it.middle, it.of[i][of]]) },
          { kind: "dots", ...who(i), shape: shape(i), points: points(i, false) },
        ]),
        ...(points(0, true).length ? [{ kind: "dots", series: "miss", name: "period that is off", shape: "cross", points: points(0, true) }] : []),
      ],
      stops: periods.map((it) => ({
        x: it.middle,
        marks: has(it).map((i) => [it.middle, it.of[i][of], ink[i]]),
        say: () => `${it.span} (${page.rows(it.m)}): ${words.name} ${each(it, (each) => words.text(each[of]))}; chance allows ${words.allowed(it, chance(it))}; ${it.fault}`,
      })),
      summary: words.summary(parts.length),
      table: () => ({
        head: ["from", "to", "rows", ...names(periods[0]), ...(parts.length ? ["with ties split"] : []), "chance allows from", "to", "forecasts"],
        rows: periods.map((it) => [it.from, it.to, number(it.m), ...texts(it), ...(parts.length ? [percent(it.of[0].part)] : []), ...chance(it), it.fault]),
      }),
    };
  }

  const inTime = {
    "time-coverage": () =>
      along("covered", (it) => it.band, {
        axis: `labels inside the ${target} interval`,
        text: percent,
        parts: true,
        include: [data.coverage],
        under: [{ kind: "rule", series: "target", name: "target", y: data.coverage }],
        name: "coverage",
        allowed: (it, ends) => `${ends.join(" to ")}${it.of[0].part === undefined ? "" : ` of the ${percent(it.of[0].part)} with ties split`}`,
        summary: (parts) =>
          `The share of each period's labels inside the ${target} interval. ` +
          (parts ? "A value at the end of an interval is inside it; the band is for the diamonds, which split such ties. " : "") +
          "Calibrated forecasts stay inside the grey bands of both charts in all periods, in 95 of 100 such pages.",
      }),
    "time-median": () =>
      along("below", (it) => it.median, {
        axis: "labels below the median",
        text: percent,
        include: [0.5],
        under: [{ kind: "rule", series: "target", name: "target", y: 0.5 }],
        name: "labels below the median",
        allowed: (it, ends) => ends.join(" to "),
        summary: () => "Half of the labels lie below the median of calibrated forecasts; more where the forecasts are too high, fewer where they are too low.",
      }),
  };

  return { charts: { pit, reliability, deviation, reached, width, observed, density, cdf, groups }, coverages, inRow, inTime, interval, largest, name, named, outside, rows, rowsOf, slices };
})();
