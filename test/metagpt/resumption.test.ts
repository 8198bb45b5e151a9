import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { contents, listener } from "../runtime/town.ts";
import { journalWith } from "../team/recorded.ts";
import { type Company, Draft, echoModel, Edit, expectSameFromEveryCut, Praise, recorded } from "./killed.ts";

describe("where a role stood", () => {
  test("[MetaGPT: by_order recovered at its second action failed with IndexError] the rest runs, and what ran is not paid again", async () => {
    const company: Company = (journal, model) =>
      new Team({ journal, model, seed: 1, roles: [defineRole({ name: "Ann", actions: [Draft, Edit, Praise], reactMode: "by_order" })] });
    expect((await recorded(company)).asked).toBe(3);
    await expectSameFromEveryCut(company);
  });

  test("[MetaGPT: an engineer's todos were live objects and not saved] a list in a role's state continues where it was", async () => {
    const company: Company = (journal, model) => {
      const Code = defineAction({
        name: "Code",
        run: async (ctx) => {
          const [next, ...rest] = ctx.state["todos"] as string[];
          if (next === undefined) return undefined;
          ctx.publish(ctx.message(await ctx.ask(`write ${next}`)));
          ctx.state["todos"] = rest;
          return ctx.message("go on", { sendTo: "<self>" });
        },
      });
      const state = z.object({ todos: z.array(z.string()).default(["a.js", "b.js", "c.js"]) });
      return new Team({ journal, model, seed: 1, roles: [defineRole({ name: "Ann", actions: [Code], state })] });
    };
    const { result } = await recorded(company);
    expect(contents(result.outputs)).toEqual(["[write a.js]", "[write b.js]", "[write c.js]"]);
    await expectSameFromEveryCut(company);
  });

  test("[MetaGPT: a plan under way was lost with its role] its tasks are each done once", async () => {
    const company: Company = (journal, model) => {
      const Do = defineAction({ name: "Do", run: (ctx) => ctx.ask(`do ${ctx.text}`) });
      const planTasks = () => [
        { id: "b", dependsOn: ["a"], instruction: "second" },
        { id: "a", instruction: "first" },
      ];
      return new Team({
        journal,
        model,
        seed: 1,
        roles: [defineRole({ name: "Ann", actions: [Do], reactMode: "plan_and_act", planTasks })],
      });
    };
    await expectSameFromEveryCut(company);
  });

  test("[MetaGPT: only the role that failed gave its message back, so publishing it doubled the others' work] each acts once", async () => {
    const done: string[] = [];
    let isRaining = true;
    const company: Company = (journal) =>
      new Team({
        journal,
        roles: [
          listener("Ann", { react: (rc) => (done.push("Ann"), rc.message("of Ann")) }),
          listener("Bob", {
            react: (rc) => {
              if (isRaining) throw new Error("rain");
              done.push("Bob");
              return rc.message("of Bob");
            },
          }),
        ],
      });
    const { events, result } = await recorded(company);
    expect([result.status, done]).toEqual(["failed", ["Ann"]]);
    isRaining = false;
    const again = await company(await journalWith("r", events), echoModel()).resume("r").result;
    expect([again.status, done, contents(again.messages)]).toEqual(["finished", ["Ann", "Bob"], ["go", "of Ann", "of Bob"]]);
  });
});
