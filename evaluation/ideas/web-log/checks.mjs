const line = (ip, time, request, status, size = "100", rest = ' "-" "Mozilla/5.0"') =>
  `${ip} - - [${time}] "${request}" ${status} ${size}${rest}\n`;
const log = {
  path: "access.log",
  content: [
    line("203.0.113.7", "10/Oct/2025:13:55:36 +0200", "GET /shop?item=3 HTTP/1.1", 200, "2326", ' "https://example.org/" "Mozilla/5.0"'),
    line("203.0.113.7", "10/Oct/2025:13:56:00 +0200", "GET /shop HTTP/1.1", 404, "10"),
    line("198.51.100.2", "10/Oct/2025:23:30:00 -0200", "POST /login HTTP/1.1", 500, "-", ' "-" "Googlebot/2.1"'),
    line("198.51.100.3", "11/Oct/2025:08:00:00 +0000", "GET /shop HTTP/1.1", 404, "20", ' "-" "A \\"quoted\\" agent"'),
    line("198.51.100.3", "12/Oct/2025:08:00:00 +0000", "GET /about HTTP/1.1", 200, "5", ""),
  ].join(""),
};
const bad = {
  path: "bad.log",
  content: `${line("1.2.3.4", "10/Oct/2025:13:55:36 +0000", "GET / HTTP/1.1", 200)}what is this\n\n${line("1.2.3.4", "32/Oct/2025:13:55:36 +0000", "GET / HTTP/1.1", 200)}`,
};
const run = (...words) => ["$", ...words, "access.log"];
/** `access.log` with its first two lines, as gzip. */
const zipped = { path: "two.log.gz", gzip: log.content.split("\n").slice(0, 2).join("\n") };

export const list = {
  size: "M",
  stack: "python",
  start: { module: "weblog" },
  quality: [],
  checks: [
    {
      says: "summary",
      given: [log],
      steps: [
        {
          run: run("summary"),
          stdout: { equals: "requests 5\nbytes 2361\nvisitors 3\nerrors 3\nfirst 2025-10-10T11:55:36Z\nlast 2025-10-12T08:00:00Z" },
        },
      ],
    },
    { says: "summary without a request", steps: [{ run: ["$", "summary"], stdout: { equals: "requests 0" } }] },
    {
      says: "top paths are without the query",
      given: [log],
      steps: [{ run: run("top"), stdout: { equals: "3\t/shop\n1\t/about\n1\t/login" } }],
    },
    {
      says: "top -n and --by ip",
      given: [log],
      steps: [{ run: run("top", "--by", "ip", "-n", "2"), stdout: { equals: "2\t198.51.100.3\n2\t203.0.113.7" } }],
    },
    { says: "top by status", given: [log], steps: [{ run: run("top", "--by", "status"), stdout: { equals: "2\t200\n2\t404\n1\t500" } }] },
    {
      says: "a missing agent is not counted, a quoted one is whole",
      given: [log],
      steps: [
        {
          run: run("top", "--by", "agent"),
          stdout: { matches: '^2\\tMozilla/5\\.0\\n1\\tA \\\\?"quoted\\\\?" agent\\n1\\tGooglebot/2\\.1\\s*$' },
        },
      ],
    },
    {
      says: "a missing referrer is not counted",
      given: [log],
      steps: [{ run: run("top", "--by", "referrer"), stdout: { equals: "1\thttps://example.org/" } }],
    },
    {
      says: "hours are in UTC, all 24 of them",
      given: [log],
      steps: [
        {
          run: run("hours"),
          stdout: {
            matches:
              "^00\\t0\\n01\\t1\\n(0[2-7]\\t0\\n){6}08\\t2\\n(09|10)\\t0\\n10\\t0\\n11\\t2\\n(1[2-9]|2[0-3])\\t0[\\s\\S]*23\\t0\\s*$",
          },
        },
      ],
    },
    {
      says: "errors are pairs of status and path",
      given: [log],
      steps: [{ run: run("errors"), stdout: { equals: "404\t2\t/shop\n500\t1\t/login" } }],
    },
    { says: "bots", given: [log], steps: [{ run: run("bots"), stdout: { equals: "1\tGooglebot/2.1" } }] },
    {
      says: "--since is inclusive",
      given: [log],
      steps: [{ run: run("summary", "--since", "2025-10-11"), stdout: { contains: ["requests 3"] } }],
    },
    {
      says: "--until is exclusive",
      given: [log],
      steps: [{ run: run("summary", "--until", "2025-10-11T08:00:00"), stdout: { contains: ["requests 3"] } }],
    },
    {
      says: "--status by number and by class",
      given: [log],
      steps: [
        { run: run("summary", "--status", "404"), stdout: { contains: ["requests 2"] } },
        { run: run("summary", "--status", "5xx"), stdout: { contains: ["requests 1"] } },
      ],
    },
    {
      says: "--method and --path",
      given: [log],
      steps: [
        { run: run("summary", "--method", "POST"), stdout: { contains: ["requests 1"] } },
        { run: run("summary", "--path", "/sh"), stdout: { contains: ["requests 3"] } },
      ],
    },
    {
      says: "filters go together",
      given: [log],
      steps: [{ run: run("top", "--status", "4xx", "--since", "2025-10-11"), stdout: { equals: "1\t/shop" } }],
    },
    {
      says: "--json of summary",
      given: [log],
      steps: [{ run: run("summary", "--json"), stdout: { matches: '"requests":\\s*5', contains: ['"visitors"'] } }],
    },
    {
      says: "--json of top",
      given: [log],
      steps: [
        {
          run: run("top", "--json", "-n", "1"),
          stdout: {
            matches: '^\\[\\s*\\{\\s*("count":\\s*3,\\s*"value":\\s*"/shop"|"value":\\s*"/shop",\\s*"count":\\s*3)\\s*\\}\\s*\\]\\s*$',
          },
        },
      ],
    },
    {
      says: "--json of errors",
      given: [log],
      steps: [{ run: run("errors", "--json"), stdout: { matches: '"status":\\s*"?404', contains: ['"path"', '"count"'] } }],
    },
    {
      says: "lines that do not fit are skipped and counted",
      given: [bad],
      steps: [{ run: ["$", "summary", "bad.log"], stdout: { contains: ["requests 1"] }, stderr: { matches: "skipped [23] lines" } }],
    },
    { says: "nothing is said when none was skipped", given: [log], steps: [{ run: run("summary"), stderr: { equals: "" } }] },
    {
      says: "--strict ends at the first one",
      given: [bad],
      steps: [{ run: ["$", "summary", "--strict", "bad.log"], exit: 1, stderr: { contains: ["bad.log:2"], lacks: ["Traceback"] } }],
    },
    {
      says: "standard input",
      steps: [
        {
          run: ["$", "top", "-"],
          stdin: line("1.1.1.1", "10/Oct/2025:13:55:36 +0000", "GET /x HTTP/1.1", 200),
          stdout: { equals: "1\t/x" },
        },
      ],
    },
    { says: "gzip", given: [zipped], steps: [{ run: ["$", "top", "two.log.gz"], stdout: { equals: "2\t/shop" } }] },
    {
      says: "a missing file and a wrong option",
      given: [log],
      steps: [
        { run: ["$", "summary", "none.log"], exit: 1, stderr: { contains: ["none.log"], lacks: ["Traceback"] } },
        { run: run("top", "--by", "colour"), exit: 2, stderr: { lacks: ["Traceback"] } },
      ],
    },
  ],
};
