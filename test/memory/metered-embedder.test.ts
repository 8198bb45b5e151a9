import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { directSteps, type Attempts, type AttemptOutcome, type StepPort, type StepSpec } from "../../src/kernel/step.ts";
import { hashingEmbedder } from "../../src/memory/embedder.ts";
import { meteredEmbedder } from "../../src/memory/metered-embedder.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { paidEmbedder } from "./role-setup.ts";

interface Watched {
  readonly steps: StepPort;
  readonly specs: StepSpec[];
  readonly holds: number[];
  readonly outcomes: AttemptOutcome[];
}

/** A door that writes down what passes, and hands values out as their JSON. */
function watchedSteps(): Watched {
  const [specs, holds, outcomes]: [StepSpec[], number[], AttemptOutcome[]] = [[], [], []];
  const attempts: Attempts = { open: (hold) => Promise.resolve(void holds.push(hold)), settle: (outcome) => void outcomes.push(outcome) };
  const direct = directSteps(new AbortController().signal);
  const steps: StepPort = {
    step: async (spec, effect) => {
      specs.push(spec);
      return JSON.parse(JSON.stringify(await direct.step(spec, (door) => effect({ ...door, attempts })))) as never;
    },
  };
  return { steps, specs, holds, outcomes };
}

const policy = { clock: simulatedClock(), random: (): number => 0 };

describe("meteredEmbedder", () => {
  it("gives exactly the vectors that came, whatever numbers they are made of", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.float32Array({ minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 5 }), async (vectors) => {
        const { steps } = watchedSteps();
        const embedder = meteredEmbedder({ ...paidEmbedder(), embed: () => Promise.resolve(vectors) }, { steps, policy });
        expect(await embedder.embed(vectors.map(() => "text"))).toEqual(vectors);
      }),
    );
  });

  it("R104 holds what the texts can cost at most and settles what they did; the record has no text in it", async () => {
    const { steps, specs, holds, outcomes } = watchedSteps();
    const embedder = meteredEmbedder(paidEmbedder({ price: { input: 2, output: 0 } }), { steps, policy });
    await embedder.embed(["secret words", "字"], { kind: "query" });
    expect(specs).toMatchObject([{ kind: "embedding", name: "text-embedding-3-small", metered: true }]);
    expect(JSON.stringify(specs)).not.toContain("secret");
    expect([holds, outcomes.map(({ cost, basis }) => [cost, basis])]).toEqual([[expect.any(Number)], [[6, "usage"]]]);
    expect(holds[0]).toBeGreaterThan((12 + 3) * 2);
  });

  it("settles at its hold where no tokens are reported, and at an unknown cost without a price", async () => {
    const silent = { ...paidEmbedder({ price: { input: 1, output: 0 } }), embed: () => Promise.resolve([[1]]) };
    const first = watchedSteps();
    await meteredEmbedder(silent, { steps: first.steps, policy }).embed(["abc"]);
    expect(first.outcomes).toMatchObject([{ cost: first.holds[0], basis: "hold" }]);
    const second = watchedSteps();
    await meteredEmbedder({ ...silent, price: undefined, model: "nobody's" }, { steps: second.steps, policy }).embed(["abc"]);
    expect([second.holds, second.outcomes]).toMatchObject([[0], [{ cost: undefined, basis: "usage" }]]);
  });

  it("one that is free stays as it is", () => {
    const embedder = hashingEmbedder();
    expect(meteredEmbedder(embedder, { steps: watchedSteps().steps, policy })).toBe(embedder);
  });

  it("does not wait for a server without end", async () => {
    const clock = simulatedClock();
    const inner = paidEmbedder();
    inner.before = () => new Promise(() => {});
    const { steps, outcomes } = watchedSteps();
    const asked = meteredEmbedder(inner, { steps, policy: { ...policy, clock, timeouts: { call: 1_000 } } }).embed(["a"]);
    const failed = asked.catch((error: unknown) => error);
    await clock.advance(1_001);
    expect(await failed).toMatchObject({ code: "MODEL_TIMEOUT" });
    expect(outcomes.map(({ basis }) => basis)).toEqual(["hold"]);
  });
});
