import { nearestWord } from "../kernel/known-options.ts";

/** The commands there are. `run` is what an idea alone stands for. */
export const COMMANDS: readonly string[] = [
  "run",
  "demo",
  "resume",
  "continue",
  "answer",
  "replay",
  "fork",
  "runs",
  "memory",
  "doctor",
  "help",
];

/** How many slips in a word that stands alone still count as a mistyped command. */
const SLIPS_ALONE = 2;
/** How many of them in the first of several words. */
const SLIPS_FIRST = 1;
/** The most words that may be a command with its arguments; an idea that says more is meant as one. */
const COMMAND_WORDS = 3;
/** Words that ideas begin with, although they are one slip away from a command. */
const ORDINARY: ReadonlySet<string> = new Set([
  "work",
  "form",
  "for",
  "ford",
  "fort",
  "reply",
  "relay",
  "rung",
  "rune",
  "ran",
  "ruin",
  "memory",
]);
/** Letters of the shortest first of several words that is compared: shorter ones, such as "an", are near to many. */
const SHORTEST_FIRST = 3;

/**
 * The command that words probably were meant to be, in any case of letters. A word alone counts when it is at most two slips away from
 * one, words of one or two letters too: no idea is that short, and a run that was not meant costs money. Two or three words count when
 * the first, of three letters or more, is at most one slip away.
 */
export function mistypedCommand(words: string): string | undefined {
  const [given = "", ...others] = words.trim().toLowerCase().split(/\s+/);
  if (others.length >= COMMAND_WORDS || (others.length > 0 && given.length < SHORTEST_FIRST)) return undefined;
  if (others.length > 0 && ORDINARY.has(given)) return undefined;
  return nearestWord(given, COMMANDS, others.length > 0 ? SLIPS_FIRST : SLIPS_ALONE);
}
