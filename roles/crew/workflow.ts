import { type Action, type ChatModel, defineAction, defineRole, type Json, UsageError, UserRequirement } from "../../src/index.ts";
import { checkKnownOptions, type Known, kinds } from "../../src/ports.ts";
import { readWorkflow } from "../../src/checks/workflow-script.ts";
import { type FileWorkspace, type ForkedProject, type Workspace, workspaceForks } from "../../src/workspace/index.ts";
import type { CREW_TOOLS } from "./crew-spec.ts";
import { setTraits } from "./declared-action.ts";
import type { Crew, CrewPorts } from "./open-crew.ts";
import type { WorkflowAgents } from "./workflow-agent.ts";
import { WorkflowRun } from "./workflow-run.ts";

/** Options of a workflow. */
export interface WorkflowOptions extends CrewPorts {
  /** The name of the file, for errors. Default: the workflow. */
  readonly file?: string | undefined;
  /** Tools of each agent. Default: none. */
  readonly tools?: readonly (typeof CREW_TOOLS)[number][] | undefined;
  /** Tools that run without asking a person. Default: none. */
  readonly allow?: readonly string[] | undefined;
  /** Commands that must end with code 0 before an agent of `isolation: "worktree"` may be done. Default: none. */
  readonly checks?: readonly (readonly [string, ...string[]])[] | undefined;
  /** The models that the option `model` of an agent names. Default: none; then the role's or the team's answers. */
  readonly models?: Readonly<Record<string, ChatModel>> | undefined;
  /** Calls of `agent` in one run. Default: what the script can make, at most 1,000. */
  readonly agents?: number | undefined;
  /** Agents that work at the same time. Default 8. */
  readonly concurrency?: number | undefined;
  /** Steps of each agent with tools. Default 30. */
  readonly steps?: number | undefined;
  /** Output tokens of all agents together: the `budget` of the script. Default: none. */
  readonly tokens?: number | undefined;
}

const workflowOptions: Known<WorkflowOptions> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  search: kinds.list(kinds.searchProvider),
  web: kinds.either(kinds.object, kinds.oneOf(false)),
  file: kinds.text,
  ...kinds.each(kinds.texts, "tools", "allow"),
  checks: kinds.list(kinds.texts),
  models: kinds.record(kinds.model),
  ...kinds.each(kinds.count, "agents", "concurrency", "steps", "tokens"),
};

const AGENTS = 1_000;
const CONCURRENCY = 8;
const STEPS = 30;
/** Characters of a result that is not shown in lines. */
const LONG = 4_000;
/** Questions for the value of an answer with a schema. */
const CALLS_OF_TYPED = 3;

/**
 * Makes a crew of a workflow: a script in JavaScript with `agent`, `parallel`, `pipeline`, `phase`, `log`, `budget` and `args`. It runs in
 * QuickJS, away from Node.js. Each agent is a recorded step of the run, so the run resumes, replays and forks without paying again. The
 * message of the user is `args`: as JSON where it is an object or a list, else as text. `checkCrew` bounds its calls and its cost.
 *
 * The script needs the package `quickjs-emscripten`. Its `Date` and `Math.random` are those of the run.
 *
 * @throws UsageError `WORKFLOW_INVALID` with the line at fault; `OPTION_UNKNOWN`
 * @example
 * import { type ChatModel, Team } from "troupe";
 * import { openWorkflow } from "troupe/roles";
 * import { memoryWorkspace, refusedSandbox } from "troupe/workspace";
 *
 * export async function greet(script: string, model: ChatModel): Promise<string | undefined> {
 *   const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs here", "Choose a sandbox.") };
 *   const { name, roles } = await openWorkflow(script, ports);
 *   return (await new Team({ name, roles, model }).run("Ada").result).output?.content;
 * }
 */
export async function openWorkflow(script: string, options: WorkflowOptions): Promise<Crew> {
  checkKnownOptions("openWorkflow", options, workflowOptions);
  if (typeof options !== "object" || options === null)
    throw new UsageError(
      "ARGUMENT_INVALID",
      "Expected the options of openWorkflow, got none. Write openWorkflow(script, { workspace, sandbox }).",
    );
  const { file = "the workflow", agents: most = AGENTS, concurrency = CONCURRENCY, tokens, ...given } = options;
  const { name, description, body, agents: counted = most } = await readWorkflow(script, file);
  const { tools = [], allow = [], checks = [], models = {}, steps = STEPS, workspace } = given;
  const agents: WorkflowAgents = { ...given, tools, allow, checks, models, steps, project: forksOf(workspace) };
  const calls = Math.min(counted, most);
  const work = defineAction({
    name: "RunWorkflow",
    description,
    run: async (ctx) => {
      const { text } = ctx;
      const { value, log } = await new WorkflowRun({
        ...{ ctx, agents, body, calls, concurrency },
        args: argsOf(text),
        total: tokens ?? null,
      }).run();
      const content = typeof value === "string" ? value : JSON.stringify(value, null, JSON.stringify(value).length > LONG ? 0 : 2);
      return ctx.message(content, { instructContent: value, ...(log.length === 0 ? {} : { metadata: { log } }) });
    },
  }) as Action;
  const stepsOfAgent = (tools.length === 0 ? 1 : steps) + CALLS_OF_TYPED;
  setTraits(work, { sendTo: undefined, limit: undefined, mayEnd: false, calls: calls * stepsOfAgent, models: Object.values(models) });
  const role = defineRole({ name, profile: "Workflow", goal: description, watch: [UserRequirement], actions: [work], onFailure: "stop" });
  return { name, roles: [role], reserve: [], budget: undefined, rounds: undefined, model: undefined, models: {}, output: undefined };
}

function argsOf(text: string): Json | undefined {
  if (text.trim() === "") return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}

function forksOf(workspace: Workspace): () => ForkedProject {
  let made: ForkedProject | undefined;
  return () => {
    if (!("inspectGit" in workspace))
      throw new UsageError(
        "WORKFLOW_ISOLATION",
        'Expected a workspace on disk for isolation: "worktree", got another one. Give openWorkflow fileWorkspace or openWorkspace.',
      );
    return (made ??= { workspace, forks: workspaceForks({ workspace: workspace as FileWorkspace }) });
  };
}
