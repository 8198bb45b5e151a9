import type { Argument, Command, Option } from "commander";
import { SHELLS } from "./completion-scripts.ts";
import type { Host } from "./host.ts";
import { ENTRIES } from "./options.ts";
import { AGENT_TOOLS } from "./run-options.ts";
import { shown } from "./screen/text.ts";
import type { Candidate, StoredPart } from "./stored-candidates.ts";

type Source = "nothing" | "files" | "folders" | "demos" | "memories" | "runs" | StoredPart;

interface Expected {
  readonly words: readonly Candidate[];
  readonly source: Source;
  readonly prefix?: string;
}

interface Position {
  readonly command: Command;
  readonly given: readonly string[];
  /** The option whose value comes next. */
  readonly option?: Option | undefined;
  /** True behind `--`: no option follows. */
  readonly isEnded?: boolean;
}

const LISTS: readonly string[] = ["tools", "allow"];
const SOURCES: Readonly<Record<string, Source>> = {
  ...{ file: "files", config: "files", crew: "files", module: "files", path: "folders", dir: "folders" },
  ...{ id: "runs", ids: "runs", a: "runs", b: "runs" },
};
/** By a command and its argument or option, where that differs. A key that is pressed must not wait for the database of a fleet. */
const PARTS: Readonly<Record<string, Source>> = {
  ...{ "logs id": "nothing", "bring id": "nothing", "stop id": "nothing", "answer question": "questions", "demo id": "demos" },
  ...{ "hire role": "candidates", "retire name": "members", "memory role": "memories", "tell to": "members" },
  ...{ "import as": "nothing", "submit id": "nothing", "drain worker": "nothing" },
};
const MOST_TEXT = 80;

export async function complete(host: Host, program: Command, [shell = "", , ...words]: readonly string[]): Promise<void> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const position = before.reduce(after, { command: program, given: [] });
  const { words: known, source, prefix = "" } = await expectedAt(program, position, current);
  const typed = current.slice(prefix.length);
  const stored = await candidatesOf(host, source, { before, shell, first: position.given[0] ?? "", typed });
  const lines = [...known, ...stored]
    .map(({ word, text }) => ({ word: `${prefix}${word}`, text }))
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, text }) => (shell === "bash" || text === "" ? word : `${word}\t${shown(text, MOST_TEXT)}`));
  const byShell = source === "files" || source === "folders" ? source : "nothing";
  host.stdout.write(`${[byShell, ...lines].join("\n")}\n`);
}

async function expectedAt(program: Command, position: Position, current: string): Promise<Expected> {
  const { command, given, option, isEnded } = position;
  if (option !== undefined) return valuesOf(command, option, current);
  if (isEnded !== true && current.startsWith("-")) {
    const [name, value] = divided(current);
    const found = value === undefined ? undefined : optionNamed(command, name);
    if (found !== undefined) return { ...(await valuesOf(command, found, value ?? "")), prefix: `${name}=` };
    const options = withDefault(command).flatMap((one) => one.createHelp().visibleOptions(one));
    const byName = new Map(options.map(({ long, short, description }) => [long ?? short ?? "", description]));
    return { words: [...byName].map(([word, text]) => ({ word, text })), source: "nothing" };
  }
  const argument = argumentOf(position)?.name() ?? "";
  const commands = given.length === 0 && isEnded !== true ? commandsOf(command) : [];
  const words = argument === "shell" ? plain(SHELLS) : argument === "command" ? commandsOf(program) : commands;
  return { words, source: sourceOf(command, argument, argument) };
}

function after(position: Position, word: string): Position {
  const { command, given, option, isEnded } = position;
  if (option !== undefined) return { ...position, option: undefined };
  if (isEnded !== true && word === "--") return { ...position, isEnded: true };
  if (isEnded !== true && word.startsWith("-") && word !== "-") {
    const [name, value] = divided(word);
    const found = value === undefined ? optionNamed(command, name) : undefined;
    return { ...position, option: found?.required === true ? found : undefined };
  }
  const chosen = given.length === 0 ? visibleCommands(command).find((one) => one.name() === word) : undefined;
  return chosen === undefined ? { ...position, given: [...given, word] } : { ...position, command: chosen, given: [] };
}

/** The name of an option, and its value where it is in the same word. */
function divided(word: string): readonly [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return word.startsWith("--") && at !== -1 ? [word.slice(0, at), word.slice(at + 1)] : [word, undefined];
}

/** The command, and the one that stands for it when no other is named. */
function withDefault(command: Command): readonly Command[] {
  const { _defaultCommandName: name } = command as unknown as { readonly _defaultCommandName: string | null };
  return [command, ...command.commands.filter((one) => one.name() === name)];
}

function optionNamed(command: Command, name: string): Option | undefined {
  return withDefault(command)
    .flatMap((one) => one.options)
    .find(({ long, short }) => long === name || short === name);
}

/** With the command `help`, which is in no list of commands. */
function visibleCommands(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function commandsOf(command: Command): readonly Candidate[] {
  return visibleCommands(command).map((one) => ({ word: one.name(), text: one.description() }));
}

function plain(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word, text: "" }));
}

async function valuesOf(command: Command, option: Option, typed: string): Promise<Expected> {
  const name = option.attributeName();
  const { value, offered } = ENTRIES[name] ?? {};
  if (LISTS.includes(name)) {
    const named = typed.slice(0, typed.lastIndexOf(",") + 1);
    const rest = AGENT_TOOLS.filter((tool) => !named.split(",").includes(tool));
    return { words: plain(rest.map((tool) => `${named}${tool}`)), source: "nothing" };
  }
  if (typeof value === "object") return { words: plain(value), source: "nothing" };
  if (offered !== undefined) return { words: plain(offered), source: "files" };
  return { words: [], source: sourceOf(command, name, /<([^>]+)>/.exec(option.flags)?.[1] ?? "") };
}

/** The argument at the cursor: the last one where it may come more than once. */
function argumentOf({ command, given }: Position): Argument | undefined {
  const all = withDefault(command).at(-1)?.registeredArguments ?? [];
  return all[given.length] ?? all.findLast(({ variadic }) => variadic);
}

function sourceOf(command: Command, name: string, placeholder: string): Source {
  const group = command.parent?.name() === "memory" ? "memory" : command.name();
  return PARTS[`${command.name()} ${name}`] ?? PARTS[`${group} ${name}`] ?? SOURCES[placeholder] ?? "nothing";
}

interface Typed {
  /** The words before the cursor: they may name another store. */
  readonly before: readonly string[];
  readonly shell: string;
  /** The first argument of the command: the run whose parts are completed. */
  readonly first: string;
  readonly typed: string;
}

/**
 * The candidates that no tree of commands knows. A fault means that there are none: what is printed here would end up in the user's line.
 */
async function candidatesOf(host: Host, source: Source, { before, shell, first, typed }: Typed): Promise<readonly Candidate[]> {
  if (source === "nothing" || source === "files" || source === "folders") return [];
  try {
    if (source === "demos") {
      const { demoIdeas } = await import("./demo-script.ts");
      return (await demoIdeas()).map(({ id, title }) => ({ word: id, text: title }));
    }
    const { storedWords } = await import("./stored-candidates.ts");
    const at = before.lastIndexOf("--store");
    const store = at === -1 ? before.findLast((word) => word.startsWith("--store="))?.slice("--store=".length) : before[at + 1];
    return await storedWords(host, source, { store, first, typed, isDescribed: shell !== "bash" });
  } catch {
    return [];
  }
}
