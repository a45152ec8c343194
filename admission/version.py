"""The version of the package, part of every configuration digest."""

__version__ = "0.1.0"
