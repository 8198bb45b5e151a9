import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parsedJson } from "../../../src/kernel/json.ts";
import { scratchFolder } from "../scratch.ts";

/** The actions of a stand-in in one start. */
export interface Acts {
  /** A pattern of the order for which these acts are. */
  readonly when?: string;
  /** Milliseconds that it takes after its files are written. */
  readonly pause?: number;
  readonly say?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly removed?: readonly string[];
  readonly commands?: readonly (readonly [string, ...string[]])[];
  /** Dollars that it reports. */
  readonly cost?: number;
  readonly error?: string;
  readonly exit?: number;
  readonly stderr?: string;
  readonly hang?: boolean;
  /** It gives no id of its conversation. */
  readonly isSilent?: boolean;
  /** A question about permission, by ACP. */
  readonly question?: string;
  readonly stop?: string;
}

export interface Start {
  readonly args: readonly string[];
  readonly order: string;
  readonly pid: number;
  readonly variables: readonly string[];
  readonly cwd: string;
}

export const PROTOCOLS: Readonly<Record<string, readonly string[]>> = {
  claude: ["claude", "-p"],
  codex: ["codex", "exec"],
  gemini: ["gemini"],
  opencode: ["opencode", "run"],
  acp: ["agent", "--acp"],
  plain: ["agent"],
};

/** A coding agent that is a script of this folder, under the name of a real one. A list of acts has one for each start. */
export function standIn(protocol: string, acts: Acts | readonly Acts[]) {
  const folder = scratchFolder();
  const [program = "", ...args] = PROTOCOLS[protocol] ?? [];
  const file = join(folder, "bin", program);
  mkdirSync(join(folder, "bin"));
  symlinkSync(fileURLToPath(new URL("stand-in.mjs", import.meta.url)), file);
  const log = join(folder, "log.jsonl");
  const variables = { STAND_IN: JSON.stringify(acts), STAND_IN_LOG: log, STAND_IN_COUNT: join(folder, "count") };
  return {
    command: [file, ...args],
    variables,
    /** The starts until now. */
    starts: (): readonly Start[] => {
      const lines = existsSync(log) ? readFileSync(log, "utf8").split("\n") : [];
      // A kill may have cut the last line.
      return lines.flatMap((line) => (parsedJson(line) as Start | undefined) ?? []);
    },
  };
}
