import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { canonical, memoryJournal, type RunEvent } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { fileWorkspace, type MemoryWorkspace } from "../../src/workspace/index.ts";
import { brokenGreetJs, fence, greetJs, replies } from "../actions/greeter.ts";
import { pretendSandbox } from "../actions/pretend-sandbox.ts";
import { type TaskReplies, taskModel, taskOf } from "../actions/task-script.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { companyOf, smallWorkspace, work } from "./waterfall-trial.ts";
import { someOf, tries } from "../long.ts";

/** A run with everything in it: a file refused in review, tests that fail once. */
const eventful: TaskReplies = {
  "WriteCodeReview: index.html (round 1)": JSON.stringify({ verdict: "LBTM", comments: ["Say it louder."] }),
  "RewriteCode: index.html (round 1)": fence("<h1>Greeter</h1>\n"),
  "WriteCodeReview: index.html (round 2)": JSON.stringify({ verdict: "LGTM", comments: [] }),
  "WriteCode: src/greet.js": fence(brokenGreetJs),
  "DebugError (round 1)": JSON.stringify({ analysis: "The mark is missing.", files: ["src/greet.js"] }),
  "FixCode: src/greet.js (round 1)": fence(greetJs),
};

/** Judges what the project holds, as real tests would. */
function judging(workspace: MemoryWorkspace) {
  return pretendSandbox(async () => ((await workspace.read("src/greet.js")) === greetJs ? "passed" : { failing: "no mark" }));
}

async function contents(workspace: MemoryWorkspace): Promise<Readonly<Record<string, string | undefined>>> {
  const paths = await workspace.list();
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await workspace.read(path)] as const)));
}

/** A journal as a crash after some events leaves it. */
async function journalWith(runId: string, events: readonly RunEvent[]): Promise<Journal> {
  const journal = memoryJournal();
  await journal.create(runId);
  await journal.append(runId, (await journal.claim(runId)).epoch, 0, events);
  return journal;
}

/** The workspace as those events leave it: what steps that have ended wrote. */
async function workspaceAfter(events: readonly RunEvent[]): Promise<MemoryWorkspace> {
  const workspace = smallWorkspace();
  const ended = new Set(events.flatMap((event) => (event.type === "step.ended" && event.ok ? [`${event.act} ${event.key}`] : [])));
  for (const event of events) {
    if (event.type !== "step.started" || event.name !== "write file" || !ended.has(`${event.act} ${event.key}`)) continue;
    const { path, content } = event.request as { readonly path: string; readonly content: string };
    await workspace.write(path, content);
  }
  return workspace;
}

function modelSteps(events: readonly RunEvent[]): { readonly all: number; readonly ended: number } {
  const keys = (type: "step.started" | "step.ended"): Set<string> =>
    new Set(events.flatMap((event) => (event.type === type ? [`${event.act} ${event.key}`] : [])));
  const models = new Set(
    events.flatMap((event) => (event.type === "step.started" && event.kind === "model" ? [`${event.act} ${event.key}`] : [])),
  );
  const ended = keys("step.ended");
  return { all: models.size, ended: [...models].filter((key) => ended.has(key)).length };
}

describe("going on from a journal", () => {
  test.each(["rounds", "eager"] as const)(
    "from any place, the same comes out and no recorded answer is paid again, under %s",
    { tags: "numbers" },
    async (scheduler) => {
      const whole = smallWorkspace();
      const uncut = await work({ scheduler, workspace: whole, sandbox: judging(whole), replies: eventful, run: { id: "greeter" } });
      expect(uncut.result).toMatchObject({ status: "finished", output: { instructContent: { tests: "passed", round: 1 } } });
      const { all } = modelSteps(uncut.events);
      for (let cut = 2; cut < uncut.events.length; cut += tries(7, 1)) {
        const kept = uncut.events.slice(0, cut);
        const workspace = await workspaceAfter(kept);
        const { team, model } = companyOf({
          scheduler,
          workspace,
          sandbox: judging(workspace),
          replies: eventful,
          journal: await journalWith("greeter", kept),
        });
        const result = await team.resume("greeter", { rounds: 30 }).result;
        expect(result.status, `cut after ${cut} events`).toBe("finished");
        expect(await contents(workspace), `cut after ${cut} events`).toEqual(await contents(whole));
        expect(result.messages.map(({ id, content }) => [id, content])).toEqual(
          uncut.result.messages.map(({ id, content }) => [id, content]),
        );
        expect(canonical(await eventsOf(team.journal, "greeter")), `cut after ${cut} events`).toBe(canonical(uncut.events));
        expect(model.calls.length, `cut after ${cut} events`).toBe(all - modelSteps(kept).ended);
      }
    },
  );

  test("files that were lost with the machine are written again, as far as their action had not ended", async () => {
    const whole = smallWorkspace();
    const uncut = await work({ workspace: whole, sandbox: judging(whole), replies: eventful, run: { id: "greeter" } });
    const second = uncut.events.findIndex(
      (event) => event.type === "step.started" && event.name === "write file" && (event.request as { path: string }).path === "index.html",
    );
    const kept = uncut.events.slice(0, second + 2);
    const workspace = smallWorkspace();
    const { team } = companyOf({ workspace, sandbox: judging(workspace), replies: eventful, journal: await journalWith("greeter", kept) });
    expect((await team.resume("greeter", { rounds: 30 }).result).status).toBe("finished");
    expect(await workspace.read("src/greet.js")).toBe(greetJs);
    expect(await workspace.read("index.html")).toBe("<h1>Greeter</h1>\n");
  });

  const stops = [
    "WriteCode: index.html",
    "RewriteCode: index.html (round 1)",
    "WriteTest: tests/greet.test.mjs",
    "FixCode: src/greet.js (round 1)",
  ];

  test.each(someOf(stops, 1))(
    "stopped at %s, another process ends it with one commit for each action",
    { tags: "company" },
    async (stopAt) => {
      const root = scratchFolder();
      const journal = memoryJournal();
      const first = fileWorkspace({ root, git: true });
      const sandbox = pretendSandbox(async () => ((await first.read("src/greet.js")) === greetJs ? "passed" : { failing: "no mark" }));
      const stopping = new AbortController();
      const script = taskModel({ ...replies, ...eventful });
      const model = scriptedModel((request) => {
        if (taskOf(request) === stopAt) stopping.abort();
        return script.chat(request, { signal: stopping.signal });
      });
      const { team } = companyOf({ workspace: first, sandbox, journal, model });
      const stopped = await team.run("Greet me", { id: "greeter", rounds: 30, signal: stopping.signal }).result;
      expect(stopped.status).toBe("stopped");
      const next = companyOf({ workspace: fileWorkspace({ root, git: true }), sandbox, journal, replies: eventful });
      expect((await next.team.resume("greeter", { rounds: 30 }).result).status).toBe("finished");
      expect(taskOf(next.model.calls[0]!)).toBe(stopAt);
      const log = execFileSync("git", ["log", "--reverse", "--format=%s"], { cwd: root, encoding: "utf8" });
      expect(log.trim().split("\n")).toEqual([
        "Write the requirements of greeter",
        "Design greeter",
        "Plan the files of greeter",
        "Write the code of greeter",
        "Change the code of greeter after review",
        "Write the tests of greeter",
        "Repair what the tests found (round 1)",
      ]);
      expect(execFileSync("git", ["status", "--short"], { cwd: root, encoding: "utf8" })).toBe("");
    },
  );
});
