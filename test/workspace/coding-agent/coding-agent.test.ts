import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAlive } from "../../../src/kernel/system-error.ts";
import { AbortedError, UsageError, WaitingError } from "../../../src/kernel/errors.ts";
import { SimulatedClock } from "../../../src/testing/simulated-clock.ts";
import { LINE_PROTOCOLS, lineReader, type Said } from "../../../src/workspace/agent-lines.ts";
import { codingAgent, type CodingReport, type CodingTask, codingVariables } from "../../../src/workspace/coding-agent.ts";
import { errorOf, scratchFolder, until } from "../scratch.ts";
import { type Acts, PROTOCOLS, standIn } from "./stand-in.ts";

const ALL = Object.keys(PROTOCOLS);
const WITH_SESSION = ALL.filter((name) => name !== "plain");
const WITH_COST = ["claude", "opencode", "acp"];

function taskIn(folder: string, more: Partial<CodingTask> = {}): CodingTask {
  mkdirSync(folder, { recursive: true });
  const ask = (): Promise<string> => Promise.reject(new Error("no question was expected"));
  return { folder, prompt: "Write work.txt.", key: "step-1", signal: new AbortController().signal, ask, ...more };
}

interface Ran {
  readonly report: CodingReport;
  readonly folder: string;
  readonly starts: ReturnType<ReturnType<typeof standIn>["starts"]>;
}

async function ran(protocol: string, acts: Acts, more: Partial<CodingTask> = {}): Promise<Ran> {
  const { command, variables, starts } = standIn(protocol, acts);
  const folder = join(scratchFolder(), "tree");
  const agent = codingAgent({ command, env: { ...codingVariables(command, process.env), ...variables } });
  return { report: await agent.work(taskIn(folder, more)), folder, starts: starts() };
}

describe.each(ALL)("a coding agent by the protocol %s", (protocol) => {
  it("gets the order on standard input, works in the folder, and reports its last words and its cost", async () => {
    const { report, folder, starts } = await ran(protocol, { files: { "work.txt": "done" }, say: "I wrote work.txt.", cost: 0.25 });
    const cost = WITH_COST.includes(protocol) ? { cost: 250_000 } : {};
    expect(report).toEqual({ outcome: "ended", text: expect.stringMatching(/I wrote work\.txt\.$/), ...cost });
    expect(report.text).not.toContain("I shall look");
    expect(readFileSync(join(folder, "work.txt"), "utf8")).toBe("done");
    expect(starts).toMatchObject([{ order: "Write work.txt.", cwd: folder }]);
  });

  const escapes = [
    ["has left its group", "setsid", ""],
    ["has no environment", "env -i setsid", ""],
    ["has killed the agent and what attends it", "env -i setsid", "; kill -9 $(ps -o ppid= -p $PPID) $PPID"],
  ] as const;
  it.runIf(protocol === "codex" || protocol === "acp").each(escapes)("leaves no process behind that %s", async (_name, start, more) => {
    const stray = `${start} sh -c 'echo $$ > stray.pid; exec sleep 100' >/dev/null 2>&1 & while [ ! -s stray.pid ]; do :; done${more}`;
    const { folder } = await ran(protocol, { commands: [["sh", "-c", stray]] });
    const pid = Number(readFileSync(join(folder, "stray.pid"), "utf8"));
    await until(() => !isAlive(pid));
    expect(pid).toBeGreaterThan(1);
  });

  it("reports why it failed", async () => {
    const acts = protocol === "plain" ? { exit: 3, stderr: "401 bad key" } : { error: "401 bad key" };
    const { report } = await ran(protocol, acts);
    expect(report).toMatchObject({ outcome: "failed", reason: expect.stringContaining("401 bad key") });
  });

  it("fails when it ends without a result", async () => {
    const { report } = await ran(protocol, { exit: 7, stderr: "out of order" });
    expect(report).toMatchObject({ outcome: "failed", reason: expect.stringContaining("exit code 7") });
  });

  it("ends with the signal, and nothing of it goes on", async () => {
    const { command, variables } = standIn(protocol, { files: { "began.txt": "" }, hang: true });
    const folder = join(scratchFolder(), "tree");
    const stop = new AbortController();
    const agent = codingAgent({ command, env: { ...codingVariables(command, process.env), ...variables } });
    const work = agent.work(taskIn(folder, { signal: stop.signal }));
    const failed = errorOf(() => work);
    await until(() => existsSync(join(folder, "began.txt")));
    stop.abort(new AbortedError("stopped by the test"));
    expect((await failed).code).toBe("ABORTED");
  });

  it("counts as hanging after a long silence", async () => {
    const { command, variables } = standIn(protocol, { files: { "began.txt": "" }, hang: true });
    const folder = join(scratchFolder(), "tree");
    const clock = new SimulatedClock();
    const env = { ...codingVariables(command, process.env), ...variables };
    const work = codingAgent({ command, env, silence: 60_000, clock }).work(taskIn(folder));
    await until(() => existsSync(join(folder, "began.txt")));
    // Output that is still on its way begins the silence anew.
    let report: CodingReport | undefined;
    void work.then((one) => (report = one));
    await until(() => {
      void clock.advance(60_000);
      return report !== undefined;
    });
    expect(report).toMatchObject({ outcome: "failed", reason: expect.stringContaining("1 minutes") });
  });
});

