import { z } from "zod";
import { throwIfAborted } from "../kernel/abort.ts";
import { systemClock } from "../kernel/clock.ts";
import { ControlError, ModelError, OutputError, PlanError, TroupeError, UsageError } from "../kernel/errors.ts";
import { directSteps, type StepPort } from "../kernel/step.ts";
import { thrownText } from "../kernel/value-text.ts";
import { meterFor } from "../model/ask.ts";
import { ChatMessage } from "../model/chat-message.ts";
import { type CallPolicy, policyWithin } from "../model/call.ts";
import { jitter } from "../model/retry.ts";
import { InnerRun } from "../model/meter.ts";
import { Agent } from "./agent.ts";
import { Compaction } from "./compaction.ts";
import type { AgentResult, EventLog } from "./events.ts";
import { type FlowEvent, FlowPlan, type FlowResult, type FlowStep } from "./flow-plan.ts";
import type { FlowExecutor, FlowParts, PlanningFlowOptions } from "./planning-flow.ts";
import { MessagesMemory } from "./messages-memory.ts";
import { RunTally } from "./run-tally.ts";
import { ModelClient } from "./model-client.ts";

/** Every other try would fail too. */
const FATAL_CODES: ReadonlySet<string> = new Set(["MODEL_AUTH", "MODEL_QUOTA", "MODEL_NOT_FOUND", "MODEL_REDIRECTED", "MODEL_UNPRICED"]);

export class FlowRunner {
  readonly #parts: FlowParts;
  readonly #goal: string;
  readonly #outer: AbortSignal;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #log: EventLog<FlowEvent>;
  readonly #planner: FlowPlanner;
  readonly #inner: InnerRun | undefined;
  readonly #plan = new FlowPlan();
  readonly #running = new Map<string, Promise<void>>();
  readonly #busy = new Set<FlowExecutor>();
  #replans = 0;
  #failed: FailedStep | undefined;
  #fatal: Error | undefined;

  constructor(parts: FlowParts, goal: string, signal: AbortSignal, log: EventLog<FlowEvent>) {
    const { options, executors, limits } = parts;
    this.#parts = parts;
    this.#goal = goal;
    this.#outer = signal;
    this.#signal = AbortSignal.any([signal, this.#stop.signal]);
    this.#log = log;
    const planned = [...executors].map(([type, executor]) => ({
      type,
      description: executor instanceof Agent ? executor.description : "",
    }));
    const meter = meterFor(options.model);
    if (meter !== undefined && options.steps === undefined)
      this.#inner = new InnerRun(meter, { kind: "flow", name: "plan", request: { goal } });
    const steps = options.steps ?? this.#inner;
    this.#planner = new FlowPlanner(clientOf(options, { signal: this.#signal, steps, above: meter?.policy }), planned, limits.maxSteps);
  }

