import { zodOf } from "../model/standard-schema.ts";
import { checkModel } from "../kernel/foreign-models.ts";
import { takes } from "../kernel/argument.ts";
import type { z } from "zod";
import { onAbort, throwIfAborted, untilAborted } from "../kernel/abort.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { systemClock } from "../kernel/clock.ts";
import { AbortedError } from "../kernel/errors.ts";
import { freshStepKey } from "../kernel/id.ts";
import { checkGivenOptions, checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { cancellationOf } from "../kernel/cancellation.ts";
import type { RunContext } from "../kernel/deps.ts";
import type { JsonObject } from "../kernel/json.ts";
import { directSteps, type StepPort } from "../kernel/step.ts";
import { budgetPool, isBudgetPool } from "../model/budget-pool.ts";
import { PoolSpender } from "../model/funds.ts";
import { type CallPolicy, policyWithin } from "../model/call.ts";
import type { ChatModel, ChatRequest, Usage } from "../model/chat-model.ts";
import { meterFor } from "../model/ask.ts";
import { outputSchema } from "../model/json-schema.ts";
import { allLimits, type ModelLimits, sharedLimits } from "../model/limits.ts";
import { filesBefore, type TaskFiles } from "../model/file-parts.ts";
import { InnerRun } from "../model/meter.ts";
import { jitter } from "../model/retry.ts";
import { readReply } from "../model/structured-output.ts";
import { checkToolChoice } from "../tool/call-options.ts";
import { type Guard, GUARD_RETRIES, type Judged, refusedBy, unfit } from "../tool/guard.ts";
import { type AgentMemory, anAgentMemory, closeOpenCalls, remark } from "./agent-memory.ts";
import { brainOptions, type BrainOptions, checkBrainLimits } from "./brain-options.ts";
import { Compaction } from "./compaction.ts";
import type { AgentEvent, DeniedCall } from "./events.ts";
import { DEFAULT_MAX_STEPS } from "./lifecycle.ts";
import { ModelClient } from "./model-client.ts";
import type { Net, NetState } from "./net.ts";
import { react } from "./nets/react.ts";
import { RunTally } from "./run-tally.ts";
import { StepContext } from "./step-context.ts";

/** Options of one run of a brain. */
export interface BrainRunOptions {
  readonly signal?: AbortSignal;
  readonly tell?: (event: AgentEvent) => void;
  /** Values for the tools of this run: see {@link RunContext}. Default: none. */
  readonly context?: RunContext;
}

const brainRunOptions: Known<BrainRunOptions> = { signal: kinds.signal, tell: kinds.function, context: kinds.object };

/**
 * Runs a net over a memory: it decides which state comes next, counts steps, streams the text, and stops. One brain may think over many
 * memories at once.
 *
 * `Brain.B1` after `maxSteps` steps no further one begins; a run may finish on the last one (`BrainRun.#enter`). `Brain.B2` a memory that
 * is done is not worked on (`BrainRun.#next`).
 */
export class Brain {
  readonly net: Net;
  readonly maxSteps: number;
  readonly #options: BrainOptions;
  readonly #pool: BudgetPool | undefined;
  readonly #limits: ModelLimits | undefined;
  #compaction: Compaction | undefined;
  readonly #blind = new WeakSet<ChatModel>();

  /** @throws UsageError `AGENT_INVALID` */
  constructor(options: BrainOptions) {
    checkGivenOptions("new Brain", options, brainOptions);
    checkModel("AGENT_INVALID", "the model of a brain", options.model);
    checkBrainLimits(options);
    this.#options = options;
    this.net = options.net ?? react();
    const { maxSteps = DEFAULT_MAX_STEPS, budget, limits, calls, name = "agent" } = options;
    this.maxSteps = maxSteps;
    this.#pool = budget === undefined || isBudgetPool(budget) ? budget : budgetPool(budget, { name: `budget of ${name}` });
    this.#limits = allLimits(sharedLimits(limits), calls?.limits);
  }

  /**
   * Works until the memory is done or the steps are used up, and streams the text. Continues work that the memory holds.
   *
   * @throws ControlError when the signal aborts; ModelError, OutputError, and any error of a state of the net
   */
  run(memory: AgentMemory, o: BrainRunOptions = {}): AsyncGenerator<string, BrainEnd, void> {
    return this.begin(memory, o).pieces;
  }

  /** Like {@link run}, as an object that also has the usage so far. */
  begin(memory: AgentMemory, o: BrainRunOptions = {}): BrainRun {
    takes("run of a brain", "memory", memory, anAgentMemory);
    checkKnownOptions("run of a brain", o, brainRunOptions);
    return this.work(memory, o, this.innerRun({}));
  }

  /** @param inner the run as a part of an activation or of a call of a tool @internal */
  work(memory: AgentMemory, o: BrainRunOptions & { readonly files?: TaskFiles }, inner: InnerRun | undefined): BrainRun {
    const { toolChoice = "auto", output: schema, steps, news, guards = [] } = this.#options;
    const output = zodOf(schema) as z.ZodType | undefined;
    const spender = this.#pool && new PoolSpender(this.#pool, { name: `agent ${freshStepKey()}`, paid: inner?.pools });
    const span = spanOf(o.signal, steps === undefined, () => void spender?.close());
    const context = this.#context(memory, span.signal, o, { spender, steps: steps ?? inner });
    return new BrainRun({ net: this.net, memory, context, span, inner, maxSteps: this.maxSteps, output, toolChoice, news, guards });
  }

  /** Undefined outside an activation and a tool call. @internal */
  innerRun(request: JsonObject): InnerRun | undefined {
    const { name = "agent", model, steps } = this.#options;
    const meter = steps === undefined ? meterFor(model, [this.#pool]) : undefined;
    return meter && new InnerRun(meter, { kind: "agent", name, request });
  }

  #context(
    memory: AgentMemory,
    signal: AbortSignal,
    { tell = () => {}, context: given, files }: BrainRunOptions & { readonly files?: TaskFiles },
    { spender, steps: over }: { readonly spender: PoolSpender | undefined; readonly steps: StepPort | undefined },
  ): StepContext {
    const { model, systemPrompt, tokenLimit } = this.#options;
    const ending = cancellationOf(signal);
    const steps =
      over === undefined ? directSteps(signal, spender && (() => spender.attempts(ending))) : (spender?.over(over, ending) ?? over);
    const policy = this.#policy(meterFor(model)?.policy, files);
    this.#compaction ??= new Compaction(this.#options.compaction);
    const parts = { model, steps, policy, systemPrompt, memory, signal, tell, compaction: this.#compaction };
    const client = new ModelClient({ ...parts, blind: this.#blind, tally: new RunTally(tokenLimit), step: () => context.step });
    const context: StepContext = new StepContext({
      ...{ options: this.#options, memory, client, steps, signal, clock: policy.clock, tell },
      context: given,
    });
    return context;
  }

  #policy(above: CallPolicy | undefined, files: TaskFiles): CallPolicy {
    const { calls, clock = above?.clock ?? systemClock } = this.#options;
    const requirePrice = this.#pool !== undefined && this.#pool.isBinding !== false;
    return policyWithin(above, { random: jitter(), requirePrice, ...calls, clock, limits: this.#limits, ...filesBefore(files, above) });
  }
}

/** The end of a run of a brain that did not throw. */
export interface BrainEnd {
  readonly status: "finished" | "max_steps" | "loop";
  readonly steps: number;
  /** Undefined without a schema, and if the answer is that the task cannot be done. */
  readonly output?: unknown;
}

interface BrainRunParts {
  readonly net: Net;
  readonly memory: AgentMemory;
  readonly context: StepContext;
  readonly span: RunSpan;
  readonly inner: InnerRun | undefined;
  readonly maxSteps: number;
  readonly output: z.ZodType | undefined;
  readonly toolChoice: NonNullable<ChatRequest["toolChoice"]>;
  readonly news: BrainOptions["news"];
  readonly guards: readonly Guard[];
}

interface Working {
  readonly at: "state";
  readonly name: string;
  readonly state: NetState;
  readonly pieces: AsyncIterator<string>;
}

type NetPosition =
  | { readonly at: "start" }
  | { readonly at: "between"; readonly next: string }
  | Working
  | { readonly at: "end"; readonly end: BrainEnd };

const TYPED_ANSWER =
  "Give your answer to the task once more, whole, in the form that is asked for here. Add nothing that you have not found, and leave nothing out.";

/**
 * One run of a brain over one memory. It owns the position in the net.
 *
 * `BrainRun.R1` nothing happens before the first piece is asked for, and nothing further until the next one is (`#run`). `BrainRun.R2` a
 * reader waits for a piece no longer than the signal allows, whatever a state waits for; a state that answers later changes nothing and is
 * not asked again (`#run`, `#next`). `BrainRun.R3` at the end, whatever it is, the tools that ran are closed once (`#run`).
 */
export class BrainRun {
  readonly #parts: BrainRunParts;
  #progress: NetPosition = { at: "start" };
  /** A state that belongs to the step before it may follow, but not two in a row. */
  #mayJoin = true;
  #refusals = 0;
  #pieces: AsyncGenerator<string, BrainEnd, void> | undefined;

  constructor(parts: BrainRunParts) {
    this.#parts = parts;
  }

  get pieces(): AsyncGenerator<string, BrainEnd, void> {
    this.#pieces ??= this.#run();
    return this.#pieces;
  }

  /** Rejected replies included. */
  readonly usage = (): Usage => this.tally.usage;

  /** @internal */
  get tally(): RunTally {
    return this.#parts.context.tally;
  }

  readonly denied = (): readonly DeniedCall[] => [...this.#parts.context.denied];

  /** Guards beside the model judge on, and nothing is an answer before they end. @throws StepError `GUARD_REFUSED`, `GUARD_FAILED`; ControlError */
  async judgedTask(task: string): Promise<string> {
    const { context, guards } = this.#parts;
    const judging = { on: "input", text: task } as const;
    const judged = async (beside: boolean): Promise<string> => {
      const end = await context.judge(
        guards.filter((guard) => guard.beside === beside),
        judging,
      );
      if (end.kind === "refused") throw refusedBy(end.by, { on: "input", role: context.name }, end.why);
      if (end.kind === "passes") return task;
      if (typeof end.value === "string" && !beside) return end.value;
      throw unfit(end.by, "the task", beside ? "a guard beside the model cannot rewrite what the model reads." : "it is no string.");
    };
    if (guards.length === 0) return task;
    const given = await judged(false);
    context.beside = judged(true);
    // Its error counts where it is awaited.
    context.beside.catch(() => undefined);
    return given;
  }

  /** Runs to the end. Use either this or {@link pieces}. */
  async through(onPiece: (text: string) => void): Promise<BrainEnd> {
    for (;;) {
      const piece = await this.pieces.next();
      if (piece.done === true) return piece.value;
      onPiece(piece.value);
    }
  }

  async *#run(): AsyncGenerator<string, BrainEnd, void> {
    const { span, context, inner } = this.#parts;
    const next = (): Promise<string> => this.#next();
    span.begin();
    inner?.begin();
    try {
      for (;;) {
        const piece = await untilAborted(inner?.within(next) ?? next(), span.signal);
        if (this.#progress.at === "end") return this.#progress.end;
        yield piece;
      }
    } finally {
      this.#leave();
      span.end();
      await context.closeTools();
      await inner?.end();
    }
  }

  /** Empty when the run has ended. */
  async #next(): Promise<string> {
    const { memory, context, span } = this.#parts;
    if (this.#progress.at === "start") this.#progress = { at: "between", next: await this.#start() };
    for (;;) {
      if (memory.done) {
        const end = await this.#finish();
        if (end !== undefined) return end;
      }
      throwIfAborted(span.signal);
      const working: Working | undefined = this.#progress.at === "state" ? this.#progress : this.#enter();
      if (working === undefined) return this.#end("max_steps");
      const piece = await working.pieces.next();
      throwIfAborted(span.signal);
      if (piece.done !== true) return piece.value;
      this.#progress = { at: "between", next: working.name };
      if (memory.done) continue;
      if (await context.isLooping()) return this.#end("loop");
      this.#progress = { at: "between", next: await working.state.nextState(memory) };
      await this.#hear();
    }
  }

  async #start(): Promise<string> {
    const { memory, net, toolChoice } = this.#parts;
    checkToolChoice(toolChoice, memory.tools);
    await closeOpenCalls(memory);
    return net.startOf(memory);
  }

  /** A server refuses words between calls and their results, so news wait while calls are open. */
  async #hear(): Promise<void> {
    const { memory, news } = this.#parts;
    const came = memory.nextAction === undefined ? (news?.() ?? []) : [];
    if (came.length > 0) await memory.update(came);
  }

  /** Undefined when no step is left for it. */
  #enter(): Working | undefined {
    const { net, memory, context, maxSteps } = this.#parts;
    if (this.#progress.at !== "between") return undefined;
    const { next: name } = this.#progress;
    const state = net.state(name);
    const joins = this.#mayJoin && state.sameStep === true;
    this.#mayJoin = !joins;
    if (!joins) {
      if (context.step === maxSteps) return undefined;
      context.begin(maxSteps, name);
    }
    const working: Working = { at: "state", name, state, pieces: state.run(memory, context)[Symbol.asyncIterator]() };
    this.#progress = working;
    return working;
  }

  /** Undefined if a guard has refused the answer, and the model answers again. */
  async #finish(): Promise<string | undefined> {
    const { output, memory, context, guards } = this.#parts;
    await context.beside;
    const { answer } = memory;
    if (answer === undefined || answer.isPassedOn === true) return this.#end("finished");
    const schema = answer.status === "success" ? output : undefined;
    const typed = schema === undefined ? {} : { output: await this.#typed(schema, answer.text) };
    const judged = await context.judge(guards, { on: "output", text: answer.text, ...("output" in typed && { value: typed.output }) });
    if (judged.kind === "passes") return this.#end("finished", typed);
    if (judged.kind === "refused") return this.#refused(judged);
    const text = typeof judged.value === "string" ? judged.value : JSON.stringify(judged.value);
    memory.answer = { ...answer, text };
    if (schema === undefined) return this.#end("finished");
    const read = schema.safeParse(judged.value);
    if (!read.success) throw unfit(judged.by, "the answer", read.error.message);
    return this.#end("finished", { output: read.data });
  }

  async #refused({ by, why }: Extract<Judged, { readonly kind: "refused" }>): Promise<undefined> {
    const { memory, net, context } = this.#parts;
    if (by.then !== "retry" || this.#refusals === GUARD_RETRIES) throw refusedBy(by, { on: "output", role: context.name }, why);
    this.#refusals += 1;
    context.warn("GUARD_REFUSED", `The guard "${by.name}" refuses the answer: ${why}`);
    await memory.update([remark(`Your answer was refused: ${why} Answer again, whole.`)]);
    memory.done = false;
    memory.answer = undefined;
    this.#progress = { at: "between", next: net.startOf(memory) };
    return undefined;
  }

  async #typed(schema: z.ZodType, text: string): Promise<unknown> {
    const read = readReply(text, schema, outputSchema(schema));
    return read.ok ? read.value : this.#parts.context.read(schema, { prompt: TYPED_ANSWER });
  }

  #end(status: BrainEnd["status"], typed: Pick<BrainEnd, "output"> = {}): string {
    this.#leave();
    this.#progress = { at: "end", end: { status, steps: this.#parts.context.step, ...typed } };
    return "";
  }

  #leave(): void {
    if (this.#progress.at !== "state") return;
    const { pieces } = this.#progress;
    // Not awaited: a generator that hangs in `next` never answers `return`.
    void Promise.resolve(pieces.return?.()).then(undefined, () => {});
  }
}

const OVER = new AbortedError("the run of the agent is over");

interface RunSpan {
  readonly signal: AbortSignal;
  begin(): void;
  end(): void;
}

/**
 * The signal of one run aborts when the run ends. With `steps` it is the given one: the waits belong to the role and are suspended with it.
 */
function spanOf(outer: AbortSignal | undefined, isOwn: boolean, ended: () => void): RunSpan {
  const own = isOwn ? new AbortController() : undefined;
  let unlisten = (): void => {};
  return {
    signal: own?.signal ?? AbortSignal.any(outer === undefined ? [] : [outer]),
    begin() {
      if (outer === undefined || own === undefined) return;
      if (outer.aborted) own.abort(outer.reason);
      unlisten = onAbort(outer, () => own.abort(outer.reason));
    },
    end() {
      unlisten();
      own?.abort(OVER);
      ended();
    },
  };
}
