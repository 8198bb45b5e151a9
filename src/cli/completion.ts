import type { Command, Option } from "commander";
import type { Host } from "./host.ts";
import { AGENT_TOOLS, ENTRIES } from "./options.ts";
import { shown } from "./screen/text.ts";
import { oneOf } from "./option-words.ts";

interface Candidate {
  readonly word: string;
  readonly text: string;
}

type Source = "nothing" | "files" | "folders" | "demos" | "runs";

interface Expected {
  readonly words: readonly Candidate[];
  readonly source: Source;
  readonly prefix?: string;
}

interface Position {
  readonly command: Command;
  readonly given: readonly string[];
  readonly option?: Option | undefined;
  readonly isEnded?: boolean;
}

const LISTS: readonly string[] = ["tools", "allow"];
const SOURCES: Readonly<Record<string, Source>> = {
  ...{ file: "files", config: "files", crew: "files", module: "files", path: "folders", dir: "folders", folder: "folders" },
  ...{ id: "runs", ids: "runs", a: "runs", b: "runs" },
};
/** A Tab does not wait for the database of a fleet. */
const EXCEPTIONS: Readonly<Record<string, Source>> = {
  ...{ "demo id": "demos", "logs id": "nothing", "bring id": "nothing", "stop id": "nothing", "import as": "nothing" },
  ...{ "submit id": "nothing", "drain worker": "nothing" },
};
const MAX_DESCRIPTION = 80;
const MAX_RUNS = 100;
/** A word that a shell takes literally. Other ids are not offered: a shell would obey them. */
const PLAIN = /^[\p{L}\p{N}_.@:+][\p{L}\p{N}_.@:+-]*$/u;

export async function complete(host: Host, program: Command, [shell = "", , ...words]: readonly string[]): Promise<void> {
  const before = words.slice(0, -1);
  const current = words.at(-1) ?? "";
  const position = before.reduce(after, { command: program, given: [] });
  const { words: known, source, prefix = "" } = expectedAt(program, position, current);
  const stored = await storedWords(host, source, before, current.slice(prefix.length));
  const lines = [...known, ...plain(stored)]
    .map(({ word, text }) => ({ word: `${prefix}${word}`, text }))
    .filter(({ word }) => word.startsWith(current))
    .map(({ word, text }) => (shell === "bash" || text === "" ? word : `${word}\t${shown(text, MAX_DESCRIPTION)}`));
  const byShell = source === "files" || source === "folders" ? source : "nothing";
  host.stdout.write(`${[byShell, ...lines].join("\n")}\n`);
}

