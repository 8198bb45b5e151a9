import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "../kernel/value-kind.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import type { RunEvent, StepEnded, StepStarted } from "../runtime/record/event.ts";
import { stepId } from "../runtime/steps/step-requests.ts";
import { type FileWorkspace, isOnDisk } from "./file-workspace.ts";
import { workspaceForks, type WorkspaceForks } from "./forks.ts";
import { keysIn } from "./git.ts";
import { GitProgram } from "./git-program.ts";
import {
  ABSENT,
  contentToWrite,
  fileChange,
  type FileChange,
  forkChange,
  OPEN_FORK_STEP,
  REMOVE_FORK_STEP,
  UPDATE_FORK_STEP,
  unitOf,
} from "./recorded-files.ts";
import type { CommitRequest, Workspace } from "./workspace.ts";

/** Name of the step that commits files. */
export const COMMIT_STEP = "commit";

/** Options of {@link restoreFiles}. */
export interface RestoreOptions {
  /** Sequence number of the last event that counts. Default: the last of all. */
  readonly at?: number | undefined;
  /** Steps up to this sequence number are done already: the folder was restored from its bundle. Default: none. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The result of a restore. */
export interface Restored {
  readonly files: number;
  readonly commits: number;
}

/**
 * Writes the files and commits of the ended activations of a record, in the order of their ends. An open activation writes its files again
 * itself. Forks that were open are opened, with what was written in them.
 */
export async function restoreFiles(
  workspace: Workspace,
  events: AsyncIterable<RunEvent> | Iterable<RunEvent>,
  options: RestoreOptions = {},
): Promise<Restored> {
  const { at = Infinity, after = -1, signal } = options;
  const open = new OpenDeeds(after);
  const forks = isOnDisk(workspace) ? new RestoredForks(workspace) : undefined;
  const made = await keysOf(workspace, signal);
  const paths = new Set<string>();
  let commits = 0;
  for await (const event of events) {
    throwIfAborted(signal);
    for (const deed of open.endedBy(event)) {
      if (deed.kind === "commit") {
        // A bundle may have more than its number says: it is made while the run continues.
        if (made.has(deed.request.key)) continue;
        // Files of the bundle may be committed by a later step.
        if (after >= 0 && isOnDisk(workspace)) await workspace.adopt(deed.request.paths ?? []);
        commits += (await workspace.commit({ ...deed.request, ...(signal === undefined ? {} : { signal }) })) === undefined ? 0 : 1;
      } else if (deed.kind === "fork") await forks?.restore(deed, signal);
      else if (deed.content === ABSENT) {
        await workspace.remove(deed.path);
        paths.delete(deed.path);
      } else paths.add((await workspace.write(deed.path, contentToWrite(deed.content))).path);
    }
    // Not one more is read: what comes behind may be damaged.
    if (event.seq >= at) break;
  }
  forks?.assertRestored();
  return { files: paths.size, commits };
}

type Deed = (FileChange & { readonly kind: "change" }) | CommitDeed | ForkDeed;

type Started = StepStarted & Pick<RunEvent, "runId">;

interface CommitDeed {
  readonly kind: "commit";
  readonly request: CommitRequest & { readonly key: string };
}

interface ForkDeed {
  readonly kind: "fork";
  readonly name: string;
  readonly does: "open" | "update" | "remove" | FileChange;
}

class RestoredForks {
  readonly #forks: WorkspaceForks;
  /** Forks that cannot be opened yet: the user's own commits are in no record. */
  readonly #missing = new Map<string, string>();

  constructor(workspace: FileWorkspace) {
    this.#forks = workspaceForks({ workspace });
  }

