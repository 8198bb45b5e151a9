import { z } from "zod";
import { type ActionContext, type Json, StepError } from "../../src/index.ts";
import { mergeFork, removeFork } from "../../src/workspace/index.ts";
import { type ScriptAnswer, type ScriptLines, ScriptThread } from "../../src/workspace/script-thread.ts";
import { type AgentCall, type AgentEnd, CallSchema, forkOf, requestOf, runAgent, type WorkflowAgents } from "./workflow-agent.ts";

const LineSchema = z.discriminatedUnion("kind", [
  CallSchema,
  z.object({ kind: z.enum(["log", "phase"]), text: z.string() }),
  z.object({ kind: z.literal("ended"), value: z.unknown() }),
  z.object({ kind: z.literal("failed"), error: z.object({ name: z.string(), message: z.string(), stack: z.string().optional() }) }),
]);

type Line = z.infer<typeof LineSchema>;

/** The result of a script, and what it said meanwhile. */
export interface WorkflowEnd {
  readonly value: Json;
  readonly log: readonly string[];
}

export interface WorkflowRunParts {
  readonly ctx: ActionContext;
  readonly agents: WorkflowAgents;
  readonly body: string;
  readonly args: Json | undefined;
  readonly total: number | null;
  readonly calls: number;
  readonly concurrency: number;
}

/** Characters of a name of a step. */
const NAME = 100;
/** Characters of the result of a script. */
const MAX_RESULT = 900_000;
const KEPT_LINES = 1_000;

/**
 * One run of a script. It owns the calls of agents that wait, work, or have ended and are not given to the script yet.
 *
 * WorkflowRun.W1 (`#give`) answers reach the script in the order of its calls, so what it does follows from the recorded answers alone.
 * WorkflowRun.W2 (`#start`) at most `concurrency` agents work, and they are asked in the order of the calls.
 * WorkflowRun.W3 (`#merge`) forks are merged one at a time, in the order of the calls.
 */
export class WorkflowRun {
  readonly #parts: WorkflowRunParts;
  readonly #script: ScriptThread;
  readonly #queue: AgentCall[] = [];
  readonly #log: string[] = [];
  readonly #warned = new Set<string>();
  #working = 0;
  #asked = 0;
  /** Settles when all answers so far are given to the script. */
  #given: Promise<unknown> = Promise.resolve();
  #merged: Promise<unknown> = Promise.resolve();
  #open = 0;
  #isOver = false;
  #settle: { readonly resolve: (end: WorkflowEnd) => void; readonly reject: (error: unknown) => void } | undefined;

  constructor(parts: WorkflowRunParts) {
    this.#parts = parts;
    const { ctx, body, args, total, calls } = parts;
    const stream = ctx.stream("workflow");
    const seed = [1, 2, 3, 4].map(() => Math.floor(stream() * 2 ** 32));
    this.#script = new ScriptThread(body, { args, seed, start: ctx.now(), total, calls });
  }

  /** @throws StepError `WORKFLOW_FAILED`, `WORKFLOW_LIMIT`; ControlError */
  async run(): Promise<WorkflowEnd> {
    try {
      return await new Promise<WorkflowEnd>((resolve, reject) => {
        this.#settle = { resolve, reject };
        this.#took(this.#script.begin());
      });
    } finally {
      this.#settle = undefined;
      await this.#script.close();
    }
  }

  #took(turn: Promise<ScriptLines>): void {
    this.#open += 1;
    turn.then(
      (lines) => {
        this.#open -= 1;
        for (const line of lines) this.#take(line);
        this.#start();
        if (this.#isOver || this.#working + this.#open > 0) return;
        this.#settle?.reject(failed("to end, but it waits for something that never comes", "Await agents, and nothing else."));
      },
      (error: unknown) => this.#settle?.reject(error),
    );
  }

