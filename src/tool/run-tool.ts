import { type AnySchema, zodOf } from "../model/standard-schema.ts";
import { abortReason, interruptionBy, onAbort, throwIfAborted, withTimeout } from "../kernel/abort.ts";
import type { z } from "zod";
import type { Clock } from "../kernel/clock.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ContextClosedError, contextMissing, type ControlError, StepError, TimeoutError } from "../kernel/errors.ts";
import { type Cancellation, cancellationOf, CancellationScope, throwIfEnded, TimeLimit } from "../kernel/cancellation.ts";
import { type Hand, HandedOut } from "../kernel/handed-out.ts";
import { isUntimed, type StepDoor, type StepPort, type StepSpec } from "../kernel/step.ts";
import { defined, isThenable } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import { type MessageFile, readFile } from "../message/file.ts";
import { askModel, isStepped, missingModel } from "../model/ask.ts";
import { unboundedPool } from "../model/budget-pool.ts";
import type { CallPolicy } from "../model/call.ts";
import { ChatMessage } from "../model/chat-message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { poolsOf } from "../model/funds.ts";
import { type Meter, meters, presentMeter } from "../model/meter.ts";
import { jitter } from "../model/retry.ts";
import type { HumanPort } from "./approval.ts";
import type { WholeCallOptions } from "./call-options.ts";
import { interruptionIn, plainResult, plainText, wordsOfThrown } from "./plain-result.ts";
import type { QuestionForm } from "./question-form.ts";
import type { Tool, ToolAnswer, ToolAskOptions, ToolContext, ToolHuman, ToolQuestionOptions } from "./tool.ts";
import type { ToolEnd } from "./plain-result.ts";
import { isFailure, toolFailure } from "./tool-result.ts";

type CallParts = Pick<WholeCallOptions, "clock" | "signal" | "ask" | "model" | "session" | "deps" | "context">;
type ToolReach = CallParts & { readonly role: string; readonly progress: (text: string) => void };

type AnyToolAsk = ToolAskOptions & { readonly schema?: AnySchema };

const askOptions: Known<AnyToolAsk> = {
  system: kinds.text,
  images: kinds.list(kinds.object),
  model: kinds.model,
  temperature: kinds.number,
  maxTokens: kinds.count,
  schema: kinds.schema,
};

const MAX_PROGRESS = 2_000;
const MAX_NOTICES = 1_000;

/** Runs a tool within its time. Its late answer is ignored. @throws ControlError when the run or the tool was interrupted; StepError `STEP_UNCERTAIN` */
export async function runTool(tool: Tool, args: unknown, door: StepDoor, reach: ToolReach): Promise<ToolEnd> {
  throwIfAborted(reach.signal);
  throwIfEnded(cancellationOf(door.ending ?? door.signal));
  const running = new RunningTool(tool, door, reach);
  try {
    const begun = running.begin(args);
    const result = plainResult(isThenable(begun) ? await begun : begun, tool.maxOutput);
    await running.rest();
    return { outcome: isFailure(result) ? "failed" : "ok", result };
  } catch (error) {
    if (running.isLate) return { outcome: "timeout", result: toolFailure(lateText(tool)) };
    const interruption = interruptionIn(error);
    if (interruption !== undefined) throw interruption;
    return { outcome: "failed", result: toolFailure(plainText(wordsOfThrown(error), tool.maxOutput)) };
  } finally {
    running.close();
  }
}

function lateText({ name, timeout }: Tool): string {
  return `the tool "${name}" did not end within ${timeout / 1_000} seconds and was stopped. What it had begun may have happened. Ask for less at once, or go another way.`;
}

/**
 * One run of one tool. It owns the run's time and signal.
 *
 * `RunTool.N1` time spent waiting for a person or for a model does not count (`#untimed`). `RunTool.N2` after its end the tool can do nothing through
 * its context (`close`). `RunTool.N3` notices of progress are bounded (`#context`). `RunTool.N4` what the tool asked for and did not await fails the
 * call where it fails (`rest`).
 */
class RunningTool {
  readonly #tool: Tool;
  readonly #door: StepDoor;
  readonly #reach: ToolReach;
  readonly #ending: Cancellation;
  readonly #life = new CancellationScope();
  readonly #begun: number;
  /** A tool that answers at once needs no timer. */
  #limit: TimeLimit | undefined;
  readonly #unlisten: readonly (() => void)[];
  #handed: HandedOut | undefined;
  #isLate = false;
  #isClosed = false;
  #waits = 0;
  #notices = 0;

