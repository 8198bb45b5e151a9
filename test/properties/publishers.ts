import { z } from "zod";
import { defineAction } from "../../src/role/action.ts";
import { ROUTE_TO_ALL, ROUTE_TO_SELF, UserRequirement } from "../../src/message/address.ts";
import { retry } from "../../src/role/failure-policy.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { type Asker, stepLabel, type Outside } from "./outside.ts";

/** The number of editions. In the second a join waits again, and a plan follows another. */
const EDITIONS = 2;

/**
 * A company that says the same in whatever order its roles have their turns, for what each does depends on its news and its answers
 * alone. It joins, plans, acts by order, talks to itself, asks the same twice, publishes besides, takes notes, forgets, answers by a schema, and
 * fails by a step and by an answer.
 */
export function publishers(outside: Outside): Role[] {
  const Draft = defineAction({
    name: "Draft",
    run: async (ctx) => {
      const edition = Number(ctx.state["drafts"] ?? 0) + 1;
      if (edition > EDITIONS) return undefined;
      ctx.state["drafts"] = edition;
      const parts = await Promise.all(
        ["intro", "body", "end"].map(async (part) => {
          const sketch = await outside.step(ctx, "sketch", { part }, () => `sketch of ${part}`);
          return outside.step(ctx, "polish", { sketch }, () => `${sketch}, polished`);
        }),
      );
      return `${parts.join("; ")} ${Math.floor(ctx.random() * 1000)} ${ctx.id()}`;
    },
  });
  const Review = defineAction({
    name: "Review",
    output: z.object({ note: z.string() }),
    needs: [Draft],
    run: async (ctx) => {
      await unsteadyStart(ctx, outside);
      const draft = ctx.inputs[0].content;
      const note = await ctx.step("review", { draft }, async (door) => {
        const checks = ["style", "facts"].map((name) => outside.inner(door, name, { draft }, () => `${name} checked`));
        const checked = (await Promise.all(checks)).join(", ");
        return outside.happen(stepLabel("review", { draft }), () => checked);
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
      await outside.step(ctx, "write", { text: draft.content }, () => null, { again: true });
      ctx.workingMemory.add(draft);
      return `edition ${ctx.workingMemory.size}: ${draft.content} with ${review.instructContent?.note}`;
    },
  });
  return [
    defineRole({ name: "Editor", reactions: [{ on: [Draft, Review], do: Publish }] }),
    defineRole({ name: "Writer", reactions: [{ on: [UserRequirement, Publish], do: Draft }] }),
    defineRole({ name: "Critic", reactions: [{ on: Draft, do: Review }], onFailure: retry(2) }),
    clerk(outside),
    gardener(outside, Publish),
  ];
}

/** Fails the first attempt by a step and the second by its answer; the third goes on. */
async function unsteadyStart(ctx: Asker, outside: Outside): Promise<void> {
  await outside.step(ctx, "warm up", {}, () => null);
  await outside.step(ctx, "warm up", {}, () => null);
  await outside.step(ctx, "connect", {}, (before) => {
    if (before === 0) throw new Error("the connection was lost");
    return null;
  });
  const mood = await outside.step(ctx, "mood", {}, (before) => (before === 0 ? "bad" : "good"));
  if (mood === "bad") throw new Error("such an answer cannot be worked with");
}

/** Counts to three by writing to itself, and forgets what is old. */
function clerk(outside: Outside): Role {
  const Count = defineAction({
    name: "Count",
    run: async (ctx) => {
      const count = Number(ctx.state["count"] ?? 0) + 1;
      ctx.state["count"] = count;
      return outside.step(ctx, "count", { count }, () => `counted ${count}`);
    },
  });
  const Tell = defineAction({
    name: "Tell",
    needs: [Count],
    run: (ctx) => `${ctx.inputs[0].content} of ${ctx.memory.size}`,
    sendTo: (ctx) => (Number(ctx.state["count"]) < 3 ? [ROUTE_TO_SELF] : [ROUTE_TO_ALL]),
  });
  return defineRole({ name: "Clerk", reactMode: "by_order", actions: [Count, Tell], memoryLimit: 4 });
}

/** Works through a plan. */
function gardener(outside: Outside, after: { readonly name: string }): Role {
  const Dig = defineAction({ name: "Dig", run: (ctx) => outside.step(ctx, "dig", { where: ctx.text }, () => `dug ${ctx.text}`) });
  return defineRole({
    name: "Gardener",
    reactMode: "plan_and_act",
    watch: [after],
    actions: [Dig],
    planTasks: (rc) => [
      { id: "b", dependsOn: ["a"], instruction: `deeper, after ${rc.plan.finishedTasks.length}` },
      { id: "a", instruction: "deep" },
    ],
  });
}
