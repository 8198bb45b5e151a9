import { z } from "zod";
import type { Usage } from "../../model/chat-model.ts";
import type { PlanJson } from "../../role/plan.ts";
import { list, parseEvent, record, recordedParts } from "../record/event-schema.ts";
import type { StepStarted } from "../record/event.ts";
import type { OpenJson, OutcomeJson, RareJson, RetryJson, RoleJson, StepJson } from "./role-json.ts";
import { closed, entries, plain } from "./schema-parts.ts";

/** Returns the schema of the state of a role. */
export function roleSchema(): z.ZodType<RoleJson> {
  const { whole, number, text, jsonRecord, places } = plain();
  return closed<RoleJson>({
    name: text,
    n: whole,
    ranIn: number,
    first: whole,
    custom: jsonRecord.optional(),
    mailbox: places,
    memory: places.optional(),
    retry: retrySchema().optional(),
    open: openSchema().optional(),
    rare: rareSchema().optional(),
  });
}

function rareSchema(): z.ZodType<RareJson> {
  const { text, texts, whole, place, places, jsonRecord } = plain();
  return closed<RareJson>({
    // A plan checks itself when it is made.
    plan: jsonRecord as unknown as z.ZodType<PlanJson>,
    joins: record(record(text)),
    summary: closed({ oldest: text, older: texts, recent: texts, covered: texts, waits: whole.exactOptional() }),
    workingMemory: places.optional(),
    hiredAgain: place,
    turns: places.optional(),
  });
}

function retrySchema(): z.ZodType<RetryJson> {
  const { text, whole, number } = plain();
  return closed<RetryJson>({
    failures: whole,
    strikes: whole,
    isolated: number,
    carry: entries(text, outcomeSchema()),
    paid: entries(text, whole),
    retake: whole.optional(),
  });
}

function openSchema(): z.ZodType<OpenJson> {
  const { text, whole, number, flag } = plain();
  return closed<OpenJson>({
    act: text,
    attempt: whole,
    take: whole,
    at: number,
    teamAt: whole,
    steps: list(stepSchema()),
    crashes: whole,
    deaths: whole,
    isUnderWay: flag,
  });
}

function stepSchema(): z.ZodType<StepJson> {
  const { whole, flag, place } = plain();
  return closed<StepJson>({
    started: z.custom<StepStarted>(isStepStarted, "expected the start of a step"),
    chat: place,
    inFlight: flag,
    paid: whole,
    answered: whole,
    outcome: outcomeSchema().optional(),
  });
}

function isStepStarted(value: unknown): boolean {
  try {
    return parseEvent(value).type === "step.started";
  } catch {
    return false;
  }
}

function outcomeSchema(): z.ZodType<OutcomeJson> {
  const { flag, json, number, whole } = plain();
  const { error } = recordedParts();
  const usage = closed<Usage>({
    ...{ inputTokens: number, outputTokens: number },
    ...{ cachedTokens: number.exactOptional(), estimated: flag.exactOptional() },
  });
  return closed<OutcomeJson>({
    ok: flag,
    value: json,
    error: error.optional(),
    at: number,
    teamAt: whole,
    byDeadline: z.literal(true).exactOptional(),
    saved: whole.exactOptional(),
    inside: closed({ cost: z.int(), usage: usage.exactOptional() }).exactOptional(),
  });
}
