import { isObject } from "../../kernel/value-kind.ts";
import { createHash } from "node:crypto";
import { z } from "zod";
import { JournalError } from "../../kernel/errors.ts";
import { deepFreeze } from "../../kernel/json.ts";
import { lazily } from "../../kernel/lazily.ts";
import { apply } from "./apply.ts";
import { EVENT_VERSION, type RunEvent } from "./event.ts";
import { parseEvent } from "./event-schema.ts";
import { RunState } from "./run-state.ts";
import { shownText } from "./shown-text.ts";

/** Most characters of a line. An event is one line, and the longest answer of a model fits in half of it. */
const MAX_LINE: number = 64 * 1024 * 1024;

const headerSchema = lazily(() =>
  z.object({
    troupe: z.literal("run"),
    v: z.int().positive(),
    runId: z.string().min(1).max(1_000),
    events: z.int().nonnegative(),
  }),
);

const endSchema = lazily(() => z.strictObject({ troupe: z.literal("end"), events: z.int().nonnegative(), sha256: z.string().length(64) }));

type Header = z.infer<ReturnType<typeof headerSchema>>;

/**
 * Reads an export line by line, and lets nothing pass that is not whole. It owns how far it has come, the hash over what it read, and
 * the state that the events lead to.
 *
 * X1 the header comes first, then exactly as many events as it says, then the end. X2 every event is one by its schema, belongs to the
 * run of the header and fits what was before. X3 the end's hash is that of the lines of events. X4 a last line that is broken is a cut,
 * any other a fault.
 */
export class ExportReader {
  readonly #hash = createHash("sha256");
  #header: Header | undefined;
  #state: RunState = new RunState("");
  #lines = 0;
  #isEnded = false;
  /** A line that is no JSON: where the text was cut, unless another one follows. */
  #broken: { readonly error: unknown } | undefined;

  /** The run's id, once the header was read. */
  get runId(): string | undefined {
    return this.#header?.runId;
  }

  /** Takes the next line, and gives back its event if it has one. @throws JournalError see `importRun` */
  read(line: string): RunEvent | undefined {
    const text = line.replace(/\r?\n$/, "");
    if (text.trim() === "") return undefined;
    if (text.length > MAX_LINE) throw tooLong();
    if (this.#broken !== undefined) throw this.#invalid("a line that is no JSON", this.#broken.error);
    this.#lines += 1;
    if (this.#isEnded) throw this.#invalid("more after its end");
    const json = this.#parsed(text);
    if (json === undefined) return undefined;
    if (this.#header === undefined) return this.#begin(json);
    return isEnd(json) ? this.#finish(json, this.#header) : this.#event(json, text, this.#header);
  }

  /** No line follows. @throws JournalError `EXPORT_CUT`, `EXPORT_INVALID` */
  end(): void {
    if (this.#isEnded) return;
    if (this.#header === undefined)
      throw this.#invalid(this.#lines === 0 ? "nothing" : "a first line that is no JSON", this.#broken?.error);
    const { seq } = this.#state;
    const intact = seq === 0 ? "no event is whole" : `events 0 to ${seq - 1} are whole`;
    throw new JournalError(
      "EXPORT_CUT",
      `Expected an export of ${this.#header.events} events and its end, got one that was cut: ${intact}. Export the run again.`,
      { data: { intact: seq, events: this.#header.events } },
    );
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      this.#broken = { error };
      return undefined;
    }
  }

  #begin(json: unknown): undefined {
    const parsed = headerSchema().safeParse(json);
    if (!parsed.success) throw this.#invalid(`a first line that is no header: ${shownText(z.prettifyError(parsed.error))}`);
    const header = parsed.data;
    if (header.v > EVENT_VERSION) {
      throw new JournalError(
        "EVENT_NEWER",
        `Expected an export of version ${EVENT_VERSION} or older, got one of version ${header.v}. Update this program to read the run.`,
        { data: { version: header.v } },
      );
    }
    this.#header = header;
    this.#state = new RunState(header.runId);
  }

  #event(json: unknown, text: string, { events }: Header): RunEvent {
    const event = deepFreeze(parseEvent(json));
    const { seq } = this.#state;
    if (seq === events) throw this.#invalid(`more than the ${events} events it tells of`);
    if (seq === 0 && event.type !== "run.started") throw this.#invalid(`${event.type} as the first event`);
    try {
      apply(this.#state, event);
    } catch (error) {
      if (!(error instanceof JournalError)) throw error;
      throw new JournalError(error.code, `${error.message} It is line ${this.#lines} of the export.`, { cause: error });
    }
    this.#hash.update(`${text}\n`);
    return event;
  }

  #finish(json: unknown, { events }: Header): undefined {
    const parsed = endSchema().safeParse(json);
    if (!parsed.success) throw this.#invalid(`an end that is none: ${shownText(z.prettifyError(parsed.error))}`);
    const { seq } = this.#state;
    if (seq !== events || parsed.data.events !== events)
      throw this.#invalid(`${seq} events, where its header tells of ${events} and its end of ${parsed.data.events}`);
    if (parsed.data.sha256 !== this.#hash.digest("hex")) throw this.#invalid("lines of events that its hash is not over");
    this.#isEnded = true;
  }

  #invalid(came: string, cause?: unknown): JournalError {
    const advice = "It is another file, or somebody changed it: export the run again.";
    return new JournalError(
      "EXPORT_INVALID",
      `Expected an export of a run, got ${came}, at line ${Math.max(1, this.#lines)}. ${advice}`,
      cause === undefined ? { data: { line: this.#lines } } : { data: { line: this.#lines }, cause },
    );
  }
}

/**
 * The lines of a text that comes in pieces, such as a file that is read.
 *
 * @throws JournalError `EXPORT_INVALID` for a line that is longer than any of an export, before it is all in memory
 */
export async function* linesOf(pieces: AsyncIterable<string> | Iterable<string>): AsyncIterable<string> {
  let open: string[] = [];
  let length = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (let end = piece.indexOf("\n"); end !== -1; end = piece.indexOf("\n", from)) {
      open.push(piece.slice(from, end));
      yield open.join("");
      open = [];
      length = 0;
      from = end + 1;
    }
    open.push(piece.slice(from));
    length += piece.length - from;
    if (length > MAX_LINE) throw tooLong();
  }
  if (length > 0) yield open.join("");
}

function isEnd(json: unknown): boolean {
  return isObject(json) && Object.hasOwn(json, "troupe");
}

function tooLong(): JournalError {
  return new JournalError(
    "EXPORT_INVALID",
    `Expected lines of at most ${MAX_LINE} characters, got a longer one. This is no export of a run.`,
  );
}
