import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import { ModelError, TroupeError } from "../../src/kernel/errors.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { ChatChunk, ChatModel } from "../../src/model/chat-model.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";

const Fits = z.object({ n: z.int() });

/** The fate of one question: the number of pieces after which each of its tries breaks, and whether its first reply fits. */
interface Fate {
  readonly breaks: readonly number[];
  readonly shape: "text" | "fits" | "fits later" | "never fits";
}

const fates = fc.array(
  fc.record({
    breaks: fc.array(fc.nat({ max: 3 }), { maxLength: 3 }),
    shape: fc.constantFrom("text", "fits", "fits later", "never fits") as fc.Arbitrary<Fate["shape"]>,
  }),
  { minLength: 1, maxLength: 4 },
);

/** Streams what each question's fate says, a macrotask between two pieces, so that parallel answers are interleaved. */
function breakingModel(all: readonly Fate[]): ChatModel {
  const tries = new Map<string, number>();
  return {
    id: "breaking",
    price: { input: 0, output: 0 },
    chat: () => Promise.reject(new TroupeError("TEST", "this model streams")),
    async *stream({ messages }): AsyncGenerator<ChatChunk> {
      const n = Number(/question (\d+)/.exec(messages.map(({ content }) => content).join(" "))?.[1]);
      const fate = all[n] ?? { breaks: [], shape: "text" };
      const isSecond = messages.some(({ role }) => role === "assistant");
      const nth = tries.get(`${n} ${isSecond}`) ?? 0;
      tries.set(`${n} ${isSecond}`, nth + 1);
      const fits = fate.shape === "fits" || (fate.shape === "fits later" && isSecond);
      const pieces = fate.shape === "text" || !fits ? ["some ", "words ", `of ${n}`] : ['{"n"', ": ", `${n}}`];
      const breaksAt = isSecond ? undefined : fate.breaks[nth];
      for (const [index, content] of pieces.entries()) {
        if (index === breaksAt) break;
        await new Promise((resolve) => void setImmediate(resolve));
        yield { content };
      }
      if (breaksAt !== undefined)
        throw new ModelError("MODEL_CUT", "Expected more, got an end.", { retryable: true, data: { retryAfterMs: 0 } });
      yield { finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1 } };
    },
  };
}

function asker(all: readonly Fate[]) {
  return answering("Ann", async (rc) => {
    const asked = all.map(async ({ shape }, n) => {
      const prompt = `question ${n}`;
      return shape === "text" ? rc.ask(prompt) : JSON.stringify(await rc.ask(prompt, { schema: Fits }));
    });
    const answers = await Promise.allSettled(asked);
    return rc.message(answers.map((answer) => (answer.status === "fulfilled" ? answer.value : "-")).join("|"));
  });
}

function nameOf(act: string, key: string, nth: number): string {
  return `${act} ${key} ${nth}`;
}

/** The text that a listener that follows the rule has of each try in the end. */
async function assembled(all: readonly Fate[]): Promise<{ told: ReadonlyMap<string, string>; events: readonly RunEvent[] }> {
  const told = new Map<string, string>();
  const journal = memoryJournal();
  const run = new Team({ seed: "s", model: breakingModel(all), journal, roles: [asker(all)] }).run("go", { id: "r" });
  run.on("model.delta", ({ act, step, try: nth, at, text }) => {
    const name = nameOf(act, step, nth);
    expect(at).toBe(told.get(name)?.length ?? 0);
    told.set(name, (told.get(name) ?? "") + text);
  });
  run.on("model.void", ({ act, step, try: nth }) => void told.delete(nameOf(act, step, nth)));
  await run.result;
  return { told, events: await eventsOf(journal, "r") };
}

test("an answer from the record is told whole, under the activation, step and try that gave it", async () => {
  const all: readonly Fate[] = [{ breaks: [1, 2], shape: "text" }];
  const { told, events } = await assembled(all);
  const cut = events.findIndex((event) => event.type === "act.ended");
  const again: [string, string][] = [];
  const run = new Team({
    seed: "s",
    model: breakingModel(all),
    journal: await journalWith("r", events.slice(0, cut)),
    roles: [asker(all)],
  });
  const resumed = run.resume("r");
  resumed.on("model.delta", ({ act, step, try: nth, text }) => void again.push([nameOf(act, step, nth), text]));
  await resumed.result;
  expect(again).toEqual([...told]);
  expect(again).toEqual([[expect.stringMatching(/^Ann#0~1 \S+ 3$/), "some words of 0"]]);
});

/** The recorded answers that somebody got: of a question with a schema, those that fit it. */
function answersIn(events: readonly RunEvent[], all: readonly Fate[]): ReadonlyMap<string, string> {
  return new Map(
    events.flatMap((event) => {
      if (event.type !== "step.ended" || !event.ok) return [];
      const { content } = event.value as { content: string };
      const n = Number(/(\d+)\D*$/.exec(content)?.[1]);
      return all[n]?.shape !== "text" && !content.startsWith("{") ? [] : [[nameOf(event.act, event.key, event.try), content] as const];
    }),
  );
}

test("the text told of each try, without what was taken back, is the recorded answer", async () => {
  await fc.assert(
    fc.asyncProperty(fates, async (all) => {
      const { told, events } = await assembled(all);
      const answers = answersIn(events, all);
      expect(Object.fromEntries(told)).toEqual(Object.fromEntries(answers));
      if (all.some(({ shape, breaks }) => shape !== "never fits" && breaks.length < 4)) expect(answers.size).toBeGreaterThan(0);
    }),
    { numRuns: 60 },
  );
});
