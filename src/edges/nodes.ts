import { UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { type EdgeDecision, type EdgePassage, matcherOf } from "../runtime/edges/edge-policy.ts";
import { corruption } from "./links.ts";
import { checkFunction, type Edge, edgeOf, isWithin, namesOf, type Span } from "./edge.ts";

/**
 * Crashes roles during its span, and lets them recover with the state they had; without a span, see {@link Edge.during}, they never recover.
 * Messages to a crashed role are lost, and so are those that it sends; those to itself wait until it recovers. Messages from outside
 * arrive all the same.
 *
 * @param roles their names; a star stands for any string: `"p*"`
 * @throws UsageError `EDGE_INVALID`
 */
export function crash(roles: string | readonly string[]): Edge {
  const names = namesOf("crash", roles);
  const isCrashed = matcherOf(names);
  return edgeOf({
    name: "crash",
    parameters: { roles: names },
    pairs: names.flatMap((name) => [`${name}->*`, `*->${name}`, `${name}-><self>`]),
    seesSpan: true,
    decide: (passage, span) => crashDecision(isCrashed, passage, span),
  });
}

function crashDecision(
  isCrashed: (name: string) => boolean,
  { from, to, tick, arrives }: EdgePassage,
  span: Span | undefined,
): EdgeDecision | undefined {
  const isLost = (isCrashed(from) && isWithin(tick, span)) || (isCrashed(to) && isWithin(arrives, span));
  if (!isLost) return undefined;
  return from !== to || span?.to === undefined ? { kind: "drop" } : { kind: "delay", ticks: Math.max(0, span.to - arrives) };
}

/**
 * Divides the roles into groups: a message from one group to another is lost. All roles without a group are one more, so
 * `partition(["p1", "p2"])` separates these two from all others. A star stands for any string; a role belongs to its first group.
 *
 * @throws UsageError `EDGE_INVALID`, also for a role in two groups
 */
export function partition(...groups: readonly (readonly string[])[]): Edge {
  const lists = groups.map((group) => namesOf("partition", group));
  const names = lists.flat();
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw partitionInvalid(`each role in one group of a partition, got ${valueText(twice)} twice. Take it out of one of them.`);
  const matchers = lists.map(matcherOf);
  const groupOf = (name: string): number => matchers.findIndex((isIn) => isIn(name));
  if (names.length === 0) throw partitionInvalid('the groups of a partition, got none. Write partition(["p1", "p2"]).');
  return edgeOf({
    name: "partition",
    parameters: { groups: lists },
    pairs: names.map((name) => `${name}<->*`),
    decide: ({ from, to }) => (groupOf(from) === groupOf(to) ? undefined : { kind: "drop" }),
  });
}

function partitionInvalid(text: string): UsageError {
  return new UsageError("EDGE_INVALID", `Expected ${text}`);
}

/**
 * Makes roles send arbitrary messages: each recipient may read something else.
 *
 * @param roles their names; a star stands for any string: `"p*"`
 * @param lie decides what one recipient reads, from the passage alone; it is not recorded with the run. Default: one value is changed at random
 * @throws UsageError `EDGE_INVALID`
 */
export function byzantine(
  roles: string | readonly string[],
  lie: (passage: EdgePassage) => EdgeDecision | undefined = (passage) => ({ ...corruption(passage), kind: "rewrite" }),
): Edge {
  const names = namesOf("byzantine", roles);
  checkFunction("byzantine", "the lie", lie);
  return edgeOf({
    name: "byzantine",
    parameters: { roles: names },
    pairs: names.map((name) => `${name}->*`),
    decide: (passage) => lie(passage),
  });
}
