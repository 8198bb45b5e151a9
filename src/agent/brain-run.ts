import type { z } from "zod";
import { throwIfAborted, untilAborted } from "../kernel/abort.ts";
import type { ChatRequest, Usage } from "../model/chat-model.ts";
import { checkToolChoice } from "../tool/call-options.ts";
import { type AgentMemory, closeOpenCalls } from "./agent-memory.ts";
import type { AgentEvent, DeniedCall } from "./events.ts";
import type { Net, NetState } from "./net.ts";
import { typedAnswer } from "./typed-answer.ts";
import type { RunTally } from "./run-tally.ts";
import type { WorkingMind } from "./working-mind.ts";

/** How a run of a brain ended, when nothing was thrown. */
export interface BrainEnd {
  readonly status: "finished" | "max_steps" | "loop";
  readonly steps: number;
  /** The answer as a value of the schema that was given; undefined without one, and for an answer that says the task cannot be done. */
  readonly output?: unknown;
}

/** What one run of a brain is made of. */
export interface BrainRunParts {
  readonly net: Net;
  readonly memory: AgentMemory;
  readonly mind: WorkingMind;
  readonly maxSteps: number;
  readonly output: z.ZodType | undefined;
  readonly toolChoice: NonNullable<ChatRequest["toolChoice"]>;
  readonly signal: AbortSignal;
  readonly tell: ((event: AgentEvent) => void) | undefined;
  /** Told when the run begins; what it gives back, when the run is over, however it ended. */
  readonly begin: () => () => void;
  /** Lets go of what the run opened. Never rejects. */
  readonly close: () => Promise<void>;
}

/** A state of the net at work. */
interface Working {
  readonly state: NetState;
  readonly pieces: AsyncIterator<string>;
}

/**
 * One run of a brain over one memory. It owns which state is at work, and how the run ended.
 *
 * R1 it does nothing before it is asked for a piece, and nothing further until it is asked for the next one. R2 who waits for a piece waits no
 * longer than the signal allows, whatever a state waits for; a state that answers later changes nothing, and is not asked again. R3 when it is
 * over, however it ended, the tools that ran are closed once.
 */
export class BrainRun {
  readonly #parts: BrainRunParts;
  /** The state that comes next. */
  #name: string | undefined;
  #working: Working | undefined;
  #mayJoin = true;
  #pieces: AsyncGenerator<string, BrainEnd, void> | undefined;
  #end: BrainEnd | undefined;

  constructor(parts: BrainRunParts) {
    this.#parts = parts;
  }

  /** What is said as it comes, for who takes it piece by piece. */
  get pieces(): AsyncGenerator<string, BrainEnd, void> {
    this.#pieces ??= this.#piecewise();
    return this.#pieces;
  }

  /** The sum of what was used until now, rejected replies included. */
  readonly usage = (): Usage => this.tally.usage;

  /** What was used and spent until now. @internal */
  get tally(): RunTally {
    return this.#parts.mind.tally;
  }

  /** Calls that were not allowed until now. */
  readonly denied = (): readonly DeniedCall[] => [...this.#parts.mind.denied];

  /** Lives to its end, for who only listens; instead of {@link pieces}. */
  async through(heard: (text: string) => void): Promise<BrainEnd> {
    const over = this.#parts.begin();
    try {
      return await untilAborted(this.#all(heard), this.#parts.signal);
    } finally {
      this.#leave();
      over();
      await this.#parts.close();
    }
  }

  async *#piecewise(): AsyncGenerator<string, BrainEnd, void> {
    const over = this.#parts.begin();
    try {
      for (;;) {
        const piece = await untilAborted(this.#next(), this.#parts.signal);
        if (this.#end !== undefined) return this.#end;
        yield piece;
      }
    } finally {
      this.#leave();
      over();
      await this.#parts.close();
    }
  }

  async #all(heard: (text: string) => void): Promise<BrainEnd> {
    for (;;) {
      const piece = await this.#next();
      if (this.#end !== undefined) return this.#end;
      heard(piece);
    }
  }

  /** The next piece of what is said; empty when the run has ended instead. */
  async #next(): Promise<string> {
    const { memory, mind, signal } = this.#parts;
    let name = this.#name ?? (await this.#start());
    while (!memory.done) {
      throwIfAborted(signal);
      const working = this.#working ?? this.#enter(name);
      if (working === undefined) return this.#ended("max_steps");
      this.#working = working;
      const piece = await working.pieces.next();
      throwIfAborted(signal);
      if (piece.done !== true) return piece.value;
      this.#working = undefined;
      if (memory.done) break;
      const warning = mind.watchLoops();
      if (warning !== undefined) await warning;
      if (mind.looped) return this.#ended("loop");
      name = this.#name = await working.state.nextState(memory);
    }
    return this.#finished();
  }

  async #finished(): Promise<string> {
    const { output, memory, mind } = this.#parts;
    const { answer } = memory;
    if (output === undefined || answer?.status !== "success") return this.#ended("finished");
    return this.#ended("finished", { output: await typedAnswer(mind, output, answer.text) });
  }

  async #start(): Promise<string> {
    const { memory, net, toolChoice } = this.#parts;
    checkToolChoice(toolChoice, memory.tools);
    await closeOpenCalls(memory);
    return (this.#name = net.startOf(memory));
  }

  /** Lets a state begin, if a step is left for it. */
  #enter(name: string): Working | undefined {
    const { net, memory, mind, maxSteps, tell } = this.#parts;
    const state = net.state(name);
    const joins = this.#mayJoin && state.sameStep === true;
    this.#mayJoin = !joins;
    if (!joins) {
      if (mind.step === maxSteps) return undefined;
      mind.step++;
      tell?.({ type: "step.started", step: mind.step, maxSteps, state: name });
    }
    return { state, pieces: state.run(memory, mind)[Symbol.asyncIterator]() };
  }

  #ended(status: BrainEnd["status"], typed: Pick<BrainEnd, "output"> = {}): string {
    this.#end = { status, steps: this.#parts.mind.step, ...typed };
    return "";
  }

  /** Lets go of the state that is at work, if one is. */
  #leave(): void {
    const left = this.#working;
    this.#working = undefined;
    // Not awaited: a generator that hangs in `next` never answers to `return`.
    if (left !== undefined) void Promise.resolve(left.pieces.return?.()).then(undefined, () => {});
  }
}
