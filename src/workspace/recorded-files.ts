import { kinds } from "../kernel/option-kinds.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { createHash } from "node:crypto";
import type { Json } from "../kernel/json.ts";
import type { RunEvent, StepEnded, StepStarted } from "../runtime/record/event.ts";
import { takes } from "../kernel/argument.ts";
import type { StepDoor } from "../kernel/step.ts";
import type { Workspace } from "./workspace.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { listed } from "../kernel/value-text.ts";
import { visible } from "./path-rules.ts";

/** Name of the step by which an action writes a file: its request has `path`, and `content` or `base64`; its value is a `WrittenFile`. */
export const WRITE_STEP = "write file";

/** Name of the step by which a tool removes a file: its request has `path`. */
export const REMOVE_STEP = "remove file";

/** Names of the steps that open, update and remove a fork: their requests have its `name`. */
export const OPEN_FORK_STEP = "open fork";
export const UPDATE_FORK_STEP = "update fork";
export const REMOVE_FORK_STEP = "remove fork";

/** A file is not there. */
export const ABSENT = null;

/** The possible content of a path: the sha256 of a content, or {@link ABSENT}. */
export type FileState = string | typeof ABSENT;

/**
 * The project's files according to the record of a run. It takes events one by one and reads no disk.
 *
 * It owns the possible contents of each path that the run wrote. RecordedFiles.V1 after the end of the activation that wrote it: its last
 * content only. RecordedFiles.V2 before that end: every content it recorded, because a resumed run writes all of them again and the process
 * may have died between two. RecordedFiles.V3 if no write is known to have happened: also the content from before.
 */
export class RecordedFiles {
  readonly #files = new Map<string, FilePlace>();
  readonly #writes = new Map<string, Write>();
  #shared = -1;

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

  /** The possible contents of a path. Undefined when the run has never written there. */
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
    const state = content === ABSENT ? ABSENT : sha256Of(contentToWrite(content));
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
    // A write that a fork takes from its parent is recorded before it happens.
    if (!write.isTaken) opened.isSure = true;
  }

  #settle(unit: string): void {
    for (const place of this.#files.values()) {
      const opened = place.open.get(unit);
      if (opened?.last !== undefined) place.settled = new Set([opened.last]);
      place.open.delete(unit);
    }
  }

  #opened(path: string, unit: string): OpenedFile {
    const place: FilePlace = this.#files.get(path) ?? { settled: new Set([ABSENT]), open: new Map() };
    this.#files.set(path, place);
    const opened: OpenedFile = place.open.get(unit) ?? { contents: new Set(), last: undefined, isSure: false };
    place.open.set(unit, opened);
    return opened;
  }
}

export interface FileChange {
  readonly path: string;
  readonly content: string | BinaryContent | typeof ABSENT;
}

export interface BinaryContent {
  readonly base64: string;
}

export function contentToWrite(content: string | BinaryContent): string | Uint8Array {
  return typeof content === "string" ? content : Buffer.from(content.base64, "base64");
}

interface Write {
  readonly path: string;
  readonly state: FileState;
  readonly isTaken: boolean;
}

interface FilePlace {
  settled: ReadonlySet<FileState>;
  readonly open: Map<string, OpenedFile>;
}

interface OpenedFile {
  readonly contents: Set<FileState>;
  last: FileState | undefined;
  isSure: boolean;
}

/** The effect of a recorded step on a file: the content it writes, or the removal. */
export function fileChange(event: StepStarted): FileChange | undefined {
  // A file of a fork is none of the project's before it is merged, which is a write of its own.
  return membersOf(event.request)["fork"] === undefined ? changeIn(event) : undefined;
}

export function forkChange(event: StepStarted): { readonly fork: string; readonly change: FileChange } | undefined {
  const { fork } = membersOf(event.request);
  const change = typeof fork === "string" ? changeIn(event) : undefined;
  return change === undefined ? undefined : { fork: fork as string, change };
}

function changeIn({ kind, name, request }: StepStarted): FileChange | undefined {
  if (kind !== "step" || (name !== WRITE_STEP && name !== REMOVE_STEP)) return undefined;
  const { path, content, base64 } = membersOf(request);
  if (typeof path !== "string") return undefined;
  if (name === REMOVE_STEP) return { path, content: ABSENT };
  if (typeof base64 === "string") return { path, content: { base64 } };
  return typeof content === "string" ? { path, content } : undefined;
}

