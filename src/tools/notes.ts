import { z } from "zod";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { StepPort } from "../kernel/step.ts";
import { defined } from "../kernel/value-kind.ts";
import { noteText } from "../runtime/board/board-view.ts";
import type { BoardAnswer } from "../runtime/board/decide.ts";
import { defineTool, type Tool } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { asked, shown } from "./board.ts";
import { stepsOf } from "./own-checks.ts";

/** Options of {@link notes}. */
export interface NotesOptions {
  /** Characters of one note, at most 100,000. Default 4,000. */
  readonly longest?: number;
  /** The tokens of the notes in the prompt of an agent. Default 800. */
  readonly tokens?: number;
}

/** The notes of a run, as one role of it uses them in code. Each call is a recorded step. */
export interface NotesAccess {
  /** @param version that which the role has read; default: the note is new */
  write(name: string, text: string, version?: number): Promise<BoardAnswer>;
  read(name: string): Promise<BoardAnswer>;
  /** Returns the newest notes as a prompt shows them. */
  show(): Promise<string>;
}

/** The tool `notes`, which code of a role uses too. */
export interface NotesTool extends Tool {
  at(ctx: { readonly steps: StepPort }): NotesAccess;
}

const TOKENS = 800;
const LONGEST = 4_000;

const notesOptions: Known<NotesOptions> = kinds.each(kinds.size, "longest", "tokens");

const parameters = z.object({
  action: z.enum(["show", "read", "write"]),
  name: z.string().optional().describe("of a note: letters, digits, _, . and -"),
  text: z.string().optional().describe("write: all of the note"),
  version: z.int().min(0).optional().describe("write: the version that you have read; leave it out for a new note"),
});

/**
 * Makes the tool `notes`: a scratchpad that the roles of a run share, with short notes in versions. A change names the version that it read; where
 * another role was faster it is refused, with the newer note. The notes are part of the state of the run, as its {@link board} is.
 *
 * @example
 * import { defineAction, defineRole, Team } from "troupe";
 * import { notes } from "troupe/tools";
 *
 * const pad = notes();
 * const Decide = defineAction({
 *   name: "Decide",
 *   run: async (ctx) => {
 *     await pad.at(ctx).write("style", "We use tabs.");
 *     const late = await pad.at(ctx).write("style", "We use spaces.");
 *     return late.ok ? "changed" : `version ${late.note?.version} stays`;
 *   },
 * });
 * const team = new Team({ roles: [defineRole({ name: "Ada", actions: [Decide] })] });
 * console.log((await team.run("style").result).output?.content); // version 1 stays
 */
export function notes(options: NotesOptions = {}): NotesTool {
  checkGivenOptions("notes", options, notesOptions);
  const at: NotesTool["at"] = ({ steps }) => accessOf(options, steps);
  const { longest = LONGEST } = options;
  const tool = defineTool({
    name: "notes",
    description: `The shared notes of the team, each at most ${longest} characters: show lists the newest, read returns one with its version, write makes or changes one.`,
    parameters,
    permission: "allow",
    idempotent: true,
    fresh: true,
    parallel: false,
    polls: true,
    execute: (args, ctx) => ran(at({ steps: stepsOf(ctx) }), args),
  });
  return Object.freeze({ ...tool, opens: async (steps: StepPort) => [await at({ steps }).show()], at }) as NotesTool;
}

function accessOf({ longest = LONGEST, tokens = TOKENS }: NotesOptions, steps: StepPort): NotesAccess {
  return {
    async write(name, text, version) {
      // The record does not get a text that is refused for its length.
      if (text.length <= longest) return asked(steps, { op: "write", name, text, ...defined({ version }) });
      return {
        ok: false,
        why: `Expected a note of at most ${longest} characters, got ${text.length}. Write it to a file, and note its name.`,
      };
    },
    read: (name) => asked(steps, { op: "read", name }),
    show: () => shown(steps, { op: "show notes", tokens }),
  };
}

async function ran(access: NotesAccess, { action, name = "", text = "", version }: z.infer<typeof parameters>): Promise<ToolResult> {
  if (action === "show") return toolOutput(await access.show());
  const answer = await (action === "read" ? access.read(name) : access.write(name, text, version));
  const found = answer.note === undefined ? "" : noteText(answer.note);
  return answer.ok ? toolOutput(found) : toolFailure(answer.why, found === "" ? {} : { output: found });
}
