"""What commit 5808dfa answers, case by case: the truth that the numerics are rewritten against.

`cases` builds the distributions, `measure` asks them, `make` wrote the answers down, `worst` prints how far the present
code is from them, and `tolerances` says how far it may be.
"""
