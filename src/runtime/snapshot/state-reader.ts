import { UsageError } from "../../kernel/errors.ts";
import { deepFreeze, type Json } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { Memory } from "../../memory/memory.ts";
import { frozenMessage, type Message } from "../../message/message.ts";
import { Ledger, SpendingTable } from "../../model/ledger.ts";
import { Plan } from "../../role/plan.ts";
import { failuresIn } from "../record/failed-activation.ts";
import { delayedOf } from "../record/delayed.ts";
import type { HiredRole, Sent, StepStarted } from "../record/event.ts";
import { type ActivationState, NO_RETRY, RareParts, type RetryState, RoleState, type StepOutcome } from "../record/role-state.ts";
import { RunState } from "../record/run-state.ts";
import type { OpenJson, OutcomeJson, RareJson, RetryJson, RoleJson, StepJson } from "./role-json.ts";
import type { CodedMembers, SentJson } from "./state-json.ts";
import type { SnapshotBody } from "./state-schema.ts";
import { NO_CHAT } from "./tables.ts";

/**
 * Returns the state that a snapshot holds.
 *
 * @throws UsageError and others for one that names what it does not have
 */
export function stateFrom(body: SnapshotBody): RunState {
  return new StateReader(body).state();
}

/** Reads one snapshot. It owns the tables by which the parts of the state share their messages and definitions. */
class StateReader {
  readonly #body: SnapshotBody;
  readonly #messages: readonly Message[];
  readonly #definitions: SnapshotBody["definitions"];
  readonly #roles: readonly RoleState[];

  constructor(body: SnapshotBody) {
    this.#body = body;
    this.#messages = body.messages.map(frozenMessage);
    this.#definitions = body.definitions.map((definition) => deepFreeze(definition));
    for (const [, message] of body.chats) deepFreeze(message);
    this.#roles = body.roles.map((role, index) => this.#role(role, index));
  }

