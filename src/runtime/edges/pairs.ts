import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { ROUTE_TO_SELF } from "../../message/address.ts";

/*
 * The pairs of roles that a policy of edges covers.
 */

const ANY = "*";

interface Pair {
  readonly from: NamePattern;
  /** Undefined: the sender itself. */
  readonly to: NamePattern | undefined;
}

type NamePattern = readonly string[];

type NamedPairs = { readonly name: string; readonly pairs?: readonly string[] };

export interface Pairs {
  covers(from: string, to: string): boolean;
}

export function pairsOf({ name, pairs }: NamedPairs): Pairs {
  if (pairs === undefined) return all;
  const read = pairs.flatMap((pair) => readPair(name, pair));
  return { covers: (from, to) => read.some((pair) => covers(pair, from, to)) };
}

/** Returns the names of roles that policies have, also those with a star in them. */
export function namesInEdges(policies: readonly NamedPairs[] = []): readonly string[] {
  const pairs = policies.flatMap(({ name, pairs: texts = [] }) => texts.flatMap((text) => readPair(name, text)));
  const names = pairs.flatMap(({ from, to }) => [from, to ?? from]).map((parts) => parts.join(ANY));
  return [...new Set(names)].filter((name) => name !== ANY);
}

export function matcherOf(names: readonly string[]): (name: string) => boolean {
  const patterns = names.map((name) => name.split(ANY));
  const known = new Set(patterns.filter(isOneName).map(([name]) => name));
  const open = patterns.filter((pattern) => !isOneName(pattern));
  return (name) => known.has(name) || open.some((pattern) => fits(name, pattern));
}

const all: Pairs = { covers: (from, to) => from !== to };

function readPair(policy: string, text: string): readonly Pair[] {
  const isMutual = text.includes("<->");
  const sides = text.split(isMutual ? "<->" : "->").map((side) => side.trim());
  const [one, other] = sides;
  const isPair = sides.length === 2 && one !== undefined && one !== "" && other !== undefined && other !== "";
  if (!isPair || one === ROUTE_TO_SELF || (isMutual && other === ROUTE_TO_SELF)) {
    throw new UsageError(
      "EDGE_INVALID",
      `Expected pairs of the policy ${policy} as "sender->recipient" or "one<->other", got ${valueText(text)}. A star stands for any text, and <self> for the sender: "p1->*", "p*-><self>".`,
    );
  }
  const from = one.split(ANY);
  if (other === ROUTE_TO_SELF) return [{ from, to: undefined }];
  const to = other.split(ANY);
  return [{ from, to }, ...(isMutual ? [{ from: to, to: from }] : [])];
}

function covers({ from, to }: Pair, sender: string, recipient: string): boolean {
  if (to === undefined) return sender === recipient && fits(sender, from);
  if (sender === recipient && !(isOneName(from) && isOneName(to))) return false;
  return fits(sender, from) && fits(recipient, to);
}

function isOneName(pattern: NamePattern): boolean {
  return pattern.length === 1;
}

function fits(name: string, pattern: NamePattern): boolean {
  const [first = "", ...others] = pattern;
  const last = others.pop();
  if (last === undefined) return name === first;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let end = first.length;
  for (const text of others) {
    const found = name.indexOf(text, end);
    if (found === -1) return false;
    end = found + text.length;
  }
  return end <= name.length - last.length;
}