describe("work that was cut off", () => {
  it.each(WITH_SESSION)("ProgramAgent.C1 continues in its conversation by %s, and another piece of work does not", async (protocol) => {
    const { command, variables, starts } = standIn(protocol, [{ files: { "began.txt": "" }, hang: true }, { say: "It is done." }]);
    const folder = join(scratchFolder(), "tree");
    const agent = codingAgent({ command, env: { ...codingVariables(command, process.env), ...variables } });
    const stop = new AbortController();
    const first = errorOf(() => agent.work(taskIn(folder, { signal: stop.signal })));
    await until(() => existsSync(`${folder}.json`) && existsSync(join(folder, "began.txt")));
    stop.abort(new AbortedError("stopped by the test"));
    await first;
    const report = await agent.work(taskIn(folder));
    await agent.work(taskIn(folder, { key: "step-2" }));
    const session = protocol === "acp" ? "new-session" : "session-1";
    const [, second, third] = starts();
    expect(report).toMatchObject({ outcome: "ended", text: "It is done." });
    expect(second?.order).toContain("You were cut off");
    if (protocol !== "acp") expect(second?.args).toContain(session);
    expect([third?.order, third?.args.includes(session)]).toEqual(["Write work.txt.", false]);
  });

  it("begins anew where its conversation is gone", async () => {
    const { command, variables, starts } = standIn("gemini", [{ exit: 42, isSilent: true }, { say: "It is done." }]);
    const folder = join(scratchFolder(), "tree");
    const task = taskIn(folder);
    writeFileSync(`${folder}.json`, JSON.stringify({ key: "step-1", session: "gone" }));
    const report = await codingAgent({ command, env: { ...codingVariables(command, process.env), ...variables } }).work(task);
    expect(report).toMatchObject({ outcome: "ended", text: "It is done." });
    expect(starts().map(({ args }) => args.includes("gone"))).toEqual([true, false]);
  });

  it.each([
    ["an option", "--dangerously-skip-permissions"],
    ["words", "a b"],
    ["nothing", ""],
    ["a long string", "x".repeat(300)],
  ])("ProgramAgent.C2 takes no id from its note that is %s", async (_what, session) => {
    const { command, variables, starts } = standIn("claude", {});
    const folder = join(scratchFolder(), "tree");
    const task = taskIn(folder);
    writeFileSync(`${folder}.json`, JSON.stringify({ key: "step-1", session }));
    await codingAgent({ command, env: { ...codingVariables(command, process.env), ...variables } }).work(task);
    expect(starts()[0]?.args).not.toContain("--resume");
  });
});

