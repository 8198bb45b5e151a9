import { isRecord } from "../kernel/value-kind.ts";
import type { RunEvent, StepEnded } from "../runtime/record/event.ts";
import { roleOfAct } from "./screen/progress.ts";

/** The calls that a role made of a tool. */
export interface ToolUse {
  readonly role: string;
  readonly tool: string;
  readonly calls: number;
  /** Calls that failed or ran out of time. */
  readonly failed: number;
  /** Micro-dollars of the calls, with what ran inside them, and how many of those had no known price. */
  readonly cost: { readonly known: number; readonly unpriced: number };
}

interface Sum {
  readonly role: string;
  readonly tool: string;
  calls: number;
  failed: number;
  known: number;
  unpriced: number;
}

/**
 * Counts the calls of tools in the events of a run, in their order. It owns the sums, and the tool that each step belongs to.
 *
 * ToolCount.T1 (`#tools`) a step inside the call of a tool adds its cost to that tool and is no call, unless it is the call of a tool itself.
 * ToolCount.T2 (`#end`) a call is counted once, at the end of its last try. The costs of all its tries count.
 */
export class ToolCount {
  readonly #sums = new Map<string, Sum>();
  /** The tool whose call a step is or runs in. */
  readonly #tools = new Map<string, { readonly sum: Sum; readonly isCall: boolean }>();

  add(event: RunEvent): void {
    if (event.type === "step.started") {
      const within = event.in === undefined ? undefined : this.#tools.get(`${event.act} ${event.in}`)?.sum;
      const isCall = event.kind === "tool";
      const sum = isCall ? this.#sumOf(roleOfAct(event.act), event.name) : within;
      if (sum !== undefined) this.#tools.set(`${event.act} ${event.key}`, { sum, isCall });
    } else if (event.type === "step.ended") this.#end(event);
  }

  /** By role and tool, in the order of their first calls. */
  uses(): readonly ToolUse[] {
    return [...this.#sums.values()].map(({ known, unpriced, ...rest }) => ({ ...rest, cost: { known, unpriced } }));
  }

  #end(event: StepEnded): void {
    const found = this.#tools.get(`${event.act} ${event.key}`);
    if (found === undefined) return;
    const { sum, isCall } = found;
    for (const one of [event, ...(event.settles ?? [])]) sum.known += one.cost ?? 0;
    if (event.cost === null && event.basis !== "none") sum.unpriced += 1;
    if (!isCall || event.retry === true) return;
    sum.calls += 1;
    const outcome = isRecord(event.value) ? event.value["outcome"] : undefined;
    if (!event.ok || (outcome !== undefined && outcome !== "ok")) sum.failed += 1;
  }

  #sumOf(role: string, tool: string): Sum {
    const key = JSON.stringify([role, tool]);
    const known = this.#sums.get(key);
    if (known !== undefined) return known;
    const sum: Sum = { role, tool, calls: 0, failed: 0, known: 0, unpriced: 0 };
    this.#sums.set(key, sum);
    return sum;
  }
}
