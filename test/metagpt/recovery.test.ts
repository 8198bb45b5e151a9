import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMessage, defineAction, defineRole, memoryJournal, type RunEvent, Team, UserRequirement } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { listener } from "../runtime/town.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { type Company, Draft, echoModel, pipeline, recorded, upTo } from "./killed.ts";

describe("what a kill leaves", () => {
  test("[MetaGPT: and what was paid for was not known before it came back] a call is in the journal before it is made", async () => {
    const journal = memoryJournal();
    const known: string[][] = [];
    const model = scriptedModel(async () => {
      known.push((await eventsOf(journal, "r")).map((event) => event.type));
      return "done";
    });
    await pipeline(journal, model).run("go", { id: "r" }).result;
    expect(known).toHaveLength(4);
    expect(known[0]).toEqual(["run.started", "message", "act.started", "step.started"]);
    for (const types of known)
      expect(types.filter((type) => type === "step.started").length).toBeGreaterThan(types.filter((type) => type === "step.ended").length);
  });

  test("[MetaGPT: a payload of a run-time class could not be revived, and with it the team] its reader gets it typed and whole", async () => {
    const payload = { title: "2048", parts: [{ path: "a.js", done: false }], notes: null };
    const Plan = defineAction({
      name: "Plan",
      output: z.object({
        title: z.string(),
        parts: z.array(z.object({ path: z.string(), done: z.boolean() })),
        notes: z.string().nullable(),
      }),
      run: () => payload,
    });
    const read: unknown[] = [];
    const company: Company = (journal) => {
      const Read = defineAction({ name: "Read", needs: [Plan], run: (ctx) => void read.push(ctx.inputs[0].instructContent) });
      const roles = [
        defineRole({ name: "Alice", reactions: [{ on: UserRequirement, do: Plan }] }),
        defineRole({ name: "Bob", reactions: [{ on: Plan, do: Read }] }),
      ];
      return new Team({ journal, roles });
    };
    const { events } = await recorded(company);
    read.length = 0;
    const cut = upTo(events, (event) => event.type === "round.ended");
    const { status } = await company(await journalWith("r", cut), echoModel()).resume("r").result;
    expect([status, read]).toEqual(["finished", [payload]]);
  });

  test("[MetaGPT: written files were no part of the checkpoint] a write that was under way is done again, on whatever disk", async () => {
    const company =
      (disk: Map<string, string>): Company =>
      (journal, model) => {
        const write = (path: string, text: string) => (): Promise<number> => Promise.resolve(disk.set(path, text).size);
        const Save = defineAction({
          name: "Save",
          run: async (ctx) => {
            const text = await ctx.ask("a file");
            await ctx.step("write", { path: "a.js", text }, write("a.js", text), { again: true });
            return ctx.ask("a word on it");
          },
        });
        return new Team({ journal, model, roles: [defineRole({ name: "Ann", actions: [Save] })] });
      };
    const { events } = await recorded(company(new Map()));
    const written = events.findIndex((event) => event.type === "step.started" && event.name === "write") + 1;
    const disk = new Map<string, string>();
    const model = echoModel();
    const { status } = await company(disk)(await journalWith("r", events.slice(0, written + 1)), model).resume("r").result;
    expect([status, [...disk], model.calls.length]).toEqual(["finished", [["a.js", "[a file]"]], 1]);
  });
});

describe("who continues", () => {
  test("[MetaGPT: a class not imported was TypeError 'has not yet been defined!'] a company that lacks a role learns which one", async () => {
    const { events } = await recorded(pipeline);
    const journal = await journalWith("r", events.slice(0, 4));
    const { status, error } = await new Team({
      journal,
      roles: [defineRole({ name: "Writer", reactions: [{ on: UserRequirement, do: Draft }] })],
    }).resume("r").result;
    expect([status, error?.code]).toEqual(["failed", "TEAM_CHANGED"]);
    expect(error?.message).toMatch(/Editor.*Critic/);
    expect((await pipeline(journal, echoModel()).resume("r").result).status).toBe("finished");
  });

  test("[MetaGPT: what a revived memory held was equal to no message any more] what it knows already is no news to it", async () => {
    let activations = 0;
    const known = createMessage("known", { id: "known", instructContent: { a: [1] } });
    const company: Company = (journal) => new Team({ journal, roles: [listener("Ann", { react: () => void (activations += 1) })] });
    const journal = memoryJournal();
    await company(journal, echoModel()).run(known, { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    const twice = events.flatMap((event) =>
      event.type === "run.ended" ? [{ ...event, type: "message", message: known, to: ["Ann"] } as unknown as RunEvent] : [event],
    );
    const { status } = await company(await journalWith("r", twice), echoModel()).resume("r").result;
    expect([status, activations]).toEqual(["finished", 1]);
  });
});
