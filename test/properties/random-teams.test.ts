import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RoleContext } from "../../src/action/context.ts";
import { randomStream } from "../../src/kernel/random.ts";
import type { Message } from "../../src/message/message.ts";
import { type FailurePolicy, retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role, type Said } from "../../src/role/role.ts";
import { canonical } from "../../src/run/canonical.ts";
import type { RunEvent } from "../../src/run/event.ts";
import { memoryJournal } from "../../src/run/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import type { RunResult } from "../../src/environment/run-result.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { Deck } from "./deck.ts";
import { World } from "./world.ts";

interface RolePlan {
  readonly watch: readonly string[];
  readonly steps: number;
  readonly parallel: boolean;
  readonly nested: boolean;
  readonly sendTo: readonly string[];
  readonly fails: "never" | "step" | "body";
  readonly policy: FailurePolicy;
  readonly writes: readonly ("state" | "memory" | "working" | "publish")[];
}

const names = ["r0", "r1", "r2", "r3"];
const rolePlan: fc.Arbitrary<RolePlan> = fc.record({
  watch: fc.uniqueArray(fc.constantFrom("UserRequirement", ...names), { maxLength: 3 }),
  steps: fc.integer({ min: 0, max: 3 }),
  parallel: fc.boolean(),
  nested: fc.boolean(),
  sendTo: fc.uniqueArray(fc.constantFrom("<all>", "<self>", "nobody", ...names), { minLength: 1, maxLength: 2 }),
  fails: fc.constantFrom("never", "never", "step", "body"),
  policy: fc.constantFrom<FailurePolicy>("skip", retry(1), retry(2, "skip")),
  writes: fc.uniqueArray(fc.constantFrom("state", "memory", "working", "publish"), { maxLength: 3 }),
});
/** The first role hears the idea, so that something happens. */
const teamPlan = fc
  .array(rolePlan, { minLength: 1, maxLength: names.length })
  .map(([first, ...rest]) => [{ ...(first as RolePlan), watch: ["UserRequirement", ...names] }, ...rest]);

/** Hops a message still has: every answer has one less, so every run ends. */
function hopsOf(news: readonly Message[]): number {
  return Math.max(...news.map((message) => Number(message.content.split(" ")[0])));
}

function roleOf(plan: RolePlan, name: string, world: World): Role {
  const react = async (rc: RoleContext): Promise<Said> => {
    const hops = hopsOf(rc.news);
    if (hops <= 0) return undefined;
    const ask = (i: number): Promise<string> => {
      const effect = world.effect(`${name} ${i}`);
      if (!plan.nested || i !== 1) return rc.step(`${name} ${i}`, { hops }, effect);
      return rc.step(`${name} out`, { hops }, (door) => door.step({ kind: "step", name: `${name} ${i}`, request: { hops } }, effect));
    };
    const places = Array.from({ length: plan.steps }, (_, i) => i);
    const answers: string[] = [];
    if (plan.parallel) answers.push(...(await Promise.all(places.map(ask))));
    else for (const i of places) answers.push(await ask(i));
    if (plan.fails === "step")
      await rc.step(
        `${name} shaky`,
        {},
        world.answering(`${name} shaky`, (before) => failing(before)),
      );
    const mood =
      plan.fails === "body"
        ? await rc.step(
            `${name} mood`,
            {},
            world.answering(`${name} mood`, (before) => (before === 0 ? "bad" : "good")),
          )
        : "";
    if (mood === "bad") throw new Error("a bad mood");
    return write(rc, plan, `${hops - 1} ${name} ${answers.join("")}`);
  };
  return defineRole({ name, watch: plan.watch, onFailure: plan.policy, react });
}

function failing(before: number): string {
  if (before === 0) throw new Error("shaky");
  return "firm";
}

function write(rc: RoleContext, plan: RolePlan, content: string): Said {
  if (plan.writes.includes("state"))
    rc.state["said"] = [...((rc.state["said"] as string[] | undefined) ?? []), rc.random() > 0.5 ? content : "-"];
  if (plan.writes.includes("memory")) rc.memory.add(rc.message("a note to myself"));
  if (plan.writes.includes("memory") && rc.memory.size > 3) rc.memory.deleteNewest();
  if (plan.writes.includes("working")) rc.workingMemory.addBatch(rc.news);
  if (plan.writes.includes("publish")) rc.publish(rc.message(`0 aside of ${rc.id()}`, { sendTo: "r0" }));
  return rc.message(content, { sendTo: plan.sendTo });
}

interface Lived {
  readonly events: RunEvent[];
  readonly result: RunResult;
}

async function lived(plans: readonly RolePlan[], luck: number, concurrency: number, prefix: readonly RunEvent[] = []): Promise<Lived> {
  const deck = new Deck(randomStream("team", luck));
  const world = new World(prefix, () => deck.wait());
  const journal = prefix.length === 0 ? memoryJournal() : await journalWith("r", prefix);
  const roles = plans.map((plan, i) => roleOf(plan, names[i] ?? "", world));
  const team = new Team({ seed: "random", journal, concurrency, roles, onFailure: "skip" });
  const result = await deck.until(team.run("3 go", { id: "r", rounds: 12 }).result);
  return { result, events: await eventsOf(journal, "r") };
}

function stepsOf(events: readonly RunEvent[], type: "step.started" | "step.ended"): string[] {
  return events.flatMap((event) =>
    event.type === type && !(event.type === "step.ended" && event.retry === true) ? [`${event.act} ${event.key}`] : [],
  );
}

const luck = fc.integer({ min: 0, max: 1_000_000 });

describe("random teams", () => {
  test("property: equal logs for any latency and concurrency, and from any prefix", async () => {
    await fc.assert(
      fc.asyncProperty(
        teamPlan,
        luck,
        luck,
        fc.integer({ min: 1, max: 4 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (plans, one, other, concurrency, share) => {
          const whole = await lived(plans, one, 16);
          const text = canonical(whole.events);
          expect(canonical((await lived(plans, other, concurrency)).events)).toBe(text);
          const prefix = whole.events.slice(0, Math.floor(share * whole.events.length));
          const after = await lived(plans, other, concurrency, prefix);
          expect(canonical(after.events)).toBe(text);
          expect(after.result).toMatchObject({ status: whole.result.status, rounds: whole.result.rounds });
          const answered = new Set(stepsOf(prefix, "step.ended"));
          expect(stepsOf(after.events.slice(prefix.length), "step.started").filter((step) => answered.has(step))).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });
});
