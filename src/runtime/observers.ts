import { EventEmitter } from "eventemitter3";
import { aFunction, takes } from "../kernel/argument.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import { type Emit, type Logger, silentLogger } from "../kernel/emit.ts";
import { deepFreeze } from "../kernel/json.ts";
import { checkKnownWord } from "../kernel/known-options.ts";
import type { Mask } from "../kernel/mask.ts";
import { isThenable } from "../kernel/value-kind.ts";
import type { Message } from "../message/message.ts";
import { isOutput } from "./record/delivery.ts";
import { type Observed, type ObservedOf, type RunEvent, type RunNotice, type Sent, OBSERVED_TYPES } from "./record/event.ts";
import { maskedError } from "./record/rewritten-event.ts";
import type { Observer } from "./record/run-log.ts";
import type { DeadLetter } from "./record/run-state.ts";
import type { RoleMemories } from "./role-memories.ts";
import { type Directory, nearestText } from "./routing/directory.ts";

/** Returns the function that emits notices of a type; undefined while no one observes that type. */
export type Tell = (type: RunNotice["type"]) => Emit<RunNotice> | undefined;

type AnyObserver = (observed: Observed) => unknown;

/**
 * The observers of a run by the type of event or notice. It owns the subscriptions. Observers register before the run has an environment.
 *
 * ObserverRegistry.O1 (`of`) the returned list does not change when observers come or go.
 */
export class ObserverRegistry {
  readonly #emitter = new EventEmitter();
  readonly #types = new Set<Observed["type"]>();

  get types(): Pick<ReadonlySet<Observed["type"]>, "has"> {
    return this.#types;
  }

