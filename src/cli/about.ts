import { isAbsolute } from "node:path";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../kernel/json.ts";
import { maskSecrets } from "../kernel/mask.ts";
import { mapped } from "../kernel/value-kind.ts";
import type { MicroUsd } from "../model/money.ts";
import type { TokenPrice } from "../model/price.ts";
import { isErasedAbout, textErased } from "../runtime/record/erased-event.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { turnCount } from "../runtime/record/turn-count.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import type { ChosenModel } from "./model-settings.ts";
import { ENTRIES, type Flags, type OptionEntry, OPTIONS } from "./options.ts";
import {
  AgentSchema,
  type AgentSettings,
  companyOptions,
  companySettings,
  type CompanySettings,
  conflict,
  type CrewSettings,
  FileCrewSchema,
  ModuleCrewSchema,
  toolNames,
} from "./settings.ts";

const PriceSchema = z.object({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cachedInput: z.number().nonnegative().exactOptional(),
});
const ModelSchema = z.object({ id: z.string().min(1), price: PriceSchema.optional() });

function optionsOf(crew: CrewSettings["kind"]): Record<string, z.ZodType> {
  const own = Object.entries(ENTRIES).filter(([, { crews }]) => crews?.some((one) => one === crew) === true);
  const typeOf = ({ value, flags }: OptionEntry): z.ZodType => {
    if (typeof value === "object") return z.enum(value);
    return value === "dollars" ? z.int().nonnegative() : flags.includes("<") ? z.string() : z.boolean();
  };
  return Object.fromEntries(own.map(([name, entry]) => [name, typeOf(entry).optional()]));
}

const CrewSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("software-company"),
    existing: z.boolean().optional(),
    asks: z.boolean().optional(),
    isSpec: z.boolean().optional(),
    ...optionsOf("software-company"),
  }),
  z.object({ kind: z.literal("waterfall"), ...optionsOf("waterfall") }),
  FileCrewSchema,
  ModuleCrewSchema,
]) as z.ZodType<CrewSettings>;

const AboutSchema = z.object({
  command: z.literal("troupe"),
  version: z.string(),
  idea: z.string(),
  out: z.string().refine(isAbsolute),
  model: ModelSchema.extend({ baseURL: z.url({ protocol: /^https?$/ }).optional() }),
  demo: z.string().min(1).optional(),
  seed: z.string().optional(),
  rounds: z.int().positive(),
  codeReview: z.boolean(),
  runTests: z.boolean(),
  sandbox: z.enum(OPTIONS.sandbox.value),
  sandboxKind: z.enum(["bubblewrap", "none", "refused"]),
  allowUnpriced: z.boolean(),
  crew: CrewSchema,
  models: z.record(z.string(), ModelSchema).optional(),
  agent: AgentSchema.optional(),
  /** Proves that the run was begun with the store that holds it. */
  seal: z.string(),
});

/** The facts this command keeps with a run, to continue it in another process. Never a key. */
export type RunAbout = Readonly<z.infer<typeof AboutSchema>>;

export interface Beginning {
  readonly version: string;
  readonly idea: string;
  readonly folder: string;
  readonly settings: Pick<
    CompanySettings,
    "rounds" | "codeReview" | "runTests" | "allowUnpriced" | "seed" | "sandbox" | "agent" | "crew" | "models"
  >;
  readonly chosen: Pick<ChosenModel, "model" | "baseURL" | "demo" | "secrets" | "modelOf">;
  readonly sandbox: Sandbox;
  readonly seal: string;
}

export function aboutFor({ version, idea, folder, settings, chosen, sandbox, seal }: Beginning): Json {
  const { rounds, codeReview, runTests, allowUnpriced, seed, agent, crew, models } = settings;
  const mask = maskSecrets(chosen.secrets);
  const about: RunAbout = {
    command: "troupe",
    version,
    idea: mask(idea),
    out: folder,
    model: { ...recordedModel(chosen.model), baseURL: publicURL(chosen.baseURL) },
    demo: chosen.demo,
    seed,
    rounds,
    codeReview,
    runTests,
    sandbox: settings.sandbox,
    sandboxKind: sandbox.kind,
    allowUnpriced,
    crew: crew.kind === "file" ? { ...crew, text: mask(crew.text) } : crew,
    models: models && mapped(models, (other) => recordedModel(chosen.modelOf(other))),
    agent,
    seal,
  };
  return jsonRoundTrip(about) as unknown as Json;
}

