import type { Check, StackName } from "../../src/checks/index.ts";
import { z } from "zod";
import { promptOf } from "../prompt.ts";
import type { Complaint } from "./delivery.ts";
import { checkForms, WrittenCheckSchema } from "./check-forms.ts";

/** The answer of a reviewer. The reasons come first, so that the verdict follows from them. */
export interface Review {
  readonly reasons: string;
  readonly judgements: readonly { readonly id: string; readonly reason: string; readonly holds: boolean }[];
  readonly complaints: readonly { readonly text: string; readonly check?: Check | undefined }[];
  readonly accepts: boolean;
}

/** Guards a {@link Review}. */
export const ReviewSchema: z.ZodType<Review> = z.object({
  reasons: z.string().describe("what you looked at, and what you found, before you judge"),
  judgements: z
    .array(z.object({ id: z.string(), reason: z.string(), holds: z.boolean() }))
    .default([])
    .describe("one for each criterion whose check is a judgement"),
  complaints: z.array(z.object({ text: z.string(), check: WrittenCheckSchema.optional() })).default([]),
  accepts: z.boolean().describe("false when a complaint must be dealt with before the product is handed over"),
});

const INSTRUCTION = `Review the work of a colleague against the user's own words. The criteria and the tests have been run; the evidence below says how they ended, and you need not repeat them.

Look for what they miss: a wish or a rule in the user's words that is not fulfilled, wrong input that is mishandled, data that is lost, a security hole, a claim of the README that is not true. Not style, not taste, not features that nobody asked for.

A complaint counts only with a check that fails now and passes once it is dealt with. Work out by hand what the code does before you complain. A complaint without a check is only a remark. Usually there is nothing to complain about.`;

/** The question to a reviewer: what is stable stands first. */
export function reviewPrompt(parts: {
  readonly stack: StackName;
  readonly order: string;
  readonly files: string;
  readonly evidence: string;
}): string {
  const { stack, order, files, evidence } = parts;
  return promptOf("Review", INSTRUCTION, [
    ["Forms of a check", checkForms(stack)],
    ["What was ordered", order],
    ["The work", files],
    ["Evidence", evidence],
  ]);
}

/** The objections of a review, before their checks have run. A judgement that does not hold is one, and so is a refusal that names none. */
export function complaintsOf({ reasons, complaints, judgements, accepts }: Review): readonly Complaint[] {
  const against = judgements
    .filter(({ holds }) => !holds)
    .map(({ id, reason }): Complaint => ({ id: `${id}-judged`, text: reason, state: "unproven" }));
  const refusal = !accepts && complaints.length === 0 && against.length === 0 ? [{ text: reasons, check: undefined }] : complaints;
  return [...refusal.map(({ text, check }, index): Complaint => ({ id: `R${index + 1}`, text, check, state: "unproven" })), ...against];
}
