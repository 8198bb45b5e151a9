import { createHash } from "node:crypto";
import type { Json } from "../kernel/json.ts";
import type { RunEvent, StepEnded, StepStarted } from "../run/event.ts";

/** Name of the step by which an action writes a file: its request has `path` and `content`, its value is a `WrittenFile`. */
export const WRITE_STEP = "write file";

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
    const write = fileWrite(event);
    if (write === undefined) return;
    const sha256 = sha256Of(write.content);
    const isTaken = event.reused !== undefined || seq <= this.#shared;
    this.#writes.set(`${event.act} ${event.key}`, { path: write.path, sha256, isTaken });
    this.#opened(write.path, unitOf(event.act)).contents.add(sha256);
  }

  #end({ act, key, ok, retry, value }: StepEnded): void {
    const write = this.#writes.get(`${act} ${key}`);
    if (write === undefined || retry === true) return;
    this.#writes.delete(`${act} ${key}`);
    if (!ok) return;
    const opened = this.#opened(write.path, unitOf(act));
    opened.last = shaIn(value) ?? write.sha256;
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

interface Write {
  readonly path: string;
  readonly sha256: string;
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
  last: string | undefined;
  isSure: boolean;
}

/** The file that a recorded step writes, if it is one that does. */
export function fileWrite({ kind, name, request }: StepStarted): { readonly path: string; readonly content: string } | undefined {
  if (kind !== "step" || name !== WRITE_STEP) return undefined;
  const { path, content } = membersOf(request);
  return typeof path === "string" && typeof content === "string" ? { path, content } : undefined;
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
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as { readonly [member: string]: Json }) : {};
}
