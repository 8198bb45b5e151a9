import { canonicalJson, isUnchanging, type Json, textHash, unchanging } from "../../kernel/json.ts";
import { NotJsonError } from "../../kernel/errors.ts";
import { type Mask, masked } from "../../kernel/mask.ts";
import { isRecord } from "../../kernel/value-kind.ts";

export interface WrittenValue {
  readonly value: Json;
  readonly text: string;
}

type Conversation = { readonly [key: string]: unknown } & { readonly messages: readonly unknown[] };

/** The written forms of immutable values by mask; runs without own secrets share one. */
const writtenBy = new WeakMap<Mask, WeakMap<object, WrittenValue>>();

/**
 * Writes the recorded form of the requests of steps. It owns the written forms of messages and schemas, which cannot change: only the new
 * messages of a growing conversation are written and masked.
 *
 * StepRequests.SR1 (`of`) the result equals writing, masking and reading the whole value.
 * StepRequests.SR2 (`#write`) values shared by requests cannot be changed.
 */
export class StepRequests {
  readonly #mask: Mask;
  readonly #written: WeakMap<object, WrittenValue>;

  constructor(mask: Mask) {
    this.#mask = mask;
    this.#written = writtenBy.get(mask) ?? new WeakMap();
    writtenBy.set(mask, this.#written);
  }

  of(request: unknown): WrittenValue {
    try {
      return (isConversation(request) ? this.#conversation(request) : undefined) ?? this.#write(request);
    } catch (error) {
      // The error of a part lacks the path in the whole request.
      if (error instanceof NotJsonError) return this.#write(request);
      throw error;
    }
  }

  /** Undefined if a key requires writing the request as a whole. */
  #conversation(request: Conversation): WrittenValue | undefined {
    const value: Record<string, Json> = {};
    const texts: string[] = [];
    for (const key of Object.keys(request).sort()) {
      if (request[key] === undefined) continue;
      if (key === "__proto__" || key === "constructor" || this.#mask(key) !== key) return undefined;
      const member = key === "messages" ? this.#messages(request.messages) : this.#write(request[key], 1);
      value[key] = member.value;
      texts.push(`${JSON.stringify(key)}:${member.text}`);
    }
    return { value, text: `{${texts.join(",")}}` };
  }

  #messages(messages: readonly unknown[]): WrittenValue {
    const values: Json[] = [];
    const texts: string[] = [];
    for (const message of messages) {
      const { value, text } = this.#write(message, 2);
      values.push(value);
      texts.push(text);
    }
    return { value: values, text: `[${texts.join(",")}]` };
  }

  /** @param above levels of nesting around the value */
  #write(given: unknown, above = 0): WrittenValue {
    const known = isUnchanging(given) ? this.#written.get(given) : undefined;
    if (known !== undefined) return known;
    const text = canonicalJson(given ?? null, { above });
    const read = JSON.parse(text) as Json;
    const value = masked(this.#mask, read);
    const written = { value, text: value === read ? text : canonicalJson(value) };
    if (isUnchanging(given)) {
      unchanging(value);
      this.#written.set(given, written);
    }
    return written;
  }
}

function isConversation(request: unknown): request is Conversation {
  if (typeof request !== "object" || request === null || Object.getPrototypeOf(request) !== Object.prototype) return false;
  const { messages } = request as { readonly messages?: unknown };
  return Array.isArray(messages) && !("toJSON" in request) && !("toJSON" in messages) && !(Symbol.toStringTag in request);
}

export function withShown(request: Json, shown: Json): Json {
  return isRecord(request) && isRecord(shown) ? { ...request, ...shown } : request;
}

/** Hexadecimal digits of the sha256 in an address: 128 bits. */
export const ADDRESS_DIGITS = 32;

/** Identifies a step among all runs, so that its question can be answered later, and the receiver of an effect can detect a repetition. */
export function stepId(runId: string, act: string, key: string): string {
  return textHash(JSON.stringify([runId, act, key])).slice(0, ADDRESS_DIGITS);
}

/** The id of an activation, the same in each attempt. */
export function withoutAttempt(act: string): string {
  return act.replace(/~\d+$/, "");
}
