import { expect } from "vitest";
import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import type { ChatModel } from "../../src/model/chat-model.ts";
import { usd } from "../../src/model/money.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { answering, listener } from "./town.ts";
import { Outside, shuffled, stillClock } from "../properties/outside.ts";
import { idea, sixRoles, teamOf } from "../properties/six-roles.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

/** Runs in which about everything happens that a run can record. Each is called `run`. */
export async function manyRuns(): Promise<ReadonlyMap<string, readonly RunEvent[]>> {
  const whole = await company([]);
  const cut = whole.findLastIndex((event) => event.type === "step.started" && event.kind === "model");
  const once = await company(whole.slice(0, cut + 1));
  const waiting = await waits();
  return new Map([
    ["rounds", whole],
    ["eager", await company([], { scheduler: "eager" })],
    ["killed and gone on", once],
    ["killed twice", await company(once.slice(0, 1 + once.findLastIndex((event) => event.type === "run.resumed")))],
    ["a model that fails", await failing()],
    ["one of three messages at fault", await isolating()],
    ["waiting", waiting],
    ["answered", await answers(waiting)],
    ["forked", await forks(whole)],
    ["going on with others", await forced(waiting)],
    ["small things", await smallThings()],
    ["out of money", await company([], { budget: usd(0.0004) })],
  ]);
}

async function company(kept: readonly RunEvent[], options: TeamOptions = {}): Promise<readonly RunEvent[]> {
  const outside = new Outside(shuffled("many"), kept);
  const journal = await journalWith("run", kept);
  const roles = sixRoles(outside, { pipelines: 2, steps: 2, laps: 2 });
  await teamOf(outside, roles, { budget: usd(1), ...options, journal }).run(idea, { id: "run", about: { command: ["make", idea] } }).result;
  return eventsOf(journal, "run");
}

async function recorded(options: TeamOptions): Promise<readonly RunEvent[]> {
  const journal = memoryJournal();
  await new Team({ seed: "s", ...options, journal }).run("go", { id: "run" }).result;
  return eventsOf(journal, "run");
}

function failing(): Promise<readonly RunEvent[]> {
  const model = scriptedModel([new ModelError("MODEL_AUTH", "Expected a key.", { data: { status: 401 } })]);
  const impatient = scriptedModel([new ModelError("MODEL_SERVER", "Expected an answer.", { retryable: true, data: { status: 503 } })]);
  const asking = (name: string): Role => answering(name, async (rc) => rc.message(await rc.ask("?")));
  const roles = [asking("Ann"), defineRole({ name: "Bob", model: impatient, react: async (rc) => void (await rc.ask("!")) })];
  return recorded({ model, roles, onFailure: "stop", clock: stillClock });
}

function isolating(): Promise<readonly RunEvent[]> {
  const speaker = answering("Speaker", (rc) => {
    for (const word of ["good", "bad", "fine"]) rc.publish(rc.message(word, { sendTo: ["Hearer", "Nobody"] }));
  });
  const hearer = answering("Hearer", async (rc) => {
    await rc.step("hear", { text: rc.news.map(({ content }) => content) }, () => Promise.resolve(null), { idempotent: false });
    if (rc.news.some(({ content }) => content === "bad")) throw new Error("a bad word");
  });
  return recorded({ roles: [speaker, hearer], onFailure: "skip" });
}

function asksPerson(name = "Ann"): Role {
  const Ask = defineAction({ name: "Ask", run: async (ctx) => `${await ctx.ask("draft")} ${await ctx.human.ask("Good?")}` });
  return defineRole({ name, profile: "Asker", actions: [Ask] });
}

function waits(): Promise<readonly RunEvent[]> {
  return recorded({ model: scriptedModel(["a draft"], { id: "unknown", price: { input: 1, output: 2 } }), roles: [asksPerson()] });
}

async function answers(waiting: readonly RunEvent[]): Promise<readonly RunEvent[]> {
  const journal = await journalWith("run", waiting);
  const team = new Team({ journal, roles: [asksPerson()], model: scriptedModel([], { id: "unknown" }) });
  const { questions } = await team.resume("run").result;
  await (
    await team.answer("run", questions[0]?.id ?? "", "yes")
  ).result;
  return eventsOf(journal, "run");
}

async function forced(waiting: readonly RunEvent[]): Promise<readonly RunEvent[]> {
  const journal = await journalWith("run", waiting);
  const roles = [asksPerson(), listener("Bob", { memoryLimit: 5 })];
  await new Team({ journal, roles, model: scriptedModel([], { id: "unknown" }) }).resume("run", { onTeamChange: "continue" }).result;
  return eventsOf(journal, "run");
}

async function forks(parent: readonly RunEvent[]): Promise<readonly RunEvent[]> {
  const journal = memoryJournal();
  await journal.create("parent");
  const events = parent.map((event) => ({ ...event, runId: "parent" }));
  await journal.append("parent", (await journal.claim("parent")).epoch, 0, events);
  const outside = new Outside(shuffled("fork"));
  const roles = sixRoles(outside, { pipelines: 2, steps: 2, laps: 2 });
  await teamOf(outside, roles, { journal }).fork("parent", { at: 12, id: "run", add: ["and a river"] }).result;
  return eventsOf(journal, "run");
}

/** Odd values, and what the others leave out: memories that forget, state that goes, a model without a price. */
function smallThings(): Promise<readonly RunEvent[]> {
  const ann = defineRole({
    name: "Ann",
    state: z.object({ old: z.string().optional().default("x"), new: z.unknown().optional() }),
    react: async (rc) => {
      await rc.ask("a word");
      rc.memory.add(rc.message("kept"));
      for (const message of rc.memory.get(1)) rc.memory.delete(message);
      rc.workingMemory.clear();
      rc.state["new"] = { "\u0000\u001b[2J": ["\ud83c", -0, 1e300, "\u2028"] };
      return rc.message("", { instructContent: null, metadata: { constructor: "a word like others" }, sendTo: "<none>" });
    },
  });
  const bob = answering("Bob", (rc) => {
    if (rc.state["old"] === undefined) rc.state["old"] = 1;
    else delete rc.state["old"];
    return rc.state["old"] === undefined ? undefined : rc.message("again", { sendTo: "<self>" });
  });
  const unpriced = { id: "nobody-knows-its-price", streams: false };
  const chat: ChatModel["chat"] = () => Promise.resolve({ content: "word", toolCalls: [], finishReason: "stop" });
  const stream: ChatModel["stream"] = () => expect.unreachable();
  return recorded({ roles: [ann, bob], model: { ...unpriced, chat, stream } });
}
