import { z } from "zod";
import { lazily } from "../../kernel/lazily.ts";
import { isList, isRecord, isText } from "../../kernel/value-kind.ts";
import type { Message } from "../../message/message.ts";
import type { LedgerRecord, Spending } from "../../model/ledger.ts";
import type { HiredRole } from "../record/event.ts";
import type { FailedActivation } from "../record/failed-activation.ts";
import type { HiredAs } from "../record/role-state.ts";
import { list, recordedParts } from "../record/event-schema.ts";
import type { LostTry } from "../record/lost-tries.ts";
import type { RoleJson } from "./role-json.ts";
import { roleSchema } from "./role-schema.ts";
import { closed, entries, isTexts, plain, type SchemasOf } from "./schema-parts.ts";
import type { CodedMembers, RunJson, SentJson } from "./state-json.ts";
import { type ChatTurn, NO_CHAT } from "./tables.ts";

/** The body of a snapshot as JSON. */
export interface SnapshotBody {
  readonly v: number;
  /** The hash of the event before it. */
  readonly after: string;
  readonly state: RunJson;
  readonly roles: readonly RoleJson[];
  readonly messages: readonly Message[];
  /** Those of an environment may be shared by many roles, and have no name. */
  readonly definitions: readonly (HiredAs | HiredRole)[];
  readonly chats: readonly ChatTurn[];
}

/** True for the body of a snapshot: each member is there and of its kind. */
export function isSnapshotBody(json: unknown): json is SnapshotBody {
  return schema().safeParse(json).success;
}

const schema = lazily(() => {
  const { text, whole } = plain();
  const { hiredAs, hiredRole } = recordedParts();
  return closed<SnapshotBody>({
    v: whole,
    after: text,
    state: closed<RunJson>({ ...plainMembers(), ...codedMembers() }),
    roles: list(roleSchema()),
    messages: z.custom<readonly Message[]>((value) => isList(value) && value.every(isStoredMessage), "expected messages"),
    definitions: list(z.union([hiredRole, hiredAs]) as unknown as z.ZodType<HiredAs | HiredRole>),
    chats: z.custom<readonly ChatTurn[]>((value) => isList(value) && value.every(isTurn), "expected conversations"),
  });
});

/** There may be many messages, and a schema for each takes ten times as long. */
function isStoredMessage(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { id, content, role, causeBy, sentFrom, sendTo, parents, timestamp, metadata, priority = 0 } = value;
  const areTexts = isText(id) && isText(content) && isText(role) && isText(causeBy) && isText(sentFrom);
  const areNumbers = Number.isFinite(timestamp) && Number.isFinite(priority);
  return areTexts && role !== "" && isTexts(sendTo) && isTexts(parents) && areNumbers && isRecord(metadata);
}

/** A conversation follows one that stands before it. */
function isTurn(value: unknown, nth: number): boolean {
  return isList(value) && value.length === 2 && Number.isInteger(value[0]) && Number(value[0]) >= NO_CHAT && Number(value[0]) < nth;
}

function plainMembers(): SchemasOf<Omit<RunJson, keyof CodedMembers>> {
  const { flag, json, number, text, whole } = plain();
  const { bounds, recordedEdge, scope } = recordedParts();
  return {
    runId: text,
    hasHistory: flag,
    seed: text,
    scheduler: text,
    parameters: json,
    delivery: z.enum(["round", "turn"]),
    clock: z.enum(["rounds", "activations", "time"]),
    arrival: z.enum(["hire", "shuffled", "sender"]),
    pastSeeds: list(closed({ to: whole, seed: text })),
    stage: whole,
    lastActed: number,
    roundStart: closed({ roles: whole, ready: whole }).optional(),
    next: text.optional(),
    budget: whole.optional(),
    bounds,
    about: json,
    scope: scope.optional(),
    erased: flag,
    parent: closed({ runId: text, at: whole }).optional(),
    isAfresh: flag,
    phase: phaseSchema(),
    teamChanges: whole,
    ...turnMembers(),
    ...{ acted: whole, round: whole, tick: number, delays: whole, activations: whole, busiest: whole },
    ...{ delivered: whole, smallestMailbox: whole, dropped: whole, deadBefore: whole },
    lost: list(lostSchema()),
    uncertain: number,
    reused: whole,
    reusedCalls: whole,
    saved: number,
    calls: whole,
    stalled: whole,
    takes: whole,
    outside: whole,
    done: closed({ seq: whole, spent: whole }).optional(),
    seq: whole,
    edges: list(recordedEdge),
    faults: closed({ lost: whole, delayed: whole, copied: whole, rewritten: whole }),
  };
}

