import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/agent/index.ts";
import {
  Action,
  type ActionContext,
  createMessage,
  defineAction,
  defineRole,
  type Deps,
  type Environment,
  type Message,
  Team,
} from "../../src/index.ts";
import type { InputsOf, ActionResult } from "../../src/role/action.ts";

// As a program does with "troupe".
declare module "../../src/index.ts" {
  interface Deps {
    readonly towerClock?: { strike(): void };
  }
}

interface Draft {
  readonly title: string;
}
class WriteDraft extends Action<Draft> {}
const Stars = z.object({ stars: z.number() });
const Review = defineAction({ name: "Review", output: Stars });

declare const ctx: ActionContext;

type Typed<P> = Message<P> & { readonly instructContent: P };

describe("inputs", () => {
  test("are typed by what is needed: instances, classes and names, in their order", () => {
    defineAction({
      name: "Edit",
      needs: [Review, WriteDraft, new WriteDraft(), "Anything"],
      run: ({ inputs }) => {
        expectTypeOf(inputs).toEqualTypeOf<readonly [Typed<{ stars: number }>, Typed<Draft>, Typed<Draft>, Message]>();
        expectTypeOf(inputs[0].instructContent.stars).toEqualTypeOf<number>();
        // @ts-expect-error there are as many as needs
        expectTypeOf(inputs[4]).toBeUndefined();
      },
      prompt: ({ inputs: [review, draft] }) => `${review.content} ${draft.instructContent.title}`,
      sendTo: ({ inputs }) => [inputs[1].sentFrom],
    });
  });

  test("are none when nothing is needed", () => {
    defineAction({
      name: "Start",
      run: ({ inputs }) => {
        expectTypeOf(inputs).toEqualTypeOf<readonly []>();
        // @ts-expect-error nothing was asked for
        expectTypeOf(inputs[0]).toBeUndefined();
      },
    });
  });

  test("cannot be needed of what is no address", () => {
    // @ts-expect-error a number is none
    defineAction({ name: "Edit", needs: [5] });
    expectTypeOf<InputsOf<readonly [typeof Review, "Draft"]>>().toEqualTypeOf<readonly [Typed<{ stars: number }>, Message]>();
  });

  test("of a subclass are named in its type", () => {
    class Edit extends Action<unknown, readonly [typeof WriteDraft]> {
      override readonly needs = [WriteDraft] as const;
      override run({ inputs: [draft] }: ActionContext<InputsOf<readonly [typeof WriteDraft]>>): string {
        expectTypeOf(draft).toEqualTypeOf<Typed<Draft>>();
        return draft.content;
      }
    }
    expectTypeOf(new Edit().run).returns.toEqualTypeOf<string>();
  });
});

describe("the result of an action", () => {
  test("is its output, a message of it, or nothing", () => {
    expectTypeOf(defineAction({ name: "A", output: Stars, run: () => ({ stars: 1 }) })).toExtend<Action<{ stars: number }>>();
    defineAction({ name: "B", output: Stars, run: () => Promise.resolve({ stars: 1 }) });
    defineAction({ name: "C", output: Stars, run: () => createMessage("x", { instructContent: { stars: 1 } }) });
    defineAction({ name: "D", output: Stars, run: () => undefined });
    defineAction({ name: "E", output: Stars, run: () => {} });
  });

  test("must fit the schema", () => {
    expectTypeOf<{ stars: string }>().not.toExtend<ActionResult<{ stars: number }>>();
    // @ts-expect-error stars are counted
    defineAction({ name: "A", output: Stars, run: () => ({ stars: "many" }) });
    // @ts-expect-error stars are missing
    defineAction({ name: "B", output: Stars, run: () => Promise.resolve({}) });
    // @ts-expect-error a message of something else
    defineAction({ name: "C", output: Stars, run: () => createMessage("x", { instructContent: { stars: "many" } }) });
  });

  test("is no text where an output is promised: it would be refused when it runs", () => {
    // @ts-expect-error a text is no output
    defineAction({ name: "A", output: Stars, run: () => "five stars" });
    // @ts-expect-error nor is one that comes later
    defineAction({ name: "B", output: Stars, run: (context) => context.ask("how many stars?") });
    const Word = defineAction({ name: "C", output: z.string(), run: () => "where the output is a text it is one" });
    expectTypeOf(Word).toExtend<Action<string>>();
  });

  test("is a text, a message, or nothing where no output is promised", () => {
    expectTypeOf(defineAction({ name: "A", run: () => "text" })).toExtend<Action>();
    defineAction({ name: "B", run: (context) => context.ask("for text") });
    defineAction({ name: "C", run: () => createMessage("x") });
    defineAction({ name: "D", run: () => [createMessage("x"), createMessage("y")] });
    defineAction({ name: "E", run: () => {} });
    // @ts-expect-error data needs a schema: it would be refused when it runs
    defineAction({ name: "F", run: () => ({ stars: 1 }) });
    // @ts-expect-error and so does a number
    defineAction({ name: "G", run: () => Promise.resolve(5) });
  });

  test("of a subclass is what its type says", () => {
    class Rate extends Action<{ stars: number }> {
      override readonly output = Stars;
      // @ts-expect-error stars are counted
      override run(): { stars: string } {
        return { stars: "many" };
      }
    }
    expectTypeOf(new Rate().output).toEqualTypeOf<typeof Stars>();
    expectTypeOf<{ stars: number }>().toExtend<ActionResult<{ stars: number }>>();
  });

  test("is rendered and addressed by its type", () => {
    defineAction({
      name: "Rate",
      output: Stars,
      render: (output) => {
        expectTypeOf(output).toEqualTypeOf<{ stars: number }>();
        return String(output.stars);
      },
      sendTo: (_ctx, output) => {
        expectTypeOf(output).toEqualTypeOf<{ stars: number } | undefined>();
        return ["Ann"];
      },
    });
    // @ts-expect-error a message's content is a text
    defineAction({ name: "Rate", output: Stars, render: ({ stars }) => stars });
    // @ts-expect-error addresses come in a list
    defineAction({ name: "Rate", sendTo: () => "Ann" });
  });

  test("carries its type into routing", () => {
    expectTypeOf(Review).toExtend<Action<{ stars: number }>>();
    expectTypeOf(Review["~says"]).toEqualTypeOf<{ stars: number } | undefined>();
  });
});

