// From the words of a command line to one command, or to a UsageError that says
// what was wrong. The table of commands is also what the help is made of.

import { parseArgs } from "node:util";

/** The command line makes no sense. The message is for the user. */
export class UsageError extends Error {
  name = "UsageError";
}

/** `takes` is what follows the name: "text", "numbers" or "nothing". */
export const COMMANDS = [
  { name: "add", takes: "text", form: "add <text>", summary: "add an item" },
  {
    name: "list",
    takes: "nothing",
    options: ["open", "done", "json"],
    form: "list [--open | --done] [--json]",
    summary: "show the items",
  },
  { name: "done", takes: "numbers", form: "done <number>...", summary: "mark items as done" },
  { name: "reopen", takes: "numbers", form: "reopen <number>...", summary: "mark items as open again" },
  { name: "remove", takes: "numbers", form: "remove <number>...", summary: "remove items" },
  {
    name: "clear",
    takes: "nothing",
    options: ["all"],
    form: "clear [--all]",
    summary: "remove the done items, or all",
  },
  { name: "help", takes: "nothing", form: "help", summary: "show this help" },
];

const ALIASES = new Map([
  ["ls", "list"],
  ["rm", "remove"],
  ["undo", "reopen"],
]);

const OPTIONS = {
  all: { type: "boolean" },
  done: { type: "boolean" },
  file: { type: "string" },
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
  open: { type: "boolean" },
};

/** Options that every command takes. */
const COMMON = ["file", "help"];

/**
 * The command of `argv`, the words after `node src/todo.mjs`:
 * { name, text?, ids?, options }. No words at all mean `list`.
 */
export function parseCommand(argv) {
  const { values: options, positionals } = readWords(argv);
  if (options.file === "") throw new UsageError("--file needs the path of a file.");
  if (options.help) return { name: "help", options };

  const [word = "list", ...rest] = positionals;
  const command = COMMANDS.find(({ name }) => name === (ALIASES.get(word) ?? word));
  if (command === undefined) throw new UsageError(`There is no command "${word}".${suggestionFor(word)}`);
  checkOptions(command, options);
  return { name: command.name, options, ...readRest(command, rest) };
}

function readWords(argv) {
  try {
    return parseArgs({ args: argv, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    const unknown = /Unknown option '([^']+)'/.exec(error.message);
    if (unknown === null) throw new UsageError(error.message, { cause: error });
    throw new UsageError(
      `There is no option ${unknown[1]}. For a text that starts with a dash write: add -- "${unknown[1]} ..."`,
    );
  }
}

function checkOptions({ name, options: own = [] }, options) {
  const stray = Object.keys(options).find((option) => !COMMON.includes(option) && !own.includes(option));
  if (stray !== undefined) throw new UsageError(`"${name}" takes no --${stray}.`);
  if (options.open && options.done) throw new UsageError("Choose one of --open and --done.");
}

function readRest({ name, takes, form }, rest) {
  if (takes === "nothing") {
    if (rest.length > 0) throw new UsageError(`"${name}" takes nothing more, but got "${rest.join(" ")}".`);
    return {};
  }
  if (rest.length === 0) throw new UsageError(`"${name}" needs more. Write: ${form}`);
  return takes === "text" ? { text: rest.join(" ") } : { ids: rest.map(readNumber) };
}

function readNumber(word) {
  if (!/^[1-9]\d{0,8}$/.test(word)) throw new UsageError(`"${word}" is not the number of an item.`);
  return Number(word);
}

/** " Did you mean ...?" when a command is at most two slips of the finger away. */
function suggestionFor(word) {
  const names = [...COMMANDS.map(({ name }) => name), ...ALIASES.keys()];
  const [nearest] = names
    .map((name) => ({ name, slips: distance(word, name) }))
    .filter(({ name, slips }) => slips <= 2 && slips < name.length)
    .sort((a, b) => a.slips - b.slips);
  return nearest === undefined ? "" : ` Did you mean "${nearest.name}"?`;
}

/** The number of letters to insert, delete or replace to come from `a` to `b`. */
function distance(a, b) {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...a.slice(0, 20)].entries()) {
    const current = [row + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = previous[column - 1] + (letter === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, previous[column] + 1, current[column - 1] + 1));
    }
    previous = current;
  }
  return previous.at(-1);
}
