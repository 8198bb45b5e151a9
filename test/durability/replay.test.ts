import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { waterfallCompany } from "../../roles/index.ts";
import { demoIdeas, demoModel } from "../../src/cli/demo-script.ts";
import type { ChatModel } from "../../src/model/chat-model.ts";
import { usd } from "../../src/model/money.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Run } from "../../src/team/run.ts";
import { Team } from "../../src/team/team.ts";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { plainSandbox } from "../../src/workspace/choose-sandbox.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { someOf } from "../long.ts";
import { eventsOf } from "../team/recorded.ts";

const scratch = scratchFolder();
const ideas = (await demoIdeas()).filter(({ crew }) => crew === "waterfall");
const examples = readdirSync(new URL("../../examples/", import.meta.url)).filter((file) => file.endsWith(".ts"));
/** These have no team: an environment, an agent, or a project that is verified. */
const withoutTeam = [
  "02-debate.ts",
  "07-coins.ts",
  "10-agent.ts",
  "11-tools.ts",
  "13-nets.ts",
  "14-planning-flow.ts",
  "15-mcp.ts",
  "16-rumour.ts",
  "27-verify.ts",
  "32-failures.ts",
  "33-populations.ts",
  "34-faults.ts",
  "35-experiment.ts",
  "36-coordination.ts",
  "37-policies.ts",
  "39-from-openmanus.ts",
  "40-explore.ts",
  "42-laboratory.ts",
  "43-paid-study.ts",
];
/** These close and remove their journal, after replaying their own run. */
const replayed = ["08-durable.ts", "12-agent-role.ts", "24-service.ts", "28-chat-service.ts"];
const without: ReadonlySet<string> = new Set([...withoutTeam, ...replayed]);

async function told(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

function contents(root: string): Readonly<Record<string, string>> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [relative(root, path), readFileSync(path, "utf8")]));
}

describe("a replay of each example", () => {
  const runs: { readonly team: Team; readonly run: Run; readonly again: Parameters<Team["replay"]>[1] }[] = [];
  beforeEach(() => {
    runs.length = 0;
    vi.spyOn(console, "log").mockImplementation(() => {});
    const run = Team.prototype.run;
    vi.spyOn(Team.prototype, "run").mockImplementation(function (this: Team, ...given: Parameters<Team["run"]>) {
      const started = run.apply(this, given);
      const { context } = given[1] ?? {};
      runs.push({ team: this, run: started, again: context === undefined ? {} : { context } });
      return started;
    });
  });
  afterEach(() => vi.restoreAllMocks());

  test.each(
    someOf(
      examples.filter((file) => !without.has(file)),
      6,
    ),
  )("%s makes no call and tells the same", { tags: "kill" }, async (file) => {
    await import(`../../examples/${file}`);
    expect(runs.length).toBeGreaterThan(0);
    for (const { team, run, again: terms } of runs) {
      await run.result;
      const recorded = await eventsOf(team.journal, run.id);
      const again = team.replay(run.id, terms);
      if (recorded.some(({ type }) => type === "run.erased")) {
        expect((await again.result).error?.code).toBe("TEXT_ERASED");
        continue;
      }
      expect(canonical(await told(again))).toBe(canonical(recorded));
      expect((await again.result).error?.code).not.toBe("DIFFERENCE");
    }
  });
});

describe("a replay of a bundled company run", { tags: ["kill", "long"] }, () => {
  /** The same model to those who look at it, which may not be asked. */
  function mute(model: ChatModel): ChatModel {
    const refuse = (): never => expect.unreachable("a replay called the model");
    return { id: model.id, ...(model.price === undefined ? {} : { price: model.price }), chat: refuse, stream: refuse };
  }

  function company(model: ChatModel): Pick<ConstructorParameters<typeof Team>[0] & object, "roles" | "model"> & { readonly root: string } {
    const root = mkdtempSync(join(scratch, "company-"));
    return { root, model, roles: waterfallCompany({ workspace: fileWorkspace({ root, git: false }), sandbox: plainSandbox() }) };
  }

  test.each(someOf(ideas, 1).map((idea) => [idea.id, idea] as const))(
    "%s makes no call and tells the same",
    { tags: "kill", timeout: 120_000 },
    async (_id, idea) => {
      const journal = memoryJournal();
      const model = demoModel(idea);
      const { root: project, ...parts } = company(model);
      const result = await new Team({ ...parts, journal, budget: usd(3), seed: 1 }).run(idea.idea, { id: "r", rounds: 20 }).result;
      expect(result.status).toBe("finished");
      const recorded = await eventsOf(journal, "r");
      const { root, ...again } = company(mute(model));
      const run = new Team({ ...again, journal }).replay("r");
      expect(canonical(await told(run))).toBe(canonical(recorded));
      const { error, status, cost } = await run.result;
      expect([error, status, cost]).toEqual([undefined, "finished", result.cost]);
      expect(contents(root)).toEqual(contents(project));
    },
  );
});
