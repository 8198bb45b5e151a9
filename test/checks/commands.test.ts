import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { CommandStep } from "../../src/checks/acceptance.ts";
import { checkCommands } from "../../src/checks/commands.ts";
import type { Verdict } from "../../src/checks/verification.ts";
import { AbortedError } from "../../src/kernel/errors.ts";
import { refusedSandbox } from "../../src/workspace/sandbox.ts";
import { someOf, tries } from "../long.ts";
import { errorOf } from "../workspace/scratch.ts";
import { criterionOf, isolates, projectOf, sandbox, sandboxes } from "./project.ts";

const todo = {
  "package.json": `{ "name": "todo", "type": "module", "bin": { "todo": "cli.mjs" }, "scripts": { "start": "node cli.mjs" } }`,
  "cli.mjs": `#!/usr/bin/env node
import fs from "node:fs";
const [verb, ...words] = process.argv.slice(2);
const list = fs.existsSync("todo.json") ? JSON.parse(fs.readFileSync("todo.json", "utf8")) : [];
if (verb === "add") { fs.writeFileSync("todo.json", JSON.stringify([...list, words.join(" ")])); console.log("added " + words.join(" ")); }
else if (verb === "list") console.log(list.map((item, at) => at + 1 + ". " + item).join("\\n"));
else if (verb === "echo") process.stdin.pipe(process.stdout);
else { console.error("usage: todo add|list"); process.exitCode = 2; }
`,
};

/** The verdict of one criterion with these steps. */
async function verdictOf(
  steps: readonly CommandStep[],
  files: Readonly<Record<string, string>> = todo,
  timeout?: number,
): Promise<Verdict> {
  const [verdict] = await checkCommands({ root: projectOf(files), sandbox, criteria: [criterionOf("A1", steps)], timeout });
  if (verdict === undefined) throw new Error("expected a verdict");
  return verdict;
}

/** The verdict on one script that the command runs. */
function verdictOn(script: string, step: Partial<CommandStep> = {}, timeout?: number): Promise<Verdict> {
  return verdictOf([{ run: ["node", "script.mjs"], ...step }], { "script.mjs": script }, timeout);
}

describe.each(someOf(sandboxes, 1))("checkCommands with %s", { tags: "company" }, (_name, each) => {
  it("gives each criterion the project as it was, and the steps of one the same copy", async () => {
    const root = projectOf(todo);
    const verdicts = await checkCommands({
      root,
      sandbox: each,
      criteria: [
        criterionOf("A1", [
          { run: ["node", "cli.mjs", "add", "bread & *"], stdout: { equals: "added bread & *" } },
          { run: ["todo", "list"], stdout: { equals: "1. bread & *" }, files: [{ path: "todo.json", contains: ["bread"] }] },
        ]),
        criterionOf("A2", [{ run: ["npm", "start", "list"], stdout: { equals: "" } }]),
        criterionOf(
          "A3",
          [{ run: ["./cli.mjs", "list"], stdout: { equals: "1. grün 🥬" } }],
          [{ path: "todo.json", content: `["grün 🥬"]` }],
        ),
        criterionOf("A4", [{ run: ["node", "cli.mjs", "echo"], stdin: "a\r\nb\n", stdout: { equals: "a\nb" } }]),
        criterionOf("A5", [
          { run: ["node", "cli.mjs", "fly"], exit: "failure", stdout: { equals: "" }, stderr: { matches: "^usage: \\w+" } },
        ]),
        criterionOf("A6", [{ run: ["node", "cli.mjs", "list"], files: [{ path: "todo.json" }] }]),
      ],
    });
    expect(verdicts.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
      "A1 proven",
      "A2 proven",
      "A3 proven",
      "A4 proven",
      "A5 proven",
      "A6 failed",
    ]);
    expect(verdicts[0]?.evidence).toBe("2 commands, the last todo list: exit code 0 and output as expected; stdout: 1. bread & *");
    expect(verdicts[5]?.evidence).toBe('node cli.mjs list: the file "todo.json" should be there and is not.');
    expect(readdirSync(root).sort()).toEqual(["cli.mjs", "package.json"]);
    expect(readFileSync(join(root, "cli.mjs"), "utf8")).toBe(todo["cli.mjs"]);
  });

  it("kills what a step leaves behind before the next criterion", { tags: ["company", "long"] }, async () => {
    const [first, second] = await checkCommands({
      root: projectOf({
        "a.mjs": `import { spawn } from "node:child_process"; spawn("sh", ["-c", "while :; do echo x >> late.txt; sleep 0.01; done"], { stdio: "ignore" }).unref(); console.log("a");`,
        "b.mjs": `import fs from "node:fs"; await new Promise((go) => setTimeout(go, 100)); console.log(fs.existsSync("late.txt"));`,
      }),
      sandbox: each,
      criteria: [
        criterionOf("A1", [{ run: ["node", "a.mjs"], stdout: { equals: "a" } }]),
        criterionOf("A2", [{ run: ["node", "b.mjs"], stdout: { equals: "false" } }]),
      ],
    });
    expect([first?.outcome, second?.outcome]).toEqual(["proven", "proven"]);
  });
});

