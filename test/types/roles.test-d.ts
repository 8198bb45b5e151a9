import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  Action,
  createMessage,
  defineAction,
  defineRole,
  Environment,
  type Immutable,
  type Json,
  type Message,
  type Plan,
  retry,
  Role,
  type RoleContext,
  type RoleOptions,
  type RoleView,
  type StepOut,
  Team,
  UserRequirement,
} from "../../src/index.ts";
import type { MessageMemory, ReadableMemory } from "../../src/memory/message-memory.ts";

const Report = defineAction({ name: "Report", output: z.object({ count: z.number() }) });
class Draft extends Action<{ title: string }> {}
const Purse = z.object({ coins: z.number().default(10), notes: z.array(z.string()).default([]) });
type Coins = z.infer<typeof Purse>;

describe("custom state", () => {
  test("is typed by its schema, wherever the role is given its context", () => {
    const ann = defineRole({
      name: "Ann",
      state: Purse,
      observe: (rc) => {
        expectTypeOf(rc.state).toEqualTypeOf<Coins>();
        return rc.inbox;
      },
      think: (rc) => {
        expectTypeOf(rc.state.notes).toEqualTypeOf<string[]>();
        return undefined;
      },
      act: (rc, action) => {
        expectTypeOf(rc.state.coins).toEqualTypeOf<number>();
        expectTypeOf(action).toEqualTypeOf<Action>();
      },
      react: (rc) => {
        rc.state.coins += 1;
        rc.state.notes.push("x");
        rc.state = { coins: 0, notes: [] };
        // @ts-expect-error coins are counted
        rc.state.coins = "many";
        // @ts-expect-error there is no such thing in it
        rc.state.gold = 1;
        // @ts-expect-error the whole must fit as well
        rc.state = { coins: 0 };
      },
      planTasks: (rc) => [{ id: "t", instruction: `spend ${rc.state.coins}` }],
    });
    expectTypeOf(ann).toEqualTypeOf<Role<Coins>>();
  });

  test("is typed in a subclass too", () => {
    class Ann extends Role<Coins> {
      override readonly state = Purse;
      override react(rc: RoleContext<Coins>): void {
        expectTypeOf(rc.state.coins).toEqualTypeOf<number>();
      }
    }
    expectTypeOf(new Team({ roles: [new Ann()] }).roleNames).toEqualTypeOf<readonly string[]>();
  });

  test("without a schema is anything under a name", () => {
    defineRole({ name: "Ann", react: (rc) => expectTypeOf(rc.state).toEqualTypeOf<Record<string, unknown>>() && undefined });
  });

  test("does not keep a role from being hired", () => {
    const ann = defineRole({ name: "Ann", state: Purse });
    const bob = defineRole({ name: "Bob" });
    expectTypeOf(new Team({ roles: [ann, bob] }).hire(ann, bob).hire(ann, { name: "Eve" })).toEqualTypeOf<Team>();
    expectTypeOf(new Environment().addRole(ann, { name: "Cid" }).addRoles([ann, bob])).toEqualTypeOf<Environment>();
    // @ts-expect-error a name is no role
    new Environment().addRole("Ann");
  });

  test("is read-only from outside", () => {
    expectTypeOf<RoleView["state"]>().toEqualTypeOf<{ readonly [key: string]: Json }>();
    expectTypeOf<RoleView["memory"]>().toEqualTypeOf<ReadableMemory>();
    expectTypeOf(new Environment().getRole("Ann")).toEqualTypeOf<RoleView | undefined>();
    expectTypeOf(new Environment().history).toEqualTypeOf<ReadableMemory>();
  });
});

