import { abortReason, interruptionBy, onAbort, throwIfAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import { ContextClosedError, type ControlError, TimeoutError } from "../kernel/errors.ts";
import { type Ending, endingOf, Lifetime, throwIfEnded, TimeLimit } from "../kernel/lifetime.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import { isThenable } from "../kernel/value-kind.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { HumanPort } from "./approval.ts";
import { plainResult, plainText } from "./plain-result.ts";
import { interruptionIn, toldOf } from "./plain-value.ts";
import type { Tool, ToolAnswer, ToolContext } from "./tool.ts";
import { isFailure, toolFailure, type ToolResult } from "./tool-result.ts";

/** What a running tool works with. */
interface ToolReach {
  readonly clock: Clock;
  /** Stops the call, as the step's own signal does. */
  readonly signal: AbortSignal;
  /** The agent that calls, as persons see it. */
  readonly role: string;
  readonly ask: HumanPort | undefined;
  /** Makes the model of the tool; its answers are steps inside the step of the call. */
  readonly model: ((steps: StepPort) => ChatModel) | undefined;
  /** See {@link ToolContext.session}. */
  readonly session?: object | undefined;
  readonly deps?: Deps | undefined;
  readonly progress: (text: string) => void;
}

/** The end of a tool's run, as it is recorded. Plain JSON. */
interface ToolEnd {
  readonly outcome: "ok" | "failed" | "timeout";
  readonly result: ToolResult;
}

/** Longest notice of progress, and most notices of one call. */
const MAX_PROGRESS = 2_000;
const MAX_NOTICES = 1_000;

/**
 * Runs a tool within its time, whatever it does: it may throw, hang, or return something that is no JSON. Its late answer is ignored.
 *
 * @throws ControlError when the run stops, or when the tool was interrupted inside.
 */
export async function runTool(tool: Tool, args: unknown, door: StepDoor, reach: ToolReach): Promise<ToolEnd> {
  throwIfAborted(reach.signal);
  throwIfEnded(endingOf(door.ending ?? door.signal));
  const running = new RunningTool(tool, door, reach);
  try {
    const begun = running.begin(args);
    const result = plainResult(isThenable(begun) ? await begun : begun, tool.maxOutput);
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
  readonly #tool: Tool;
  readonly #door: StepDoor;
  readonly #reach: ToolReach;
  readonly #begun: number;
  /** The end of the step that the call is. */
  readonly #ending: Ending;
  readonly #life = new Lifetime();
  #limit: TimeLimit | undefined;
  #listeners: (() => void)[] | undefined;
  #isLate = false;
  #isClosed = false;
  #persons = 0;
  #told = 0;

  constructor(tool: Tool, door: StepDoor, reach: ToolReach) {
    this.#tool = tool;
    this.#door = door;
    this.#reach = reach;
    this.#begun = reach.clock.now();
    this.#ending = endingOf(door.ending ?? door.signal);
  }

  /** Calls the tool and waits for its answer within its time. An answer without a promise is never late. */
  begin(args: unknown): ToolAnswer | Promise<ToolAnswer> {
    let answer: ToolAnswer | Promise<ToolAnswer>;
    try {
      answer = this.#tool.execute(args, this.#context());
    } catch (error) {
      throw this.#stopped() ?? error;
    }
    if (isThenable(answer)) return this.#until(Promise.resolve(answer));
    const reason = this.#stopped();
    if (reason !== undefined) throw reason;
    return answer;
  }

  /** True when the time was up before anybody stopped the call. */
  get isLate(): boolean {
    return this.#isLate;
  }

  close(): void {
    this.#isClosed = true;
    this.#limit?.stop();
    for (const unlisten of this.#listeners ?? []) unlisten();
  }

  #until<T>(work: Promise<T>): Promise<T> {
    this.#listenToStops();
    this.#limit ??= this.#limited();
    return this.#life.until(work);
  }

  #stopped(): ControlError | undefined {
    const { signal } = this.#reach;
    if (signal.aborted) return abortReason(signal);
    const { ended } = this.#ending;
    return ended && interruptionBy(ended.reason);
  }

  #listenToStops(): void {
    if (this.#listeners !== undefined || this.#isClosed) return;
    const interrupt = (): void => {
      const reason = this.#stopped();
      if (reason !== undefined) this.#life.end(reason);
    };
    this.#listeners = [onAbort(this.#reach.signal, interrupt), this.#ending.onEnd(interrupt)];
    interrupt();
  }

  #limited(): TimeLimit {
    const { timeout } = this.#tool;
    const { clock } = this.#reach;
    return new TimeLimit(clock, Math.max(0, timeout - (clock.now() - this.#begun)), () => {
      this.#isLate = true;
      this.#life.end(new TimeoutError(`the tool "${this.#tool.name}"`, timeout));
    });
  }

  #context(): ToolContext {
    const door = this.#door;
    const { clock, ask, model, session, deps, progress } = this.#reach;
    const step: StepPort["step"] = (spec, effect) => {
      if (this.#isClosed) return Promise.reject(new ContextClosedError(this.#tool.name, `step ${spec.name}`));
      return door.step(spec, effect);
    };
    return Object.freeze({
      key: door.key,
      mode: door.mode,
      signal: this.#signal(),
      model: model?.({ step }),
      step,
      clock,
      progress: (text: string): void => {
        if (!this.#isClosed && this.#told++ < MAX_NOTICES) progress(String(text).slice(0, MAX_PROGRESS));
      },
      ...(ask === undefined ? {} : { ask: (question: string) => this.#askPerson(step, ask, question) }),
      ...(session === undefined ? {} : { session }),
      ...(deps === undefined ? {} : { deps }),
    });
  }

  #signal(): AbortSignal {
    this.#listenToStops();
    return this.#life.signal;
  }

  async #askPerson(step: StepPort["step"], ask: HumanPort, text: string): Promise<string> {
    const { role } = this.#reach;
    this.#hold(++this.#persons > 0);
    try {
      return await step({ kind: "human", name: "ask", request: { role, question: text } }, async (door) => {
        this.#listenToStops();
        return ask({ id: door.key, text, role }, { signal: this.#life.signal });
      });
    } finally {
      this.#hold(--this.#persons > 0);
    }
  }

  #hold(isHeld: boolean): void {
    if (this.#isClosed) return;
    this.#limit ??= this.#limited();
    this.#limit.hold(isHeld);
  }
}
