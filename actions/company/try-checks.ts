import type { Criterion, TextRule } from "../../src/checks/acceptance.ts";
import { type ActionContext, TroupeError } from "../../src/index.ts";
import { z } from "zod";
import { bullets } from "../markdown.ts";
import { companyPrompt, type PromptPart } from "../prompt.ts";
import { WrittenCheckSchema } from "./check-forms.ts";
import type { ProjectGate } from "./project-gate.ts";
import { renderCriteria } from "./work-order.ts";

/** Criteria as they were written, and what those who work them out a second time may see besides. */
export interface ChecksToTry {
  readonly gate: ProjectGate;
  readonly criteria: readonly Criterion[];
  /** With the user's first words all prompts about them begin. */
  readonly shared: readonly PromptPart[];
  readonly words: readonly PromptPart[];
  readonly assumptions: readonly string[];
}

/** Criteria that can fail. `told`: what the user must know of those that could not be mended. */
export interface TriedChecks {
  readonly criteria: readonly Criterion[];
  readonly told: readonly string[];
}

const DERIVE = `A product will do what the user's words say. Work out what it prints when these commands run. Each criterion begins with the project and its files; its steps run one after another. Give the whole text of each wanted output, worked out by hand; null where the words leave open what is printed or how it is written.`;

const DerivedSchema = z.object({
  outputs: z.array(z.object({ wanted: z.string().describe("its name, such as A1.2 stdout"), text: z.string().nullish() })).default([]),
});

const CORRECT = `Some checks of your criteria are not sound. A check that passes without any product proves nothing: expect what only a correct product does. Where an output was worked out a second time by another and differs, decide by the user's words alone which is right. Give each wrong check again, whole, under its id; leave out those that are right.`;

const CorrectedSchema = z.object({
  reasons: z.string().describe("what the user's words demand in each case, worked out by hand"),
  checks: z.array(z.object({ id: z.string(), check: WrittenCheckSchema })).default([]),
});

/** A check that still passes without a product after them is none. */
const MAX_CORRECTIONS = 2;

/**
 * Tries checks before the work: without a product none may pass, and each exact output is worked out a second time by an author who does not
 * see what is expected. Their author is asked once for all that differs.
 */
export async function tryChecks(ctx: ActionContext<readonly []>, tried: ChecksToTry): Promise<TriedChecks> {
  const { gate } = tried;
  const told: string[] = [];
  let { criteria } = tried;
  let vacuous: readonly string[] = await gate.vacuous(ctx.steps, criteria);
  let differing: readonly Difference[] = await differences(ctx, tried, told);
  for (let round = 0; round < MAX_CORRECTIONS && vacuous.length + differing.length > 0; round++) {
    const wrong = criteria.filter(({ id }) => vacuous.includes(id) || differing.some((one) => one.id === id));
    const { checks } = await ctx.ask(correctionPrompt(ctx, tried, wrong, vacuous, differing), { schema: CorrectedSchema });
    const given = new Map(checks.map(({ id, check }) => [id, check]));
    const changed = wrong.map((criterion) => ({ ...criterion, check: given.get(criterion.id) ?? criterion.check }));
    const hollow = await gate.vacuous(ctx.steps, changed);
    const sound = new Map(changed.filter(({ id }) => !hollow.includes(id)).map((criterion) => [criterion.id, criterion]));
    criteria = criteria.map((criterion) => sound.get(criterion.id) ?? criterion);
    vacuous = vacuous.filter((id) => !sound.has(id));
    differing = [];
  }
  const check = { kind: "judgement", reason: "Its check passed without any product." } as const;
  const words = "passed without any product, and no better one was found: it is only judged, and is no longer a must.";
  return {
    criteria: criteria.map((criterion) => (vacuous.includes(criterion.id) ? { ...criterion, priority: "P2", check } : criterion)),
    told: [...told, ...vacuous.map((id) => `The check of ${id} ${words}`)],
  };
}

interface Difference {
  readonly id: string;
  readonly text: string;
}

/** An output with one exact value. */
interface Wanted {
  readonly name: string;
  readonly criterion: Criterion;
  readonly rule: { readonly equals: string } | { readonly contains: readonly string[] };
}

