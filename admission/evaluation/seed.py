"""The seed of every draw an evaluation makes, unless it is told another."""

SEED = 20
