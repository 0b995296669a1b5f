"""Transforms: the increasing map y -> s that a score makes of each row of a prediction.

A transform knows nothing of q: `calibrant.scores.pull_back` pulls q back through each of them.
"""
