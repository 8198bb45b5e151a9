import { canonicalJson, type Json, type JsonObject } from "../../kernel/json.ts";
import { isList, isRecord } from "../../kernel/value-kind.ts";
import { canonicalLines } from "../record/canonical.ts";
import type { RunEvent } from "../record/event.ts";

/** An activation of a run, or a message from outside. */
export interface AlignedEntry {
  /** The name of the role; empty for a message from outside. */
  readonly role: string;
  /** `role#n` for an activation, `outside#n` for a message. */
  readonly name: string;
  /** The names of its steps, in the order they were asked. */
  readonly steps: readonly string[];
  /** Its messages: causes and texts. */
  readonly said: readonly { readonly causeBy: string; readonly content: string }[];
}

/** The parts of an activation that may differ: its requests, their answers, its messages, and the rest: memory, state, plan, error. */
export type DifferentPart = "asked" | "answered" | "said" | "kept";

/** Entries of two runs that correspond, or one that the other run does not have. */
export type AlignedPair =
  | { readonly kind: "same"; readonly left: AlignedEntry; readonly right: AlignedEntry }
  | { readonly kind: "changed"; readonly left: AlignedEntry; readonly right: AlignedEntry; readonly parts: readonly DifferentPart[] }
  | { readonly kind: "left"; readonly left: AlignedEntry }
  | { readonly kind: "right"; readonly right: AlignedEntry };

/**
 * Aligns two runs by role and activation, in the order of their canonical logs. An activation that only one run has is a pair of its own, and
 * those after it still correspond: the numbers of activations and rounds do not count, and messages count by what they say and not by their ids.
 */
export function alignRuns(a: Iterable<RunEvent>, b: Iterable<RunEvent>): readonly AlignedPair[] {
  const numbers = new Map<string, number>();
  const [lefts, rights] = [entriesOf(a, numbers), entriesOf(b, numbers)];
  const end = Math.min(lefts.length, rights.length);
  let head = 0;
  while (head < end && isSame(lefts[head], rights[head])) head += 1;
  let tail = 0;
  while (tail < end - head && isSame(lefts.at(-1 - tail), rights.at(-1 - tail))) tail += 1;
  const middle = alignMiddle(lefts.slice(head, lefts.length - tail), rights.slice(head, rights.length - tail));
  const both = (ones: readonly Entry[], others: readonly Entry[]): readonly Matched[] => ones.map((left, nth) => [left, others[nth]]);
  const after = tail === 0 ? [] : both(lefts.slice(-tail), rights.slice(-tail));
  return [...both(lefts.slice(0, head), rights), ...middle, ...after].map(pairOf);
}

/** An entry with its parts as numbers: equal parts have equal numbers. */
interface Entry extends AlignedEntry {
  readonly parts: Readonly<Record<DifferentPart, number>>;
}

type Matched = readonly [left: Entry | undefined, right: Entry | undefined];

const PARTS: readonly DifferentPart[] = ["asked", "answered", "said", "kept"];

/** Weights of what two entries of one role share. Any pair of one role is better than none. */
const OF_ONE_ROLE = 1;
const WEIGHTS: Readonly<Record<DifferentPart, number>> = { asked: 2, answered: 2, said: 3, kept: 1 };

/** Most places of the table of two runs. Beyond it the activations of a role are aligned by their numbers: 4 million take 16 MB. */
const MOST_PLACES = 4_000_000;

function isSame(left: Entry | undefined, right: Entry | undefined): boolean {
  return (
    left !== undefined && right !== undefined && left.role === right.role && PARTS.every((part) => left.parts[part] === right.parts[part])
  );
}

function likeness(left: Entry, right: Entry): number {
  if (left.role !== right.role) return 0;
  return PARTS.reduce((sum, part) => sum + (left.parts[part] === right.parts[part] ? WEIGHTS[part] : 0), OF_ONE_ROLE);
}

function pairOf([left, right]: Matched): AlignedPair {
  if (right === undefined) return { kind: "left", left: plain(left as Entry) };
  if (left === undefined) return { kind: "right", right: plain(right) };
  const parts = PARTS.filter((part) => left.parts[part] !== right.parts[part]);
  const sides = { left: plain(left), right: plain(right) };
  return parts.length === 0 ? { kind: "same", ...sides } : { kind: "changed", ...sides, parts };
}

function plain({ role, name, steps, said }: Entry): AlignedEntry {
  return { role, name, steps, said };
}

