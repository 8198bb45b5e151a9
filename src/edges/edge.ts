import { aFunction, aText, object, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isCount } from "../kernel/value-kind.ts";
import { valueText } from "../kernel/value-text.ts";
import type { EdgeDecision, EdgePolicy, EdgePassage } from "../runtime/edges/edge-policy.ts";
import { checkEdges } from "../runtime/edges/edge-policy.ts";

/** A span of ticks: from the first one to the one before `to`; without `to` it has no end. */
export interface Span {
  readonly from: number;
  readonly to?: number;
}

/** A policy of edges that can be limited to some pairs of roles and some ticks. */
export interface Edge extends EdgePolicy {
  /**
   * Returns the policy for these pairs instead of its own: `"p1->p2"`, `"p1->*"`, `"*->p2"`, `"p1<->p2"`, `"p1->p1"`, `"p*-><self>"`.
   *
   * @throws UsageError `EDGE_INVALID`
   */
  on(...pairs: readonly string[]): Edge;
  /**
   * Returns the policy for messages that are sent from tick `from` to the tick before `to`; without `to`, from then on. It replaces an
   * earlier span. A tick is a unit of the run's clock: see `ClockKind`.
   *
   * @throws UsageError `EDGE_INVALID`
   */
  during(from: number, to?: number): Edge;
}

/** The parts of a policy that knows its span. */
export interface EdgeParts extends Pick<EdgePolicy, "name" | "parameters" | "pairs"> {
  /** The span is checked already, unless the policy `seesSpan`. */
  decide(passage: EdgePassage, span: Span | undefined): EdgeDecision | undefined;
  /** The policy is asked at every tick, and checks the span itself. */
  readonly seesSpan?: true;
}

/**
 * Makes a policy of one's own that can be limited like the ready ones.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `EDGE_INVALID` for what is no policy
 *
 * @example
 * import { Environment } from "troupe";
 * import { edge } from "troupe/edges";
 *
 * const noNews = edge({ name: "no-news", decide: ({ message }) => (message.content.startsWith("news") ? { kind: "drop" } : undefined) });
 * new Environment({ edges: [noNews.on("*->Ann").during(2, 5)] });
 */
export function edge(policy: EdgePolicy): Edge {
  takes("edge", "policy", policy, object("a policy with a name and decide", { name: aText, decide: aFunction }));
  checkEdges([policy]);
  return new SpannedEdge(policy);
}

export function edgeOf(parts: EdgeParts): Edge {
  return new SpannedEdge(parts);
}

class SpannedEdge implements Edge {
  readonly name: string;
  readonly pairs?: readonly string[];
  readonly parameters?: { readonly [name: string]: Json };
  readonly #parts: EdgeParts;
  readonly #span: Span | undefined;

  constructor(parts: EdgeParts, span?: Span) {
    const { name, pairs, parameters } = parts;
    this.name = name;
    if (pairs !== undefined) this.pairs = pairs;
    if (parameters !== undefined || span !== undefined)
      this.parameters = { ...parameters, ...(span === undefined ? {} : { during: { ...span } }) };
    this.#parts = parts;
    this.#span = span;
  }

  on(...pairs: readonly string[]): Edge {
    const limited = new SpannedEdge(partsWith(this.#parts, pairs), this.#span);
    checkEdges([limited]);
    return limited;
  }

  during(from: number, to?: number): Edge {
    if (isCount(from) && (to === undefined || (isCount(to) && to > from)))
      return new SpannedEdge(this.#parts, to === undefined ? { from } : { from, to });
    throw edgeInvalid(
      "during(from, to) with whole ticks, the second after the first",
      [from, to],
      "Write during(2, 5) for the ticks 2, 3 and 4.",
    );
  }

  decide(passage: EdgePassage): EdgeDecision | undefined {
    const span = this.#span;
    if (span !== undefined && this.#parts.seesSpan !== true && !isWithin(passage.tick, span)) return undefined;
    return this.#parts.decide(passage, span);
  }
}

/** The functions of a policy may use `this`. */
function partsWith(parts: EdgeParts, pairs: readonly string[]): EdgeParts {
  const { name, parameters, seesSpan } = parts;
  const more = { ...(parameters === undefined ? {} : { parameters }), ...(seesSpan === undefined ? {} : { seesSpan }) };
  return { name, pairs, ...more, decide: (passage, span) => parts.decide(passage, span) };
}

export function isWithin(tick: number, span: Span | undefined): boolean {
  return span === undefined || (tick >= span.from && (span.to === undefined || tick < span.to));
}

export function checkRate(policy: string, rate: unknown): void {
  if (typeof rate === "number" && rate >= 0 && rate <= 1) return;
  throw edgeInvalid(`the rate of ${policy} to be a probability from 0 to 1`, rate, `Write ${policy}(0.1).`);
}

export function checkNumber(policy: string, what: string, given: unknown, least: number, most: number = Infinity): void {
  if (isCount(given) && given >= least && given <= most) return;
  const bounds = most === Infinity ? `of ${least} or more` : `from ${least} to ${most}`;
  throw edgeInvalid(`${what} of ${policy} to be a whole number ${bounds}`, given, `Write ${policy} with such a number.`);
}

export function namesOf(policy: string, names: string | readonly string[]): readonly string[] {
  const list: readonly unknown[] = typeof names === "string" ? [names] : Array.isArray(names) ? names : [];
  if (list.length > 0 && list.every((name) => typeof name === "string" && name !== "")) return [...(list as readonly string[])];
  throw edgeInvalid(`the names of roles in ${policy}`, names, `Write ${policy}("p1"), or ${policy}(["p1", "p2"]).`);
}

export function checkFunction(policy: string, what: string, given: unknown): void {
  if (given === undefined || typeof given === "function") return;
  throw edgeInvalid(`${what} of ${policy} to be a function`, given, "Leave it out for the default.");
}

function edgeInvalid(expected: string, came: unknown, todo: string): UsageError {
  return new UsageError("EDGE_INVALID", `Expected ${expected}, got ${valueText(came)}. ${todo}`);
}