/** An activation whatever its attempt: a retry writes again what the attempt before had recorded. */
export function unitOf(act: string): string {
  return act.slice(0, Math.max(0, act.lastIndexOf("~")));
}

/** Of a text in UTF-8 or of bytes, as 64 hexadecimal digits. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function shaIn(value: Json | undefined): string | undefined {
  const { sha256 } = membersOf(value);
  return typeof sha256 === "string" ? sha256 : undefined;
}

function membersOf(value: Json | undefined): { readonly [member: string]: Json } {
  return isRecord(value) ? (value as { readonly [member: string]: Json }) : {};
}

const forks = new WeakMap<Workspace, { readonly name: string; readonly project: Workspace }>();

/** Declares that a workspace is a fork of another. @internal */
export function declareFork(fork: Workspace, name: string, project: Workspace): void {
  forks.set(fork, { name, project });
}

/** The part of a step's request that names the fork of a file; empty for the project itself. */
export function forkIn(workspace: Workspace): { readonly fork?: string } {
  takes("forkIn", "workspace", workspace, kinds.workspace);
  const found = forks.get(workspace);
  return found === undefined ? {} : { fork: found.name };
}

/** Workspaces of steps: true when a replay may write there. */
const scratch = new WeakMap<Workspace, Promise<boolean>>();

/** True when a step may change a workspace: live, or in a replay into one that was empty at its first step. @throws WorkspaceError */
export function mayWrite(workspace: Workspace, mode: StepDoor["mode"]): Promise<boolean> {
  takes("mayWrite", "workspace", workspace, kinds.workspace);
  takes("mayWrite", "mode", mode, kinds.oneOf("live", "replay"));
  const forked = forks.get(workspace);
  // A replay takes what came of a fork from the record: its folder may have no repository.
  if (forked !== undefined) return mode === "live" ? mayWrite(forked.project, mode) : Promise.resolve(false);
  if (mode === "live") {
    scratch.set(workspace, Promise.resolve(false));
    return Promise.resolve(true);
  }
  const known = scratch.get(workspace);
  if (known !== undefined) return known;
  const isEmpty = workspace.list().then((files) => files.length === 0);
  scratch.set(workspace, isEmpty);
  isEmpty.catch(() => scratch.delete(workspace));
  return isEmpty;
}

/** A file of a project that is not as a run left it. */
export interface ChangedFile {
  readonly path: string;
  /** `added`: it is there, and the run has never written it. */
  readonly change: "changed" | "removed" | "added";
}

const SHOWN = 20;

/** Returns the differences between a workspace and the record of a run, sorted by path. Call it before the run is resumed: roles replace files. */
export async function changesSince(recorded: RecordedFiles, workspace: Workspace): Promise<readonly ChangedFile[]> {
  const changes: ChangedFile[] = [];
  for (const path of recorded.paths) {
    const state = await stateOf(path, workspace);
    if (recorded.expected(path)?.has(state) !== true) changes.push({ path, change: state === ABSENT ? "removed" : "changed" });
  }
  for (const path of await workspace.list()) if (recorded.expected(path) === undefined) changes.push({ path, change: "added" });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Refuses a workspace that was changed since the run stopped. @throws WorkspaceError `WORKSPACE_CHANGED` with all files in its data */
export function assertUnchanged(changes: readonly ChangedFile[], root: string): void {
  if (changes.length === 0) return;
  const some = changes.map(({ path, change }) => `${visible(path)} (${change})`);
  throw new WorkspaceError(
    "WORKSPACE_CHANGED",
    `Expected the files in "${visible(root)}" as the run left them, but these are not: ${listed(some, SHOWN)}. ` +
      "Going on may write over them. Put them back, or say --force (skip this check in a program) to go on with them as they are.",
    { data: { changes } },
  );
}

/** Bytes of the largest file that is compared. No limit of a workspace is larger in practice. */
const LARGEST = 64 * 1024 ** 2;

/** A link, a folder or a file that is too large in place of the run's file is a change too. */
async function stateOf(path: string, workspace: Workspace): Promise<FileState> {
  try {
    const content = await workspace.readBytes(path, LARGEST);
    return content === undefined ? ABSENT : sha256Of(content);
  } catch (error) {
    if (error instanceof WorkspaceError && (error.code === "WORKSPACE_PATH" || error.code === "WORKSPACE_LIMIT")) return error.code;
    throw error;
  }
}