  state(): RunState {
    const { state: json } = this.#body;
    const state = new RunState(json.runId, json.hasHistory);
    for (const role of this.#roles) state.roles.set(role.name, role);
    if (state.roles.size !== this.#roles.length) throw missing("roles of different names");
    const unread = this.#roles.reduce((sum, role) => sum + role.waiting, 0);
    const isPrioritized = this.#messages.some(({ priority }) => priority !== undefined);
    return Object.assign(state, deepFreeze(json), this.#coded(json), { unread, isPrioritized });
  }

  #coded(json: CodedMembers): { readonly [M in keyof CodedMembers]: RunState[M] } {
    const message = (place: number): Message => at(this.#messages, place);
    const role = (place: number): RoleState => at(this.#roles, place);
    const told = json.told.map((sent) => this.#sent(sent));
    return {
      team: this.#definitionsAt(json.team),
      ready: new Set(json.ready.map(role)),
      open: new Set(json.open),
      deliveries: this.#messagesAt(json.deliveries),
      pending: json.pending.map(({ order, sent }) => ({ order, sent: this.#sent(sent) })),
      delayed: delayedOf(json.delayed.map((delayed) => ({ ...delayed, sent: this.#sent(delayed.sent) }))),
      held: json.held.map((held) => ({ message: message(held.message), role: role(held.role), order: held.order })),
      blocked: new Map(json.blocked),
      justDropped: json.justDropped.map((dropped) => ({ role: role(dropped.role), message: message(dropped.message) })),
      outputs: this.#messagesAt(json.outputs),
      lastSaid: json.lastSaid === undefined ? undefined : message(json.lastSaid),
      dead: json.dead.map((dead) => ({ message: message(dead.message), reason: dead.reason })),
      ledger: Ledger.fromJSON(json.ledger),
      byRole: SpendingTable.of(json.byRole),
      byModel: SpendingTable.of(json.byModel),
      suspects: new Set(json.suspects),
      allowedTools: new Set(json.allowedTools),
      idea: json.idea === undefined ? undefined : message(json.idea),
      told: new Map(told.map((sent) => [sent.message.id, sent])),
      failures: failuresIn(json.failures),
      actsInTurn: new Map(json.actsInTurn),
      unheard: new Set(json.unheard),
    };
  }

  #role({ name, n, ranIn, first: definition, custom, mailbox, memory, retry, open, rare }: RoleJson, index: number): RoleState {
    const first = at(this.#definitions, definition);
    return RoleState.of({
      ...{ name, index, n, ranIn, first },
      custom: custom === undefined ? first.state : deepFreeze(custom),
      activation: this.#activation(retry, open),
      mailbox: this.#messagesAt(mailbox),
      memory: memory === undefined ? undefined : this.#memory(memory, first.memoryLimit),
      rare: rare && this.#rare(rare),
    });
  }

  #activation(retryJson: RetryJson | undefined, open: OpenJson | undefined): ActivationState {
    const retry = retryJson === undefined ? NO_RETRY : retryOf(retryJson);
    if (open === undefined) return { kind: "waiting", retry };
    const steps = open.steps.map((step) => this.#step(step));
    return { kind: "open", open: { ...open, steps: new Map(steps.map((step) => [step.started.key, step])) }, retry };
  }

  #step({ started, chat, inFlight, paid, answered, outcome }: StepJson) {
    return { started: this.#started(started, chat), inFlight, paid, answered, outcome: outcome && outcomeOf(outcome) };
  }

  #started(started: StepStarted, chat: number | undefined): StepStarted {
    if (chat === undefined) return deepFreeze(started);
    const { request } = started;
    if (!isRecord(request)) throw missing("a request with a conversation");
    return deepFreeze({ ...started, request: { ...request, messages: this.#chat(chat) } as Json });
  }

  #chat(last: number): readonly Json[] {
    const messages: Json[] = [];
    for (let place = last; place !== NO_CHAT;) {
      const [before, message] = at(this.#body.chats, place);
      messages.push(message);
      place = before;
    }
    return messages.reverse();
  }

  #rare({ plan, joins, summary, workingMemory, hiredAgain, turns }: RareJson): RareParts {
    return Object.assign(new RareParts(), {
      plan: Plan.fromJSON(plan),
      joins: deepFreeze(joins),
      summary: deepFreeze(summary),
      workingMemory: workingMemory && this.#memory(workingMemory, undefined),
      hiredAgain: hiredAgain === undefined ? undefined : at(this.#definitions, hiredAgain),
      turns,
    });
  }

  #memory(places: readonly number[], limit: number | undefined): Memory {
    const memory = limit === undefined ? new Memory() : new Memory({ limit });
    for (const place of places) memory.append(at(this.#messages, place));
    return memory;
  }

  #sent(sent: SentJson): Sent {
    return Object.freeze({ ...sent, message: at(this.#messages, sent.message) });
  }

  #messagesAt(places: readonly number[]): Message[] {
    return places.map((place) => at(this.#messages, place));
  }

  #definitionsAt(places: readonly number[]): readonly HiredRole[] {
    return Object.freeze(
      places.map((place) => {
        const definition = at(this.#definitions, place);
        if ("name" in definition) return definition;
        throw missing("roles of a team that have names");
      }),
    );
  }
}

function retryOf(retry: RetryJson): RetryState {
  const carry = retry.carry.map(([key, outcome]): [string, StepOutcome] => [key, outcomeOf(outcome)]);
  return { ...retry, carry: new Map(carry), paid: new Map(retry.paid), retake: retry.retake };
}

function outcomeOf({ ok, value, error, ...more }: OutcomeJson): StepOutcome {
  return deepFreeze({ ok, value, error, ...more });
}

function at<T>(list: readonly T[], place: number): T {
  const item = list[place];
  if (item !== undefined) return item;
  throw missing(`item ${place} of ${list.length}`);
}

function missing(what: string): UsageError {
  return new UsageError("SNAPSHOT_INVALID", `Expected a snapshot with ${what}, got one without.`);
}
