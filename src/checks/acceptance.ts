import { z } from "zod";
import { aText, listOf, object, type Shape } from "../kernel/argument.ts";
import { readWrittenCheck } from "./written-check.ts";

/** Milliseconds of the longest wait on a page, and of the longest advance of its clock. */
const MAX_WAIT = 5_000;
const MAX_ADVANCE = 86_400_000;
const MAX_UPLOAD = 1_000_000;

const texts = z.array(z.string()).readonly();
const oneOrMore = z.union([texts, z.string().transform((text): readonly string[] => [text])]);
const pattern = z
  .string()
  .refine((text) => !/^\/.+\/[a-z]+$/s.test(text), {
    error: "write a regular expression without slashes and flags; the flag m is always set",
  })
  .refine(isPattern, { error: "is no regular expression of JavaScript" });

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "m") instanceof RegExp;
  } catch {
    return false;
  }
}

/** A rule for a string. All the given parts must hold. */
const textRule = {
  /** The whole string. One last line break does not count, on a page no white space at the ends. */
  equals: z.string().optional(),
  contains: oneOrMore.optional(),
  lacks: oneOrMore.optional(),
  /** A regular expression of JavaScript, with the flag `m`. */
  matches: pattern.optional(),
};
const TextRuleSchema = z.strictObject(textRule).readonly();

/** A rule for a file after a command: it must be there with such a text, or must be absent. */
const FileRuleSchema = z
  .strictObject({ path: z.string(), absent: z.boolean().optional(), ...textRule })
  .refine(({ absent, path: _path, ...rule }) => absent !== true || Object.keys(rule).length === 0, {
    error: "a file that must be absent has no text; leave out the other rules",
  })
  .readonly();

const fileContent = { path: z.string(), content: z.string().max(MAX_UPLOAD).optional(), base64: z.base64().max(MAX_UPLOAD).optional() };
const EITHER = { error: 'write either "content", a text, or "base64", bytes' };

function isEither({ content, base64 }: { readonly content?: string | undefined; readonly base64?: string | undefined }): boolean {
  return (content === undefined) !== (base64 === undefined);
}

/** A file that a check puts into the copy: its text, or its bytes in base64. */
const GivenFileSchema = z.strictObject(fileContent).refine(isEither, EITHER).readonly();

/** One command of a check. Strict: a rule that were left out because of its name would let a wrong product pass. */
const CommandStepSchema = z
  .strictObject({
    run: z
      .array(z.string(), {
        error: 'expected a program and its arguments as a list, such as ["node", "src/cli.mjs", "2"]; no shell reads them',
      })
      .min(1)
      .transform((words) => words as readonly string[] as readonly [string, ...string[]]),
    stdin: z.string().optional(),
    /** "failure" is any code but 0. An error that no one caught is a crash, and no such failure. Default 0. */
    exit: z.union([z.int(), z.literal("failure")]).optional(),
    stdout: TextRuleSchema.optional(),
    stderr: TextRuleSchema.optional(),
    files: z.array(FileRuleSchema).readonly().optional(),
    expect: z.never({ error: 'a command has no "expect"; write exit, stdout, stderr or files' }).optional(),
  })
  .readonly();

