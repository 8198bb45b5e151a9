import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  type Action,
  type ChatRequest,
  defineAction,
  defineRole,
  type Message,
  type RunResult,
  Team,
  UserRequirement,
} from "../../src/index.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";

/** The answer of a company of one to one idea. */
async function answerOf(action: Action, model: ScriptedModel, idea = "go"): Promise<RunResult> {
  return new Team({ model, roles: [defineRole({ name: "Ann", actions: [action] })] }).run(idea).result;
}

function lastWords(request: ChatRequest | undefined): string {
  return request?.messages.at(-1)?.content ?? "";
}

describe("what a model's reply becomes", () => {
  test("[MetaGPT: list and dict values of a reply went through eval] a reply is data: no JSON is asked for again, and never run", async () => {
    const reached = globalThis as { pwned?: boolean };
    const Names = defineAction({ name: "Names", output: z.object({ names: z.array(z.string()) }) });
    const hostile = '{"names": [(globalThis.pwned = true, "a")]}';
    const literal = '{"names": ["__import__(\'os\').system(\'id\')", "${globalThis.pwned = true}"]}';
    const model = scriptedModel([hostile, literal]);
    const { output } = await answerOf(Names, model);
    expect(output?.instructContent).toEqual({ names: ["__import__('os').system('id')", "${globalThis.pwned = true}"] });
    expect(model.calls).toHaveLength(2);
    expect(reached.pwned).toBeUndefined();
  });
});

describe("typed payloads", () => {
  const Prd = z.object({
    title: z.string(),
    stories: z.array(z.object({ as: z.string(), priority: z.enum(["P0", "P1"]), points: z.number() })),
    open: z.record(z.string(), z.boolean()),
    note: z.string().nullable(),
  });
  const payload: z.infer<typeof Prd> = {
    title: "2048",
    stories: [{ as: "player", priority: "P0", points: 3 }],
    open: { "is there sound?": true },
    note: null,
  };

  test("[MetaGPT: only str and lists of str survived, other fields were dropped in silence] every field reaches the next action", async () => {
    const WritePrd = defineAction({ name: "WritePrd", output: Prd, run: () => payload });
    const inputs: Message<z.infer<typeof Prd>>[] = [];
    const Read = defineAction({ name: "Read", needs: [WritePrd], run: (ctx) => void inputs.push(...ctx.inputs) });
    const team = new Team({
      roles: [
        defineRole({ name: "Alice", reactions: [{ on: UserRequirement, do: WritePrd }] }),
        defineRole({ name: "Bob", reactions: [{ on: WritePrd, do: Read }] }),
      ],
    });
    await team.run("go").result;
    expect(inputs.map((message) => message.instructContent)).toEqual([payload]);
  });

  test("[MetaGPT: a prompt showed the payload in place of the content] what was said stays what is read", async () => {
    const WritePrd = defineAction({ name: "WritePrd", output: Prd, run: () => payload, render: ({ title }) => `A game: ${title}` });
    const Read = defineAction({ name: "Read", needs: [WritePrd] });
    const model = scriptedModel(["read"]);
    const team = new Team({
      model,
      roles: [
        defineRole({ name: "Alice", reactions: [{ on: UserRequirement, do: WritePrd }] }),
        defineRole({ name: "Bob", reactions: [{ on: WritePrd, do: Read }] }),
      ],
    });
    await team.run("go").result;
    expect(lastWords(model.calls[0])).toBe("A game: 2048");
  });
});

describe("definitions hold nothing of a run", () => {
  test("[MetaGPT: action nodes were global and held model and content, so two projects mixed them up] they are kept apart", async () => {
    const Title = defineAction({ name: "Title", output: z.object({ title: z.string() }) });
    const Review = defineAction({
      name: "Review",
      needs: [Title],
      run: (ctx) => ctx.ask(`review ${ctx.inputs[0].instructContent?.title}`),
    });
    const roles = [
      defineRole({ name: "Alice", reactions: [{ on: UserRequirement, do: Title }] }),
      defineRole({ name: "Bob", reactions: [{ on: Title, do: Review }] }),
    ];
    const ideas = Array.from({ length: 8 }, (_, i) => `project ${i}`);
    const results = await Promise.all(
      ideas.map((idea) => {
        const model = scriptedModel((request) => {
          const asked = lastWords(request);
          return asked.startsWith("review") ? `${idea}: ${asked}` : JSON.stringify({ title: `the ${asked.slice(0, 9)}` });
        });
        return new Team({ model, roles }).run(idea).result;
      }),
    );
    expect(results.map(({ output }) => output?.content)).toEqual(ideas.map((idea) => `${idea}: review the ${idea}`));
  });
});
