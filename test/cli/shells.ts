import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { SHELLS } from "../../src/cli/completion.ts";
import { scratchFolder } from "./fake-host.ts";

const MAIN = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));

/** The shells of this machine. */
export const installed: ReadonlySet<(typeof SHELLS)[number]> = new Set(
  SHELLS.filter((shell) => spawnSync(shell, ["--version"]).status === 0),
);
for (const shell of SHELLS) {
  if (!installed.has(shell)) process.stderr.write(`\nCompletion is not tested in ${shell}: it is not installed\n`);
}

/** Milliseconds after which a shell is taken to hang. Each completion starts the command, which takes seconds on a busy machine. */
const PATIENCE = 180_000;

/** Shells in a folder, with the built command in their path. */
export class ShellSeat {
  readonly cwd: string;
  readonly #bin: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(cwd: string, env: Readonly<Record<string, string>> = {}) {
    this.cwd = cwd;
    this.#bin = join(scratchFolder(), "bin");
    this.#env = env;
    mkdirSync(this.#bin);
    const command = join(this.#bin, "troupe");
    writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
    chmodSync(command, 0o755);
  }

  /** Returns the output of a shell that runs some lines. */
  run(shell: (typeof SHELLS)[number], lines: string): string {
    const home = scratchFolder();
    const path = `${this.#bin}${delimiter}${process.env["PATH"] ?? ""}`;
    const options = shell === "zsh" ? ["-f"] : shell === "bash" ? ["--norc", "--noprofile"] : ["--no-config"];
    const env = { PATH: path, HOME: home, XDG_CONFIG_HOME: home, TERM: "dumb", LANG: "C.UTF-8", ...this.#env };
    const ended = spawnSync(shell, [...options, "-c", lines], { cwd: this.cwd, encoding: "utf8", timeout: PATIENCE, env });
    if (ended.status === 0) return ended.stdout;
    throw new Error(`expected ${shell} to end well, but ${ended.status ?? ended.signal}: ${ended.stdout}${ended.stderr}`);
  }

  /** Types lines in a shell that has a terminal, each when the one before has ended, and gives what the shell showed. `\t` is the Tab. */
  typed(shell: "bash" | "zsh", keys: readonly string[]): string {
    const inner = shell === "zsh" ? "zsh -f -i" : "bash --norc --noprofile -i";
    const typing = keys.map((line, nth) => `zpty -w inner $'${line}; echo ready""${nth}'\nzpty -r -m inner all '*ready${nth}*'`);
    const script = `zmodload zsh/zpty
zpty inner ${inner}
zpty -w inner 'source <(troupe completion ${shell}); echo rea""dy'
zpty -r -m inner all '*ready*'
${typing.join("\nshown+=$all\n")}
print -r -- "$shown$all"
zpty -d inner`;
    return this.run("zsh", script);
  }

  /** The candidates that bash has for each list of words, as its reader of lines divides them. */
  bashWords(...lines: readonly (readonly string[])[]): readonly (readonly string[])[] {
    const asked = lines.map((words) => {
      const quoted = ["troupe", ...words].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
      return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; _troupe troupe; printf '%s ' "\${COMPREPLY[@]}"; echo`;
    });
    const shown = this.run("bash", ["source <(troupe completion bash)", ...asked].join("\n"));
    return linesOf(shown).map((line) => line.trim().split(" "));
  }

  /** The candidates that fish has for a line, without their descriptions. */
  fishWords(line: string): readonly string[] {
    const quoted = `'${line.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
    return linesOf(this.run("fish", `troupe completion fish | source\ncomplete -C ${quoted}`)).map((one) => one.split("\t")[0] ?? "");
  }
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}
