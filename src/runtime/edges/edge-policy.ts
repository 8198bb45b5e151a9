import type { RunState } from "../record/run-state.ts";
import { UsageError } from "../../kernel/errors.ts";
import { canonicalJson, type Json } from "../../kernel/json.ts";
import { type Mask, masked } from "../../kernel/mask.ts";
import type { RandomStream } from "../../kernel/random.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { shownText, valueText } from "../../kernel/value-text.ts";
import type { Message } from "../../message/message.ts";
import type { Sent, RecordedEdge } from "../record/event.ts";
import { ROUTE_TO_SELF } from "../../message/address.ts";

/** A message from one role to another, as an edge policy sees it. */
export interface EdgePassage {
  /** The message, as the policies before this one left it. */
  readonly message: Message;
  readonly from: string;
  readonly to: string;
  /** The tick at which it is sent. A tick is a unit of the run's clock: see `ClockKind`. */
  readonly tick: number;
  /** The tick at which it arrives, if nothing delays it further: unless it was delayed, the next tick, or with the clock `time` the same tick. */
  readonly arrives: number;
  /** The policy's own stream: a function of the seed, its name, the id of the message and its recipient. A higher rate affects what a lower one does. */
  readonly random: RandomStream;
}

/**
 * The fate of a message on its way to one recipient. `delay` is added to its present delay; a `copy` is a further message, on which the
 * next policies decide separately, and all policies together make at most 1,000 copies of one message; `rewrite` changes what this
 * recipient reads: a content without a payload removes the payload.
 */
export type EdgeDecision =
  | { readonly kind: "deliver" }
  | { readonly kind: "drop" }
  | { readonly kind: "delay"; readonly ticks: number }
  | { readonly kind: "copy"; readonly copies: number }
  | { readonly kind: "rewrite"; readonly content?: string; readonly instructContent?: unknown };

/**
 * A policy of the edges between roles: it decides once for each message of a role and each recipient. The run records its name, its
 * parameters and its pairs, and is resumed only with equal policies; the decisions are recorded with the message, so a replay needs no
 * policy. `troupe/edges` has policies for loss, delay and other faults.
 *
 * @example
 * import { Environment } from "troupe";
 * import type { EdgePolicy } from "troupe/ports";
 *
 * const noShouting: EdgePolicy = {
 *   name: "no-shouting",
 *   pairs: ["Ann->*"],
 *   decide: ({ message }) => (message.content.endsWith("!") ? { kind: "drop" } : undefined),
 * };
 * new Environment({ edges: [noShouting] });
 */
export interface EdgePolicy {
  readonly name: string;
  /** Recorded with the run. */
  readonly parameters?: { readonly [name: string]: Json };
  /**
   * Pairs of roles, as `sender->recipient` or `one<->other`; `*` matches any string in a name. A role's messages to itself need `p1->p1` or
   * `p*-><self>`. Default: every message of a role to another one.
   */
  readonly pairs?: readonly string[];
  /** A synchronous function of the passage alone. Undefined: the message is delivered. */
  decide(passage: EdgePassage): EdgeDecision | undefined;
}

export function checkEdges(given: unknown): void {
  if (given === undefined) return;
  if (!Array.isArray(given))
    throw edgeInvalid("edges to be a list of policies", given, "Write edges: [drop(0.1)], or leave it out for none.");
  for (const policy of given as readonly unknown[]) {
    if (!isPolicy(policy))
      throw edgeInvalid("a policy of edges with a name and decide", policy, 'Make one by troupe/edges: drop(0.1).on("Ann->*").');
    pairsOf(policy);
  }
}

function isPolicy(given: unknown): given is EdgePolicy {
  if (!isRecord(given)) return false;
  const { name, parameters, pairs, decide } = given;
  const arePairs = pairs === undefined || (Array.isArray(pairs) && pairs.every((pair) => typeof pair === "string"));
  const isNamed = typeof name === "string" && name !== "";
  return isNamed && (parameters === undefined || isRecord(parameters)) && arePairs && typeof decide === "function";
}

function edgeInvalid(expected: string, came: unknown, todo: string): UsageError {
  return new UsageError("EDGE_INVALID", `Expected ${expected}, got ${valueText(came)}. ${todo}`);
}

export function recordedEdges(policies: readonly EdgePolicy[] = []): readonly RecordedEdge[] {
  return policies.map(({ name, parameters, pairs }) => ({
    name,
    ...(parameters === undefined ? {} : { parameters }),
    ...(pairs === undefined ? {} : { pairs }),
  }));
}

export const MAX_COPIES = 1_000;

const MAX_SHOWN = 300;

/** Refuses policies that differ from the record of the run, which has no secrets. */
export function assertSameEdges(recorded: readonly RecordedEdge[], given: readonly EdgePolicy[] | undefined, mask: Mask): void {
  const [then, now] = [recorded, recordedEdges(given)].map((edges) => canonicalJson(masked(mask, edges)));
  if (then === now) return;
  const [began, got] = [then, now].map((edges) => shownText(edges ?? "", MAX_SHOWN));
  throw new UsageError(
    "EDGES_DIFFER",
    `Expected the edges that the run began with, ${began}, got ${got}. Give the team those: edges: [...].`,
  );
}

export interface EdgeDecisions {
  /** Returns the messages of a role with their faults. */
  pass(said: readonly Sent[], from: string, tick: number): readonly Sent[];
}

export interface EdgeRun {
  readonly state: Pick<RunState, "seed" | "clock" | "bounds">;
  /** Limit on the characters of one message if the run does not bound them. */
  readonly messageLimit: number;
}

export function loaderOf(policies: readonly EdgePolicy[] | undefined, run: () => EdgeRun): (() => Promise<EdgeDecisions>) | undefined {
  if (policies === undefined || policies.length === 0) return undefined;
  return () => import("./edges.ts").then(({ Edges }) => new Edges(policies, run()));
}

export function isEdgeFailure(error: unknown): boolean {
  return error instanceof UsageError && error.code === "EDGE_FAILED";
}

/* The pairs of roles that a policy of edges covers. */

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
