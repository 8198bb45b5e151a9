import { createContext, Script } from "node:vm";
import { type Message, ROUTE_TO_ALL, UsageError } from "../../index.ts";
import type { JsonObject } from "../../kernel/json.ts";
import { isThenable } from "../../kernel/value-kind.ts";
import { thrownText } from "../../kernel/value-text.ts";
import { type Causes, isCrash, isRead, type Reads } from "./causes.ts";
import { circleIn } from "./circles.ts";
import type { Step, Walk } from "./moves.ts";

/** A world between two steps of a schedule, as a property sees it. */
export interface ExploredState {
  readonly roles: readonly string[];
  /** The messages that roles have said so far. */
  readonly messages: readonly Message[];
  /** True when nothing is left to do. */
  readonly isEnd: boolean;
  readonly state: (role: string) => JsonObject;
  readonly isCrashed: (role: string) => boolean;
}

export type FindingKind = "violation" | "deadlock" | "endless" | "unanswered" | "asleep" | "lost" | "failed";

export interface Flaw {
  readonly kind: FindingKind;
  readonly text: string;
  /** The indexes of the steps that it needs. */
  readonly needs: readonly number[];
}

export interface Claims {
  readonly property: ((state: ExploredState) => unknown) | undefined;
  readonly done: ((state: ExploredState) => unknown) | undefined;
}

/** The reads of the property so far. It only grows. */
export interface GrowingReads extends Reads {
  readonly roles: Set<string>;
  messages: boolean;
}

const PROPERTY_MS = 5_000;
const guard = createContext({});
const guarded = new Script("work()");

export interface Judged {
  readonly walk: Walk;
  readonly causes: Causes;
  readonly at: number;
}

/** Finds the flaws of schedules. @param reads of the property, to which those between the steps are added */
export function flawsOf(all: readonly Judged[], claims: Claims, reads: GrowingReads, add: (flaw: Flaw, judged: Judged) => void): void {
  const judged = all.filter(({ walk }) => walk.end !== "left");
  if (claims.property !== undefined || claims.done !== undefined) inLimitedTime(judged, claims, reads, add);
  for (const one of judged) for (const flaw of plainFlaws(one)) add(flaw, one);
}

function plainFlaws({ walk, causes }: Judged): readonly Flaw[] {
  const { steps, end } = walk;
  const all = [...steps.keys()];
  if (end === "deep") {
    const circle = circleIn(walk);
    const text =
      circle === undefined
        ? `It had not ended after ${steps.length} steps.`
        : `The last ${circle.length} steps lead back to where they began.`;
    return [{ kind: "endless", text, needs: all.slice(0, circle?.until) }];
  }
  if (end === "rest" || end === "waiting") return flawsAtRest(walk, causes, all);
  return walk.hasFailedAnswer
    ? []
    : [{ kind: "failed", text: walk.result.error?.message ?? "It failed.", needs: causes.pastOf(all.slice(-1)) }];
}

/** The state between the steps of a walk, which notes what is read. */
class Between implements ExploredState {
  readonly roles: readonly string[];
  readonly said: Message[] = [];
  readonly crashed = new Set<string>();
  readonly states: Map<string, JsonObject>;
  isEnd = false;
  readRoles = new Set<string>();
  hasReadMessages = false;

  constructor({ states }: Walk) {
    this.states = new Map(states);
    this.roles = [...states.keys()];
  }

  get messages(): readonly Message[] {
    this.hasReadMessages = true;
    return [...this.said];
  }

  // A property may take these apart from the object.
  readonly state = (role: string): JsonObject => {
    const state = this.states.get(role);
    if (state === undefined)
      throw new UsageError("ROLE_UNKNOWN", `Expected a role of the world, got ${role}. Known: ${this.roles.join(", ")}.`);
    this.readRoles.add(role);
    return state;
  };