  /** Calls `observer` for every event or notice of a type; the returned function unsubscribes it. */
  on<T extends Observed["type"]>(type: T, observer: (observed: ObservedOf<T>) => void): () => void {
    checkKnownWord("the type of an event or a notice", type, OBSERVED_TYPES);
    takes(`on("${type}", listener)`, "listener", observer, aFunction);
    // A new function each time: a listener registered twice is called twice, and each unsubscribe removes one.
    const added: AnyObserver = (observed) => (observer as AnyObserver)(observed);
    this.#emitter.on(type, added);
    this.#types.add(type);
    return () => {
      this.#emitter.off(type, added);
      if (this.#emitter.listenerCount(type) === 0) this.#types.delete(type);
    };
  }

  of(type: Observed["type"]): readonly AnyObserver[] {
    return this.#emitter.listeners(type);
  }
}

/** Freezes an event or notice, so that no observer can change the run, and calls its observers. */
export function tellObservers(
  observers: ObserverRegistry,
  observed: Observed,
  { logger, mask }: { readonly logger: Logger; readonly mask: Mask },
): void {
  const present = observers.of(observed.type);
  if (present.length > 0) deepFreeze(observed);
  const failed = (error: unknown): void => logger.error(`A listener of ${observed.type} failed: ${maskedError(mask, error).message}`);
  for (const observer of present) {
    try {
      const returned = observer(observed);
      if (isThenable(returned)) void Promise.resolve(returned).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

type NearestAddresses = Pick<Directory, "nearest">;

export interface AnnouncerParts {
  readonly observers: ObserverRegistry;
  /** Memories that outlast the run: they learn from every event. */
  readonly memories: RoleMemories;
  readonly logger: Logger;
  readonly mask: Mask;
  /** Called after every event, for callers that wait for new events. */
  readonly grew: (() => void) | undefined;
}

/**
 * Reports events to the memories, the logger and the observers of an environment. It owns the set of roles whose full mailboxes it has warned of.
 *
 * Announcer.A1 (`tellObservers`) the failure of an observer is logged, and the run and the other observers continue.
 * Announcer.A2 (`tellObservers`) every observed value is frozen, so that no observer can change the run.
 * Announcer.A3 (`telling`) no notice is made while no one observes its type.
 */
export class Announcer implements Observer {
  readonly observers: ObserverRegistry;
  readonly types: ObserverRegistry["types"];
  readonly #parts: AnnouncerParts;
  readonly #dropping = new Set<string>();

  constructor(parts: AnnouncerParts) {
    this.observers = parts.observers;
    this.types = parts.observers.types;
    this.#parts = parts;
  }

  observes(type: RunEvent["type"]): boolean {
    return this.#parts.memories.isUsed || this.types.has(type);
  }

  observe(event: RunEvent, taken?: readonly Message[]): void {
    if (this.#parts.memories.isUsed) this.#parts.memories.learn(event, taken);
    this.tell(event);
    this.#parts.grew?.();
  }

  readonly telling: Tell = (type) => (this.types.has(type) ? this.tell : undefined);

  readonly tell = (observed: Observed): void => tellObservers(this.observers, observed, this.#parts);

  warn(role: string | undefined, text: string): void {
    this.#log(role, text);
    this.telling("warning")?.({ type: "warning", ...(role === undefined ? {} : { role }), text });
  }

  /** Reports an output of a role, unknown addresses in its message, and edge faults. */
  said({ message, to, dead, faults }: Sent, directory: NearestAddresses): void {
    if (dead !== undefined) this.#tellDead(message, dead, directory);
    for (const fault of faults ?? []) this.telling("message.fault")?.({ type: "message.fault", message, fault });
    if (isOutput(message, to)) this.telling("message.output")?.({ type: "message.output", message });
  }

  /** Reports a message from outside that no role receives. */
  saidOutside({ message, to, dead }: Sent, directory: NearestAddresses): void {
    if (dead !== undefined) this.#tellDead(message, dead, directory);
    if (!isOutput(message, to)) return;
    this.#log(undefined, `No role hears message ${message.id}, caused by ${message.causeBy}: no role watches it.`);
    this.telling("message.unheard")?.({ type: "message.unheard", message });
  }

  /** Reports a message that a full mailbox dropped. The first one of a role is logged as a warning. */
  dropped(role: string, message: Message): void {
    if (!this.#dropping.has(role)) {
      this.#dropping.add(role);
      this.warn(role, `The mailbox of ${role} is full: message ${message.id} and others that have waited longest are dropped unread.`);
    }
    this.telling("message.dropped")?.({ type: "message.dropped", message, role });
  }

  /** Reports the dead letters of retired roles; other dead letters are reported with their cause. */
  retired(letters: readonly DeadLetter[]): void {
    const unread = new Map<string, number>();
    for (const { message, reason } of letters) {
      if (reason.kind !== "retired") continue;
      const { role } = reason;
      unread.set(role, (unread.get(role) ?? 0) + 1);
      this.telling("message.dead")?.({ type: "message.dead", message, address: role });
    }
    for (const [role, count] of unread)
      this.warn(role, `${role} was retired before it had read ${count === 1 ? "a message" : `${count} messages`}: dead letters.`);
  }

  gaveUp(role: string, error: unknown): void {
    this.warn(role, `${role} failed and its messages became dead letters: ${maskedError(this.#parts.mask, error).message}`);
  }

  /** At the end of a run, writes the number of suppressed warnings. */
  countWarnings(): void {
    if (this.#parts.logger instanceof RunWarnings) this.#parts.logger.end();
  }

  #log(role: string | undefined, text: string): void {
    const { logger } = this.#parts;
    if (logger instanceof RunWarnings) logger.warnOf(role, text);
    else logger.warn(text);
  }

  #tellDead(message: Message, dead: readonly string[], directory: NearestAddresses): void {
    for (const address of dead) {
      const nearest = nearestText(directory.nearest(address));
      this.warn(message.sentFrom, `No role has the address "${address}": message ${message.id} is a dead letter.${nearest}`);
      this.telling("message.dead")?.({ type: "message.dead", message, address });
    }
  }
}

const MAX_KINDS = 1_000;

/**
 * The default logger of a run. It owns the counts of suppressed warnings.
 *
 * RunWarnings.W1 (`warnOf`) one warning of each kind and role is written; `end` writes the number of the others.
 */
export class RunWarnings implements Logger {
  readonly debug: Logger["debug"] = silentLogger.debug;
  readonly info: Logger["info"] = silentLogger.info;
  readonly error: Logger["error"] = (text) => defaultLogger.error(this.#mask(text));
  readonly #mask: Mask;
  /** The first warnings by role and kind, with the number of others. */
  #kinds = new Map<string, { readonly first: string; others: number }>();

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  readonly warn: Logger["warn"] = (text) => this.warnOf(undefined, text);

  /** @param role the role that the warning is about, if any */
  warnOf(role: string | undefined, text: string): void {
    const kind = this.#kinds.size < MAX_KINDS ? `${role ?? ""}\n${shapeOf(text)}` : "";
    const known = this.#kinds.get(kind);
    if (known !== undefined) return void (known.others += 1);
    const first = this.#mask(text);
    this.#kinds.set(kind, { first, others: 0 });
    defaultLogger.warn(first);
  }

  end(): void {
    const kinds = this.#kinds;
    this.#kinds = new Map();
    for (const { first, others } of kinds.values())
      if (others > 0) defaultLogger.warn(`${others === 1 ? "One more warning" : `${others} more warnings`} of the kind: ${first}`);
  }
}

function shapeOf(text: string): string {
  const words = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '"').split(" ");
  return words.map((word) => (/\d/.test(word) ? "#" : word)).join(" ");
}
