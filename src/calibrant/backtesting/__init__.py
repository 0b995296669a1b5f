"""Backtests: predict, reveal, update, in time order."""

from calibrant.backtesting.backtest import Backtest, backtest

__all__ = ["Backtest", "backtest"]
