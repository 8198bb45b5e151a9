import { UsageError } from "../../kernel/errors.ts";
import { deepFreeze, type Json, jsonRoundTrip } from "../../kernel/json.ts";
import { namedStream, type RandomStream } from "../../kernel/random.ts";
import { isCount, isRecord, isThenable } from "../../kernel/value-kind.ts";
import { thrownText, valueText } from "../../kernel/value-text.ts";
import type { Message } from "../../message/message.ts";
import { isSameJson } from "../../role/act.ts";
import { nextTick } from "../record/delivery.ts";
import type { Sent, Arrival, EdgeFault } from "../record/event.ts";
import { arrivedMessage, contentOf, whole } from "./arrivals.ts";
import {
  type EdgeDecision,
  type EdgeDecisions,
  type EdgePassage,
  type EdgePolicy,
  type EdgeRun,
  MAX_COPIES,
  type Pairs,
  pairsOf,
} from "./edge-policy.ts";

interface Ranked {
  readonly policy: EdgePolicy;
  readonly pairs: Pairs;
  readonly nth: number;
}

interface Passed extends Pick<EdgePassage, "from" | "to" | "tick"> {
  readonly sent: Sent;
  copies: number;
}

/**
 * Applies the edge policies to messages, in the order of the policies. It owns only the policies.
 *
 * Edges.G1 (`#applied`) a decision is a function of the seed, the policy, the message and its recipient; other messages and
 * policies do not affect it.
 * Edges.G2 (`pass`) a message without faults is returned unchanged.
 * Edges.G3 (`decisionOf`) a policy that throws or returns an invalid decision fails the activation, which then sends no message.
 * Edges.G4 (`#applied`) a message has at most 1,000 copies for one recipient, over all policies.
 */
export class Edges implements EdgeDecisions {
  readonly #run: EdgeRun;
  readonly #policies: readonly Ranked[];

  constructor(policies: readonly EdgePolicy[], run: EdgeRun) {
    this.#run = run;
    this.#policies = policies.map((policy, index) => {
      const nth = policies.slice(0, index).filter(({ name }) => name === policy.name).length;
      return { policy, pairs: pairsOf(policy), nth };
    });
  }

  pass(said: readonly Sent[], from: string, tick: number): readonly Sent[] {
    return said.map((sent) => {
      const faults = sent.to.flatMap((to) => this.#fault({ sent, from, to, tick, copies: 0 }) ?? []);
      return faults.length === 0 ? sent : { ...sent, faults };
    });
  }

  #fault(passed: Passed): EdgeFault | undefined {
    let arrives: readonly Arrival[] = whole;
    const by = new Set<string>();
    for (const ranked of this.#policies) {
      if (!ranked.pairs.covers(passed.from, passed.to)) continue;
      const next = arrives.flatMap((arrival) => this.#applied(ranked, arrival, passed));
      if (next.length === arrives.length && next.every((arrival, index) => arrival === arrives[index])) continue;
      arrives = next;
      by.add(ranked.policy.name);
    }
    return by.size === 0 ? undefined : { to: passed.to, by: [...by], arrives };
  }

  #applied({ policy, nth }: Ranked, arrival: Arrival, passed: Passed): readonly Arrival[] {
    const { sent, from, to, tick } = passed;
    const { seed, clock, bounds } = this.#run.state;
    const message = arrivedMessage(sent.message, arrival);
    const arrives = arrival.due ?? sent.due ?? nextTick({ tick, clock });
    let stream: RandomStream | undefined;
    const passage: EdgePassage = {
      ...{ message, from, to, tick, arrives },
      get random() {
        return (stream ??= namedStream(seed, "edge", policy.name, nth, message.id, to));
      },
    };
    const decision = decisionOf(policy, passage);
    switch (decision.kind) {
      case "deliver":
        return [arrival];
      case "drop":
        return [];
      case "delay":
        return decision.ticks === 0 ? [arrival] : [{ ...arrival, due: arrives + decision.ticks }];
      case "copy": {
        const copies = passed.copies + decision.copies;
        if (copies > MAX_COPIES) {
          const what = `the message would have ${copies} copies, more than ${MAX_COPIES} over all policies`;
          throw failed(policy, passage, what, undefined, "Begin a new run with policies that make fewer.");
        }
        return [arrival, ...Array.from({ length: decision.copies }, () => ({ ...arrival, copy: (passed.copies += 1) }))];
      }
      case "rewrite": {
        const { reads } = decision;
        if (isSameJson(reads, contentOf(message))) return [arrival];
        const limit = bounds.messageLimit ?? this.#run.messageLimit;
        const { length } = reads.content;
        if (length > limit) throw failed(policy, passage, `it wrote ${length} characters, more than the ${limit} of one message`);
        return [{ ...arrival, reads }];
      }
    }
  }
}

type Checked = Exclude<EdgeDecision, { readonly kind: "rewrite" }> | { readonly kind: "rewrite"; readonly reads: Reads };

type Reads = NonNullable<Arrival["reads"]>;

const delivered: Checked = Object.freeze({ kind: "deliver" });

/** @throws UsageError `EDGE_FAILED` for a policy that throws or returns an invalid decision */
function decisionOf(policy: EdgePolicy, passage: EdgePassage): Checked {
  let answer: unknown;
  let checked: Checked | undefined;
  try {
    answer = policy.decide(passage);
    checked = answer === undefined ? delivered : checkedDecision(answer, passage.message);
  } catch (error) {
    throw failed(policy, passage, `it threw: ${thrownText(error)}`, error);
  }
  if (checked !== undefined) return checked;
  // The promise is not awaited: its rejection must not end the process.
  if (isThenable(answer)) void Promise.resolve(answer).catch(() => {});
  const came = isThenable(answer) ? "a promise" : valueText(answer);
  throw failed(policy, passage, `it answered ${came}, which is no decision, such as { kind: "drop" } or undefined`);
}

function checkedDecision(answer: unknown, message: Message): Checked | undefined {
  if (!isRecord(answer)) return undefined;
  const { kind, ticks, copies } = answer;
  switch (kind) {
    case "deliver":
    case "drop":
      return { kind };
    case "delay":
      // The clock of a run may be between whole ticks.
      return typeof ticks === "number" && ticks >= 0 && ticks <= Number.MAX_SAFE_INTEGER ? { kind, ticks } : undefined;
    case "copy":
      return isCount(copies) && copies <= MAX_COPIES ? { kind, copies } : undefined;
    case "rewrite": {
      const reads = readsOf(answer, message);
      return reads && { kind, reads };
    }
    default:
      return undefined;
  }
}

/** A payload describes its original content, so a new content without a payload has none. */
function readsOf({ content, instructContent: payload }: Readonly<Record<string, unknown>>, message: Message): Reads | undefined {
  if (content !== undefined && typeof content !== "string") return undefined;
  const before = contentOf(message);
  const kept = content === undefined || content === before.content ? before.instructContent : undefined;
  const instructContent = payload === undefined ? kept : (deepFreeze(jsonRoundTrip(payload)) as Json);
  return { content: content ?? before.content, ...(instructContent === undefined ? {} : { instructContent }) };
}

const RESUME = "Correct it, and resume the run: no message is lost.";

function failed({ name }: EdgePolicy, { message, from, to }: EdgePassage, what: string, cause?: unknown, todo = RESUME): UsageError {
  return new UsageError(
    "EDGE_FAILED",
    `Expected the policy ${name} of the edges to decide about message ${message.id} from ${from} to ${to}, but ${what}. ${todo}`,
    { cause, data: { policy: name, message: message.id, from, to } },
  );
}
