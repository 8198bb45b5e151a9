import type { Argument, Command, Option } from "commander";
import { EVENT_TYPES } from "../runtime/record/event-type.ts";
import { AGENT_TOOLS, OPTION_WORDS } from "./command-options.ts";
import type { Host } from "./host.ts";
import type { StoredPart } from "./stored-candidates.ts";
import { shown } from "./screen/text.ts";

/** The shells that are completed. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** A word that can stand at the cursor, and what it means. */
export interface Candidate {
  readonly word: string;
  readonly text: string;
}

/**
 * What else can stand there: the shell knows its files and folders, a store its runs. A run has questions that wait, the roles of its team
 * (members), and roles that it can hire (candidates).
 */
type Source = "nothing" | "files" | "folders" | "runs" | "demos" | "memories" | StoredPart;

/** The words that can stand at the cursor. */
interface Expected {
  readonly candidates: readonly Candidate[];
  readonly source: Source;
  /** The beginning of the current word, which every candidate of the source has too: `--after=`. */
  readonly prefix: string;
  /** The first argument before the cursor. */
  readonly first: string;
}

/** The command that the words before the cursor lead to. */
interface Place {
  readonly command: Command;
  /** Arguments that are there. */
  readonly given: readonly string[];
  /** The option whose value comes next. */
  readonly option: Option | undefined;
  /** True behind `--`: no option follows. */
  readonly isEnded: boolean;
}

/** Commands that stand for their group when none is named. */
const DEFAULT_COMMANDS: Readonly<Record<string, string>> = { troupe: "run", runs: "ls", memory: "ls" };

const WORDS: Readonly<Record<string, readonly string[]>> = {
  ...OPTION_WORDS,
  "--crew": [...OPTION_WORDS["--crew"], "data-interpreter", "research"],
  "--type": EVENT_TYPES,
};
/** Options that take several names, with commas between. */
const LISTS: ReadonlySet<string> = new Set(["--tools", "--allow"]);
/** Options whose words are names beside files. */
const OR_FILES: ReadonlySet<string> = new Set(["--crew"]);
/** The placeholders of values and arguments that a shell or a store completes. */
const SOURCES: Readonly<Record<string, Source>> = {
  file: "files",
  config: "files",
  crew: "files",
  module: "files",
  path: "folders",
  dir: "folders",
  id: "runs",
  ids: "runs",
  a: "runs",
  b: "runs",
};

/** The arguments of commands that a store completes, by the name of the command and of the argument. */
const PARTS: Readonly<Record<string, Source>> = {
  // Runs of a fleet are in a database, and a key that is pressed must not wait for one.
  "logs id": "nothing",
  "bring id": "nothing",
  "stop id": "nothing",
  "answer question": "questions",
  "hire role": "candidates",
  "retire name": "members",
  "memory role": "memories",
};
/** The options whose values a store completes, beside those of {@link SOURCES}. */
const OPTION_PARTS: Readonly<Record<string, Source>> = { "--to": "members", "--role": "memories" };

const MOST_TEXT = 80;

/**
 * Prints what can stand at the cursor: a line that says what the shell adds, `files`, `folders` or `nothing`, then a line for each word, with
 * its meaning after a tab.
 *
 * @param words the shell, `--`, the words before the cursor, and the word at the cursor
 */
export async function complete(host: Host, program: Command, [shell = "", , ...words]: readonly string[]): Promise<void> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const { candidates, source, prefix, first } = expectedAt(program, before, current);
  const found = [...candidates, ...(await candidatesOf(host, source, { before, shell, first, typed: current.slice(prefix.length) }))];
  const lines = found
    .map(({ word, text }) => ({ word: `${prefix}${word}`, text }))
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, text }) => (shell === "bash" || text === "" ? word : `${word}\t${shown(text, MOST_TEXT)}`));
  const byShell = source === "files" || source === "folders" ? source : "nothing";
  host.stdout.write(`${[byShell, ...lines].join("\n")}\n`);
}

/** The words that can stand at the cursor, by the tree of commands alone. */
function expectedAt(program: Command, before: readonly string[], current: string): Expected {
  const place = placeOf(program, before);
  const [first = ""] = place.given;
  if (place.option !== undefined) return { ...valuesOf(place.option, current, ""), first };
  if (!place.isEnded && current.startsWith("-")) {
    const [name, value] = split(current);
    const option = value === undefined ? undefined : optionNamed(place.command, name);
    if (option !== undefined) return { ...valuesOf(option, value ?? "", `${name}=`), first };
    return { candidates: shownOptions(place.command), source: "nothing", prefix: "", first };
  }
  const commands = place.given.length === 0 && !place.isEnded ? commandsOf(place.command) : [];
  return { candidates: [...commands, ...argumentWords(program, place)], source: sourceOfArgument(place), prefix: "", first };
}

function placeOf(program: Command, words: readonly string[]): Place {
  let place: Place = { command: program, given: [], option: undefined, isEnded: false };
  for (const word of words) place = after(place, word);
  return place;
}

