const S = ["$"];
const add = (...words) => ({ run: [...S, "add", ...words] });
const some = [
  add("12.50", "food", "Lunch with Ada", "--date", "2026-03-02"),
  add("40", "travel", "Train", "--date", "2026-03-01"),
  add("3.20", "food", "--date", "2026-04-05"),
];
const same = { path: "spend.json" };

export const list = {
  size: "M",
  stack: "node",
  start: { bin: "spend" },
  quality: ["no packages"],
  checks: [
    {
      says: "add prints the number",
      steps: [
        { ...add("5", "food"), stdout: { equals: "added #1" } },
        { ...add("6", "food"), stdout: { equals: "added #2" } },
      ],
    },
    {
      says: "list is in order of date, with tabs and two decimals",
      steps: [
        ...some,
        {
          run: [...S, "list"],
          stdout: {
            matches:
              "^2\\t2026-03-01\\ttravel\\t40\\.00\\tTrain\\n1\\t2026-03-02\\tfood\\t12\\.50\\tLunch with Ada\\n3\\t2026-04-05\\tfood\\t3\\.20\\t?\\s*$",
          },
        },
      ],
    },
    {
      says: "list --month",
      steps: [...some, { run: [...S, "list", "--month", "2026-04"], stdout: { contains: ["3\t2026-04-05"], lacks: ["Train", "Lunch"] } }],
    },
    {
      says: "list --category",
      steps: [...some, { run: [...S, "list", "--category", "travel"], stdout: { contains: ["Train"], lacks: ["Lunch"] } }],
    },
    {
      says: "list --search in any case",
      steps: [...some, { run: [...S, "list", "--search", "LUNCH"], stdout: { contains: ["Ada"], lacks: ["Train"] } }],
    },
    {
      says: "report by category, the largest first",
      steps: [...some, { run: [...S, "report"], stdout: { equals: "travel\t40.00\nfood\t15.70\ntotal\t55.70" } }],
    },
    {
      says: "report of a month",
      steps: [...some, { run: [...S, "report", "--month", "2026-03"], stdout: { equals: "travel\t40.00\nfood\t12.50\ntotal\t52.50" } }],
    },
    {
      says: "report by month",
      steps: [...some, { run: [...S, "report", "--by", "month"], stdout: { equals: "2026-03\t52.50\n2026-04\t3.20\ntotal\t55.70" } }],
    },
    {
      says: "amounts are exact",
      steps: [add("0.10", "a"), add("0.20", "a"), { run: [...S, "report"], stdout: { equals: "a\t0.30\ntotal\t0.30" } }],
    },
    {
      says: "equal amounts are in order of name",
      steps: [add("2", "b"), add("2", "a"), { run: [...S, "report"], stdout: { equals: "a\t2.00\nb\t2.00\ntotal\t4.00" } }],
    },
    { says: "an empty report has a total", steps: [{ run: [...S, "report"], stdout: { equals: "total\t0.00" } }] },
    {
      says: "remove removes, and its number is not used again",
      steps: [
        ...some,
        { run: [...S, "remove", "3"], stdout: { equals: "removed #3" } },
        { ...add("1", "x"), stdout: { equals: "added #4" } },
        { run: [...S, "list"], stdout: { lacks: ["3.20"] } },
      ],
    },
    {
      says: "remove of an unknown number",
      steps: [...some, { run: [...S, "remove", "9"], exit: 1, stdout: { equals: "" }, stderr: { contains: ["9"] } }],
    },
    {
      says: "wrong amounts change nothing",
      steps: [
        { ...add("-3", "food"), exit: 1 },
        { ...add("1.234", "food"), exit: 1 },
        { ...add("ten", "food"), exit: 1, stdout: { equals: "" }, stderr: { lacks: ["    at "] } },
        { ...add("0", "food"), exit: 1 },
        { run: [...S, "list"], stdout: { equals: "" } },
      ],
    },
    {
      says: "a date that does not exist",
      steps: [
        { ...add("3", "food", "--date", "2026-02-30"), exit: 1 },
        { ...add("3", "food", "--date", "2024-02-29"), exit: 0 },
      ],
    },
    {
      says: "the budget of a month is told, and what is over it",
      steps: [
        ...some,
        { run: [...S, "budget", "food", "10"] },
        { run: [...S, "budget", "travel", "100"] },
        {
          run: [...S, "report", "--month", "2026-03"],
          stdout: { contains: ["travel\t40.00\tof 100.00", "food\t12.50\tof 10.00\tover by 2.50"], lacks: ["of 100.00\tover"] },
        },
        { run: [...S, "budget", "food", "0"] },
        { run: [...S, "report", "--month", "2026-03"], stdout: { lacks: ["of 10.00"] } },
      ],
    },
    {
      says: "export is CSV",
      steps: [
        add("1", "a", 'say "hi", now', "--date", "2026-01-02"),
        { run: [...S, "export"], stdout: { equals: 'id,date,category,amount,note\n1,2026-01-02,a,1.00,"say ""hi"", now"' } },
      ],
    },
    {
      says: "import adds rows with new numbers",
      given: [{ path: "in.csv", content: 'id,date,category,amount,note\n7,2026-01-02,a,1.00,"x, y"\n8,2026-01-03,b,2.50,\n' }],
      steps: [
        add("9", "c", "--date", "2026-01-01"),
        { run: [...S, "import", "in.csv"], stdout: { equals: "imported 2" } },
        { run: [...S, "list"], stdout: { contains: ["2\t2026-01-02\ta\t1.00\tx, y", "3\t2026-01-03\tb\t2.50"] } },
      ],
    },
    {
      says: "one wrong row: nothing is imported, and its line is told",
      given: [{ path: "in.csv", content: "id,date,category,amount,note\n7,2026-01-02,a,1.00,x\n8,2026-13-03,b,2.50,\n" }],
      steps: [
        { run: [...S, "import", "in.csv"], exit: 1, stdout: { equals: "" }, stderr: { contains: ["3"] } },
        { run: [...S, "list"], stdout: { equals: "" } },
      ],
    },
    {
      says: "a file that is no store is not overwritten",
      given: [{ ...same, content: "my notes" }],
      steps: [{ ...add("3", "food"), exit: 1, stderr: { lacks: ["    at "] }, files: [{ ...same, equals: "my notes" }] }],
    },
    {
      says: "JSON that is no store is not overwritten",
      given: [{ ...same, content: '{"name":"another"}' }],
      steps: [{ ...add("3", "food"), exit: 1, files: [{ ...same, equals: '{"name":"another"}' }] }],
    },
    {
      says: "--file names the store",
      steps: [
        { ...add("3", "food", "--file", "other.json"), files: [{ path: "other.json", contains: ["food"] }] },
        { run: [...S, "list", "--file", "other.json"], stdout: { contains: ["food"] } },
        { run: [...S, "list"], stdout: { equals: "" } },
      ],
    },
    {
      says: "an unknown command",
      steps: [{ run: [...S, "fly"], exit: 1, stdout: { equals: "" }, stderr: { matches: "\\S", lacks: ["    at "] } }],
    },
    { says: "an unknown option", steps: [{ run: [...S, "list", "--blue"], exit: 1, stdout: { equals: "" } }] },
    {
      says: "--help names the commands",
      steps: [{ run: [...S, "--help"], stdout: { contains: ["add", "list", "report", "remove", "budget", "export", "import"] } }],
    },
  ],
};
