const books = [
  { isbn: "9780306406157", title: "The Quiet Garden", authors: ["Mira Holt"], year: 1998, tags: ["nature"], shelf: "A3" },
  { isbn: "9781402894626", title: "Elan", authors: [], year: null, tags: [] },
  { isbn: "9783161484100", title: "Rivers of Stone", authors: [], year: 2004, tags: [] },
  { isbn: "9780131103627", title: "Small Tools", authors: [], year: 1988, tags: [] },
];
const old = { path: "library.json", content: `${JSON.stringify({ version: 1, books, owner: "Reading room" }, undefined, 2)}\n` };
const [garden, elan, rivers, tools] = books.map(({ isbn }) => isbn);
const member = (name) => ({ run: ["$", "member", "add", name] });
const lend = (isbn, on, to = "1") => ({ run: ["$", "lend", isbn, to, "--on", on] });
const give = (isbn, on) => ({ run: ["$", "return", isbn, "--on", on] });
const refused = { exit: 1, stdout: { equals: "" }, stderr: { matches: "\\S", lacks: ["Traceback"] } };
const lent = [member("Ada Lovelace"), lend(garden, "2026-03-01")];

export const list = {
  size: "L",
  stack: "python",
  start: { module: "shelfmark" },
  repository: "shelfmark",
  quality: [],
  /** What the change has no reason to touch. */
  keeps: [
    "LICENSE",
    ".gitignore",
    "assets/cover.png",
    "data/sample.json",
    "shelfmark/isbn.py",
    "shelfmark/text.py",
    "shelfmark/search.py",
    "shelfmark/export.py",
    "shelfmark/report.py",
    "shelfmark/errors.py",
    "shelfmark/__main__.py",
    "tests/test_isbn.py",
    "tests/test_search.py",
    "tests/test_export.py",
  ],
  checks: [
    {
      says: "members get numbers",
      given: [old],
      steps: [
        { ...member("Ada Lovelace"), stdout: { equals: "member 1" } },
        { ...member("Lin"), stdout: { equals: "member 2" } },
        { run: ["$", "member", "list"], stdout: { equals: "1\tAda Lovelace\t0\n2\tLin\t0" } },
      ],
    },
    {
      says: "a book is lent for 28 days",
      given: [old],
      steps: [
        member("Ada"),
        { ...lend("978-0-306-40615-7", "2026-03-01"), stdout: { equals: "due 2026-03-29" } },
        { run: ["$", "member", "list"], stdout: { equals: "1\tAda\t1" } },
      ],
    },
    {
      says: "a lent book is not lent again",
      given: [old],
      steps: [...lent, member("Lin"), { ...lend(garden, "2026-03-02", "2"), ...refused }],
    },
    {
      says: "an unknown book and an unknown member",
      given: [old],
      steps: [...lent, { ...lend("9780201633610", "2026-03-02"), ...refused }, { ...lend(elan, "2026-03-02", "7"), ...refused }],
    },
    {
      says: "three books at most",
      given: [old],
      steps: [...lent, lend(elan, "2026-03-02"), lend(rivers, "2026-03-02"), { ...lend(tools, "2026-03-02"), ...refused }],
    },
    {
      says: "nothing is lent to a member with an overdue book, but it is on the day it is due",
      given: [old],
      steps: [...lent, { ...lend(elan, "2026-03-29"), exit: 0 }, { ...lend(rivers, "2026-03-30"), ...refused }],
    },
    {
      says: "a book comes back in time",
      given: [old],
      steps: [...lent, { ...give(garden, "2026-03-29"), stdout: { equals: "returned" } }, { ...lend(garden, "2026-03-30"), exit: 0 }],
    },
    {
      says: "a book comes back late, with a fine",
      given: [old],
      steps: [...lent, { ...give(garden, "2026-04-02"), stdout: { equals: "returned, 4 days late, fine 0.80" } }],
    },
    {
      says: "a fine has a bound",
      given: [old],
      steps: [...lent, { ...give(garden, "2027-03-29"), stdout: { equals: "returned, 365 days late, fine 10.00" } }],
    },
    {
      says: "a book that is not lent does not come back, and none before it was lent",
      given: [old],
      steps: [...lent, { ...give(elan, "2026-03-02"), ...refused }, { ...give(garden, "2026-02-28"), ...refused }],
    },
    {
      says: "a loan is renewed once, from the day it is due",
      given: [old],
      steps: [
        ...lent,
        { run: ["$", "renew", garden, "--on", "2026-03-10"], stdout: { equals: "due 2026-04-12" } },
        { run: ["$", "renew", garden, "--on", "2026-03-11"], ...refused },
      ],
    },
    {
      says: "an overdue loan is not renewed",
      given: [old],
      steps: [...lent, { run: ["$", "renew", garden, "--on", "2026-03-30"], ...refused }],
    },
    {
      says: "loans are in order of the due date",
      given: [old],
      steps: [
        ...lent,
        lend(elan, "2026-02-20"),
        {
          run: ["$", "loans"],
          stdout: {
            matches:
              "^978-?140289462-?6\\tElan\\tAda Lovelace\\t2026-03-20\\n978-?030640615-?7\\tThe Quiet Garden\\tAda Lovelace\\t2026-03-29\\s*$",
          },
        },
      ],
    },
    {
      says: "overdue loans, and those of a member",
      given: [old],
      steps: [
        ...lent,
        member("Lin"),
        lend(elan, "2026-03-20", "2"),
        { run: ["$", "loans", "--overdue", "--on", "2026-04-01"], stdout: { contains: ["Quiet"], lacks: ["Elan"] } },
        { run: ["$", "loans", "--overdue", "--on", "2026-03-29"], stdout: { equals: "" } },
        { run: ["$", "loans", "--member", "2"], stdout: { contains: ["Elan"], lacks: ["Quiet"] } },
      ],
    },
    {
      says: "the history of a book",
      given: [old],
      steps: [
        ...lent,
        give(garden, "2026-03-05"),
        lend(garden, "2026-03-06"),
        { run: ["$", "history", garden], stdout: { equals: "2026-03-01\t2026-03-05\tAda Lovelace\n2026-03-06\t-\tAda Lovelace" } },
      ],
    },
    {
      says: "the list tells what is lent",
      given: [old],
      steps: [...lent, { run: ["$", "list"], stdout: { contains: ["The Quiet Garden (1998) (lent)"], lacks: ["Elan (lent)"] } }],
    },
    {
      says: "a lent book stays in the catalogue",
      given: [old],
      steps: [...lent, { run: ["$", "remove", garden], ...refused }, give(garden, "2026-03-02"), { run: ["$", "remove", garden], exit: 0 }],
    },
    {
      says: "a member with books stays",
      given: [old],
      steps: [
        ...lent,
        { run: ["$", "member", "remove", "1"], ...refused },
        give(garden, "2026-03-02"),
        { run: ["$", "member", "remove", "1"], exit: 0 },
      ],
    },
    {
      says: "a date that is none",
      given: [old],
      steps: [
        member("Ada"),
        {
          run: ["$", "lend", garden, "1", "--on", "2026-02-30"],
          exit: "failure",
          stdout: { equals: "" },
          stderr: { lacks: ["Traceback"] },
        },
      ],
    },
    {
      says: "reading does not change the file",
      given: [old],
      steps: [{ run: ["$", "list"], files: [{ path: "library.json", equals: old.content.trim() }], gone: ["library.json.v1.bak"] }],
    },
    {
      says: "the first write keeps everything, and the old file",
      given: [old],
      steps: [
        {
          ...member("Ada"),
          files: [
            {
              path: "library.json",
              contains: ['"owner"', "Reading room", '"shelf"', "A3", '"members"', '"loans"'],
              matches: '"version":\\s*2',
            },
            { path: "library.json.v1.bak", equals: old.content.trim() },
          ],
        },
        { run: ["$", "list", "--sort", "isbn"], stdout: { contains: ["978-030640615-7\tThe Quiet Garden (1998)", "978-013110362-7"] } },
      ],
    },
    {
      says: "a later version is refused and not touched",
      given: [{ path: "library.json", content: '{"version": 3, "books": []}' }],
      steps: [{ ...member("Ada"), ...refused, files: [{ path: "library.json", equals: '{"version": 3, "books": []}' }] }],
    },
    {
      says: "the version and the changes are told",
      steps: [
        {
          run: ["$", "--version"],
          stdout: { contains: ["0.4.0"] },
          files: [
            { path: "pyproject.toml", contains: ['version = "0.4.0"'] },
            { path: "CHANGES.rst", contains: ["0.4.0", "0.3.2", "0.3.1"] },
            { path: "README.md", contains: ["lend", "renew", "history"] },
            { path: "docs/format.md", contains: ["members", "loans"] },
          ],
        },
      ],
    },
    {
      says: "the changes keep their line ends of Windows",
      steps: [
        {
          run: ["python3", "-c", "t=open('CHANGES.rst','rb').read(); print(b'0.4.0' in t and t.count(b'\\n') == t.count(b'\\r\\n'))"],
          stdout: { equals: "True" },
        },
      ],
    },
    {
      says: "the old commands are as before",
      given: [old],
      steps: [
        { run: ["$", "search", "garden"], stdout: { equals: "978-030640615-7\tThe Quiet Garden (1998)" } },
        { run: ["$", "stats"], stdout: { contains: ["1990s\t1", "nature\t1"] } },
      ],
    },
  ],
};
