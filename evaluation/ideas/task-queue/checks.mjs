/** A scenario with one worker `w`, unless others are given. */
const scenario = (tasks, { workers = [{ name: "w" }], ...more } = {}) => [
  { path: "s.json", content: JSON.stringify({ workers, tasks, ...more }) },
];
const run = { run: ["$", "run", "s.json"] };
const events = (...lines) => ({ stdout: { matches: `^${lines.join("\\n")}\\n\\n` } });
const wrong = (...texts) => ({ ...run, exit: 2, stdout: { equals: "" }, stderr: { contains: texts, lacks: ["Traceback"] } });

export const list = {
  size: "L",
  stack: "python",
  start: { module: "queuesim" },
  quality: [],
  checks: [
    {
      says: "two tasks one after the other (rules 12, 23, 29, 35, 36)",
      given: scenario([
        { id: "a", duration: 2 },
        { id: "b", duration: 1 },
      ]),
      steps: [
        {
          ...run,
          stdout: {
            equals:
              "0 queued a\n0 queued b\n0 start a w\n2 done a w\n2 start b w\n3 done b w\n\ndone 2\nfailed 0\nskipped 0\nexpired 0\nrejected 0\nunfinished 0\nticks 3\nworker w busy 3",
          },
        },
      ],
    },
    {
      says: "the smaller priority first (26)",
      given: scenario([
        { id: "a", duration: 1 },
        { id: "b", duration: 1, priority: 1 },
      ]),
      steps: [{ ...run, ...events("0 queued a", "0 queued b", "0 start b w", "1 done b w", "1 start a w", "2 done a w") }],
    },
    {
      says: "speed, rounded up (28)",
      given: scenario([{ id: "a", duration: 7 }], { workers: [{ name: "w", speed: 3 }] }),
      steps: [{ ...run, ...events("0 queued a", "0 start a w", "3 done a w") }],
    },
    {
      says: "workers end and choose in their order (13, 23)",
      given: scenario(
        [
          { id: "a", duration: 2 },
          { id: "b", duration: 2 },
          { id: "c", duration: 1 },
        ],
        { workers: [{ name: "w1" }, { name: "w2" }] },
      ),
      steps: [
        {
          ...run,
          ...events(
            "0 queued a",
            "0 queued b",
            "0 queued c",
            "0 start a w1",
            "0 start b w2",
            "2 done a w1",
            "2 done b w2",
            "2 start c w1",
            "3 done c w1",
          ),
        },
      ],
    },
    {
      says: "a later arrival (15)",
      given: scenario([{ id: "a", duration: 1, arrival: 3 }]),
      steps: [{ ...run, ...events("3 queued a", "3 start a w", "4 done a w") }],
    },
    {
      says: "a task waits for what it needs (16)",
      given: scenario(
        [
          { id: "a", duration: 1, needs: ["b"] },
          { id: "b", duration: 2 },
        ],
        { workers: [{ name: "w" }, { name: "v" }] },
      ),
      steps: [{ ...run, ...events("0 queued a", "0 queued b", "0 start b w", "2 done b w", "2 start a w", "3 done a w") }],
    },
    {
      says: "another attempt after the delay (30, 32)",
      given: scenario([{ id: "a", duration: 1, fails: 2, retries: 2 }], { settings: { retry_delay: 2 } }),
      steps: [
        {
          ...run,
          exit: 0,
          ...events(
            "0 queued a",
            "0 start a w",
            "1 fail a w",
            "1 retry a 3",
            "3 queued a",
            "3 start a w",
            "4 fail a w",
            "4 retry a 8",
            "8 queued a",
            "8 start a w",
            "9 done a w",
          ),
        },
      ],
    },
    {
      says: "without a delay it comes back in the same tick (12, 32)",
      given: scenario([{ id: "a", duration: 1, fails: 1, retries: 1 }], { settings: { retry_delay: 0 } }),
      steps: [{ ...run, ...events("0 queued a", "0 start a w", "1 fail a w", "1 retry a 1", "1 queued a", "1 start a w", "2 done a w") }],
    },
    {
      says: "failure for good, and skipping (19, 33, 39)",
      given: scenario([
        { id: "a", duration: 1, fails: 1 },
        { id: "c", duration: 1, needs: ["b"] },
        { id: "b", duration: 1, needs: ["a"] },
      ]),
      steps: [
        {
          ...run,
          exit: 1,
          stdout: {
            matches:
              "^0 queued a\\n0 queued c\\n0 queued b\\n0 start a w\\n1 fail a w\\n1 failed a\\n1 skipped b\\n1 skipped c\\n\\ndone 0\\nfailed 1\\nskipped 2\\n",
          },
        },
      ],
    },
    {
      says: "skipped at its arrival, without being queued (20)",
      given: scenario([
        { id: "a", duration: 1, fails: 1 },
        { id: "b", duration: 1, needs: ["a"], arrival: 5 },
      ]),
      steps: [{ ...run, exit: 1, ...events("0 queued a", "0 start a w", "1 fail a w", "1 failed a", "5 skipped b") }],
    },
    {
      says: "a timeout ends an attempt, an equal time does not (31)",
      given: scenario([
        { id: "a", duration: 5, timeout: 3 },
        { id: "b", duration: 3, timeout: 3 },
      ]),
      steps: [
        {
          ...run,
          exit: 1,
          ...events("0 queued a", "0 queued b", "0 start a w", "3 timeout a w", "3 failed a", "3 start b w", "6 done b w"),
        },
      ],
    },
    {
      says: "a waiting task expires at its deadline (21)",
      given: scenario([
        { id: "a", duration: 5 },
        { id: "b", duration: 1, deadline: 3 },
      ]),
      steps: [{ ...run, exit: 1, ...events("0 queued a", "0 queued b", "0 start a w", "3 expired b", "5 done a w") }],
    },
    {
      says: "a running task is late (22, 34)",
      given: scenario([
        { id: "a", duration: 5, deadline: 3 },
        { id: "b", duration: 2, deadline: 7 },
      ]),
      steps: [{ ...run, exit: 0, ...events("0 queued a", "0 queued b", "0 start a w", "5 done a w late", "5 start b w", "7 done b w") }],
    },
    {
      says: "a full queue rejects (17)",
      given: scenario(
        [
          { id: "a", duration: 3 },
          { id: "b", duration: 1 },
          { id: "c", duration: 1, arrival: 1 },
          { id: "d", duration: 1, arrival: 1 },
        ],
        { settings: { max_queue: 1 } },
      ),
      steps: [
        {
          ...run,
          exit: 1,
          ...events("0 queued a", "0 rejected b", "0 start a w", "1 queued c", "1 rejected d", "3 done a w", "3 start c w", "4 done c w"),
        },
      ],
    },
    {
      says: "skills (24)",
      given: scenario(
        [
          { id: "a", duration: 1, skill: "x" },
          { id: "b", duration: 1 },
        ],
        { workers: [{ name: "w1" }, { name: "w2", skills: ["x"] }] },
      ),
      steps: [{ ...run, ...events("0 queued a", "0 queued b", "0 start b w1", "0 start a w2", "1 done b w1", "1 done a w2") }],
    },
    {
      says: "a skilled worker prefers what needs its skill (25)",
      given: scenario(
        [
          { id: "a", duration: 1, priority: 0 },
          { id: "b", duration: 1, priority: 9, skill: "x" },
        ],
        { workers: [{ name: "w", skills: ["x"] }] },
      ),
      steps: [{ ...run, ...events("0 queued a", "0 queued b", "0 start b w", "1 done b w", "1 start a w", "2 done a w") }],
    },
    {
      says: "aging (27)",
      given: scenario(
        [
          { id: "a", duration: 6, priority: 0 },
          { id: "b", duration: 1, priority: 5 },
          { id: "c", duration: 1, priority: 4, arrival: 5 },
        ],
        { settings: { aging: 2 } },
      ),
      steps: [
        {
          ...run,
          ...events(
            "0 queued a",
            "0 queued b",
            "0 start a w",
            "5 queued c",
            "6 done a w",
            "6 start b w",
            "7 done b w",
            "7 start c w",
            "8 done c w",
          ),
        },
      ],
    },
    {
      says: "without aging the priority decides (27)",
      given: scenario([
        { id: "a", duration: 6, priority: 0 },
        { id: "b", duration: 1, priority: 5 },
        { id: "c", duration: 1, priority: 4, arrival: 5 },
      ]),
      steps: [{ ...run, stdout: { contains: ["6 start c w", "7 start b w"] } }],
    },
    {
      says: "an end (37)",
      given: scenario(
        [
          { id: "a", duration: 2 },
          { id: "b", duration: 5 },
        ],
        { settings: { end: 4 } },
      ),
      steps: [
        { ...run, exit: 1, stdout: { contains: ["2 start b w\n\ndone 1\n", "unfinished 1\nticks 2\nworker w busy 4"], lacks: ["7 done"] } },
      ],
    },
    {
      says: "all errors are told with their paths (1, 3, 7, 10)",
      given: scenario(
        [
          { id: "a", duration: 1.5 },
          { id: "a", duration: true, colour: "red" },
          { id: "c", duration: 1, priority: 10 },
        ],
        { settings: { aging: -1 } },
      ),
      steps: [wrong("tasks[0].duration:", "tasks[1].duration:", "tasks[1].colour:", "tasks[2].priority:", "settings.aging:")],
    },
    {
      says: "a circle, an unknown need and an unknown skill (8, 9)",
      given: scenario([
        { id: "alpha", duration: 1, needs: ["beta"] },
        { id: "beta", duration: 1, needs: ["alpha"] },
      ]),
      steps: [
        wrong("alpha", "beta"),
        {
          run: [
            "sh",
            "-c",
            'printf \'{"workers":[{"name":"w"}],"tasks":[{"id":"a","duration":1,"needs":["zeta"],"skill":"cook"}]}\' > s.json',
          ],
        },
        wrong("zeta", "cook"),
      ],
    },
    {
      says: "--quiet and --trace (38)",
      given: scenario([
        { id: "a", duration: 2 },
        { id: "b", duration: 1 },
      ]),
      steps: [
        { run: ["$", "run", "--quiet", "s.json"], stdout: { matches: "^done 2\\n" } },
        { run: ["$", "run", "--trace", "b", "s.json"], stdout: { equals: "0 queued b\n2 start b w\n3 done b w" } },
        { run: ["$", "run", "--trace", "zz", "s.json"], exit: 2 },
      ],
    },
    {
      says: "--json (38)",
      given: scenario([{ id: "a", duration: 2 }]),
      steps: [
        {
          run: ["$", "run", "--json", "s.json"],
          stdout: { matches: '"summary":\\s*\\{[\\s\\S]*"done":\\s*1', contains: ['"events"', '"start"', '"w"'] },
        },
      ],
    },
    {
      says: "check, a missing file and invalid JSON (39)",
      given: [...scenario([{ id: "a", duration: 2 }]), { path: "bad.json", content: "{" }],
      steps: [
        { run: ["$", "check", "s.json"], stdout: { equals: "ok" } },
        { run: ["$", "run", "none.json"], exit: 2, stderr: { contains: ["none.json"], lacks: ["Traceback"] } },
        { run: ["$", "run", "bad.json"], exit: 2, stderr: { contains: ["bad.json"], lacks: ["Traceback"] } },
      ],
    },
    {
      says: "ten thousand tasks (40)",
      given: scenario(
        Array.from({ length: 10_000 }, (_, n) => ({ id: `t${n}`, duration: 1 + (n % 7), priority: n % 10, arrival: n % 100 })),
        { workers: Array.from({ length: 10 }, (_, n) => ({ name: `w${n}` })) },
      ),
      steps: [{ run: ["$", "run", "--quiet", "s.json"], within: 10, stdout: { matches: "^done 10000\\n" } }],
    },
  ],
};
