import { having, takes } from "../kernel/argument.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { StepDoor } from "../kernel/step.ts";
import type { ToolContext } from "../tool/tool.ts";
import { sha256Of } from "../workspace/recorded-files.ts";
import { Turns, type Workspace } from "../workspace/workspace.ts";
import { type LineRange, linesOf } from "./text-edit.ts";
import { ToolStates } from "./tool-files.ts";

/** Rules for the changes that an agent makes. */
export interface EditRules {
  /** Returns why a path must stay as it is, in words that a model can act on; undefined when it may change. Default: every path may. */
  readonly refuse?: (path: string) => string | undefined;
  /** Returns the text of a file that the agent was shown before its first step: it counts as seen. Default: none was. */
  readonly shown?: (path: string) => string | undefined;
  /** Returns the faults of files that were just written, for the model. The answer is recorded. Default: none. */
  readonly check?: (paths: readonly string[], door: Pick<StepDoor, "signal" | "mode">) => Promise<string | undefined>;
}

/** Options of the tools that write into a workspace. */
export interface EditOptions extends EditRules {
  readonly workspace: Workspace;
}

export const editOptions: Known<EditOptions> = {
  workspace: kinds.workspace,
  ...kinds.each(kinds.function, "refuse", "shown", "check"),
};

/** Runs the check of the rules on written files, as a step. @returns the faults, if any */
export async function checkWritten({ check }: EditRules, ctx: ToolContext, paths: readonly string[]): Promise<string | undefined> {
  if (check === undefined || paths.length === 0) return undefined;
  const step = { kind: "tool", name: "check files", request: { paths }, fresh: true };
  const { faults } = await ctx.step(step, async (door) => ({ faults: (await check(paths, door)) ?? null }));
  return faults ?? undefined;
}

/** The state that the tools of one workspace share: one at a time changes it, across all agents, and each agent has a history. */
interface Editing {
  readonly turns: Turns;
  readonly histories: ToolStates<EditHistory>;
}

const editings = new WeakMap<Workspace, Editing>();

/** @param caller the function that makes the tool */
export function editingOf(caller: string, workspace: Workspace): Editing {
  takes(caller, "workspace", workspace, having("a workspace", "read"));
  const known = editings.get(workspace);
  if (known !== undefined) return known;
  const made = { turns: new Turns(), histories: new ToolStates(() => new EditHistory()) };
  editings.set(workspace, made);
  return made;
}

interface SeenFile {
  readonly hash: string;
  /** Lines that the agent has not seen. */
  readonly unseen: readonly LineRange[];
}

interface PastEdit {
  readonly path: string;
  /** The earlier content; undefined when there was no file. */
  readonly before: string | undefined;
  readonly afterHash: string;
  readonly seen: SeenFile | undefined;
}

const MAX_EDITS = 100;
const MAX_CHARACTERS = 5_000_000;
const NAMED_RANGES = 3;

/**
 * The files that one agent has seen, and its edits of them.
 *
 * `EditHistory.H1` a file counts as changed when it differs from the version last seen (`isChanged`). `EditHistory.H2` edits are undone
 * newest first, file by file (`last`, `forget`). `EditHistory.H3` the oldest edits are forgotten: number and size are bounded (`record`).
 * `EditHistory.H4` a file may be written over only as it was seen, and only when all lines were seen (`overwriteFault`).
 */
export class EditHistory {
  readonly #seen = new Map<string, SeenFile>();
  #edits: PastEdit[] = [];

  /** Records that lines of a file were shown. Default: all. */
  see(path: string, text: string, shown: readonly LineRange[] = allOf(text)): void {
    const hash = sha256Of(text);
    const known = this.#seen.get(path);
    const before = known?.hash === hash ? known.unseen : allOf(text);
    this.#seen.set(path, { hash, unseen: shown.reduce(without, before) });
  }

  isChanged(path: string, text: string): boolean {
    const seen = this.#seen.get(path);
    return seen !== undefined && seen.hash !== sha256Of(text);
  }

  /** The reason why a file with this text may not be written over; undefined when it may. */
  overwriteFault(path: string, text: string): string | undefined {
    const seen = this.#seen.get(path);
    if (text === "" || (seen?.unseen.length === 0 && !this.isChanged(path, text))) return undefined;
    if (seen === undefined)
      return `Expected ${path} to be read before it is written over, but you have not seen what it holds. Read it first.`;
    if (this.isChanged(path, text))
      return `Expected ${path} as you saw it, but someone has changed it since. Read it again before you write over it.`;
    const ranges = seen.unseen.slice(0, NAMED_RANGES).map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`));
    const more = seen.unseen.length > NAMED_RANGES ? " and others" : "";
    return `Expected all of ${path} to be read before it is written over, but you have not seen lines ${ranges.join(", ")}${more} whole. Read them; where a view cuts a line, replace a part of the file instead.`;
  }

  /** Records that a file was shown before the first step; what was seen since counts more. */
  seeFirst(path: string, text: string | undefined): void {
    if (text !== undefined && !this.#seen.has(path)) this.see(path, text);
  }

  /** @param isWhole the agent wrote all of the file, and not only a part */
  record(path: string, before: string | undefined, after: string, isWhole = true): void {
    const seen = this.#seen.get(path);
    this.#edits.push({ path, before, afterHash: sha256Of(after), seen });
    this.#seen.delete(path);
    this.see(path, after, isWhole || seen?.unseen.length === 0 ? allOf(after) : []);
    let size = this.#edits.reduce((sum, edit) => sum + (edit.before?.length ?? 0), 0);
    while (this.#edits.length > MAX_EDITS || (size > MAX_CHARACTERS && this.#edits.length > 1))
      size -= this.#edits.shift()?.before?.length ?? 0;
  }

  last(path: string): PastEdit | undefined {
    return this.#edits.findLast((edit) => edit.path === path);
  }

  forget(edit: PastEdit): void {
    this.#edits = this.#edits.filter((other) => other !== edit);
    if (edit.seen === undefined) this.#seen.delete(edit.path);
    else this.#seen.set(edit.path, edit.seen);
  }
}

function allOf(text: string): readonly LineRange[] {
  const to = linesOf(text).length;
  return to === 0 ? [] : [{ from: 1, to }];
}

function without(ranges: readonly LineRange[], shown: LineRange): readonly LineRange[] {
  const parts = ranges.flatMap(({ from, to }) => [
    { from, to: Math.min(to, shown.from - 1) },
    { from: Math.max(from, shown.to + 1), to },
  ]);
  return parts.filter(({ from, to }) => from <= to);
}
