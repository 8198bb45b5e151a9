import { beforeAll, describe, expect, test } from "vitest";
import { waterfallCompany } from "../../roles/index.ts";
import { type DemoIdea, demoIdeas, demoModel } from "../../src/cli/demo-script.ts";
import {
  type ChatModel,
  defineRole,
  memoryJournal,
  type Role,
  type RoleOptions,
  type RunEvent,
  type RunResult,
  Team,
} from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { scriptedModel, type ScriptedModel } from "../../src/testing/index.ts";
import { chooseSandbox, fileWorkspace, type Sandbox } from "../../src/workspace/index.ts";
import { someOf } from "../long.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const QA = "Edward";

let game: DemoIdea;
let sandbox: Sandbox;
let parent: { readonly journal: Journal; readonly events: readonly RunEvent[]; readonly result: RunResult };

beforeAll(async () => {
  game = (await demoIdeas()).find(({ id }) => id === "2048") as DemoIdea;
  sandbox = await chooseSandbox("none");
  const journal = memoryJournal();
  const result = await new Team({ roles: company(), model: counting(), journal, seed: 7 }).run(game.idea, { id: "parent", rounds: 30 })
    .result;
  parent = { journal, events: await eventsOf(journal, "parent"), result };
});

/** @param constraints of the QA engineer, whose prompt has them */
function company(constraints?: string): readonly Role[] {
  const roles = waterfallCompany({ workspace: fileWorkspace({ root: scratchFolder(), git: false }), sandbox });
  const changed = (role: Role): Role => defineRole(Object.assign({}, role, { constraints }) as unknown as RoleOptions);
  return constraints === undefined ? roles : roles.map((role) => (role.name === QA ? changed(role) : role));
}

const STRICTER = "test what the requirements say, at its edges first";

/** The model of the bundled idea. `change` makes other answers of its answers. */
function counting(change: (task: string, answer: string) => string = (_task, answer) => answer): ScriptedModel {
  const script: ChatModel = demoModel(game);
  return scriptedModel(
    async (request) => {
      const task = /^# (.+)$/m.exec(request.messages.findLast(({ role }) => role === "user")?.content ?? "")?.[1] ?? "";
      const { content } = await script.chat(request, { signal: new AbortController().signal });
      return change(task, content);
    },
    { id: game.model, price: game.price },
  );
}

/** The calls of models in a record that were made by a role, or in answer to what it said, or to what was said in answer to that. */
function callsDownstreamOf(name: string, events: readonly RunEvent[]): number {
  const said = new Set<string>();
  const acts = new Set<string>();
  for (const event of events) {
    if (event.type !== "act.ended") continue;
    const isDownstream = event.role === name || event.said.some(({ message }) => message.parents.some((id) => said.has(id)));
    if (!isDownstream) continue;
    acts.add(event.act);
    for (const { message } of event.said) said.add(message.id);
  }
  return callsIn(events.filter((event) => event.type === "step.started" && acts.has(event.act)));
}

function callsIn(events: readonly RunEvent[]): number {
  return new Set(events.flatMap((event) => (event.type === "step.started" && event.kind === "model" ? [`${event.act} ${event.key}`] : [])))
    .size;
}

function callsOf(name: string, events: readonly RunEvent[]): number {
  return callsIn(events.filter((event) => event.type === "step.started" && event.act.startsWith(`${name}#`)));
}

interface Forked {
  readonly paid: number;
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
}

async function fork(roles: readonly Role[], model: ScriptedModel, at: number): Promise<Forked> {
  const team = new Team({ roles, model, journal: parent.journal });
  const result = await team.fork("parent", { at, rounds: 30 }).result;
  expect([result.status, result.error?.message]).toEqual(["finished", undefined]);
  return { paid: model.calls.length, result, events: await eventsOf(parent.journal, result.runId) };
}

/** Another name for every test: a report of one that fails tells it. */
function renamed(task: string, answer: string): string {
  return task.startsWith("WriteTest") ? answer.replaceAll('test("', 'test("at the edges: ') : answer;
}

describe("a fork of the software company", () => {
  test("that changes nothing pays for none of its calls, and does the same", async () => {
    expect([parent.result.status, callsIn(parent.events) > 20]).toEqual(["finished", true]);
    const middle = parent.events.findIndex((event) => event.type === "act.ended" && event.role === "Alex");
    for (const at of someOf([middle, 1, parent.events.length - 1], 1)) {
      const { paid, result, events } = await fork(company(), counting(), at);
      expect([at, paid, result.fork?.paid, result.cost.known]).toEqual([at, 0, 0, 0]);
      expect(result.fork).toMatchObject({ saved: parent.result.cost.known });
      expect(canonical(events)).toBe(canonical(parent.events));
    }
  });

  test("that changes only the QA engineer's prompt pays only for the calls downstream of it", { tags: ["company", "long"] }, async () => {
    const all = callsIn(parent.events);
    const downstream = callsDownstreamOf(QA, parent.events);
    expect(downstream).toBeGreaterThan(callsOf(QA, parent.events));
    expect(downstream).toBeLessThan(all / 2);
    const { paid, result, events } = await fork(company(STRICTER), counting(renamed), 1);
    expect([paid, result.fork?.paid]).toEqual([downstream, downstream]);
    expect(callsDownstreamOf(QA, events)).toBe(downstream);
    const reused = events.filter((event) => event.type === "step.started" && event.kind === "model" && event.reused !== undefined);
    expect([reused.length, result.fork?.reusedCalls]).toEqual([all - downstream, all - downstream]);
    expect(result.fork?.difference).toMatchObject({ act: expect.stringMatching(new RegExp(`^${QA}#`)) as string });
    expect(result.cost.known).toBeGreaterThan(0);
    expect(result.cost.known + (result.fork?.saved ?? 0)).toBeLessThan(parent.result.cost.known * 1.5);
  });
});
