import { Agent } from "../agent/agent.ts";
import type { FlowEvent, FlowResult } from "../agent/flow-plan.ts";
import { PlanningFlow } from "../agent/planning-flow.ts";
import { StepError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { listed } from "../kernel/value-text.ts";
import { defineAction } from "../role/action.ts";
import type { RoleContext } from "../role/context.ts";
import { defineRole, type Role } from "../role/role.ts";
import type { StepEnded, StepStarted } from "../runtime/record/event.ts";
import type { Run } from "../team/run.ts";
import type { HumanQuestion } from "../tool/approval.ts";
import type { Tool } from "../tool/tool.ts";
import type { MachineOptions } from "../tools/command.ts";
import { MANUS_PROMPT, manusTools } from "../tools/manus.ts";
import type { FileWorkspace } from "../workspace/file-workspace.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import type { AgentSettings } from "./settings.ts";

export interface AgentRoleParts extends MachineOptions {
  readonly more?: readonly Tool[] | undefined;
  readonly tell?: ((line: string) => void) | undefined;
}

/**
 * The one role of `troupe agent`: an agent with the named tools, or a plan whose steps such agents do. Tools that run or write ask first,
 * unless they are allowed.
 */
export function agentRole(settings: AgentSettings, { more = [], tell = () => {}, ...ports }: AgentRoleParts): Role {
  const { tools: named, allow, steps: maxSteps, plan = false } = settings;
  const tools = [...manusTools(ports).filter(({ name }) => named.includes(name)), ...more];
  const names = tools.map(({ name }) => name);
  const unknown = allow.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const expected = `Expected --allow to name tools of ${names.join(", ")}, with commas between`;
    throw new UsageError("OPTION_INVALID", `${expected}, got "${shown(unknown, 60)}".`);
  }
  const permissions = { rules: allow.map((tool) => ({ tool, decide: "allow" as const })) };
  if (!plan) {
    const agent = { systemPrompt: MANUS_PROMPT, permissions };
    return defineRole({ name: "Agent", reactMode: "agent", maxReactLoop: maxSteps, tools, agent });
  }
  const work = defineAction({
    name: "Work",
    async run(ctx) {
      const { name, model, steps, clock } = ctx;
      const ask = (question: HumanQuestion, { signal }: { signal: AbortSignal }): Promise<Json> => ctx.human.answer(question, signal);
      const worker = (): Agent =>
        new Agent({ name, model, steps, clock, tools, permissions, maxSteps, systemPrompt: MANUS_PROMPT, approve: ask, ask });
      // One after another: the agents share a folder and a person.
      const flow = new PlanningFlow({ model, steps, clock, concurrency: 1, executors: { work: worker } });
      const run = flow.run(ctx.text, { signal: ctx.signal });
      for await (const event of run) tellPlan(event, ctx, tell);
      return answerOf(await run.result);
    },
  });
  return defineRole({ name: "Agent", actions: [work] });
}

function tellPlan(event: FlowEvent, { logger }: Pick<RoleContext, "logger">, tell: (line: string) => void): void {
  switch (event.type) {
    case "plan.made": {
      const steps = event.steps.map(({ task, status }) => `${task.id} ${task.instruction}${status === "done" ? " (done)" : ""}`);
      return tell(`Plan: ${steps.join("; ")}`);
    }
    case "step.started":
      return tell(`Step ${event.step.task.id}: ${event.step.task.instruction}`);
    case "step.failed":
      return tell(`Step ${event.step.task.id} was not done: ${event.why}`);
    case "warning":
      return logger.warn(event.text);
    case "agent.event":
      return event.event.type === "warning" ? logger.warn(event.event.text) : undefined;
    default:
      return undefined;
  }
}

/** The answer of a plan, also where some steps could not be done: it says which. */
function answerOf({ status, answer, error, steps }: FlowResult): string {
  if (error !== undefined) throw error;
  if (status !== "blocked" || steps.some((step) => step.status === "done")) return answer;
  const why = steps.map((step) => step.result).find((result) => result !== "") ?? "no reason was given";
  throw new StepError("AGENT_UNFINISHED", `Expected the plan to be carried out, but no step of it could be done: ${why.slice(0, 500)}`);
}

