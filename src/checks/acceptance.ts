import { z } from "zod";
import { aText, listOf, object, type Shape } from "../kernel/argument.ts";
import { readWrittenCheck } from "./written-check.ts";

/** The priority of an acceptance criterion: P0 must hold, P1 should, P2 may. */
export type Priority = "P0" | "P1" | "P2";

/** A rule for a text. All the given parts must hold. */
export interface TextRule {
  /** The whole string. One last line break does not count, on a page no white space at the ends. */
  readonly equals?: string | undefined;
  readonly contains?: readonly string[] | undefined;
  readonly lacks?: readonly string[] | undefined;
  /** A regular expression of JavaScript, with the flag `m`. */
  readonly matches?: string | undefined;
}

/** A rule for a file after a command: it must be there with such a text, or must be absent. */
export interface FileRule extends TextRule {
  readonly path: string;
  /** True: it must not be there; then no other rule is given. Default false. */
  readonly absent?: boolean | undefined;
}

/** A file that a check puts into the copy: its text, or its bytes in base64. */
export type GivenFile = { readonly path: string } & (
  | { readonly content: string; readonly base64?: undefined }
  | { readonly base64: string; readonly content?: undefined }
);

/** One command of a check. The commands of one check run one after another in one copy of the project. */
export interface CommandStep {
  readonly run: readonly [string, ...string[]];
  /** Text on standard input. Default: none. */
  readonly stdin?: string | undefined;
  /** The exit code; "failure" is any but 0. An error that no one caught is a crash, and no such failure. Default 0. */
  readonly exit?: number | "failure" | undefined;
  readonly stdout?: TextRule | undefined;
  readonly stderr?: TextRule | undefined;
  readonly files?: readonly FileRule[] | undefined;
}

/** One step on a page. An element is named by a CSS selector, or by `text=` and its visible text. */
export type PageStep =
  | { readonly do: "open"; readonly path?: string | undefined }
  | { readonly do: "click"; readonly at: string }
  | { readonly do: "type"; readonly at: string; readonly text: string }
  | { readonly do: "press"; readonly at?: string | undefined; readonly key: string }
  | { readonly do: "select"; readonly at: string; readonly value: string }
  | { readonly do: "drag"; readonly at: string; readonly to: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "reload" }
  | ({
      readonly do: "expect";
      readonly at: string;
      readonly count?: number | undefined;
      readonly visible?: boolean | undefined;
      readonly value?: string | undefined;
    } & TextRule);

/** The way in which a criterion is checked. */
export type Check =
  | {
      readonly kind: "command";
      /** Files that are put into the copy first. */
      readonly given?: readonly GivenFile[] | undefined;
      readonly steps: readonly CommandStep[];
    }
  | { readonly kind: "page"; readonly steps: readonly PageStep[] }
  | { readonly kind: "judgement"; readonly reason: string };

/** A criterion by which a product is accepted. */
export interface Criterion {
  /** Such as `A1`. */
  readonly id: string;
  readonly priority: Priority;
  readonly given: string;
  readonly when: string;
  readonly then: string;
  readonly check: Check;
}

/** The file `docs/acceptance.json`. */
export interface Acceptance {
  readonly assumptions: readonly string[];
  readonly criteria: readonly Criterion[];
}

/** The shape of criteria. Their checks have the form that `CriterionSchema` reads. */
export const criteriaShape: Shape = listOf(
  object("a criterion with id and check", { id: aText, check: object("a check", { kind: aText }) }),
);

const texts = z.array(z.string());
const pattern = z
  .string()
  .refine((text) => !/^\/.+\/[a-z]+$/s.test(text), {
    error: "write a regular expression without slashes and flags; the flag m is always set",
  })
  .refine(isPattern, { error: "is no regular expression of JavaScript" });
const textRule = {
  equals: z.string().optional(),
  contains: z.union([texts, z.string().transform((text) => [text])]).optional(),
  lacks: z.union([texts, z.string().transform((text) => [text])]).optional(),
  matches: pattern.optional(),
};

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "m") instanceof RegExp;
  } catch {
    return false;
  }
}

const FileRuleSchema = z
  .strictObject({ path: z.string(), absent: z.boolean().optional(), ...textRule })
  .refine(({ absent, path: _path, ...rule }) => absent !== true || Object.keys(rule).length === 0, {
    error: "a file that must be absent has no text; leave out the other rules",
  });

const GivenFileSchema = z
  .strictObject({ path: z.string(), content: z.string().optional(), base64: z.base64().optional() })
  .refine(({ content, base64 }) => (content === undefined) !== (base64 === undefined), {
    error: 'write either "content", a text, or "base64", bytes',
  })
  .transform((file) => file as GivenFile);

// Strict: a rule that were left out because of its name would let a wrong product pass.
const CommandStepSchema = z.strictObject({
  run: z
    .array(z.string(), {
      error: 'expected a program and its arguments as a list, such as ["node", "src/cli.mjs", "2"]; no shell reads them',
    })
    .min(1)
    .transform((words) => words as [string, ...string[]]),
  stdin: z.string().optional(),
  exit: z.union([z.int(), z.literal("failure")]).optional(),
  stdout: z.strictObject(textRule).optional(),
  stderr: z.strictObject(textRule).optional(),
  files: z.array(FileRuleSchema).optional(),
  expect: z.never({ error: 'a command has no "expect"; write exit, stdout, stderr or files' }).optional(),
});

const LONGEST_WAIT = 5_000;

const PageStepSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("open"), path: z.string().optional() }),
  z.strictObject({ do: z.literal("click"), at: z.string() }),
  z.strictObject({ do: z.literal("type"), at: z.string(), text: z.string() }),
  z.strictObject({ do: z.literal("press"), at: z.string().optional(), key: z.string() }),
  z.strictObject({ do: z.literal("select"), at: z.string(), value: z.string() }),
  z.strictObject({ do: z.literal("drag"), at: z.string(), to: z.string() }),
  z.strictObject({ do: z.literal("wait"), ms: z.number().min(0).max(LONGEST_WAIT) }),
  z.strictObject({ do: z.literal("reload") }),
  z.strictObject({
    do: z.literal("expect"),
    at: z.string(),
    count: z.int().optional(),
    visible: z.boolean().optional(),
    value: z.string().optional(),
    ...textRule,
  }),
]);

/** Guards a {@link Check}. It reads what a model may write instead where only one meaning is possible, such as a command as one text. */
export const CheckSchema: z.ZodType<Check> = z.preprocess(
  readWrittenCheck,
  z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("command"),
      given: z.array(GivenFileSchema).optional(),
      steps: z.array(CommandStepSchema).min(1),
    }),
    z.strictObject({ kind: z.literal("page"), steps: z.array(PageStepSchema).min(1) }),
    z.object({ kind: z.literal("judgement"), reason: z.string() }),
  ]),
);

/** Guards a {@link Criterion}. */
export const CriterionSchema: z.ZodType<Criterion> = z.object({
  id: z.string().min(1),
  priority: z.enum(["P0", "P1", "P2"]),
  given: z.string(),
  when: z.string(),
  then: z.string(),
  check: CheckSchema,
});

/** Guards an {@link Acceptance}. */
export const AcceptanceSchema: z.ZodType<Acceptance> = z.object({
  assumptions: z.array(z.string()).default([]),
  criteria: z.array(CriterionSchema).min(1),
});
