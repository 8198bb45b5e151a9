import { z } from "zod";
import { faultsOf } from "../../src/adapters/form-faults.ts";
import { stackNames } from "../../src/checks/stacks.ts";
import type { Role } from "../../src/index.ts";
import type { Sandbox, Workspace } from "../../src/workspace/index.ts";
import type { SearchProvider, WebAccess } from "../../src/tools/index.ts";
import { softwareCompany } from "../company/software-company.ts";
import { dataInterpreter } from "../data-interpreter.ts";
import { research } from "../research.ts";
import { waterfallCompany } from "../waterfall/waterfall-company.ts";

interface ShippedPorts {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly search?: readonly SearchProvider[] | undefined;
  readonly web?: WebAccess | false | undefined;
}

/** A shipped crew. `team` is the name of its team, which is a part of its prompts. */
interface ShippedCrew<S extends z.ZodType = z.ZodType> {
  readonly team?: string;
  readonly description: string;
  readonly options: S;
  readonly open: (options: z.infer<S>, ports: ShippedPorts) => readonly Role[];
}

function shipped<S extends z.ZodType>(crew: ShippedCrew<S>): ShippedCrew {
  return { ...crew, open: (options, ports) => crew.open(options as z.infer<S>, ports) };
}

const crews: ReadonlyMap<string, ShippedCrew> = new Map([
  [
    "software-company",
    shipped({
      description: "the software company: it proves what it delivers by running it",
      options: z.strictObject({
        size: z.enum(["S", "M", "L"]).optional(),
        stack: z.enum(stackNames).optional(),
        review: z.boolean().optional(),
        designReview: z.boolean().optional(),
      }),
      open: (options, { workspace, sandbox }) => softwareCompany({ workspace, sandbox, ...options }),
    }),
  ],
  [
    "waterfall",
    shipped({
      team: "software company",
      description: "MetaGPT's software company: product manager, architect, project manager, engineer, QA engineer",
      options: z.strictObject({
        codeReview: z.boolean().optional(),
        runTests: z.boolean().optional(),
        implement: z.boolean().optional(),
        debugRounds: z.int().min(1).max(100).optional(),
        reviewRounds: z.int().min(1).max(100).optional(),
      }),
      open: (options, { workspace, sandbox }) => waterfallCompany({ workspace, sandbox, ...options }),
    }),
  ],
  [
    "data-interpreter",
    shipped({
      description: "one agent that answers questions about data with cells of Python, and writes charts",
      options: z.strictObject({ steps: z.int().min(1).max(1_000).optional() }),
      open: (options, { workspace, sandbox }) => dataInterpreter({ workspace, sandbox, ...options }),
    }),
  ],
  [
    "research",
    shipped({
      description: "a report with sources: searches, reads pages, cites what it read",
      options: z.strictObject({ questions: z.int().min(1).max(20).optional(), pages: z.int().min(1).max(20).optional() }),
      open: (options, { workspace, search, web }) => research({ workspace, search, ...options, ...(web === false ? {} : { web }) }),
    }),
  ],
]);

/** Returns the shipped crews: the names that `use` takes, each with a line of description. */
export function shippedCrews(): readonly { readonly name: string; readonly description: string }[] {
  return [...crews].map(([name, { description }]) => ({ name, description }));
}

/** The faults of a shipped crew's name and of its options. `isKey`: the fault is the key of the path. */
export function shippedFaults(use: string, options: Readonly<Record<string, unknown>>) {
  const crew = crews.get(use);
  const found =
    crew === undefined
      ? faultsOf(z.object({ use: z.enum([...crews.keys()]) }), { use })
      : faultsOf(z.object({ with: crew.options }), { with: options });
  if (found.kind === "fits") return [];
  return found.faults.map(({ at, key, message }) => ({ path: key === undefined ? at : [...at, key], message, isKey: key !== undefined }));
}

/** The roles of a shipped crew with options that fit, and the name of its team. */
export function shippedRoles(use: string, options: Readonly<Record<string, unknown>>, ports: ShippedPorts) {
  const crew = crews.get(use);
  return { name: crew?.team ?? "", roles: crew?.open(crew.options.parse(options), ports) ?? [] };
}
