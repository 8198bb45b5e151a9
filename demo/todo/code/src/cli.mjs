// One run of the program: reads the command line, changes the list, prints, and
// gives the exit code. All it touches comes in as an argument, so tests can call it.

import { homedir } from "node:os";
import { join } from "node:path";
import { parseCommand, UsageError } from "./args.mjs";
import { formatCleared, formatHelp, formatItems, formatList, safe } from "./format.mjs";
import { addItem, clearItems, ListError, markItems, removeItems, selectItems } from "./list.mjs";
import { createStore, StoreError } from "./store.mjs";

export const EXIT = Object.freeze({ ok: 0, failed: 1, usage: 2 });

/**
 * Runs the command of `argv`. `print` and `complain` get the lines for the two
 * output streams, `now` gives the time as a text.
 */
export async function main(argv, { env, print, complain, colour = false, now }) {
  try {
    const command = parseCommand(argv);
    if (command.name === "help") {
      print(formatHelp());
      return EXIT.ok;
    }
    const store = createStore(pathOfList(command.options, env));
    for (const line of await RUN[command.name](command, store, { colour, now })) print(line);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof UsageError) {
      complain(`${safe(error.message)}\nSee: node src/todo.mjs help`);
      return EXIT.usage;
    }
    if (error instanceof ListError || error instanceof StoreError) {
      complain(safe(error.message));
      return EXIT.failed;
    }
    throw error;
  }
}

function pathOfList({ file }, env) {
  return file ?? (env.TODO_FILE || join(homedir(), ".todo.json"));
}

/** Each command gives the lines to print. */
const RUN = {
  async add({ text }, store, { now }) {
    const { item } = await store.update((list) => addItem(list, text, now()));
    return formatItems("Added", [item]);
  },

  async list({ options }, store, { colour }) {
    const list = await store.read();
    const items = selectItems(list, options.open ? "open" : options.done ? "done" : "all");
    return [options.json ? JSON.stringify(items, null, 2) : formatList(items, list.items, { colour })];
  },

  done: (command, store, context) =>
    mark(command, store, context, { done: true, verb: "Done", already: "Done already" }),

  reopen: (command, store, context) =>
    mark(command, store, context, { done: false, verb: "Reopened", already: "Open already" }),

  async remove({ ids }, store) {
    const { removed } = await store.update((list) => removeItems(list, ids));
    return formatItems("Removed", removed);
  },

  async clear({ options }, store) {
    const { list, removed } = await store.update((before) => clearItems(before, { all: options.all }));
    return [formatCleared(removed, list.items)];
  },
};

async function mark({ ids }, store, { now }, { done, verb, already }) {
  const { changed, unchanged } = await store.update((list) => markItems(list, ids, done, now()));
  return [...formatItems(verb, changed), ...formatItems(already, unchanged)];
}
