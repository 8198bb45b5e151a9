import { onAbort } from "../kernel/abort.ts";
import { type Clock, nextMacrotask } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";

export interface PlacesOf {
  readonly code: string;
  readonly what: string;
  readonly advice: string;
}

/**
 * A bound on what a tenant has at once. It owns the number of taken places, and the waiters for one.
 *
 * Places.P1 (`take`) no more places are taken than the bound, unless one owner alone needs more; a place is given back once.
 * Places.P3 (`free`) when a place is given back, the first waiter is woken. Places.P4 (`passOn`) a waiter that took no place wakes the next one.
 */
export class Places {
  readonly #most: number;
  readonly #of: PlacesOf;
  readonly #waiting = new Set<() => void>();
  #taken = 0;

  constructor(most: number, of: PlacesOf) {
    this.#most = most;
    this.#of = of;
  }

  get taken(): number {
    return this.#taken;
  }

  take(places: number = 1, besides: number = 0): () => void {
    const taken = this.#taken + besides;
    if (taken > 0 && taken + places > this.#most) {
      const { code, what, advice } = this.#of;
      const text = `Expected at most ${this.#most} ${what}, got ${places === 1 ? "one" : places} more. ${advice}`;
      throw new UsageError(code, text, { data: { limit: this.#most } });
    }
    this.#taken += places;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#taken -= places;
      this.passOn();
    };
  }

  passOn(): void {
    if (this.#taken >= this.#most) return;
    const [first] = this.#waiting;
    first?.();
  }

  free(signal: AbortSignal): Promise<void> {
    if (this.#taken < this.#most || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waiting.delete(end);
        letGo();
        resolve();
      };
      this.#waiting.add(end);
      const letGo = onAbort(signal, end);
    });
  }
}

/** Bytes of requests that work at the same time, where there is more than one, and those that a request counts for at least. */
const AT_WORK = 256 * 1024;
const MIN_SIZE = 16 * 1024;
/** Milliseconds after which others begin although a request still works: it may wait for a run, a team or a person. */
const MAX_TURN = 250;
/** Turns of the event loop between two turns of requests. Each may accept one connection only, and takes microseconds without one. */
const BETWEEN = 50;

export interface Turn {
  readonly isOver: boolean;
  end(): void;
}

/**
 * The order in which requests with a body are worked on, so that one tenant does not hold up another. Owns the queues.
 *
 * FairTurns.F1 (`#next`) tenants that wait have turns one after the other, however many requests each has. FairTurns.F2 (`#next`) requests
 * at work have at most {@link AT_WORK} bytes together, or there is one. FairTurns.F3 (`#ended`) between two turns the event loop turns
 * {@link BETWEEN} times. FairTurns.F4 (`take`) a turn ends once: by its owner, or by its time.
 */
export class FairTurns {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, { readonly size: number; readonly begin: () => void }[]>();
  #atWork = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  take(tenant: string, bytes: number): Promise<Turn> {
    const size = Math.max(bytes, MIN_SIZE);
    return new Promise((resolve) => {
      const begin = (): void => {
        this.#atWork += size;
        const end = (): void => {
          if (turn.isOver) return;
          turn.isOver = true;
          cancel();
          void this.#ended(size);
        };
        const turn = { isOver: false, end };
        const cancel = this.#clock.timer(MAX_TURN, end);
        resolve(turn);
      };
      this.#waiting.set(tenant, [...(this.#waiting.get(tenant) ?? []), { size, begin }]);
      this.#next();
    });
  }

  async #ended(size: number): Promise<void> {
    for (let n = 0; n < BETWEEN; n += 1) await nextMacrotask();
    this.#atWork -= size;
    this.#next();
  }

  #next(): void {
    for (const [tenant, [first, ...others]] of this.#waiting) {
      if (first === undefined || (this.#atWork > 0 && this.#atWork + first.size > AT_WORK)) return;
      // Behind those of the others: this loop comes to it again.
      this.#waiting.delete(tenant);
      if (others.length > 0) this.#waiting.set(tenant, others);
      first.begin();
    }
  }
}

/** Bytes behind the limit that are read and dropped. Otherwise a client that sends a whole body before it reads would find its connection closed. */
const MAX_DROPPED = 64 * 1024 * 1024;

export interface BodyBounds {
  readonly limit: number;
  /** Called before bytes are kept, with their number. @throws UsageError when there is no room for them */
  readonly take: (bytes: number) => void;
  /** Called before a body is read, with the bytes that it declares. The body is read when it resolves. */
  readonly begin: (declared: number) => Promise<void>;
}

/** Reads the body of a request. Room is taken for what it declares before any of it is read. @throws UsageError `BODY_TOO_LONG`, and that of `take` */
export async function boundedBody(request: Request, { limit, take, begin }: BodyBounds) {
  const { headers, body, method } = request;
  if (body === null) return { request, bytes: 0 };
  let taken = 0;
  const room = (size: number): void => {
    if (size <= taken) return;
    take(size - taken);
    taken = size;
  };
  // The HTTP server holds a body to the length that it declares.
  const declared = headers.has("transfer-encoding") ? 0 : Number(headers.get("content-length"));
  if (declared <= limit) room(declared);
  await begin(taken);
  const kept = await readBody(body, limit, room);
  if (kept === undefined)
    throw new UsageError("BODY_TOO_LONG", `Expected a body of at most ${limit} bytes, got a longer one. Send long texts in parts.`);
  return { request: new Request(request, { method, body: kept }), bytes: kept.size };
}

/** Reads a body to its end. Undefined when it is longer than `limit`. @param room called with the size so far before a piece is kept */
async function readBody(body: ReadableStream<Uint8Array>, limit: number, room: (size: number) => void): Promise<Blob | undefined> {
  const reader = body.getReader();
  let [pieces, size]: [Uint8Array<ArrayBuffer>[], number] = [[], 0];
  while (size <= limit + MAX_DROPPED) {
    const { done, value } = await reader.read();
    if (done) return size > limit ? undefined : new Blob(pieces);
    size += value.length;
    if (size <= limit) {
      room(size);
      pieces.push(new Uint8Array(value));
    } else pieces = [];
  }
  return undefined;
}
