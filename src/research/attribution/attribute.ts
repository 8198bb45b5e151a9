import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { aFunction, aText, takes } from "../../kernel/argument.ts";
import { TroupeError, UsageError } from "../../kernel/errors.ts";
import { canonicalJson, textHash } from "../../kernel/json.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { throwIfAborted } from "../../kernel/abort.ts";
import { defined } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Run, RunEvent, RunResult, Team } from "../../index.ts";
import { type Interval, NORMAL_95, tInterval, wilson } from "../statistics/interval.ts";
import { mean } from "../statistics/sample.ts";
import { type RecordedTurn, turnsOf } from "./turns.ts";

/**
 * A change of the run. `turn`: an activation is done again, and so is what follows from it. `message`: a message has another content or, without
 * content, is never delivered. `prompt`: a role does a turn again in another team, such as one with another prompt, whose name tells it from others.
 */
export type Intervention =
  | { readonly kind: "turn"; readonly act: string }
  | { readonly kind: "message"; readonly seq: number; readonly nth?: number; readonly content?: string }
  | { readonly kind: "prompt"; readonly name: string; readonly act: string; readonly team: (seed: string) => Team };

export interface AttributeOptions {
  /** Makes the team of one sample. All have the journal of the run, and models of the same ids. The seed is for a model that draws, such as an oracle. */
  readonly team: (seed: string) => Team;
  readonly runId: string;
  /** Judges how a run ended: a number, or true for a success. */
  readonly score: (result: RunResult) => number | boolean | Promise<number | boolean>;
  /**
   * `turns`: each turn is done again, but those of step roles that draw nothing, which end in the same way. `messages`: each message between roles
   * is left out. Default `turns`.
   */
  readonly interventions?: "turns" | "messages" | readonly Intervention[];
  /** Forks of each intervention. Default 5. */
  readonly samples?: number;
  /** Limit on the interventions. Default 100. */
  readonly most?: number;
  /** The seed of the samples. Default 1. */
  readonly seed?: string | number;
  readonly signal?: AbortSignal;
}

const attributeOptions: Known<AttributeOptions> = {
  ...kinds.each(kinds.function, "team", "score"),
  runId: kinds.text,
  interventions: kinds.either(kinds.oneOf("turns", "messages"), kinds.list(kinds.object)),
  samples: kinds.size,
  most: kinds.size,
  seed: kinds.seed,
  signal: kinds.signal,
};

/** The effect of one intervention. */
export interface Effect {
  readonly intervention: Intervention;
  /** The role that did the turn or sent the message; undefined for a message from outside. */
  readonly role: string | undefined;
  readonly act: string | undefined;
  /** The mean score of the forks, with its 95 % interval: of Wilson for true and false, else the t interval, which needs the package `jstat`. */
  readonly score: Interval;
  /**
   * How far the mean score exceeds the score of the run and, for a turn, the mean of each turn that follows from it, by what roles read of each
   * other: a repetition of an earlier turn repeats the later ones too, so the last turn whose repetition helps is the one that matters.
   */
  readonly effect: number;
  /** Micro-dollars that the forks paid. */
  readonly paid: number;
}

/** The effects of the interventions in a run, from {@link attribute}. */
export interface Attribution {
  /** The score of the run itself. */
  readonly base: number;
  /** The largest effect first; of equal ones the earliest. */
  readonly effects: readonly Effect[];
  /** The sum of the effects above 0 by role, and for each micro-dollar that its turns had cost; undefined for a role that cost nothing. */
  readonly byRole: Readonly<Record<string, { readonly effect: number; readonly perMicroUsd: number | undefined }>>;
  readonly paid: number;
  /** Interventions beyond `most`, which were not tried. */
  readonly untried: number;
}

