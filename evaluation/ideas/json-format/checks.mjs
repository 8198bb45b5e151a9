const messy = { path: "a.json", content: '{"b":1,"a":[true,null,{}],"c":[]}' };
const neat = '{\n  "b": 1,\n  "a": [\n    true,\n    null,\n    {}\n  ],\n  "c": []\n}\n';

export const list = {
  size: "S",
  stack: "node",
  start: { bin: "jsonfmt" },
  quality: ["no packages"],
  checks: [
    {
      says: "a file is printed formatted",
      given: [messy],
      steps: [{ run: ["$", "a.json"], stdout: { equals: neat.trim() }, files: [{ path: "a.json", equals: messy.content }] }],
    },
    { says: "standard input", steps: [{ run: ["$"], stdin: "[1,2]", stdout: { equals: "[\n  1,\n  2\n]" } }] },
    { says: "--indent 4", steps: [{ run: ["$", "--indent", "4"], stdin: '{"a":1}', stdout: { equals: '{\n    "a": 1\n}' } }] },
    { says: "--indent tab", steps: [{ run: ["$", "--indent", "tab"], stdin: '{"a":1}', stdout: { equals: '{\n\t"a": 1\n}' } }] },
    { says: "--compact", steps: [{ run: ["$", "--compact"], stdin: '{ "a" : [ 1 , "x y" ] }', stdout: { equals: '{"a":[1,"x y"]}' } }] },
    {
      says: "--sort sorts at every depth",
      steps: [
        {
          run: ["$", "--sort", "--compact"],
          stdin: '{"b":{"d":1,"c":2},"a":[{"z":1,"y":2}]}',
          stdout: { equals: '{"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}}' },
        },
      ],
    },
    {
      says: "keys stay in their order without --sort, also those that look like numbers",
      steps: [{ run: ["$", "--compact"], stdin: '{"b":1,"2":1,"1":1}', stdout: { equals: '{"b":1,"2":1,"1":1}' } }],
    },
    {
      says: "numbers are printed as they were written",
      steps: [
        {
          run: ["$", "--compact"],
          stdin: "[1.0, 1e5, 12345678901234567890, -0.10]",
          stdout: { equals: "[1.0,1e5,12345678901234567890,-0.10]" },
        },
      ],
    },
    {
      says: "strings keep what they hold",
      steps: [{ run: ["$", "--compact"], stdin: '["a\\"b, {c}: [d]", "é", "\\n"]', stdout: { contains: ['"a\\"b, {c}: [d]"', "\\n"] } }],
    },
    {
      says: "empty objects and arrays are short",
      steps: [{ run: ["$"], stdin: '{"a":{ },"b":[ ]}', stdout: { equals: '{\n  "a": {},\n  "b": []\n}' } }],
    },
    {
      says: "--write formats in place and prints nothing",
      given: [messy],
      steps: [{ run: ["$", "--write", "a.json"], stdout: { equals: "" }, files: [{ path: "a.json", equals: neat.trim() }] }],
    },
    {
      says: "--check names the files that are not formatted",
      given: [messy, { path: "b.json", content: neat }],
      steps: [{ run: ["$", "--check", "a.json", "b.json"], exit: 1, stdout: { equals: "a.json" } }],
    },
    {
      says: "--check of formatted files",
      given: [{ path: "b.json", content: neat }],
      steps: [{ run: ["$", "--check", "b.json"], exit: 0, stdout: { equals: "" } }],
    },
    {
      says: "what --write wrote passes --check",
      given: [messy],
      steps: [{ run: ["$", "--write", "a.json"] }, { run: ["$", "--check", "a.json"], exit: 0, stdout: { equals: "" } }],
    },
    {
      says: "invalid JSON: file, line and column, exit code 2",
      given: [{ path: "bad.json", content: '{\n  "a": 1,\n  "b" 2\n}\n' }],
      steps: [{ run: ["$", "bad.json"], exit: 2, stderr: { contains: ["bad.json:3:7:"], lacks: ["    at "] } }],
    },
    { says: "invalid standard input", steps: [{ run: ["$"], stdin: "[1,]", exit: 2, stderr: { contains: ["<stdin>:1:4:"] } }] },
    {
      says: "the other files are done, and the invalid one is left",
      given: [{ path: "bad.json", content: "{" }, messy],
      steps: [
        {
          run: ["$", "--write", "bad.json", "a.json"],
          exit: 2,
          files: [
            { path: "a.json", equals: neat.trim() },
            { path: "bad.json", equals: "{" },
          ],
        },
      ],
    },
    { says: "text after the end is invalid", steps: [{ run: ["$"], stdin: "{} x", exit: 2, stderr: { contains: ["<stdin>:1:4:"] } }] },
    { says: "an unknown option: 64 and a hint", steps: [{ run: ["$", "--blue"], exit: 64, stderr: { contains: ["--help"] } }] },
    { says: "--help", steps: [{ run: ["$", "--help"], stdout: { contains: ["--write", "--check", "--sort", "--indent"] } }] },
  ],
};