describe("a role that is one function", () => {
  test("has the state of its schema, which nobody changes, a message, and what it says", () => {
    const ann = defineRole({
      name: "Ann",
      state: Purse,
      step(state, message, out) {
        expectTypeOf(state).toEqualTypeOf<{ readonly coins: number; readonly notes: readonly string[] }>();
        expectTypeOf(state).toEqualTypeOf<Immutable<Coins>>();
        expectTypeOf(message).toEqualTypeOf<Message>();
        expectTypeOf(out).toEqualTypeOf<StepOut>();
        expectTypeOf(out.say("x", { instructContent: { a: 1 }, sendTo: Report })).toEqualTypeOf<Message<{ a: number }>>();
        // @ts-expect-error the state is never changed but replaced
        state.coins += 1;
        // @ts-expect-error nor what is in it
        state.notes.push("x");
        return { ...state, notes: [...state.notes, message.content] };
      },
    });
    expectTypeOf(ann).toEqualTypeOf<Role<Coins>>();
    expectTypeOf(new Team({ roles: [ann] }).hire(ann, { name: "Eve" })).toEqualTypeOf<Team>();
    expectTypeOf(new Environment().addRole(ann)).toEqualTypeOf<Environment>();
  });

  test("gives back a whole state or nothing, at once", () => {
    expectTypeOf(defineRole({ name: "Ann", state: Purse, step: (state) => (state.coins > 1 ? state : undefined) })).toEqualTypeOf<
      Role<Coins>
    >();
    defineRole({ name: "Ann", step: (state, { content }) => ({ ...state, [content]: true }) });
    defineRole({ name: "Ann", step: (_state, _message, out) => void out.say("x") });
    // @ts-expect-error a part of a state is none
    defineRole({ name: "Ann", state: Purse, step: () => ({ coins: 1 }) });
    // @ts-expect-error nor one of other types
    defineRole({ name: "Ann", state: Purse, step: (state) => ({ ...state, coins: "1" }) });
    // @ts-expect-error nobody waits for it
    defineRole({ name: "Ann", state: Purse, step: async (state) => state });
  });

  test("has nothing else to do", () => {
    expectTypeOf(
      defineRole({ name: "Ann", profile: "Architect", addresses: ["corner"], onFailure: "skip", step: () => undefined }),
    ).toExtend<Role>();
    // @ts-expect-error no actions
    defineRole({ name: "Ann", actions: [Report], step: () => undefined });
    // @ts-expect-error no reactions
    defineRole({ name: "Ann", reactions: [{ on: "x", do: Report }], step: () => undefined });
    // @ts-expect-error no other life
    defineRole({ name: "Ann", react: () => undefined, step: () => undefined });
    // @ts-expect-error no mode
    defineRole({ name: "Ann", reactMode: "react", step: () => undefined });
    // @ts-expect-error no memory
    defineRole({ name: "Ann", memory: {}, step: () => undefined });
    // @ts-expect-error no agent and its tools
    defineRole({ name: "Ann", tools: [], step: () => undefined });
  });

  test("may be a class", () => {
    class Ann extends Role<Coins> {
      override readonly state = Purse;
      override step(state: Immutable<Coins>, _message: Message, _out: StepOut): Immutable<Coins> {
        return { ...state, coins: 1 };
      }
    }
    expectTypeOf(new Team({ roles: [new Ann()] })).toEqualTypeOf<Team>();
  });
});