/**
 * Finds which turn, message or prompt of a recorded run decided its outcome: forks change one of them at a time, and pay only for what follows
 * from the change. The forks are runs of the journal; a call that is repeated with the same options continues them and pays for none twice.
 *
 * @throws UsageError `ATTRIBUTE_INVALID` for an intervention that the run does not have, and for a score that is no number; `PACKAGE_MISSING`
 * @throws JournalError `RUN_UNKNOWN` where the teams do not have the journal of the run
 * @throws ControlError when the signal aborts
 *
 * @example
 * import { defineRole, memoryJournal, Team } from "troupe";
 * import { attribute, noisyOracle } from "troupe/research";
 *
 * const journal = memoryJournal();
 * const adder = defineRole({ name: "Ada", react: async (rc) => rc.message(await rc.ask("2 + 2?")) });
 * const team = (seed: string) =>
 *   new Team({ roles: [adder], journal, model: noisyOracle({ id: "oracle", seed, accuracy: 0.9, right: () => "4", wrong: () => ["5"] }) });
 * const { runId } = await team("7").run("begin").result;
 * const { effects } = await attribute({ team, runId, score: ({ output }) => output?.content === "4" });
 * console.log(effects[0]?.act); // Ada#0
 */
export async function attribute(o: AttributeOptions): Promise<Attribution> {
  checkGivenOptions("attribute", o, attributeOptions);
  for (const name of ["team", "score"] as const) takes("attribute", name, o[name], aFunction);
  takes("attribute", "runId", o.runId, aText);
  const { runId, samples = 5, most = 100, seed = 1, signal } = o;
  const recorded = o.team("record");
  const events: RunEvent[] = [];
  for await (const event of recorded.journal.read(runId, 0)) events.push(event);
  const turns = turnsOf(events, new Map(await recorded.rolesOf({ runId, signal: signal ?? new AbortController().signal })));
  const chosen = interventionsIn(o.interventions ?? "turns", turns, events);
  const replay = await recorded.replay(runId).result;
  if (replay.error !== undefined && replay.status === "failed" && replay.error.code === "DIFFERENCE") throw replay.error;
  const base = await scoreOf(o, replay);
  const tried: (Omit<Effect, "effect"> & { readonly turn: number })[] = [];
  for (const intervention of chosen.slice(0, most)) {
    const scores: (number | boolean)[] = [];
    let paid = 0;
    for (let sample = 0; sample < samples; sample += 1) {
      throwIfAborted(signal);
      const name = `${seed}-${sample}`;
      const id = `${runId}-${textHash(canonicalJson({ ...intervention, team: undefined })).slice(0, ID_DIGITS)}-${name}`;
      const made = intervention.kind === "prompt" ? intervention.team(name) : o.team(name);
      const run = (await hasRun(made, id)) ? made.resume(id, defined({ signal })) : forked(o, intervention, { made, turns, name, id });
      const result = await run.result;
      throwIfAborted(signal);
      scores.push(await scoreOf(o, result));
      paid += result.cost.known;
    }
    const turn = turns.findIndex((one) => (intervention.kind === "message" ? one.seq === intervention.seq : one.act === intervention.act));
    const { role, act } = turns[turn] ?? {};
    tried.push({ intervention, role, act, turn: intervention.kind === "turn" ? turn : -1, score: await intervalOf(scores), paid });
  }
  return summed({ base: Number(base), tried, turns, untried: Math.max(0, chosen.length - most) });
}

const ID_DIGITS = 12;

interface Tried {
  readonly base: number;
  readonly tried: readonly (Omit<Effect, "effect"> & { readonly turn: number })[];
  readonly turns: readonly RecordedTurn[];
  readonly untried: number;
}

