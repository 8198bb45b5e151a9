import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { type Message, MessageSchema, serializeMessage } from "../message/message.ts";
import type { SummaryLevels } from "./summary-levels.ts";

/** What a brain memory holds, as it is stored. */
export interface BrainState {
  readonly history: readonly Message[];
  readonly knowledge: readonly Message[];
  readonly levels: SummaryLevels;
  /** Ids of the messages that were summed up last, oldest first: said again, they are not new. */
  readonly covered: readonly string[];
  readonly lastTalk: string | undefined;
}

const VERSION = 1;
/** Ids of summed-up messages that are remembered. */
export const MOST_COVERED = 100;

const stateSchema = lazily(() =>
  z.object({
    v: z.literal(VERSION),
    history: z.array(MessageSchema),
    knowledge: z.array(MessageSchema),
    levels: z.object({ oldest: z.string(), older: z.array(z.string()), recent: z.array(z.string()) }),
    covered: z.array(z.string()),
    lastTalk: z.string().optional(),
  }),
);

/** The wire form. */
export type BrainJson = ReturnType<typeof brainJson>;

/** A state as plain JSON, with the version of its form. */
export function brainJson({ history, knowledge, levels, covered, lastTalk }: BrainState): {
  readonly v: number;
  readonly history: readonly ReturnType<typeof serializeMessage>[];
  readonly knowledge: readonly ReturnType<typeof serializeMessage>[];
  readonly levels: SummaryLevels;
  readonly covered: readonly string[];
  readonly lastTalk?: string;
} {
  return {
    v: VERSION,
    history: history.map(serializeMessage),
    knowledge: knowledge.map(serializeMessage),
    levels,
    covered,
    ...(lastTalk === undefined ? {} : { lastTalk }),
  };
}

/**
 * Reads what {@link brainJson} wrote; a text when it is something else, which says what.
 *
 * @throws UsageError `BRAIN_NEWER` when a newer version of this package wrote it.
 */
export function readBrainState(text: string): BrainState | string {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "it is no JSON";
  }
  const version = (json as { readonly v?: unknown } | null)?.v;
  if (typeof version === "number" && version > VERSION) {
    throw new UsageError(
      "BRAIN_NEWER",
      `Expected a brain memory of version ${VERSION} at most, got ${version}. Update this program; until then it is left as it is.`,
    );
  }
  const parsed = stateSchema().safeParse(json);
  if (!parsed.success) return `it is no brain memory: ${z.prettifyError(parsed.error)}`;
  const { v: _version, ...state } = parsed.data;
  return { ...state, lastTalk: state.lastTalk };
}
