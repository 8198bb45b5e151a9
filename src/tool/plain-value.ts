import type { Json } from "../kernel/json.ts";
import { ControlError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";

/** Deeper values are not looked into. */
const MAX_DEPTH = 100;

/** A value as plain JSON, and what it does not say of it. */
interface PlainValue {
  readonly value: Json;
  /** Whether there was more than the limit. */
  readonly isCut: boolean;
}

/**
 * Any value as plain JSON of bounded size. What JSON cannot say stands as a word in its place: `[cycle]`, `[binary: 512 bytes]`,
 * `[function]`. Never throws, whatever the value does when it is looked at, and looks at no more of it than it gives back.
 *
 * @param limit most characters, near enough
 */
export function plainValue(value: unknown, limit: number): PlainValue {
  const walk = new Walk(limit);
  const plain = walk.tell(value, 0);
  return { value: plain === undefined ? "[undefined]" : plain, isCut: walk.isCut };
}

/** One look at a value. It owns how much may still be told, and which objects it stands in. */
class Walk {
  #left: number;
  readonly #above = new Set<object>();
  isCut = false;

  constructor(limit: number) {
    this.#left = limit;
  }

  /** Undefined for undefined. */
  tell(value: unknown, depth: number): Json | undefined {
    switch (typeof value) {
      case "string":
        return this.#text(value);
      case "number":
        this.#left -= 8;
        return Number.isFinite(value) ? value : String(value);
      case "boolean":
        this.#left -= 5;
        return value;
      case "bigint":
        return this.#text(String(value));
      case "undefined":
        return undefined;
      case "symbol":
        return "[symbol]";
      case "function":
        return "[function]";
      case "object":
        return value === null ? null : this.#object(value, depth);
    }
  }

  #text(text: string): string {
    const shown = text.length <= this.#left ? text : text.slice(0, Math.max(0, this.#left));
    this.isCut ||= shown.length < text.length;
    this.#left -= text.length + 2;
    return shown;
  }

  #object(value: object, depth: number): Json {
    if (this.#above.has(value)) return "[cycle]";
    if (depth >= MAX_DEPTH) return "[more]";
    this.#above.add(value);
    try {
      return this.#members(value, depth);
    } catch (error) {
      return `[cannot be read: ${toldOf(error)}]`;
    } finally {
      this.#above.delete(value);
    }
  }

  #members(value: object, depth: number): Json {
    if (Array.isArray(value)) return this.#list(value, depth);
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[binary: ${value.byteLength} bytes]`;
    if (value instanceof Error) return toldOf(value);
    if (value instanceof Promise) return unawaited(value);
    if (value instanceof Map || value instanceof Set) return this.#list(value, depth);
    if (typeof toJSON === "function") return this.tell((toJSON as () => unknown).call(value), depth + 1) ?? null;
    return this.#record(value, depth);
  }

  #list(values: Iterable<unknown>, depth: number): Json {
    const items: Json[] = [];
    for (const item of values) {
      if (this.#isFull()) break;
      this.#left -= 2;
      items.push(this.tell(item, depth + 1) ?? null);
    }
    return items;
  }

  #record(value: object, depth: number): Json {
    const members: [string, Json][] = [];
    for (const name in value) {
      if (!Object.hasOwn(value, name)) continue;
      if (this.#isFull()) break;
      const key = this.#text(name);
      const member = this.tell((value as Readonly<Record<string, unknown>>)[name], depth + 1);
      // Whoever copies such a member would change a prototype, and no journal takes it.
      if (member !== undefined && key !== "__proto__") members.push([key, member]);
    }
    return Object.fromEntries(members);
  }

  #isFull(): boolean {
    if (this.#left > 0) return false;
    this.isCut = true;
    return true;
  }
}

/** Nobody will await it any more, so that its failure would end the process. */
function unawaited(promise: Promise<unknown>): string {
  promise.catch(() => {});
  return "[promise: it was not awaited]";
}

/** Deeper values are left to those who look closer. */
const DEEPEST_COPY = 100;

/**
 * A copy of a value that is nothing but JSON, its keys in the order of canonical JSON: what writing it as that and reading it back would give,
 * without the text. Undefined for any other value: one with numbers that JSON has not, with objects of a kind of their own, very deep, or
 * with keys that would change a prototype. May throw what looking at the value throws.
 */
export function plainCopy(value: unknown, depth: number = 0): Json | undefined {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      // There is no -0 in canonical JSON.
      return Number.isFinite(value) ? value + 0 : undefined;
    case "object":
      if (value === null) return null;
      if (depth === DEEPEST_COPY) return undefined;
      return Array.isArray(value) ? listCopy(value, depth) : recordCopy(value, depth);
    default:
      return undefined;
  }
}

function listCopy(value: readonly unknown[], depth: number): Json | undefined {
  if ("toJSON" in value) return undefined;
  const items: Json[] = [];
  for (const item of value) {
    const copy = plainCopy(item, depth + 1);
    if (copy === undefined) return undefined;
    items.push(copy);
  }
  return items;
}

function recordCopy(value: object, depth: number): Json | undefined {
  if (Object.getPrototypeOf(value) !== Object.prototype || "toJSON" in value || Symbol.toStringTag in value) return undefined;
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(value).sort()) {
    if (key === "__proto__") return undefined;
    const member = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined) continue;
    const inner = plainCopy(member, depth + 1);
    if (inner === undefined) return undefined;
    copy[key] = inner;
  }
  return copy;
}

/** What was thrown, or that nobody can tell: even looking at it may throw. */
export function toldOf(thrown: unknown): string {
  try {
    return thrownText(thrown);
  } catch {
    return "an error that cannot be read";
  }
}

/** The interruption that was thrown, if it is one. */
export function interruptionIn(thrown: unknown): ControlError | undefined {
  try {
    return thrown instanceof ControlError ? thrown : undefined;
  } catch {
    return undefined;
  }
}
