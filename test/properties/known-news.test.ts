import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole, type Role, type RoleOptions } from "../../src/role/role.ts";
import { tries } from "../long.ts";

const NAMES = ["Ann", "Bob", "Cid"] as const;
type Name = (typeof NAMES)[number];

/** The deed of an action for the messages it hears, by its turn. */
type Deed =
  | { readonly kind: "say"; readonly to: readonly (Name | "<all>" | "<self>")[]; readonly twice: boolean }
  | { readonly kind: "keep" | "pass on" | "hand in"; readonly what: number }
  | { readonly kind: "forget" | "look" | "nothing" };

const destination = fc.subarray([...NAMES, "<all>" as const, "<self>" as const], { minLength: 1, maxLength: 2 });
const anyDeed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("say" as const), to: destination, twice: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("keep" as const, "pass on" as const, "hand in" as const), what: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("forget" as const, "look" as const, "nothing" as const) }) },
);
const anyCompany = fc.record({
  deeds: fc.array(anyDeed, { minLength: 1, maxLength: 8 }),
  words: fc.array(fc.array(fc.record({ what: fc.nat(5), to: fc.constantFrom(...NAMES) }), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 4,
  }),
  scheduler: fc.constantFrom("eager" as const, "rounds" as const),
  limit: fc.constantFrom(undefined, undefined, 2),
  isCrowded: fc.boolean(),
  life: fc.constantFrom("one action" as const, "one action" as const, "a reaction" as const, "two actions" as const),
});
type Company = typeof anyCompany extends fc.Arbitrary<infer C> ? C : never;

/** So many more hear what is said to all that they are found as one crowd. */
const CROWD = 17;

/** Messages that are published and remembered by hand, again and again; the last two have ids as roles give them. */
function pool(): Message[] {
  const ids = ["a", "b", "c", "d", "Ann#0.0", "Bob#1.0"];
  return ids.map((id) => createMessage(`word ${id}`, { id, timestamp: 0, sendTo: "Ann" }));
}

function role(name: Name, { deeds, limit, life }: Company, words: readonly Message[], handIn: (message: Message) => unknown): Role {
  let turns = 0;
  const act = defineAction({
    name: `Act${name}`,
    run: (ctx) => {
      turns += 1;
      return turns > 12 ? undefined : did(ctx, deeds[(turns * 7 + name.charCodeAt(0)) % deeds.length] as Deed, words, handIn);
    },
  });
  return defineRole({
    name,
    ...does(act, life),
    watch: ["ActAnn", "ActBob", "ActCid"],
    ...(limit === undefined ? {} : { memoryLimit: limit }),
  });
}

const wait = defineAction({ name: "Wait", run: () => undefined });

function does(act: Action, life: Company["life"]): Partial<RoleOptions> {
  switch (life) {
    case "one action":
      return { actions: [act] };
    case "a reaction":
      return { reactions: [{ on: ["ActAnn", "ActBob", "ActCid", "UserRequirement"], do: act }] };
    case "two actions":
      return { reactMode: "by_order", actions: [wait, act] };
  }
}

function did(
  ctx: ActionContext,
  deed: Deed,
  words: readonly Message[],
  handIn: (message: Message) => unknown,
): Message | Message[] | string | undefined {
  switch (deed.kind) {
    case "say": {
      const said = ctx.message(`${ctx.name}: ${ctx.text}`.slice(0, 40), { sendTo: deed.to });
      return deed.twice ? [said, ctx.message("again", { sendTo: deed.to })] : said;
    }
    case "keep":
      ctx.memory.add(words[deed.what] as Message);
      return undefined;
    case "hand in":
      handIn(words[deed.what] as Message);
      handIn(words[deed.what] as Message);
      return "handed in";
    case "pass on":
      return words[deed.what];
    case "forget":
      ctx.memory.deleteNewest();
      return "forgot";
    case "look":
      return `${ctx.memory.size} ${ctx.memory
        .get(3)
        .map(({ id }) => id)
        .join(" ")}`;
    case "nothing":
      return undefined;
  }
}

const silent = defineRole({
  name: "Silent",
  watch: ["ActAnn", "ActBob", "ActCid"],
  actions: [defineAction({ name: "Hear", run: () => undefined })],
});

/** The result of the company, with all memories looked at since the beginning, or none. */
async function livedBy(company: Company, isLookedAt: boolean): Promise<unknown> {
  const words = pool();
  const environment = new Environment({ seed: "news", scheduler: company.scheduler, clock: { now: () => 0, timer: () => () => {} } });
  environment.addRoles(NAMES.map((name) => role(name, company, words, (message) => environment.publishMessage(message))));
  if (company.isCrowded) for (let nth = 0; nth < CROWD; nth += 1) environment.addRole(silent, { name: `Silent${nth}` });
  const memories = (): string[][] => NAMES.map((name) => [...(environment.getRole(name)?.memory ?? [])].map(({ id }) => id));
  if (isLookedAt) memories();
  for (const some of company.words) {
    for (const { what, to } of some)
      environment.publishMessage(
        to === "Ann" ? (words[what] as Message) : createMessage(`to ${to}`, { id: `${to}${what}`, timestamp: 0, sendTo: to }),
      );
    const { status, error } = await environment.run({ rounds: 20 });
    expect(error).toBeUndefined();
    if (status !== "finished") break;
  }
  for (const ids of [...memories(), environment.history.get().map(({ id }) => id)]) expect(ids).toEqual([...new Set(ids)]);
  return { said: environment.history.get().map(({ id, content, parents }) => ({ id, content, parents })), remembered: memories() };
}

describe("RunState.S4 what is known to be new", () => {
  test("property: is remembered and acted upon as where each id is looked up", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(anyCompany, async (one) => {
        expect(await livedBy(one, false)).toEqual(await livedBy(one, true));
      }),
      { numRuns: tries(60, 600) },
    );
  });
});
