import fc from "fast-check";
import { expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { RoleContext } from "../../src/role/context.ts";
import { defineRole } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { eventsOf } from "../team/recorded.ts";
import { unhandledIn } from "../unhandled.ts";

/** Something that an activation does: it starts an effect, and awaits it, handles its failure, or does neither. */
interface Part {
  readonly door: "step" | "steps" | "ask" | "human" | "chat" | "inside a step" | "question inside a step";
  readonly fails: boolean;
  readonly then: "awaits" | "handles" | "floats" | "floats with what follows" | "floats in a function";
  /** Macrotasks. */
  readonly latency: number;
}

const part: fc.Arbitrary<Part> = fc.record({
  door: fc.constantFrom("step", "steps", "ask", "human", "chat", "inside a step", "question inside a step"),
  fails: fc.boolean(),
  then: fc.constantFrom("awaits", "handles", "floats", "floats with what follows", "floats in a function"),
  latency: fc.nat(4),
});

async function happen({ fails, latency }: Part): Promise<string> {
  for (let n = 0; n < latency; n += 1) await nextMacrotask();
  if (fails) throw new Error("declined");
  return "done";
}

function start(doing: Part, nth: number, rc: RoleContext): Promise<unknown> {
  const name = String(nth);
  switch (doing.door) {
    case "step":
      return rc.step(name, {}, () => happen(doing));
    case "steps":
      return rc.steps.step({ kind: "step", name, request: {} }, () => happen(doing));
    case "ask":
      return rc.ask(name);
    case "human":
      return rc.human.ask(name);
    case "chat":
      return rc.model.chat({ messages: [{ role: "user", content: name }] }, { signal: rc.signal });
    case "inside a step":
      return rc.step(name, {}, async (door) => void door.step({ kind: "step", name, request: {} }, () => happen(doing)));
    case "question inside a step":
      return rc.step(name, {}, async (door) => void door.ask(name));
  }
}

/** Lives a program. One that awaits what fails ends there. */
async function live(program: readonly Part[], rc: RoleContext): Promise<void> {
  for (const [nth, doing] of program.entries()) {
    const work = start(doing, nth, rc);
    if (doing.then === "awaits") await work;
    if (doing.then === "handles") void work.catch(() => {});
    if (doing.then === "floats with what follows") void work.then((value) => value).finally(() => {});
    if (doing.then === "floats in a function") void (async () => void (await work))();
  }
}

/** A function of the program that is not awaited rejects by itself, where what it awaits fails before the body has ended: there it is left out. */
function isOwn(program: readonly Part[]): boolean {
  const last = program.findLastIndex(({ then }) => then === "awaits");
  return program.some(({ fails, then }, nth) => fails && then === "floats in a function" && nth < last);
}

function team(program: readonly Part[], journal = memoryJournal()): Team {
  const answer = (text: string): Promise<string> => happen(program[Number(text)] as Part);
  const model = scriptedModel(({ messages }) => answer(messages.at(-1)?.content as string));
  const role = defineRole({ name: "Ann", react: (rc) => live(program, rc).then(() => rc.message("paid")) });
  return new Team({ journal, seed: "s", model, human: ({ text }) => answer(text), roles: [role] });
}

test("HandedOut.P1 HandedOut.P2 HandedOut.P3 whatever floats and fails, the activation fails and nothing is unhandled", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (program) => {
      fc.pre(!isOwn(program));
      const journal = memoryJournal();
      const one = team(program, journal);
      const unhandled = await unhandledIn(async () => {
        const result = await one.run("go", { id: "r" }).result;
        expect(result.status).toBe(program.some(({ fails, then }) => fails && then !== "handles") ? "failed" : "finished");
        const again = await one.replay("r").result;
        expect([again.status, again.error?.code]).toEqual([result.status, result.error?.code]);
        const events = await eventsOf(journal, "r");
        const other = memoryJournal();
        await team(
          program.map((doing) => ({ ...doing, latency: 4 - doing.latency })),
          other,
        ).run("go", { id: "r" }).result;
        expect(canonical(await eventsOf(other, "r"))).toBe(canonical(events));
      });
      expect(unhandled).toEqual([]);
    }),
    { numRuns: 25 },
  );
});
