import type { OpenActivation, RareParts, RetryState, RoleParts, RoleState, StepOutcome, StepRecord } from "../record/role-state.ts";
import { NO_RETRY } from "../record/role-state.ts";
import type { StartedJson, Tables } from "./tables.ts";

/** The answer of a step as JSON; an error is left out where there is none. */
export type OutcomeJson = Omit<StepOutcome, "error"> & { readonly error?: StepOutcome["error"] };

/** A step as JSON. */
export type StepJson = Omit<StepRecord, "started" | "outcome"> & StartedJson & { readonly outcome?: OutcomeJson | undefined };

/** An open activation as JSON. */
export type OpenJson = Omit<OpenActivation, "steps"> & { readonly steps: readonly StepJson[] };

/** Failed attempts as JSON. */
export type RetryJson = Omit<RetryState, "carry" | "paid" | "retake"> & {
  readonly carry: readonly (readonly [string, OutcomeJson])[];
  readonly paid: readonly (readonly [string, number])[];
  readonly retake?: number | undefined;
};

/** The rare parts of a role as JSON: messages and definitions by their numbers. */
export type RareJson = Omit<RareParts, "plan" | "workingMemory" | "hiredAgain" | "turns"> & {
  readonly plan: ReturnType<RareParts["plan"]["toJSON"]>;
  readonly workingMemory?: readonly number[] | undefined;
  readonly hiredAgain?: number | undefined;
  readonly turns?: readonly number[] | undefined;
};

/** The state of a role as JSON: messages and definitions by their numbers. Its place in the list is its index. */
export type RoleJson = Pick<RoleParts, "name" | "n" | "ranIn"> & {
  readonly first: number;
  /** Left out while it is the one of the first definition. */
  readonly custom?: RoleParts["custom"] | undefined;
  readonly mailbox: readonly number[];
  readonly memory?: readonly number[] | undefined;
  readonly retry?: RetryJson | undefined;
  readonly open?: OpenJson | undefined;
  readonly rare?: RareJson | undefined;
};

/** Fails to compile when the state has a member that its JSON leaves out. */
type Complete<State, JsonForm> = Exclude<keyof State, keyof JsonForm> extends never ? JsonForm : never;

/** Returns the state of a role as JSON. */
export function roleJson(role: RoleState, tables: Tables): RoleJson {
  const { name, n, ranIn, custom, activation, first, mailbox, memory, rare, index: _index } = role.parts();
  return {
    name,
    n,
    ranIn,
    first: tables.definitions.placeOf(first),
    ...(custom === first.state ? {} : { custom }),
    mailbox: tables.messages.placesOf(mailbox),
    ...(memory === undefined ? {} : { memory: tables.messages.placesOf(memory) }),
    ...(activation.retry === NO_RETRY ? {} : { retry: retryJson(activation.retry) }),
    ...(activation.kind === "open" ? { open: openJson(activation.open, tables) } : {}),
    ...(rare === undefined ? {} : { rare: rareJson(rare, tables) }),
  };
}

function rareJson(rare: Readonly<RareParts>, { messages, definitions }: Tables): Complete<RareParts, RareJson> {
  const { plan, joins, summary, workingMemory, hiredAgain, turns } = rare;
  return {
    plan: plan.toJSON(),
    joins,
    summary,
    workingMemory: workingMemory && messages.placesOf(workingMemory),
    hiredAgain: hiredAgain && definitions.placeOf(hiredAgain),
    turns,
  };
}

function openJson(open: OpenActivation, { chats }: Tables): Complete<OpenActivation, OpenJson> {
  const records = Array.from(open.steps.values(), ({ started, inFlight, paid, answered, outcome }): Complete<StepRecord, StepJson> => {
    return { ...chats.without(started), inFlight, paid, answered, outcome };
  });
  return { ...open, steps: records };
}

function retryJson(retry: RetryState): Complete<RetryState, RetryJson> {
  return { ...retry, carry: [...retry.carry], paid: [...retry.paid] };
}
