import { resumption } from "../runtime/record/apply-steps.ts";
import { aText, takes } from "../kernel/argument.ts";
import { systemClock } from "../kernel/clock.ts";
import { JournalError, UsageError } from "../kernel/errors.ts";
import { jsonRoundTrip } from "../kernel/json.ts";
import { type Mask, masked } from "../kernel/mask.ts";
import { nextSeed } from "../model/meter.ts";
import { defined } from "../kernel/value-kind.ts";
import { shownText, valueText } from "../kernel/value-text.ts";
import type { Message } from "../message/message.ts";
import { assertNotErased } from "../runtime/record/erased-event.ts";
import type { RunEventBody, RunResumed, RunStarted, StepEnded } from "../runtime/record/event.ts";
import { type Journal, readEvents } from "../runtime/record/journal.ts";
import { closedQuestion, pendingQuestions, type RecordedQuestion } from "../runtime/record/questions.ts";
import { isFinished, type RunState } from "../runtime/record/run-state.ts";
import { overdueTries } from "../runtime/record/lost-tries.ts";
import type { ForkAnswers } from "../runtime/replay/fork-answers.ts";
import type { RunResult } from "../runtime/run-result.ts";
import { assertHandoffs } from "../role/handoff.ts";
import { roleSpec } from "../role/role-spec.ts";
import { recordedEdges } from "../runtime/edges/edge-policy.ts";
import { recordedScheduler, schedulerOf, termsOf } from "../runtime/schedulers/scheduler.ts";
import { checkAnswer, faultsText } from "../tool/question-form.ts";
import { boundsChange, boundsNow, continuing, crewOf } from "./bounds.ts";
import { crewWith, hiredBy, admittedChange, changeText, type OnTeamChange, teamDifferences } from "./crew.ts";
import { changeAlone, drive, type TeamRun, resultOfFinished } from "./drive.ts";
import type { RunChange } from "./publishing.ts";
import type { ResumeOptions, RunOptions } from "./team-options.ts";

export function startRun(run: TeamRun & { readonly idea: Message }, o: RunOptions): Promise<RunResult> {
  const { name, options, state, idea } = run;
  const scheduler = schedulerOf(options.scheduler ?? "rounds");
  const arrival = options.delivery === undefined || options.delivery === "hire" ? {} : { arrival: options.delivery };
  Object.assign(state, termsOf(recordedScheduler(scheduler)), arrival);
  state.seed = String(options.seed ?? nextSeed());
  assertHandoffs(
    run.crew.roles.map(([, role]) => roleSpec(role)),
    run.crew.roles.map(([known]) => known),
  );
  const bounds = boundsNow(state, o, options);
  const crew = crewOf(run.crew, bounds);
  const opening: RunStarted = {
    type: "run.started",
    team: name,
    roles: hiredBy(crew),
    seed: state.seed,
    ...recordedScheduler(scheduler),
    ...(options.edges === undefined || options.edges.length === 0 ? {} : { edges: recordedEdges(options.edges) }),
    ...arrival,
    bounds: bounds.recorded,
    ...defined({ budget: crew.budget, about: o.about, scope: o.scope }),
  };
  return drive({ ...run, crew, stopWhen: bounds.stopWhen, opening: [opening], said: [idea], news: [], waits: o.wait });
}

interface ResumedWith {
  /** Events that are recorded before `run.resumed`, such as an answer. */
  readonly first?: readonly RunEventBody[];
  readonly news?: readonly (Message | string)[];
}

