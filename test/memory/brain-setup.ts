import { createMessage, type Message, type MessageFields } from "../../src/message/message.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { BrainMemory } from "../../src/memory/brain-memory.ts";
import type { BrainMemoryOptions } from "../../src/memory/brain-memory.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";
import type { ScriptedAnswer } from "../../src/testing/scripted-model.ts";

/** 2026-11-21 09:30 in Greenwich. */
export const MORNING = Date.UTC(2026, 10, 21, 9, 30);

/** The n-th thing said, a minute after the one before. */
export function said(n: number, fields: MessageFields = {}): Message {
  return createMessage(`word ${n}`, { id: `m${n}`, timestamp: MORNING + n * 60_000, ...fields });
}

/** A model that gives its summaries a number. */
export function summarizer(): ScriptedModel {
  return scriptedModel((_request, n) => `summary ${n + 1}`);
}

/** A memory over a model that answers as told. Its summaries cover all but an open question, unless the options say otherwise. */
export function brainWith(
  answer: ScriptedModel | ScriptedAnswer = summarizer(),
  options: Partial<BrainMemoryOptions> = {},
): { brain: BrainMemory; model: ScriptedModel } {
  const model = typeof answer === "function" ? scriptedModel(answer) : answer;
  return { brain: new BrainMemory({ model, keepMessages: 0, ...options }), model };
}

/** Adds what was said from one number to another, in turns of user and assistant. */
export function talk(brain: BrainMemory, from: number, to: number): void {
  for (let n = from; n <= to; n++) {
    if (n % 2 === 1) brain.addTalk(said(n));
    else brain.addAnswer(said(n));
  }
}

export function idsOf(messages: readonly Message[]): string[] {
  return messages.map((message) => message.id);
}

/** All that a model was shown in one request. */
export function shownIn(request: ChatRequest | undefined): string {
  return (request?.messages ?? []).map((message) => message.content ?? "").join("\n");
}

/** A promise and how to settle it. */
export function gate<T>(): { readonly promise: Promise<T>; open(value: T): void; fail(error: Error): void } {
  let open: (value: T) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}
