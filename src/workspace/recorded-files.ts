import { isRecord } from "../kernel/value-kind.ts";
import { createHash } from "node:crypto";
import type { Json } from "../kernel/json.ts";
import type { RunEvent, StepEnded, StepStarted } from "../runtime/record/event.ts";

/** Name of the step by which an action writes a file: its request has `path` and `content`, its value is a `WrittenFile`. */
export const WRITE_STEP = "write file";

/** Name of the step by which a tool removes a file: its request has `path`. */
export const REMOVE_STEP = "remove file";

/** A file is not there. */
export const ABSENT = null;

/** What may be at a path: the sha256 of a content, or {@link ABSENT}. */
export type FileState = string | typeof ABSENT;

/**
 * What a run's record says of the project's files. Events are taken in one by one; nothing is read from a disk.
 *
 * It owns, for each path the run wrote, what may stand there now: V1 when the activation that wrote it has ended, its last content and
 * nothing else. V2 while it has not, any content it recorded, for it writes all of them again when the run goes on and may have been killed
 * on the way. V3 where none of its writes is known to have happened, also what was there before.
 */
export class RecordedFiles {
  readonly #files = new Map<string, Place>();
  readonly #writes = new Map<string, Write>();
  /** Sequence number of the last event that a fork shares with its parent. */
  #shared = -1;

  /** Takes in the next event of the run. */
  add(event: RunEvent): void {
    switch (event.type) {
      case "run.started":
        this.#shared = event.parent?.at ?? -1;
        return undefined;
      case "step.started":
        return this.#begin(event, event.seq);
      case "step.ended":
        return this.#end(event);
      case "act.ended":
        return this.#settle(unitOf(event.act));
      case "act.failed":
        return event.then === "dead" ? this.#settle(unitOf(event.act)) : undefined;
      default:
        return undefined;
    }
  }

  /** The paths the run wrote, sorted. */
  get paths(): readonly string[] {
    return [...this.#files.keys()].sort();
  }

  /** What may stand at a path. Undefined: the run has never written there. */
  expected(path: string): ReadonlySet<FileState> | undefined {
    const place = this.#files.get(path);
    if (place === undefined) return undefined;
    const open = [...place.open.values()];
    const isWritten = open.some(({ isSure }) => isSure);
    return new Set([...(isWritten ? [] : place.settled), ...open.flatMap(({ contents }) => [...contents])]);
  }

  #begin(event: StepStarted, seq: number): void {
    const change = fileChange(event);
    if (change === undefined) return;
    const { path, content } = change;
    const state = content === ABSENT ? ABSENT : sha256Of(content);
    const isTaken = event.reused !== undefined || seq <= this.#shared;
    this.#writes.set(`${event.act} ${event.key}`, { path, state, isTaken });
    this.#opened(path, unitOf(event.act)).contents.add(state);
  }

  #end({ act, key, ok, retry, value }: StepEnded): void {
    const write = this.#writes.get(`${act} ${key}`);
    if (write === undefined || retry === true) return;
    this.#writes.delete(`${act} ${key}`);
    if (!ok) return;
    const opened = this.#opened(write.path, unitOf(act));
    opened.last = shaIn(value) ?? write.state;
    opened.contents.add(opened.last);
    // What a fork takes from its parent is recorded before it is written.
    if (!write.isTaken) opened.isSure = true;
  }

  #settle(unit: string): void {
    for (const place of this.#files.values()) {
      const opened = place.open.get(unit);
      if (opened?.last !== undefined) place.settled = new Set([opened.last]);
      place.open.delete(unit);
    }
  }

  #opened(path: string, unit: string): Opened {
    const place: Place = this.#files.get(path) ?? { settled: new Set([ABSENT]), open: new Map() };
    this.#files.set(path, place);
    const opened: Opened = place.open.get(unit) ?? { contents: new Set(), last: undefined, isSure: false };
    place.open.set(unit, opened);
    return opened;
  }
}

/** A change of a file. */
export interface FileChange {
  readonly path: string;
  readonly content: string | typeof ABSENT;
}

interface Write {
  readonly path: string;
  readonly state: FileState;
  /** From the parent of a fork. */
  readonly isTaken: boolean;
}

interface Place {
  settled: ReadonlySet<FileState>;
  readonly open: Map<string, Opened>;
}

/** What one activation wrote to one path. */
interface Opened {
  readonly contents: Set<FileState>;
  last: FileState | undefined;
  isSure: boolean;
}

/** What a recorded step does to a file, if it does: the content it writes, or that it removes it. */
export function fileChange({ kind, name, request }: StepStarted): FileChange | undefined {
  if (kind !== "step" || (name !== WRITE_STEP && name !== REMOVE_STEP)) return undefined;
  const { path, content } = membersOf(request);
  if (typeof path !== "string") return undefined;
  if (name === REMOVE_STEP) return { path, content: ABSENT };
  return typeof content === "string" ? { path, content } : undefined;
}

/** An activation whatever its attempt: a retry writes again what the attempt before had recorded. */
export function unitOf(act: string): string {
  return act.slice(0, Math.max(0, act.lastIndexOf("~")));
}

/** Of a text in UTF-8, as 64 hexadecimal digits. */
export function sha256Of(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

function shaIn(value: Json | undefined): string | undefined {
  const { sha256 } = membersOf(value);
  return typeof sha256 === "string" ? sha256 : undefined;
}

function membersOf(value: Json | undefined): { readonly [member: string]: Json } {
  return isRecord(value) ? (value as { readonly [member: string]: Json }) : {};
}
