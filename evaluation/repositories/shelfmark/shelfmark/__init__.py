"""The catalogue of a small library."""

__version__ = "0.3.2"
