import type { Document, LineCounter, Node } from "yaml";
import type { z } from "zod";
import { aText, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";
import { faultsOf } from "./form-faults.ts";

export interface CheckedForm<S extends z.ZodType> {
  readonly schema: S;
  readonly name: string;
  readonly code: string;
}

export interface FormFault {
  /** From 1; undefined for a value that was no text. */
  readonly line?: number;
  readonly column?: number;
  /** Such as `roles[0].mode`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** Characters of a text. Files that people write are far smaller. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_FAULTS = 20;

/**
 * Reads a text in YAML 1.2, or JSON, and checks its form. The text is hostile: it may have 256 KiB; aliases, tags of its own, equal keys, keys that
 * are no texts and merge keys are refused.
 *
 * @returns the value as the schema gives it
 * @throws UsageError with the code of the form, and with all faults in `data.faults`: each with line and column, what was expected, what came, and
 * the nearest known word; `ARGUMENT_INVALID` for what is no text
 */
export async function readYaml<S extends z.ZodType>(text: string, form: CheckedForm<S>): Promise<z.infer<S>> {
  takes("readYaml", "name", form.name, aText);
  takes("readYaml", "text", text, aText);
  if (text.length > MAX_CHARACTERS) {
    const message = `Expected at most ${MAX_CHARACTERS} characters, got ${text.length}.`;
    throw formError(form, [{ path: "", message }]);
  }
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const document = parsed(yaml, text, lines, form);
  const broken = [...document.errors, ...document.warnings].map(({ message, pos: [at] }) => ({
    ...placeOf(lines, at),
    path: "",
    message: `Expected YAML, but: ${(message.split("\n", 1)[0] ?? "").slice(0, 300)}`,
  }));
  if (broken.length > 0) throw formError(form, broken);
  const strange = strangeNodes(yaml, document, lines);
  if (strange.length > 0) throw formError(form, strange);
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  const faults = faultsOf(form.schema, value);
  if (faults.kind === "fits") return faults.value;
  throw formError(
    form,
    faults.faults.map(({ at, key, ...fault }) => ({ ...placeOf(lines, offsetOf(yaml, document, at, key)), ...fault })),
  );
}

/** Checks a value that a program made. @throws UsageError as {@link readYaml}, without lines and columns */
export function readForm<S extends z.ZodType>(value: unknown, form: CheckedForm<S>): z.infer<S> {
  const faults = faultsOf(form.schema, value);
  if (faults.kind === "fits") return faults.value;
  throw formError(
    form,
    faults.faults.map(({ path, message }) => ({ path, message })),
  );
}

type Yaml = typeof import("yaml");

function parsed<S extends z.ZodType>(yaml: Yaml, text: string, lineCounter: LineCounter, form: CheckedForm<S>): Document.Parsed {
  try {
    return yaml.parseDocument(text, {
      lineCounter,
      version: "1.2",
      schema: "core",
      merge: false,
      uniqueKeys: true,
      stringKeys: true,
      strict: true,
      prettyErrors: false,
      // "silent" hides that a text has several documents.
      logLevel: "error",
    });
  } catch (cause) {
    // The parser calls itself for each level.
    if (!(cause instanceof RangeError)) throw cause;
    throw formError(form, [{ path: "", message: "Expected fewer levels of lists and mappings within each other." }], cause);
  }
}

/** Aliases let a short text stand for a huge value, and a value behind one has two places. */
function strangeNodes(yaml: Yaml, document: Document.Parsed, lines: LineCounter): FormFault[] {
  const found: FormFault[] = [];
  const add = (at: number | undefined, message: string): void => void found.push({ ...placeOf(lines, at), path: "", message });
  yaml.visit(document, {
    Alias: (_key, { source, range }) => add(range?.[0], `Expected no alias, got *${source}. Write the value again.`),
    Pair: (_key, { key }) => {
      if (yaml.isScalar(key) && key.value === "<<") add(key.range?.[0], "Expected no merge key <<. Write the members.");
    },
  });
  return found;
}

/** The place of a value in the text, or of the nearest value that holds it. */
function offsetOf(yaml: Yaml, document: Document.Parsed, path: readonly PropertyKey[], key: string | undefined): number | undefined {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = (length === 0 ? document.contents : document.getIn(path.slice(0, length), true)) as Node | null | undefined;
    if (node === undefined || node === null) continue;
    const pair =
      length === path.length && yaml.isMap(node) ? node.items.find((one) => yaml.isScalar(one.key) && one.key.value === key) : undefined;
    const found = pair !== undefined && yaml.isScalar(pair.key) ? pair.key : node;
    return found.range?.[0];
  }
  return undefined;
}

function placeOf(lines: LineCounter, offset: number | undefined): Pick<FormFault, "line" | "column"> {
  const { line, col } = lines.linePos(offset ?? 0);
  return line === 0 ? { line: 1, column: 1 } : { line, column: col };
}

function formError<S extends z.ZodType>({ name, code }: CheckedForm<S>, faults: readonly FormFault[], cause?: unknown): UsageError {
  const shown = faults.slice(0, MAX_FAULTS).map(({ line, column, message }) => {
    const place = line === undefined ? name : `${name}:${line}:${column}`;
    return `${place}: ${message}`;
  });
  const more = faults.length > MAX_FAULTS ? [`and ${faults.length - MAX_FAULTS} more`] : [];
  const data = { faults: faults.map((fault) => ({ ...fault })) };
  return new UsageError(code, [...shown, ...more].join("\n"), cause === undefined ? { data } : { data, cause });
}
