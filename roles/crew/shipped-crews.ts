import { z } from "zod";
import { faultsOf } from "../../src/adapters/form-faults.ts";
import type { Role } from "../../src/index.ts";
import type { Sandbox, Workspace } from "../../src/workspace/index.ts";
import type { SearchProvider, WebAccess } from "../../src/tools/index.ts";
import { softwareCompany } from "../company/software-company.ts";
import { dataInterpreter } from "../data-interpreter.ts";
import { research } from "../research.ts";
import { waterfallCompany } from "../waterfall/waterfall-company.ts";

/** The ports that shipped crews use. */
export interface ShippedPorts {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly search?: readonly SearchProvider[] | undefined;
  readonly web?: WebAccess | false | undefined;
}

/** A shipped crew: its options, and its roles. */
interface ShippedCrew<S extends z.ZodType> {
  /** The name of its team: a part of its prompts. */
  readonly name: string;
  /** One line for a list. */
  readonly description: string;
  readonly options: S;
  readonly open: (options: z.infer<S>, ports: ShippedPorts) => readonly Role[];
}

function shipped<S extends z.ZodType>(crew: ShippedCrew<S>): ShippedCrew<z.ZodType> {
  return { ...crew, open: (options, ports) => crew.open(options as z.infer<S>, ports) };
}

const waterfall = shipped({
  name: "software company",
  description: "MetaGPT's software company: product manager, architect, project manager, engineer, QA engineer",
  options: z.strictObject({
    codeReview: z.boolean().optional(),
    runTests: z.boolean().optional(),
    implement: z.boolean().optional(),
    debugRounds: z.int().min(1).max(100).optional(),
    reviewRounds: z.int().min(1).max(100).optional(),
  }),
  open: ({ codeReview = true, runTests = true, implement = true, debugRounds = 3, reviewRounds = 2 }, { workspace, sandbox }) =>
    waterfallCompany({ workspace, sandbox, codeReview, runTests, implement, debugRounds, reviewRounds }),
});

const company = shipped({
  name: "",
  description: "the software company: it proves what it delivers by running it",
  options: z.strictObject({
    size: z.enum(["S", "M", "L"]).optional(),
    stack: z.enum(["node", "page", "python"]).optional(),
    review: z.boolean().optional(),
  }),
  open: ({ size, stack, review }, { workspace, sandbox }) => softwareCompany({ workspace, sandbox, size, stack, review }),
});

const interpreter = shipped({
  name: "",
  description: "one agent that answers questions about data with cells of Python, and writes charts",
  options: z.strictObject({ steps: z.int().min(1).max(1_000).optional() }),
  open: ({ steps }, { workspace, sandbox }) => dataInterpreter({ workspace, sandbox, steps }),
});

const researcher = shipped({
  name: "",
  description: "a report with sources: searches, reads pages, cites what it read",
  options: z.strictObject({ questions: z.int().min(1).max(20).optional(), pages: z.int().min(1).max(20).optional() }),
  open: ({ questions, pages }, { workspace, search, web }) =>
    research({ workspace, questions, pages, search, ...(web === false ? {} : { web }) }),
});

const crews: ReadonlyMap<string, ShippedCrew<z.ZodType>> = new Map([
  ["software-company", company],
  ["waterfall", waterfall],
  ["data-interpreter", interpreter],
  ["research", researcher],
]);

/** Returns the shipped crews: the names that `use` takes, each with a line of description. */
export function shippedCrews(): readonly { readonly name: string; readonly description: string }[] {
  return [...crews].map(([name, { description }]) => ({ name, description }));
}

/** A fault of the member `use` or `with` of a crew. */
interface ShippedFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** True when the fault is the key. */
  readonly isKey: boolean;
}

/** Returns the faults of a shipped crew's name and of its options. @internal */
export function shippedFaults(use: string, options: Readonly<Record<string, unknown>>): readonly ShippedFault[] {
  const crew = crews.get(use);
  if (crew === undefined) {
    const named = faultsOf(z.object({ use: z.enum([...crews.keys()]) }), { use });
    return named.kind === "fits" ? [] : named.faults.map(({ message }) => ({ path: ["use"], message, isKey: false }));
  }
  const found = faultsOf(z.object({ with: crew.options }), { with: options });
  if (found.kind === "fits") return [];
  return found.faults.map(({ at, key, message }) => ({ path: key === undefined ? at : [...at, key], message, isKey: key !== undefined }));
}

/** Returns the roles of a shipped crew with options that fit, and the name of its team. */
export function shippedRoles(
  use: string,
  options: Readonly<Record<string, unknown>>,
  ports: ShippedPorts,
): { readonly name: string; readonly roles: readonly Role[] } {
  const crew = crews.get(use);
  if (crew === undefined) return { name: use, roles: [] };
  return { name: crew.name, roles: crew.open(crew.options.parse(options), ports) };
}
