import { appendFileSync, writeSync } from "node:fs";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { z } from "zod";
import { defineTool, type Tool } from "../../src/agent/index.ts";
import { defineAction, defineRole, type Role, type RunEvent, Team } from "../../src/index.ts";
import type { EffectPort } from "../../src/kernel/effect.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { effectTeam, remoteEffects, type RunDriver, servedTool, startWorker } from "../../src/fleet/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

/** The points at which a process ends itself as SIGKILL does. */
export const points = {
  coordinator: ["before submit", "after submit", "before the answer is stored", "after the answer is stored"],
  worker: ["before the effect", "in the effect", "before the answer is stored", "after the answer is stored"],
} as const;

/** The kinds of the effects. */
export const kinds = ["step", "tool"] as const;

/** The works in turn: what is asked for by a step and by a tool. Work in gold and in silver must not be done twice. */
export const works = ["iron", "silver", "gold", "clay"] as const;

/** A death of a process: at its first effect of this kind that comes to this point. */
export interface Death {
  readonly kind: (typeof kinds)[number];
  readonly point: string;
}

/** A process that asks for effects, or does them. */
export interface Part {
  readonly url: string;
  readonly schema: string;
  readonly role: keyof typeof points;
  readonly dies?: Death;
  /** The file to which each effect is written when it begins. */
  readonly done: string;
  readonly runs: number;
}

/** Returns the idea of a run. */
export function ideaOf(n: number): string {
  return `${works[n % works.length]} ${n}`;
}

export function mayHappenTwice(idea: string): boolean {
  return !/^(?:gold|silver)/.test(idea);
}

type Work = (of: string) => string | Promise<string>;

const here: Work = (of) => `a thing of ${of}`;

/** The tools of the two works that are done by a tool. */
function toolsOf(work: Work): readonly Tool[] {
  const parameters = z.object({ of: z.string() });
  return ["bake", "mint"].map((name) =>
    defineTool({ name, description: "Works.", parameters, idempotent: name === "bake", execute: ({ of }) => work(of) }),
  );
}

/** Calls the tool of its work once, and says what it was told. */
const hand = scriptedModel(({ messages }) => {
  const told = messages.find(({ role }) => role === "tool");
  if (told !== undefined) return String(told.content);
  const of = String(messages.at(-1)?.content);
  const call = { name: of.startsWith("clay") ? "bake" : "mint", arguments: JSON.stringify({ of }) };
  return { content: "", toolCalls: [{ id: "c", type: "function", function: call }], finishReason: "tool_calls" };
});

/** Returns a team that asks for one effect: by a step for iron and gold, by a tool of an agent for clay and silver. */
export function asker(journal: Journal, idea: string, effects?: EffectPort): Team {
  const Forge = defineAction({
    name: "Forge",
    run: (ctx) => ctx.step("forge", { of: ctx.text }, async () => here(ctx.text), { idempotent: mayHappenTwice(ctx.text) }),
  });
  const isTool = /^(?:clay|silver)/.test(idea);
  const role: Role = isTool
    ? defineRole({ name: "Tom", reactMode: "agent", tools: toolsOf(here), model: hand })
    : defineRole({ name: "Finn", actions: [Forge] });
  return new Team({ journal, roles: [role], seed: "s", poisonAfter: 1_000, ...(effects === undefined ? {} : { effects }) });
}

export async function main(part: Part): Promise<void> {
  const { url, schema, role, runs } = part;
  const dies: Dies = (kind, point) => {
    if (kind === part.dies?.kind && point === part.dies.point) process.kill(process.pid, "SIGKILL");
  };
  const journal = dyingJournal(postgres({ url, schema }), role === "coordinator" ? "run-" : "effect-", dies);
  const driver = dyingDriver(graphileDriver({ url, schema }), dies);
  if (role === "worker") return serve(part, journal, driver, dies);
  const effects = remoteEffects({ driver, journal, effects: ["step:forge", "tool:bake", "tool:mint"] });
  for (let n = 0; n < runs; n += 1) await ended(asker(journal, ideaOf(n), effects), `run-${n}`, ideaOf(n));
  writeSync(1, "done\n");
  process.exit(0);
}

/** Ends the process where it is to die at this point. */
type Dies = (kind: string, point: string) => void;

async function serve({ done }: Part, journal: Journal, driver: RunDriver, dies: Dies): Promise<void> {
  const worked =
    (kind: Death["kind"]): Work =>
    async (of) => {
      dies(kind, "before the effect");
      appendFileSync(done, `${of}\n`);
      dies(kind, "in the effect");
      await new Promise((resolve) => setTimeout(resolve, 100));
      return here(of);
    };
  const o = { journal, poisonAfter: 1_000 };
  const forge = effectTeam("step:forge", (request) => worked("step")((request as { readonly of: string }).of), o);
  const tools = toolsOf(worked("tool")).map((tool) => effectTeam(`tool:${tool.name}`, servedTool(tool), o));
  await startWorker({ driver, journal, teams: [forge, ...tools] });
}

/** A journal whose process dies when a run of its own gets an answer. */
function dyingJournal(journal: Journal, own: string, dies: Dies): Journal {
  const { append } = journal;
  const begun = new Map<string, string>();
  const nameOf = (runId: string, { act, key }: Pick<RunEvent & { readonly type: "step.ended" }, "act" | "key">): string =>
    `${runId} ${act} ${key}`;
  journal.append = async (runId, epoch, seq, events) => {
    for (const event of events) if (event.type === "step.started") begun.set(nameOf(runId, event), event.kind);
    const answered = events.flatMap((event) => (event.type === "step.ended" ? [begun.get(nameOf(runId, event)) ?? ""] : []));
    const isOwn = runId.startsWith(own);
    if (isOwn) for (const kind of answered) dies(kind, "before the answer is stored");
    await append.call(journal, runId, epoch, seq, events);
    if (isOwn) for (const kind of answered) dies(kind, "after the answer is stored");
  };
  return journal;
}

function dyingDriver(driver: RunDriver, dies: Dies): RunDriver {
  const { submit } = driver;
  driver.submit = async (job) => {
    const kind = /^effect (\w+):/.exec(job.team)?.[1] ?? "";
    dies(kind, "before submit");
    await submit.call(driver, job);
    dies(kind, "after submit");
  };
  return driver;
}

/** Brings a run to its end. One whose effect is uncertain is resumed, as a person does who has looked. */
async function ended(team: Team, id: string, idea: string): Promise<void> {
  for (let isKnown = false; ; isKnown = true) {
    const { status, error } = await (isKnown ? team.resume(id) : team.run(idea, { id })).result;
    if (status === "finished") return;
    writeSync(2, `${id}: ${status} ${String(error)}\n`);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}