function after(place: Place, word: string): Place {
  const { command, given, isEnded } = place;
  if (place.option !== undefined) return { ...place, option: undefined };
  if (!isEnded && word === "--") return { ...place, isEnded: true };
  if (!isEnded && word.startsWith("-") && word !== "-") {
    const [name, value] = split(word);
    const option = value === undefined ? optionNamed(command, name) : undefined;
    return { ...place, option: option?.required === true ? option : undefined };
  }
  const chosen = given.length === 0 ? visibleCommands(command).find((one) => one.name() === word) : undefined;
  return chosen === undefined ? { ...place, given: [...given, word] } : { command: chosen, given: [], option: undefined, isEnded };
}

/** The name of an option, and its value where it is in the same word. */
function split(word: string): readonly [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return word.startsWith("--") && at !== -1 ? [word.slice(0, at), word.slice(at + 1)] : [word, undefined];
}

/** The command, and the one that stands for it when no other is named. */
function withDefault(command: Command): readonly Command[] {
  const name = DEFAULT_COMMANDS[command.name()];
  const chosen = command.commands.find((one) => one.name() === name);
  return chosen === undefined ? [command] : [command, chosen];
}

function optionNamed(command: Command, name: string): Option | undefined {
  const options = withDefault(command).flatMap((one) => one.options);
  return options.find(({ long, short }) => long === name || short === name);
}

function shownOptions(command: Command): readonly Candidate[] {
  const help = command.createHelp();
  const options = withDefault(command).flatMap((one) => help.visibleOptions(one));
  const byName = new Map(options.map(({ long, short, description }) => [long ?? short ?? "", description]));
  return [...byName].map(([word, text]) => ({ word, text }));
}

function commandsOf(command: Command): readonly Candidate[] {
  return visibleCommands(command).map((one) => ({ word: one.name(), text: one.description() }));
}

/** With the command `help`, which is in no list of commands. */
function visibleCommands(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function valuesOf(option: Option, typed: string, prefix: string): Omit<Expected, "first"> {
  const name = option.long ?? "";
  const placeholder = /<([^>]+)>/.exec(option.flags)?.[1] ?? "";
  if (LISTS.has(name)) {
    const named = typed.slice(0, typed.lastIndexOf(",") + 1);
    const rest = AGENT_TOOLS.filter((tool) => !named.split(",").includes(tool));
    return { candidates: rest.map((tool) => ({ word: `${named}${tool}`, text: "" })), source: "nothing", prefix };
  }
  // `--as` names a run that is not there yet.
  const source = name === "--as" ? "nothing" : (OPTION_PARTS[name] ?? SOURCES[placeholder] ?? "nothing");
  const words = WORDS[name];
  if (words === undefined) return { candidates: [], source, prefix };
  return { candidates: words.map((word) => ({ word, text: "" })), source: OR_FILES.has(name) ? "files" : "nothing", prefix };
}

/** The argument at the cursor: the last one where it may come more than once. */
function argumentOf({ command, given }: Place): Argument | undefined {
  const all = withDefault(command).at(-1)?.registeredArguments ?? [];
  const last = all.at(-1);
  return all[given.length] ?? (last?.variadic === true ? last : undefined);
}

function argumentWords(program: Command, place: Place): readonly Candidate[] {
  const name = argumentOf(place)?.name();
  if (name === "shell") return SHELLS.map((word) => ({ word, text: "" }));
  return name === "command" ? commandsOf(program) : [];
}

function sourceOfArgument(place: Place): Source {
  const name = argumentOf(place)?.name() ?? "";
  const { command } = place;
  const group = command.parent?.name() === "memory" ? "memory" : command.name();
  const source = PARTS[`${group} ${name}`] ?? SOURCES[name] ?? "nothing";
  return source === "runs" && command.name() === "demo" ? "demos" : source;
}

interface Typed {
  /** The words before the cursor: they may name another store. */
  readonly before: readonly string[];
  readonly shell: string;
  /** The first argument of the command: the run whose parts are completed. */
  readonly first: string;
  /** The beginning of the candidates. */
  readonly typed: string;
}

/** The candidates that no tree of commands knows. A fault means that there are none: what is printed here would end up in the user's line. */
async function candidatesOf(host: Host, source: Source, { before, shell, first, typed }: Typed): Promise<readonly Candidate[]> {
  try {
    if (source === "demos") {
      const { demoIdeas } = await import("./demo-script.ts");
      return (await demoIdeas()).map(({ id, title }) => ({ word: id, text: title }));
    }
    if (source === "nothing" || source === "files" || source === "folders") return [];
    const { storedMemories, storedParts, storedRuns } = await import("./stored-candidates.ts");
    const wanted = { ...storeIn(before), typed, isDescribed: shell !== "bash" };
    if (source === "runs") return await storedRuns(host, wanted);
    return source === "memories" ? await storedMemories(host, wanted) : await storedParts(host, source, first, wanted);
  } catch {
    return [];
  }
}

/** The store that the words name. */
function storeIn(words: readonly string[]): { readonly store?: string } {
  const at = words.lastIndexOf("--store");
  const store = at === -1 ? words.findLast((word) => word.startsWith("--store="))?.slice("--store=".length) : words[at + 1];
  return store === undefined ? {} : { store };
}
