import { listed } from "../kernel/value-text.ts";
import type { StepEnded } from "../runtime/record/event.ts";
import type { Run } from "../team/run.ts";
import type { FileWorkspace } from "../workspace/file-workspace.ts";
import type { CommitReport } from "./report.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { AgentSettings } from "./settings.ts";

const SUBJECT = 72;
const NAMED = 3;

export function subjectOf(task: string): string {
  const [line = ""] = task.trim().split("\n");
  return line.length <= SUBJECT ? line : `${line.slice(0, SUBJECT - 1).trimEnd()}…`;
}

/** A file that had changes of the user's, or that git ignores, is left out; during a merge or a rebase nothing is committed. */
export async function commitWork(
  workspace: FileWorkspace,
  { commit = true, dirty }: AgentSettings,
  { task, runId, date, signal }: { task: string; runId: string; date: number; signal: AbortSignal },
): Promise<CommitReport | undefined> {
  const written = workspace.pending;
  if (written.length === 0 || workspace.git.kind !== "repository") return undefined;
  if (!commit) return { files: 0, note: "not made (--no-commit)" };
  if (dirty === undefined) return { files: 0, note: "not made: the changes before the run are unknown" };
  const state = await workspace.inspectGit(signal);
  if (state?.underWay !== undefined) return { files: 0, note: `not made, for ${state.underWay} is under way in the repository` };
  const ignored = new Set(await workspace.ignoredByGit(written, signal));
  const isUsers = (path: string): boolean => dirty.some((one) => one === path || (one.endsWith("/") && path.startsWith(one)));
  const paths = written.filter((path) => !ignored.has(path) && !isUsers(path));
  const left = written.filter(isUsers);
  const note = left.length === 0 ? "" : `left out, for they had changes of yours: ${listed(left, NAMED)}`;
  if (paths.length === 0) return { files: 0, note: note === "" ? "not made: git ignores what was written" : `not made; ${note}` };
  const id = await workspace.commit({ message: subjectOf(task), author: "Agent", date, paths, trailers: { "Troupe-Run": runId }, signal });
  return id === undefined ? { files: 0, note } : { id, files: paths.length, note };
}

const CALL = 200;
const RESULT = 160;
const MAX_LINE = 4_000;
const MAX_TEXT = 100_000;

/** Words without a call are the agent's answer, which the result shows; so words are printed once their step has ended with calls. */
export function watchAgent({ screen }: Session, run: Run): void {
  const { style } = screen;
  const said = new Map<string, string>();
  const calls = new Set<string>();
  run.on("model.delta", ({ step, text }) => void said.set(step, `${said.get(step) ?? ""}${text}`.slice(0, MAX_TEXT)));
  run.on("model.void", ({ step }) => void said.delete(step));
  run.on("warning", ({ text }) => screen.showWarning(text));
  run.on("step.started", (started) => {
    if (started.kind !== "tool" || started.in !== undefined) return;
    calls.add(started.key);
    const { args = {} } = started.request as { readonly args?: unknown };
    screen.say(`${style.active(shown(started.name, 60))} ${style.faint(shown(JSON.stringify(args), CALL))}`);
  });
  run.on("step.ended", (ended) => {
    if (calls.delete(ended.key)) {
      const { isOk, words } = resultOf(ended);
      screen.say(`  ${(isOk ? style.faint : style.warn)(shown(words, RESULT))}`);
      return;
    }
    const { toolCalls } = (ended.value ?? {}) as { readonly toolCalls?: unknown };
    const lines = Array.isArray(toolCalls) && toolCalls.length > 0 ? (said.get(ended.key) ?? "").split("\n") : [];
    for (const line of lines) if (line.trim() !== "") screen.say(`  ${shown(line, MAX_LINE)}`);
    if (ended.retry !== true) said.delete(ended.key);
  });
}

function resultOf({ value, error }: StepEnded): { readonly isOk: boolean; readonly words: string } {
  if (error !== undefined) return { isOk: false, words: error.message };
  const { outcome = "ok", result = {} } = (value ?? {}) as {
    readonly outcome?: string;
    readonly result?: { readonly output?: unknown; readonly error?: string };
  };
  const said = result.error ?? result.output ?? "";
  const text = typeof said === "string" ? said : JSON.stringify(said);
  return { isOk: outcome === "ok", words: text.split("\n").find((line) => line.trim() !== "") ?? "(nothing)" };
}
