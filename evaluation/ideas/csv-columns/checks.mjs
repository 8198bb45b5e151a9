const people = { path: "people.csv", content: "name,age,city\nAda,36,London\nLin,41,Oslo\n" };
const quoted = { path: "quoted.csv", content: 'id,text,n\n1,"a, b",5\n2,"say ""hi""",6\n3,"two\nlines",7\n' };

export const list = {
  size: "S",
  stack: "node",
  start: { bin: "csvcol" },
  quality: ["no packages"],
  checks: [
    {
      says: "pick prints the columns in the order asked",
      given: [people],
      steps: [{ run: ["$", "pick", "age,name", "people.csv"], stdout: { equals: "age,name\n36,Ada\n41,Lin" } }],
    },
    {
      says: "pick with one column",
      given: [people],
      steps: [{ run: ["$", "pick", "city", "people.csv"], stdout: { equals: "city\nLondon\nOslo" } }],
    },
    {
      says: "drop prints the others",
      given: [people],
      steps: [{ run: ["$", "drop", "age", "people.csv"], stdout: { equals: "name,city\nAda,London\nLin,Oslo" } }],
    },
    {
      says: "drop takes several columns",
      given: [people],
      steps: [{ run: ["$", "drop", "age,city", "people.csv"], stdout: { equals: "name\nAda\nLin" } }],
    },
    {
      says: "rename changes a header and nothing else",
      given: [people],
      steps: [{ run: ["$", "rename", "age=years", "people.csv"], stdout: { equals: "name,years,city\nAda,36,London\nLin,41,Oslo" } }],
    },
    {
      says: "standard input without a file",
      steps: [{ run: ["$", "pick", "b"], stdin: "a,b\n1,2\n", stdout: { equals: "b\n2" } }],
    },
    {
      says: "standard input with -",
      steps: [{ run: ["$", "drop", "b", "-"], stdin: "a,b\n1,2\n", stdout: { equals: "a\n1" } }],
    },
    {
      says: "a quoted comma survives",
      given: [quoted],
      steps: [{ run: ["$", "pick", "text,n", "quoted.csv"], stdout: { contains: ['"a, b",5'] } }],
    },
    {
      says: "quotes in a field survive",
      given: [quoted],
      steps: [{ run: ["$", "pick", "n,text", "quoted.csv"], stdout: { contains: ['6,"say ""hi"""'] } }],
    },
    {
      says: "a line break in a field survives",
      given: [quoted],
      steps: [{ run: ["$", "drop", "id", "quoted.csv"], stdout: { contains: ['"two\nlines",7'] } }],
    },
    {
      says: "line ends of Windows are no part of a field",
      steps: [{ run: ["$", "pick", "b,a"], stdin: "a,b\r\n1,2\r\n", stdout: { equals: "b,a\n2,1" } }],
    },
    {
      says: "empty fields stay empty",
      steps: [{ run: ["$", "pick", "c,a"], stdin: "a,b,c\n,x,\n1,,3\n", stdout: { equals: "c,a\n,\n3,1" } }],
    },
    {
      says: "an unknown column ends with 2 and is named, and nothing is printed",
      given: [people],
      steps: [
        { run: ["$", "pick", "name,height", "people.csv"], exit: 2, stdout: { equals: "" }, stderr: { contains: ["height"] } },
        { run: ["$", "drop", "weight", "people.csv"], exit: 2, stdout: { equals: "" }, stderr: { contains: ["weight"] } },
        { run: ["$", "rename", "shoe=size", "people.csv"], exit: 2, stdout: { equals: "" }, stderr: { contains: ["shoe"] } },
      ],
    },
    {
      says: "help names the three commands",
      steps: [{ run: ["$", "--help"], stdout: { contains: ["pick", "drop", "rename"] } }],
    },
    {
      says: "a missing file is told in a sentence, without a stack trace",
      steps: [
        {
          run: ["$", "pick", "a", "missing.csv"],
          exit: "failure",
          stdout: { equals: "" },
          stderr: { contains: ["missing.csv"], lacks: ["    at "] },
        },
      ],
    },
    {
      says: "an unknown command fails",
      given: [people],
      steps: [{ run: ["$", "paint", "a", "people.csv"], exit: "failure", stderr: { lacks: ["    at "] } }],
    },
    {
      says: "twenty thousand rows keep their number",
      steps: [{ run: ["$", "pick", "b"], stdin: `a,b\n${"1,2\n".repeat(20_000)}`, stdout: { matches: "^b\\n(2\\s+){20000}$" } }],
    },
  ],
};
