import { contentHash, textHash } from "../../kernel/json.ts";
import type { StepSpec } from "../../kernel/step.ts";

/** How many hexadecimal digits of the sha256 an address keeps: 128 bits. */
const ADDRESS_DIGITS = 32;

/**
 * The addresses that one activation has asked under. It owns how often each was asked.
 *
 * AD1 an address is sha256 of kind, name, masked request and the path of enclosing steps; a key is an address and its occurrence, which is
 * counted when it is asked for.
 */
export class StepAddresses {
  readonly #occurrences = new Map<string, number>();

  /** @param request its canonical JSON, which is written and hashed once */
  keyOf(spec: Pick<StepSpec, "kind" | "name">, request: string, path: string): string {
    const asked = `[${JSON.stringify(spec.kind)},${JSON.stringify(spec.name)},${request},${JSON.stringify(path)}]`;
    const address = textHash(asked).slice(0, ADDRESS_DIGITS);
    const occurrence = this.#occurrences.get(address) ?? 0;
    this.#occurrences.set(address, occurrence + 1);
    return `${address}.${occurrence}`;
  }
}

/** Names an effect among all runs, the same in each attempt of an activation: whom it reached already knows it again. */
export function effectId(runId: string, act: string, key: string): string {
  return stepId(runId, act.replace(/~\d+$/, ""), key);
}

/** Names a step among all runs: by it a question is answered later. */
export function stepId(runId: string, act: string, key: string): string {
  return contentHash([runId, act, key]).slice(0, ADDRESS_DIGITS);
}

/** Where a step stands: the path of enclosing steps, the nearest of them, and its place among its siblings. */
export interface StepPlace {
  readonly path: string;
  readonly parent: string | undefined;
  readonly asked: number;
}
