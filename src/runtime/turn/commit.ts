import type { BudgetPool } from "../../kernel/budget.ts";
import type { Clock } from "../../kernel/clock.ts";
import { ControlError, UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { CancellationScopes } from "../../kernel/cancellation.ts";
import type { Mask } from "../../kernel/mask.ts";
import type { StepDoor, StepPort } from "../../kernel/step.ts";
import { afterFailure, type FailurePolicy } from "../../role/failure-policy.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { Json } from "../../kernel/json.ts";
import type { RoleSummary } from "../../memory/summary-levels.ts";
import { UserRequirement } from "../../message/address.ts";
import { addressedIn, buildMessage, checkFields, type Message, type MessageFields, nameOr } from "../../message/message.ts";
import type { ActEnded, RecordedMemoryOp, StepTrace, Sent } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import type { RunLog } from "../record/run-log.ts";
import { type FailedWork, failureRecord } from "../run-failure.ts";
import type { Answerer } from "../steps/answerer.ts";
import type { BudgetGate } from "../steps/budget-gate.ts";
import type { AnswerSource } from "../steps/answer-source.ts";
import type { ActivationSteps } from "../steps/steps.ts";
import { type EdgeDecisions, isEdgeFailure } from "../edges/edge-policy.ts";
import type { Logger } from "../../kernel/emit.ts";
import { type EffectPort, isUncertain } from "../../kernel/effect.ts";
import type { Engine } from "../engine.ts";
import { type Routed, nearestText } from "../routing/directory.ts";

export interface TurnTools {
  readonly log: RunLog;
  readonly clock: Clock;
  readonly gate: BudgetGate;
  readonly effects: EffectPort;
  readonly outer: StepPort | undefined;
  readonly pools: readonly BudgetPool[];
  readonly past: AnswerSource | undefined;
  readonly mode: StepDoor["mode"];
  readonly mask: Mask;
  readonly answerer: Answerer;
  readonly onFailure: FailurePolicy;
  readonly host: Engine;
  /** Applies the edge policies to messages; undefined if there are none. */
  readonly edges: EdgeDecisions | undefined;
  readonly scopes: CancellationScopes;
  readonly leavesTraces: boolean;
}

export interface StartedAct {
  /** `role#n~attempt` */
  readonly act: string;
  readonly take: number;
  /** Milliseconds: its recorded beginning. */
  readonly at: number;
  readonly teamAt: number;
  /** Milliseconds: its beginning in this process. */
  readonly beganAt: number;
}

export interface Changes {
  readonly said: readonly Sent[];
  readonly memory: readonly RecordedMemoryOp[];
  readonly working: readonly RecordedMemoryOp[];
  readonly state?: ActEnded["state"] | undefined;
  readonly plan?: Json | undefined;
  readonly joins?: ActEnded["joins"] | undefined;
  readonly summary?: RoleSummary | undefined;
}

export type ActivationOutcome =
  | { readonly kind: "done"; readonly changes: Changes }
  | { readonly kind: "failed"; readonly error: unknown; readonly work?: FailedWork };

export type TurnResult =
  | { readonly kind: "ended"; readonly said: readonly Sent[] }
  | { readonly kind: "retried" }
  | ({ readonly kind: "skipped" | "stopped"; readonly error: unknown } & FailedWork)
  | { readonly kind: "suspended"; readonly control: ControlError };

export function recordStart({ log }: TurnTools, role: RoleState, started: StartedAct): void {
  if (role.open !== undefined) return;
  const { act, take, at } = started;
  const attempt = role.retry.failures + 1;
  log.record({ type: "act.started", act, role: role.name, n: role.n, attempt, take, at, ...earlierTeam(log, started) });
}

/** Returns the event member for the team at the start of an activation, if the team has changed since. */
function earlierTeam({ state }: RunLog, { teamAt }: StartedAct): Pick<ActEnded, "teamAt"> {
  return teamAt === state.teamChanges ? NO_CHANGE : { teamAt };
}

const NO_CHANGE = Object.freeze({});

type StepsSummary = Pick<ActivationSteps, "life" | "failedStep">;

export const NO_STEPS: StepsSummary = Object.freeze({ life: Object.freeze({}), failedStep: undefined });

/** Records the end of an attempt: the only way to commit the changes of an activation. */
export function commit(
  tools: TurnTools,
  spec: RoleSpec,
  role: RoleState,
  started: StartedAct,
  outcome: ActivationOutcome,
  steps: StepsSummary = NO_STEPS,
): TurnResult {
  const { log } = tools;
  if (outcome.kind === "done") {
    if (!log.state.isPrioritized)
      for (const { message } of outcome.changes.said) if (message.priority !== undefined) tools.host.recordStarts();
    const { said } = log.record(endedEvent(log, role, started, outcome.changes, steps.life));
    return { kind: "ended", said };
  }
  const { error, work } = outcome;
  if (error instanceof ControlError) return { kind: "suspended", control: error };
  const { act, take, at } = started;
  const then = nextStep(tools, spec, role, take, error);
  log.record({
    type: "act.failed",
    act,
    role: role.name,
    round: log.state.round,
    take,
    ...(role.open === undefined ? { at, ...earlierTeam(log, started) } : {}),
    ...steps.life,
    error: failureRecord(error, tools.mask),
    stepFailed: steps.failedStep !== undefined,
    then,
  });
  if (then === "retry" || then === "isolate") return { kind: "retried" };
  return { kind: then === "dead" ? "skipped" : "stopped", error, ...work };
}

/** Returns the event that ends an activation. Members without a value are left out to keep records small. */
function endedEvent(log: RunLog, role: RoleState, started: StartedAct, changes: Changes, life: StepTrace): ActEnded {
  const { act, take, at, teamAt } = started;
  const { round, teamChanges } = log.state;
  const { said, memory, working, state, plan, joins, summary } = changes;
  const isOpen = role.open !== undefined;
  const event: { -readonly [Member in keyof ActEnded]: ActEnded[Member] } = isOpen
    ? { type: "act.ended", act, role: role.name, round, take, said, memory, working }
    : { type: "act.ended", act, role: role.name, round, take, at, said, memory, working };
  if (!isOpen && teamAt !== teamChanges) event.teamAt = teamAt;
  if (state !== undefined) event.state = state;
  if (plan !== undefined) event.plan = plan;
  if (joins !== undefined) event.joins = joins;
  if (summary !== undefined) event.summary = summary;
  return life === NO_STEPS.life ? event : { ...event, ...life };
}

function nextStep(
  { onFailure }: TurnTools,
  spec: RoleSpec,
  role: RoleState,
  take: number,
  error: unknown,
): "retry" | "isolate" | "dead" | "stop" {
  const policy = afterFailure(spec.role.onFailure ?? onFailure, role.retry.strikes + 1);
  const next = policy === "dead" && take > 1 ? "isolate" : policy;
  // An uncertain step is tried again only after a person has checked it and resumed the run.
  if (isEdgeFailure(error)) return "stop";
  return next !== "dead" && isUncertain(error) ? "stop" : next;
}

export function missingDeps(role: string): never {
  throw new UsageError(
    "DEPS_MISSING",
    `Expected the team or the environment of ${role} to have deps, because ${role} asks for them, got none. Give new Team({ deps: { ... } }).`,
  );
}

export function loggerOf(host: Engine, role: string): Logger {
  const { logger } = host;
  return {
    debug: (text) => logger.debug(text),
    info: (text) => logger.info(text),
    warn: (text) => host.warn(role, text),
    error: (text) => logger.error(text),
  };
}

/** @throws UsageError `ADDRESS_UNKNOWN` for addresses that no role has, if a message to them fails */
export function assertNotDead(
  { failsOnDead, directory }: Pick<Engine, "failsOnDead" | "directory">,
  name: string,
  [dead]: readonly string[],
): void {
  if (!failsOnDead || dead === undefined) return;
  throw new UsageError(
    "ADDRESS_UNKNOWN",
    `Expected ${name} to send to an address that a role has, got ${valueText(dead)}.${nearestText(directory.nearest(dead))}`,
    { data: { address: dead, nearest: directory.nearest(dead) } },
  );
}

export function routedBy(fields: MessageFields, cause: string, sender: string): Routed {
  const { causeBy, sentFrom } = fields;
  return {
    sendTo: addressedIn(fields),
    causeBy: causeBy === undefined ? cause : nameOr(causeBy, UserRequirement.name),
    sentFrom: sentFrom === undefined ? sender : nameOr(sentFrom, ""),
  };
}

/** Returns the frozen parents that the fields of a message name; undefined if they name none. */
export function parentsIn({ parents }: MessageFields): readonly string[] | undefined {
  return parents === undefined || parents === null ? undefined : Object.freeze([...parents]);
}

/** Makes message number `nth` of the present activation of a role from resolved values and the remaining `fields`. */
export function messageOf<P>(
  { state, messageLimit: usual }: Engine,
  { name, n }: RoleState,
  nth: number,
  content: string,
  fields: MessageFields<P>,
  { causeBy, sentFrom, sendTo }: Routed,
  parents: readonly string[],
  at: number,
): Message<P> {
  const { messageLimit = usual } = state.bounds;
  if (typeof content === "string" && content.length > messageLimit) {
    throw new UsageError(
      "MESSAGE_TOO_LONG",
      `Expected a message of at most ${messageLimit} characters from ${name}, got ${content.length}. Write large results to a file and say where it is.`,
    );
  }
  checkFields(fields);
  const id = `${name}#${n}.${nth}`;
  return buildMessage(content, fields, id, fields.role ?? "assistant", causeBy, sentFrom, sendTo, parents, at);
}
