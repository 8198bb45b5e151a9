import fc from "fast-check";
import type { RoleContext } from "../../src/role/context.ts";
import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement } from "../../src/message/address.ts";
import type { Message } from "../../src/message/message.ts";
import { type FailurePolicy, retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { brief, stepLabel, type Outside } from "./outside.ts";

/** The work of a role on a message. */
type Work =
  | "step"
  | "model"
  | "parallel"
  | "nested"
  | "flaky"
  | "left alone"
  | "repeated"
  | "handled"
  | "handled inside"
  | "doubted"
  | "twice"
  | "remembered"
  | "noted"
  | "aside"
  | "later";

interface RoleSketch {
  readonly hearsIdea: boolean;
  readonly work: readonly Work[];
  /** Whom it tells: names of roles and routing words. */
  readonly tells: readonly string[];
  /** The priority of what it tells. */
  readonly priority?: number | undefined;
  /** The policy for its failure, under rounds. */
  readonly policy: FailurePolicy;
}

/** A team as fast-check makes it up. */
export interface TeamSketch {
  readonly roles: readonly RoleSketch[];
  /** The number of messages that follow one another. */
  readonly depth: number;
}

const work: fc.Arbitrary<Work> = fc.constantFrom(
  "step",
  "model",
  "parallel",
  "nested",
  "flaky",
  "left alone",
  "repeated",
  "handled",
  "handled inside",
  "doubted",
  "twice",
  "remembered",
  "noted",
  "aside",
  "later",
);

/** Work that depends on what was heard together, or on its order. */
const IN_ORDER: ReadonlySet<Work> = new Set<Work>(["doubted", "remembered", "noted"]);

/** Mostly one that never gives up. None that stops the run: whoever resumes that has mended something, and wants another end. */
const policy: fc.Arbitrary<FailurePolicy> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(retry(20)) },
  { weight: 2, arbitrary: fc.constantFrom<FailurePolicy>("skip", retry(1, "skip"), retry(2, "skip")) },
);

/** Mostly one, so that few teams grow large. */
function few<T>(of: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.oneof(
    { weight: 3, arbitrary: of.map((one) => [one]) },
    { weight: 1, arbitrary: fc.uniqueArray(of, { minLength: 2, maxLength: 2 }) },
  );
}

const address: fc.Arbitrary<string> = fc.constantFrom("R0", "R1", "R2", "R3", ROUTE_TO_ALL, ROUTE_TO_SELF, ROUTE_TO_NONE);

/** Teams of two to four roles, with random routes among them and random work. A role that is not there is a dead letter. */
export const teamSketch: fc.Arbitrary<TeamSketch> = fc.record({
  roles: fc.array(
    fc.record({
      hearsIdea: fc.boolean(),
      work: fc.array(work, { maxLength: 2 }),
      tells: few(address),
      priority: fc.constantFrom(undefined, undefined, -1, 2),
      policy,
    }),
    { minLength: 2, maxLength: 4 },
  ),
  depth: fc.integer({ min: 1, max: 2 }),
});

/**
 * The roles of a sketch. What one says depends on the message it hears and on nothing else.
 *
 * @param salted what it says and asks depends on its random numbers and ids too, and so on what it heard together
 */
export function rolesOf({ roles, depth }: TeamSketch, outside: Outside, salted: boolean): Role[] {
  const names = roles.map((_, index) => `R${index}`);
  return roles.map((sketch, index) => {
    const name = `R${index}`;
    const hearsIdea = sketch.hearsIdea || index === 0;
    return defineRole({
      name,
      watch: [...names, ...(hearsIdea ? [UserRequirement] : [])],
      onFailure: salted ? sketch.policy : retry(20),
      react: async (rc) => {
        const said: Message[] = [];
        for (const news of rc.news)
          said.push(...(await answers(rc, news, { ...sketch, work: possible(sketch.work, salted), depth, outside, salted })));
        rc.state["heard"] = Number(rc.state["heard"] ?? 0) + rc.news.length;
        return said;
      },
    });
  });
}

/** A step that fails in every attempt keeps the answers of the attempt, so that a doubted one comes again and again. */
function possible(wanted: readonly Work[], salted: boolean): readonly Work[] {
  const kept = salted ? wanted : wanted.filter((kind) => !IN_ORDER.has(kind));
  return kept.includes("handled") ? kept.filter((kind) => kind !== "doubted") : kept;
}

