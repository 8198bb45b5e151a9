import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../kernel/errors.ts";
import type { ModelPrice } from "../model/price.ts";

/** An idea whose replies are bundled, so that it can be played without a model. */
export interface DemoIdea {
  /** Name of its folder in `demo/`. */
  readonly id: string;
  readonly title: string;
  /** The idea in the words the roles are given. */
  readonly idea: string;
  /** Other words for the same idea. */
  readonly aliases: readonly string[];
  /** Name of the scripted model. */
  readonly model: string;
  /** What its replies cost in the ledger, as if a model had written them. */
  readonly price: ModelPrice;
  /** Absolute path of the replies. */
  readonly folder: string;
}

/**
 * The bundled ideas, by id.
 *
 * @throws UsageError `DEMO_MISSING` when the package has lost its demo folder, `DEMO_INVALID` when an idea there cannot be read.
 */
export async function demoIdeas(): Promise<DemoIdea[]> {
  const folder = demoFolder();
  const entries = await readdir(folder, { withFileTypes: true });
  const ids = entries
    .filter((entry) => entry.isDirectory() && existsSync(join(folder, entry.name, "idea.json")))
    .map((entry) => entry.name);
  return Promise.all(ids.sort().map((id) => readIdea(id, join(folder, id))));
}

/** The bundled idea a text means: by its words, title, id or another way to say it. Case, punctuation, spaces and a leading article do not count. */
export function matchIdea(text: string, ideas: readonly DemoIdea[]): DemoIdea | undefined {
  const wanted = normalised(text);
  if (wanted === "") return undefined;
  return ideas.find(({ id, title, idea, aliases }) => [idea, title, id, ...aliases].some((words) => normalised(words) === wanted));
}

function normalised(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .replace(/^(an?|the) /, "");
}

/** `demo/` stands beside the package's own `package.json`, two folders up in the source and three in the build. */
function demoFolder(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (const up of ["../..", "../../.."]) {
    const folder = join(here, up, "demo");
    if (existsSync(folder) && existsSync(join(here, up, "package.json"))) return folder;
  }
  throw new UsageError(
    "DEMO_MISSING",
    `Expected the folder demo of this package above ${here}, but it is not there. Install the package again.`,
  );
}

async function readIdea(id: string, folder: string): Promise<DemoIdea> {
  const path = join(folder, "idea.json");
  try {
    const { title, idea, aliases, model, price } = JSON.parse(await readFile(path, "utf8")) as DemoIdea;
    if (![title, idea, model].every((text) => typeof text === "string" && text !== ""))
      throw new TypeError("title, idea or model is no text");
    if (!Array.isArray(aliases) || !aliases.every((alias) => typeof alias === "string")) throw new TypeError("aliases is no list of texts");
    if (typeof price?.input !== "number" || typeof price.output !== "number") throw new TypeError("price has no input and output");
    return { id, title, idea, aliases, model, price, folder };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError("DEMO_INVALID", `Expected a bundled idea in ${path}, but it cannot be read: ${reason}.`, { cause: error });
  }
}
