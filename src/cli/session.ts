import { resolve } from "node:path";
import { throwIfAborted } from "../kernel/abort.ts";
import { replaceDefaultLogger } from "../kernel/default-logger.ts";
import { ControlError, JournalError, MemoryError, UsageError } from "../kernel/errors.ts";
import { errorLines, type ErrorReport, errorReport } from "./error-report.ts";
import { type ExitCode, exitCodeOfError, interruptionCode } from "./errors.ts";
import { type Host, Interruptions } from "./host.ts";
import type { FolderSettings } from "./model-settings.ts";
import { readFlags } from "./option-values.ts";
import type { Flags } from "./options.ts";
import { JsonLines, Lines } from "./output.ts";
import { bytesText, columnsOf, shown, styleFor, tableLines, type TextStyle, wantsColor } from "./screen/text.ts";
import { Screen } from "./screen/screen.ts";
import { type OutputSettings, outputSettings } from "./settings.ts";
import { writeNewFile } from "./text-file.ts";

export interface Session {
  readonly host: Host;
  readonly settingsFrom: ReadonlyMap<string, string>;
  readonly folder?: FolderSettings | undefined;
  readonly words: readonly string[];
  readonly output: OutputSettings;
  readonly screen: Screen;
  readonly interruptions: Interruptions;
  /** Takes results with `--json`; undefined: they are printed in words. */
  readonly json: JsonLines | undefined;
}

export async function inSession(
  host: Host,
  raw: Readonly<Record<string, unknown>>,
  work: (session: Session, flags: Flags) => Promise<ExitCode | void>,
  words: readonly string[] = [],
): Promise<ExitCode> {
  const output = outputSettings(raw);
  const screen = new Screen(host, output);
  const interruptions = new Interruptions(host);
  const json = output.isJson ? new JsonLines(host.stdout) : undefined;
  // A team of the user's module may have no logger of its own.
  const putBack = replaceDefaultLogger(screen.logger);
  const bare: Session = { host, words, settingsFrom: new Map(), output, screen, interruptions, json };
  let session = bare;
  try {
    const { configured, withEnvironment } = await import("./config.ts");
    const { env, from, folder } = await configured(host);
    session = { ...bare, host: withEnvironment(host, env), settingsFrom: from, folder };
    return (await work(session, readFlags(raw))) ?? 0;
  } catch (error) {
    screen.end();
    const { first } = interruptions;
    if (first !== "pipe") await printError(session, errorReport(error, host.env));
    return first !== undefined && error instanceof ControlError ? interruptionCode(first) : exitCodeOfError(error);
  } finally {
    screen.end();
    interruptions.close();
    putBack();
  }
}

export async function printError({ screen, output, json }: Session, error: ErrorReport): Promise<void> {
  screen.print(errorLines(error, { style: screen.style, isVerbose: output.isVerbose }));
  await json?.write({ type: "error", code: error.code, message: error.message });
}

/** Writes lines to standard output at the pace of its reader. They must be safe for a terminal. */
export async function printLines({ host, interruptions }: Session, lines: AsyncIterable<string> | Iterable<string>): Promise<void> {
  const out = new Lines(host.stdout);
  for await (const line of lines) {
    await out.write(line);
    throwIfAborted(interruptions.signal);
  }
}

interface Export {
  /** A new file; `-` or undefined: standard output. */
  readonly file: string | undefined;
  readonly example: string;
  readonly lines: AsyncIterable<string> | Iterable<string>;
  readonly done: (lines: number) => readonly [sentence: string, facts: object];
}

/** Exports lines. They are unescaped, and a terminal would obey some of them. @throws UsageError `EXPORT_TERMINAL`, `EXPORT_UNWRITABLE` */
export async function exportLines(session: Session, { file, example, lines, done }: Export): Promise<void> {
  const { stdout, cwd } = session.host;
  if (file === undefined || file === "-") {
    if (stdout.isTTY !== true) return printLines(session, lines);
    throw new UsageError("EXPORT_TERMINAL", `Expected a file or a pipe for the export, got a terminal. Name one: ${example}`);
  }
  const path = resolve(cwd, file);
  const [sentence, facts] = done(await writeNewFile(path, lines));
  await report(session, sentence, { type: "exported", ...facts, file: path });
}

/** Prints a result: as one line of JSON with `--json`, else as lines for a person. */
export async function printResult(session: Session, facts: object, lines: (o: TextStyle) => Iterable<string>): Promise<void> {
  await (session.json === undefined ? printLines(session, lines(resultStyle(session))) : session.json.write(facts));
}

interface Table<Row> {
  readonly type: string;
  readonly rows: readonly Row[];
  readonly heads: readonly string[];
  readonly cells: (row: Row) => readonly string[];
  readonly empty: string;
}

export async function printTable<Row extends object>(session: Session, { type, rows, heads, cells, empty }: Table<Row>): Promise<void> {
  if (session.json !== undefined) for (const row of rows) await session.json.write({ type, ...row });
  else if (rows.length === 0) session.screen.say(empty);
  else await printLines(session, tableLines(heads, rows.map(cells), resultStyle(session)));
}

/** Reports what a command did: as one line of JSON with `--json`, else as a sentence on the screen. */
export async function report({ json, screen }: Session, sentence: string, facts: object): Promise<void> {
  if (json === undefined) screen.say(sentence);
  else await json.write(facts);
}

/** Shrinks a store and prints its sizes. A failure is a warning: the removal is done. */
export async function printCompaction(
  { screen, json }: Session,
  compact: () => Promise<{ readonly before: number; readonly after: number }>,
  facts: object,
  done: string,
): Promise<void> {
  const sizes = await compact().catch((error: unknown) => {
    const isUnwritable = error instanceof JournalError || error instanceof MemoryError;
    if (!(isUnwritable && ["JOURNAL_UNWRITABLE", "MEMORY_UNWRITABLE"].includes(error.code))) throw error;
    screen.print([screen.style.warn(`${done}, but the store could not be made smaller: ${shown(error.message, 300)}`)]);
    return { before: null, after: null };
  });
  await json?.write({ type: "compacted", ...facts, ...sizes });
  if (json === undefined && sizes.after !== null)
    screen.say(`${done}; the store has ${bytesText(sizes.after)} now, and had ${bytesText(sizes.before)}.`);
}

export function resultStyle({ host, output }: Pick<Session, "host" | "output">): TextStyle {
  const isTTY = host.stdout.isTTY === true;
  const style = styleFor(wantsColor({ isOff: output.isColorOff, env: host.env, isTTY }));
  return { style, width: isTTY ? columnsOf(host.stdout) - 1 : Infinity };
}
