import { type Embedder, hashingEmbedder } from "../../src/memory/embedder.ts";
import { inMemoryStore, type MessageStore } from "../../src/memory/message-store.ts";
import type { Recalled } from "../../src/memory/recollection.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type Role, type RoleOptions } from "../../src/role/role.ts";

const INTRODUCTION = "This is your memory.";

/** Says what it is asked, in one line; sums up in few words. What it says depends on the question alone. */
export function parrot(): ScriptedModel {
  return scriptedModel((request) => {
    const { content = "" } = request.messages.at(-1) ?? {};
    if (isSummary(request)) return `sum of ${content.split('"text"').length - 1} in ${content.length}`;
    return `I heard: ${content.replace(/^Answer: /, "")}`;
  });
}

export function isSummary(request: ChatRequest): boolean {
  return request.messages[0]?.content?.startsWith("You write the memory") === true;
}

/** The remembered part of a request: its block of memory, or nothing. */
export function rememberedIn(request: ChatRequest | undefined): string {
  return request?.messages.find(({ content }) => content?.startsWith(INTRODUCTION))?.content ?? "";
}

/** Lines of a block of memory under a title. */
export function linesOf(block: string, title: string): string[] {
  const part = block.split("\n\n").find((each) => each.startsWith(title));
  return part === undefined ? [] : part.split("\n").slice(1);
}

export const Answer = defineAction({ name: "Answer", run: (ctx) => ctx.ask(`Answer: ${ctx.text}`) });

export function answerer(name: string, options: Partial<RoleOptions> = {}): Role {
  return defineRole({ name, actions: [Answer], ...options });
}

/** The choices of the recalls of a run, in order. */
export function recallsIn(events: readonly RunEvent[]): Recalled[] {
  const keys = new Set(
    events.flatMap((event) => (event.type === "step.started" && event.kind === "memory" ? [event.act + event.key] : [])),
  );
  return events.flatMap((event) =>
    event.type === "step.ended" && keys.has(event.act + event.key) && event.ok ? [event.value as unknown as Recalled] : [],
  );
}

/** Everything a store has of a role, as `run id: words`. */
export async function storedIn(store: MessageStore, roleId: string): Promise<string[]> {
  const found: string[] = [];
  for await (const page of store.read(roleId, 0)) {
    for (const { runId, message } of page) found.push(`${runId} ${message.id}: ${message.content}`);
  }
  return found;
}

/** A store that can be watched, and told to misbehave before a method. */
export interface StoreUnderTest extends MessageStore {
  readonly calls: string[];
  before: (method: string) => void | Promise<void>;
}

export function storeUnderTest(inner: MessageStore = inMemoryStore()): StoreUnderTest {
  const calls: string[] = [];
  const store = { calls, before: (): void => {} } as unknown as StoreUnderTest;
  for (const name of ["state", "add", "places", "remove", "writeVectors", "clearVectors", "close"] as const) {
    const method = inner[name].bind(inner) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(store, {
      [name]: async (...args: unknown[]) => {
        calls.push(name);
        await store.before(name);
        return method(...args);
      },
    });
  }
  Object.assign(store, { read: inner.read.bind(inner), readVectors: inner.readVectors.bind(inner) });
  return store;
}

/** The hashing embedder as if it stood on a server: it costs, and tells how many tokens it took. */
export interface PaidEmbedder extends Embedder {
  readonly calls: (readonly string[])[];
  before: (n: number, signal: AbortSignal | undefined) => void | Promise<void>;
}

export function paidEmbedder(o: Partial<Embedder> = {}): PaidEmbedder {
  const { isFree: _free, ...inner } = hashingEmbedder({ dimensions: 64 });
  const paid: PaidEmbedder = {
    ...inner,
    id: "paid",
    model: "text-embedding-3-small",
    ...o,
    calls: [],
    before: () => {},
    embed: async (texts, { signal, onUsage } = {}) => {
      const n = paid.calls.push(texts) - 1;
      await paid.before(n, signal);
      onUsage?.({ inputTokens: texts.join(" ").split(" ").length });
      return inner.embed(texts);
    },
  };
  return paid;
}
