import { type Argument, Command, CommanderError, Option } from "commander";
import { UsageError } from "../kernel/errors.ts";
import type { CommandSpec, Handler, OptionUse } from "./command-spec.ts";
import { COMMANDS } from "./command-table.ts";
import { failed } from "./error-report.ts";
import type { ExitCode } from "./errors.ts";
import { EXAMPLES } from "./help-texts.ts";
import type { Host } from "./host.ts";
import { ENTRIES, type OptionEntry } from "./options.ts";

const COMPLETE = "__complete";

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
  if (words[0] === COMPLETE) {
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
    throw new UsageError("COMMAND_INVALID", `${error.message.replace(/^error: |\.$/g, "")}. See: troupe --help`);
  }
}

function programFor(host: Host, run: RunCommand): Command {
  const program = new Command("troupe");
  const { stdout, stderr } = host;
  program
    .description("A company of AI roles takes one sentence to a tested project on disk.")
    .usage('[options] "idea" | <command>')
    .version(host.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .helpCommand("help [command]", "print the help of a command")
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text), outputError: () => {} })
    .addHelpText("after", EXAMPLES);
  for (const spec of COMMANDS) addCommand(program, spec, host, run);
  // The options of `run` are the options of `troupe` itself.
  const [company] = program.commands;
  const help = program.createHelp();
  const isOwn = ({ long }: Option): boolean => long !== "--help";
  program.configureHelp({
    visibleOptions: (command) =>
      command === program && company !== undefined
        ? [...help.visibleOptions(company).filter(isOwn), ...help.visibleOptions(program)]
        : help.visibleOptions(command),
  });
  return program;
}

function addCommand(parent: Command, spec: CommandSpec, host: Host, run: RunCommand): void {
  const [name = "", ...args] = spec.name.split(" ");
  if (spec.group !== undefined) parent.commandsGroup(spec.group);
  const command = parent.command(name, { isDefault: spec.isDefault === true }).description(spec.text);
  for (const arg of args) command.addArgument(withText(command.createArgument(arg), spec));
  if (spec.usage !== undefined) command.usage(spec.usage);
  if (spec.examples !== undefined) command.addHelpText("after", spec.examples);
  for (const use of spec.options ?? []) addOptions(command, use, spec.continues === true);
  for (const child of spec.commands ?? []) addCommand(command, child, host, run);
  const { load } = spec;
  if (load !== undefined) command.action(() => run(load, command.opts(), given(command)));
  // The start of a shell waits for the script: a fault of a config file is no reason to give it none.
  else if (spec.commands === undefined) command.action(async (shell: string) => void host.stdout.write(await scriptOf(shell)));
}

function withText(argument: Argument, { args = {} }: CommandSpec): Argument {
  argument.description = args[argument.name()] ?? "";
  return argument;
}

function given({ processedArgs }: Command): readonly string[] {
  return (processedArgs as readonly (string | readonly string[] | undefined)[]).flat().filter((word) => word !== undefined);
}

async function scriptOf(shell: string): Promise<string> {
  const { completionScript } = await import("./completion-scripts.ts");
  return completionScript(shell);
}

function addOptions(command: Command, use: OptionUse, continues: boolean): void {
  if (typeof use === "string" && use.endsWith(":")) return void command.optionsGroup(use);
  for (const [name, own] of typeof use === "string" ? [[use, undefined] as const] : Object.entries(use)) {
    const entry = ENTRIES[name] ?? { flags: "" };
    const [flags, text] = typeof own === "object" ? own : [entry.flags, own ?? helpText(entry, continues)];
    command.addOption(optionOf(flags, text, entry));
    if (entry.not === undefined) continue;
    const not = continues && entry.fixed !== undefined ? "" : entry.not;
    command.addOption(optionOf(flags.replace("--", "--no-"), not, entry));
  }
}

function helpText({ text = "", later = text, fixed }: OptionEntry, continues: boolean): string {
  if (!continues) return text;
  return fixed === undefined ? later : "";
}

function optionOf(flags: string, text: string, { list, required }: OptionEntry): Option {
  const option = new Option(flags, list === true ? `${text}; may come more than once` : text);
  if (text === "") option.hideHelp();
  if (required === true) option.makeOptionMandatory();
  if (list !== true) return option;
  return option.argParser<readonly string[] | undefined>((value, before) => [...(before ?? []), value]);
}
