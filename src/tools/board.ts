import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import type { JsonObject } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { StepPort } from "../kernel/step.ts";
import { defined } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { BOARD_STEP, TASK_KINDS, type TaskKind } from "../runtime/board/board.ts";
import { tasksText } from "../runtime/board/board-view.ts";
import { type BoardAnswer, type BoardRequest, nearText, newTaskSchema } from "../runtime/board/decide.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { begunFork, type CheckedPlace, type Command, isCommand, placeOptions, settledWork, stepsOf, timeForChecks } from "./own-checks.ts";

/** Options of {@link board}. */
export interface BoardOptions extends Partial<CheckedPlace> {
  /** Commands that a task can name as its checks, by their names. They need `workspace` and `sandbox`. A task that names none has all. */
  readonly checks?: Readonly<Record<string, Command>>;
  /** The tasks that one role can have claimed at once. Default: any number. */
  readonly claims?: number;
  /** The tokens of the board in the prompt of an agent. Default 800. */
  readonly tokens?: number;
}

/** The board of a run, as one role of it uses it in code. Each call is a recorded step; a refusal is an answer too. */
export interface BoardAccess {
  /** Adds tasks, at most 100 at once. Their needs are tasks that are there, or others of the list. */
  add(...tasks: readonly z.input<typeof newTaskSchema>[]): Promise<BoardAnswer>;
  /** Claims a task. Default: the first that is free and whose needs are done. */
  claim(id?: string): Promise<BoardAnswer>;
  /** Ends a claimed task, if its checks are green. */
  done(id: string, result?: string): Promise<BoardAnswer>;
  giveBack(id: string, reason: string): Promise<BoardAnswer>;
  /** Takes a task out of the flow until somebody reopens it. */
  block(id: string, reason: string): Promise<BoardAnswer>;
  reopen(id: string, reason?: string): Promise<BoardAnswer>;
  task(id: string): Promise<BoardAnswer>;
  /** Returns tasks in one state, at most 1,000. Default: 100 in any. */
  tasks(o?: { readonly state?: TaskKind; readonly most?: number }): Promise<BoardAnswer>;
  /** Returns the board as a prompt shows it. */
  show(): Promise<string>;
}

/** The tool `board`, which code of a role uses too. */
export interface BoardTool extends Tool {
  at(ctx: { readonly steps: StepPort; readonly signal: AbortSignal; readonly clock: ToolContext["clock"] }): BoardAccess;
}

const TOKENS = 800;

const boardOptions: Known<BoardOptions> = {
  ...placeOptions,
  checks: kinds.record({ says: "a command: a program and its arguments", fits: isCommand }),
  ...kinds.each(kinds.size, "claims", "tokens"),
};

const ACTIONS = ["show", "add", "claim", "done", "give_back", "block", "reopen", "task", "list"] as const;

const parameters = z.object({
  action: z.enum(ACTIONS),
  id: z.string().optional().describe("of a task; claim without it takes the first that is free"),
  tasks: z.array(newTaskSchema).optional().describe("add: the new tasks"),
  result: z.string().optional().describe("done: what came of it"),
  reason: z.string().optional().describe("give_back, block, reopen: why"),
  state: z.enum(TASK_KINDS).optional().describe("list: only tasks in this state"),
});

type BoardArguments = z.infer<typeof parameters>;

const DESCRIPTION =
  "The shared tasks of the team. add puts tasks on the board; claim makes one yours before you work on it; done ends it; give_back returns it with a reason; " +
  "block and reopen stop it and let it go on; show, task and list read.";

/**
 * Makes the tool `board`: the tasks that the roles of a run share, with owners, needs and checks. The board is part of the state of the run, so
 * all roles with such a tool see the same one, `fold(events).board` has it, and a resumed run, a replay and a fork have it too. Code of a role uses
 * it by `at`. Of two roles that claim one task one gets it. A role that is retired, or whose activation fails for good, gives its tasks back.
 *
 * @throws UsageError `OPTION_INVALID` for checks without a workspace and a sandbox
 * @example
 * import { defineAction, defineRole, Team } from "troupe";
 * import { board } from "troupe/tools";
 *
 * const tasks = board();
 * const Plan = defineAction({
 *   name: "Plan",
 *   run: async (ctx) => {
 *     await tasks.at(ctx).add({ title: "Bake" }, { title: "Eat", needs: ["t1"] });
 *     const claimed = await tasks.at(ctx).claim("t2");
 *     return claimed.ok ? "mine" : claimed.why;
 *   },
 * });
 * const team = new Team({ roles: [defineRole({ name: "Ada", actions: [Plan] })] });
 * console.log((await team.run("cake").result).output?.content); // Expected a task whose needs are done, but t2 waits for t1.
 */
