import fc from "fast-check";
import { statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { type Json, unchanging } from "../../src/kernel/json.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { chatOf } from "../../src/adapters/event-chats.ts";
import { asked, connection, journalAt, meddle, newFile, readOut, written } from "./sqlite-setup.ts";
import { tries } from "../long.ts";

/** The words of a turn: the same length for every turn. */
function turn(place: number): Json {
  return { role: place % 2 === 0 ? "user" : "assistant", content: `${String(place).padStart(6, "0")} ${"word ".repeat(60)}` };
}

/** The bytes of a journal after one event for each conversation. */
async function bytesOf(chats: readonly (readonly Json[])[], runId = "a"): Promise<number> {
  const file = newFile();
  const journal = journalAt(file);
  const events = chats.map((messages, seq) => asked(runId, seq, { model: "m", messages }));
  await written(journal, runId, events);
  expect(await readOut(journal, runId)).toEqual({ events, error: undefined });
  await meddle(file);
  return statSync(file).size;
}

/** The questions of a conversation that goes on for so many turns, each with all that was said before. */
function growing(turns: number): Json[][] {
  return Array.from({ length: turns }, (_, n) => Array.from({ length: 2 * n + 1 }, (__, place) => turn(place)));
}

describe("a journal of a long conversation", () => {
  it("SqliteJournal.J5 grows with what is said, not with its square", { tags: ["fleet", "long"] }, async () => {
    const [fifty, hundred, twoHundred] = [await bytesOf(growing(50)), await bytesOf(growing(100)), await bytesOf(growing(200))];
    expect((twoHundred - hundred) / (hundred - fifty)).toBeLessThan(2.2);
    const said = JSON.stringify(growing(200).at(-1)).length;
    const shown = JSON.stringify(growing(200)).length;
    expect(twoHundred).toBeLessThan(4 * said);
    expect(twoHundred).toBeLessThan(shown / 40);
  });

  it("SqliteJournal.J5 is written and named once for each message that cannot change, and anew for one that can", () => {
    const fixed = Array.from({ length: 20 }, (_, place) => unchanging(turn(place)));
    const free = fixed.map((message) => structuredClone(message));
    const turnsOf = (messages: readonly Json[]) => chatOf(messages)?.turns ?? [];
    const [short, long] = [turnsOf(fixed.slice(0, 10)), turnsOf(fixed)];
    expect(long.slice(0, 10).every((one, place) => one === short[place])).toBe(true);
    expect(turnsOf(free)).toEqual(long);
    expect(turnsOf(free).some((one, place) => one === long[place])).toBe(false);
    expect(turnsOf(fixed.slice(1)).map(({ chat }) => chat)).toEqual(turnsOf(free.slice(1)).map(({ chat }) => chat));
  });
});

describe("conversations come back as they went in", () => {
  it("whichever messages they share, in whatever order", { tags: "numbers" }, async () => {
    const journal = journalAt(newFile());
    let run = 0;
    const shared = Array.from({ length: 7 }, (_, place) => unchanging(turn(place)));
    const place = fc.integer({ min: 0, max: 6 });
    const messages = fc.array(
      fc.oneof(
        place.map(turn),
        place.map((at) => shared[at] as Json),
      ),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(messages, { maxLength: 20 }), fc.nat({ max: 20 }), async (chats, from) => {
        const runId = `run ${(run += 1)}`;
        const events = chats.map((each, seq) => asked(runId, seq, { messages: each, tools: [] }));
        await written(journal, runId, events);
        expect((await readOut(journal, runId, from)).events).toEqual(events.slice(from));
      }),
      { numRuns: tries(14, 160) },
    );
  });

  it("more conversations at once than a reader keeps, taking turns", async () => {
    const events: RunEvent[] = [];
    for (let n = 1; n < 4; n += 1) {
      for (let role = 0; role < 100; role += 1) {
        const messages = Array.from({ length: n }, (_, place) => ({ role: "user", content: `role ${role} says ${place}` }));
        events.push(asked("a", events.length, { messages }));
      }
    }
    const journal = journalAt(newFile());
    await written(journal, "a", events);
    expect(await readOut(journal, "a")).toEqual({ events, error: undefined });
  });
});

describe("what a role asks a model", () => {
  it("is taken out of its event: this is where the messages of a real question stand", async () => {
    const file = newFile();
    const journal = journalAt(file);
    const question = `What is ${"very ".repeat(100)}long?`;
    const action = defineAction({ name: "Answer", run: (ctx) => ctx.ask(question, { system: "Be brief." }) });
    const role = defineRole({ name: "Answerer", actions: [action] });
    const team = new Team({ roles: [role], model: scriptedModel(["Life."]), journal, seed: 1 });
    const run = team.run("go", { id: "r" });
    const { status, output } = await run.result;
    expect({ status, output: output?.content }).toEqual({ status: "finished", output: "Life." });
    const db = await connection(file);
    const bodies = db.all("SELECT CAST(body AS BLOB) FROM events").map(([body]) => String(body));
    const texts = db.all("SELECT CAST(body AS BLOB) FROM chat_messages").map(([body]) => String(body));
    db.close();
    expect(bodies.filter((body) => body.includes(question))).toEqual([]);
    expect(texts.filter((text) => text.includes(question)).length).toBe(1);
    const { events } = await readOut(journal, "r");
    expect(JSON.stringify(events.find(({ type }) => type === "step.started"))).toContain(question);
    const seen: RunEvent[] = [];
    for await (const event of run) seen.push(event);
    expect(events).toEqual(seen);
  });
});
