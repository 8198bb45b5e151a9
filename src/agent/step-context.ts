import { throwIfAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { RunContext } from "../kernel/deps.ts";
import type { StepPort } from "../kernel/step.ts";
import type { ToolCall } from "../model/chat-message.ts";
import type { ChatRequest } from "../model/chat-model.ts";
import { forbiddenBy, type ToolNotice } from "../tool/call-options.ts";
import { type Guard, type GuardPlace, judge, type Judged, type Judging } from "../tool/guard.ts";
import { callTools } from "../tool/call-tools.ts";
import { closeTool } from "../tool/run-tool.ts";
import { type CalledTool, shortResult } from "../tool/tool-result.ts";
import type { Tool } from "../tool/tool.ts";
import { type AgentMemory, remark } from "./agent-memory.ts";
import type { BrainOptions } from "./brain-options.ts";
import type { AgentEvent, DeniedCall } from "./events.ts";
import { LoopDetector } from "./loop-detector.ts";
import type { ModelClient } from "./model-client.ts";
import type { Mind } from "./net.ts";
import type { RunTally } from "./run-tally.ts";

const MAX_DENIED = 100;
const SHOWN_REASON = 500;
const SHOWN_NAME = 100;

interface StepContextParts {
  readonly options: BrainOptions;
  readonly memory: AgentMemory;
  readonly client: ModelClient;
  readonly steps: StepPort;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly context: RunContext | undefined;
  readonly tell: (event: AgentEvent) => void;
}

export class StepContext implements Mind {
  step = 0;
  readonly denied: DeniedCall[] = [];
  readonly #parts: StepContextParts;
  readonly #loops: LoopDetector | undefined;
  readonly #opened = new Set<Tool>();
  #called: CalledTool[] = [];
  #hasActed = false;
  #isWarned = false;
  beside: Promise<unknown> | undefined;

  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly nextStepPrompt: string | undefined;
  readonly ask: Mind["ask"] = (question) => this.#parts.client.ask(question);
  readonly read: Mind["read"] = (schema, question) => this.#parts.client.read(schema, question);

  constructor(parts: StepContextParts) {
    const { loops = {}, nextStepPrompt } = parts.options;
    this.#parts = parts;
    this.signal = parts.signal;
    this.clock = parts.clock;
    this.nextStepPrompt = nextStepPrompt;
    this.#loops = loops === false ? undefined : new LoopDetector(loops);
  }

  begin(maxSteps: number, state: string): void {
    this.step++;
    this.#parts.tell({ type: "step.started", step: this.step, maxSteps, state });
  }

  /** A named tool must be called once; then the model chooses, or the run would never end. */
  get toolChoice(): NonNullable<ChatRequest["toolChoice"]> {
    const { toolChoice = "auto" } = this.#parts.options;
    return this.#hasActed && typeof toolChoice === "object" ? "auto" : toolChoice;
  }

  get tally(): RunTally {
    return this.#parts.client.tally;
  }

  async act(calls: readonly ToolCall[]): Promise<readonly CalledTool[]> {
    throwIfAborted(this.signal);
    await this.beside;
    const choice = this.toolChoice;
    const isFree = choice === "auto" || choice === "required";
    const called = await (isFree ? this.#run(calls) : this.#runChosen(choice, calls));
    throwIfAborted(this.signal);
    if (this.#loops !== undefined) this.#called.push(...called);
    for (const one of called) if (one.outcome === "denied") this.#denied(one);
    return this.#observed(called);
  }

  /** The answer of a tool that ends the run becomes the run's answer, uncut. */
  #observed(called: readonly CalledTool[]): readonly CalledTool[] {
    const { maxObserve } = this.#parts.options;
    if (maxObserve === undefined) return called;
    return called.map((one) => (one.ends ? one : { ...one, result: shortResult(one.result, maxObserve) }));
  }

  warn(code: string, text: string): void {
    this.#parts.tell({ type: "warning", step: this.step, code, text });
  }

  async isLooping(): Promise<boolean> {
    if (this.#loops === undefined || this.#called.length === 0) return false;
    const { memory } = this.#parts;
    const period = this.#loops.add(this.#called, (name) => memory.tools.find(name)?.polls === true);
    this.#called = [];
    if (period === 0) return false;
    const repeated = period === 1 ? "the same tools with the same arguments" : `the same ${period} steps in turns`;
    this.warn("LOOP", `It calls ${repeated} again and again, and gets the same results.`);
    if (this.#isWarned) return true;
    this.#isWarned = true;
    await memory.update([
      remark(
        `You call ${repeated} again and again, and nothing new comes of it. Do something else, or say what you know so far. If you go on like this, you are stopped.`,
      ),
    ]);
    return false;
  }

  /** Never rejects: a tool that fails or hangs is a warning. */
  async closeTools(): Promise<void> {
    await Promise.all([...this.#opened].map((tool) => this.#close(tool)));
  }

  async #close(tool: Tool): Promise<void> {
    const { clock, memory: session } = this.#parts;
    const trouble = await closeTool(tool, session, clock);
    if (trouble !== undefined) this.warn("TOOL_NOT_CLOSED", trouble);
  }

  judge(guards: readonly Guard[], judging: Judging): Promise<Judged> {
    return judge(guards, judging, this.#place);
  }

  get name(): string {
    return this.#parts.options.name ?? "agent";
  }

  get #place(): GuardPlace {
    const { steps, clock, signal, client, options, context } = this.#parts;
    const { ask, deps } = options;
    return { steps, clock, signal, model: (door) => client.modelOf(door), ask, deps, context, role: this.name };
  }

  #run(calls: readonly ToolCall[]): Promise<readonly CalledTool[]> {
    const { memory, tell, options } = this.#parts;
    const { permissions, approve, parallelTools, guards } = options;
    return callTools(calls, {
      ...this.#place,
      tools: memory.tools,
      tell: (notice) => tell(eventOf(notice, this.step)),
      policy: permissions,
      approve,
      guards,
      concurrency: parallelTools,
      session: memory,
      opened: (tool) => this.#opened.add(tool),
    });
  }

  async #runChosen(choice: "none" | { readonly name: string }, calls: readonly ToolCall[]): Promise<readonly CalledTool[]> {
    const forbidden = new Map(calls.map((call) => [call, forbiddenBy(choice, call, this.#parts.memory.tools)]));
    const ran = await this.#run(calls.filter((call) => forbidden.get(call) === undefined));
    this.#hasActed ||= ran.length > 0;
    const answers = new Map(ran.map((called) => [called.call, called]));
    return calls.flatMap((call) => forbidden.get(call) ?? answers.get(call) ?? []);
  }

  #denied({ call, result }: CalledTool): void {
    const why = (result.error ?? "").slice(0, SHOWN_REASON);
    const tool = call.function.name;
    if (this.denied.length < MAX_DENIED) this.denied.push({ step: this.step, tool, why });
    this.warn("CALL_DENIED", `The call of ${JSON.stringify(tool.slice(0, SHOWN_NAME))} was not made: ${why}`);
  }
}

function eventOf(notice: ToolNotice, step: number): AgentEvent {
  if (notice.type === "tool.ended") return { type: "call.ended", step, ...notice.called };
  const { call } = notice;
  return notice.type === "tool.started" ? { type: "call.started", step, call } : { type: "call.progress", step, call, text: notice.text };
}
