import { describe, expect, it } from "vitest";
import { type ChatModel, createMessage, defineRole, memoryJournal, type Role, type RunResult, Team } from "../../../src/index.ts";
import { attribute } from "../../../src/research/index.ts";
import { policyModel } from "../../../src/research/policy/policy-model.ts";
import { randomStream } from "../../../src/kernel/random.ts";
import { countingModel } from "./counting-model.ts";

/** A chain of workers: each copies the number of the last one, adds one, and errs where the model says so. */
function chain(length: number, errs: (worker: number, seed: string) => boolean) {
  const journal = memoryJournal();
  const calls = countingModel();
  const name = (n: number): string => `w${n}`;
  const model = (seed: string): ChatModel =>
    calls.count(
      policyModel({
        seed,
        answer: ({ messages }) => {
          const [worker = 0, number = 0] = String(messages.at(-1)?.content).split(" ").map(Number);
          return String(number + (errs(worker, seed) ? 100 : 1));
        },
      }),
    );
  const roles: readonly Role[] = Array.from({ length }, (_, n) =>
    defineRole({
      name: name(n),
      watch: [],
      react: async (rc) => {
        const answer = await rc.ask(`${n} ${rc.news[0]?.content}`);
        return rc.message(answer, n + 1 < length ? { sendTo: name(n + 1) } : {});
      },
    }),
  );
  const team = (seed: string): Team => new Team({ roles, journal, model: model(seed), seed: 1 });
  const score = ({ output }: RunResult): boolean => output?.content === String(length);
  return { team, score, calls, begin: createMessage("0", { sendTo: name(0) }) };
}

describe("attribute", () => {
  it("ForkAnswers.F6 names the turn that decided the outcome, and pays for what follows from it alone", async () => {
    const { team, score, calls, begin } = chain(5, (worker, seed) => worker === 2 && seed === "first");
    const run = await team("first").run(begin).result;
    expect(score(run)).toBe(false);
    calls.reset();
    const { base, effects, byRole } = await attribute({ team, runId: run.runId, score, samples: 3 });
    expect([base, effects[0]?.act, effects[0]?.effect, effects[0]?.score.estimate]).toEqual([0, "w2#0", 1, 1]);
    expect(effects.slice(1).every(({ effect }) => effect <= 0)).toBe(true);
    expect(byRole["w2"]).toMatchObject({ effect: 1 });
    // A turn with the same answer as before costs one call; that of w2 changes what w3 and w4 read.
    expect(calls.made).toBe(3 * (1 + 1 + 3 + 1 + 1));
  });

  it("pays nothing again when it is repeated", async () => {
    const { team, score, calls, begin } = chain(4, (worker, seed) => worker === 1 && seed === "first");
    const { runId } = await team("first").run(begin).result;
    const options = { team, runId, score, samples: 2 };
    const first = await attribute(options);
    calls.reset();
    expect(await attribute(options)).toEqual(first);
    expect(calls.made).toBe(0);
  });

  it("leaves messages out, replaces them, and gives a turn another prompt", async () => {
    const { team, score, begin } = chain(3, (worker, seed) => worker === 1 && seed === "first");
    const { runId } = await team("first").run(begin).result;
    const dropped = await attribute({ team, runId, score, samples: 1, interventions: "messages" });
    expect(dropped.effects.map(({ score: { estimate } }) => estimate)).toEqual([0, 0, 0]);
    const seq = dropped.effects.find(({ role }) => role === "w1")?.intervention;
    const message = { ...(seq as { kind: "message"; seq: number }), content: "2" };
    const prompt = { kind: "prompt", name: "right", act: "w1#0", team } as const;
    const { effects } = await attribute({
      team,
      runId,
      score,
      samples: 1,
      interventions: [message, prompt, { kind: "turn", act: "w0#0" }],
    });
    expect(effects.map(({ intervention: { kind }, effect }) => [kind, effect])).toEqual([
      ["message", 1],
      ["prompt", 1],
      ["turn", 0],
    ]);
  });

  it("refuses what the run does not have, and a score that is no number", async () => {
    const { team, score, begin } = chain(2, () => false);
    const { runId } = await team("first").run(begin).result;
    const refused = { code: "ATTRIBUTE_INVALID" };
    await expect(attribute({ team, runId, score, interventions: [{ kind: "turn", act: "w9#0" }] })).rejects.toMatchObject(refused);
    for (const message of [{ seq: 0 }, { seq: 1, nth: 1 }, { seq: 2 }, { seq: 99 }])
      await expect(attribute({ team, runId, score, interventions: [{ kind: "message", ...message }] })).rejects.toMatchObject(refused);
    await expect(attribute({ team, runId, score: () => Number.NaN })).rejects.toMatchObject(refused);
    await expect(attribute({ team, runId: "other", score })).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await expect(attribute({ team, runId, score, sample: 3 } as never)).rejects.toThrow(/samples/);
  });

  it("does no turn again that would end in the same way: of a step role that draws nothing", async () => {
    const calls = countingModel();
    const journal = memoryJournal();
    const passing = (name: string, to: string, draws: boolean): Role =>
      defineRole({ name, watch: [], step: (_s, { content }, out) => void out.say(draws ? `${out.random()}` : content, { sendTo: to }) });
    const asking = (name: string, to?: string): Role =>
      defineRole({
        name,
        watch: [],
        react: async (rc) => rc.message(await rc.ask(`${rc.random()}`), to === undefined ? {} : { sendTo: to }),
      });
    const roles = [
      passing("Ann", "Bob", false),
      asking("Bob", "Cid"),
      passing("Cid", "Dot", true),
      passing("Dot", "Eve", false),
      asking("Eve"),
    ];
    const model = calls.count(policyModel({ answer: (_request, random) => `${random()}` }));
    const team = (): Team => new Team({ roles, journal, model, seed: 1 });
    const { runId } = await team().run(createMessage("go", { sendTo: "Ann" })).result;
    calls.reset();
    const found = await attribute({ team, runId, score: ({ output }) => Number(output?.content), samples: 3, most: 3 });
    expect([found.untried, new Set(found.effects.map(({ act }) => act))]).toEqual([0, new Set(["Bob#0", "Cid#0", "Eve#0"])]);
    expect(found.effects.every(({ score }) => score.method === "t" && score.low < score.estimate)).toBe(true);
    // Two calls after the turn of Bob, and one after that of Cid or Eve, in each sample.
    expect(calls.made).toBe(3 * (2 + 1 + 1));
  });

  it("counts the interventions beyond its limit", async () => {
    const { team, score, begin } = chain(4, () => false);
    const { runId } = await team("first").run(begin).result;
    expect(await attribute({ team, runId, score, samples: 1, most: 1 })).toMatchObject({ untried: 3, effects: [{}] });
  });
});

