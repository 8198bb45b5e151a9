import { z } from "zod";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { ROUTE_TO_ALL, UserRequirement } from "../../src/message/address.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { brief, stepLabel, stillClock, type Outside } from "./outside.ts";

/** The amount of work of the roles. */
export interface Size {
  /** Parallel pipelines of the smith, and the steps of each. */
  readonly pipelines: number;
  readonly steps: number;
  /** The number of times that the company goes around. */
  readonly laps: number;
}

/** The idea of a run. */
export const idea = "a bridge";

/**
 * A company in which everything happens that a run can record: actions by order, a plan, a join with typed state, parallel model calls,
 * parallel pipelines of steps, steps inside steps, a step that fails, answers at fault, a person who is asked, effects that are repeated.
 */
export function sixRoles(outside: Outside, size: Size): Role[] {
  const digging = dig(outside);
  const forging = forge(outside, size);
  const weighing = weigh(outside, size);
  return [
    scout(),
    smith(forging),
    miner(digging),
    planner(outside),
    judge(weighing, [sketch, forging, digging], size),
    clerk(outside, size),
  ];
}

/** A team of these roles that is the same in every life. */
export function teamOf(outside: Outside, roles: Iterable<Role>, options: TeamOptions = {}): Team {
  const human: TeamOptions["human"] = ({ role, text }) => outside.happen(stepLabel("ask", { role, question: text }), () => "yes");
  return new Team({ seed: "seven", clock: stillClock, model: outside.model(), human, roles, ...options });
}

const look = defineAction({ name: "Look", run: (ctx) => ctx.ask(`look at ${ctx.text} from ${ctx.random()}`) });

const sketch = defineAction({
  name: "Sketch",
  run: async (ctx) => {
    const views = await Promise.all(["above", "below", "aside"].map((side) => ctx.ask(`sketch ${ctx.text} from ${side}, ${ctx.id()}`)));
    return `${views.join(" | ")} ${ctx.random()}`;
  },
});

function scout(): Role {
  return defineRole({ name: "Scout", watch: [UserRequirement, "Weigh"], actions: [look, sketch], reactMode: "by_order" });
}

/** Pipelines of steps side by side, each step named by what the one before gave. */
function forge(outside: Outside, size: Size): Action {
  const pipeline = async (ctx: ActionContext, nth: number): Promise<string> => {
    let part = `${nth} of ${ctx.news.length}`;
    for (let i = 0; i < size.steps; i += 1) {
      part = await outside.step(ctx, "hammer", { part, chance: ctx.random() }, () => `${part}.${i}`);
    }
    return part;
  };
  return defineAction({
    name: "Forge",
    run: async (ctx) => (await Promise.all(Array.from({ length: size.pipelines }, (_, nth) => pipeline(ctx, nth)))).join(" "),
  });
}

function smith(forging: Action): Role {
  return defineRole({ name: "Smith", reactions: [{ on: [UserRequirement, "Weigh"], do: forging }] });
}

/** Steps inside a step, one of them inside another; and one that fails at first. */
function dig(outside: Outside): Action {
  return defineAction({
    name: "Dig",
    run: async (ctx) => {
      const depth = ctx.memory.size;
      const seam = await ctx.step("shaft", { depth }, async (door) => {
        const found = await door.step({ kind: "step", name: "gallery", request: { depth } }, async (below) => {
          const both = `${await outside.inner(below, "pick", { depth }, () => "coal")} and ${await outside.inner(below, "pan", { depth }, () => "gold")}`;
          return outside.happen(stepLabel("gallery", { depth }), () => both);
        });
        return outside.happen(stepLabel("shaft", { depth }), () => found);
      });
      const light = outside.step(ctx, "lamp", { depth }, () => "light");
      const air = await outside.step(ctx, "pump", { depth }, (before) => {
        if (before === 0) throw new Error("the pump broke");
        return "air";
      });
      return `${seam}, ${await light}, ${air}`;
    },
  });
}

function miner(digging: Action): Role {
  return defineRole({ name: "Miner", reactions: [{ on: [UserRequirement, "Weigh"], do: digging }], onFailure: retry(2) });
}

/** A plan whose tasks need each other and are done by different actions. */
function planner(outside: Outside): Role {
  const measure = defineAction({ name: "Measure", run: (ctx) => ctx.ask(`measure ${ctx.text}`) });
  const cut = defineAction({
    name: "Cut",
    run: (ctx) =>
      outside.step(ctx, "saw", { task: ctx.text, done: ctx.plan.finishedTasks.length }, () => `cut ${ctx.text} ${ctx.workingMemory.size}`),
  });
  return defineRole({
    name: "Planner",
    actions: [measure, cut],
    reactMode: "plan_and_act",
    planTasks: async (rc) => [
      { id: "end", dependsOn: ["one", "two"], instruction: "the end", type: "Measure" },
      { id: "one", instruction: await outside.step(rc, "first", {}, () => "the beam"), type: "Cut" },
      { id: "two", dependsOn: ["one"], instruction: "the plank", type: "Cut" },
    ],
  });
}

/** Waits for all three, and finds its first answer at fault. */
function weigh(outside: Outside, { laps }: Size): Action {
  return defineAction({
    name: "Weigh",
    needs: [sketch],
    sendTo: (ctx) => (Number(ctx.state["laps"]) < laps ? [ROUTE_TO_ALL] : ["Clerk"]),
    run: async (ctx) => {
      ctx.state["laps"] = Number(ctx.state["laps"]) + 1;
      const weight = await outside.step(ctx, "scale", { laps: Number(ctx.state["laps"]) }, (before) => before);
      if (weight === 0) throw new Error("nothing weighs nothing");
      return `${weight} after ${brief(ctx.inputs[0].content)} and ${await ctx.ask(`judge ${ctx.text}`)}`;
    },
  });
}

function judge(weighing: Action, needs: readonly Action[], { laps }: Size): Role {
  const state = z.object({ laps: z.number().max(laps).default(0) });
  return defineRole({ name: "Judge", state, reactions: [{ on: needs, needs, do: weighing }], onFailure: retry(1) });
}

/** Hears everything, keeps count of it, writes it down, and at the end asks a person. */
function clerk(outside: Outside, { laps }: Size): Role {
  return defineRole({
    name: "Clerk",
    observeAll: true,
    react: async (rc) => {
      const heard = Number(rc.state["heard"] ?? 0) + rc.news.length;
      rc.state["heard"] = heard;
      await outside.step(rc, "write", { heard }, () => null, { again: true });
      if (!rc.news.some((message) => message.sendTo.includes("Clerk"))) return undefined;
      const answer = await rc.human.ask(`Is it good after ${laps} laps?`);
      return rc.message(`the person says ${answer} to ${heard}`, { causeBy: "File" });
    },
  });
}
