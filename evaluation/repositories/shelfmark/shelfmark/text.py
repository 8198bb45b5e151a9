"""Texts for comparison."""

import unicodedata


def folded(text: str) -> str:
    """Return the text without accents and in lower case."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(part for part in parts if not unicodedata.combining(part)).casefold()