async function differences(
  ctx: ActionContext<readonly []>,
  { criteria, shared, words, assumptions }: ChecksToTry,
  told: string[],
): Promise<readonly Difference[]> {
  const wanted = criteria.flatMap(wantedOf);
  if (wanted.length === 0) return [];
  const asked = criteria.flatMap((criterion) => commandsText(criterion, wanted));
  const own: readonly PromptPart[] = [...words, ["Assumptions", bullets(assumptions)], ["Commands", asked.join("\n\n")]];
  const prompt = companyPrompt({ role: ctx.role, shared, task: "Derive", instruction: DERIVE, own });
  const { outputs } = await ctx.ask(prompt, { schema: DerivedSchema }).catch((error: unknown) => {
    if (!TroupeError.isInstance(error) || error.code !== "OUTPUT_INVALID") throw error;
    told.push("The expected outputs were worked out once only: there was no second answer that could be read.");
    return { outputs: [] };
  });
  return wanted.flatMap(({ name, criterion: { id }, rule }): Difference[] => {
    const text = outputs.find((output) => output.wanted === name)?.text ?? undefined;
    if (text === undefined || isMet(rule, text)) return [];
    return [{ id, text: `${name}: you expect ${JSON.stringify(rule)}, the other ${JSON.stringify(text)}` }];
  });
}

function wantedOf(criterion: Criterion): Wanted[] {
  const { check, id } = criterion;
  if (check.kind !== "command") return [];
  return check.steps.flatMap((step, at): Wanted[] => {
    const source = JSON.stringify([step.run, step.stdin, check.given]);
    const files = (step.files ?? []).map((file) => [file.path, file] as const);
    const outputs: readonly (readonly [string, TextRule | undefined])[] = [["stdout", step.stdout], ["stderr", step.stderr], ...files];
    return outputs.flatMap(([what, { equals, contains = [] } = {}]): Wanted[] => {
      // Numbers that the check does not give are computed; other words are messages.
      const computed = (what === "stderr" ? [] : contains).filter(
        (part) => /\d/.test(part) && !source.includes(JSON.stringify(part).slice(1, -1)),
      );
      const parts = { name: `${id}.${at + 1} ${what}`, criterion };
      if (equals !== undefined && equals.trim() !== "") return [{ ...parts, rule: { equals } }];
      return computed.length === 0 ? [] : [{ ...parts, rule: { contains: computed } }];
    });
  });
}

/** White space is a question of form, not of value. */
function isMet(rule: Wanted["rule"], text: string): boolean {
  const plain = (value: string): string => value.replace(/\s+/g, " ").trim();
  return "equals" in rule ? plain(rule.equals) === plain(text) : rule.contains.every((part) => plain(text).includes(plain(part)));
}

function commandsText(criterion: Criterion, wanted: readonly Wanted[]): readonly string[] {
  const names = wanted.filter((one) => one.criterion === criterion).map(({ name }) => name);
  const { check, id, given: before, when } = criterion;
  if (names.length === 0 || check.kind !== "command") return [];
  const files = check.given === undefined ? [] : [`Files: ${JSON.stringify(check.given)}`];
  const steps = check.steps.map(({ run, stdin }, at) => `Step ${at + 1}: ${JSON.stringify({ run, stdin })}`);
  return [[`${id}: given ${before}, when ${when}`, ...files, ...steps, `Wanted: ${names.join(", ")}`].join("\n")];
}

function correctionPrompt(
  { role }: ActionContext<readonly []>,
  { shared, words }: Pick<ChecksToTry, "shared" | "words">,
  wrong: readonly Criterion[],
  vacuous: readonly string[],
  differing: readonly Difference[],
): string {
  const own: readonly PromptPart[] = [
    ...words,
    ["Your criteria", renderCriteria({ criteria: [...wrong] })],
    ["They pass without any product", vacuous.join(", ")],
    ["Worked out a second time", bullets(differing.map(({ text }) => text))],
  ];
  return companyPrompt({ role, shared, task: "CorrectChecks", instruction: CORRECT, own });
}