interface Way extends RoleSketch {
  readonly depth: number;
  readonly outside: Outside;
  readonly salted: boolean;
}

async function answers(rc: RoleContext, news: Message, way: Way): Promise<readonly Message[]> {
  const salt = way.salted ? `${rc.random()} ${rc.id()}` : "";
  const found: string[] = [];
  for (const [nth, kind] of way.work.entries())
    found.push(await working[kind](rc, way.outside, `${rc.name} ${nth} ${brief(news.content)} ${salt}`));
  const left = Number(news.metadata["left"] ?? way.depth);
  if (left === 0) return [];
  const content = `${rc.name} heard ${brief(news.content)} ${salt} and found ${found.join(", ")}`;
  return way.tells.map((sendTo) =>
    rc.message(`${content} for ${sendTo}`, { sendTo, priority: way.priority, metadata: { left: left - 1 } }),
  );
}

const working: Readonly<Record<Work, (rc: RoleContext, outside: Outside, what: string) => Promise<string>>> = {
  step: (rc, outside, what) => outside.step(rc, "do", { what }, () => `did ${brief(what)}`),
  model: (rc, _world, what) => rc.ask(what),
  async parallel(rc, outside, what) {
    const pipeline = async (nth: number): Promise<string> => {
      const first = await outside.step(rc, "start", { what, nth }, () => nth);
      return outside.step(rc, "go on", { what, first }, () => `part ${first}`);
    };
    return (await Promise.all([pipeline(0), pipeline(1)])).join("+");
  },
  nested: (rc, outside, what) =>
    rc.step("outer", { what }, async (door) => {
      const inner = (part: string): Promise<string> => outside.inner(door, "inner", { what, part }, () => `${part}'`);
      const [left, right] = await Promise.all([inner("left").then(inner), inner("right")]);
      return outside.happen(stepLabel("outer", { what }), () => `${left} in ${right}`);
    }),
  flaky: (rc, outside, what) =>
    outside.step(rc, "dare", { what }, (before) => {
      if (before === 0) throw new Error("not today");
      return "dared";
    }),
  async "left alone"(rc, outside, what) {
    void outside.step(rc, "leave", { what }, () => null);
    return "left";
  },
  repeated: (rc, outside, what) => outside.step(rc, "again", { what }, () => "written", { again: true }),
  handled: (rc, outside, what) => told(outside.step(rc, "refuse", { what }, refusal)),
  "handled inside": (rc, outside, what) =>
    rc.step("brave", { what }, async (door) => {
      const inside = await told(outside.inner(door, "refuse", { what }, refusal));
      return outside.happen(stepLabel("brave", { what }), () => inside);
    }),
  /** The same question with another answer each time. */
  async twice(rc, outside, what) {
    const ask = (): Promise<number> => outside.step(rc, "repeat", { what }, (before) => before);
    return `${await ask()} then ${await ask()}`;
  },
  /** Its first answer is at fault: the activation must pay for another. */
  async doubted(rc, outside, what) {
    const answer = await outside.step(rc, "doubt", { what }, (before) => before);
    if (answer === 0) throw new Error("that cannot be");
    return `answer ${answer}`;
  },
  async remembered(rc, _outside, what) {
    rc.memory.add(rc.message(`a note on ${brief(what)}`, { sendTo: ROUTE_TO_NONE }));
    if (rc.memory.size > 3) rc.memory.deleteNewest();
    return `remembers ${rc.memory.size}`;
  },
  async noted(rc) {
    rc.workingMemory.addBatch(rc.news);
    return `noted ${rc.workingMemory.size}`;
  },
  /** With nothing to follow from it, as an aside. */
  async later(rc, _outside, what) {
    const sendTo = rc.name === "R0" ? ROUTE_TO_NONE : "R0";
    const { recipients } = rc.publishAfter(3, rc.message(`later of ${brief(what)}`, { sendTo, metadata: { left: 0 } }));
    return `later to ${recipients.join()}`;
  },
  /** Not to itself: it would speak of that, too. */
  async aside(rc, _outside, what) {
    const sendTo = rc.name === "R0" ? ROUTE_TO_NONE : "R0";
    const { recipients } = rc.publish(rc.message(`aside of ${brief(what)}`, { sendTo, metadata: { left: 0 } }));
    return `aside to ${recipients.join()}`;
  },
};

function refusal(): string {
  throw new RangeError("never");
}

function told(refused: Promise<string>): Promise<string> {
  return refused.catch((error: Error) => `${error.name}: ${error.message}`);
}
