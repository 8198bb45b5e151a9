import { isObject } from "../kernel/value-kind.ts";
import { having, iterable, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { throwIfAborted } from "../kernel/abort.ts";
import type { Json } from "../kernel/json.ts";
import type { RunEvent, StepEnded, StepStarted } from "../runtime/record/event.ts";
import { ABSENT, fileChange, type FileChange, unitOf } from "./recorded-files.ts";
import type { CommitRequest, Workspace } from "./workspace.ts";

/** Name of the step in which an action commits its files. */
export const COMMIT_STEP = "commit";

/** Options of {@link restoreFiles}. */
export interface RestoreOptions {
  /** Sequence number of the last event that counts. Default: the last of all. */
  readonly at?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const restoreOptions: Known<RestoreOptions> = { at: true, signal: true };

/** The result of a restore. */
export interface Restored {
  readonly files: number;
  readonly commits: number;
}

/**
 * Writes the files and commits of the ended activations of a record into a workspace, in the order of their ends: a fork gets the files of
 * its parent in a folder of its own. An open activation writes its files again itself when the run is resumed.
 *
 * @throws WorkspaceError
 * @throws ControlError when the signal aborts
 */
export async function restoreFiles(
  workspace: Workspace,
  events: AsyncIterable<RunEvent> | Iterable<RunEvent>,
  options: RestoreOptions = {},
): Promise<Restored> {
  checkKnownOptions("restoreFiles", options, restoreOptions);
  takes("restoreFiles", "workspace", workspace, having("a workspace", "write", "commit"));
  takes("restoreFiles", "events", events, iterable("events of a run"));
  const { at = Infinity, signal } = options;
  const open = new OpenDeeds();
  const paths = new Set<string>();
  let commits = 0;
  for await (const event of events) {
    throwIfAborted(signal);
    for (const deed of open.endedBy(event)) {
      if (deed.kind === "commit")
        commits += (await workspace.commit({ ...deed.request, ...(signal === undefined ? {} : { signal }) })) === undefined ? 0 : 1;
      else if (deed.content === ABSENT) {
        await workspace.remove(deed.path);
        paths.delete(deed.path);
      } else paths.add((await workspace.write(deed.path, deed.content)).path);
    }
    // Not one more is read: what comes behind may be damaged.
    if (event.seq >= at) break;
  }
  return { files: paths.size, commits };
}

type Deed = (FileChange & { readonly kind: "change" }) | { readonly kind: "commit"; readonly request: CommitRequest };

/** The writes of activations that have not ended. */
class OpenDeeds {
  readonly #asked = new Map<string, StepStarted>();
  readonly #done = new Map<string, Deed[]>();

  /** Takes in an event. @returns what became final by it, in order */
  endedBy(event: RunEvent): readonly Deed[] {
    switch (event.type) {
      case "step.started":
        this.#asked.set(`${event.act} ${event.key}`, event);
        return [];
      case "step.ended":
        this.#keep(event);
        return [];
      case "act.ended":
        return this.#taken(unitOf(event.act));
      case "act.failed":
        return event.then === "dead" ? this.#taken(unitOf(event.act)) : [];
      default:
        return [];
    }
  }

  #keep(event: StepEnded): void {
    const name = `${event.act} ${event.key}`;
    const started = this.#asked.get(name);
    if (started === undefined || event.retry === true) return;
    this.#asked.delete(name);
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

function deedOf(started: StepStarted, at: number): Deed | undefined {
  const change = fileChange(started);
  if (change !== undefined) return { kind: "change", ...change };
  const request = started.kind === "step" && started.name === COMMIT_STEP ? commitIn(started.request, at) : undefined;
  return request === undefined ? undefined : { kind: "commit", request };
}

function commitIn(request: Json, date: number): CommitRequest | undefined {
  if (typeof request !== "object" || request === null) return undefined;
  const { message, author, paths, trailers } = request as Readonly<Record<string, unknown>>;
  if (typeof message !== "string" || typeof author !== "string" || !isTexts(paths)) return undefined;
  return { message, author, date, paths, ...(isTextsByKey(trailers) ? { trailers } : {}) };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isTextsByKey(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && isTexts(Object.values(value));
}