function expectedAt(program: Command, { command, given, option, isEnded }: Position, current: string): Expected {
  if (option !== undefined) return valuesOf(command, option, current);
  if (isEnded !== true && current.startsWith("-")) {
    const [name, value] = divided(current);
    const found = value === undefined ? undefined : optionNamed(command, name);
    if (found !== undefined) return { ...valuesOf(command, found, value ?? ""), prefix: `${name}=` };
    const options = withDefault(command).flatMap((one) => one.createHelp().visibleOptions(one));
    const byName = new Map(options.map(({ long, short, description }) => [long ?? short ?? "", description]));
    return { words: [...byName].map(([word, text]) => ({ word, text })), source: "nothing" };
  }
  const args = withDefault(command).at(-1)?.registeredArguments ?? [];
  const argument = (args[given.length] ?? args.findLast(({ variadic }) => variadic))?.name() ?? "";
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

function divided(word: string): readonly [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return word.startsWith("--") && at !== -1 ? [word.slice(0, at), word.slice(at + 1)] : [word, undefined];
}

function withDefault(command: Command): readonly Command[] {
  const { _defaultCommandName: name } = command as unknown as { readonly _defaultCommandName: string | null };
  return [command, ...command.commands.filter((one) => one.name() === name)];
}

function optionNamed(command: Command, name: string): Option | undefined {
  return withDefault(command)
    .flatMap((one) => one.options)
    .find(({ long, short }) => long === name || short === name);
}

function visibleCommands(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

function commandsOf(command: Command): readonly Candidate[] {
  return visibleCommands(command).map((one) => ({ word: one.name(), text: one.description() }));
}

function plain(words: readonly string[]): readonly Candidate[] {
  return words.map((word) => ({ word, text: "" }));
}

function valuesOf(command: Command, option: Option, typed: string): Expected {
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

function sourceOf(command: Command, name: string, placeholder: string): Source {
  return EXCEPTIONS[`${command.name()} ${name}`] ?? SOURCES[placeholder] ?? "nothing";
}

/** Words that the tree of commands does not have. An error yields none: what is printed here would end up in the user's line. */
async function storedWords(host: Host, source: Source, before: readonly string[], typed: string): Promise<readonly string[]> {
  try {
    if (source === "demos") return (await (await import("./demo-script.ts")).demoIdeas()).map(({ id }) => id);
    if (source !== "runs") return [];
    const at = before.lastIndexOf("--store");
    const store = at === -1 ? before.findLast((word) => word.startsWith("--store="))?.slice("--store=".length) : before[at + 1];
    return (await runIds(host, store, typed)).filter((id) => PLAIN.test(id));
  } catch {
    return [];
  }
}

async function runIds(host: Host, store: string | undefined, prefix: string): Promise<readonly string[]> {
  const [{ configured }, { isStore, storePlace }] = await Promise.all([import("./config.ts"), import("./store.ts")]);
  const { env } = await configured(host);
  const { path } = storePlace({ store }, { cwd: host.cwd, env });
  if (!(await isStore(path))) return [];
  const [{ sqlite }, { newestRuns }] = await Promise.all([import("../adapters/sqlite.ts"), import("../runtime/record/journal.ts")]);
  const journal = sqlite({ path });
  try {
    return (await newestRuns(journal, { limit: MAX_RUNS, prefix })).map(({ runId }) => runId);
  } finally {
    await journal.close();
  }
}

export const SHELLS = ["bash", "zsh", "fish"] as const;

/* The scripts ask the command by its name and not by the typed word: a Tab starts no program of the folder. No answer is ever evaluated. */

// The shell divides words at = and :, so they are joined again, and the part before is taken off the candidates. Works with bash 3.2.
const BASH = String.raw`# Completion of troupe for bash. Load it in ~/.bashrc: source <(troupe completion bash)
_troupe() {
  local words=() word joined= i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ \${#words[@]} -gt 0 && ( -n $joined || $word == [=:] ) ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    joined=
    [[ $word == [=:] ]] && joined=1
  done
  local whole=\${words[\${#words[@]} - 1]} typed=\${COMP_WORDS[COMP_CWORD]}
  [[ $typed == [=:] ]] && typed=
  local before=\${whole%"$typed"} line kind=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("\${line#"$before"}"); fi
  done < <(troupe __complete bash -- "\${words[@]}" 2>/dev/null)
  if [[ $kind != files && $kind != folders ]]; then return; fi
  if [[ \${#COMPREPLY[@]} -eq 0 ]] && type compopt >/dev/null 2>&1; then
    if [[ $kind == files ]]; then compopt -o default; else compopt -o dirnames; fi
    return
  fi
  type compopt >/dev/null 2>&1 && compopt -o filenames
  local action=-f
  [[ $kind == folders ]] && action=-d
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$action" -- "$typed")
}
complete -F _troupe troupe
`;

const ZSH = String.raw`#compdef troupe
# Completion of troupe for zsh. Load it in ~/.zshrc: source <(troupe completion zsh)
_troupe() {
  local -a lines values texts
  local line kind
  lines=("\${(@f)$(troupe __complete zsh -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)}")
  kind=\${lines[1]}
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${line%%$'\t'*}")
    texts+=("\${line/$'\t'/  -- }")
  done
  (( $#values )) && compadd -l -V troupe -d texts -a values
  case $kind in
    files) [[ $PREFIX == --*=* ]] && compset -P '*='; _files ;;
    folders) [[ $PREFIX == --*=* ]] && compset -P '*='; _files -/ ;;
  esac
}
if [[ $funcstack[1] == _troupe ]]; then
  _troupe "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
  compdef _troupe troupe
fi
`;

const FISH = String.raw`# Completion of troupe for fish. Load it in ~/.config/fish/config.fish: troupe completion fish | source
function __troupe_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l token (commandline -ct)
    set -l lines (troupe __complete fish -- $words $token 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    test (count $lines) -gt 0; and printf '%s\n' $lines
    set -l before (string match -r -- '^--[^=]*=' $token; or echo)
    set -l path (string replace -r -- '^--[^=]*=' '' $token)
    switch "$kind"
        case files
            printf '%s\n' $before(__fish_complete_path $path)
        case folders
            printf '%s\n' $before(__fish_complete_directories $path)
    end
end
complete -c troupe -f -a '(__troupe_complete)'
`;

export function completionScript(shell: string): string {
  return { bash: BASH, zsh: ZSH, fish: FISH }[oneOf("<shell>", shell, SHELLS)].replaceAll("\\${", "${");
}
