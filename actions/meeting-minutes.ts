import { z } from "zod";
import type { Message } from "../src/index.ts";
import { asSpeech } from "./prompt.ts";

/** The vote of one who abstains. */
export const NONE = "none";

const ACTS = ["propose", "support", "object", "estimate", "ask", "answer", "pass"] as const;

export const SpokenSchema = z.object({
  act: z.enum(ACTS),
  about: z.string().optional().describe("the id of the proposal, such as p1; or the name of the colleague that you ask or answer"),
  evidence: z.string().optional().describe("what proves an objection: a rule, a line, an example that fails"),
  value: z.number().optional().describe("your estimate"),
  speech: z.string().describe(asSpeech("a proposal is one sentence that can be decided")),
});

const EntrySchema = SpokenSchema.extend({
  /** The id of a proposal. */
  id: z.string().optional(),
  by: z.string(),
  round: z.number(),
});
export type Entry = z.infer<typeof EntrySchema>;

const TurnSchema = z.object({
  kind: z.literal("turn"),
  phase: z.enum(["speak", "vote"]),
  round: z.number(),
  /** The news that called the meeting. */
  about: z.string(),
  asked: z.array(z.string()),
  /** Participants that were retired, or never hired: the meeting decides without them. */
  absent: z.array(z.string()),
  minutes: z.array(EntrySchema),
  calls: z.number(),
});
export type Turn = z.infer<typeof TurnSchema>;

/** True for the payload of the message that opens a meeting. */
export function isOpening(payload: unknown): boolean {
  const { data } = TurnSchema.safeParse(payload);
  return data?.phase === "speak" && data.round === 1;
}

/** The speech of a participant names its vote or its objection, with the reason. */
export function aloud({
  speech,
  act,
  about,
  evidence,
  vote,
}: Partial<Entry> & { readonly speech: string; readonly vote?: string }): string {
  if (vote !== undefined) return `${vote === NONE ? "I abstain" : `I vote for ${vote}`}. ${speech}`;
  if (act === "support" && about !== undefined) return `I support ${about}. ${speech}`;
  return act === "object" ? `I object to ${about}. ${speech} Evidence: ${evidence}` : speech;
}

export function entryLine({ id, by, act, about, evidence, value, speech }: Entry): string {
  const what = `${by} ${act}${about === undefined ? "" : ` ${about}`}${value === undefined ? "" : ` ${value}`}`;
  const line = `- ${id === undefined ? "" : `[${id}] `}${what}: ${speech}${evidence === undefined ? "" : ` Evidence: ${evidence}`}`;
  return line.replace(/\s+/g, " ");
}

export function newestTurn(messages: readonly Message[]): Turn | undefined {
  return TurnSchema.safeParse(messages.findLast(({ instructContent }) => TurnSchema.safeParse(instructContent).success)?.instructContent)
    .data;
}

export function entryIn(payload: unknown): readonly Entry[] {
  const { data } = EntrySchema.safeParse(payload);
  return data === undefined ? [] : [data];
}

export function withIds(minutes: readonly Entry[]): Entry[] {
  let count = 0;
  return minutes.map((entry) => (entry.act === "propose" ? { ...entry, id: `p${(count += 1)}` } : entry));
}

export function proposalsIn(minutes: readonly Entry[]): readonly Entry[] {
  return minutes.filter(({ id }) => id !== undefined);
}

export function wordsLeft({ words }: { readonly words: number }, minutes: readonly Entry[], name: string): number {
  return minutes.reduce((left, { by, speech }) => (by === name ? left - wordsIn(speech).length : left), words);
}

const wordsIn = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

export function firstWords(text: string, most: number): string {
  const all = wordsIn(text);
  return all.length <= most ? text : `${all.slice(0, Math.max(1, most)).join(" ")} …`;
}
