import { expect, test } from "vitest";
import { type Action, defineAction } from "../../src/role/action.ts";
import type { ActionContext } from "../../src/role/context.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { ContextClosedError } from "../../src/kernel/errors.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole, type Role, type RoleOptions, type Said } from "../../src/role/role.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { contents, remembered, town } from "./town.ts";

const HOPS = 40;

/** A role that does one thing, as most do. */
function player(name: string, run: (ctx: ActionContext) => Said | Promise<Said>, options: Partial<RoleOptions> = {}): Role {
  return defineRole({ ...options, name, actions: [defineAction({ name: `Play${name}`, run })] });
}

type Form = (ctx: ActionContext, text: string, sendTo: string) => Said | string;
type Life = (act: Action) => Partial<RoleOptions>;

const look = defineAction({ name: "Look", run: () => undefined });
const asOne: Life = (act) => ({ actions: [act] });
const asText: Form = (_ctx, text) => text;
/** The results of an action, each with its place in its role. */
const ways: [string, Form, Life][] = [
  ["a message", (ctx, text, sendTo) => ctx.message(text, { sendTo }), asOne],
  ["a list of messages", (ctx, text, sendTo) => [ctx.message(text, { sendTo })], asOne],
  ["a message made elsewhere", (_ctx, text, sendTo) => createMessage(text, { sendTo }), asOne],
  ["a text", asText, asOne],
  ["a text, in a reaction", asText, (act) => ({ reactions: [{ on: ["PlayAnn", "PlayBob", "UserRequirement"], do: act }] })],
  ["a text, after another action", asText, (act) => ({ reactMode: "by_order", actions: [look, act] })],
];
const everyWay = (["rounds", "eager"] as const).flatMap((scheduler) => ways.map((way) => [scheduler, ...way] as const));

/** Passes a count on to the other. */
function passing(name: string, other: string, form: Form, life: Life): Role {
  const run = (ctx: ActionContext): Said | string => (Number(ctx.text) < HOPS ? form(ctx, `${Number(ctx.text) + 1}`, other) : undefined);
  return defineRole({ name, ...life(defineAction({ name: `Play${name}`, run, sendTo: () => [other] })) });
}

test.each(everyWay)("a role remembers every message of a long exchange once: %s, %s", async (scheduler, _way, form, life) => {
  const environment = town([passing("Ann", "Bob", form, life), passing("Bob", "Ann", form, life)], { scheduler });
  for (let n = 0; n < HOPS; n += 1) environment.publishMessage(createMessage(`${HOPS}`, { sendTo: "Bob" }));
  await environment.run({ rounds: HOPS });
  environment.publishMessage(createMessage("1", { sendTo: "Ann" }));
  const { status } = await environment.run({ rounds: 2 * HOPS });
  expect([status, environment.history.size]).toEqual(["finished", 2 * HOPS]);
  expect(remembered(environment, "Ann")).toEqual(Array.from({ length: HOPS }, (_, n) => `${n + 1}`));
});

test.each([2, 9])("what is said twice in a list of %d and more is said and remembered once", async (count) => {
  const list = defineAction({
    name: "List",
    run(ctx) {
      const said = Array.from({ length: count }, (_, nth) => ctx.message(`${nth}`));
      return [...said, said[0] as Message, ...said];
    },
  });
  const environment = town([defineRole({ name: "Ann", actions: [list] })]);
  environment.publishMessage("go");
  const { outputs } = await environment.run();
  const words = Array.from({ length: count }, (_, nth) => `${nth}`);
  expect([contents(outputs), remembered(environment, "Ann")]).toEqual([words, ["go", ...words]]);
});

test("Outbox.O2 what was made elsewhere is issued again in a list too, and remembered so", async () => {
  const list = defineAction({ name: "List", run: (ctx) => [ctx.message("own"), createMessage("made elsewhere", { id: "elsewhere" })] });
  const environment = town([defineRole({ name: "Ann", actions: [list] })]);
  environment.publishMessage("go");
  const { outputs } = await environment.run();
  const ids = ["Ann#0.0", "Ann#0.1"];
  expect(outputs.map(({ id }) => id)).toEqual(ids);
  expect([...(environment.getRole("Ann")?.memory ?? [])].map(({ id }) => id)).toEqual(["user#1", ...ids]);
});

test("Activation.A3 MemoryDraft.D3 who looks at its memory after its activation sees what it remembers now, and adds nothing", async () => {
  const late: { readonly ctx: ActionContext; readonly unsaid: Message }[] = [];
  const environment = town([player("Ann", (ctx) => (late.push({ ctx, unsaid: ctx.message("unsaid") }), ctx.message(`of ${ctx.text}`)))]);
  for (const text of ["one", "two"]) {
    environment.publishMessage(text);
    await environment.run();
  }
  for (const { ctx, unsaid } of late) {
    expect(contents(ctx.memory)).toEqual(["one", "of one", "two", "of two"]);
    for (const act of [() => ctx.memory.add(createMessage("late")), () => ctx.publish(unsaid)]) expect(act).toThrow(ContextClosedError);
  }
});

test("Activation.A3 what an action gives back when its time is over is not remembered", async () => {
  const clock = simulatedClock();
  const late: ActionContext[] = [];
  const slow = player(
    "Ann",
    async (ctx) => {
      late.push(ctx);
      const own = ctx.message("too late");
      await new Promise<void>((resolve) => void clock.timer(20, resolve));
      return own;
    },
    { timeout: 10, onFailure: "skip" },
  );
  const environment = town([slow], { clock });
  environment.publishMessage("go");
  const run = environment.run();
  await clock.advance(10);
  expect((await run).deadLetters).toHaveLength(1);
  await clock.advance(10);
  await nextMacrotask();
  expect(late.map(({ memory }) => contents(memory))).toEqual([["go"]]);
});
