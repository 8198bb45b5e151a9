import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { addressOf, createMessage, defineAction, memoryJournal, type MessageQueue, Team, usd, type Message, type Receipt } from "troupe";
import type { Journal } from "troupe/ports";

describe("the code of a user has the types it seems to have", () => {
  it("messages carry the type of what they carry, and never change", () => {
    const message = createMessage("two", { instructContent: { two: 2 } });
    expectTypeOf(message).toEqualTypeOf<Message<{ two: number }>>();
    expectTypeOf(message.sendTo).toEqualTypeOf<readonly string[]>();
    // @ts-expect-error a message is read-only
    message.content = "three";
  });

  it("an action is an address, and so is a string", () => {
    expectTypeOf(addressOf).returns.toEqualTypeOf<string>();
    expectTypeOf(addressOf).toBeCallableWith("Ada");
    expectTypeOf(addressOf).toBeCallableWith(defineAction({ name: "Greet" }));
    // @ts-expect-error a number is none
    addressOf(1);
  });

  it("an action's inputs and output are typed by its needs and its schema", () => {
    const Count = defineAction({ name: "Count", output: z.object({ count: z.number() }), run: () => ({ count: 1 }) });
    defineAction({
      name: "Double",
      needs: [Count],
      run: (ctx) => {
        expectTypeOf(ctx.inputs[0].instructContent).toEqualTypeOf<{ count: number }>();
      },
    });
    // @ts-expect-error what is returned must fit the schema
    defineAction({ name: "Miscount", output: z.object({ count: z.number() }), run: () => ({ count: "one" }) });
  });

  it("queues, receipts, journals and money", () => {
    expectTypeOf<MessageQueue["push"]>().returns.toEqualTypeOf<boolean>();
    expectTypeOf<Receipt["recipients"]>().toEqualTypeOf<readonly string[]>();
    expectTypeOf(memoryJournal()).toExtend<Journal>();
    expectTypeOf<ConstructorParameters<typeof Team>[0]>().toBeNullable();
    // @ts-expect-error a budget is money, not a number of anything
    void new Team({ budget: "3" });
    void new Team({ budget: usd(3) });
  });
});