  readonly isCrashed = (role: string): boolean => {
    this.readRoles.add(role);
    return this.crashed.has(role);
  };

  take(step: Step, isEnd: boolean): void {
    if (step.state !== undefined) this.states.set(step.move.role, step.state);
    if (isCrash(step)) this.crashed.add(step.move.role);
    this.said.push(...step.said);
    this.isEnd = isEnd;
    this.readRoles = new Set();
    this.hasReadMessages = false;
  }
}

/** Checks the claims on schedules, and stops a claim that does not return. @throws UsageError `EXPLORE_PROPERTY` */
function inLimitedTime(all: readonly Judged[], claims: Claims, reads: GrowingReads, add: (flaw: Flaw, judged: Judged) => void): void {
  const flaws: (Flaw | undefined)[] = [];
  try {
    limited(() => {
      for (const judged of all) flaws.push(brokenClaim(judged, claims, reads));
    });
  } catch (error) {
    if (!isLate(error)) throw error;
    // Many calls took the time together: each has it alone from here on.
    for (const judged of all.slice(flaws.length)) flaws.push(brokenClaim(judged, limitedEach(claims), reads));
  }
  for (const [nth, flaw] of flaws.entries()) if (flaw !== undefined) add(flaw, all[nth] as Judged);
}

function limited<T>(work: () => T): T {
  guard["work"] = work;
  return guarded.runInContext(guard, { timeout: PROPERTY_MS }) as T;
}

function isLate(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null | undefined)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

function limitedEach({ property, done }: Claims): Claims {
  const each = (claim: Claims["done"]): Claims["done"] => claim && ((state) => limited(() => claim(state)));
  return { property: each(property), done: each(done) };
}

/** Checks the property before the first step and after each one, and the goal at the end. */
function brokenClaim({ walk, causes }: Judged, { property, done }: Claims, reads: GrowingReads): Flaw | undefined {
  const { steps, end } = walk;
  const between = new Between(walk);
  for (let at = -1; at < steps.length; at += 1) {
    const step = steps[at];
    if (step !== undefined) between.take(step, at === steps.length - 1 && end === "rest");
    const broken = property === undefined ? undefined : verdictOf(property, between, steps.slice(0, at + 1));
    if (!between.isEnd) {
      for (const role of between.readRoles) reads.roles.add(role);
      reads.messages ||= between.hasReadMessages;
    }
    if (broken !== undefined) return { kind: "violation", text: broken, needs: causes.pastOf(lastReads(steps, at, between)) };
  }
  if (end !== "rest" || done === undefined || isDone(done, between, steps)) return undefined;
  return { kind: "deadlock", text: "Nothing is left to do, and the goal is not reached.", needs: [...steps.keys()] };
}

function verdictOf(property: NonNullable<Claims["property"]>, between: Between, steps: readonly Step[]): string | undefined {
  let verdict: unknown;
  try {
    verdict = property(between);
  } catch (error) {
    if (UsageError.isInstance(error)) throw error;
    if (isLate(error)) throw late("property", steps);
    return `The property threw: ${thrownText(error)}`;
  }
  if (verdict === true || verdict === undefined) return undefined;
  if (verdict === false || verdict === "") return "The property is broken.";
  if (typeof verdict === "string") return verdict;
  throw badClaim("property", `return true, false or what is broken as a string, got ${kindOf(verdict)}`, []);
}

function isDone(done: NonNullable<Claims["done"]>, between: Between, steps: readonly Step[]): boolean {
  let verdict: unknown;
  try {
    verdict = done(between);
  } catch (error) {
    if (UsageError.isInstance(error)) throw error;
    throw isLate(error) ? late("done", steps) : badClaim("done", `return, but it threw: ${thrownText(error)}`, steps);
  }
  if (typeof verdict === "boolean") return verdict;
  throw badClaim("done", `return true or false, got ${kindOf(verdict)}`, steps);
}