export async function resumeRun(given: TeamRun, o: ResumeOptions, { first = [], news = [] }: ResumedWith = {}): Promise<RunResult> {
  const { options, journal, controls, state, idea } = given;
  assertStarted(state, idea !== undefined);
  const run = { ...given, crew: crewWith(state.roles.values(), given.crew) };
  const differences = admittedChange(state, run.crew, o.onTeamChange);
  // A changed team is recorded, so that the next resume finds it.
  const { phase } = state;
  // With another condition, a run continues that its condition has finished.
  const isOpenAgain = o.stopWhen !== undefined && phase.phase === "ended" && phase.stoppedBy !== undefined;
  if (isFinished(state) && !isOpenAgain && news.length === 0 && differences.length === 0) {
    controls.started();
    return resultOfFinished(run);
  }
  assertNotErased(state);
  const { bounds, crew } = continuing(state, run.crew, o, given);
  const present = { ...crew, roles: crew.roles.filter(([name]) => state.roles.get(name)?.isHired !== false) };
  const isSameTeam = teamDifferences(state.team, present).length === 0;
  const opening: RunResumed = {
    ...resumption(state, given.former),
    ...boundsChange(state, bounds, crew),
    ...(isSameTeam ? {} : { roles: hiredBy(present) }),
    ...(o.reuse === "none" ? { afresh: true } : {}),
  };
  const warnings = differences.length === 0 ? [] : [changeText(state.runId, differences)];
  let past: ForkAnswers | undefined;
  if (state.parent !== undefined && !state.isAfresh) {
    // Loaded here because most programs never fork.
    const { recalledAnswers } = await import("./fork.ts");
    past = await recalledAnswers(journal, state, state.parent, controls.signal);
    const gone = `Run ${state.parent.runId}, from which ${state.runId} was forked, is gone or damaged`;
    if (past === undefined) warnings.unshift(`${gone}: what it would have answered is asked and paid again.`);
  }
  const said = state.outside === 0 && idea !== undefined ? [idea] : [];
  const { clock = systemClock, uncertainAfter = Infinity } = options;
  const overdue = overdueTries(state, clock.now() - uncertainAfter);
  return drive({
    ...run,
    crew,
    stopWhen: bounds.stopWhen,
    opening: [...first, ...overdue, opening],
    said,
    news,
    past,
    warnings,
    waits: o.wait,
  });
}

export function changeRun<T>(run: TeamRun, change: RunChange<T>, onTeamChange?: OnTeamChange): Promise<T> {
  const { state } = run;
  assertNotErased(state);
  assertStarted(state, false);
  const crew = crewWith(state.roles.values(), run.crew);
  admittedChange(state, crew, onTeamChange);
  const known = crew.roles.filter(([name]) => state.roles.has(name));
  return changeAlone({ ...run, crew: { ...crew, roles: known } }, change);
}

function assertStarted(state: RunState, hasIdea: boolean): void {
  if (state.parent !== undefined && state.seq <= state.parent.at + 1) {
    throw new JournalError(
      "FORK_CUT",
      `Expected a fork with its whole shared past, but ${state.runId} was stopped while its past was copied. Remove it and fork again.`,
    );
  }
  if (state.outside > 0 || hasIdea) return;
  throw new JournalError(
    "RUN_NOT_STARTED",
    `Expected a run with an idea, but ${state.runId} ended before its idea was recorded. Start it: run(idea, { id }).`,
  );
}

export async function findQuestion(journal: Journal, state: RunState, id: string, signal: AbortSignal): Promise<RecordedQuestion> {
  takes("answer", "questionId", id, aText);
  assertNotErased(state);
  const pending = pendingQuestions(state);
  const meant = pending.filter((question) => id !== "" && question.id.startsWith(id));
  const [question] = meant;
  if (question !== undefined && meant.length === 1) return question;
  throw await closedQuestion(readEvents(journal, state.runId, { signal }), { runId: state.runId, id, waiting: pending });
}

export function answerTo(
  question: RecordedQuestion,
  answer: unknown,
  { mask, now }: { readonly mask: Mask; readonly now: number },
): StepEnded {
  const { act, key, try: nth, id, form, deadline = Infinity, default: byDefault, wait } = question;
  if (wait !== undefined) {
    const todo = wait === "" ? "Let its time pass." : `Signal it: team.signal(runId, ${JSON.stringify(wait)}, value).`;
    throw new UsageError(
      "OPTION_INVALID",
      `Expected a question to a person, got ${id}, which no person answers: ${question.text}. ${todo}`,
    );
  }
  if (form === undefined && typeof answer !== "string")
    throw new UsageError("OPTION_INVALID", `Expected an answer as a string, got ${typeof answer}.`);
  if (deadline <= now && byDefault !== undefined) {
    const time = new Date(deadline);
    const when = Number.isNaN(time.getTime()) ? String(deadline) : time.toISOString();
    throw new JournalError(
      "QUESTION_EXPIRED",
      `Expected an answer to ${id} before its deadline, ${when}. Resume the run: it takes the default, ${shownText(valueText(byDefault))}.`,
    );
  }
  const check = checkAnswer(form, answer);
  if (check.isRight)
    return {
      type: "step.ended",
      act,
      key,
      try: nth,
      ok: true,
      value: masked(mask, jsonRoundTrip(check.value)),
      cost: 0,
      basis: "none",
      at: now,
    };
  throw new UsageError(
    "QUESTION_ANSWER_INVALID",
    `Expected an answer that fits the question ${id}, which stays open. ${faultsText(check.faults)}`,
    { data: { faults: check.faults } },
  );
}
