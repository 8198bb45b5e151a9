import { Command, CommanderError, Option } from "commander";
import { UsageError } from "../kernel/errors.ts";
import { nearestWord } from "../kernel/known-options.ts";
import type { CommandSpec, Handler, OptionUse } from "./command-spec.ts";
import { COMMANDS } from "./command-table.ts";
import { failed } from "./error-report.ts";
import type { ExitCode } from "./errors.ts";
import { EXAMPLES } from "./help-texts.ts";
import type { Host } from "./host.ts";
import { ENTRIES, type OptionEntry } from "./options.ts";

type RunCommand = (load: () => Promise<Handler>, raw: Readonly<Record<string, unknown>>, args: readonly string[]) => Promise<void>;

export function main(host: Host, words: readonly string[]): Promise<ExitCode> {
  return runProgram(host, words).catch((error: unknown) => failed(host, words, error));
}

async function runProgram(host: Host, words: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = programFor(host, async (load, raw, args) => {
    const { inSession } = await import("./session.ts");
    code = await inSession(host, raw, async (session, flags) => (await load())(session, flags, ...args), words);
  });
  if (words[0] === "__complete") {
    const { complete } = await import("./completion.ts");
    await complete(host, program, words.slice(1));
    return code;
  }
  try {
    await program.parseAsync([...words], { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    const meant = error.code === "commander.excessArguments" ? mistypedPart(words) : undefined;
    const advice = meant === undefined ? "See: troupe --help" : `Did you mean: ${meant}? See: troupe --help`;
    throw new UsageError("COMMAND_INVALID", `${error.message.replace(/^error: |\.$/g, "")}. ${advice}`);
  }
}

/** The command of a group that a word looks like: its default command takes no words. */
function mistypedPart([group = "", word = ""]: readonly string[]): string | undefined {
  const names = Object.keys(COMMANDS[group]?.commands ?? {}).map((words) => words.split(" ", 1)[0] ?? "");
  const near = nearestWord(word, names);
  return near === undefined ? undefined : `troupe ${group} ${near}`;
}

function programFor({ version, stdout, stderr }: Host, run: RunCommand): Command {
  const program = new Command("troupe");
  program
    .description("A company of AI roles takes one sentence to a tested project on disk.")
    .usage('[options] "idea" | <command>')
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .helpCommand("help [command]", "print the help of a command")
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text), outputError: () => {} })
    .addHelpText("after", EXAMPLES);
  for (const entry of Object.entries(COMMANDS)) addCommand(program, entry, stdout, run);
  // The options of `run` are the options of `troupe` itself.
  const [company = program] = program.commands;
  const help = program.createHelp();
  program.configureHelp({
    visibleOptions: (command) => [
      ...(command === program ? help.visibleOptions(company).filter(({ long }) => long !== "--help") : []),
      ...help.visibleOptions(command),
    ],
  });
  return program;
}

function addCommand(parent: Command, [words, spec]: readonly [string, CommandSpec], stdout: Host["stdout"], run: RunCommand): void {
  const [name = "", ...args] = words.split(" ");
  if (spec.group !== undefined) parent.commandsGroup(spec.group);
  const command = parent.command(name, { isDefault: spec.isDefault === true }).description(spec.text);
  for (const arg of args) {
    const argument = command.createArgument(arg);
    argument.description = spec.args?.[argument.name()] ?? "";
    command.addArgument(argument);
  }
  if (spec.usage !== undefined) command.usage(spec.usage);
  if (spec.examples !== undefined) command.addHelpText("after", spec.examples);
  for (const use of spec.options ?? []) addOptions(command, use, spec.continues === true);
  for (const child of Object.entries(spec.commands ?? {})) addCommand(command, child, stdout, run);
  const { load } = spec;
  if (load !== undefined) command.action(() => run(load, command.opts(), given(command)));
  // The start of a shell waits for the script: a faulty config file must not prevent it.
  else if (spec.commands === undefined) {
    command.action(async (shell: string) => {
      const { completionScript } = await import("./completion.ts");
      stdout.write(completionScript(shell));
    });
  }
}

function given({ processedArgs }: Command): readonly string[] {
  return (processedArgs as readonly (string | readonly string[] | undefined)[]).flat().filter((word) => word !== undefined);
}

function addOptions(command: Command, use: OptionUse, continues: boolean): void {
  if (typeof use === "string" && use.endsWith(":")) return void command.optionsGroup(use);
  for (const [name, own] of typeof use === "string" ? [[use, undefined] as const] : Object.entries(use)) {
    const entry = ENTRIES[name] as OptionEntry;
    const isHidden = continues && entry.fixed !== undefined;
    const { later = entry.text } = entry;
    const [flags, text] = typeof own === "object" ? own : [entry.flags, own ?? (continues ? later : entry.text)];
    command.addOption(optionOf(flags, isHidden ? "" : text, entry));
    if (entry.not !== undefined) command.addOption(optionOf(flags.replace("--", "--no-"), isHidden ? "" : entry.not, entry));
  }
}

function optionOf(flags: string, text: string, { list, required }: OptionEntry): Option {
  const option = new Option(flags, list === true ? `${text}; may come more than once` : text);
  if (text === "") option.hideHelp();
  if (required === true) option.makeOptionMandatory();
  if (list !== true) return option;
  return option.argParser<readonly string[] | undefined>((value, before) => [...(before ?? []), value]);
}