  constructor(tool: Tool, door: StepDoor, reach: ToolReach) {
    this.#tool = tool;
    this.#door = door;
    this.#reach = reach;
    this.#begun = reach.clock.now();
    this.#ending = cancellationOf(door.ending ?? door.signal);
    const interrupt = (): void => {
      const reason = this.#interruption();
      if (reason !== undefined) this.#life.end(reason);
    };
    this.#unlisten = [onAbort(reach.signal, interrupt), this.#ending.onEnd(interrupt)];
  }

  /** An answer without a promise is never late. */
  begin(args: unknown): ToolAnswer | Promise<ToolAnswer> {
    let answer: ToolAnswer | Promise<ToolAnswer>;
    try {
      const context = this.#context();
      answer = meters.run(this.#meter(context), () => this.#tool.execute(args, context));
    } catch (error) {
      throw this.#interruption() ?? error;
    }
    if (isThenable(answer)) {
      this.#limit ??= this.#timeLimit();
      return this.#life.until(Promise.resolve(answer));
    }
    const reason = this.#interruption();
    if (reason !== undefined) throw reason;
    return answer;
  }

  /** @throws UsageError `STEP_NOT_AWAITED` where something failed that the tool did not await */
  async rest(): Promise<void> {
    if (this.#handed === undefined) return;
    this.#handed.close({ isRace: true });
    await this.#life.until(this.#handed.settled("unused"));
    const failure = this.#handed.failure(`the tool ${this.#tool.name}`);
    if (failure !== undefined) throw failure;
  }

  get isLate(): boolean {
    return this.#isLate;
  }

  close(): void {
    this.#isClosed = true;
    this.#limit?.stop();
    for (const unlisten of this.#unlisten) unlisten();
  }

  #interruption(): ControlError | undefined {
    const { signal } = this.#reach;
    if (signal.aborted) return abortReason(signal);
    const { ended } = this.#ending;
    return ended && interruptionBy(ended.reason);
  }

  readonly #hand: Hand = (what, work) => (this.#handed ??= new HandedOut()).hand(what, work);

  #context(): ToolContext {
    const door = this.#door;
    const { clock, ask, model, session, deps, context, role, progress } = this.#reach;
    const steps = this.#stepsIn(door);
    const hand = this.#hand;
    const own = model?.(steps);
    const handed: ChatModel | undefined = own && { ...own, chat: (request, o) => hand("model.chat", own.chat(request, o)) };
    const made = {
      key: door.key,
      mode: door.mode,
      signal: this.#life.signal,
      model: handed,
      ask: ((prompt: string, o?: AnyToolAsk) => hand("ask", this.#askModel(steps, own, prompt, o))) as ToolContext["ask"],
      step: stepIn({ step: (spec, effect) => hand(`step ${JSON.stringify(spec.name)}`, steps.step(spec, effect)) }),
      file: (file: MessageFile) => hand("file", readFile(file, this.#policyOf(own)?.files)),
      get budget() {
        return door.attempts.budget ?? unboundedPool();
      },
      clock,
      progress: (text: string): void => {
        if (this.#isClosed || this.#notices++ >= MAX_NOTICES) return;
        const shown = String(text).slice(0, MAX_PROGRESS);
        progress(shown);
        door.progress?.(shown);
      },
      ...defined({ human: ask && this.#human(steps, ask, hand), session, deps, context }),
    };
    if (context === undefined) Object.defineProperty(made, "context", missing(role));
    return Object.freeze(made) as ToolContext;
  }

  #meter({ model }: ToolContext): Meter {
    const port = this.#stepsIn(this.#door);
    const around = presentMeter();
    const pools = [...(around?.pools ?? []), ...poolsOf(this.#door.attempts.budget)];
    return { ...around, port, policy: this.#policyOf(model), pools, hand: this.#hand };
  }

  #policyOf(model: ChatModel | undefined): CallPolicy | undefined {
    return model !== undefined && isStepped(model) ? model.meter.policy : presentMeter()?.policy;
  }

  /** The time of steps with limits of their own does not count, also inside others. */
  #stepsIn(door: StepPort): StepPort {
    return {
      step: (spec, effect) => {
        if (this.#isClosed) return Promise.reject(new ContextClosedError(this.#tool.name, `step ${spec.name}`));
        if (isUntimed(spec)) return this.#untimed(() => door.step(spec, effect));
        return door.step(spec, (inner) => effect({ ...inner, ...this.#stepsIn(inner) }));
      },
    };
  }

  async #askModel(steps: StepPort, own: ChatModel | undefined, prompt: string, o: AnyToolAsk = {}): Promise<unknown> {
    checkKnownOptions("ask of a tool", o, askOptions);
    const { system, images, model = own, schema, temperature, maxTokens } = o;
    const { name } = this.#tool;
    const { clock } = this.#reach;
    const messages = [...(system === undefined ? [] : [ChatMessage.system(system)]), ChatMessage.user(prompt, images && { images })];
    const policy = this.#policyOf(own) ?? { clock, random: jitter() };
    const input = { steps, model: model ?? missingModel(`the tool ${name}`), messages, policy, temperature, maxTokens };
    return schema === undefined ? askModel(input) : askModel({ ...input, schema: zodOf(schema) as z.ZodType });
  }

  #human(steps: StepPort, ask: HumanPort, hand: Hand): ToolHuman {
    return { ask: (question, o) => hand("human.ask", this.#askPerson(steps.step, ask, question, o)), answer: ask };
  }

  #askPerson(step: StepPort["step"], ask: HumanPort, text: string, { choices = [] }: ToolQuestionOptions = {}): Promise<string> {
    const { role } = this.#reach;
    const values = [...new Set(choices)].map((value) => ({ value }));
    const form: { readonly form?: QuestionForm } =
      values.length === 0 ? {} : { form: { kind: "choices", choices: values, words: "answer in other words" } };
    return step({ kind: "human", name: "ask", request: { role, question: text, ...form } }, async (door) => {
      const answer: unknown = await ask({ id: door.key, text, role, ...form }, { signal: this.#life.signal });
      if (typeof answer === "string") return answer;
      throw new StepError("ANSWER_INVALID", `Expected the person asked by ${role} to answer with a text, got ${valueText(answer)}.`);
    });
  }

  async #untimed<T>(work: () => Promise<T>): Promise<T> {
    this.#hold(++this.#waits > 0);
    try {
      return await work();
    } finally {
      this.#hold(--this.#waits > 0);
    }
  }

  #hold(isHeld: boolean): void {
    if (this.#isClosed) return;
    this.#limit ??= this.#timeLimit();
    this.#limit.hold(isHeld);
  }

  #timeLimit(): TimeLimit {
    const { name, timeout } = this.#tool;
    const { clock } = this.#reach;
    return new TimeLimit(clock, Math.max(0, timeout - (clock.now() - this.#begun)), () => {
      this.#isLate = true;
      this.#life.end(new TimeoutError(`the tool "${name}"`, timeout));
    });
  }
}

function stepIn({ step }: StepPort): ToolContext["step"] {
  return (<T>(first: StepSpec | string, second: unknown, third?: (door: StepDoor) => Promise<T>): Promise<T> =>
    typeof first === "string"
      ? step({ kind: "step", name: first, request: second }, third as (door: StepDoor) => Promise<T>)
      : step(first, second as (door: StepDoor) => Promise<T>)) as ToolContext["step"];
}

const CLOSING_TIME = 10_000;
const SHOWN_ERROR = 500;

/** Lets a tool release what it holds for a session. Never rejects. @returns a warning where the tool failed or hung */
export async function closeTool(tool: Tool, session: object, clock: Clock): Promise<string | undefined> {
  if (tool.close === undefined) return undefined;
  const name = `the closing of the tool "${tool.name}"`;
  try {
    await withTimeout(clock, CLOSING_TIME, name, new AbortController().signal, async (signal) => tool.close?.({ session, signal }));
    return undefined;
  } catch (error) {
    return `The tool "${tool.name}" may not have let go of what it holds: ${wordsOfThrown(error).slice(0, SHOWN_ERROR)}`;
  }
}

/** A context that is missing fails where it is read, and not where the members of the tool's context are copied. */
function missing(role: string): PropertyDescriptor {
  return {
    enumerable: false,
    get() {
      throw contextMissing(`a tool of ${role}`);
    },
  };
}