function turnMembers(): SchemasOf<Pick<RunJson, "turn" | "turnStart" | "busiestInTurn">> {
  const { number, whole } = plain();
  return {
    turn: z.enum(["at rest", "begins", "under way"]),
    turnStart: closed({ rounds: whole, tick: number, deliveries: whole }).optional(),
    busiestInTurn: whole,
  };
}

function codedMembers(): SchemasOf<CodedMembers> {
  const { number, place, places, text, texts, whole } = plain();
  const sent: z.ZodType<SentJson> = closed<SentJson>({
    message: whole,
    to: texts,
    dead: texts.exactOptional(),
    meant: list(closed({ wrote: text, as: text })).exactOptional(),
    dropped: z.literal(true).exactOptional(),
    due: number.exactOptional(),
    faults: recordedParts().faults.exactOptional(),
  });
  const spendings = entries(text, spendingSchema());
  return {
    deliveries: places,
    team: places,
    ready: places,
    open: texts,
    pending: list(closed({ order: whole, sent })),
    delayed: list(closed({ due: number, nth: whole, order: whole, sent, part: z.literal(true).exactOptional() })),
    held: list(closed({ message: whole, role: whole, order: whole })),
    blocked: entries(whole, whole),
    justDropped: list(closed({ message: whole, role: whole })),
    outputs: places,
    lastSaid: place,
    dead: list(closed({ message: whole, reason: reasonSchema() })),
    ledger: ledgerSchema(),
    byRole: spendings,
    byModel: spendings,
    suspects: texts,
    allowedTools: texts,
    idea: place,
    told: list(sent),
    failures: list(closed<FailedActivation>({ role: text, act: text, attempt: whole, code: text, message: text })),
    actsInTurn: entries(whole, whole),
    unheard: texts,
  };
}

function phaseSchema(): z.ZodType<RunJson["phase"]> {
  const { error } = recordedParts();
  const status = z.enum(["finished", "rounds", "budget", "stopped", "waiting", "failed"]);
  return z.union([
    z.strictObject({ phase: z.literal("running") }),
    z.strictObject({ phase: z.literal("ended"), status, error: error.exactOptional() }),
  ]);
}

function reasonSchema(): z.ZodType<CodedMembers["dead"][number]["reason"]> {
  const { text } = plain();
  const { error } = recordedParts();
  return z.union([
    z.strictObject({ kind: z.literal("no such address"), address: text }),
    z.strictObject({ kind: z.literal("failed"), role: text, error }),
    z.strictObject({ kind: z.literal("retired"), role: text }),
  ]);
}

function ledgerSchema(): z.ZodType<LedgerRecord> {
  const { text, whole } = plain();
  const hold = z.union([z.tuple([text, whole]), z.tuple([text, whole, z.literal("unpriced")])]);
  return closed<LedgerRecord>({ spent: whole, unpriced: whole, usage: usageSchema(), open: list(hold), lost: list(hold).exactOptional() });
}

function lostSchema(): z.ZodType<LostTry> {
  const { number, text, whole } = plain();
  return closed<LostTry>({
    ...{ act: text, key: text, try: whole, hold: whole, at: number },
    model: text.exactOptional(),
    unpriced: z.literal(true).exactOptional(),
    dropsRepeats: whole.exactOptional(),
  });
}

function spendingSchema(): z.ZodType<Spending> {
  const { whole } = plain();
  const cost = z.strictObject({ known: whole, unpriced: whole }) as unknown as z.ZodType<Spending["cost"]>;
  return closed<Spending>({ usage: usageSchema(), cost });
}

function usageSchema(): z.ZodType<LedgerRecord["usage"]> {
  const { flag, number } = plain();
  return closed<LedgerRecord["usage"]>({ inputTokens: number, outputTokens: number, cachedTokens: number, estimated: flag });
}