describe("the parts of a role", () => {
  test("watches actions, classes and names", () => {
    expectTypeOf(defineRole({ name: "Ann", watch: [UserRequirement, Report, Draft, "Gossip"] })).toExtend<Role>();
    // @ts-expect-error a number is no cause
    defineRole({ name: "Ann", watch: [5] });
    // @ts-expect-error addresses are names
    defineRole({ name: "Ann", addresses: [Report] });
  });

  test("reacts to causes with actions", () => {
    expectTypeOf(defineRole({ name: "Ann", reactions: [{ on: [Draft, "Gossip"], needs: [Report], do: Report }] })).toExtend<Role>();
    // @ts-expect-error a class is no action yet
    defineRole({ name: "Ann", reactions: [{ on: Report, do: Draft }] });
    // @ts-expect-error a reaction does something
    defineRole({ name: "Ann", reactions: [{ on: Report }] });
    // @ts-expect-error nor are classes actions here
    defineRole({ name: "Ann", actions: [Draft] });
  });

  test("has a mode that there is", () => {
    expectTypeOf<NonNullable<RoleOptions["reactMode"]>>().toEqualTypeOf<"by_cause" | "by_order" | "react" | "plan_and_act" | "agent">();
    // @ts-expect-error a misspelt mode
    defineRole({ name: "Ann", reactMode: "by-order" });
  });

  test("has a policy that there is", () => {
    expectTypeOf(defineRole({ name: "Ann", onFailure: retry(2, "skip") })).toExtend<Role>();
    // @ts-expect-error retry says how often
    defineRole({ name: "Ann", onFailure: "retry" });
    // @ts-expect-error and what then
    retry(2, "dead");
  });

  test("has a name, and no part under another", () => {
    // @ts-expect-error a name is needed
    defineRole({ profile: "Architect" });
    // @ts-expect-error it is called watch
    defineRole({ name: "Ann", watches: [Report] });
    expectTypeOf(defineRole({ name: "Ann", profile: "Architect" }).profile).toEqualTypeOf<string>();
  });

  test("says messages or nothing", () => {
    expectTypeOf(defineRole({ name: "Ann", react: (rc) => rc.message("x") })).toExtend<Role>();
    defineRole({ name: "Ann", react: (rc) => [rc.message("x"), createMessage("y", { instructContent: { a: 1 } })] });
    defineRole({ name: "Ann", react: async (rc) => void (await rc.ask("x")) });
    // @ts-expect-error a text is made a message by rc.message
    defineRole({ name: "Ann", react: () => "text" });
    // @ts-expect-error news are messages
    defineRole({ name: "Ann", observe: () => ["text"] });
    // @ts-expect-error an action's name is no action
    defineRole({ name: "Ann", think: () => "Report" });
  });

  test("never changes", () => {
    const ann = defineRole({ name: "Ann" });
    // @ts-expect-error a definition holds nothing of a run
    ann.name = "Bob";
    // @ts-expect-error nor does its watch list grow
    ann.watch?.push(Report);
    expectTypeOf(ann.actions).toEqualTypeOf<readonly Action[]>();
  });
});

describe("a role's context", () => {
  test("gives what was heard and what is remembered, typed by cause", () => {
    const of = (rc: RoleContext): void => {
      expectTypeOf(rc.news).toEqualTypeOf<readonly Message[]>();
      expectTypeOf(rc.memory).toEqualTypeOf<MessageMemory>();
      expectTypeOf(rc.memory.newestBy(Report)).toEqualTypeOf<Message<{ count: number }> | undefined>();
      expectTypeOf(rc.plan).toEqualTypeOf<Plan>();
      // @ts-expect-error the news are what they are
      rc.news.push(createMessage("x"));
      // @ts-expect-error a role cannot take another's name
      rc.name = "Bob";
    };
    expectTypeOf(of).toBeCallableWith({} as RoleContext);
  });

  test("waits for values of the type of a schema", () => {
    const of = (rc: RoleContext): void => {
      expectTypeOf(rc.waitFor("paid")).resolves.toEqualTypeOf<Json>();
      expectTypeOf(rc.waitFor("paid", { schema: z.object({ amount: z.number() }) })).resolves.toEqualTypeOf<{ amount: number }>();
      expectTypeOf(rc.sleep("2031-05-01")).resolves.toEqualTypeOf<void>();
      // @ts-expect-error a time is no object
      void rc.sleep({ days: 3 });
    };
    void of;
  });

  test("makes messages of the type of what they carry, and tells who will hear them", () => {
    const of = (rc: RoleContext): void => {
      expectTypeOf(rc.message("x", { instructContent: { a: 1 } })).toEqualTypeOf<Message<{ a: number }>>();
      expectTypeOf(rc.publish(rc.message("x")).recipients).toEqualTypeOf<readonly string[]>();
      // @ts-expect-error a text is no message
      rc.publish("x");
    };
    void of;
  });
});
