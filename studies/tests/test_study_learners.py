"""The study's networks: what they learn from, what they may not see, and what they say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the study's learners are torch programs")

from calibrant import Ensemble, Interval, Normal, Point, Quantiles  # noqa: E402
from studies.learners import BASES, Recipe, Split, splits, train  # noqa: E402
from studies.learners.heads import GaussianHead, IntervalHead, QuantileHead  # noqa: E402
from studies.learners.layout import Layout  # noqa: E402
from studies.learners.network import forward, starts  # noqa: E402
from studies.learners.prepared import inputs, prepare, standardised  # noqa: E402
from studies.learners.training import Run  # noqa: E402

EVERY = Layout(BASES)
QUICK = Recipe(width=8, steps=12, batch=(16, 16), checks=3)


def line(n, noise=0.1, seed=0):
    """Labels that are a line in the first of two inputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, 3 * X[:, 0] + noise * rng.normal(size=n) + 7


def same_outputs(one, other, **tolerance):
    for mine, yours in zip(one, other, strict=True):
        for a, b in zip(mine, yours, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), **tolerance)


@pytest.fixture(scope="module")
def quick():
    return train(*line(60), splits(60, 3), recipe=QUICK)


@pytest.fixture(scope="module")
def learnt():
    """Networks that were trained to the end on 600 rows with noise of a third of the label's deviation."""
    X, y = line(1000, noise=1.0)
    split = splits(1000, 1)[0]
    fitted = train(X, y, [split], recipe=Recipe(width=16, steps=300, learning_rate=1e-2, checks=20))
    mean, std = y[split.train].mean(), y[split.train].std()
    return fitted.predictions(0), (y[split.test] - mean) / std, 1.0 / std


def test_a_split_parts_the_rows_60_20_20():
    for split in splits(101, 4):
        assert [len(split.train), len(split.calibration), len(split.test)] == [61, 20, 20]
        np.testing.assert_array_equal(np.sort(np.concatenate([*vars(split).values()])), np.arange(101))


def test_a_split_is_the_same_whatever_the_count_and_another_with_another_seed():
    few, many, other = splits(50, 2), splits(50, 5), splits(50, 2, seed=1)
    np.testing.assert_array_equal(few[1].train, many[1].train)
    assert (few[1].train != other[1].train).any()
    assert (many[0].train != many[1].train).any()


def test_there_are_eight_bases_of_twelve_networks():
    counts = {base: len(heads) for base, heads in BASES.items()}
    assert counts == dict.fromkeys(BASES, 1) | {"ensemble": 5}
    assert len(BASES) == 8
    assert len(EVERY.heads) == 12


def test_each_base_predicts_in_its_own_way_with_a_row_for_each_row_of_its_part(quick):
    found = quick.predictions(1)
    assert list(found) == list(BASES)
    kinds = dict.fromkeys(BASES, Quantiles) | {"point": Point, "interval": Interval, "ensemble": Ensemble}
    kinds["distribution"] = type(Normal([0.0], [1.0]))
    for base, parts in found.items():
        for prediction in parts:
            assert isinstance(prediction, kinds[base])
            assert len(prediction) == 12
            assert prediction.like.dtype == np.float64
    assert [type(member) for member in found["ensemble"][0].members] == [kinds["distribution"]] * 5


@pytest.mark.parametrize(
    ("base", "levels"),
    [("quantile-2", [1 / 4, 3 / 4]), ("quantile-4", [1 / 8, 3 / 8, 5 / 8, 7 / 8])],
)
def test_quantiles_are_equally_spaced_as_in_the_paper(quick, base, levels):
    np.testing.assert_allclose(quick.predictions(0)[base][0].levels, levels)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(quick):
    again, other = (train(*line(60), splits(60, 3), recipe=QUICK, seed=seed) for seed in (0, 1))
    same_outputs(quick.outputs, again.outputs, rtol=0)
    assert (quick.outputs[0][0] != other.outputs[0][0]).any()


def test_a_split_does_not_depend_on_the_splits_beside_it(quick):
    alone = train(*line(60), splits(60, 3)[2:], recipe=QUICK)
    same_outputs(quick.outputs[2:], alone.outputs, rtol=1e-4, atol=1e-5)


