import { z } from "zod";
import { defineAction } from "../../src/action/action.ts";
import type { ActionContext } from "../../src/action/context.ts";
import type { StepDoor } from "../../src/kernel/step.ts";
import { UserRequirement } from "../../src/message/address.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import type { World } from "./world.ts";

/**
 * Five roles that use everything a role can use: joins, state, a plan, bounded memory, `by_order`, parallel, nested and repeated steps, a
 * retry after a failed step and one after a failed body, `<self>`, a dead letter, random numbers and ids. What they do depends on their
 * news and their answers alone.
 */
export function company(world: World): Role[] {
  const Draft = defineAction({
    name: "Draft",
    run: async (ctx) => {
      const parts = await Promise.all(
        ["intro", "body", "end"].map(async (part) => {
          const sketch = await ctx.step(`sketch ${part}`, {}, world.effect(`sketch ${part}`));
          return ctx.step(`polish ${part}`, { sketch }, world.effect(`polish ${part}`));
        }),
      );
      ctx.state["drafts"] = Number(ctx.state["drafts"] ?? 0) + 1;
      return `${parts.join("")} ${Math.floor(ctx.random() * 1000)} ${ctx.id()}`;
    },
  });
  const Review = defineAction({
    name: "Review",
    output: z.object({ note: z.string() }),
    needs: [Draft],
    run: async (ctx) => {
      await unsteadyStart(ctx as unknown as ActionContext, world);
      const draft = ctx.inputs[0].content;
      const note = await ctx.step("review", { draft }, async (door: StepDoor) => {
        const checks = ["style", "facts"].map((name) => door.step({ kind: "step", name, request: { draft } }, world.effect(name)));
        return (await Promise.all(checks)).join("");
      });
      ctx.publish(ctx.message("to nobody", { sendTo: "Archive" }));
      return { note };
    },
  });
  const Publish = defineAction({
    name: "Publish",
    needs: [Draft, Review],
    run: async (ctx) => {
      const [draft, review] = ctx.inputs;
      await ctx.step("write", { text: draft.content }, world.effect("write"), { again: true });
      return `published ${draft.content} with ${review.instructContent?.note}`;
    },
  });
  return [
    defineRole({ name: "Editor", reactions: [{ on: [Draft, Review], do: Publish }] }),
    defineRole({ name: "Writer", reactions: [{ on: UserRequirement, do: Draft }] }),
    defineRole({ name: "Critic", reactions: [{ on: Draft, do: Review }], onFailure: retry(2) }),
    clerk(world),
    gardener(world, Publish),
  ];
}

/** Fails the first attempt by a step and the second by its answer; the third goes on. */
async function unsteadyStart(ctx: ActionContext, world: World): Promise<void> {
  await ctx.step("warm up", {}, world.effect("warm up"));
  const unsteady = world.answering("unsteady", (before) => {
    if (before === 0) throw new Error("the connection was lost");
    return "there";
  });
  await ctx.step("unsteady", {}, unsteady);
  const mood = await ctx.step(
    "mood",
    {},
    world.answering("mood", (before) => (before === 0 ? "bad" : "good")),
  );
  if (mood === "bad") throw new Error("such an answer cannot be worked with");
}

/** Counts to three by writing to itself, and forgets what is old. */
function clerk(world: World): Role {
  const Count = defineAction({
    name: "Count",
    run: async (ctx) => {
      const count = Number(ctx.state["count"] ?? 0) + 1;
      ctx.state["count"] = count;
      return `count ${await ctx.step(`count ${count}`, {}, world.effect(`count ${count}`))}`;
    },
  });
  const Tell = defineAction({
    name: "Tell",
    needs: [Count],
    run: (ctx) => `${ctx.inputs[0].content} of ${ctx.memory.size}`,
    sendTo: (ctx) => (Number(ctx.state["count"]) < 3 ? ["<self>"] : ["<all>"]),
  });
  return defineRole({ name: "Clerk", reactMode: "by_order", actions: [Count, Tell], memoryLimit: 4 });
}

/** Works through a plan. */
function gardener(world: World, after: { readonly name: string }): Role {
  const Dig = defineAction({ name: "Dig", run: (ctx) => ctx.step(`dig ${ctx.text}`, {}, world.effect(`dig ${ctx.text}`)) });
  return defineRole({
    name: "Gardener",
    reactMode: "plan_and_act",
    watch: [after],
    actions: [Dig],
    planTasks: () => [
      { id: "b", dependsOn: ["a"], instruction: "deeper" },
      { id: "a", instruction: "deep" },
    ],
  });
}