/** A team of a random shape in which one turn of one role goes wrong; most answers of the others vary without harm. */
function planted(seed: number) {
  const random = randomStream(String(seed), "planted");
  const pick = (n: number): number => Math.floor(random() * n);
  const layers = 3 + pick(3);
  const width = 1 + pick(3);
  const nameAt = (layer: number, n: number): string => `r${layer}x${n}`;
  const culprit = nameAt(1 + pick(layers - 1), pick(width));
  const journal = memoryJournal();
  const roles = Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: width }, (_row, n) =>
      defineRole({
        name: nameAt(layer, n),
        watch: [],
        react: async (rc) => {
          const spoiled = rc.news.some(({ content }) => content.includes("spoiled"));
          const answer = await rc.ask(`${rc.name} after ${rc.news.map(({ content }) => content).join(", ")}`);
          const content = spoiled ? `spoiled ${answer}` : answer;
          const next = Array.from({ length: width }, (_all, one) => nameAt(layer + 1, one));
          return rc.message(content, layer + 1 < layers ? { sendTo: next } : {});
        },
      }),
    ),
  ).flat();
  const team = (sample: string): Team =>
    new Team({
      journal,
      seed: 1,
      roles,
      model: policyModel({
        seed: sample,
        answer: ({ messages }, draw) => {
          const asked = String(messages.at(-1)?.content);
          const style = Math.floor(draw() * 3);
          return asked.includes(`${culprit} after`) && sample === "first" ? `spoiled ${style}` : `fine ${style}`;
        },
      }),
    });
  const begin = createMessage("go", { sendTo: Array.from({ length: width }, (_, n) => nameAt(0, n)) });
  const score = ({ messages }: RunResult): boolean => !messages.slice(-width).some(({ content }) => content.includes("spoiled"));
  return { team, begin, score, culprit };
}

describe("causes planted in teams", () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))("are named first: team %i", async (seed) => {
    const { team, begin, score, culprit } = planted(seed);
    const { runId } = await team("first").run(begin).result;
    const { effects } = await attribute({ team, runId, score, samples: 2 });
    expect(effects[0]?.role).toBe(culprit);
  });
});
