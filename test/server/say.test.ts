import { describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import type { SayResult } from "../../src/team/say-result.ts";
import {
  type ActionContext,
  defineAction,
  defineRole,
  memoryJournal,
  ModelError,
  Team,
  type TeamOptions,
  UserFeedback,
  UserRequirement,
  usd,
} from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { clientOf, served } from "./served-team.ts";

const watch = [UserRequirement, UserFeedback];

/** A team of one role, which does one thing for each word of a user. */
function teamOf(run: (ctx: ActionContext) => unknown, options: TeamOptions = {}): Team {
  const Reply = defineAction({ name: "Reply", run: async (ctx) => String(await run(ctx)) });
  return new Team({ roles: [defineRole({ name: "Bot", watch, actions: [Reply] })], journal: memoryJournal(), ...options });
}

function endless(): Team {
  const Again = defineAction({ name: "Again", run: () => "again", sendTo: () => ["<self>"] });
  return new Team({ roles: [defineRole({ name: "Bot", watch: [...watch, Again], actions: [Again] })], journal: memoryJournal() });
}

const contentsOf = ({ messages }: SayResult): readonly string[] => messages.map(({ content }) => content);

describe("say tells how the run ended", () => {
  const dear = scriptedModel(() => "x", { price: { input: 1, output: 10 } });
  const refusing = scriptedModel(() => {
    throw new ModelError("MODEL_AUTH", "bad key");
  });
  it.each<[string, Team, Partial<Record<keyof SayResult, unknown>>]>([
    ["finished", teamOf(({ text }) => text.toUpperCase()), { status: "finished" }],
    ["an action that throws", teamOf(() => Promise.reject(new Error("boom"))), { status: "failed", error: { code: "ACTION_FAILED" } }],
    [
      "a model that refuses the key",
      teamOf((ctx) => ctx.ask("?"), { model: refusing }),
      { status: "failed", error: { code: "MODEL_AUTH" } },
    ],
    [
      "a budget that is spent",
      teamOf((ctx) => ctx.ask("?"), { model: dear, budget: usd(0.0001) }),
      { status: "budget", error: { name: "BudgetError", code: "BUDGET" } },
    ],
    ["a question", teamOf((ctx) => ctx.human.ask("which?")), { status: "waiting", question: { role: "Bot", text: "which?" } }],
    ["the bound of rounds", endless(), { status: "rounds" }],
  ])("%s", async (_what, team, wanted) => {
    const { client } = served({ team });
    for (const words of ["hello", "more"]) {
      const said = await client.say("table", words);
      expect(said).toMatchObject(wanted);
      expect([said.error === undefined, said.question === undefined]).toEqual([!("error" in wanted), !("question" in wanted)]);
    }
  });

  it("a stop by somebody else", async () => {
    let begun = (): void => {};
    const atWork = new Promise<void>((resolve) => (begun = resolve));
    const team = teamOf((ctx) =>
      ctx.step("wait", {}, async ({ signal }) => {
        begun();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return null;
      }),
    );
    const { client } = served({ team });
    const said = client.say("table", "hello");
    await atWork;
    await client.stop("table");
    expect(await said).toMatchObject({ messages: [], status: "stopped", error: { code: "ABORTED" } });
  });

  it("with the failed specialists of this turn, though the run finished without them", async () => {
    const Taste = defineAction({
      name: "Taste",
      run: ({ text }) => (text.includes("fish") ? Promise.reject(new Error("no fish here")) : "good"),
    });
    const roles = [
      defineRole({ name: "Ada", watch, actions: [Taste], onFailure: "skip" }),
      defineRole({ name: "Ben", watch, actions: [defineAction({ name: "Guess", run: () => "fine" })] }),
    ];
    const { client } = served({ team: new Team({ roles, journal: memoryJournal() }) });
    const first = await client.say("table", "fish");
    expect([first.status, contentsOf(first), first.error]).toEqual(["finished", ["fine"], undefined]);
    expect(first.failures).toEqual([{ role: "Ada", act: "Ada#0~1", attempt: 1, code: "ACTION_FAILED", message: "no fish here" }]);
    expect((await client.say("table", "meat")).failures).toBeUndefined();
    expect((await client.read("table")).failures).toEqual(first.failures);
  });
});

describe("say throws where the words were not recorded", () => {
  it.each<[string, (text: string) => Promise<unknown>, string]>([
    ["a wrong token", say({ token: "another-0123456789abcdef" }), "TOKEN_INVALID"],
    [
      "no server",
      (text) => createClient({ url: "http://localhost", fetch: () => Promise.reject(new Error("down")) }).say("t", text),
      "SERVER_UNREACHABLE",
    ],
    ["too many runs", say({ tenants: [{ name: "a", token: "only-for-this-example", runs: 1 }], isBusy: true }), "RUNS_TOO_MANY"],
  ])("%s", async (_what, speak, code) => {
    await expect(speak("hello")).rejects.toMatchObject({ code });
  });

  function say({
    token = "only-for-this-example",
    tenants,
    isBusy,
  }: {
    token?: string;
    tenants?: { name: string; token: string; runs: number }[];
    isBusy?: true;
  }) {
    return async (text: string): Promise<unknown> => {
      const journal = memoryJournal();
      const team = teamOf((ctx) => (ctx.text === "busy" ? new Promise(() => undefined) : ctx.text), { journal });
      const { server } = served({ team, ...(tenants === undefined ? { token: "only-for-this-example" } : { tenants }) });
      const client = clientOf(server, token);
      if (isBusy === true) await client.start({ idea: "busy" });
      try {
        return await client.say("table", text);
      } finally {
        expect((await journal.runs()).map(({ runId }) => runId).filter((id) => id.includes("table"))).toEqual([]);
        await server.close({ grace: 0 });
      }
    };
  }
});

describe("say, once the words are recorded", () => {
  it("records them once where an answer of the server is lost", async () => {
    const journal = memoryJournal();
    const { server } = served({ team: teamOf(({ text }) => text, { journal }) });
    let isLost = false;
    const client = createClient({
      url: "http://localhost",
      fetch: async (request) => {
        const response = await server.fetch(request);
        if (request.method !== "POST" || isLost) return response;
        isLost = true;
        throw new Error("connection reset");
      },
    });
    for (const words of ["one", "two"]) {
      isLost = false;
      expect([contentsOf(await client.say("table", words)), isLost]).toEqual([[words], true]);
    }
    expect(await outside(journal)).toEqual(["one", "two"]);
  });

  it("throws nothing when the connection is lost for good", async () => {
    const journal = memoryJournal();
    const { server } = served({ team: teamOf(({ text }) => text, { journal }) });
    const client = createClient({
      url: "http://localhost",
      patience: 0,
      fetch: (request) => (request.url.includes("/events") ? Promise.reject(new Error("gone")) : server.fetch(request)),
    });
    expect(await client.say("table", "one")).toMatchObject({ messages: [], status: "open", error: { code: "TIMEOUT" } });
    expect(await outside(journal)).toEqual(["one"]);
  });

  async function outside(journal: Journal): Promise<readonly string[]> {
    const said: string[] = [];
    for await (const event of journal.read("table", 0)) if (event.type === "message") said.push(event.message.content);
    return said;
  }
});
