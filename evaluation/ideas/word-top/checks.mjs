const text = { path: "a.txt", content: "The cat and the dog.\nThe bird and THE fish; don't, don't!\n" };

export const list = {
  size: "S",
  stack: "python",
  start: { script: "wordtop.py" },
  quality: [],
  checks: [
    {
      says: "counts come first, the most frequent word first, equal ones by alphabet",
      given: [text],
      steps: [{ run: ["$", "a.txt"], stdout: { equals: "4\tthe\n2\tand\n2\tdon't\n1\tbird\n1\tcat\n1\tdog\n1\tfish" } }],
    },
    {
      says: "files are counted together",
      given: [
        { path: "a.txt", content: "one two two" },
        { path: "b.txt", content: "two three one" },
      ],
      steps: [{ run: ["$", "a.txt", "b.txt"], stdout: { equals: "3\ttwo\n2\tone\n1\tthree" } }],
    },
    {
      says: "a word does not go from one file into the next",
      given: [
        { path: "a.txt", content: "half" },
        { path: "b.txt", content: "way" },
      ],
      steps: [{ run: ["$", "a.txt", "b.txt"], stdout: { equals: "1\thalf\n1\tway" } }],
    },
    {
      says: "at most ten words",
      steps: [
        {
          run: ["$"],
          stdin: "a b c d e f g h i j k l",
          stdout: {
            equals: "abcdefghij"
              .split("")
              .map((word) => `1\t${word}`)
              .join("\n"),
          },
        },
      ],
    },
    { says: "-n sets the number", given: [text], steps: [{ run: ["$", "-n", "2", "a.txt"], stdout: { equals: "4\tthe\n2\tand" } }] },
    {
      says: "--min-length leaves out shorter words",
      given: [text],
      steps: [{ run: ["$", "--min-length", "4", "a.txt"], stdout: { equals: "2\tdon't\n1\tbird\n1\tfish" } }],
    },
    {
      says: "--stop leaves out the words of a file, in any case",
      given: [text, { path: "stop.txt", content: "The\nAND\n\n" }],
      steps: [{ run: ["$", "--stop", "stop.txt", "-n", "3", "a.txt"], stdout: { equals: "2\tdon't\n1\tbird\n1\tcat" } }],
    },
    {
      says: "--json prints an object in the same order",
      steps: [
        { run: ["$", "--json"], stdin: "b b a c c c", stdout: { matches: '^\\{\\s*"c":\\s*3,\\s*"b":\\s*2,\\s*"a":\\s*1\\s*\\}\\s*$' } },
      ],
    },
    {
      says: "--json keeps letters of other alphabets readable as JSON",
      steps: [{ run: ["$", "--json"], stdin: "été été", stdout: { matches: '^\\{\\s*"(été|\\\\u00e9t\\\\u00e9)":\\s*2\\s*\\}\\s*$' } }],
    },
    { says: "standard input without a file", steps: [{ run: ["$"], stdin: "x y x", stdout: { equals: "2\tx\n1\ty" } }] },
    {
      says: "letters of any alphabet make words",
      steps: [{ run: ["$"], stdin: "Ёлка ёлка über Über ÜBER naïve", stdout: { equals: "3\tüber\n2\tёлка\n1\tnaïve" } }],
    },
    {
      says: "digits and underscores are no letters",
      steps: [{ run: ["$"], stdin: "abc1def snake_case 2024", stdout: { equals: "1\tabc\n1\tcase\n1\tdef\n1\tsnake" } }],
    },
    {
      says: "an apostrophe at the edge is no part of a word",
      steps: [{ run: ["$"], stdin: "'quoted' l'eau dogs' 'tis", stdout: { equals: "1\tdogs\n1\tl'eau\n1\tquoted\n1\ttis" } }],
    },
    { says: "no word, no line", steps: [{ run: ["$"], stdin: "12 34 --\n", stdout: { equals: "" } }] },
    {
      says: "a missing file is named, without a traceback and without counts",
      given: [text],
      steps: [
        { run: ["$", "a.txt", "none.txt"], exit: 1, stdout: { equals: "" }, stderr: { contains: ["none.txt"], lacks: ["Traceback"] } },
      ],
    },
    {
      says: "a file that is no UTF-8 is named",
      given: [{ path: "bad.bin", base64: "/v8AgYKD" }],
      steps: [{ run: ["$", "bad.bin"], exit: 1, stdout: { equals: "" }, stderr: { contains: ["bad.bin"], lacks: ["Traceback"] } }],
    },
    {
      says: "-n 0 or less than that is no crash",
      given: [text],
      steps: [{ run: ["$", "-n", "-1", "a.txt"], exit: "any", stderr: { lacks: ["Traceback"] } }],
    },
  ],
};