describe("the evidence of a criterion", () => {
  it("says what was expected and what came", async () => {
    const verdict = await verdictOf([
      { run: ["node", "cli.mjs", "list"] },
      {
        run: ["node", "cli.mjs", "add", "milk"],
        exit: 1,
        stdout: { equals: "ok", contains: ["y", "added"], lacks: ["milk"], matches: "^x$" },
      },
    ]);
    expect(verdict).toMatchObject({ id: "A1", priority: "P0", outcome: "failed", by: "command" });
    expect(verdict.evidence).toBe(
      "node cli.mjs add milk (step 2 of 2): the exit code should be 1 and is 0; " +
        'stdout should be "ok" and is "added milk"; stdout should contain "y"; ' +
        'stdout should not contain "milk"; stdout should match /^x$/m.\nbefore it: node cli.mjs list',
    );
  });

  it("shows what the command was given, and each step that failed after it", async () => {
    const given = [
      { path: "todo.json", content: '["a"]' },
      { path: "b.bin", base64: "/wA=" },
    ];
    const bad = { run: ["node", "cli.mjs", "list"], stdout: { equals: "2. a" } } as const;
    const steps = [{ ...bad, stdin: "x\ty\n" }, { run: ["node", "--version"] }, bad, bad, bad, bad, bad] as const;
    const [verdict] = await checkCommands({ root: projectOf(todo), sandbox, criteria: [criterionOf("A1", steps, given)] });
    expect(verdict?.evidence.split("\n")).toEqual([
      String.raw`node cli.mjs list (step 1 of 7): stdout should be "2. a" and is "1. a".`,
      String.raw`given: todo.json "[\"a\"]", b.bin of 2 bytes`,
      String.raw`stdin: "x\ty\n"`,
      ...[3, 4, 5].map(
        (step) => String.raw`node cli.mjs list (step ${step} of 7), perhaps for the same reason: stdout should be "2. a" and is "1. a".`,
      ),
      "2 later steps failed too.",
    ]);
  });

  it("says how many steps were not run after one that did not end", async () => {
    const steps = [{ run: ["no-such-program"] }, { run: ["node", "--version"] }, { run: ["node", "--version"] }] as const;
    expect((await verdictOf(steps)).evidence).toMatch(/is not there\.\n2 later steps were not run\.$/);
  });
});

