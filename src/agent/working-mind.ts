import type { z } from "zod";
import { throwIfAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ToolCall } from "../model/chat-message.ts";
import type { ChatRequest, ChatResponse } from "../model/chat-model.ts";
import type { CalledTool } from "../tool/tool-result.ts";
import { forbiddenBy } from "../tool/call-options.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { AgentEvent, DeniedCall } from "./events.ts";
import { LoopDetector, type LoopOptions } from "./loop-detector.ts";
import type { Mind, Question } from "./net.ts";
import type { ModelDesk } from "./model-client.ts";
import type { RunTally } from "./run-tally.ts";
import { remark } from "./remarks.ts";

/** Refused calls that a result names, and how much of a reason and of a name is told. */
const MOST_DENIED = 100;
const SHOWN_REASON = 500;
const SHOWN_NAME = 100;

/** Runs calls: checked, permitted, limited and recorded. */
export type RunCalls = (calls: readonly ToolCall[]) => Promise<readonly CalledTool[]>;

/** What a mind at work is made of. */
interface WorkingMindParts {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly memory: AgentMemory;
  readonly desk: ModelDesk;
  readonly runCalls: RunCalls;
  readonly toolChoice: NonNullable<ChatRequest["toolChoice"]>;
  readonly nextStepPrompt: string | undefined;
  /** False: loops are not looked for. */
  readonly loops: LoopOptions | false;
  readonly tell: (event: AgentEvent) => void;
}

/** The mind of one run. It owns the step under way, whether the run goes in circles, and which calls were denied; what is remembered is the memory's. */
export class WorkingMind implements Mind {
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly nextStepPrompt: string | undefined;
  step = 0;
  /** Set when a loop went on after the warning. */
  looped = false;
  /** Calls that were not allowed. */
  readonly denied: DeniedCall[] = [];
  readonly #parts: WorkingMindParts;
  readonly #loops: LoopDetector | undefined;
  #called: CalledTool[] = [];
  #acted = false;
  #warned = false;

  constructor(parts: WorkingMindParts) {
    this.#parts = parts;
    this.signal = parts.signal;
    this.clock = parts.clock;
    this.nextStepPrompt = parts.nextStepPrompt;
    this.#loops = parts.loops === false ? undefined : new LoopDetector(parts.loops);
  }

  /** A tool that is named must be called once; from then on the model chooses, or nothing would ever end. */
  get toolChoice(): NonNullable<ChatRequest["toolChoice"]> {
    const { toolChoice } = this.#parts;
    return this.#acted && typeof toolChoice === "object" ? "auto" : toolChoice;
  }

  get tally(): RunTally {
    return this.#parts.desk.tally;
  }

  ask(question: Question): AsyncGenerator<string, ChatResponse, void> {
    return this.#parts.desk.ask(question);
  }

  read<S extends z.ZodType>(schema: S, question: Question): Promise<z.infer<S>> {
    return this.#parts.desk.read(schema, question);
  }

  async act(calls: readonly ToolCall[]): Promise<readonly CalledTool[]> {
    throwIfAborted(this.signal);
    const choice = this.toolChoice;
    const isFree = choice === "auto" || choice === "required";
    const called = await (isFree ? this.#parts.runCalls(calls) : this.#runChosen(choice, calls));
    throwIfAborted(this.signal);
    if (this.#loops !== undefined) this.#called.push(...called);
    for (const one of called) if (one.outcome === "denied") this.#denied(one);
    return called;
  }

  warn(code: string, text: string): void {
    this.#parts.tell({ type: "warning", step: this.step, code, text });
  }

  /** Looks for a loop after a state has run: the first one is told to the model, the second one ends the run. */
  watchLoops(): Promise<void> | undefined {
    if (this.#loops === undefined || this.#called.length === 0) return undefined;
    const period = this.#loops.add(this.#called, (name) => this.#parts.memory.tools.find(name)?.polls === true);
    this.#called = [];
    return period > 0 ? this.#toldOfLoop(period) : undefined;
  }

  async #toldOfLoop(period: number): Promise<void> {
    const what = period === 1 ? "the same tools with the same arguments" : `the same ${period} steps in turns`;
    this.warn("LOOP", `It calls ${what} again and again, and gets the same results.`);
    if (this.#warned) {
      this.looped = true;
      return;
    }
    this.#warned = true;
    await this.#parts.memory.update([
      remark(
        `You call ${what} again and again, and nothing new comes of it. Do something else, or say what you know so far. If you go on like this, you are stopped.`,
      ),
    ]);
  }

  #denied({ call, result }: CalledTool): void {
    const why = (result.error ?? "").slice(0, SHOWN_REASON);
    const tool = call.function.name;
    if (this.denied.length < MOST_DENIED) this.denied.push({ step: this.step, tool, why });
    this.warn("CALL_DENIED", `The call of ${JSON.stringify(tool.slice(0, SHOWN_NAME))} was not made: ${why}`);
  }

  /** What the choice of tools forbids is answered and not run. */
  async #runChosen(choice: "none" | { readonly name: string }, calls: readonly ToolCall[]): Promise<readonly CalledTool[]> {
    const { memory, runCalls } = this.#parts;
    const forbidden = new Map(calls.map((call) => [call, forbiddenBy(choice, call, memory.tools)]));
    const ran = await runCalls(calls.filter((call) => forbidden.get(call) === undefined));
    this.#acted ||= ran.length > 0;
    const answers = new Map(ran.map((called) => [called.call, called]));
    return calls.flatMap((call) => forbidden.get(call) ?? answers.get(call) ?? []);
  }
}
