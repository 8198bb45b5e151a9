import fc from "fast-check";
import type { RoleContext } from "../../src/action/context.ts";
import { ROUTE_TO_ALL, ROUTE_TO_NONE, ROUTE_TO_SELF, UserRequirement } from "../../src/message/address.ts";
import type { Message } from "../../src/message/message.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { brief, label, type World } from "./world.ts";

/** What a role does for a message. */
type Work = "step" | "model" | "parallel" | "nested" | "flaky" | "left alone" | "repeated" | "handled";

interface RoleSketch {
  readonly hearsIdea: boolean;
  readonly work: readonly Work[];
  /** Whom it tells: names of roles and routing words. */
  readonly tells: readonly string[];
}

/** A team as fast-check makes it up. */
export interface TeamSketch {
  readonly roles: readonly RoleSketch[];
  /** How many messages follow one another. */
  readonly depth: number;
}

const work: fc.Arbitrary<Work> = fc.constantFrom("step", "model", "parallel", "nested", "flaky", "left alone", "repeated", "handled");
const address: fc.Arbitrary<string> = fc.constantFrom("R0", "R1", "R2", "R3", ROUTE_TO_ALL, ROUTE_TO_SELF, ROUTE_TO_NONE);

/** Teams of two to four roles, with random routes among them and random work. A role that is not there is a dead letter. */
export const teamSketch: fc.Arbitrary<TeamSketch> = fc.record({
  roles: fc.array(
    fc.record({
      hearsIdea: fc.boolean(),
      work: fc.array(work, { maxLength: 2 }),
      tells: fc.uniqueArray(address, { minLength: 1, maxLength: 2 }),
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
export function rolesOf({ roles, depth }: TeamSketch, world: World, salted: boolean): Role[] {
  const names = roles.map((_, index) => `R${index}`);
  return roles.map((sketch, index) => {
    const name = `R${index}`;
    const hearsIdea = sketch.hearsIdea || index === 0;
    return defineRole({
      name,
      watch: [...names, ...(hearsIdea ? [UserRequirement] : [])],
      onFailure: retry(20),
      react: async (rc) => {
        const said: Message[] = [];
        for (const news of rc.news) said.push(...(await answers(rc, news, { ...sketch, depth, world, salted })));
        rc.state["heard"] = Number(rc.state["heard"] ?? 0) + rc.news.length;
        return said;
      },
    });
  });
}

interface Way extends RoleSketch {
  readonly depth: number;
  readonly world: World;
  readonly salted: boolean;
}

async function answers(rc: RoleContext, news: Message, way: Way): Promise<readonly Message[]> {
  const salt = way.salted ? `${rc.random()} ${rc.id()}` : "";
  const found: string[] = [];
  for (const [nth, kind] of way.work.entries()) found.push(await working[kind](rc, way.world, `${rc.name} ${nth} ${brief(news.content)} ${salt}`));
  const left = Number(news.metadata["left"] ?? way.depth);
  if (left === 0) return [];
  const content = `${rc.name} heard ${brief(news.content)} ${salt} and found ${found.join(", ")}`;
  return way.tells.map((sendTo) => rc.message(`${content} for ${sendTo}`, { sendTo, metadata: { left: left - 1 } }));
}

const working: Readonly<Record<Work, (rc: RoleContext, world: World, what: string) => Promise<string>>> = {
  step: (rc, world, what) => world.step(rc, "do", { what }, () => `did ${brief(what)}`),
  model: (rc, _world, what) => rc.ask(what),
  async parallel(rc, world, what) {
    const pipeline = async (nth: number): Promise<string> => {
      const first = await world.step(rc, "start", { what, nth }, () => nth);
      return world.step(rc, "go on", { what, first }, () => `part ${first}`);
    };
    return (await Promise.all([pipeline(0), pipeline(1)])).join("+");
  },
  nested: (rc, world, what) =>
    rc.step("outer", { what }, async (door) => {
      const inner = (part: string): Promise<string> => world.inner(door, "inner", { what, part }, () => `${part}'`);
      const [left, right] = await Promise.all([inner("left").then(inner), inner("right")]);
      return world.happen(label("outer", { what }), () => `${left} in ${right}`);
    }),
  flaky: (rc, world, what) =>
    world.step(rc, "dare", { what }, (before) => {
      if (before === 0) throw new Error("not today");
      return "dared";
    }),
  async "left alone"(rc, world, what) {
    void world.step(rc, "leave", { what }, () => null);
    return "left";
  },
  repeated: (rc, world, what) => world.step(rc, "again", { what }, () => "written", { again: true }),
  async handled(rc, world, what) {
    const refused = world.step(rc, "refuse", { what }, (): string => {
      throw new RangeError("never");
    });
    return refused.catch((error: Error) => `${error.name}: ${error.message}`);
  },
};
