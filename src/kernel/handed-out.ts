import { nextMacrotask } from "./clock.ts";
import { ContextClosedError, ControlError, errorRecord, UsageError } from "./errors.ts";

/** The use of a promise: by nothing, by `await` or `return` alone, by a combinator such as `Promise.all`, or by a handler. */
type Use = "none" | "awaited" | "combined" | "handled";

export type Hand = <T>(what: string, work: Promise<T>) => Promise<T>;

interface EndOfBody {
  /** True where what fails late may have lost a race: it is no failure of the work. Default false. */
  readonly isRace?: boolean;
  readonly lost?: (what: string) => void;
}

interface Loose {
  readonly what: string;
  readonly error: unknown;
}

/**
 * The promises of one piece of work, such as an activation, that its code may forget to await. It owns the promises that have not settled.
 *
 * HandedOut.P1 (`hand`) no promise that is handed out, and none that follows from it by `then`, `catch` or `finally`, is ever an unhandled rejection.
 * HandedOut.P2 (`failure`) one that failed and was used by nothing until the end of its work is a failure of that work.
 * HandedOut.P3 (`close`) after the body of the work has ended, one that fails and was only awaited is a failure too, and stays pending: the
 * function that awaits it is not awaited itself, and its rejection would end the process. So does one that was given to a combinator: in a
 * `Promise.all` of several it is a failure, elsewhere it may have lost a race and is named in a warning. One with a handler is the handler's.
 * HandedOut.P4 (`refused`) what was asked for after the end of the body, and so was not done, is no failure: it is named in a warning.
 */
export class HandedOut {
  readonly #open = new Map<Promise<unknown>, Handed<unknown>>();
  #unused: (Loose & { readonly handed: Handed<unknown> })[] = [];
  readonly refused: string[] = [];
  #isClosed = false;
  #late: Loose | undefined;
  #end: EndOfBody = {};
  #hasFollowers = false;

  hand<T>(what: string, work: Promise<T>): Promise<T> {
    const handed = this.#handed(what, work);
    this.#open.set(work, handed);
    return handed;
  }

  get isSettled(): boolean {
    return this.#open.size === 0 && !this.#hasFollowers;
  }

  close(end: EndOfBody = {}): void {
    this.#isClosed = true;
    this.#end = end;
  }

  async settled(which: "all" | "unused" = "all"): Promise<void> {
    for (;;) {
      const awaited = [...this.#open].filter(([, { use }]) => which === "all" || use === "none").map(([work]) => work);
      if (awaited.length === 0) break;
      await Promise.allSettled(awaited);
    }
    // A promise that follows settles some microtasks later.
    if (this.#hasFollowers) await nextMacrotask();
  }

  failure(whose: string): UsageError | undefined {
    const loose = this.#late ?? this.#unused.find(({ handed: { use } }) => use === "none");
    return loose && notAwaited(whose, loose);
  }

  #handed<T>(what: string, work: Promise<T>): Handed<T> {
    const handed: Handed<T> = new Handed((resolve, reject) => {
      const settle = (value: T): void => {
        this.#open.delete(work);
        resolve(value);
      };
      work.then(settle, (error: unknown) => {
        this.#open.delete(work);
        const isLate = this.#isClosed && (handed.use === "awaited" || handed.use === "combined");
        if (this.#isClosed && error instanceof ContextClosedError) {
          if (handed.use !== "handled") this.refused.push(what);
        } else if (!(error instanceof ControlError)) {
          if (isLate && (this.#end.isRace === true || handed.mayHaveLost)) this.#end.lost?.(what);
          else if (isLate) this.#late ??= { what, error };
          else if (handed.use === "none") this.#unused.push({ handed, what, error });
        }
        if (isLate) return;
        handed.ignore();
        reject(error as Error);
      });
    });
    handed.follow = (next) => {
      this.#hasFollowers = true;
      return this.#handed(what, next);
    };
    return handed;
  }
}

class Handed<T> extends Promise<T> {
  use: Use = "none";
  follow: (<R>(next: Promise<R>) => Promise<R>) | undefined;
  #among: Combinator | undefined;

  get mayHaveLost(): boolean {
    return this.use === "combined" && this.#among?.needsAll !== true;
  }

  ignore(): void {
    const { use } = this;
    super.then(undefined, () => {});
    this.use = use;
  }

  // The functions that the native `finally` passes to `then` look like those that settle a promise.
  override finally(onEnd?: (() => unknown) | null): Promise<T> {
    return this.then(
      async (value) => {
        await onEnd?.();
        return value;
      },
      async (error: unknown) => {
        await onEnd?.();
        throw error;
      },
    );
  }

  override then<A = T, B = never>(
    onValue?: ((value: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const { use } = this;
    const next = super.then(onValue, onError);
    if (isResolver(onValue) && isResolver(onError) && use !== "handled") {
      // A combinator reads the member below first. A promise that is resolved with this one, as that of an async function is, does not.
      this.use = use === "none" ? "awaited" : "combined";
      this.#among = combinatorOf(onValue, onError);
      return next;
    }
    this.use = "handled";
    return this.follow === undefined ? next : this.follow(next);
  }
}

interface Combinator {
  readonly onValue: unknown;
  /** True for `Promise.all`: one function for the failure of all, and one for each value. */
  needsAll: boolean;
}

const combinators = new WeakMap<object, Combinator>();

function combinatorOf(onValue: unknown, onError: object): Combinator {
  const known = combinators.get(onError) ?? { onValue, needsAll: false };
  combinators.set(onError, known);
  known.needsAll ||= known.onValue !== onValue;
  return known;
}

/** True for a function that the engine made to settle a promise. */
function isResolver(value: unknown): value is (...given: unknown[]) => unknown {
  return typeof value === "function" && value.name === "" && Function.prototype.toString.call(value).endsWith("{ [native code] }");
}

// `await` calls no method of a promise: it reads this member, and takes the promise as it is where it is `Promise`.
Reflect.defineProperty(Handed.prototype, "constructor", {
  get(this: Handed<unknown>) {
    if (this.use === "none") this.use = "awaited";
    return Promise;
  },
});

function notAwaited(whose: string, { what, error }: Loose): UsageError {
  const { message } = errorRecord(error);
  return new UsageError(
    "STEP_NOT_AWAITED",
    `Expected ${whose} to await ${what}, which it did not, and which failed: ${message}${/[.!?]$/.test(message) ? "" : "."} ` +
      "Write await before it; where its failure does not matter, handle it with .catch().",
    { cause: error, data: { step: what } },
  );
}
