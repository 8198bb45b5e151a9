import type { Json } from "../kernel/json.ts";
import { ControlError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";

/** Deeper values are not read. */
const MAX_DEPTH = 100;

/** A value as plain JSON. */
interface PlainValue {
  readonly value: Json;
  /** True when the value is larger than the limit. */
  readonly isCut: boolean;
}

/**
 * Any value as plain JSON of bounded size. Values that JSON lacks become words: `[cycle]`, `[binary: 512 bytes]`, `[function]`. Never
 * throws, whatever the value does when it is read, and reads no more of it than it returns.
 *
 * @param limit most characters, near enough
 */
export function plainValue(value: unknown, limit: number): PlainValue {
  const walk = new Walk(limit);
  const plain = walk.tell(value, 0);
  return { value: plain === undefined ? "[undefined]" : plain, isCut: walk.isCut };
}

/** One walk over a value. It owns the characters left, and the objects around the current place. */
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
      // Copying such a member would change a prototype, and no journal takes it.
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

/** Nobody awaits the promise, so its failure would end the process. */
function unawaited(promise: Promise<unknown>): string {
  promise.catch(() => {});
  return "[promise: it was not awaited]";
}

/** The text of a thrown value. Reading it may throw in turn. */
export function toldOf(thrown: unknown): string {
  try {
    return thrownText(thrown);
  } catch {
    return "an error that cannot be read";
  }
}

/** The thrown value if it is an interruption. */
export function interruptionIn(thrown: unknown): ControlError | undefined {
  try {
    return thrown instanceof ControlError ? thrown : undefined;
  } catch {
    return undefined;
  }
}