export function board(options: BoardOptions = {}): BoardTool {
  checkGivenOptions("board", options, boardOptions);
  const { checks = {}, tokens = TOKENS, fork, workspace, sandbox } = options;
  const names = Object.keys(checks);
  if ((names.length > 0 || fork !== undefined) && (workspace === undefined || sandbox === undefined))
    throw new UsageError("OPTION_INVALID", "Expected a board with checks or a fork to have a workspace and a sandbox. Give it both.");
  const at: BoardTool["at"] = (ctx) => accessOf(options, ctx);
  const tool = defineTool({
    name: "board",
    description: names.length === 0 ? DESCRIPTION : `${DESCRIPTION} Checks: ${names.join(", ")}.`,
    parameters,
    permission: "allow",
    idempotent: true,
    fresh: true,
    again: fork !== undefined,
    parallel: false,
    polls: true,
    timeout: timeForChecks(names.length, options),
    execute: (args, ctx) => ran(at({ steps: stepsOf(ctx), signal: ctx.signal, clock: ctx.clock }), args),
  });
  const opens = async (steps: StepPort): Promise<readonly string[]> => [
    ...(fork === undefined ? [] : [await begunFork(steps, fork)]),
    await shown(steps, { op: "show", tokens }),
  ];
  return Object.freeze({ ...tool, opens, at }) as BoardTool;
}

export function asked(steps: StepPort, request: BoardRequest): Promise<BoardAnswer> {
  return steps.step({ kind: BOARD_STEP, name: request.op, request: defined(request as JsonObject), fresh: true }, () => {
    throw new UsageError(
      "BOARD_MISSING",
      "Expected a role of a run, whose board this tool uses, got none. Give the tool to a role of a team.",
    );
  });
}

export async function shown(steps: StepPort, request: BoardRequest): Promise<string> {
  const answer = await asked(steps, request);
  return answer.ok ? (answer.text ?? "") : answer.why;
}

function accessOf({ checks = {}, claims, tokens = TOKENS, ...place }: BoardOptions, ctx: Parameters<BoardTool["at"]>[0]): BoardAccess {
  const { steps } = ctx;
  const known = Object.keys(checks);
  const ask = (request: BoardRequest): Promise<BoardAnswer> => asked(steps, request);
  return {
    async add(...tasks) {
      const wrong = tasks.flatMap((task) => task.checks ?? []).find((name) => !known.includes(name));
      if (wrong !== undefined)
        return { ok: false, why: `Expected the name of a check of the board, got ${valueText(wrong)}.${nearText(wrong, known)}` };
      return ask({ op: "add", tasks: tasks.map((task) => ({ ...task, checks: task.checks?.length ? task.checks : known })) });
    },
    claim: (id) => ask({ op: "claim", ...defined({ id, most: claims }) }),
    async done(id, result) {
      const found = await ask({ op: "task", id, own: true });
      const [task] = found.ok ? found.tasks : [];
      if (task === undefined) return found;
      const green = task.checks.filter((name) => known.includes(name));
      const { workspace, sandbox } = place;
      if (workspace !== undefined && sandbox !== undefined && green.length > 0) {
        const commands = green.flatMap((name) => (checks[name] === undefined ? [] : [checks[name]]));
        const why = await settledWork({ ...place, workspace, sandbox }, { commands, ...ctx, message: task.title });
        if (why !== undefined) return { ok: false, why: `Expected ${id} to pass its checks. ${why}`, task };
      }
      return ask({ op: "done", id, green, ...defined({ result }) });
    },
    giveBack: (id, reason) => ask({ op: "give back", id, reason }),
    block: (id, reason) => ask({ op: "block", id, reason }),
    reopen: (id, reason) => ask({ op: "reopen", id, ...defined({ reason }) }),
    task: (id) => ask({ op: "task", id }),
    tasks: (o = {}) => ask({ op: "tasks", ...o }),
    show: () => shown(steps, { op: "show", tokens }),
  };
}

async function ran(access: BoardAccess, { action, id = "", tasks = [], result, reason = "", state }: BoardArguments): Promise<ToolResult> {
  const answer = await {
    show: () => access.show(),
    add: () => access.add(...tasks),
    claim: () => access.claim(id === "" ? undefined : id),
    done: () => access.done(id, result),
    give_back: () => access.giveBack(id, reason),
    block: () => access.block(id, reason),
    reopen: () => access.reopen(id, reason === "" ? undefined : reason),
    task: () => access.task(id),
    list: () => access.tasks(defined({ state })),
  }[action]();
  if (typeof answer === "string") return toolOutput(answer);
  if (answer.ok) return toolOutput(answer.tasks.length === 0 ? "There is none." : tasksText(answer.tasks));
  return toolFailure(answer.why, answer.task === undefined ? {} : { output: tasksText([answer.task]) });
}