function kindOf(verdict: unknown): string {
  if (!isThenable(verdict)) return typeof verdict;
  void Promise.resolve(verdict).catch(() => {});
  return "a promise";
}

function late(claim: keyof Claims, steps: readonly Step[]): UsageError {
  return badClaim(claim, `return within ${PROPERTY_MS / 1_000} seconds, but it did not`, steps);
}

/** The last steps that changed what the property has read. */
function lastReads(steps: readonly Step[], at: number, { readRoles, hasReadMessages, isEnd }: Between): readonly number[] {
  const before = [...steps.keys()].slice(0, at + 1);
  if (isEnd) return before;
  const said = hasReadMessages ? before.filter((index) => (steps[index] as Step).said.length > 0) : [];
  const last = [...readRoles].map((role) =>
    before.findLast((index) => isRead(steps[index] as Step, { roles: new Set([role]), messages: false })),
  );
  return [...said, ...last.filter((index) => index !== undefined)];
}

function flawsAtRest({ steps, result, open, end }: Walk, causes: Causes, all: readonly number[]): readonly Flaw[] {
  const flaws: Flaw[] = result.questions.map(({ role, text }) => ({
    kind: "unanswered",
    text: `${role} asks a person, and gets no answer: ${text}`,
    needs: all,
  }));
  if (end === "waiting") return flaws;
  for (const { message, reason } of result.deadLetters) {
    if (reason.kind !== "failed" && reason.kind !== "no such address") continue;
    const why = reason.kind === "failed" ? `${reason.role} failed on it` : `no role is ${reason.address}`;
    const maker = steps.findIndex(({ said }) => said.some(({ id }) => id === message.id));
    const needs = reason.kind === "failed" || maker === -1 ? all : causes.pastOf([maker]);
    flaws.push({ kind: "lost", text: `${message.causeBy} of ${message.sentFrom} is lost: ${why}.`, needs });
  }
  if (result.dropped > 0) flaws.push({ kind: "lost", text: "A full mailbox dropped a message unread.", needs: all });
  for (const role of open) flaws.push({ kind: "lost", text: `The plan of ${role} has open tasks at the end.`, needs: all });
  for (const { message, to } of unansweredIn(steps))
    flaws.push({ kind: "unanswered", text: `${message.sentFrom} asks ${to} and gets no answer: ${message.content}`, needs: all });
  return flaws;
}

/** Returns the questions, messages to a role that end with a question mark, whose recipient read them and never wrote to the asker. */
function unansweredIn(steps: readonly Step[]): readonly { readonly message: Message; readonly to: string }[] {
  const said = steps.flatMap((step) => step.said);
  const asked = said.filter(({ content, sendTo }) => content.trimEnd().endsWith("?") && !sendTo.includes(ROUTE_TO_ALL));
  return asked.flatMap((message) =>
    message.sendTo.flatMap((to) => {
      const read = steps.findIndex(({ move, isEffective }) => isEffective && move.key === `${message.id} to ${to}`);
      const later = steps.slice(Math.max(read, 0)).flatMap((step) => step.said);
      const isOpen = read >= 0 && to !== message.sentFrom && !later.some((one) => one.sentFrom === to && isFor(one, message.sentFrom));
      return isOpen ? [{ message, to }] : [];
    }),
  );
}

function isFor({ sendTo }: Message, role: string): boolean {
  return sendTo.includes(role) || sendTo.includes(ROUTE_TO_ALL);
}

function badClaim(claim: keyof Claims, what: string, steps: readonly Step[]): UsageError {
  const schedule = steps.map(({ text }) => text);
  const after = schedule.length === 0 ? "" : ` The schedule: ${schedule.join("; ")}.`;
  return new UsageError(
    "EXPLORE_PROPERTY",
    `Expected ${claim === "done" ? claim : "the property"} of explore to ${what}. It is a plain function of the state.${after}`,
    {
      data: { schedule },
    },
  );
}