function summed({ base, tried, turns, untried }: Tried): Attribution {
  const values = new Map(tried.filter(({ turn }) => turn >= 0).map(({ turn, score }) => [turn, score.estimate]));
  /** The best mean of what follows from each turn. A reader is later than what it reads. */
  const later: number[] = [];
  for (const [turn, { readers }] of [...turns.entries()].toReversed())
    later[turn] = readers.reduce((best, reader) => Math.max(best, values.get(reader) ?? base, later[reader] ?? base), base);
  const effects = tried
    .map(({ turn, ...one }) => ({ ...one, effect: one.score.estimate - (later[turn] ?? base) }))
    .sort((a, b) => b.effect - a.effect);
  const byRole: Record<string, { effect: number; perMicroUsd: number | undefined }> = {};
  for (const role of new Set(effects.flatMap((one) => one.role ?? []))) {
    const effect = effects.reduce((sum, one) => sum + (one.role === role ? Math.max(0, one.effect) : 0), 0);
    const cost = turns.reduce((sum, turn) => sum + (turn.role === role ? turn.cost : 0), 0);
    byRole[role] = { effect, perMicroUsd: cost === 0 ? undefined : effect / cost };
  }
  return { base, effects, byRole, paid: tried.reduce((sum, { paid }) => sum + paid, 0), untried };
}

function interventionsIn(
  given: "turns" | "messages" | readonly Intervention[],
  turns: readonly RecordedTurn[],
  events: readonly RunEvent[],
): readonly Intervention[] {
  if (given === "turns") return turns.flatMap(({ act, isFixed }) => (isFixed ? [] : [{ kind: "turn", act }]));
  if (given === "messages")
    return turns.flatMap(({ seq, said }) => said.map((_message, nth): Intervention => ({ kind: "message", seq, nth })));
  for (const one of given as readonly Intervention[]) {
    const isKnown =
      one.kind === "message"
        ? hasMessage(events[one.seq], one.nth)
        : turns.some(({ act }) => act === (one as { readonly act?: unknown }).act);
    if (!isKnown)
      throw invalid(
        `a turn or a message of the run (${turns
          .map(({ act }) => act)
          .slice(0, 6)
          .join(", ")} ...)`,
        valueText(one),
      );
  }
  return given as readonly Intervention[];
}

function hasMessage(event: RunEvent | undefined, nth: number = 0): boolean {
  return event?.type === "act.ended" ? nth in event.said : event?.type === "message" && nth === 0;
}

interface ForkedSample {
  readonly made: Team;
  readonly turns: readonly RecordedTurn[];
  readonly name: string;
  readonly id: string;
}

async function hasRun({ journal }: Team, id: string): Promise<boolean> {
  try {
    for await (const _event of journal.read(id, 0)) return true;
    return false;
  } catch (error) {
    if (TroupeError.isInstance(error) && error.code === "RUN_UNKNOWN") return false;
    throw error;
  }
}

function forked({ runId, signal }: AttributeOptions, one: Intervention, { made, turns, name, id }: ForkedSample): Run {
  const options = { id, ...defined({ signal }) };
  if (one.kind === "message") {
    const { seq, nth = 0, content } = one;
    const change = content === undefined ? { seq, nth, drop: true } : { seq, nth, content };
    return made.fork(runId, { ...options, change: [change] });
  }
  const turn = turns.find(({ act }) => act === one.act) as RecordedTurn;
  const other = one.kind === "prompt" ? ({ onTeamChange: "continue" } as const) : {};
  return made.fork(runId, { ...options, ...other, at: turn.before, again: [turn.act], seed: name });
}

async function scoreOf({ score }: AttributeOptions, result: RunResult): Promise<number | boolean> {
  const given = await score(result);
  if (typeof given === "boolean" || (typeof given === "number" && Number.isFinite(given))) return given;
  throw invalid("score to return a finite number, true or false", valueText(given));
}

async function intervalOf(scores: readonly (number | boolean)[]): Promise<Interval> {
  const values = scores.map(Number);
  const estimate = mean(values);
  const n = values.length;
  const rest = { estimate, n, confidence: 0.95 } as const;
  if (scores.every((score) => typeof score === "boolean")) return { ...rest, ...wilson(estimate, n, NORMAL_95), method: "wilson" };
  return n < 2 ? { ...rest, low: -Infinity, high: Infinity, method: "t" } : tInterval(values);
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError("ATTRIBUTE_INVALID", `Expected ${expected}, got ${got}.`);
}
