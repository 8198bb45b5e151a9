import { describe, expect, it } from "vitest";
import { createMessage, type Message } from "../../../src/message/message.ts";
import type { ActEnded, Envelope, Observed } from "../../../src/runtime/record/event.ts";
import { freezeObserved } from "../../../src/runtime/record/frozen-event.ts";

const envelope: Envelope = { v: 1, runId: "r", seq: 0, time: 0 };
const plain = (): ActEnded => ({
  type: "act.ended",
  act: "Ann#0~1",
  role: "Ann",
  round: 0,
  take: 1,
  said: [
    { message: createMessage("a", { metadata: { deep: [1] } }), to: ["Bob"] },
    { message: open("b"), to: [], dead: ["Cid"] },
  ],
  memory: [
    ["+", "id"],
    ["+", open("c")],
  ],
  working: [
    ["-", "id"],
    ["+", open("d")],
  ],
});

/** A message that nobody has frozen. */
function open(content: string): Message {
  return { ...createMessage(content), instructContent: { deep: [{ list: [1] }] }, metadata: { deep: [{ list: [1] }] } };
}

/** Every object in a value that could still be changed, by its place. */
function openIn(value: unknown, place = "event"): string[] {
  if (typeof value !== "object" || value === null) return [];
  const within = Object.entries(value).flatMap(([key, member]) => openIn(member, `${place}.${key}`));
  return Object.isFrozen(value) ? within : [place, ...within];
}

describe("an event for observers", () => {
  it.each<[string, () => Observed]>([
    ["an end that changed memories alone", () => ({ ...envelope, ...plain() })],
    ["one that says and remembers nothing", () => ({ ...envelope, ...plain(), said: [], memory: [], working: [] })],
    ["one that changed its state", () => ({ ...envelope, ...plain(), state: { set: { list: [{ deep: [1] }] }, unset: ["x"] } })],
    ["one with a plan", () => ({ ...envelope, ...plain(), plan: { tasks: [{ id: "1" }] } })],
    ["one with joins", () => ({ ...envelope, ...plain(), joins: { 0: { a: "b" } } })],
    ["one that asked in an order of its own", () => ({ ...envelope, ...plain(), asked: ["a", "b"] })],
    ["a message", () => ({ ...envelope, type: "message", message: open("a"), to: ["Bob"] })],
    ["a notice", () => ({ type: "message.output", message: open("a") })],
  ])("is frozen through and through: %s", (_what, made) => {
    const observed = made();
    expect(openIn(observed).length).toBeGreaterThan(0);
    freezeObserved(observed);
    expect(openIn(observed)).toEqual([]);
  });
});