/** The alignment with the greatest sum of likenesses. */
function alignMiddle(lefts: readonly Entry[], rights: readonly Entry[]): readonly Matched[] {
  const width = rights.length + 1;
  if ((lefts.length + 1) * width > MOST_PLACES) return byNumber(lefts, rights);
  const best = new Uint32Array((lefts.length + 1) * width);
  const at = (l: number, r: number): number => best[l * width + r] as number;
  for (let l = lefts.length - 1; l >= 0; l -= 1) {
    for (let r = rights.length - 1; r >= 0; r -= 1) {
      const like = likeness(lefts[l] as Entry, rights[r] as Entry);
      const paired = like === 0 ? 0 : like + at(l + 1, r + 1);
      best[l * width + r] = Math.max(paired, at(l + 1, r), at(l, r + 1));
    }
  }
  const found: Matched[] = [];
  let [l, r] = [0, 0];
  while (l < lefts.length && r < rights.length) {
    const [left, right] = [lefts[l] as Entry, rights[r] as Entry];
    const like = likeness(left, right);
    if (like > 0 && at(l, r) === like + at(l + 1, r + 1)) {
      found.push([left, right]);
      l += 1;
      r += 1;
    } else if (at(l, r) === at(l + 1, r)) {
      found.push([left, undefined]);
      l += 1;
    } else {
      found.push([undefined, right]);
      r += 1;
    }
  }
  return [
    ...found,
    ...lefts.slice(l).map((left): Matched => [left, undefined]),
    ...rights.slice(r).map((right): Matched => [undefined, right]),
  ];
}

/** Aligns each activation with the one of the same role and number. */
function byNumber(lefts: readonly Entry[], rights: readonly Entry[]): readonly Matched[] {
  const open = new Map(rights.map((right) => [right.name, right]));
  const found = lefts.map((left): Matched => {
    const right = open.get(left.name);
    open.delete(left.name);
    return [left, right];
  });
  return [...found, ...[...open.values()].map((right): Matched => [undefined, right])];
}

/** The entries of a run. @param numbers the numbers of parts, the same for both runs */
function entriesOf(events: Iterable<RunEvent>, numbers: Map<string, number>): readonly Entry[] {
  const lines = canonicalLines(events).map((line) => JSON.parse(line) as JsonObject);
  const names = namesOf(lines);
  const entries: Entry[] = [];
  let steps: JsonObject[] = [];
  let outside = 0;
  const flush = (end: JsonObject | undefined): void => {
    const first = end ?? steps[0];
    if (first !== undefined) entries.push(activation(first, steps, { end, names, numbers }));
    steps = [];
  };
  for (const line of lines) {
    if (line["type"] === "step") {
      if (steps[0] !== undefined && steps[0]["act"] !== line["act"]) flush(undefined);
      steps.push(line);
    } else if (line["type"] === "act.ended" || line["type"] === "act.failed") flush(line);
    else {
      flush(undefined);
      if (line["type"] !== "message") continue;
      outside += 1;
      entries.push(messageEntry(line, outside, { names, numbers }));
    }
  }
  return entries;
}

interface Naming {
  readonly names: ReadonlyMap<string, string>;
  readonly numbers: Map<string, number>;
}

function activation(first: JsonObject, steps: readonly JsonObject[], o: Naming & { readonly end: JsonObject | undefined }): Entry {
  const { end, names, numbers } = o;
  const act = textOf(first["act"]);
  const number = (value: unknown): number => numberOf(renamed(value as Json, names), numbers);
  const said = sentOf(end);
  const { type, said: _said, act: _act, round: _round, take: _take, ...kept } = end ?? { type: "open" };
  return {
    role: act.slice(0, act.lastIndexOf("#")),
    name: act.replace(/~\d+$/, ""),
    steps: steps.map((step) => textOf(step["name"])),
    said: said.map(saidText),
    parts: {
      asked: number(steps.map(({ kind, name, request = null }) => [kind, name, request] as Json)),
      answered: number(steps.map(({ ok = null, value = null, error = null }) => [ok, value, error] as Json)),
      said: number(said),
      kept: number({ type, ...kept } as Json),
    },
  };
}

function messageEntry(line: JsonObject, nth: number, { names, numbers }: Naming): Entry {
  const { message = null, ...rest } = line;
  return {
    role: "",
    name: `outside#${nth}`,
    steps: [],
    said: [saidText(line)],
    parts: {
      asked: 0,
      answered: 0,
      said: numberOf(renamed(message, names), numbers),
      kept: numberOf(renamed(rest as Json, names), numbers),
    },
  };
}

function sentOf(end: JsonObject | undefined): readonly JsonObject[] {
  const said = end?.["said"];
  return isList(said) ? (said as readonly JsonObject[]) : [];
}

function saidText(sent: JsonObject): { readonly causeBy: string; readonly content: string } {
  const message = isRecord(sent["message"]) ? sent["message"] : {};
  return { causeBy: textOf(message["causeBy"]), content: textOf(message["content"]) };
}

/** Names of messages by their ids: what they say, so that equal messages of two runs have equal names. */
function namesOf(lines: readonly JsonObject[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const line of lines) {
    for (const { message } of line["type"] === "message" ? [line] : sentOf(line)) {
      if (!isRecord(message)) continue;
      const { id, parents: _parents, ...what } = message;
      names.set(textOf(id), canonicalJson(what));
    }
  }
  return names;
}

function renamed(value: Json, names: ReadonlyMap<string, string>): Json {
  if (typeof value === "string") return names.get(value) ?? value;
  if (isList(value)) return (value as readonly Json[]).map((item) => renamed(item, names));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, renamed(member as Json, names)]));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: Json, numbers: Map<string, number>): number {
  const text = canonicalJson(value);
  const known = numbers.get(text);
  if (known !== undefined) return known;
  numbers.set(text, numbers.size + 1);
  return numbers.size;
}
