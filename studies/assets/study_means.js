"use strict";
// Means of the study over splits and datasets: what studies.means does, for any choice of datasets.
//
//   means.of(method, metric, dataset)             a mean over splits {value, se, count, of}; null where there is none
//   means.average(method, metric, datasets)       the mean of such means, every dataset with the same weight
//   means.difference(one, other, metric, dataset) paired, split by split
//   means.published(method, metric, dataset)      the paper's
const means = (() => {
  const { values, published: appendix } = page.data;
  const NOTHING = { value: null, se: null, count: 0, of: 0 };
  const sum = (numbers) => numbers.reduce((total, v) => total + v, 0);

  // A split that was not run is false, and left out; null is a value that is not finite, and then there is no mean: to
  // leave it out would make the mean look better than it is.
  function overSplits(splits) {
    const given = splits.filter((v) => v !== false);
    const finite = given.filter((v) => v !== null);
    const n = finite.length;
    if (!n || n < given.length) return { ...NOTHING, count: n, of: given.length };
    const value = sum(finite) / n;
    const se = n > 1 ? Math.sqrt(sum(finite.map((v) => (v - value) ** 2)) / (n - 1) / n) : null;
    return { value, se, count: n, of: n };
  }

  function overDatasets(given) {
    const known = given.filter(({ value }) => value !== null);
    if (!known.length) return { ...NOTHING, of: given.length };
    const sure = known.every(({ se }) => se !== null);
    const se = sure ? Math.sqrt(sum(known.map((mean) => mean.se ** 2))) / known.length : null;
    return { value: sum(known.map(({ value }) => value)) / known.length, se, count: known.length, of: given.length };
  }

  const of = (method, metric, dataset) => overSplits(values[metric][method][dataset]);
  const average = (method, metric, datasets) => overDatasets(datasets.map((d) => of(method, metric, d)));

  function difference(one, other, metric, dataset) {
    const [ours, theirs] = [one, other].map((method) => values[metric][method][dataset]);
    const minus = (a, b) => (a === false || b === false ? false : a === null || b === null ? null : a - b);
    return overSplits(ours.map((v, i) => minus(v, theirs[i])));
  }

  function published(method, metric, dataset) {
    const pair = appendix[metric][method][dataset];
    return pair ? { value: pair[0], se: pair[1], count: 1, of: 1 } : NOTHING;
  }

  // Two means that share no split.
  function gap(one, other) {
    if (one.value === null || other.value === null) return NOTHING;
    const se = one.se === null || other.se === null ? null : Math.hypot(one.se, other.se);
    return { value: one.value - other.value, se, count: 1, of: 1 };
  }

  return { average, difference, gap, of, overDatasets, published };
})();
