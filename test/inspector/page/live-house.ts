import { z } from "zod";
import { type ChatModel, defineAction, defineRole, memoryJournal, ModelError, Team } from "../../../src/index.ts";
import type { ChatChunk, Journal } from "../../../src/ports.ts";
import { readPage } from "../../../src/inspector/page-file.ts";
import { createServer, type RunServer } from "../../../src/server/index.ts";

/** The token of the test's server. */
export const TOKEN = "a-token-for-the-tests";

/** A server with a bakery whose roles ask people, on one port across restarts. */
export class LiveHouse {
  readonly journal: Journal = memoryJournal();
  readonly team: Team;
  #server: RunServer | undefined;
  #port = 0;
  /** Resolves the next wait of a role that was told to wait. */
  #goOn: (() => void)[] = [];

  /** Resolves the wait of the model before its next piece. */
  #say: (() => void) | undefined;

  constructor() {
    const model = talker((go) => {
      this.#say = go;
    });
    this.team = bakery(this.journal, model, (go) => this.#goOn.push(go));
  }

  /** Lets the model give one piece of its answer. False while it does not wait to. */
  say(): boolean {
    const say = this.#say;
    this.#say = undefined;
    say?.();
    return say !== undefined;
  }

  /** Lets every waiting role go on. */
  goOn(): void {
    for (const go of this.#goOn.splice(0)) go();
  }

  async start(): Promise<void> {
    this.#server = createServer({ team: this.team, token: TOKEN, page: readPage });
    this.#port = (await this.#server.listen({ port: this.#port })).port;
  }

  async close(): Promise<void> {
    this.goOn();
    await this.#server?.close({ grace: 0 });
  }

  /** The address of the page, with the token and a run. */
  address(run?: string): string {
    return `http://127.0.0.1:${this.#port}/#token=${TOKEN}${run === undefined ? "" : `&run=${run}`}`;
  }

  /** Starts a run at the server. */
  async run(idea: string, id: string): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/api/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ idea, id }),
    });
    if (!response.ok) throw new Error(await response.text());
  }
}

const Order = z.object({ loaves: z.int().min(1).max(9), flour: z.enum(["wheat", "rye"]), note: z.string().optional() });

/** Ann plans; Bob asks what the idea names, waits where it says so, and bakes. */
function bakery(journal: Journal, model: ChatModel, hold: (go: () => void) => void): Team {
  const Plan = defineAction({ name: "Plan", run: (ctx) => `A plan for: ${ctx.text}` });
  const Bake = defineAction({
    name: "Bake",
    run: async (ctx) => {
      if (ctx.text.includes("choice"))
        return `Baked: ${await ctx.human.ask("Which bread?", { choices: [{ value: "loaf", label: "A loaf" }, "rolls"] })}`;
      if (ctx.text.includes("order")) return `Baked: ${JSON.stringify(await ctx.human.ask("What is the order?", { schema: Order }))}`;
      if (ctx.text.includes("words")) return `Baked: ${await ctx.human.ask("What shall I bake?")}`;
      if (ctx.text.includes("wait")) await ctx.step("oven", {}, () => new Promise<void>((resolve) => hold(resolve)));
      if (ctx.text.includes("talk")) return `Baked: ${await ctx.ask("What do you bake?")}`;
      return `Baked: ${ctx.text}`;
    },
  });
  const ann = defineRole({ name: "Ann", profile: "Planner", goal: "Plan the day", actions: [Plan] });
  const bob = defineRole({ name: "Bob", profile: "Baker", goal: "Bake bread", watch: [Plan], actions: [Bake] });
  return new Team({ name: "Bakery", roles: [ann, bob], journal, model });
}

/** A model that says a piece each time it is let go on. Its first try breaks after two pieces. */
function talker(hold: (go: () => void) => void): ChatModel {
  let tries = 0;
  async function* stream(): AsyncGenerator<ChatChunk> {
    tries += 1;
    const said = tries === 1 ? ["I think ", "of cake"] : ["Bread <b>with</b> ", "salt \u202e", "and oil."];
    for (const content of said) {
      await new Promise<void>((resolve) => hold(resolve));
      yield { content };
    }
    await new Promise<void>((resolve) => hold(resolve));
    if (tries === 1) throw new ModelError("MODEL_UNREACHABLE", "The line broke.", { retryable: true });
    yield { finishReason: "stop", usage: { inputTokens: 3, outputTokens: 5 } };
  }
  return { id: "talker", stream, chat: () => Promise.reject(new Error("Expected a streamed call.")) };
}
