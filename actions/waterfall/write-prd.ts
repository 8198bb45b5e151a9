import type { ActionContext, Message } from "../../src/index.ts";
import { z } from "zod";
import { documentFiles, ProjectAction } from "../project-action.ts";
import { type PromptPart, promptOf } from "../prompt.ts";
import { bullets, sections } from "../markdown.ts";
import { projectNameOf } from "../project-path.ts";

export const STACK: PromptPart = [
  "Rules of the project",
  [
    "- It runs with what every machine has: Node.js 20 or newer, a browser, or, where the requirement asks for it, Python 3. No packages to install, no build step, no network.",
    "- Unless the requirement says otherwise: plain HTML, CSS and JavaScript.",
    "- A page works when it is opened from disk (file://). Browsers load no ES modules from there, so scripts of a page are classic scripts: no import, no export. Each is wrapped in a function and adds one object to a common namespace on globalThis; the page loads them in the order they need each other.",
    "- Logic is kept apart from the page or the command line in files that run in Node.js too. Chance and time are passed in as functions, so that tests decide them.",
    '- Tests are in tests/NAME.test.mjs and use node:test, node:assert/strict and, where needed, other modules of Node.js itself. They run with `node --test`. Classic scripts are imported for their effect, import "../src/game.js", and then found on globalThis.',
    "- A project without a page may use ES modules in files ending in .mjs.",
    "- A project in Python has its tests in tests/test_NAME.py. They run with pytest, from the project's folder: functions named test_... with plain asserts.",
    "- All paths are relative to the project's folder. Names of files are lower case.",
  ].join("\n"),
];

/** Lists are cut to size; the name becomes kebab-case. */
export const PrdSchema = z.object({
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

/** A product requirement document. */
export type Prd = z.infer<typeof PrdSchema>;

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

const INSTRUCTION =
  "Write the product requirement document for the idea below: what is built, for whom, and how one can tell that it is done. Keep to what the idea asks for; add only what its users would miss at once. Write in the language of the idea.";

/** Turns an idea into requirements: `docs/requirement.txt` and `docs/prd/`. */
export class WritePrd extends ProjectAction<Prd, readonly []> {
  override readonly description: string = "Write the product requirement document.";
  override readonly output: z.ZodType<Prd> = PrdSchema;

  override prompt(ctx: ActionContext<readonly []>): string {
    return promptOf("WritePrd", INSTRUCTION, [["Idea", ctx.text], STACK]);
  }

  override async run(ctx: ActionContext<readonly []>): Promise<Message<Prd>> {
    const prd = await ctx.ask(this.prompt(ctx), { schema: PrdSchema });
    const files = [{ path: "docs/requirement.txt", content: ctx.text }, ...documentFiles("prd", prd.projectName, prd, renderPrd(prd))];
    await this.write(ctx, files);
    return this.conclude(ctx, prd, { files, summary: `Write the requirements of ${prd.projectName}` });
  }

  override render(prd: Prd): string {
    return renderPrd(prd);
  }
}