def test_no_label_outside_the_training_rows_is_seen(quick):
    X, y = line(60)
    every = splits(60, 3)
    for i, split in enumerate(every):
        hidden = y.copy()
        hidden[np.concatenate([split.calibration, split.test])] = 1e6
        blind = train(X, hidden, every[i : i + 1], recipe=QUICK)
        same_outputs(quick.outputs[i : i + 1], blind.outputs, rtol=1e-4, atol=1e-5)


def test_no_input_of_the_test_rows_is_seen_in_training(quick):
    X, y = line(60)
    split = splits(60, 1)[0]
    X[split.test] = 1e6
    blind = train(X, y, [split], recipe=QUICK)
    np.testing.assert_allclose(blind.outputs[0][0], quick.outputs[0][0], rtol=1e-4, atol=1e-5)


def test_the_rows_that_early_stopping_watches_are_not_trained_on():
    X, y = (torch.from_numpy(array) for array in line(60))
    part = prepare(X, y, splits(60, 1)[0], Recipe(steps=5, batch=(8, 8), held_out=0.25), 0, EVERY)
    assert (part.fit_x.shape, part.held_x.shape) == ((27, 2), (9, 2))
    assert not (part.fit_x[:, None] == part.held_x[None]).all(-1).any()
    assert part.order.shape == (5, 8)
    assert part.order.max() < 27


def test_every_epoch_sees_every_row_once():
    X, y = (torch.from_numpy(array) for array in line(60))
    order = prepare(X, y, splits(60, 1)[0], Recipe(steps=8, batch=(8, 8), held_out=0.1), 0, EVERY).order
    np.testing.assert_array_equal(np.sort(order.reshape(-1)[:32]), np.arange(32))
    np.testing.assert_array_equal(np.sort(order.reshape(-1)[32:]), np.arange(32))


def test_a_step_sees_a_64th_of_the_rows_within_bounds():
    assert [Recipe(batch=(64, 256)).batch_size(rows) for rows in (40, 100, 6400, 10**6)] == [40, 64, 100, 256]


def test_predictions_do_not_depend_on_the_unit_of_the_labels_or_the_inputs(quick):
    X, y = line(60)
    scaled = train(1000 * X - 5, 40 * y + 3, splits(60, 3), recipe=QUICK)
    same_outputs(quick.outputs, scaled.outputs, rtol=1e-3, atol=1e-4)


def test_constant_and_heavy_tailed_columns_do_no_harm():
    X, y = line(200)
    rng = np.random.default_rng(1)
    X = np.column_stack([X, np.full(200, 0.1), np.exp(5 * rng.normal(size=200))])
    fitted = train(X, y, splits(200, 1), recipe=QUICK)
    assert all(torch.isfinite(part).all() for part in fitted.outputs[0])
    seen = inputs(torch.from_numpy(X), np.arange(200))(np.arange(200))
    assert seen[:, 2].abs().max() < 1e-6
    assert seen.abs().max() < 20