export interface CommitReport {
  /** The commit's id; undefined where none was made. */
  readonly id?: string;
  readonly files: number;
  /** Why there is none, or which files are not in it; may be empty. */
  readonly note: string;
}

export interface AgentCommit {
  readonly task: string;
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly date: number;
  readonly signal: AbortSignal;
}

/** Characters of a task in the first line of a commit. */
const SUBJECT = 72;
const NAMED = 3;

/**
 * Commits the files an agent wrote and no others. A file that had changes of the user's before, or that git ignores, is left out; during a
 * merge or a rebase nothing is committed. Files that are left out stay in the folder.
 */
export async function commitWork(
  workspace: FileWorkspace,
  { commit = true, dirty }: AgentSettings,
  { task, runId, date, signal }: AgentCommit,
): Promise<CommitReport | undefined> {
  const written = workspace.pending;
  if (written.length === 0 || workspace.git.kind !== "repository") return undefined;
  if (!commit) return { files: 0, note: "not made (--no-commit)" };
  if (dirty === undefined) return { files: 0, note: "not made: it is not known which changes were there before" };
  const state = await workspace.inspectGit(signal);
  if (state?.underWay !== undefined) return { files: 0, note: `not made, for ${state.underWay} is under way in the repository` };
  const ignored = new Set(await workspace.ignoredByGit(written, signal));
  const isUsers = (path: string): boolean => dirty.some((one) => one === path || (one.endsWith("/") && path.startsWith(one)));
  const paths = written.filter((path) => !ignored.has(path) && !isUsers(path));
  const left = written.filter(isUsers);
  const note = left.length === 0 ? "" : `left out, for they had changes of yours: ${listed(left, NAMED)}`;
  if (paths.length === 0) return { files: 0, note: note === "" ? "not made: git ignores what was written" : `not made; ${note}` };
  const [line = ""] = task.trim().split("\n");
  const message = line.length <= SUBJECT ? line : `${line.slice(0, SUBJECT - 1).trimEnd()}…`;
  const id = await workspace.commit({ message, author: "Agent", date, paths, trailers: { "Troupe-Run": runId }, signal });
  return id === undefined ? { files: 0, note } : { id, files: paths.length, note };
}

/** Characters of a call and of its result that a line shows. */
const CALL = 200;
const RESULT = 160;
/** Characters of one line of a text, and of the whole. */
const LONGEST_LINE = 4_000;
const LONGEST_TEXT = 100_000;

/**
 * Prints an agent's words and calls while it works, with the result of each call. Words without a call are the agent's answer, which the
 * result shows; so words are printed once their step has ended with calls.
 */
export function watchAgent({ screen }: Session, run: Run): void {
  const { style } = screen;
  const said = new Map<string, string>();
  const calls = new Set<string>();
  run.on("model.delta", ({ step, text }) => void said.set(step, `${said.get(step) ?? ""}${text}`.slice(0, LONGEST_TEXT)));
  run.on("model.void", ({ step }) => void said.delete(step));
  run.on("warning", ({ text }) => screen.showWarning(text));
  run.on("step.started", (started) => {
    if (started.kind !== "tool" || started.in !== undefined) return;
    calls.add(started.key);
    screen.say(`${style.active(shown(started.name, 60))} ${style.faint(shown(argumentsOf(started), CALL))}`);
  });
  run.on("step.ended", (ended) => {
    if (calls.delete(ended.key)) {
      const { isOk, words } = resultOf(ended);
      screen.say(`  ${(isOk ? style.faint : style.warn)(shown(words, RESULT))}`);
      return;
    }
    const lines = hasCalls(ended) ? (said.get(ended.key) ?? "").split("\n") : [];
    for (const line of lines) if (line.trim() !== "") screen.say(`  ${shown(line, LONGEST_LINE)}`);
    if (ended.retry !== true) said.delete(ended.key);
  });
}

function argumentsOf({ request }: StepStarted): string {
  const { args } = request as { readonly args?: unknown };
  return JSON.stringify(args ?? {});
}

function hasCalls({ value }: StepEnded): boolean {
  const { toolCalls } = (value ?? {}) as { readonly toolCalls?: unknown };
  return Array.isArray(toolCalls) && toolCalls.length > 0;
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
