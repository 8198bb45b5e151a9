import { describe, expect, test } from "vitest";
import { z } from "zod";
import { silentLogger } from "../../../src/kernel/emit.ts";
import { defineAction } from "../../../src/role/action.ts";
import { retry } from "../../../src/role/failure-policy.ts";
import { defineRole, type Role, type RoleOptions } from "../../../src/role/role.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { normalForm } from "../../../src/runtime/routing/directory.ts";
import { exportRun, importRun } from "../../../src/runtime/record/transfer.ts";
import { scriptedModel } from "../../../src/testing/scripted-model.ts";
import { Team } from "../../../src/team/team.ts";
import type { TeamOptions } from "../../../src/team/team-options.ts";
import { defineTool } from "../../../src/tool/tool.ts";
import { eventsOf, journalWith } from "../../team/recorded.ts";

/** A team of a lead, and of those that may be meant, and what became of the lead's message. */
async function sent(
  lead: Partial<RoleOptions>,
  replies: Parameters<typeof scriptedModel>[0],
  more: TeamOptions & { readonly others?: readonly Role[] } = {},
) {
  const { others = [], ...options } = more;
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const heard: string[] = [];
  const hearing = (name: string, profile: string): Role =>
    defineRole({ name, profile, watch: [], react: (rc) => void heard.push(...rc.news.map(({ content }) => `${name}: ${content}`)) });
  const journal = memoryJournal();
  const team = (at = journal): Team =>
    new Team({
      journal: at,
      seed: "s",
      model: scriptedModel(replies),
      logger: { ...silentLogger, warn },
      roles: [defineRole({ name: "Lead", ...lead }), hearing("Ada", "Engineer"), hearing("Bob Mc'Gee", "Product Manager"), ...others],
      ...options,
    });
  const result = await team().run("go", { id: "r" }).result;
  return { result, heard, warnings, events: await eventsOf(journal, "r"), team, journal };
}

const Order = z.object({ to: z.string(), words: z.string() });

/** Ways in which a model's words become an address. */
const ways: readonly (readonly [string, (to: string) => readonly [Partial<RoleOptions>, Parameters<typeof scriptedModel>[0]]])[] = [
  [
    "sendTo of an output",
    (to) => [
      {
        actions: [
          defineAction({ name: "Tell", output: Order, render: ({ words }) => words, sendTo: (_ctx, output) => [output?.to ?? ""] }),
        ],
      },
      [JSON.stringify({ to, words: "hello" })],
    ],
  ],
  [
    "a schema asked by hand",
    (to) => [
      {
        react: async (rc) => {
          const order = await rc.ask("whom?", { schema: Order });
          return rc.message(order.words, { sendTo: [order.to] });
        },
      },
      [JSON.stringify({ to, words: "hello" })],
    ],
  ],
  ["the text of an answer", (to) => [{ react: async (rc) => rc.message("hello", { sendTo: [await rc.ask("whom?")] }) }, [to]]],
  [
    "a part of an answer",
    (to) => [
      { react: async (rc) => rc.message("hello", { sendTo: [/To:(.*);/.exec(await rc.ask("whom?"))?.[1] ?? ""] }) },
      [`I would ask somebody.\nTo:${to}; he knows.`],
    ],
  ],
  [
    "a tool that sends",
    (to) => {
      let publish = (_to: string): void => {};
      const send = defineTool({
        name: "send",
        description: "Sends.",
        parameters: z.object({ to: z.string() }),
        effect: "read",
        execute: (args) => publish(args.to),
      });
      const call = { id: "1", type: "function" as const, function: { name: "send", arguments: JSON.stringify({ to }) } };
      return [
        {
          reactMode: "agent",
          tools: [send],
          actions: [defineAction({ name: "Work" })],
          observe: (rc) => {
            publish = (address) => void rc.publish(rc.message("hello", { sendTo: [address] }));
            return rc.inbox;
          },
        },
        [{ toolCalls: [call] }, "done"],
      ];
    },
  ],
];

const SPELLINGS = ["ada", "**Ada**", "Ada (Engineer)", "Ada ", " ADA", "`ada`", '"Ada"', "“Ada”", "Ａｄａ", "ada(engineer)", "_engineer_"];

