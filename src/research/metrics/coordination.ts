import { aFunction, orNothing, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Message } from "../../index.ts";
import { chainsOf } from "./critical-path.ts";
import { repeatsIn } from "./redundancy.ts";
import { type MessageSource, type SentMessage, sentMessages } from "./sent-messages.ts";

/** Options of the metrics of a run. All have defaults. */
export interface CoordinationOptions {
  /** Number of tasks of the run. Default 1. */
  readonly tasks?: number;
  /** The roles of the team, also those that neither sent nor got anything. Default: those that did. */
  readonly roles?: Iterable<string>;
  /** The cost of a message, such as its tokens. Default: its characters. */
  readonly cost?: (message: Message) => number;
  /** The share of equal parts from which on a text repeats another, above 0 and at most 1. Default 0.8. */
  readonly likeness?: number;
}

const coordinationOptions: Known<CoordinationOptions> = {
  tasks: kinds.size,
  roles: kinds.iterable("names"),
  cost: kinds.function,
  likeness: kinds.amount,
};

/** The messages of a run in numbers. All are flat, so that `measure` of an experiment can return them. */
export type CoordinationMetrics = {
  /** Messages of roles. Those from outside are the task, not its work. */
  readonly messages: number;
  readonly messagesPerTask: number;
  /** Pairs of roles, with a direction, with a message from one to the other. */
  readonly edges: number;
  /** The share of all pairs of different roles that are edges; 0 for a single role. */
  readonly density: number;
  /** The cost of all messages; one for many recipients counts once. */
  readonly cost: number;
  /** The cost of a message counts at each of its edges. 0 without an edge. */
  readonly costPerEdge: number;
  /** The share of messages that nearly repeat an earlier one; 0 without messages. */
  readonly redundancy: number;
  /** Messages of the longest chain in which each answers the one before. */
  readonly criticalPath: number;
  /** Messages for each message of the longest chain: how many could be under way at once. 0 without messages. */
  readonly parallelism: number;
  /** The share of messages that no role got. */
  readonly unheard: number;
};

/**
 * Measures how the roles of a run coordinate, from its messages, or from its events, which have the recipients of broadcasts.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`; `ARGUMENT_INVALID` for what is no message and no event
 * @example
 * import { createMessage } from "troupe";
 * import { coordinationMetrics } from "troupe/research";
 *
 * const ask = createMessage("Ready?", { id: "1", sentFrom: "Ann", sendTo: ["Ben", "Cem"] });
 * const yes = createMessage("Yes.", { id: "2", sentFrom: "Ben", sendTo: "Ann", parents: ["1"] });
 * const also = createMessage("Yes!", { id: "3", sentFrom: "Cem", sendTo: "Ann", parents: ["1"] });
 * const { density, criticalPath, redundancy } = coordinationMetrics([ask, yes, also]);
 * console.log(density.toFixed(2), criticalPath, redundancy.toFixed(2)); // 0.67 2 0.33
 */
export function coordinationMetrics(source: MessageSource, o: CoordinationOptions = {}): CoordinationMetrics {
  checkKnownOptions("coordinationMetrics", o, coordinationOptions);
  const { tasks = 1, likeness = 0.8, cost = ({ content }: Message) => content.length } = o;
  takes("coordinationMetrics", "cost", o.cost, orNothing(aFunction));
  if (!(typeof tasks === "number" && Number.isFinite(tasks) && tasks > 0)) throw invalid("tasks", "a number above 0", tasks);
  if (!(typeof likeness === "number" && likeness > 0 && likeness <= 1)) throw invalid("likeness", "above 0 and at most 1", likeness);
  const sent = sentMessages("coordinationMetrics", source).filter(({ message }) => message.sentFrom !== "");
  const roles = new Set([...rolesOf(o.roles), ...sent.flatMap(({ message, to }) => [message.sentFrom, ...to])]);
  const spent = (message: Message): number => checkedCost(cost(message));
  const edges = edgesOf(sent, spent);
  const { longest } = chainsOf(sent, () => 1);
  const messages = sent.length;
  const pairs = roles.size * (roles.size - 1);
  const between = [...edges.values()].reduce((sum, edge) => sum + edge, 0);
  return {
    messages,
    messagesPerTask: messages / tasks,
    edges: edges.size,
    density: pairs === 0 ? 0 : edges.size / pairs,
    cost: sent.reduce((sum, { message }) => sum + spent(message), 0),
    costPerEdge: edges.size === 0 ? 0 : between / edges.size,
    redundancy:
      messages === 0
        ? 0
        : repeatsIn(
            sent.map(({ message }) => message.content),
            likeness,
          ) / messages,
    criticalPath: longest,
    parallelism: longest === 0 ? 0 : messages / longest,
    unheard: messages === 0 ? 0 : sent.filter(({ to }) => to.length === 0).length / messages,
  };
}

/** Returns the cost of each pair of different roles with a message. */
function edgesOf(sent: readonly SentMessage[], spent: (message: Message) => number): ReadonlyMap<string, number> {
  const edges = new Map<string, number>();
  for (const { message, to } of sent) {
    for (const recipient of new Set(to)) {
      if (recipient === message.sentFrom) continue;
      const key = JSON.stringify([message.sentFrom, recipient]);
      edges.set(key, (edges.get(key) ?? 0) + spent(message));
    }
  }
  return edges;
}

function rolesOf(roles: unknown): readonly string[] {
  if (roles === undefined) return [];
  const names = typeof roles === "object" && roles !== null && Symbol.iterator in roles ? [...(roles as Iterable<unknown>)] : undefined;
  if (names?.every((name) => typeof name === "string") === true) return names;
  throw invalid("roles", "the names of roles", roles);
}

function checkedCost(cost: unknown): number {
  if (typeof cost === "number" && Number.isFinite(cost)) return cost;
  throw invalid("cost", "a function that returns finite numbers", cost);
}

function invalid(option: string, expected: string, came: unknown): UsageError {
  return new UsageError(
    "OPTION_INVALID",
    `Expected the option ${option} of coordinationMetrics to be ${expected}, got ${valueText(came)}.`,
  );
}
