import { describe, expect, it } from "vitest";
import type { RunClient } from "../../src/client/index.ts";
import type { TeamChangeTerms } from "../../src/client/wire.ts";
import { defineAction, defineRole, memoryJournal, Team, UserFeedback, UserRequirement } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { OnTeamChange } from "../../src/team/crew.ts";
import { all, served, type Served } from "./served-team.ts";

/** Answers the words of a user, or asks, or waits until it is stopped, the first time. */
const Reply = defineAction({
  name: "Reply",
  run: async (ctx) => {
    if (ctx.text === "ask") return ctx.human.ask("what?");
    if (ctx.text === "wait") await ctx.step("wait", {}, () => (stuck-- > 0 ? new Promise<null>(() => undefined) : Promise.resolve(null)));
    return ctx.text.toUpperCase();
  },
});
let stuck = 0;
const watch = [UserRequirement, UserFeedback];

/** A version of a team: each has another goal, and the second one has one more role. */
function version(nth: number, journal: Journal): Team {
  const bot = defineRole({ name: "Bot", goal: `version ${nth}`, watch, actions: [Reply] });
  const more = defineRole({ name: "Newcomer", watch, actions: [defineAction({ name: "Greet", run: () => "hello" })] });
  const reserve = [defineRole({ name: "Spare", watch: [], actions: [Reply] })];
  return new Team({ name: "bots", roles: nth === 1 ? [bot] : [bot, more], reserve, journal });
}

/** A server of the second version, over a run of the first one. */
async function upgraded(idea: string, end: (one: Served) => Promise<unknown>, onTeamChange?: OnTeamChange): Promise<Served> {
  const journal = memoryJournal();
  const before = served({ team: version(1, journal) });
  await before.client.start({ idea, id: "table" });
  await all(before.client.events("table"));
  await end(before);
  await before.server.close();
  return served({ team: version(2, journal), ...(onTeamChange === undefined ? {} : { onTeamChange }) });
}

const nothing = (): Promise<void> => Promise.resolve();

/** Every door that goes on with a run, or changes one. */
const doors: readonly (readonly [
  string,
  string,
  (one: Served) => Promise<unknown>,
  (client: RunClient, o: TeamChangeTerms) => Promise<unknown>,
])[] = [
  ["say", "hello", nothing, (client, o) => client.say("table", "more", o)],
  ["resume", "hello", nothing, (client, o) => client.resume("table", o)],
  ["resume with a message", "hello", nothing, (client, o) => client.resume("table", { ...o, add: [{ content: "more" }] })],
  ["publish", "hello", nothing, (client, o) => client.publish("table", "more", o)],
  ["hire", "hello", nothing, (client, o) => client.hire("table", "Spare", o)],
  ["retire", "hello", ({ client }) => client.hire("table", "Spare"), (client, o) => client.retire("table", "Spare", o)],
  ["takeRole", "hello", nothing, (client, o) => client.takeRole("table", "Bot", o)],
  ["giveBackRole", "hello", ({ client }) => client.takeRole("table", "Bot"), (client, o) => client.giveBackRole("table", "Bot", o)],
  ["answer", "ask", nothing, async (client, o) => client.answer("table", (await client.read("table")).questions?.[0]?.id ?? "", "that", o)],
];

describe.each(doors)("%s of a run whose team was changed", (_name, idea, end, enter) => {
  it("is refused with the differences, and nothing is recorded", async () => {
    const { client } = await upgraded(idea, end);
    const { events } = await client.read("table");
    await expect(enter(client, {})).rejects.toMatchObject({
      code: "TEAM_CHANGED",
      data: { differences: [{ role: "Bot" }, { role: "Newcomer" }] },
    });
    expect((await client.read("table")).events).toBe(events);
  });

  it("goes on by the option of the request", async () => {
    const { client } = await upgraded(idea, end);
    await enter(client, { onTeamChange: "continue" });
    const { messages, status } = await client.say("table", "later", { onTeamChange: "continue" });
    expect([status, messages.map(({ content }) => content)]).toEqual([
      "finished",
      expect.arrayContaining([expect.stringContaining("LATER"), "hello"]),
    ]);
  });
});

describe("a run whose team was changed", () => {
  it("is open for the next one as soon as one door has gone on with it, also where nothing was left to do", async () => {
    const { client } = await upgraded("hello", nothing);
    await client.resume("table", { onTeamChange: "continue" });
    await all(client.events("table"));
    expect((await client.read("table")).roles).toEqual(["Bot", "Newcomer"]);
    expect((await client.say("table", "more")).messages.map(({ content }) => content)).toEqual(["hello", "MORE"]);
  });

  it("goes on from a pause of a former process by an option", async () => {
    const journal = memoryJournal();
    stuck = 1;
    const before = served({ team: version(1, journal) });
    await before.client.start({ idea: "wait", id: "table" });
    for await (const event of before.client.events("table", { follow: true })) if (event.type === "step.started") break;
    await before.client.pause("table");
    await before.server.close({ grace: 0 });
    const { client } = served({ team: version(2, journal) });
    expect((await client.read("table")).status).toBe("paused");
    await expect(client.proceed("table")).rejects.toMatchObject({ code: "TEAM_CHANGED" });
    await client.proceed("table", { onTeamChange: "continue" });
    await all(client.events("table"));
    expect((await client.read("table")).status).toBe("finished");
  });

  it("and that was under way goes on at the start where the server says so", async () => {
    for (const [onTeamChange, status] of [
      ["refuse", "stopped"],
      ["continue", "finished"],
    ] as const) {
      const journal = memoryJournal();
      stuck = 1;
      const before = served({ team: version(1, journal) });
      await before.client.start({ idea: "wait", id: "table" });
      for await (const event of before.client.events("table", { follow: true })) if (event.type === "step.started") break;
      await before.server.close({ grace: 0 });
      const { server, client } = served({ team: version(2, journal), onTeamChange });
      await server.ready();
      await all(client.events("table"));
      expect((await client.read("table")).status).toBe(status);
      await server.close();
    }
  });
});
