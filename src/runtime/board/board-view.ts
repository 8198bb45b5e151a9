import { estimateTokens } from "../../model/token-estimate.ts";
import { quoteOutside, seenText, upTo } from "../../tool/shown-text.ts";
import { type Board, type BoardTask, type Note, TASK_KINDS } from "./board.ts";

/* The board as prompts show it: JSON, one entry a line, between marks that no entry contains, so that nothing in it passes for words of a user. */

const TASKS = "the board of this run: tasks that its roles wrote";
const NOTES = "the notes of this run, which its roles wrote";
/** Characters of a title or a note in a list. */
const SHOWN = 300;
/** Entries that are looked at for one list, so that it costs the same for any board. */
const MOST_LINES = 200;

/** Returns the board as a role sees it first: its own tasks, then those it can claim, then the others that are not done. */
export function tasksView(board: Board, by: string, tokens: number): string {
  const counts = Object.fromEntries(TASK_KINDS.map((kind) => [kind, board.count(kind)]));
  return framed(TASKS, { you: by, ...counts, free: board.readyCount }, tasksInOrder(board, by), tokens);
}

export function notesView(board: Board, tokens: number): string {
  const lines = board.recentNotes().map((note) => noteLine(note));
  return framed(NOTES, { notes: board.noteCount }, lines, tokens);
}

/** Returns tasks as a tool's answer shows them. */
export function tasksText(tasks: readonly BoardTask[]): string {
  return quoteOutside(TASKS, tasks.map((task) => taskLine(task, Infinity)).join("\n"));
}

/** Returns a note as a tool's answer shows it. */
export function noteText(note: Note): string {
  return quoteOutside(NOTES, noteLine(note, Infinity));
}

function* tasksInOrder(board: Board, by: string): Generator<string> {
  const seen = new Set<string>();
  for (const list of [board.owned(by), board.ready(), board.tasks("blocked"), board.tasks("claimed"), board.tasks("open")]) {
    for (const task of list) {
      if (seen.size >= MOST_LINES) return;
      if (!seen.has(task.id)) yield taskLine(task);
      seen.add(task.id);
    }
  }
}

function taskLine({ id, title, by, owner, needs, checks, state }: BoardTask, most: number = SHOWN): string {
  const why = state.kind === "done" ? { result: state.result } : "reason" in state ? { reason: state.reason } : {};
  const texts = Object.entries({ title, ...why }).map(([key, text]) => [key, text && shownUpTo(text, most)]);
  const lists = { ...(needs.length > 0 && { needs }), ...(checks.length > 0 && { checks }) };
  return JSON.stringify({ id, ...Object.fromEntries(texts), state: state.kind, owner, ...lists, addedBy: by });
}

function noteLine({ name, version, by, text }: Note, most: number = SHOWN): string {
  return JSON.stringify({ note: name, version, by, text: shownUpTo(text, most) });
}

function shownUpTo(text: string, most: number): string {
  const seen = seenText(text);
  return seen.length <= most ? seen : `${upTo(seen, most)}... (${seen.length} characters)`;
}

function framed(source: string, head: object, entries: Iterable<string>, tokens: number): string {
  const lines = [JSON.stringify(head)];
  let left = tokens - estimateTokens(quoteOutside(source, lines.join("\n")));
  for (const line of entries) {
    left -= estimateTokens(`${line}\n`);
    lines.push(left < 0 ? "..." : line);
    if (left < 0) break;
  }
  return quoteOutside(source, lines.join("\n"));
}
