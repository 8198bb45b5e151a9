import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { CellValue } from "../experiment/cell.ts";
import { type MessageSource, type SentMessage, sentMessages } from "./sent-messages.ts";

/** A message as a row of a table: texts and numbers alone. */
export type MessageRow = {
  /** From 0, in the order of the record. */
  readonly place: number;
  readonly id: string;
  /** Milliseconds, from the run's clock. */
  readonly timestamp: number;
  /** The sender; empty for a message from outside. */
  readonly sender: string;
  /** With `per: "recipient"` one recipient, or null where there is none; else a JSON list of all. */
  readonly recipient: string | null;
  readonly recipients: number;
  /** A JSON list of the addresses. */
  readonly addresses: string;
  readonly cause: string;
  readonly role: string;
  /** A JSON list of the ids of the messages it answers. */
  readonly parents: string;
  readonly content: string;
  readonly characters: number;
  /** The payload as JSON; null without one. */
  readonly payload: string | null;
  /** The metadata as JSON. */
  readonly metadata: string;
};

/** The type makes the record complete. */
const own: Readonly<Record<keyof MessageRow, true>> = {
  place: true,
  id: true,
  timestamp: true,
  sender: true,
  recipient: true,
  recipients: true,
  addresses: true,
  cause: true,
  role: true,
  parents: true,
  content: true,
  characters: true,
  payload: true,
  metadata: true,
};
const OWN_COLUMNS: ReadonlySet<string> = new Set(Object.keys(own));

/** Options of the table of messages. All have defaults. */
export interface MessageRowOptions {
  /** A row for each message, or for each recipient of each message. Default `message`. */
  readonly per?: "message" | "recipient";
  /** Columns that every row has besides, such as the parameters and the seed of the run. Default: none. */
  readonly columns?: { readonly [name: string]: CellValue };
}

const messageRowOptions: Known<MessageRowOptions> = {
  per: kinds.oneOf("message", "recipient"),
  columns: kinds.record({
    says: "a text, a number, true, false or null",
    fits: (value) => value === null || ["string", "number", "boolean"].includes(typeof value),
  }),
};

/**
 * Returns messages as rows of a flat table, from messages of a run or from its events, which have the recipients of broadcasts. Write them
 * with `jsonLinesTable`, `csvTable` or `parquetTable`; DuckDB and pandas read all three.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @example
 * import { createMessage } from "troupe";
 * import { csvTable, messageRows } from "troupe/research";
 *
 * const rows = messageRows([createMessage("Hello", { id: "1", sentFrom: "Ann", sendTo: ["Ben"] })], { columns: { seed: 7 } });
 * console.log(csvTable(rows).split(",").slice(0, 3)); // [ 'seed', 'place', 'id' ]
 */
export function messageRows(
  source: MessageSource,
  o: MessageRowOptions = {},
): readonly (MessageRow & { readonly [name: string]: CellValue })[] {
  checkKnownOptions("messageRows", o, messageRowOptions);
  const { per = "message", columns = {} } = o;
  if (per !== "message" && per !== "recipient")
    throw new UsageError("OPTION_INVALID", `Expected the option per of messageRows to be "message" or "recipient", got ${valueText(per)}.`);
  const taken = Object.keys(columns).find((name) => OWN_COLUMNS.has(name));
  if (taken !== undefined)
    throw new UsageError(
      "OPTION_INVALID",
      `Expected other columns of messageRows than those of a message, got ${valueText(taken)}. Rename it.`,
    );
  return sentMessages("messageRows", source).flatMap((sent, place) => {
    const recipients = per === "message" ? [JSON.stringify(sent.to)] : sent.to.length === 0 ? [null] : sent.to;
    return recipients.map((recipient) => ({ ...columns, ...rowOf(sent, place, recipient) }));
  });
}

function rowOf({ message, to }: SentMessage, place: number, recipient: string | null): MessageRow {
  const { id, timestamp, sentFrom, sendTo, causeBy, role, parents, content, instructContent, metadata } = message;
  return {
    place,
    id,
    timestamp,
    sender: sentFrom,
    recipient,
    recipients: to.length,
    addresses: JSON.stringify(sendTo),
    cause: causeBy,
    role,
    parents: JSON.stringify(parents),
    content,
    characters: content.length,
    payload: instructContent === undefined ? null : JSON.stringify(instructContent),
    metadata: JSON.stringify(metadata),
  };
}
