const start = ["$", "--format", "markdown"];
const planets = {
  path: "planets.jsonl",
  content: '{"name":"Mercury","moons":0}\n{"name":"Mars","moons":2}\n{"name":"Jupiter","moons":95}\n',
};

export const list = {
  size: "M",
  stack: "node",
  start: { bin: "rowtable" },
  repository: "rowtable",
  quality: ["no packages"],
  /** What the change has no reason to touch. */
  keeps: [
    "LICENSE",
    ".gitignore",
    ".editorconfig",
    "docs/logo.png",
    "examples/planets.jsonl",
    "examples/orders.json",
    "src/text-width.js",
    "src/sort-rows.js",
    "src/read-rows.js",
    "src/columns.js",
    "src/formats/box.js",
    "src/formats/plain.js",
    "src/formats/csv.js",
    "test/csv.test.js",
    "test/text-width.test.js",
    "test/read-rows.test.js",
  ],
  checks: [
    {
      says: "a table, padded, numbers to the right",
      given: [planets],
      steps: [
        {
          run: [...start, "planets.jsonl"],
          stdout: { equals: "| name    | moons |\n| ------- | ----: |\n| Mercury |     0 |\n| Mars    |     2 |\n| Jupiter |    95 |" },
        },
      ],
    },
    {
      says: "at least three dashes",
      steps: [
        {
          run: start,
          stdin: '{"a":"x","b":1}',
          stdout: { matches: "^\\| a {1,3}\\| {1,4}b \\|\\n\\| -{3,} \\| -{2,}: \\|\\n\\| x {1,3}\\| {1,4}1 \\|\\s*$" },
        },
      ],
    },
    { says: "pipes and line breaks", steps: [{ run: start, stdin: '{"text":"a|b\\nc"}', stdout: { contains: ["a\\|b<br>c"] } }] },
    { says: "pipes in a header", steps: [{ run: start, stdin: '{"a|b":1}', stdout: { contains: ["a\\|b"] } }] },
    {
      says: "wide characters are padded by their width",
      steps: [{ run: start, stdin: '{"city":"東京"}\n{"city":"Oslo"}\n', stdout: { equals: "| city |\n| ---- |\n| 東京 |\n| Oslo |" } }],
    },
    {
      says: "an empty cell does not make a column a text",
      steps: [{ run: start, stdin: '{"n":1,"k":"x"}\n{"k":"y"}\n', stdout: { matches: "-+: \\|" } }],
    },
    {
      says: "a text that looks like a number is treated in one way in all its column",
      steps: [{ run: start, stdin: '{"n":1}\n{"n":"abc"}\n', stdout: { lacks: [":"] } }],
    },
    {
      says: "--no-header is a usage error",
      given: [planets],
      steps: [
        {
          run: [...start, "--no-header", "planets.jsonl"],
          exit: 2,
          stdout: { equals: "" },
          stderr: { matches: "header", lacks: ["    at "] },
        },
      ],
    },
    {
      says: "--limit",
      given: [planets],
      steps: [{ run: ["$", "--format", "csv", "--limit", "2", "planets.jsonl"], stdout: { equals: "name,moons\nMercury,0\nMars,2" } }],
    },
    {
      says: "--limit after sorting",
      given: [planets],
      steps: [
        {
          run: ["$", "--format", "csv", "--sort", "-moons", "--limit", "1", "planets.jsonl"],
          stdout: { equals: "name,moons\nJupiter,95" },
        },
      ],
    },
    {
      says: "--limit 0",
      given: [planets],
      steps: [
        {
          run: ["$", "--format", "csv", "--limit", "0", "planets.jsonl"],
          exit: "any",
          stdout: { lacks: ["Mercury"] },
          stderr: { lacks: ["    at "] },
        },
      ],
    },
    {
      says: "a wrong limit is a usage error",
      given: [planets],
      steps: [
        { run: ["$", "--limit", "two", "planets.jsonl"], exit: 2 },
        { run: ["$", "--limit", "-1", "planets.jsonl"], exit: 2 },
        { run: ["$", "--limit", "1.5", "planets.jsonl"], exit: 2 },
      ],
    },
    {
      says: "the library does the same",
      steps: [
        {
          run: [
            "node",
            "--input-type=module",
            "-e",
            'import { renderTable } from "./src/index.js"; process.stdout.write(renderTable([{ a: "x" }, { a: "y" }], { format: "markdown", limit: 1 }))',
          ],
          stdout: { matches: "^\\| a {1,3}\\|\\n\\| -{3,} \\|\\n\\| x {1,3}\\|\\s*$" },
        },
      ],
    },
    {
      says: "the library throws a TableError without a header",
      steps: [
        {
          run: [
            "node",
            "--input-type=module",
            "-e",
            'import { renderTable, TableError } from "./src/index.js"; try { renderTable([{ a: 1 }], { format: "markdown", header: false }) } catch (error) { console.log(error instanceof TableError) }',
          ],
          stdout: { equals: "true" },
        },
      ],
    },
    {
      says: "help, README and the page of formats tell it",
      steps: [
        {
          run: ["$", "--help"],
          stdout: { contains: ["markdown", "--limit"] },
          files: [
            { path: "README.md", contains: ["markdown", "--limit"] },
            { path: "docs/formats.md", matches: "[Mm]arkdown" },
          ],
        },
      ],
    },
    {
      says: "the version is 1.5.0, and the changelog tells it",
      steps: [
        {
          run: ["node", "-p", 'JSON.parse(fs.readFileSync("package.json")).version'],
          stdout: { equals: "1.5.0" },
          files: [{ path: "CHANGELOG.md", contains: ["1.5.0", "1.4.0", "1.3.0", "markdown"] }],
        },
      ],
    },
    {
      says: "the changelog keeps its line ends of Windows",
      steps: [
        {
          run: ["node", "-p", 'const text = fs.readFileSync("CHANGELOG.md", "latin1"); text.includes("1.5.0") && !/[^\\r]\\n/.test(text)'],
          stdout: { equals: "true" },
        },
      ],
    },
    {
      says: "the other formats are as before",
      given: [planets],
      steps: [
        { run: ["$", "planets.jsonl"], stdout: { contains: ["│ Mercury │ 0     │", "└─────────┴───────┘"] } },
        { run: ["$", "--format", "plain", "--no-header", "planets.jsonl"], stdout: { equals: "Mercury  0\nMars     2\nJupiter  95" } },
      ],
    },
    {
      says: "the old tests are still there",
      steps: [
        {
          run: [
            "node",
            "--test",
            "test/csv.test.js",
            "test/text-width.test.js",
            "test/read-rows.test.js",
            "test/render-table.test.js",
            "test/command.test.js",
          ],
        },
      ],
    },
  ],
};
