"""Tells which words are most frequent in text files."""

import argparse
import json
import re
import sys
from collections import Counter

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def words_of(text: str) -> list[str]:
    return WORD.findall(text.lower())


def top(texts: list[str], number: int, min_length: int, stop: set[str]) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word in words_of(text) if len(word) >= min_length and word not in stop)
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: max(0, number)]


def read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        print(f"wordtop: {path}: {error}", file=sys.stderr)
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("-n", type=int, default=10)
    parser.add_argument("--min-length", type=int, default=1)
    parser.add_argument("--stop")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    stop = set(read(options.stop).lower().split()) if options.stop else set()
    texts = [read(path) for path in options.files] or [sys.stdin.read()]
    found = top(texts, options.n, options.min_length, stop)
    if options.json:
        print(json.dumps(dict(found), ensure_ascii=False))
    else:
        for word, count in found:
            print(f"{count}\t{word}")


if __name__ == "__main__":
    main()
