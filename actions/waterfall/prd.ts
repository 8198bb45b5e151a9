import { z } from "zod";
import { bullets, sections } from "../markdown.ts";
import { projectNameOf } from "../project-path.ts";

/** The priority of a requirement: P0 must, P1 should, P2 may. */
export type Priority = "P0" | "P1" | "P2";

/** A product requirement document. */
export interface Prd {
  /** Kebab-case; names the documents. */
  readonly projectName: string;
  readonly language: string;
  readonly programmingLanguage: string;
  readonly originalRequirements: string;
  /** At most 5. */
  readonly productGoals: readonly string[];
  /** At most 8. */
  readonly userStories: readonly string[];
  readonly competitiveAnalysis: readonly string[];
  readonly requirementAnalysis: string;
  readonly requirementPool: readonly { readonly priority: Priority; readonly requirement: string }[];
  readonly uiDesignDraft: string;
  readonly anythingUnclear: string;
}

/** Guards a {@link Prd}. What is only taste is cut to size; the name becomes kebab-case. */
export const PrdSchema: z.ZodType<Prd> = z.object({
  projectName: z.string().transform(projectNameOf).describe("short name in kebab-case, such as snake-game"),
  language: z.string().describe("the natural language of the requirement, in which all documents are written"),
  programmingLanguage: z.string().describe("languages and platform of the code"),
  originalRequirements: z.string().describe("the requirement in the user's own words"),
  productGoals: atMost(5).describe("1 to 5 clear, independent goals"),
  userStories: atMost(8).describe("3 to 8 stories: As a ..., I want to ..., so that ..."),
  competitiveAnalysis: z.array(z.string()).default([]).describe("existing products, each with a strength and a weakness"),
  requirementAnalysis: z.string().default("").describe("what is easy, what is hard, and where mistakes are likely"),
  requirementPool: z
    .array(z.object({ priority: z.enum(["P0", "P1", "P2"]), requirement: z.string() }))
    .min(1)
    .describe("what is built, most important first; P0 must, P1 should, P2 may"),
  uiDesignDraft: z
    .string()
    .default("")
    .describe("layout, elements and behaviour of the user interface; for a command line its commands and output"),
  anythingUnclear: z.string().default("").describe("what the requirement leaves open and what is assumed; empty when nothing"),
});

export function renderPrd(prd: Prd): string {
  return sections(`Requirements: ${prd.projectName}`, [
    ["Original requirements", prd.originalRequirements],
    ["Product goals", bullets(prd.productGoals)],
    ["User stories", bullets(prd.userStories)],
    ["Competitive analysis", bullets(prd.competitiveAnalysis)],
    ["Requirement analysis", prd.requirementAnalysis],
    ["Requirement pool", bullets(prd.requirementPool.map(({ priority, requirement }) => `${priority}: ${requirement}`))],
    ["User interface", prd.uiDesignDraft],
    ["Language", `${prd.language}; ${prd.programmingLanguage}`],
    ["Unclear", prd.anythingUnclear],
  ]);
}

function atMost(count: number): z.ZodType<string[]> {
  return z
    .array(z.string())
    .min(1)
    .transform((all) => all.slice(0, count));
}
