"""ISBNs: checked, and kept as 13 digits."""

from shelfmark.errors import ShelfmarkError


def normalize(text: str) -> str:
    """Return the ISBN as 13 digits; raise ShelfmarkError when it is none."""
    digits = text.replace("-", "").replace(" ", "").upper()
    if len(digits) == 10 and _is_isbn10(digits):
        body = "978" + digits[:9]
        return body + str(_check_digit(body))
    if len(digits) == 13 and digits.isdigit() and _check_digit(digits[:12]) == int(digits[12]):
        return digits
    raise ShelfmarkError(f"{text} is no ISBN.")


def hyphenated(isbn: str) -> str:
    """Return a 13-digit ISBN with hyphens after the prefix and before the check digit."""
    return f"{isbn[:3]}-{isbn[3:12]}-{isbn[12]}"


def _check_digit(body: str) -> int:
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return (10 - total % 10) % 10


def _is_isbn10(digits: str) -> bool:
    if not digits[:9].isdigit() or not (digits[9].isdigit() or digits[9] == "X"):
        return False
    values = [int(digit) for digit in digits[:9]] + [10 if digits[9] == "X" else int(digits[9])]
    return sum(value * (10 - place) for place, value in enumerate(values)) % 11 == 0
