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

/** Limit on the cells of the table of two runs. Beyond it the activations of a role are aligned by their numbers: 4 million take 16 MB. */
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
  if (right === undefined) return { kind: "left", left: left as Entry };
  if (left === undefined) return { kind: "right", right };
  const parts = PARTS.filter((part) => left.parts[part] !== right.parts[part]);
  return parts.length === 0 ? { kind: "same", left, right } : { kind: "changed", left, right, parts };
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
  while (l < lefts.length || r < rights.length) {
    const [left, right] = [lefts[l], rights[r]];
    const like = left === undefined || right === undefined ? 0 : likeness(left, right);
    if (like > 0 && at(l, r) === like + at(l + 1, r + 1)) {
      found.push([left, right]);
      [l, r] = [l + 1, r + 1];
    } else if (left !== undefined && (right === undefined || at(l, r) === at(l + 1, r))) {
      found.push([left, undefined]);
      l += 1;
    } else {
      found.push([undefined, right]);
      r += 1;
    }
  }
  return found;
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
  const number = (value: unknown): number => {
    const text = canonicalJson(renamed(value as Json, names));
    const known = numbers.get(text) ?? numbers.size + 1;
    numbers.set(text, known);
    return known;
  };
  const entries: Entry[] = [];
  let steps: JsonObject[] = [];
  let outside = 0;
  const flush = (end?: JsonObject): void => {
    const act = (end ?? steps[0])?.["act"];
    if (act !== undefined) entries.push(activation(textOf(act), steps, end ?? { type: "open" }, number));
    steps = [];
  };
  for (const line of lines) {
    const { type, act } = line;
    if (type === "act.ended" || type === "act.failed") flush(line);
    else {
      if (type !== "step" || steps[0]?.["act"] !== act) flush();
      if (type === "step") steps.push(line);
      else if (type === "message") entries.push(fromOutside(line, (outside += 1), number));
    }
  }
  return entries;
}

function activation(act: string, steps: readonly JsonObject[], end: JsonObject, number: (value: unknown) => number): Entry {
  const said = sentOf(end);
  const { said: _said, act: _act, round: _round, take: _take, ...kept } = end;
  return {
    role: act.slice(0, act.lastIndexOf("#")),
    name: act.replace(/~\d+$/, ""),
    steps: steps.map((step) => textOf(step["name"])),
    said: said.map(saidText),
    parts: {
      asked: number(steps.map(({ kind, name, request = null }) => [kind, name, request])),
      answered: number(steps.map(({ ok = null, value = null, error = null }) => [ok, value, error])),
      said: number(said),
      kept: number(kept),
    },
  };
}

function fromOutside(line: JsonObject, nth: number, number: (value: unknown) => number): Entry {
  const { message = null, ...rest } = line;
  const parts = { asked: 0, answered: 0, said: number(message), kept: number(rest) };
  return { role: "", name: `outside#${nth}`, steps: [], said: [saidText(line)], parts };
}

function sentOf({ said }: JsonObject): readonly JsonObject[] {
  return isList(said) ? (said as readonly JsonObject[]) : [];
}

function saidText({ message }: JsonObject): { readonly causeBy: string; readonly content: string } {
  const { causeBy, content } = isRecord(message) ? message : {};
  return { causeBy: textOf(causeBy), content: textOf(content) };
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
