"""One of the sentences of a verdict."""

from calibrant.judging.words import Statement as Statement