  /** @throws WorkspaceError `WORKSPACE_GIT` for forks that are still open and could not be restored */
  assertRestored(): void {
    for (const [name, lack] of this.#missing)
      throw new WorkspaceError(
        "WORKSPACE_GIT",
        `Expected a git repository with a commit for the fork "${name}", but ${lack}. Restore it first.`,
      );
  }

  async restore({ name, does }: ForkDeed, signal: AbortSignal | undefined): Promise<void> {
    const lack = does === "open" ? await this.#forks.missing(signal) : undefined;
    if (lack !== undefined) this.#missing.set(name, lack);
    if (does === "remove" && !this.#missing.delete(name)) return this.#forks.remove(name, signal);
    if (does === "remove" || this.#missing.has(name)) return;
    await this.#forks.open(name, signal);
    if (does === "open") return;
    if (does === "update") return void (await this.#forks.update(name, signal));
    const fork = this.#forks.workspace(name);
    await (does.content === ABSENT ? fork.remove(does.path) : fork.write(does.path, contentToWrite(does.content)));
  }
}

async function keysOf(workspace: Workspace, signal: AbortSignal | undefined): Promise<{ has(key: string): boolean }> {
  const root = isOnDisk(workspace) ? await ifThere(realpath(workspace.root)) : undefined;
  const git = root === undefined || (await ifThere(lstat(join(root, ".git")))) === undefined ? undefined : GitProgram.find(root);
  return git === undefined ? new Set() : keysIn(git, signal);
}

class OpenDeeds {
  readonly #asked = new Map<string, Started>();
  readonly #done = new Map<string, Deed[]>();
  readonly #after: number;

  /** @param after the last event whose step counts as done */
  constructor(after: number) {
    this.#after = after;
  }

  /** Takes in an event. @returns what became final by it, in order */
  endedBy(event: RunEvent): readonly Deed[] {
    switch (event.type) {
      case "step.started":
        this.#asked.set(`${event.act} ${event.key}`, event);
        return [];
      case "step.ended":
        this.#keep(event, event.seq);
        return [];
      case "act.ended":
        return this.#taken(unitOf(event.act));
      case "act.failed":
        return event.then === "dead" ? this.#taken(unitOf(event.act)) : [];
      default:
        return [];
    }
  }

  #keep(event: StepEnded, seq: number): void {
    const name = `${event.act} ${event.key}`;
    const started = this.#asked.get(name);
    if (started === undefined || event.retry === true) return;
    this.#asked.delete(name);
    if (seq <= this.#after) return;
    const deed = event.ok ? deedOf(started, event.at) : undefined;
    if (deed === undefined) return;
    const unit = unitOf(event.act);
    const known = this.#done.get(unit);
    if (known === undefined) this.#done.set(unit, [deed]);
    else known.push(deed);
  }

  #taken(unit: string): readonly Deed[] {
    const deeds = this.#done.get(unit) ?? [];
    this.#done.delete(unit);
    return deeds;
  }
}

function deedOf(started: Started, at: number): Deed | undefined {
  const change = fileChange(started);
  if (change !== undefined) return { kind: "change", ...change };
  const fork = forkDeed(started);
  if (fork !== undefined) return fork;
  return started.kind === "step" && started.name === COMMIT_STEP ? commitIn(started, at) : undefined;
}

const FORK_STEPS: ReadonlyMap<string, "open" | "update" | "remove"> = new Map([
  [OPEN_FORK_STEP, "open"],
  [UPDATE_FORK_STEP, "update"],
  [REMOVE_FORK_STEP, "remove"],
]);

function forkDeed(started: StepStarted): ForkDeed | undefined {
  const inFork = forkChange(started);
  if (inFork !== undefined) return { kind: "fork", name: inFork.fork, does: inFork.change };
  const does = started.kind === "step" ? FORK_STEPS.get(started.name) : undefined;
  const { name } = isObject(started.request) ? (started.request as { readonly name?: unknown }) : {};
  return does === undefined || typeof name !== "string" ? undefined : { kind: "fork", name, does };
}

function commitIn({ runId, act, key, request }: Started, date: number): CommitDeed | undefined {
  const { message, author, paths, trailers } = isObject(request) ? (request as Readonly<Record<string, unknown>>) : {};
  if (typeof message !== "string" || typeof author !== "string" || !isTexts(paths)) return undefined;
  const texts = isTextsByKey(trailers) ? { trailers } : {};
  return { kind: "commit", request: { message, author, date, paths, ...texts, key: stepId(runId, unitOf(act), key) } };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isTextsByKey(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && isTexts(Object.values(value));
}