describe("the state an action needs", () => {
  const Purse = z.object({ coins: z.number().default(10), notes: z.array(z.string()).default([]) });

  test("types the state of its context, beside inputs and output", () => {
    const Pay = defineAction({
      name: "Pay",
      needs: [Review],
      output: Stars,
      state: Purse,
      prompt: (context) => `${context.state.coins} coins`,
      run: (context) => {
        expectTypeOf(context.state).toEqualTypeOf<{ coins: number; notes: string[] }>();
        expectTypeOf(context.inputs[0].instructContent.stars).toEqualTypeOf<number>();
        context.state.coins -= 1;
        // @ts-expect-error coins are counted
        context.state.coins = "many";
        // @ts-expect-error there is no such thing in it
        context.state.gold = 1;
        return { stars: context.state.coins };
      },
    });
    expectTypeOf(Pay).toExtend<Action<{ stars: number }>>();
    defineRole({ name: "Ann", state: Purse, actions: [Pay] });
  });

  test("is anything under a name where nothing is said", () => {
    defineAction({ name: "A", run: (context) => expectTypeOf(context.state).toEqualTypeOf<Record<string, unknown>>() && "x" });
    // @ts-expect-error a schema is zod's
    defineAction({ name: "B", state: { coins: 1 } });
  });
});

describe("messages from outside", () => {
  test("has the type that a program registers, in actions, roles and tools", () => {
    defineAction({ name: "A", run: (context) => expectTypeOf(context.deps).toEqualTypeOf<Deps>() && "x" });
    defineRole({ name: "Ann", react: (rc) => void expectTypeOf(rc.deps.towerClock).toEqualTypeOf<{ strike(): void } | undefined>() });
    defineTool({
      name: "strike",
      description: "strikes",
      parameters: z.object({}),
      execute: (_, context) => {
        expectTypeOf(context.deps).toEqualTypeOf<Deps | undefined>();
        context.deps?.towerClock?.strike();
      },
    });
    // @ts-expect-error nobody registered that
    void ctx.deps.database;
    expectTypeOf<NonNullable<ConstructorParameters<typeof Team>[0]>["deps"]>().toEqualTypeOf<Deps | undefined>();
    expectTypeOf<NonNullable<ConstructorParameters<typeof Environment>[0]>["deps"]>().toEqualTypeOf<Deps | undefined>();
    // @ts-expect-error of another type than registered
    void new Team({ deps: { towerClock: 5 } });
  });
});

describe("asking", () => {
  test("gives a text, or what the schema says", () => {
    expectTypeOf(ctx.ask("x")).resolves.toEqualTypeOf<string>();
    expectTypeOf(ctx.ask("x", { schema: Stars })).resolves.toEqualTypeOf<{ stars: number }>();
    expectTypeOf(ctx.ask("x", { schema: z.array(z.enum(["a", "b"])), temperature: 0 })).resolves.toEqualTypeOf<("a" | "b")[]>();
    expectTypeOf(ctx.ask("x", { system: "s", maxTokens: 1 })).resolves.toEqualTypeOf<string>();
  });

  test("gives what comes out of a schema that changes what goes in", () => {
    const Length = z.object({ text: z.string().transform((text) => text.length), note: z.string().default("") });
    expectTypeOf(ctx.ask("x", { schema: Length })).resolves.toEqualTypeOf<{ text: number; note: string }>();
  });

  test("takes no option it does not know", () => {
    // @ts-expect-error a limit is called maxTokens
    void ctx.ask("x", { max_tokens: 5 });
    // @ts-expect-error a schema is zod's
    void ctx.ask("x", { schema: { type: "object" } });
    expectTypeOf(ctx.ask("x", {})).resolves.toEqualTypeOf<string>();
  });

  test("a step gives what its effect gives", () => {
    expectTypeOf(ctx.step("read", {}, () => Promise.resolve({ lines: 3 }))).resolves.toEqualTypeOf<{ lines: number }>();
    // @ts-expect-error an effect takes time: it gives a promise
    void ctx.step("read", {}, () => 3);
    expectTypeOf(ctx.human.ask("?")).resolves.toEqualTypeOf<string>();
  });
});

describe("a definition", () => {
  test("has a name, and none of its parts under another", () => {
    // @ts-expect-error a name is its identity
    defineAction({ run: () => "x" });
    // @ts-expect-error the schema is called output
    defineAction({ name: "A", schema: Stars });
    // @ts-expect-error and never changes
    Review.name = "Other";
    expectTypeOf(Review.name).toEqualTypeOf<string>();
  });
});