describe("the rules of a check", () => {
  const forgiven = [
    ["a", "a"],
    ["a\n", "a"],
    ["a", "a\n"],
    ["", "\n"],
    ["a\r\nb\r\n", "a\nb"],
  ] as const;
  const others = [
    ["a\n\n", "a"],
    ["a ", "a"],
    [" a", "a"],
    ["a\t\n", "a\n"],
    ["\na", "a"],
    ["\n\n", ""],
  ] as const;

  /** Of each text, printed in one sandbox for all. */
  let outcomes: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const criteria = [...forgiven, ...others].map(([text, equals]) =>
      criterionOf(JSON.stringify([text, equals]), [
        { run: ["node", "-e", `process.stdout.write(${JSON.stringify(text)})`], stdout: { equals } },
      ]),
    );
    const verdicts = await checkCommands({ root: projectOf({}), sandbox, criteria });
    outcomes = new Map(verdicts.map(({ id, outcome }) => [id, outcome]));
  });

  it.each(forgiven)("equals forgives one last line break: %j is %j", (text, equals) => {
    expect(outcomes.get(JSON.stringify([text, equals]))).toBe("proven");
  });

  it.each(others)("equals forgives no other white space: %j is not %j", (text, equals) => {
    expect(outcomes.get(JSON.stringify([text, equals]))).toBe("failed");
  });

  it("a crash is no refusal, unless a script of the check itself throws", { tags: ["company", "long"] }, async () => {
    const crash = await verdictOn(`throw new Error("no file x.csv")`, { exit: "failure", stderr: { contains: ["x.csv"] } });
    expect(crash.evidence).toContain("it should refuse with a message, and crashed: an error was not caught");
    const refusal = await verdictOn(`console.error("no file x.csv"); process.exitCode = 1;`, { exit: "failure" });
    expect(refusal.outcome).toBe("proven");
    expect((await verdictOf([{ run: ["node", "-e", "throw new Error('no')"], exit: "failure" }])).outcome).toBe("proven");
  });

  it("gives bytes, and says that a file must be absent", { tags: ["company", "long"] }, async () => {
    const script = `import fs from "node:fs"; console.log(fs.readFileSync("in.bin").toString("hex")); fs.rmSync("in.bin"); fs.mkdirSync("out");`;
    const given = [{ path: "in.bin", base64: "/wD+" }];
    const stepOf = (path: string): CommandStep => ({
      run: ["node", "a.mjs"],
      stdout: { equals: "ff00fe" },
      files: [{ path, absent: true }],
    });
    const criteria = [criterionOf("A1", [stepOf("in.bin")], given), criterionOf("A2", [stepOf("out")], given)];
    const [gone, there] = await checkCommands({ root: projectOf({ "a.mjs": script }), sandbox, criteria });
    expect(gone?.outcome).toBe("proven");
    expect(there?.evidence).toContain('the file "out" should not be there and is');
  });
});

describe("a check that is at fault", () => {
  const faults: readonly (readonly [string, CommandStep, string])[] = [
    [
      "a hostile regular expression",
      { run: ["node", "-e", "console.log('a'.repeat(40))"], stdout: { matches: "^(a+)+b$" } },
      "takes longer than",
    ],
    ["an invalid one", { run: ["node", "--version"], stdout: { matches: "(" } }, "is invalid"],
    ["a path outside", { run: ["node", "--version"], files: [{ path: "../../etc/passwd" }] }, "leaves the project"],
    ["an absolute path", { run: ["node", "--version"], files: [{ path: "/etc/passwd" }] }, "is absolute"],
    ["a NUL character", { run: ["node", "a\0b"] }, "NUL"],
    ["a megabyte of input", { run: ["node"], stdin: "x".repeat(1_000_001) }, "characters"],
    ["no program", { run: [" "] }, "without a program"],
  ];
  let verdicts: readonly Verdict[];

  beforeAll(async () => {
    const criteria = faults.map(([what, step]) => criterionOf(what, [step]));
    verdicts = await checkCommands({ root: projectOf(todo), sandbox, criteria });
  });

  it.each(faults)("is not checked: %s", (what, _step, message) => {
    const verdict = verdicts.find(({ id }) => id === what);
    expect(verdict).toMatchObject({ outcome: "not checked", by: "nothing", evidence: expect.stringContaining(message) });
  });

  it("does not read through a link out of the project", { tags: ["company", "long"] }, async () => {
    const verdict = await verdictOn(`import fs from "node:fs"; fs.symlinkSync("/etc/passwd", "out.txt");`, {
      files: [{ path: "out.txt", contains: ["root"] }],
    });
    expect(verdict.outcome).toBe("failed");
  });

  it("leaves the others to be checked, and runs nothing in a sandbox that refuses", async () => {
    const good = criterionOf("A2", [{ run: ["node", "-e", ""] }]);
    const bad = criterionOf("A1", [{ run: ["node", "-e", ""], files: [{ path: "../x" }] }]);
    const root = projectOf({});
    expect((await checkCommands({ root, sandbox, criteria: [bad, good] })).map(({ outcome }) => outcome)).toEqual([
      "not checked",
      "proven",
    ]);
    const refused = await checkCommands({ root, sandbox: refusedSandbox("there is none", "Install it."), criteria: [good] });
    expect(refused).toEqual([{ id: "A2", priority: "P0", outcome: "not checked", by: "nothing", evidence: "there is none. Install it." }]);
  });

  it("ends with the caller's signal", async () => {
    const criteria = [criterionOf("A1", [{ run: ["node", "-e", "setInterval(() => {}, 1000)"] }])];
    const work = checkCommands({ root: projectOf({}), sandbox, criteria, signal: AbortSignal.timeout(200) });
    expect(await errorOf(() => work)).toBeInstanceOf(AbortedError);
  });
});

