import { z } from "zod";
import { parsedJson } from "../kernel/json.ts";

/** How a page opened without steps. */
export interface Opening {
  /** Why the page cannot be used, or shows nothing. */
  readonly fault?: string | undefined;
  /** True when it could not be opened at all. */
  readonly isDead: boolean;
  readonly errors: readonly string[];
  readonly notes: readonly string[];
  /** PNG in base64. */
  readonly picture?: string | undefined;
}

/** The result of the steps of one criterion. */
export interface StepsResult {
  readonly id: string;
  readonly outcome: "proven" | "failed" | "not checked";
  readonly evidence: string;
  readonly errors: readonly string[];
  readonly notes: readonly string[];
}

const line = z.string().max(2_000);
const lines = z.array(line).max(50);
const opened = { fault: line.optional(), isDead: z.boolean(), errors: lines, notes: lines, picture: z.base64().max(3_000_000).optional() };
const result = {
  id: z.string(),
  outcome: z.enum(["proven", "failed", "not checked"]),
  evidence: line,
  errors: lines.default([]),
  notes: lines.default([]),
};

const Event = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("started"), means: z.string().max(100) }),
  z.object({ kind: z.literal("opened"), ...opened }),
  z.object({ kind: z.literal("begun"), id: z.string() }),
  z.object({ kind: z.literal("result"), ...result }),
  z.object({ kind: z.literal("done") }),
  z.object({ kind: z.literal("trouble"), reason: line }),
]);

/** The report of the page driver in one run. */
export interface PageRecord {
  readonly means: string | undefined;
  readonly opened: Opening | undefined;
  readonly results: readonly StepsResult[];
  /** The criterion that was begun and has no result. */
  readonly begun: string | undefined;
  readonly isDone: boolean;
  /** Why the driver could not go on. */
  readonly trouble: string | undefined;
}

/** Reads the driver's lines. What does not begin with the nonce, or has another form, is no line of the driver. */
export function readPageRecord(stdout: string, nonce: string): PageRecord {
  const told = stdout.split("\n").filter((text) => text.startsWith(`${nonce} `));
  const read = told.map((text) => Event.safeParse(parsedJson(text.slice(nonce.length + 1))));
  const events = read.filter((one) => one.success).map((one) => one.data);
  const results = events.filter((event) => event.kind === "result");
  const last = events.findLast((event) => event.kind === "begun")?.id;
  return {
    means: events.find((event) => event.kind === "started")?.means,
    opened: events.find((event) => event.kind === "opened"),
    results,
    begun: results.some(({ id }) => id === last) ? undefined : last,
    isDone: events.some((event) => event.kind === "done"),
    trouble: events.find((event) => event.kind === "trouble")?.reason,
  };
}
