import { abortReason, throwIfAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import { ContextClosedError, TimeoutError } from "../kernel/errors.ts";
import { Lifetime } from "../kernel/lifetime.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import { TimeLimit } from "../kernel/time-limit.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { HumanPort } from "./human-port.ts";
import { plainResult, plainText } from "./plain-result.ts";
import { interruptionIn, toldOf } from "./thrown.ts";
import type { Tool, ToolAnswer, ToolContext } from "./tool.ts";
import { isFailure, toolFailure, type ToolResult } from "./tool-result.ts";

/** What a running tool may reach. */
export interface ToolReach {
  readonly clock: Clock;
  /** Stops the call; the step's own signal always counts. */
  readonly signal: AbortSignal;
  /** Who calls: named to the person who is asked. */
  readonly role: string;
  readonly ask: HumanPort | undefined;
  /** The model of a tool, through the door that the call's own steps pass. */
  readonly model: ((steps: StepPort) => ChatModel) | undefined;
  /** Whose call it is: see {@link ToolContext.session}. */
  readonly session?: object | undefined;
  readonly progress: (text: string) => void;
}

/** How a tool's run ended: what is recorded of a call. Plain JSON. */
export interface ToolEnd {
  readonly outcome: "ok" | "failed" | "timeout";
  readonly result: ToolResult;
}

/** Longest piece of progress that is told, and most pieces of one call. */
const MAX_PROGRESS = 2_000;
const MOST_PROGRESS = 1_000;

/**
 * Runs a tool within its time, whatever it does: throws, hangs, gives back what is no JSON. What it does after its time is its own.
 *
 * @throws ControlError when the run stops, or when the tool was interrupted inside.
 */
export async function runTool(tool: Tool, args: unknown, door: StepDoor, reach: ToolReach): Promise<ToolEnd> {
  throwIfAborted(reach.signal);
  throwIfAborted(door.signal);
  const running = new RunningTool(tool, door, reach);
  try {
    const answer = await running.until(begin(tool, args, running.context));
    const result = plainResult(answer, tool.maxOutput);
    return { outcome: isFailure(result) ? "failed" : "ok", result };
  } catch (error) {
    if (running.isLate) return { outcome: "timeout", result: toolFailure(lateText(tool)) };
    const interruption = interruptionIn(error);
    if (interruption !== undefined) throw interruption;
    return { outcome: "failed", result: toolFailure(plainText(toldOf(error), tool.maxOutput)) };
  } finally {
    running.close();
  }
}

/** Async, so that what is thrown at once is a rejection like any other. */
async function begin(tool: Tool, args: unknown, ctx: ToolContext): Promise<ToolAnswer> {
  return tool.execute(args, ctx);
}

function lateText({ name, timeout }: Tool): string {
  return `the tool "${name}" did not end within ${timeout / 1_000} seconds and was stopped. What it had begun may have happened. Ask for less at once, or go another way.`;
}

/**
 * One run of one tool. It owns the run's time, its signal, and what the tool may still ask.
 *
 * N1 time that is spent waiting for a person does not count. N2 when it is closed, the tool reaches nothing any more. N3 a tool that tells
 * without end how far it is, is no longer listened to.
 */
class RunningTool {
  readonly context: ToolContext;
  readonly #tool: Tool;
  readonly #door: StepDoor;
  readonly #reach: ToolReach;
  readonly #limit: TimeLimit;
  /** Its signal is made when the tool asks for it: most never do. */
  readonly #life = new Lifetime(() => {});
  readonly #stops: ReadonlySet<AbortSignal>;
  #isLate = false;
  #isClosed = false;
  #persons = 0;
  #told = 0;

  constructor(tool: Tool, door: StepDoor, reach: ToolReach) {
    this.#tool = tool;
    this.#door = door;
    this.#reach = reach;
    this.#limit = new TimeLimit(reach.clock, tool.timeout, () => {
      this.#isLate = true;
      this.#life.end(new TimeoutError(`the tool "${tool.name}"`, tool.timeout));
    });
    this.#stops = new Set([reach.signal, door.signal]);
    for (const signal of this.#stops) signal.addEventListener("abort", this.#interrupt, { once: true });
    this.context = this.#makeContext();
  }

  /** Waits for the tool, but no longer than its time, or until somebody stops it. */
  until<T>(work: Promise<T>): Promise<T> {
    return this.#life.until(work);
  }

  /** Whether the time was up before anybody stopped the call. */
  get isLate(): boolean {
    return this.#isLate;
  }

  close(): void {
    this.#isClosed = true;
    this.#limit.stop();
    for (const signal of this.#stops) signal.removeEventListener("abort", this.#interrupt);
  }

  readonly #interrupt = (): void => {
    for (const signal of this.#stops) if (signal.aborted) this.#life.end(abortReason(signal));
  };

  #makeContext(): ToolContext {
    const { clock, model, ask, session, progress } = this.#reach;
    const step: StepPort["step"] = (spec, effect) => {
      if (this.#isClosed) return Promise.reject(new ContextClosedError(this.#tool.name, `step ${spec.name}`));
      return this.#door.step(spec, effect);
    };
    const life = this.#life;
    return Object.freeze({
      get signal(): AbortSignal {
        return life.signal;
      },
      key: this.#door.key,
      mode: this.#door.mode,
      step,
      clock,
      progress: (text: string) => {
        if (!this.#isClosed && this.#told++ < MOST_PROGRESS) progress(String(text).slice(0, MAX_PROGRESS));
      },
      ...(ask === undefined ? {} : { ask: (question: string) => this.#askPerson(step, ask, question) }),
      ...(model === undefined ? {} : { model: model({ step }) }),
      ...(session === undefined ? {} : { session }),
    });
  }

  async #askPerson(step: StepPort["step"], ask: HumanPort, text: string): Promise<string> {
    const { role } = this.#reach;
    this.#limit.hold(++this.#persons > 0);
    try {
      return await step({ kind: "human", name: "ask", request: { role, question: text } }, async (door) =>
        ask({ id: door.key, text, role }, { signal: this.#life.signal }),
      );
    } finally {
      this.#limit.hold(--this.#persons > 0);
    }
  }
}
