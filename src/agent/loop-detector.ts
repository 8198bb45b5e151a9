import { Cycles } from "../kernel/cycles.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { canonicalJson, contentHash } from "../kernel/json.ts";
import { type CalledTool, resultText, type ToolResult } from "../tool/tool-result.ts";

/** The condition under which equal calls with equal results count as a loop. */
export interface LoopOptions {
  /** Rounds of a cycle that make a loop; 2 or more. Default 3. */
  readonly repeats?: number;
  /** In batches. Default 3: A, B, C, A, B, C is a cycle too. */
  readonly longest?: number;
}

/** @internal */
export const loopOptions: Known<LoopOptions> = { repeats: kinds.checked, longest: kinds.checked };

const MOST_POLLS = 20;

/**
 * Notices when an agent repeats calls with equal arguments and results, also in turns. It owns the signatures of the latest batches.
 *
 * `LoopDetector.D1` a repeat is a batch whose calls and answers are equal ({@link signature}). `LoopDetector.D2` a batch of tools that poll
 * closes a cycle after {@link MOST_POLLS} rounds and not before.
 */
export class LoopDetector {
  readonly #strict: Cycles;
  readonly #patient: Cycles;
  #polls = 0;

  constructor(options: LoopOptions = {}) {
    const { repeats = 3, longest = 3 } = options;
    this.#strict = new Cycles(repeats, longest);
    this.#patient = new Cycles(Math.max(repeats, MOST_POLLS), longest);
  }

  /** Returns the length of the cycle that the calls close and then restarts; 0 for none. @param polls true for the name of a tool that polls */
  add(called: readonly CalledTool[], polls: (name: string) => boolean): number {
    if (called.length === 0) return 0;
    const whole = short(called.map(signature).sort().join("\n"));
    const isPoll = called.every(({ call }) => polls(call.function.name));
    // In the strict list no poll equals another.
    const strict = this.#strict.add(isPoll ? `poll ${this.#polls++}` : whole);
    const patient = this.#patient.add(whole);
    const period = strict > 0 ? strict : patient;
    if (period > 0) for (const cycles of [this.#strict, this.#patient]) cycles.clear();
    return period;
  }
}

/** Arguments that differ in order or spacing only are equal. */
function signature({ call, outcome, result }: CalledTool): string {
  const { name, arguments: text } = call.function;
  return `${name} ${sameArguments(text)} ${outcome} ${short(answerText(result))}`;
}

function answerText({ images = [], data, ...result }: ToolResult): string {
  const more = data === undefined ? "" : JSON.stringify(data);
  return [resultText(data === undefined ? result : { ...result, data }), more, ...images.map((image) => JSON.stringify(image))].join("\n");
}

function sameArguments(text: string): string {
  try {
    return canonicalJson(JSON.parse(text === "" ? "{}" : text));
  } catch {
    return text.trim();
  }
}

function short(text: string): string {
  return text.length <= LONGEST_SIGNATURE ? text : contentHash(text);
}

const LONGEST_SIGNATURE = 300;
