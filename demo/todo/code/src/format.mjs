// What the program prints. Everything here returns text; nothing is printed.

import { COMMANDS } from "./args.mjs";
import { UNSAFE } from "./list.mjs";

const DIM = "\u001b[2m";
const GREEN = "\u001b[32m";
const RESET = "\u001b[0m";

/** A text that cannot act on the terminal: the file may have been edited by hand. */
export const safe = (text) => text.replace(UNSAFE, "\ufffd");

const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** The list as a table with a line of totals. `items` are those to show, `all` those to count. */
export function formatList(items, all, { colour = false } = {}) {
  if (all.length === 0) return 'Nothing here yet. Add something: todo add "Buy milk"';
  const open = all.filter((item) => !item.done).length;
  const totals = `${open} open, ${all.length - open} done`;
  if (items.length === 0) return `No item to show: ${totals}.`;
  const width = Math.max(...items.map(({ id }) => String(id).length));
  const lines = items.map((item) => formatLine(item, width, colour));
  return [...lines, "", colour ? `${DIM}${totals}${RESET}` : totals].join("\n");
}

function formatLine({ id, text, done }, width, colour) {
  const number = String(id).padStart(width);
  if (!colour || !done) return `${number}  [${done ? "x" : " "}] ${safe(text)}`;
  return `${number}  [${GREEN}x${RESET}] ${DIM}${safe(text)}${RESET}`;
}

/** One line for each item: "Done 2: Call Ann". */
export const formatItems = (verb, items) => items.map(({ id, text }) => `${verb} ${id}: ${safe(text)}`);

export function formatCleared(removed, left) {
  if (removed.length === 0) return "Nothing to clear.";
  const rest = left.length === 0 ? "The list is empty." : `${count(left.length, "item")} left.`;
  return `Cleared ${count(removed.length, "item")}. ${rest}`;
}

export function formatHelp() {
  const width = Math.max(...COMMANDS.map(({ form }) => form.length));
  return [
    "A to-do list for the command line.",
    "",
    "Usage: node src/todo.mjs [command] [options]",
    "",
    "Commands",
    ...COMMANDS.map(({ form, summary }) => `  ${form.padEnd(width)}  ${summary}`),
    "",
    "Without a command the list is shown. Short forms: ls, rm, undo.",
    "",
    "Options",
    "  --file <path>  the file of the list; default: $TODO_FILE, else .todo.json in your home folder",
    "  -h, --help     show this help",
    "",
    'A text that starts with a dash goes after "--": add -- "-5 degrees: cover the roses"',
    "Exit codes: 0 done, 1 it could not be done, 2 the command line makes no sense.",
  ].join("\n");
}
