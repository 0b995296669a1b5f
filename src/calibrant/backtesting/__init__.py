"""Backtests: predict, reveal, update, in time order."""

from calibrant.backtesting.backtest import backtest

__all__ = ["backtest"]
