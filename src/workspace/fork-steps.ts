import { aNumber, aText, having, object, takes } from "../kernel/argument.ts";
import type { Json } from "../kernel/json.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import type { FileWorkspace } from "./file-workspace.ts";
import type { ForkComparison, ForkUpdate, WorkspaceForks } from "./forks.ts";
import { contentToWrite, mayWrite, OPEN_FORK_STEP, REMOVE_FORK_STEP, REMOVE_STEP, UPDATE_FORK_STEP, WRITE_STEP } from "./recorded-files.ts";
import { COMMIT_STEP } from "./restore-files.ts";
import { aCommitRequest, type CommitRequest, Turns, type Workspace, writtenFile } from "./workspace.ts";

/** The result of {@link mergeFork}. Plain JSON. */
export type ForkMerge =
  | { readonly kind: "merged"; readonly paths: readonly string[]; readonly left?: readonly string[] }
  | { readonly kind: "conflict"; readonly paths: readonly string[] };

/** A project and its forks, for steps. */
export interface ForkedProject {
  readonly workspace: Workspace;
  readonly forks: WorkspaceForks;
}

function checkArguments(caller: string, steps: StepPort, project: ForkedProject, name: string): void {
  takes(caller, "steps", steps, having("the context of an action", "step"));
  const parts = { workspace: having("a workspace", "list"), forks: having("forks of a project", "open", "compare") };
  takes(caller, "project", project, object("an object with workspace and forks", parts));
  takes(caller, "name", name, aText);
}

/** Changes a fork in a step that a resumed run repeats, and a replay does not. @param step its name, and that of the function */
async function changeFork<T extends Json>(
  { steps, project, name, step }: { steps: StepPort; project: ForkedProject; name: string; step: string },
  otherwise: T,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  checkArguments(step.replace(" f", "F"), steps, project, name);
  return steps.step({ kind: "step", name: step, request: { name }, again: true }, async ({ mode, signal }) =>
    (await mayWrite(project.forks.workspace(name), mode)) ? work(signal) : otherwise,
  );
}

/** Opens a fork, as a step. Call it at the beginning of each activation that works in the fork. @throws UsageError, WorkspaceError */
export async function openFork(steps: StepPort, project: ForkedProject, name: string): Promise<FileWorkspace> {
  await changeFork({ steps, project, name, step: OPEN_FORK_STEP }, null, (signal) => project.forks.open(name, signal).then(() => null));
  return project.forks.workspace(name);
}

/** Brings the project's changes into a fork, as a step, so that whoever works there can resolve conflicts. @throws UsageError, WorkspaceError */
export function updateFork(steps: StepPort, project: ForkedProject, name: string): Promise<ForkUpdate> {
  const nothing = { updated: [], conflicts: [] };
  return changeFork<{ updated: readonly string[]; conflicts: readonly string[] }>(
    { steps, project, name, step: UPDATE_FORK_STEP },
    nothing,
    async (signal) => ({ ...(await project.forks.update(name, signal)) }),
  );
}

/** Removes a fork, as a step. @throws UsageError, WorkspaceError */
export async function removeFork(steps: StepPort, project: ForkedProject, name: string): Promise<void> {
  await changeFork({ steps, project, name, step: REMOVE_FORK_STEP }, null, (signal) => project.forks.remove(name, signal).then(() => null));
}

/** Compares a fork with its project, or only some paths, as a step. Nothing is written. @throws UsageError, WorkspaceError */
export async function compareFork(
  steps: StepPort,
  project: ForkedProject,
  name: string,
  only?: readonly string[],
): Promise<ForkComparison> {
  checkArguments("compareFork", steps, project, name);
  const request = { name, ...(only === undefined ? {} : { only }) };
  return steps.step({ kind: "step", name: "compare fork", request, fresh: true }, ({ signal }) =>
    project.forks.compare(name, signal, only),
  );
}

/**
 * Merges a fork into its project and commits that, in steps. When both changed a file in ways that do not fit, nothing is written.
 *
 * @param request of the commit; its `paths` are those that may be merged. Default: all that the fork changed
 * @throws UsageError `ARGUMENT_INVALID`
 * @throws WorkspaceError
 */