describe("questions by the Agent Client Protocol", () => {
  it("AcpSession.P1 are asked, and the answer is given back; it gets no files from us", async () => {
    const asked: string[] = [];
    const { report, folder } = await ran(
      "acp",
      { question: "Write to a.txt" },
      {
        ask: ({ text, choices }) => {
          asked.push(`${text} [${choices.map(({ value, label }) => `${value}=${label}`).join(", ")}]`);
          return Promise.resolve("go");
        },
      },
    );
    expect(asked).toEqual(["Write to a.txt\na.txt [go=Allow, stay=Reject]"]);
    expect(report.outcome).toBe("ended");
    expect(readFileSync(join(folder, "answer.txt"), "utf8")).toBe("go");
    expect(readFileSync(join(folder, "refused.txt"), "utf8")).toBe("-32601");
  });

  it("AcpSession.P2 end its work where they cannot be asked", async () => {
    const waiting = new WaitingError({ questionId: "q", question: "May it?", role: "Alex" });
    const error = await errorOf(() => ran("acp", { question: "Write to a.txt" }, { ask: () => Promise.reject(waiting) }));
    expect(error).toBe(waiting);
  });

  it("leave it any time for the answer", async () => {
    const { command, variables } = standIn("acp", { question: "Write to a.txt" });
    const clock = new SimulatedClock();
    const env = { ...codingVariables(command, process.env), ...variables };
    const ask = async (): Promise<string> => {
      await clock.advance(86_400_000);
      return "go";
    };
    const work = codingAgent({ command, env, silence: 60_000, clock }).work(taskIn(join(scratchFolder(), "tree"), { ask }));
    expect(await work).toMatchObject({ outcome: "ended" });
  });

  it("are not the end of its work: a refusal to continue is", async () => {
    const { report } = await ran("acp", { stop: "refusal" });
    expect(report).toMatchObject({ outcome: "failed", reason: expect.stringContaining("refusal") });
  });
});

describe("the program of a coding agent", () => {
  it("costs nothing where it is missing", async () => {
    const report = await codingAgent({ command: ["no-such-agent", "-p"] }).work(taskIn(join(scratchFolder(), "tree")));
    expect(report).toMatchObject({ outcome: "missing", reason: expect.stringContaining("no-such-agent") });
  });

  it("gets a list of variables, and no others", async () => {
    const given = { HOME: "/home/ada", ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "o", DATABASE_URL: "d", NPM_TOKEN: "n", EXTRA: "e" };
    expect(Object.keys(codingVariables(["/usr/bin/codex", "exec"], given, ["EXTRA"]))).toEqual(
      expect.arrayContaining(["PATH", "HOME", "OPENAI_API_KEY", "EXTRA"]),
    );
    expect(codingVariables(["codex", "exec"], given)).not.toHaveProperty("ANTHROPIC_API_KEY");
    for (const name of ["DATABASE_URL", "NPM_TOKEN", "OPENAI_API_KEY"]) expect(codingVariables(["agent"], given)).not.toHaveProperty(name);
  });

  it("is refused where there is none", async () => {
    expect(() => codingAgent({ command: [] })).toThrow(UsageError);
  });
});

describe("what a coding agent says", () => {
  const json = fc.dictionary(
    fc.constantFrom(
      "type",
      "session_id",
      "result",
      "total_cost_usd",
      "is_error",
      "errors",
      "error",
      "item",
      "part",
      "status",
      "content",
      "role",
    ),
    fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.constantFrom("result", "message", "assistant"), fc.object()),
  );

  it("is hostile: any lines are read without a failure, a cost below 0, or unbounded words", () => {
    const lines = fc.array(
      fc.oneof(
        fc.string(),
        json.map((one) => JSON.stringify(one)),
        fc.constant("x".repeat(100_000)),
      ),
    );
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 64 }), (all, size) => {
        for (const protocol of [undefined, ...LINE_PROTOCOLS]) {
          const said: Said = { text: "" };
          const reader = lineReader(protocol, said);
          const bytes = Buffer.from(all.join("\n"));
          for (let at = 0; at < bytes.length; at += size * 1_000) reader.take(bytes.subarray(at, at + size * 1_000));
          reader.end();
          expect(said.text.length).toBeLessThanOrEqual(64_000);
          expect(said.cost ?? 0).toBeGreaterThanOrEqual(0);
        }
      }),
    );
  });
});
