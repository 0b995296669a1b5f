"""Backtests: predict, reveal, update, in the order of time."""

from calibrant.backtesting.backtest import Backtest, backtest

__all__ = ["Backtest", "backtest"]
