import { canonicalJson, type Json } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import type { RunStarted } from "../../runtime/record/event.ts";
import { type CellParams, DEFAULT_ROUNDS, OWN_COLUMNS } from "./cell.ts";
import type { ExperimentOptions, ExperimentWorld } from "./experiment.ts";
import type { Manifest } from "./manifest.ts";
import { columnsOf, type Row } from "./tables.ts";

/** The declarations of a program, from the start of a run and the options of the experiment. */
export interface WorldFacts {
  readonly team: string;
  readonly roles: readonly RoleFacts[];
  /** The number of roles of further kinds. Left out by older versions. */
  readonly others?: number;
  readonly scheduler: string;
  readonly parameters: Json;
  readonly arrival: string;
  readonly edges: Json;
  /** The source of functions, by their names: `stop`, `collect.poor`. */
  readonly sources: { readonly [name: string]: string };
}

interface RoleFacts {
  readonly count: number;
  readonly first: string;
  readonly traits: Json;
  readonly state: Json;
}

const MAX_SOURCE = 2_000;
const MAX_KINDS = 100;

export function worldFacts(start: RunStarted, options: ExperimentOptions<CellParams, ExperimentWorld>): WorldFacts {
  const kinds = new Map<string, RoleFacts>();
  let others = 0;
  for (const { name, traits, state } of start.roles) {
    const card = isRecord(traits["card"]) ? Object.fromEntries(Object.entries(traits["card"]).filter(([one]) => one !== "name")) : {};
    const kind = { ...traits, card } as Json;
    const key = canonicalJson([kind, state]);
    const known = kinds.get(key);
    if (known !== undefined) kinds.set(key, { ...known, count: known.count + 1 });
    else if (kinds.size < MAX_KINDS) kinds.set(key, { count: 1, first: name, traits: kind, state: state as Json });
    else others += 1;
  }
  const { stop, collect = {}, measure, begin } = options;
  const named = { begin, stop, measure, ...Object.fromEntries(Object.entries(collect).map(([name, of]) => [`collect.${name}`, of])) };
  const sources = Object.entries(named).flatMap(([name, of]) => (of === undefined ? [] : [[name, String(of).slice(0, MAX_SOURCE)]]));
  return {
    team: start.team,
    roles: [...kinds.values()],
    others,
    scheduler: start.scheduler,
    parameters: start.parameters ?? null,
    arrival: start.arrival ?? "hire",
    edges: (start.edges ?? []) as Json,
    sources: Object.fromEntries(sources) as WorldFacts["sources"],
  };
}

/** Returns the description of a study after the ODD protocol (Grimm et al. 2020). What only its author knows stays a question. */
export function oddText(manifest: Manifest, rows: readonly Row[]): string {
  const head = [`# ${manifest.experiment.name}`, "Made by Troupe from the declarations of the program. Replace what stands in brackets."];
  const parts = [...head, ...overview(manifest), ...concepts(manifest, rows), ...details(manifest)];
  return `${parts.filter((part) => part !== undefined && part !== null).join("\n\n")}\n`;
}

type Part = string | null | undefined;

function overview({ experiment: { rounds, budget }, world }: Manifest): readonly Part[] {
  const limit = rounds === DEFAULT_ROUNDS ? `${rounds} (also the default)` : String(rounds);
  return [
    "## Overview",
    "### Purpose and patterns",
    "[The question, and the patterns by which the model is judged.]",
    "### Entities, state variables and scales",
    ...(world?.roles ?? []).map(
      ({ count, first, traits, state }) => `- ${count} like \`${first}\`: ${code(traits)}, with the state ${code(state)}.`,
    ),
    (world?.others ?? 0) === 0 ? undefined : `- ${world?.others} more, of other kinds or with other states.`,
    world === null || world === undefined ? "[No run has shown its roles.]" : undefined,
    `- A run has at most ${limit} rounds${Object.keys(budget).length === 0 ? "" : `, and the budget ${code(budget)}`}.`,
    "### Process overview and scheduling",
    world && `- Scheduler: ${world.scheduler}${world.parameters === null ? "" : `, with ${code(world.parameters)}`}.`,
    world && `- Messages that arrive together: in the order \`${world.arrival}\`.`,
    world && `- Faults on the way of messages: ${code(world.edges) === "`[]`" ? "none" : code(world.edges)}.`,
    source(world, "stop", "A run ends when this returns true:"),
  ];
}

function concepts({ experiment: { cells, seed, seeds, collect }, used }: Manifest, rows: readonly Row[]): readonly Part[] {
  const measures = columnsOf(rows).filter((one) => !OWN_COLUMNS.includes(one) && !(one in (cells[0] ?? {})));
  const shared = seeds === "common" ? "common to all cells, which are compared in pairs" : "independent for each cell";
  const models = (used?.asked ?? []).map(
    ({ id, options, served }) => `- ${id}, with ${code(options)}${served === undefined ? "" : `; answered by ${code(served)}`}`,
  );
  return [
    "## Design concepts",
    `- Stochasticity: seed ${seed}; seeds of repetitions are ${shared}.`,
    `- Observation: ${[...collect, ...measures].map((one) => `\`${one}\``).join(", ") || "the counts of each run"}.`,
    "- Interaction: by messages, along the addresses and watched causes of the roles.",
    ...models,
    used && `- System prompts: ${used.prompts.count}, sha256 ${used.prompts.sha256}.`,
    "- [Basic principles, emergence, adaptation, objectives, learning, prediction, sensing and collectives.]",
  ];
}

function details({ experiment: { cells }, asked, world, module, versions }: Manifest): readonly Part[] {
  const measured = Object.keys(world?.sources ?? {}).filter((one) => one === "measure" || one.startsWith("collect."));
  return [
    "## Details",
    "### Initialization",
    source(world, "begin", "A run begins with:") ?? "[How a run begins.]",
    "### Input data",
    "[Files and data that the program reads.]",
    module && `- Module: sha256 ${module.sha256}, with ${Object.keys(module.imports).length} imported files.`,
    `- Made with Troupe ${versions.troupe} and Node.js ${versions.node}.`,
    "### Submodels",
    ...Object.keys(cells[0] ?? {}).map((one) => `- Parameter \`${one}\`: ${valuesOf(cells.map((cell) => cell[one]))}`),
    `- Cells: ${cells.length}; repetitions of each: ${[...new Set(asked)].sort((a, b) => a - b).join(", ")}.`,
    ...measured.map((one) => source(world, one, `\`${one}\`:`)),
  ];
}

function source(world: WorldFacts | null | undefined, name: string, text: string): string | undefined {
  const found = world?.sources[name];
  return found === undefined ? undefined : `${text}\n\n\`\`\`\`js\n${found}\n\`\`\`\``;
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value).replaceAll("`", "'")}\``;
}

const MAX_VALUES = 20;

function valuesOf(values: readonly unknown[]): string {
  const different = [...new Set(values)];
  const shown = different.slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
  return `${shown.join(", ")}${different.length > MAX_VALUES ? ` and ${different.length - MAX_VALUES} more` : ""}.`;
}
