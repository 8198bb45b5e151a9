import type { Message } from "../../src/index.ts";
import { type Design, DesignSchema } from "./design.ts";
import { type Prd, PrdSchema } from "./prd.ts";
import { payloadOf } from "../project-action.ts";
import { type TaskPlan, TaskPlanSchema } from "./task-plan.ts";
import type { PromptPart } from "../prompt.ts";

/** The technology of every generated project, as its authors are told. */
export const STACK: PromptPart = [
  "Rules of the project",
  [
    "- It runs with what every machine has: Node.js 20 or newer, or a browser. No packages to install, no build step, no network.",
    "- Unless the requirement says otherwise: plain HTML, CSS and JavaScript.",
    "- A page works when it is opened from disk (file://). Browsers load no ES modules from there, so scripts of a page are classic scripts: no import, no export. Each is wrapped in a function and adds one object to a common namespace on globalThis; the page loads them in the order they need each other.",
    "- Logic is kept apart from the page or the command line in files that run in Node.js too. Chance and time are passed in as functions, so that tests decide them.",
    '- Tests are in tests/NAME.test.mjs and use node:test, node:assert/strict and, where needed, other modules of Node.js itself. They run with `node --test`. Classic scripts are imported for their effect, import "../src/game.js", and then found on globalThis.',
    "- A project without a page may use ES modules in files ending in .mjs.",
    "- All paths are relative to the project's folder. Names of files are lower case.",
  ].join("\n"),
];

/** The decisions made before a line of code is written. */
export interface Decisions {
  readonly prd: Prd;
  readonly design: Design;
  readonly tasks: TaskPlan;
}

/**
 * The decisions in the documents of the project, read from the messages that carry them.
 *
 * @throws UsageError `INPUT_INVALID`
 */
export function decisionsIn([prd, design, tasks]: readonly [Message<Prd>, Message<Design>, Message<TaskPlan>]): Decisions {
  return { prd: payloadOf(prd, PrdSchema), design: payloadOf(design, DesignSchema), tasks: payloadOf(tasks, TaskPlanSchema) };
}

/** The documents as parts of a prompt. */
export function decisionParts({ prd, design, tasks }: Decisions): readonly PromptPart[] {
  return [
    ["Requirements", JSON.stringify(prd)],
    ["Design", JSON.stringify(design)],
    ["Tasks", JSON.stringify(tasks)],
  ];
}
