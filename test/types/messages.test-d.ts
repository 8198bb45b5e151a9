import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import {
  Action,
  createMessage,
  defineAction,
  defineRole,
  type Json,
  Memory,
  type Message,
  MessageQueue,
  parseMessage,
  serializeMessage,
  UserRequirement,
} from "../../src/index.ts";
import type { ReadableMemory } from "../../src/memory/message-memory.ts";
import type { Addressable } from "../../src/message/address.ts";

interface Draft {
  readonly title: string;
}
class WriteDraft extends Action<Draft> {}
const Review = defineAction({ name: "Review", output: z.object({ stars: z.number() }) });
const Plain = defineAction({ name: "Plain" });

describe("a message", () => {
  test("is of the type of its payload, and without one of an unknown one", () => {
    expectTypeOf(createMessage("x", { instructContent: { title: "t" } })).toEqualTypeOf<Message<{ title: string }>>();
    expectTypeOf(createMessage<Draft>("x").instructContent).toEqualTypeOf<Draft | undefined>();
    expectTypeOf(createMessage("x")).toEqualTypeOf<Message>();
    expectTypeOf<Message<Draft>>().toExtend<Message>();
    // @ts-expect-error the payload must be what the message is said to carry
    createMessage<Draft>("x", { instructContent: { title: 1 } });
    const anything: Message = createMessage("x");
    // @ts-expect-error a message of anything is no message of a draft
    const draft: Message<Draft> = anything;
    void draft;
  });

  test("never changes", () => {
    const message = createMessage("x", { instructContent: { title: "t" } });
    // @ts-expect-error every field is read-only
    message.id = "other";
    // @ts-expect-error the payload too
    message.instructContent = { title: "u" };
    // @ts-expect-error and the list of recipients
    message.sendTo.push("Bob");
    // @ts-expect-error and the list of parents
    message.parents[0] = "p";
    // @ts-expect-error and what is told besides
    message.metadata["persisted"] = true;
    expectTypeOf(message.sendTo).toEqualTypeOf<readonly string[]>();
  });

  test("says what it is about in JSON alone", () => {
    expectTypeOf<Message["metadata"]>().toEqualTypeOf<Readonly<Record<string, Json>>>();
    expectTypeOf<string>().toExtend<Message["role"]>();
    expectTypeOf<Extract<Message["role"], "tool">>().toEqualTypeOf<"tool">();
    // @ts-expect-error a function is no JSON
    createMessage("x", { metadata: { run: () => 1 } });
    createMessage("x", { role: "Architect" });
    // @ts-expect-error a number is no role
    createMessage("x", { role: 5 });
  });

  test("is routed by names, actions, roles and classes of actions", () => {
    const ann = defineRole({ name: "Ann" });
    expectTypeOf(createMessage("x", { causeBy: WriteDraft, sentFrom: ann, sendTo: [ann, "Bob", Review] })).toEqualTypeOf<Message>();
    createMessage("x", { causeBy: UserRequirement, sendTo: new Set(["Bob"]) });
    createMessage("x", { causeBy: new WriteDraft(), sendTo: ann });
    // @ts-expect-error a number is no address
    createMessage("x", { sendTo: 5 });
    // @ts-expect-error nor is one among others
    createMessage("x", { sendTo: ["Bob", 5] });
    // @ts-expect-error null is not the same as left out
    createMessage("x", { causeBy: null });
  });

  test("read from outside it carries nobody knows what", () => {
    expectTypeOf(parseMessage({})).toEqualTypeOf<Message>();
    expectTypeOf(serializeMessage(createMessage("x")).v).toEqualTypeOf<number>();
  });
});

describe("a memory gives messages of the type that their cause says", () => {
  const memory: ReadableMemory = new Memory();

  test("by an action's instance, class, or name", () => {
    expectTypeOf(memory.getByAction(Review)).toEqualTypeOf<Message<{ stars: number }>[]>();
    expectTypeOf(memory.getByAction(new WriteDraft())).toEqualTypeOf<Message<Draft>[]>();
    expectTypeOf(memory.getByAction(WriteDraft)).toEqualTypeOf<Message<Draft>[]>();
    expectTypeOf(memory.getByAction("Review")).toEqualTypeOf<Message[]>();
    expectTypeOf(memory.getByAction(Plain)).toEqualTypeOf<Message[]>();
    // @ts-expect-error an address is asked for
    memory.getByAction(5);
  });

  test("by several actions at once", () => {
    expectTypeOf(memory.getByActions([Review, "Gossip"])).toExtend<Message[]>();
    expectTypeOf(memory.getByActions([Review, WriteDraft, UserRequirement])).toExtend<Message[]>();
    expectTypeOf(memory.getByActions([Review])).toEqualTypeOf<Message<{ stars: number }>[]>();
  });

  test("the newest, or none", () => {
    expectTypeOf(memory.newestBy(Review)).toEqualTypeOf<Message<{ stars: number }> | undefined>();
    expectTypeOf(memory.newestBy(WriteDraft)?.instructContent?.title).toEqualTypeOf<string | undefined>();
  });

  test("a user's message has no payload", () => {
    expectTypeOf(memory.newestBy(UserRequirement)?.instructContent).toEqualTypeOf<undefined>();
    expectTypeOf(UserRequirement).toExtend<Addressable>();
  });

  test("readonly fields cannot be written", () => {
    // @ts-expect-error a view has no add
    memory.add(createMessage("x"));
    expectTypeOf(new Memory().add).returns.toEqualTypeOf<boolean>();
  });
});

describe("a queue", () => {
  test("gives a message, or nothing", () => {
    const queue = new MessageQueue();
    expectTypeOf(queue.pop()).toEqualTypeOf<Message | undefined>();
    expectTypeOf(queue.popAll()).toExtend<readonly Message[]>();
    expectTypeOf(queue.push(createMessage("x"))).toEqualTypeOf<boolean>();
    // @ts-expect-error a text is no message yet
    queue.push("x");
  });
});
