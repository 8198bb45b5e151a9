import { canonicalJson, isUnchanging, type Json, unchanging, contentHash, textHash } from "../../kernel/json.ts";
import { NotJsonError } from "../../kernel/errors.ts";
import type { Mask } from "../../kernel/mask.ts";
import { type ChatMessage, isParsedMessage } from "../../model/chat-message.ts";
import { masked } from "../record/masking.ts";
import type { StepSpec } from "../../kernel/step.ts";

/** A value without secrets: as it is recorded, and as canonical JSON. */
export interface WrittenValue {
  readonly value: Json;
  readonly text: string;
}

type Conversation = { readonly [key: string]: unknown } & { readonly messages: readonly unknown[] };

/** The written forms of values that cannot change, kept as long as those values. */
interface Known {
  readonly messages: WeakMap<object, WrittenValue>;
  readonly members: WeakMap<object, WrittenValue>;
}

/** By mask: runs without secrets of their own share one mask. */
const knownBy = new WeakMap<Mask, Known>();

function knownTo(mask: Mask): Known {
  const known = knownBy.get(mask) ?? { messages: new WeakMap(), members: new WeakMap() };
  knownBy.set(mask, known);
  return known;
}

/**
 * Writes the requests of steps as they are recorded. It owns the written forms of messages to models and of answer schemas, which cannot
 * change: a growing conversation is written and masked only from its new messages on, and a schema once.
 *
 * StepRequests.SR1 (`of`) the result equals writing, masking and reading the whole value.
 * StepRequests.SR2 (`#message`, `#member`) values shared by requests cannot be changed.
 */
export class StepRequests {
  readonly #mask: Mask;
  readonly #known: Known;

  constructor(mask: Mask) {
    this.#mask = mask;
    this.#known = knownTo(mask);
  }

  /** @throws NotJsonError */
  of(request: unknown): WrittenValue {
    return (isConversation(request) ? this.#conversation(request) : undefined) ?? this.whole(request);
  }

  /** Writes any value as a whole. @throws NotJsonError */
  whole(request: unknown): WrittenValue {
    const text = canonicalJson(request ?? null);
    const given = JSON.parse(text) as Json;
    const value = masked(this.#mask, given);
    return value === given ? { value, text } : { value, text: canonicalJson(value) };
  }

  /** Undefined for a request that must be written as a whole. */
  #conversation(request: Conversation): WrittenValue | undefined {
    const value: Record<string, Json> = {};
    const texts: string[] = [];
    try {
      for (const key of Object.keys(request).sort()) {
        if (request[key] === undefined) continue;
        if (key === "__proto__" || this.#mask(key) !== key) return undefined;
        const member = key === "messages" ? this.#messages(request.messages) : this.#member(key, request[key]);
        value[key] = member.value;
        texts.push(`${JSON.stringify(key)}:${member.text}`);
      }
    } catch (error) {
      if (error instanceof NotJsonError) return undefined;
      throw error;
    }
    return { value, text: `{${texts.join(",")}}` };
  }

  #messages(messages: readonly unknown[]): WrittenValue {
    const values: Json[] = [];
    const texts: string[] = [];
    for (const message of messages) {
      const { value, text } = isParsedMessage(message) ? this.#message(message) : (this.#words(message) ?? this.#item(message));
      values.push(value);
      texts.push(text);
    }
    return { value: values, text: `[${texts.join(",")}]` };
  }

  /** Writes the most frequent form of a message: a role and a text. */
  #words(message: unknown): WrittenValue | undefined {
    if (typeof message !== "object" || message === null || Object.getPrototypeOf(message) !== Object.prototype) return undefined;
    const { role, content } = message as { readonly role?: unknown; readonly content?: unknown };
    if (typeof role !== "string" || typeof content !== "string" || Object.keys(message).length !== 2) return undefined;
    if (Symbol.toStringTag in message || "toJSON" in message) return undefined;
    const value = { content: this.#mask(content), role: this.#mask(role) };
    return { value, text: `{"content":${JSON.stringify(value.content)},"role":${JSON.stringify(value.role)}}` };
  }

  #message(message: ChatMessage): WrittenValue {
    const known = this.#known.messages.get(message);
    if (known !== undefined) return known;
    const { value, text } = this.#item(message);
    const written = { value: unchanging(value), text };
    this.#known.messages.set(message, written);
    return written;
  }

  /** A member is written inside a container, so that the limit on nesting counts the same levels as in the whole request. */
  #member(key: string, member: unknown): WrittenValue {
    if (typeof member === "string") return this.#text(member);
    if (typeof member !== "object") return { value: member as Json, text: canonicalJson(member) };
    if (!isUnchanging(member)) return this.#within(key, member);
    const known = this.#known.members.get(member);
    if (known !== undefined) return known;
    const { value, text } = this.#within(key, member);
    const written = { value: unchanging(value), text };
    this.#known.members.set(member, written);
    return written;
  }

  #text(words: string): WrittenValue {
    const value = this.#mask(words);
    return { value, text: JSON.stringify(value) };
  }

  #within(key: string, member: unknown): WrittenValue {
    const { value, text } = this.whole({ [key]: member });
    return { value: (value as Readonly<Record<string, Json>>)[key] ?? null, text: text.slice(JSON.stringify(key).length + 2, -1) };
  }

  #item(item: unknown): WrittenValue {
    const { value, text } = this.whole([[item]]);
    return { value: (value as Json[][])[0]?.[0] ?? null, text: text.slice(2, -2) };
  }
}

/** True for a plain object with a list of messages. */
function isConversation(request: unknown): request is Conversation {
  if (typeof request !== "object" || request === null || Object.getPrototypeOf(request) !== Object.prototype) return false;
  const { messages } = request as { readonly messages?: unknown };
  return Array.isArray(messages) && !("toJSON" in request) && !("toJSON" in messages) && !(Symbol.toStringTag in request);
}

/** Hexadecimal digits of the sha256 in an address: 128 bits. */
const ADDRESS_DIGITS = 32;

/**
 * The addresses under which one activation has asked. It owns the count of each.
 *
 * StepAddresses.AD1 (`keyOf`) an address is sha256 of kind, name, masked request and the path of enclosing steps; a key is an address and
 * its occurrence, which is counted when the step is asked for.
 */
export class StepAddresses {
  readonly #occurrences = new Map<string, number>();

  /** @param request its canonical JSON, which is written and hashed once */
  keyOf(spec: Pick<StepSpec, "kind" | "name">, request: string, path: string): string {
    const asked = `[${JSON.stringify(spec.kind)},${JSON.stringify(spec.name)},${request},${JSON.stringify(path)}]`;
    const address = textHash(asked).slice(0, ADDRESS_DIGITS);
    const occurrence = this.#occurrences.get(address) ?? 0;
    this.#occurrences.set(address, occurrence + 1);
    return `${address}.${occurrence}`;
  }
}

/** Identifies an effect among all runs, the same in each attempt of an activation, so that its receiver can detect a repetition. */
export function effectId(runId: string, act: string, key: string): string {
  return stepId(runId, act.replace(/~\d+$/, ""), key);
}

/** Identifies a step among all runs, so that its question can be answered later. */
export function stepId(runId: string, act: string, key: string): string {
  return contentHash([runId, act, key]).slice(0, ADDRESS_DIGITS);
}

/** The place of a step: the path of enclosing steps, the nearest of them, and its place among its siblings. */
export interface StepPlace {
  readonly path: string;
  readonly parent: string | undefined;
  readonly asked: number;
}
