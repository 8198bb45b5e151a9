import { Cycles } from "../../kernel/cycles.ts";
import type { Detector, Found, SeenAct, SeenRun, UsedStep } from "./finding.ts";

/** The longest cycle of steps: A, B, C, A, B, C is a repetition too. */
const LONGEST = 3;

/**
 * Finds a role that makes equal requests with equal answers again and again. Calls of models and of tools are looked at apart, because the
 * request of a model grows with each call of a tool. Equal calls of a model in one activation count once: they are samples.
 * It owns the last steps of each role.
 *
 * StepRepetition.SR1 (`#cyclesOf`) models and tools of a role have cycles of their own.
 * StepRepetition.SR2 (`acted`) a repetition that was told begins again.
 */
export class StepRepetition implements Detector {
  readonly #repeats: number;
  readonly #cycles = new Map<string, Cycles>();

  constructor(repeats: number) {
    this.#repeats = repeats;
  }

  acted({ event: { role }, steps }: SeenAct, run: SeenRun): readonly Found[] {
    if (!run.isJudged(role)) return [];
    const samples = new Set<string>();
    return steps.flatMap((step) => {
      if (step.kind === "model" && samples.has(step.signature)) return [];
      samples.add(step.signature);
      const cycles = this.#cyclesOf(role, step.kind);
      const length = cycles.add(step.signature);
      if (length === 0) return [];
      cycles.clear();
      return [this.#found(role, step, length)];
    });
  }

  #cyclesOf(role: string, kind: UsedStep["kind"]): Cycles {
    const key = `${kind} ${role}`;
    const known = this.#cycles.get(key) ?? new Cycles(this.#repeats, LONGEST);
    this.#cycles.set(key, known);
    return known;
  }

  #found(role: string, { kind, name }: UsedStep, length: number): Found {
    const what = length === 1 ? `a call of the ${kind} ${name}` : `a cycle of ${length} calls that ends with the ${kind} ${name}`;
    const text = `${role} repeated ${what} ${this.#repeats} times, with equal requests and equal answers.`;
    return { failure: "step-repetition", roles: [role], messages: [], text };
  }
}
