import { z } from "zod";
import { type ChatResponse, defineAction, defineRole, memoryJournal, ModelError, type RunEvent, Team, usd } from "../../../src/index.ts";
import type { Journal } from "../../../src/ports.ts";
import { defineTool } from "../../../src/agent/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { eventsOf } from "../../team/recorded.ts";

/** The first version of the poem, and the second one. */
export const POEM: readonly [string, string] = ["The sea is <b>grey</b>.\nIt sleeps.\n", "The sea is <b>grey</b>.\nIt sings.\nThe end.\n"];

/** A team with something for each view of the page, and the pages that its printer has printed. */
export interface Press {
  readonly team: Team;
  readonly printed: readonly number[];
}

/**
 * Ann drafts and polishes a poem by a plan of her own, and writes it twice; the first try of her first call fails. Bob reviews it and tries a line in a fork, Dee keeps
 * what she hears, and Cid, an agent with a model that costs ten times as much, prints two pages: he asks before each. Every call has tokens of
 * its own, so every cost is known.
 */
export function press(journal: Journal = memoryJournal()): Press {
  const printed: number[] = [];
  const models = { Ann: small(broken, said("A draft.", 1_000, 200), said("A poem.", 2_000, 500)), Bob: small(said("Good.", 500, 100)) };
  const dee = small(said("kept", 10, 5), said("kept again", 10, 5));
  const roles = [writer(), reviewer(), printer(printed), archivist()];
  return { printed, team: new Team({ name: "Press", roles, models: { ...models, Cid: printing(), Dee: dee }, journal, budget: usd(2) }) };
}

/** The events of such a run until Cid waits for a permission. */
export async function pressRun(idea = "A poem about the sea", id = "press"): Promise<readonly RunEvent[]> {
  const journal = memoryJournal();
  await press(journal).team.run(idea, { id }).result;
  return eventsOf(journal, id);
}

type Reply = Partial<ChatResponse> | Error;

const broken = new ModelError("MODEL_RATE_LIMIT", "Too many requests.", { retryable: true, data: { retryAfterMs: 0 } });

function said(content: string, inputTokens: number, outputTokens: number): Reply {
  return { content, usage: { inputTokens, outputTokens } };
}

function small(...replies: readonly Reply[]) {
  return scriptedModel(replies, { id: "small", price: { input: 1, output: 4 } });
}

function printing() {
  const calls = [1, 2].map((page): Reply => ({
    toolCalls: [{ id: `call-${page}`, type: "function", function: { name: "print", arguments: JSON.stringify({ page }) } }],
    usage: { inputTokens: 300, outputTokens: 50 },
  }));
  return scriptedModel([...calls, said("It is printed.", 400, 10)], { id: "large", price: { input: 10, output: 40 } });
}

const Drafts = z.object({ drafts: z.int().default(0) });

/** Asks for a text, and writes a version of the poem. */
function writing(name: string, content: string) {
  return defineAction({
    name,
    state: Drafts,
    run: async (ctx) => {
      const text = await ctx.ask(`${name}: ${ctx.text}`);
      await ctx.step("write file", { path: "poem.md", content }, () => Promise.resolve(null));
      ctx.state.drafts += 1;
      return text;
    },
  });
}

const Draft = writing("Draft", POEM[0]);
const Polish = writing("Polish", POEM[1]);
const Review = defineAction({
  name: "Review",
  run: async (ctx) => {
    await ctx.step("write file", { path: "notes.md", content: "One note.\n" }, () => Promise.resolve(null));
    await ctx.step("write file", { path: "poem.md", content: "A side line.\n", fork: "side" }, () => Promise.resolve(null));
    return ctx.ask(`Review: ${ctx.text}`);
  },
});
const Keep = defineAction({ name: "Keep", run: (ctx) => ctx.ask(`Keep: ${ctx.text}`) });

function writer() {
  return defineRole({
    name: "Ann",
    profile: "Writer",
    goal: "Write poems that one remembers",
    state: Drafts,
    reactMode: "plan_and_act",
    actions: [Draft, Polish],
    planTasks: () => [
      { id: "draft", instruction: "Draft the poem", type: "Draft" },
      { id: "polish", instruction: "Polish the draft", type: "Polish", dependsOn: ["draft"] },
    ],
  });
}

function reviewer() {
  return defineRole({ name: "Bob", profile: "Reviewer", goal: "Find what is weak", watch: [Polish], actions: [Review] });
}

function archivist() {
  return defineRole({ name: "Dee", profile: "Archivist", goal: "Keep what was said", watch: [Polish, Review], actions: [Keep] });
}

function printer(printed: number[]) {
  const print = defineTool({
    name: "print",
    description: "prints a page",
    parameters: z.object({ page: z.int() }),
    effect: "write",
    execute: ({ page }) => {
      printed.push(page);
      return `page ${page} is printed`;
    },
  });
  return defineRole({ name: "Cid", profile: "Printer", goal: "Print poems", watch: [Review], reactMode: "agent", tools: [print] });
}
