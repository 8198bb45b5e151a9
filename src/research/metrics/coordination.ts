import { iterable, object, takes, numberWith } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Message, RunEvent } from "../../index.ts";
import { type MessageSource, type SentMessage, sentMessages } from "./message-rows.ts";

export interface CoordinationOptions {
  readonly tasks?: number;
  /** The roles of the team, also those that neither sent nor got anything. Default: those that did. */
  readonly roles?: Iterable<string>;
  /** The cost of a message, such as its tokens. Default: its characters. */
  readonly cost?: (message: Message) => number;
  /** The share of equal parts from which on a string repeats another, above 0 and at most 1. Default 0.8. */
  readonly likeness?: number;
}

const coordinationOptions: Known<CoordinationOptions> = {
  tasks: numberWith("a finite number above 0", (value) => value > 0 && Number.isFinite(value)),
  roles: kinds.iterable("names"),
  cost: kinds.function,
  likeness: numberWith("a number above 0 and at most 1", (value) => value > 0 && value <= 1),
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
  readonly unheard: number;
};

/** Measures how roles coordinate, from the messages of a run, or from its events, which have the recipients of broadcasts. */
export function coordinationMetrics(source: MessageSource, o: CoordinationOptions = {}): CoordinationMetrics {
  checkKnownOptions("coordinationMetrics", o, coordinationOptions);
  const { tasks = 1, likeness = 0.8, cost = ({ content }: Message) => content.length } = o;
  const sent = sentMessages("coordinationMetrics", source).filter(({ message }) => message.sentFrom !== "");
  const roleNames = [...(o.roles ?? [])];
  takes("coordinationMetrics", "roles", roleNames, kinds.texts);
  const roles = new Set([...roleNames, ...sent.flatMap(({ message, to }) => [message.sentFrom, ...to])]);
  const spent = (message: Message): number => checkedCost(cost(message));
  const edges = edgesOf(sent, spent);
  const longest = longestChain(sent);
  const messages = sent.length;
  const texts = sent.map(({ message }) => message.content);
  const repeats = repeatsIn(texts, likeness);
  const pairs = roles.size * (roles.size - 1);
  const between = [...edges.values()].reduce((sum, edge) => sum + edge, 0);
  return {
    messages,
    messagesPerTask: messages / tasks,
    edges: edges.size,
    density: pairs === 0 ? 0 : edges.size / pairs,
    cost: sent.reduce((sum, { message }) => sum + spent(message), 0),
    costPerEdge: edges.size === 0 ? 0 : between / edges.size,
    redundancy: messages === 0 ? 0 : repeats / messages,
    criticalPath: longest,
    parallelism: longest === 0 ? 0 : messages / longest,
    unheard: messages === 0 ? 0 : sent.filter(({ to }) => to.length === 0).length / messages,
  };
}

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

function checkedCost(cost: unknown): number {
  if (typeof cost === "number" && Number.isFinite(cost)) return cost;
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the option cost of coordinationMetrics to return finite numbers, got ${valueText(cost)}.`,
  );
}

/** Returns the messages of the longest chain of answers. A parent outside the list, and one that leads back to its child, does not count. */
function longestChain(sent: readonly SentMessage[]): number {
  const byId = new Map(sent.map(({ message }) => [message.id, message]));
  const lengths = new Map<string, number>();
  const open = new Set<string>();
  for (const { message: start } of sent) {
    const path = [start];
    for (let message = path.at(-1); message !== undefined; message = path.at(-1)) {
      open.add(message.id);
      const next = message.parents.map((id) => byId.get(id)).find((one) => one !== undefined && !lengths.has(one.id) && !open.has(one.id));
      if (next !== undefined && !lengths.has(message.id)) {
        path.push(next);
        continue;
      }
      if (!lengths.has(message.id))
        lengths.set(message.id, 1 + message.parents.reduce((most, id) => Math.max(most, lengths.get(id) ?? 0), 0));
      open.delete(message.id);
      path.pop();
    }
  }
  return [...lengths.values()].reduce((most, length) => Math.max(most, length), 0);
}

const SHINGLE = 3;
const MAX_WORDS = 2_000;

/** Counts the strings nearly the same as an earlier one: they share at least `likeness` of all shingles of three words (Broder 1997). */
function repeatsIn(texts: readonly string[], likeness: number): number {
  const exact = new Set<string>();
  const sizes: number[] = [];
  /** The strings that have a shingle, as indexes of `sizes`. */
  const owners = new Map<string, number[]>();
  let repeats = 0;
  for (const text of texts) {
    const words = wordsIn(text, MAX_WORDS);
    const whole = words.join(" ");
    const shingles = exact.has(whole) ? [] : shinglesOf(words);
    exact.add(whole);
    const shared = new Map<number, number>();
    for (const owner of shingles.flatMap((shingle) => owners.get(shingle) ?? [])) shared.set(owner, (shared.get(owner) ?? 0) + 1);
    const isLike = ([owner, count]: readonly [number, number]): boolean =>
      count / (shingles.length + (sizes[owner] ?? 0) - count) >= likeness;
    // A string that repeats another is found by that one.
    if (shingles.length === 0 || [...shared].some(isLike)) repeats += 1;
    else {
      const own = sizes.push(shingles.length) - 1;
      for (const shingle of shingles) {
        const known = owners.get(shingle);
        if (known === undefined) owners.set(shingle, [own]);
        else known.push(own);
      }
    }
  }
  return repeats;
}

function shinglesOf(words: readonly string[]): readonly string[] {
  if (words.length <= SHINGLE) return [words.join(" ")];
  return [...new Set(words.slice(SHINGLE - 1).map((_, place) => words.slice(place, place + SHINGLE).join(" ")))];
}

/** Returns the words of a string in lower case, without signs between them. A text without letters and digits is one word. */
function wordsIn(text: string, most: number): readonly string[] {
  const words: string[] = [];
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    words.push(word);
    if (words.length >= most) break;
  }
  return words.length > 0 ? words : [text.trim().slice(0, most)];
}

/** Returns the share of turns in which a hired role did nothing, over all rounds from `run.started` on; undefined without rounds. */
export function idleShare(events: Iterable<RunEvent>): number | undefined {
  takes("idleShare", "events", events, iterable("events of a run"));
  const team = new Set<string>();
  let active = new Set<string>();
  let [acted, turns] = [0, 0];
  for (const event of events) {
    takes("idleShare", "an event", event, object("an event"));
    switch (event.type) {
      case "run.started":
      case "role.hired":
        for (const { name } of event.roles) team.add(name);
        break;
      case "role.retired":
        team.delete(event.role);
        break;
      case "act.ended":
      case "act.failed":
        active.add(event.role);
        break;
      case "round.ended":
        // A role that left during the round could have acted in it.
        turns += new Set([...team, ...active]).size;
        acted += active.size;
        active = new Set();
        break;
      default:
        break;
    }
  }
  return turns === 0 ? undefined : 1 - acted / turns;
}