def test_standardising_leaves_mean_zero_and_deviation_one():
    X = torch.from_numpy(line(60)[0]) * 5 + 3
    Z = standardised(X)(X)
    np.testing.assert_allclose(Z.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(Z.std(0, correction=0), 1)


def test_the_batched_network_is_each_network_alone():
    rng = np.random.default_rng(0)
    parameters = [
        torch.from_numpy(np.stack(layer)) for layer in zip(*(starts(rng, 3, 4, 5, 2) for _ in range(2)), strict=True)
    ]
    x = torch.from_numpy(rng.normal(size=(2, 7, 4)).astype(np.float32))
    together = forward(parameters, x)
    assert together.shape == (2, 3, 7, 2)
    for s in range(2):
        for k in range(3):
            w1, b1, w2, b2, w3, b3 = (parameter[s, k] for parameter in parameters)
            silu = torch.nn.SiLU()
            alone = silu(silu(x[s] @ w1 + b1) @ w2 + b2) @ w3 + b3
            np.testing.assert_allclose(together[s, k], alone, rtol=1e-4, atol=1e-6)


def test_a_step_of_all_networks_is_a_step_of_each_alone():
    """Against torch's plain AdamW, one network at a time, at the rate of a run's first and only step."""
    X, y = (torch.from_numpy(array) for array in line(60))
    recipe = Recipe(width=5, steps=1, batch=(8, 8), shrinkage=3.0, strong_decay=2.0)
    parts = [prepare(X, y, split, recipe, 0, EVERY) for split in splits(60, 2)]
    run = Run(parts, recipe, torch.device("cpu"), EVERY)
    run.step()
    for s, part in enumerate(parts):
        rows = torch.from_numpy(part.order[0])
        for (k, head), (twin, strength) in itertools.product(enumerate(EVERY.heads), enumerate((3 / 32, 2.0))):
            own = [torch.from_numpy(layer[k]).clone().requires_grad_() for layer in part.start]
            decay = [{"params": own[0::2], "weight_decay": strength}, {"params": own[1::2], "weight_decay": 0.0}]
            adam = torch.optim.AdamW(decay, lr=recipe.learning_rate, betas=(0.9, 0.99), foreach=False)
            raw = forward([layer[None, None] for layer in own], part.fit_x[rows][None])[0, 0]
            head.loss(raw[:, : head.outputs], part.fit_y[rows]).mean().backward()
            adam.step()
            for mine, together in zip(own, run.parameters, strict=True):
                # the first step has the size of the rate, so a gradient of nearly zero may take either sign
                apart = (together[2 * s + twin, k] - mine).abs() > 1e-5
                assert apart.float().mean() < 0.02


def test_the_better_twin_is_kept():
    rng = np.random.default_rng(0)
    X, every = rng.normal(size=(200, 6)), splits(200, 2)
    y = X[:, 0] + rng.normal(size=200)
    free, held, both = (
        train(X, y, every, recipe=Recipe(width=16, steps=200, checks=20, shrinkage=108 * mild, strong_decay=strong))
        for mild, strong in ((0, 0), (1, 1), (0, 1))  # 108 rows are left to train on
    )
    np.testing.assert_allclose(both.validation, np.minimum(free.validation, held.validation), rtol=1e-4)
    assert 0 < np.mean(held.validation < free.validation) < 1
    for split in range(2):
        alone = [fitted.outputs[split][0][0] for fitted in (free, held)]
        kept = alone[int(held.validation[split, 0] < free.validation[split, 0])]
        np.testing.assert_allclose(both.outputs[split][0][0], kept, rtol=1e-3, atol=1e-4)


def test_the_networks_of_an_ensemble_start_and_end_apart(quick):
    means = [member.mean() for member in quick.predictions(0)["ensemble"][0].members]
    assert min(np.abs(a - b).max() for i, a in enumerate(means) for b in means[:i]) > 1e-3


def test_the_validation_of_a_gaussian_is_its_crps():
    rng = np.random.default_rng(0)
    raw, y = torch.from_numpy(rng.normal(size=(50, 2))), rng.normal(size=50)
    expected = GaussianHead().prediction(raw).crps(y)
    np.testing.assert_allclose(GaussianHead().validation(raw, torch.from_numpy(y)), expected, rtol=1e-8)


def test_the_interval_loss_is_least_at_the_5_and_95_percent_quantiles():
    y = torch.from_numpy(np.random.default_rng(0).normal(size=20_000))
    raw = torch.zeros((1, 2), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([raw], max_iter=100)

    def closure():
        optimiser.zero_grad()
        loss = IntervalHead().loss(raw.expand(len(y), 2), y).mean()
        loss.backward()
        return loss

    optimiser.step(closure)
    interval = IntervalHead().prediction(raw.detach())
    np.testing.assert_allclose([interval.lower[0], interval.upper[0]], [-1.645, 1.645], atol=0.05)


def test_quantiles_that_cross_or_agree_are_put_in_order_without_a_warning():
    raw = torch.tensor([[3.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]], dtype=torch.float64)
    values = QuantileHead(4).prediction(raw).values
    np.testing.assert_allclose(values, [[1, 1, 2, 3], [0, 0, 0, 0]], atol=1e-4)
    assert (np.diff(values, axis=1) > 0).all()


def test_the_point_and_the_mean_learn_the_line(learnt):
    found, y, noise = learnt
    assert np.sqrt(np.mean((found["point"][1].values - y) ** 2)) < 1.15 * noise
    assert np.sqrt(np.mean((found["distribution"][1].mean() - y) ** 2)) < 1.15 * noise


def test_the_scale_learns_the_noise(learnt):
    found, _, noise = learnt
    assert np.median(found["distribution"][1].std()) == pytest.approx(noise, rel=0.25)


def test_the_interval_covers_nine_labels_in_ten(learnt):
    found, y, _ = learnt
    interval = found["interval"][1]
    assert np.mean((interval.lower <= y) & (y <= interval.upper)) == pytest.approx(0.9, abs=0.07)


def test_the_quantiles_lie_where_their_levels_say(learnt):
    found, y, _ = learnt
    for base in ("quantile-2", "quantile-4", "quantile-7", "quantile-10"):
        quantiles = found[base][1]
        below = (y[:, None] <= quantiles.values).mean(axis=0)
        np.testing.assert_allclose(below, quantiles.levels, atol=0.1)


def test_a_network_keeps_the_weights_of_its_best_check():
    X, _ = line(100)
    y = np.random.default_rng(2).normal(size=100)
    every = splits(100, 1)
    best = train(X, y, every, recipe=Recipe(width=16, steps=100, learning_rate=3e-2, checks=20))
    last = train(X, y, every, recipe=Recipe(width=16, steps=100, learning_rate=3e-2, checks=1))
    assert (last.stopped == 100).all()
    assert (best.validation <= last.validation).all()
    assert best.validation.mean() < 0.9 * last.validation.mean()


def test_progress_is_told_the_steps_done_and_the_steps_in_all():
    told = []
    train(*line(20), splits(20, 1), recipe=QUICK, progress=lambda done, total: told.append((done, total)))
    assert told == [(4, 12), (8, 12), (12, 12)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y, s: (X[:, 0], y, s), r"X of shape \(n, d\) and y of shape \(n,\), got \(20,\) and \(20,\)"),
        (lambda X, y, s: (X, y[:-1], s), r"got \(20, 2\) and \(19,\)"),
        (
            lambda X, y, s: (np.where(np.isclose(X, X[3, 1]), np.nan, X), y, s),
            r"X is NaN or infinite in row 3 \(the only such row\)",
        ),
        (lambda X, y, s: (X, np.where(np.isclose(y, y[5]), np.inf, y), s), "y is NaN or infinite in row 5"),
        (lambda X, y, s: (X, y, []), r"got sizes \[\]"),
        (
            lambda X, y, s: (X, y, [*s, Split(s[0].train[1:], s[0].calibration, s[0].test)]),
            r"one size, .* got sizes \[11, 12\]",
        ),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        train(*change(*line(20), splits(20, 1)), recipe=QUICK)


def test_a_bad_recipe_and_too_few_rows_are_named():
    with pytest.raises(ValueError, match=r"Recipe\.steps must be at least 1, got 0"):
        Recipe(steps=0)
    with pytest.raises(ValueError, match=r"Recipe\.batch must be two increasing numbers of at least 1, got \(9, 8\)"):
        Recipe(batch=(9, 8))
    with pytest.raises(ValueError, match=r"Recipe\.held_out must lie strictly inside \(0, 1\), got 1"):
        Recipe(held_out=1)
    with pytest.raises(ValueError, match="at least 5 rows to fill its three parts, got 4"):
        splits(4)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_trains_the_same_networks_twice_and_as_the_cpu_does(quick):
    one, two = (train(*line(60), splits(60, 3), recipe=QUICK, device="cuda") for _ in range(2))
    same_outputs(one.outputs, two.outputs, rtol=0)
    same_outputs(quick.outputs, one.outputs, rtol=1e-2, atol=1e-3)


def test_outputs_are_as_wide_as_the_widest_head(quick):
    assert quick.outputs[0][1].shape == (12, 12, EVERY.outputs)