  async result(): Promise<FlowResult> {
    let result: FlowResult;
    const work = (): Promise<FlowResult> => this.#reached();
    try {
      result = await (this.#inner?.begin().within(work) ?? work());
      await this.#inner?.end();
    } catch (thrown) {
      const isRecorded = this.#inner !== undefined || this.#parts.options.steps !== undefined;
      // Stopping a recorded step would suspend the role and hide the error; such steps are awaited.
      if (!isRecorded) this.#stop.abort(thrown);
      await Promise.all(this.#running.values());
      const error = (await this.#inner?.interruption()) ?? thrown;
      result = { ...endOf(error, this.#outer), answer: "", steps: this.#plan.steps };
    }
    this.#log.add({ type: "flow.ended", result });
    this.#log.end();
    return result;
  }

  async #reached(): Promise<FlowResult> {
    throwIfAborted(this.#outer);
    await this.#makePlan();
    await this.#work();
    return this.#outcome();
  }

  async #makePlan(): Promise<void> {
    const { tasks } = this.#parts.options;
    try {
      if (tasks !== undefined) this.#plan.replaceOpen(tasks);
      else await this.#planner.plan(this.#goal, this.#plan);
    } catch (error) {
      if (!isNoPlan(error) || tasks !== undefined) throw error;
      this.#warn("PLAN_MISSING", `No plan could be made, so the goal is done as one step. ${thrownText(error)}`);
      this.#plan.replaceOpen([{ id: "1", instruction: this.#goal }]);
    }
    this.#announcePlan();
  }

  #warn(code: string, text: string): void {
    this.#log.add({ type: "warning", code, text });
  }

  async #work(): Promise<void> {
    for (;;) {
      if (this.#fatal !== undefined) throw this.#fatal;
      throwIfAborted(this.#signal);
      if (this.#failed !== undefined && this.#running.size === 0) await this.#planAnew();
      if (this.#failed === undefined) this.#beginReady();
      if (this.#running.size === 0) return;
      await Promise.race(this.#running.values());
    }
  }

  #beginReady(): void {
    for (const { task } of this.#plan.ready) {
      if (this.#running.size === this.#parts.limits.concurrency) return;
      const executor = this.#parts.executors.get((task.type ?? "").toLowerCase()) ?? this.#parts.first;
      if (this.#busy.has(executor)) continue;
      const step = this.#plan.begin(task.id);
      if (executor instanceof Agent) this.#busy.add(executor);
      this.#running.set(task.id, this.#take(step, executor));
    }
  }

  /** Never rejects. */
  async #take(step: FlowStep, executor: FlowExecutor): Promise<void> {
    const { task, tries } = step;
    this.#log.add({ type: "step.started", step });
    try {
      const result = await this.#execute(step, executor);
      if (result.status === "finished") {
        this.#plan.finish(task.id, result.answer);
        this.#log.add({ type: "step.ended", step: this.#plan.step(task.id), result });
      } else this.#fail(step, result, tries);
    } catch (error) {
      if (this.#plan.step(task.id).status === "running") this.#plan.reopen(task.id, thrownText(error));
      this.#fatal = error instanceof Error ? error : new TroupeError("THROWN", thrownText(error));
    } finally {
      this.#busy.delete(executor);
      this.#running.delete(task.id);
    }
  }

  async #execute(step: FlowStep, executor: FlowExecutor): Promise<AgentResult> {
    const agent = executor instanceof Agent ? executor : executor();
    const run = agent.run(this.#prompt(step), { signal: this.#signal });
    for await (const event of run) this.#log.add({ type: "agent.event", task: step.task.id, event });
    return run.result;
  }

  #fail({ task }: FlowStep, result: AgentResult, tries: number): void {
    const why = whyNot(result);
    const { error } = result;
    if (
      result.status === "stopped" ||
      result.status === "budget" ||
      error instanceof UsageError ||
      (error instanceof ModelError && FATAL_CODES.has(error.code))
    ) {
      this.#plan.reopen(task.id, why);
      this.#log.add({ type: "step.failed", step: this.#plan.step(task.id), why, then: "stop" });
      throw error ?? new TroupeError("FLOW_STOPPED", why);
    }
    const mayRetry = tries < this.#parts.limits.tries;
    const mayPlan = this.#replans < this.#parts.limits.replans && this.#parts.options.tasks === undefined;
    const then = mayRetry ? "retry" : mayPlan ? "replan" : "block";
    if (then !== "block") this.#plan.reopen(task.id, why);
    if (then === "replan") this.#failed ??= { step: this.#plan.step(task.id), why };
    const blocked = then === "block" ? this.#plan.block(task.id, why) : [];
    this.#log.add({ type: "step.failed", step: this.#plan.step(task.id), why, then, ...(blocked.length > 1 ? { blocked } : {}) });
  }

  async #planAnew(): Promise<void> {
    const failed = this.#failed;
    if (failed === undefined) return;
    this.#failed = undefined;
    this.#replans++;
    const plan = this.#plan;
    try {
      await this.#planner.replan(this.#goal, plan, failed);
      this.#announcePlan();
    } catch (error) {
      if (!isNoPlan(error)) throw error;
      this.#warn("PLAN_MISSING", `No other plan could be made. ${thrownText(error)}`);
      plan.block(failed.step.task.id, failed.why);
    }
  }

  async #outcome(): Promise<FlowResult> {
    const { steps, doneSteps, isDone } = this.#plan;
    const status = isDone ? "finished" : "blocked";
    const [only, ...others] = doneSteps;
    if (isDone && only !== undefined && others.length === 0) return { status, answer: only.result, steps };
    return { status, answer: await this.#summary(), steps };
  }

  /** The results of the steps are the answer when they cannot be summed up. */
  async #summary(): Promise<string> {
    const { steps, doneSteps } = this.#plan;
    try {
      return await this.#planner.summarize(this.#goal, steps);
    } catch (error) {
      if (error instanceof ControlError || this.#outer.aborted) throw error;
      this.#warn("SUMMARY_MISSING", `The results are the answer, without a summary. ${thrownText(error)}`);
      return doneSteps.map((step) => step.result).join("\n\n");
    }
  }

  /** An executor that knew the rest of the plan would do that too. */
  #prompt({ task, tries, result }: FlowStep): string {
    const needed = task.dependsOn.map((id) => {
      const step = this.#plan.step(id);
      return `Result of an earlier step (${step.task.instruction}):\n${step.result}`;
    });
    const again = tries > 1 && result !== "" ? [`An earlier try of this step failed: ${result}`] : [];
    return [
      `The whole goal, for your information: ${this.#goal}`,
      ...needed,
      `Your step, and nothing else: ${task.instruction}`,
      ...again,
    ].join("\n\n");
  }

  #announcePlan(): void {
    this.#log.add({ type: "plan.made", steps: this.#plan.steps });
  }
}

interface Surroundings {
  readonly signal: AbortSignal;
  readonly steps: StepPort | undefined;
  readonly above: CallPolicy | undefined;
}

function clientOf(options: PlanningFlowOptions, { signal, steps, above }: Surroundings): ModelClient {
  const { model, clock = above?.clock ?? systemClock, calls } = options;
  const policy = policyWithin(above, { random: jitter(), ...calls, clock });
  const parts = { model, policy, signal, steps: steps ?? directSteps(signal), systemPrompt: undefined };
  return new ModelClient({
    ...parts,
    memory: new MessagesMemory(),
    compaction: new Compaction(),
    blind: new WeakSet(),
    tell: () => {},
    step: () => 0,
    tally: new RunTally(),
  });
}

function endOf(thrown: unknown, signal: AbortSignal): Pick<FlowResult, "status"> & { readonly error: Error } {
  const error = thrown instanceof Error ? thrown : new TroupeError("THROWN", thrownText(thrown));
  return { status: error instanceof ControlError || signal.aborted ? "stopped" : "failed", error };
}

function whyNot({ status, answer, error }: AgentResult): string {
  if (status === "max_steps") return "its steps were used up before it was done";
  if (status === "loop") return "it did the same again and again";
  return error?.message ?? (answer === "" ? status : answer);
}

interface FailedStep {
  readonly step: FlowStep;
  readonly why: string;
}

interface PlannedExecutor {
  readonly type: string;
  readonly description: string;
}

const PlannedSteps = z.object({
  steps: z
    .array(
      z.object({
        id: z.string().min(1),
        instruction: z.string().min(1),
        dependsOn: z.array(z.string()).optional(),
        type: z.string().optional(),
      }),
    )
    .min(1),
});

const SHOWN_RESULT = 2_000;
/** Tries for a plan that is no graph. */
const PLAN_TRIES = 3;

class FlowPlanner {
  readonly #client: ModelClient;
  readonly #executors: readonly PlannedExecutor[];
  readonly #maxSteps: number;

  constructor(client: ModelClient, executors: readonly PlannedExecutor[], maxSteps: number) {
    this.#client = client;
    this.#executors = executors;
    this.#maxSteps = maxSteps;
  }

  /** @throws PlanError, OutputError when no reply was a plan; ModelError */
  plan(goal: string, plan: FlowPlan): Promise<void> {
    return this.#ask(`Goal:\n${goal}\n\nBreak the goal into as few steps as do it well, at most ${this.#maxSteps}.`, plan);
  }

  replan(goal: string, plan: FlowPlan, { step, why }: FailedStep): Promise<void> {
    const done = plan.doneSteps.map(({ task, result }) => `- ${task.id}: ${task.instruction}\n  result: ${result.slice(0, SHOWN_RESULT)}`);
    const open = plan.steps.filter(({ status }) => status !== "done").map(({ task }) => `- ${task.id}: ${task.instruction}`);
    const parts = [
      `Goal:\n${goal}`,
      done.length === 0 ? "Nothing is done yet." : `Done, and to be left as it is:\n${done.join("\n")}`,
      `Not done:\n${open.join("\n")}`,
      `Step ${step.task.id} could not be done: ${why.slice(0, SHOWN_RESULT)}`,
      `Plan what is left in another way, in at most ${this.#maxSteps} new steps. They may depend on what is done; give them ids that are not taken.`,
    ];
    return this.#ask(parts.join("\n\n"), plan);
  }

  async summarize(goal: string, steps: readonly FlowStep[]): Promise<string> {
    const results = steps.map(({ task, status, result }) => `- ${task.instruction} (${status}): ${result}`).join("\n");
    const asked = ChatMessage.user(
      `Goal:\n${goal}\n\nWhat the steps gave:\n${results}\n\nGive the answer to the goal, whole. Say plainly what could not be done.`,
    );
    const reply = this.#client.ask({ messages: [asked] });
    for (;;) {
      const next = await reply.next();
      if (next.done === true) return next.value.content;
    }
  }

  async #ask(prompt: string, plan: FlowPlan): Promise<void> {
    let complaint = "";
    for (let n = 1; ; n++) {
      const { steps } = await this.#client.read(PlannedSteps, { messages: [ChatMessage.user(prompt + this.#rules() + complaint)] });
      try {
        if (steps.length > this.#maxSteps)
          throw new PlanError("PLAN_TOO_LONG", `Expected at most ${this.#maxSteps} steps, got ${steps.length}.`);
        return plan.replaceOpen(steps);
      } catch (error) {
        if (!(error instanceof PlanError) || n === PLAN_TRIES) throw error;
        complaint = `\n\nYour last plan was refused: ${error.message}`;
      }
    }
  }

  #rules(): string {
    const executors = this.#executors.map(({ type, description }) => `- ${type}${description === "" ? "" : `: ${description}`}`);
    return `\n\nEach step has an id, an instruction that can be understood alone, the ids of the steps whose results it needs (dependsOn), and as its type who does it, one of:\n${executors.join("\n")}\nSteps that need nothing of each other are done side by side. The steps form a graph without cycles.`;
  }
}

function isNoPlan(error: unknown): boolean {
  return error instanceof PlanError || error instanceof OutputError;
}