/** Writing into the others may stop the process that runs the checks, which is seen only when the time is up. */
const descriptors = Array.from({ length: tries(3, 30) }, (_, descriptor) => descriptor);

describe("a hostile program", () => {
  it.each([
    ["hangs", `setInterval(() => {}, 1000)`, "did not end within 500 ms", 500],
    ["hangs and ignores signals", `process.on("SIGTERM", () => {}); for (;;);`, "did not end within 500 ms", 500],
    [
      "prints a gigabyte",
      `const line = "x".repeat(1e6); (function go() { process.stdout.write(line, go); })();`,
      "printed more than",
      60_000,
    ],
    ["is ended by a signal", `process.kill(process.pid, "SIGSEGV")`, "ended by SIG", 60_000],
  ])("fails that %s", async (_what, script, message, limit) => {
    const verdict = await verdictOn(script, {}, limit);
    expect(verdict.outcome).toBe("failed");
    expect(verdict.evidence).toContain(message);
  });

  it.runIf(isolates).each(
    someOf(
      [
        ["kills the driver", `process.kill(process.ppid, "SIGKILL"); setInterval(() => {}, 1000);`],
        ["kills everything", `process.kill(-1, "SIGKILL"); setInterval(() => {}, 1000);`],
        ["fills the disk", `import fs from "node:fs"; for (let n = 0; ; n += 1) fs.writeFileSync("f" + n, Buffer.alloc(5e7));`],
        [
          "locks its folder",
          `import fs from "node:fs"; fs.mkdirSync("d/e", { recursive: true }); fs.chmodSync("d", 0); process.exitCode = 1;`,
        ],
        [
          "writes into the report",
          `import fs from "node:fs";
       const line = "\\n" + "0".repeat(32) + " " + JSON.stringify({ id: 0, steps: [] }) + "\\n";
       for (const fd of ${JSON.stringify(descriptors)}) try { fs.writeFileSync("/proc/" + process.ppid + "/fd/" + fd, line.repeat(1000)); } catch {}
       process.exitCode = 1;`,
        ],
        [
          "spoils the source",
          `import fs from "node:fs";
       for (const folder of ["/source", "/project", "/tmp"]) for (const name of fs.readdirSync(folder)) try { fs.rmSync(folder + "/" + name, { recursive: true }); } catch {}
       process.exitCode = 1;`,
        ],
      ],
      1,
    ),
  )("that %s fails alone", { tags: ["company", "numbers"] }, async (_what, script) => {
    const root = projectOf({ "bad.mjs": script, "good.mjs": `console.log("good")` });
    const good = { run: ["node", "good.mjs"] as [string, ...string[]], stdout: { equals: "good" } };
    const criteria = [criterionOf("A1", [good]), criterionOf("A2", [{ run: ["node", "bad.mjs"] }]), criterionOf("A3", [good])];
    const verdicts = await checkCommands({ root, sandbox, criteria, timeout: 6_000 });
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(["proven", "failed", "proven"]);
  });
});
