import { describe, expect, it } from "vitest";
import { type ChatRow, ChatReader, chatOf, type FindChatRow } from "../../src/adapters/event-chats.ts";
import type { Json } from "../../src/kernel/json.ts";

/** The rows of conversations, and how often one was asked for. */
function store(...chats: readonly (readonly Json[])[]): { readonly rows: Map<string, ChatRow>; readonly find: FindChatRow; asked: number } {
  const turns = chats.flatMap((messages) => chatOf(messages)?.turns ?? []);
  const made = {
    rows: new Map<string, ChatRow>(turns.map(({ chat, ...row }) => [chat, row])),
    asked: 0,
    find: (chat: string): ChatRow | undefined => {
      made.asked += 1;
      return made.rows.get(chat);
    },
  };
  return made;
}

function nameOf(messages: readonly Json[]): string {
  return chatOf(messages)?.digest ?? "";
}

function say(content: string): Json {
  return { role: "user", content };
}

/** Conversations of two messages, so many that a reader forgets the first. */
const many = Array.from({ length: 300 }, (_, n) => [say(`${n}`), say("go on")]);

describe("a reader of conversations", () => {
  const chat = [say("one"), say("two"), say("three")];
  const [first, second] = chatOf(chat)?.turns ?? [];

  it.each<[string, Partial<ChatRow> | undefined]>([
    ["is missing", undefined],
    ["has another text", { body: '{"content":"other","role":"user"}' }],
    ["has no text", { body: undefined }],
    ["is another message of the store", { message: first?.message, body: first?.body }],
    ["follows another conversation", { before: "" }],
    ["has no name", { message: 7 }],
  ])("ChatReader.C1 gives none with a turn that %s", (_what, change) => {
    const { rows, find } = store(chat);
    expect(new ChatReader().read(nameOf(chat), find)).toEqual(chat);
    const name = second?.chat ?? "";
    const whole = rows.get(name) as ChatRow;
    if (change === undefined) rows.delete(name);
    else rows.set(name, { ...whole, ...change });
    const reader = new ChatReader();
    expect(reader.read(nameOf(chat), find)).toBeUndefined();
    rows.set(name, whole);
    expect(reader.read(nameOf(chat), find)).toEqual(chat);
  });

  it("ChatReader.C2 keeps the latest ones, and reads the rows of the others again", () => {
    const kept = store(...many);
    const reader = new ChatReader();
    for (const one of many) reader.read(nameOf(one), kept.find);
    const names = reader.known();
    expect(names.length).toBeLessThan(many.length / 2);
    expect(names).toEqual(many.slice(-names.length).map(nameOf));
    kept.asked = 0;
    expect(reader.read(nameOf(many.at(-1) ?? []), kept.find)).toEqual(many.at(-1));
    expect(kept.asked).toBe(0);
    expect(reader.read(nameOf(many[0] ?? []), kept.find)).toEqual(many[0]);
    expect(kept.asked).toBe(2);
  });
});
