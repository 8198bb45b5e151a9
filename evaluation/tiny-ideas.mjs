/** Ideas so small that a model by a seed can work on them: the user's words, the criteria, the files of a good product, and one that is wrong. */

const command = (steps) => ({ kind: "command", steps });
const criterion = (id, then, check, priority = "P0") => ({ id, priority, given: "the product", when: "it is used", then, check });

const sum = {
  name: "sum",
  stack: "node",
  idea: "A Node command: `node sum.mjs 2 3` prints 5. Something that is no number ends with exit code 2 and a message on stderr.",
  criteria: [
    criterion("A1", "the sum is printed", command([{ run: ["node", "sum.mjs", "2", "3"], stdout: { equals: "5" } }])),
    criterion("A2", "no number is refused", command([{ run: ["node", "sum.mjs", "2", "x"], exit: 2, stderr: { contains: ["x"] } }])),
  ],
  source: "add.mjs",
  files: {
    "package.json":
      '{ "name": "sum", "version": "1.0.0", "type": "module", "bin": { "sum": "sum.mjs" }, "scripts": { "test": "node --test" } }\n',
    "add.mjs":
      "/** Returns the sum of texts that are numbers. */\nexport function add(texts) {\n  const wrong = texts.find((text) => !Number.isFinite(Number(text)));\n  if (wrong !== undefined) throw new RangeError(`${wrong} is no number`);\n  return texts.reduce((sum, text) => sum + Number(text), 0);\n}\n",
    "sum.mjs":
      '#!/usr/bin/env node\nimport { add } from "./add.mjs";\n\ntry {\n  console.log(String(add(process.argv.slice(2))));\n} catch (error) {\n  console.error(error.message);\n  process.exitCode = 2;\n}\n',
    "README.md": "# sum\n\nAdds numbers.\n\n## Use\n\n```sh\nnode sum.mjs 2 3\n```\n",
  },
  tests: {
    "test/add.test.mjs":
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { add } from "../add.mjs";\n\ntest("A1: numbers are added", () => assert.equal(add(["2", "3"]), 5));\ntest("A2: no number is refused", () => assert.throws(() => add(["2", "x"]), /x is no number/));\n',
  },
  wrong: [/sum \+ Number\(text\)/, "sum - Number(text)"],
  stub: "/** Returns the sum of texts that are numbers. */\nexport function add(texts) {\n  throw new Error(`not written: ${texts.length}`);\n}\n",
  /** A command that works in every product that is called done, whatever its criteria say. */
  proof: { run: ["node", "sum.mjs", "20", "22"], stdout: "42" },
};

const slug = {
  name: "slug",
  stack: "python",
  idea: 'A Python program: `python3 -m slug "Hello, World"` prints hello-world. Without a word it ends with exit code 2.',
  criteria: [
    criterion(
      "A1",
      "the slug is printed",
      command([{ run: ["python3", "-m", "slug", "Hello, World"], stdout: { equals: "hello-world" } }]),
    ),
    criterion("A2", "nothing is refused", command([{ run: ["python3", "-m", "slug"], exit: 2 }])),
  ],
  source: "slug/words.py",
  files: {
    "pyproject.toml": '[project]\nname = "slug"\nversion = "1.0.0"\nrequires-python = ">=3.9"\n',
    "slug/__init__.py": '"""Slugs of texts."""\n',
    "slug/words.py":
      '"""Words of a text."""\n\nimport re\n\n\ndef slug_of(text: str) -> str:\n    """Return the words of a text in lower case, joined by hyphens."""\n    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))\n',
    "slug/__main__.py":
      'import sys\n\nfrom slug.words import slug_of\n\n\ndef main() -> int:\n    if len(sys.argv) != 2:\n        print("expected one text", file=sys.stderr)\n        return 2\n    print(slug_of(sys.argv[1]))\n    return 0\n\n\nif __name__ == "__main__":\n    sys.exit(main())\n',
    "README.md": '# slug\n\nMakes slugs.\n\n## Use\n\n```sh\npython3 -m slug "Hello, World"\n```\n',
  },
  tests: {
    "tests/test_words.py":
      'from slug.words import slug_of\n\n\ndef test_a1_words_are_joined() -> None:\n    assert slug_of("Hello, World") == "hello-world"\n    assert slug_of("A  b 3") == "a-b-3"\n',
  },
  wrong: [/"-"\.join/, '"_".join'],
  stub: '"""Words of a text."""\n\n\ndef slug_of(text: str) -> str:\n    """Return the words of a text in lower case, joined by hyphens."""\n    raise NotImplementedError(text)\n',
  proof: { run: ["python3", "-m", "slug", "One TWO"], stdout: "one-two" },
};

export const tinyIdeas = [sum, slug];