export async function mergeFork(steps: StepPort, project: ForkedProject, name: string, request: CommitRequest): Promise<ForkMerge> {
  checkArguments("mergeFork", steps, project, name);
  const { workspace } = project;
  takes("mergeFork", "request", request, aCommitRequest);
  const compared = await compareFork(steps, project, name, request.paths);
  if (compared.kind === "conflict") return compared;
  const live = (door: StepDoor): Promise<boolean> => mayWrite(workspace, door.mode);
  for (const { path, content } of compared.changes) {
    if (content === null) {
      await steps.step({ kind: "step", name: REMOVE_STEP, request: { path }, again: true }, async (door) => {
        if (await live(door)) await workspace.remove(path);
        return null;
      });
    } else {
      const written = contentToWrite(content);
      const file = { path, ...(typeof content === "string" ? { content } : content) };
      await steps.step({ kind: "step", name: WRITE_STEP, request: file, again: true }, async (door) =>
        (await live(door)) ? workspace.write(path, written) : writtenFile(path, written),
      );
    }
  }
  const paths = compared.changes.map(({ path }) => path);
  if (paths.length > 0) await commitFiles(steps, workspace, { ...request, paths });
  return { kind: "merged", paths, ...(compared.left === undefined ? {} : { left: compared.left }) };
}

/** The end of {@link settleFork}. `conflict`: git has marked the project's changes in the files `marked` of the fork. `red`: the reason of the check. */
export type ForkEnd<Red> =
  | { readonly kind: "merged"; readonly paths: readonly string[] }
  | { readonly kind: "conflict"; readonly paths: readonly string[]; readonly note: string }
  | { readonly kind: "red"; readonly why: Red };

/** The marks of a conflict that nobody has resolved. */
const MARKS = /^<{7} .*\n[^]*^={7}$[^]*^>{7} /m;

const merging = new WeakMap<WorkspaceForks, Turns>();

/**
 * Merges a fork into its project where they fit and a check of both together is green, in steps. While colleagues merge, it is checked again, so no
 * state of the project arises that no check has seen.
 *
 * @param check returns what is against the merge; it sees the fork with the project's changes
 * @param rounds how often it is checked at most. Default: nobody else merges
 */
export async function settleFork<Red>(
  steps: StepPort,
  project: ForkedProject,
  name: string,
  o: { readonly request: CommitRequest; readonly check: () => Promise<Red | undefined>; readonly rounds?: number },
): Promise<ForkEnd<Red>> {
  const { request, check, rounds } = o;
  const { paths: own } = request;
  const compared = await compareFork(steps, project, name, own);
  const { conflicts } = await updateFork(steps, project, name);
  const left = compared.kind === "fits" ? compared.changes.filter(({ content }) => typeof content === "string" && MARKS.test(content)) : [];
  const marked = [...new Set([...conflicts.filter((path) => own?.includes(path) !== false), ...left.map(({ path }) => path)])];
  const changed = compared.kind === "conflict" ? compared.paths : marked;
  if (changed.length > 0) return conflict(changed, marked);
  const why = await check();
  if (why !== undefined) return { kind: "red", why };
  const merged = async (): Promise<ForkEnd<Red>> => {
    const merge = await mergeFork(steps, project, name, request);
    return merge.kind === "merged" ? merge : conflict(merge.paths, []);
  };
  if (rounds === undefined) return merged();
  const turns = merging.get(project.forks) ?? new Turns();
  merging.set(project.forks, turns);
  const end = await turns.take(async () => {
    const late = await updateFork(steps, project, name);
    return late.updated.length + late.conflicts.length === 0 ? merged() : undefined;
  });
  if (end !== undefined) return end;
  return rounds > 1 ? settleFork(steps, project, name, { ...o, rounds: rounds - 1 }) : conflict([], []);
}

function conflict(changed: readonly string[], marked: readonly string[]): ForkEnd<never> & { readonly kind: "conflict" } {
  const files = changed.join(", ") || "the files of your work";
  const marks = marked.length === 0 ? files : marked.join(", ");
  const note = `The project changed meanwhile in ${files}. Its changes are now in your files; resolve the marks of conflicts in ${marks}, and call done again.`;
  return { kind: "conflict", paths: changed, note };
}

/**
 * Commits files, as a step, once. It gives nothing, because the commit's id depends on the history. @param request its `key` is that of the step
 * @throws UsageError `ARGUMENT_INVALID`; WorkspaceError `WORKSPACE_GIT`
 */
export async function commitFiles(steps: StepPort, workspace: Workspace, request: CommitRequest): Promise<void> {
  takes("commitFiles", "steps", steps, having("the context of an action", "step"));
  takes("commitFiles", "workspace", workspace, having("a workspace", "list", "commit"));
  takes("commitFiles", "request", request, object("a request of a commit", { message: aText, author: aText, date: aNumber }));
  const { date, key: _key, signal: _signal, ...asked } = request;
  await steps.step({ kind: "step", name: COMMIT_STEP, request: asked, again: true }, async ({ mode, key, signal }) => {
    if (await mayWrite(workspace, mode)) await workspace.commit({ ...asked, date, key, signal });
    return null;
  });
}