/** One step on a page. An element is named by a CSS selector, or by `text=` and its visible text. */
const PageStepSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("open"), path: z.string().optional() }),
  z.strictObject({ do: z.literal("click"), at: z.string() }),
  z.strictObject({ do: z.literal("type"), at: z.string(), text: z.string() }),
  z.strictObject({ do: z.literal("press"), at: z.string().optional(), key: z.string() }),
  z.strictObject({ do: z.literal("select"), at: z.string(), value: z.string() }),
  z.strictObject({ do: z.literal("drag"), at: z.string(), to: z.string() }),
  z.strictObject({ do: z.literal("wait"), ms: z.number().min(0).max(MAX_WAIT) }),
  z.strictObject({ do: z.literal("reload") }),
  z.strictObject({ do: z.literal("viewport"), width: z.int().min(100).max(4_000), height: z.int().min(100).max(4_000).optional() }),
  /** With one such step in a check, time stands still until a step moves it. */
  z
    .strictObject({
      do: z.literal("clock"),
      set: z.union([z.iso.datetime({ offset: true, local: true }), z.iso.date()]).optional(),
      advance: z.int().min(1).max(MAX_ADVANCE).optional(),
    })
    .refine(({ set, advance }) => (set === undefined) !== (advance === undefined), {
      error: 'write either "set", a time such as 2026-03-01T09:00:00Z, or "advance", milliseconds',
    }),
  z.strictObject({ do: z.literal("upload"), at: z.string(), ...fileContent }).refine(isEither, EITHER),
  /** Local storage: writes a value, or expects one. */
  z
    .strictObject({ do: z.literal("storage"), key: z.string(), set: z.string().optional(), absent: z.boolean().optional(), ...textRule })
    .refine(({ set, absent, do: _do, key: _key, ...rule }) => Object.keys(rule).length === 0 || (set === undefined && absent !== true), {
      error: 'write "set", or "absent", or rules for the value',
    }),
  /** Runs in the page: an expression, or statements with `return`. */
  z.strictObject({ do: z.literal("script"), code: z.string().max(MAX_UPLOAD), value: z.json().optional() }),
  /** The lines that the page printed so far, such as `warning: slow`; and its requests beyond its own files, as `GET https://...`. */
  z.strictObject({ do: z.literal("console"), count: z.int().optional(), ...textRule }),
  z.strictObject({ do: z.literal("requests"), count: z.int().optional(), ...textRule }),
  z.strictObject({
    do: z.literal("expect"),
    at: z.string(),
    count: z.int().optional(),
    visible: z.boolean().optional(),
    value: z.string().optional(),
    ...textRule,
  }),
]);

const checkForms = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("command"),
    /** Files that are put into the copy first. */
    given: z.array(GivenFileSchema).readonly().optional(),
    /** They run one after another in one copy of the project. */
    steps: z.array(CommandStepSchema).min(1).readonly(),
  }),
  z.strictObject({
    kind: z.literal("page"),
    given: z.array(GivenFileSchema).readonly().optional(),
    steps: z.array(PageStepSchema).min(1).readonly(),
  }),
  z.object({ kind: z.literal("judgement"), reason: z.string() }),
]);

/** Reads what a model may write instead where only one meaning is possible, such as a command as one string. */
export const CheckSchema: z.ZodType<Check> = z.preprocess(readWrittenCheck, checkForms);

const criterion = z
  .object({
    /** Such as `A1`. */
    id: z.string().min(1),
    /** P0 must hold, P1 should, P2 may. */
    priority: z.enum(["P0", "P1", "P2"]),
    given: z.string(),
    when: z.string(),
    then: z.string(),
    check: CheckSchema,
  })
  .readonly();
const acceptance = z
  .object({
    /** Decisions made for the user where the requirement is open. */
    assumptions: z.array(z.string()).readonly().default([]),
    criteria: z.array(criterion).min(1).readonly(),
  })
  .readonly();

export type TextRule = z.infer<typeof TextRuleSchema>;
export type FileRule = z.infer<typeof FileRuleSchema>;
export type GivenFile = z.infer<typeof GivenFileSchema>;
export type CommandStep = z.infer<typeof CommandStepSchema>;
export type PageStep = z.infer<typeof PageStepSchema>;
export type Check = z.infer<typeof checkForms>;
/** A criterion by which a product is accepted. */
export type Criterion = z.infer<typeof criterion>;
/** The file `docs/acceptance.json`. */
export type Acceptance = z.infer<typeof acceptance>;

/** Guards a {@link Criterion}. */
export const CriterionSchema: z.ZodType<Criterion> = criterion;
/** Guards an {@link Acceptance}. */
export const AcceptanceSchema: z.ZodType<Acceptance> = acceptance;

export const criteriaShape: Shape = listOf(
  object("a criterion with id and check", { id: aText, check: object("a check", { kind: aText }) }),
);