describe("Directory.D4 Outbox.O4 a recipient that a model wrote", () => {
  test.each(ways)("%s: is the role that alone can be meant, and the event has both spellings", async (way, written) => {
    for (const to of way === "sendTo of an output" ? SPELLINGS : SPELLINGS.slice(0, 3)) {
      const [lead, replies] = written(to);
      const { result, heard, events, warnings, team, journal } = await sent(lead, replies);
      expect([to, result.status, heard, result.deadLetters]).toEqual([to, "finished", ["Ada: hello"], []]);
      expect(warnings.filter((text) => text.includes("dead letter"))).toEqual([]);
      const said = events.flatMap((event) => (event.type === "act.ended" ? event.said : []));
      const told = said.find(({ message }) => message.content === "hello");
      const [wrote] = told?.message.sendTo ?? [];
      expect(told).toMatchObject({ to: ["Ada"], meant: [{ wrote, as: to.includes("_") ? "Engineer" : "Ada" }] });
      const imported = memoryJournal();
      await importRun(imported, exportRun(journal, "r"));
      expect(await eventsOf(imported, "r")).toEqual(events);
      // A message of an effect is not published again from the record, whatever its address.
      if (way === "a tool that sends") continue;
      expect((await team().replay("r").result).status).toBe("finished");
      const cut = events.findIndex(({ type }) => type === "act.ended");
      expect((await team(await journalWith("r", events.slice(0, cut))).resume("r").result).deadLetters).toEqual([]);
    }
  });

  test.each(ways)("%s: is none where several can be meant, or none: the warning has the nearest names", async (_way, written) => {
    for (const [to, near] of [
      ["ADA", '"Ada"'],
      ["Adda", '"Ada"'],
      ["Bob McGe", "Bob Mc'Gee"],
    ] as const) {
      const [lead, replies] = written(to);
      const others = to === "ADA" ? [defineRole({ name: "aDa", watch: [], react: () => undefined })] : [];
      const { result, heard, warnings } = await sent(lead, replies, { others });
      expect(heard).toEqual([]);
      expect(result.deadLetters).toMatchObject([{ reason: { kind: "no such address", address: to } }]);
      expect(warnings.find((text) => text.includes("dead letter"))).toContain(near);
    }
  });

  test("of many words is found without spaces and quotes, and an exact one is that one", async () => {
    const exact = defineRole({ name: "ada", watch: [], react: ({ logger }) => logger.warn("the exact one") });
    const ask: Partial<RoleOptions> = { react: async (rc) => rc.message("hello", { sendTo: [await rc.ask("whom?")] }) };
    expect((await sent(ask, ["bob mcgee"])).heard).toEqual(["Bob Mc'Gee: hello"]);
    expect((await sent(ask, ["ProductManager"])).heard).toEqual(["Bob Mc'Gee: hello"]);
    expect((await sent(ask, ["ada"], { others: [exact] })).warnings).toContain("the exact one");
  });

  test("fails the activation where the policy says so, which may ask the model again", async () => {
    const ask: Partial<RoleOptions> = {
      react: async (rc) => rc.message("hello", { sendTo: [await rc.ask("whom?")] }),
      onFailure: retry(1),
    };
    const again = await sent(ask, ["Adda", "ada"], { onDeadAddress: "fail" });
    expect([again.result.status, again.heard]).toEqual(["finished", ["Ada: hello"]]);
    const failed = await sent(ask, ["Adda", "Adda"], { onDeadAddress: "fail" });
    expect(failed.result).toMatchObject({
      status: "failed",
      error: { code: "ADDRESS_UNKNOWN", data: { address: "Adda", nearest: ["Ada"] } },
    });
    const step = defineRole({ name: "Pip", step: (_state, _message, out) => void out.say("hello", { sendTo: "Adda" }) });
    expect((await sent(ask, ["Ada"], { onDeadAddress: "fail", others: [step] })).result.error?.code).toBe("ADDRESS_UNKNOWN");
    expect(() => new Team({ onDeadAddress: "error" as never })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});

describe("a recipient that code wrote", () => {
  test.each<[string, Partial<RoleOptions>]>([
    ["in a role", { react: (rc) => rc.message("hello", { sendTo: "ada" }) }],
    ["in sendTo", { actions: [defineAction({ name: "Tell", run: () => "hello", sendTo: () => ["ada"] })] }],
  ])("%s is the role that alone can be meant", async (_where, lead) => {
    const { heard, result } = await sent(lead, []);
    expect([heard, result.deadLetters]).toEqual([["Ada: hello"], []]);
  });
});

test("an address of many marks is compared in one go", () => {
  expect(normalForm(`Ann${".".repeat(300_000)}`)).toBe("ann");
  expect(normalForm(`${".".repeat(300_000)}x`)).toHaveLength(300_001);
  expect(normalForm("**Ann** : ")).toBe("ann");
});