function recordedModel({ id, price }: Pick<ChosenModel["model"], "id" | "price">): { readonly id: string; readonly price?: TokenPrice } {
  if (price === undefined) return { id };
  const { input, output, cachedInput } = price;
  return { id, price: { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) } };
}

export function publicURL(baseURL: string | undefined): string | undefined {
  if (baseURL === undefined || !URL.canParse(baseURL)) return undefined;
  const { origin, pathname } = new URL(baseURL);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

export function readAbout(about: Json): RunAbout | undefined {
  return AboutSchema.safeParse(about).data;
}

export function aboutOf(runId: string, about: Json): RunAbout {
  if (isErasedAbout(about)) throw textErased(runId);
  const known = readAbout(about);
  if (known !== undefined) return known;
  const expected = `Expected a run that this command began, but ${runId} was begun by a program, which alone has its team`;
  throw new UsageError("RUN_FOREIGN", `${expected}. Resume it there: team.resume("${runId}").`);
}

export type Standing = Pick<RunState, "round" | "budget" | "bounds">;

export function standingOf(state: RunState, hasMessage: boolean): Standing {
  const { budget, bounds } = state;
  return { budget, bounds, round: hasMessage ? 0 : turnCount(state).rounds };
}

/** A run that has used up the rounds of its turn gets as many again. */
export function recordedSettings(about: RunAbout, { round, budget, bounds }: Standing, flags: Flags): CompanySettings {
  const given = companySettings(flags);
  const isLimited = flags.rounds !== undefined;
  if (isLimited && given.rounds <= round) {
    const expected = `Expected --rounds to be more than the ${round} rounds that the run has had, got ${given.rounds}`;
    throw new UsageError("ROUNDS_USED", `${expected}. It counts the rounds since the last message to the run.`);
  }
  const limit = bounds.rounds ?? about.rounds;
  return {
    budget: given.isBudgetExplicit || budget === undefined ? given.budget : (budget as MicroUsd),
    isBudgetExplicit: given.isBudgetExplicit,
    allowUnpriced: given.allowUnpriced || about.allowUnpriced,
    rounds: isLimited ? given.rounds : round < limit ? limit : round + about.rounds,
    out: about.out,
    force: given.force,
    seed: about.seed,
    sandbox: flags.sandbox === undefined ? about.sandbox : given.sandbox,
    codeReview: flags.codeReview ?? about.codeReview,
    runTests: flags.runTests ?? about.runTests,
    crew: continuedCrew(about, flags),
    models: about.models && mapped(about.models, ({ id }) => id),
    ...continuedAgent(about.agent, flags),
  };
}

function continuedCrew({ crew, agent }: RunAbout, flags: Flags): CrewSettings {
  const { own, foreign } = companyOptions(flags, agent === undefined ? crew.kind : "agent");
  if (foreign === undefined) return { ...crew, ...own };
  const name = agent !== undefined ? "troupe agent" : crew.kind === "file" ? crew.name : crew.kind;
  throw conflict(`Expected ${foreign} for a run of the software-company, got it for one of ${name}. Leave it out.`);
}

function continuedAgent(agent: AgentSettings | undefined, { steps, allow, commit }: Flags): Pick<CompanySettings, "agent" | "allowed"> {
  if (agent !== undefined) {
    const names = [...agent.tools, ...(agent.mcpTools ?? []).map(({ name }) => name)];
    return {
      agent: { ...agent, steps: steps ?? agent.steps, ...(commit === false ? { commit } : {}) },
      ...(allow === undefined ? {} : { allowed: toolNames("--allow", allow, names) }),
    };
  }
  const given = steps !== undefined ? "--steps" : allow !== undefined ? "--allow" : commit === false ? "--no-commit" : undefined;
  if (given === undefined) return {};
  throw conflict(`Expected ${given} for a run of troupe agent, got it for one of a crew. Leave it out.`);
}