  #take(given: Json): void {
    const read = LineSchema.safeParse(given);
    if (!read.success) {
      const issue = read.error.issues[0];
      const fault = `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}`;
      this.#settle?.reject(failed(`to call agent(prompt, options) with what it takes, got ${fault}`, "Look at its options."));
      return;
    }
    const line: Line = read.data;
    switch (line.kind) {
      case "agent":
        return this.#called(line);
      case "log":
      case "phase":
        return this.#say(line.kind === "phase" ? `# ${line.text}` : line.text);
      case "ended":
        return this.#end(line.value as Json);
      case "failed":
        return this.#settle?.reject(scriptFailure(line.error));
    }
  }

  #called(call: AgentCall): void {
    const { calls } = this.#parts;
    this.#asked += 1;
    if (this.#asked > calls || call.id !== this.#asked) {
      this.#settle?.reject(failed(`to make at most ${calls} calls of agent()`, "Do the work in fewer calls."));
      return;
    }
    const { model } = call.options;
    if (typeof model === "string" && this.#parts.agents.models[model] === undefined)
      this.#warn(`No model is set for ${JSON.stringify(model.slice(0, NAME))}; the model of the workflow answers.`);
    this.#queue.push(call);
  }

  #start(): void {
    for (; this.#working < this.#parts.concurrency;) {
      const call = this.#queue.shift();
      if (call === undefined) return;
      this.#working += 1;
      const ended = this.#merge(call, this.#ask(call));
      void ended.then(
        () => {
          this.#working -= 1;
          this.#start();
        },
        (error: unknown) => this.#settle?.reject(error),
      );
      this.#give(call, ended);
    }
  }

  #ask(call: AgentCall): Promise<AgentEnd> {
    const { ctx, agents } = this.#parts;
    const { label, phase = call.phase } = call.options;
    const name = (label ?? `agent ${call.id}`).slice(0, NAME) || "agent";
    const shown = phase === undefined || phase === null ? {} : { shown: { phase: phase.slice(0, NAME) } };
    // Files that an agent wrote are written again where a run goes on, or is forked.
    const again = agents.tools.length > 0;
    return ctx.steps.step({ kind: "step", name, request: requestOf(call), ...shown, again }, (door) => runAgent(ctx, agents, call, door));
  }

  #give({ id }: AgentCall, ended: Promise<AgentEnd>): void {
    this.#open += 1;
    this.#given = Promise.all([ended, this.#given]).then(
      ([{ value, error, lack, tokens, at }]) => {
        this.#open -= 1;
        if (lack !== undefined) this.#warn(`Agent ${id} came to no answer: ${lack}`);
        const answer: ScriptAnswer = { id, at, tokens, ...(error === undefined ? { value } : { error }) };
        if (this.#settle !== undefined) this.#took(this.#script.answer(answer));
      },
      () => {},
    );
  }

  async #merge(call: AgentCall, asked: Promise<AgentEnd>): Promise<AgentEnd> {
    if (call.options.isolation !== "worktree") return asked;
    const before = this.#merged;
    const work = (async () => {
      const end = await asked;
      await before;
      return end.error === undefined && end.lack === undefined ? this.#mergeOf(call, end) : end;
    })();
    this.#merged = work.catch(() => {});
    return work;
  }

  async #mergeOf(call: AgentCall, end: AgentEnd): Promise<AgentEnd> {
    const { ctx, agents } = this.#parts;
    const [fork, project] = [forkOf(call), agents.project()];
    const message = (call.options.label ?? call.prompt).split("\n", 1)[0]?.slice(0, NAME) ?? fork;
    const merge = await mergeFork(ctx.steps, project, fork, { message, author: ctx.name, date: end.at });
    if (merge.kind === "conflict") {
      const paths = merge.paths.slice(0, 20).join(", ");
      return {
        ...end,
        value: null,
        error: `The work of this agent conflicts with that of others in ${paths}. Nothing of it was merged; its files are in .troupe/trees/${fork}.`,
      };
    }
    await removeFork(ctx.steps, project, fork);
    return end;
  }

  #end(value: Json): void {
    this.#isOver = true;
    const size = JSON.stringify(value).length;
    if (size > MAX_RESULT) {
      this.#settle?.reject(failed(`to return at most ${MAX_RESULT} characters, got ${size}`, "Let an agent sum it up."));
      return;
    }
    const end = { value, log: this.#log };
    const rest = Promise.allSettled([this.#given]);
    // Agents that the script does not await end with the run, as their answers are paid.
    void rest.then(() => this.#settle?.resolve(end));
  }

  #say(text: string): void {
    if (this.#log.length < KEPT_LINES) this.#log.push(text);
    this.#parts.ctx.logger.info(text);
  }

  #warn(text: string): void {
    if (this.#warned.has(text) || this.#warned.size >= KEPT_LINES) return;
    this.#warned.add(text);
    if (this.#log.length < KEPT_LINES) this.#log.push(text);
    this.#parts.ctx.logger.warn(text);
  }
}

const NODE = /'(process|require|module|exports|Buffer|fetch|setTimeout|setInterval|__dirname|__filename|URL)' is not defined/;

function scriptFailure({ name, message, stack = "" }: Extract<Line, { kind: "failed" }>["error"]): StepError {
  const line = /workflow\.js:(\d+)/.exec(stack)?.[1];
  const where = line === undefined ? "" : ` in line ${line}`;
  const advice = NODE.test(message)
    ? "A workflow has the language alone: its agents read files, run programs and use the web."
    : "Correct the script, or catch the error there.";
  return failed(`to return, but it threw${where}: ${name.slice(0, NAME)}: ${message.slice(0, 2_000)}`, advice);
}

function failed(expected: string, todo: string): StepError {
  return new StepError("WORKFLOW_FAILED", `Expected the script of the workflow ${expected}. ${todo}`);
}
