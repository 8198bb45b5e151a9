import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { throwIfAborted } from "../kernel/abort.ts";
import { WorkspaceError } from "../kernel/errors.ts";
import { ifThere } from "../kernel/system-error.ts";
import type { RunEvent, StepStarted } from "../runtime/record/event.ts";
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

export const COMMIT_STEP = "commit";

/** Options of {@link restoreFiles}. */
export interface RestoreOptions {
  /** Sequence number of the last event that counts. Default: the last of all. */
  readonly at?: number | undefined;
  /** Steps up to this sequence number are done already: the folder was restored from its bundle. Default: none. */
  readonly after?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Restored {
  readonly files: number;
  readonly commits: number;
}

type Started = StepStarted & Pick<RunEvent, "runId">;

type Deed =
  | { readonly kind: "change"; readonly change: FileChange }
  | { readonly kind: "commit"; readonly request: CommitRequest & { readonly key: string } }
  | { readonly kind: "fork"; readonly name: string; readonly does: "open" | "update" | "remove" | FileChange };

/** Writes the files and commits of the ended activations, in their order, and opens the forks. An open activation writes its files again itself. */
export async function restoreFiles(
  workspace: Workspace,
  events: AsyncIterable<RunEvent> | Iterable<RunEvent>,
  { at = Infinity, after = -1, signal }: RestoreOptions = {},
): Promise<Restored> {
  const open = new OpenDeeds(after);
  const forks = isOnDisk(workspace) ? new RestoredForks(workspace) : undefined;
  const made = await keysOf(workspace, signal);
  const paths = new Set<string>();
  let commits = 0;
  const apply = async (deed: Deed): Promise<void> => {
    if (deed.kind === "fork") return forks?.restore(deed.name, deed.does, signal);
    if (deed.kind === "change") {
      await applyChange(workspace, deed.change);
      if (deed.change.content === ABSENT) paths.delete(deed.change.path);
      else paths.add(deed.change.path);
      return undefined;
    }
    // A bundle may have more than its number says: it is made while the run continues.
    if (made.has(deed.request.key)) return undefined;
    // Files of the bundle may be committed by a later step.
    if (after >= 0 && isOnDisk(workspace)) await workspace.adopt(deed.request.paths ?? []);
    const id = await workspace.commit({ ...deed.request, ...(signal === undefined ? {} : { signal }) });
    commits += id === undefined ? 0 : 1;
    return undefined;
  };
  for await (const event of events) {
    throwIfAborted(signal);
    for (const deed of open.endedBy(event)) await apply(deed);
    // No later event is read: it may be damaged.
    if (event.seq >= at) break;
  }
  forks?.assertRestored();
  return { files: paths.size, commits };
}

async function applyChange(workspace: Workspace, { path, content }: FileChange): Promise<void> {
  await (content === ABSENT ? workspace.remove(path) : workspace.write(path, contentToWrite(content)));
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

  async restore(name: string, does: "open" | "update" | "remove" | FileChange, signal: AbortSignal | undefined): Promise<void> {
    const lack = does === "open" ? await this.#forks.missing(signal) : undefined;
    if (lack !== undefined) this.#missing.set(name, lack);
    if (does === "remove" && !this.#missing.delete(name)) return this.#forks.remove(name, signal);
    if (does === "remove" || this.#missing.has(name)) return;
    await this.#forks.open(name, signal);
    if (does === "update") await this.#forks.update(name, signal);
    else if (does !== "open") await applyChange(this.#forks.workspace(name), does);
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
    if (event.type === "step.started") this.#asked.set(`${event.act} ${event.key}`, event);
    if (event.type === "step.ended" && event.retry !== true) {
      const started = this.#asked.get(`${event.act} ${event.key}`);
      this.#asked.delete(`${event.act} ${event.key}`);
      const deed = started !== undefined && event.ok && event.seq > this.#after ? deedOf(started, event.at) : undefined;
      const unit = unitOf(event.act);
      if (deed !== undefined) this.#done.set(unit, [...(this.#done.get(unit) ?? []), deed]);
    }
    if (event.type !== "act.ended" && !(event.type === "act.failed" && event.then === "dead")) return [];
    const deeds = this.#done.get(unitOf(event.act)) ?? [];
    this.#done.delete(unitOf(event.act));
    return deeds;
  }
}

const FORK_STEPS: ReadonlyMap<string, "open" | "update" | "remove"> = new Map([
  [OPEN_FORK_STEP, "open"],
  [UPDATE_FORK_STEP, "update"],
  [REMOVE_FORK_STEP, "remove"],
]);

const ForkRequest = z.object({ name: z.string() });
const CommitStep = z.object({
  message: z.string(),
  author: z.string(),
  paths: z.array(z.string()),
  trailers: z.record(z.string(), z.string()).optional().catch(undefined),
});

function deedOf(started: Started, date: number): Deed | undefined {
  const change = fileChange(started);
  if (change !== undefined) return { kind: "change", change };
  const inFork = forkChange(started);
  if (inFork !== undefined) return { kind: "fork", name: inFork.fork, does: inFork.change };
  if (started.kind !== "step") return undefined;
  const does = FORK_STEPS.get(started.name);
  const named = does === undefined ? undefined : ForkRequest.safeParse(started.request).data;
  if (does !== undefined) return named === undefined ? undefined : { kind: "fork", name: named.name, does };
  const commit = started.name === COMMIT_STEP ? CommitStep.safeParse(started.request).data : undefined;
  if (commit === undefined) return undefined;
  const { trailers, ...asked } = commit;
  const key = stepId(started.runId, unitOf(started.act), started.key);
  return { kind: "commit", request: { ...asked, date, key, ...(trailers === undefined ? {} : { trailers }) } };
}
