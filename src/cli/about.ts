import { isAbsolute } from "node:path";
import { z } from "zod";
import { UsageError } from "../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../kernel/json.ts";
import { maskSecrets } from "../kernel/mask.ts";
import type { TokenPrice } from "../model/price.ts";
import type { Sandbox, SandboxMode } from "../workspace/sandbox.ts";
import type { AgentSettings } from "./agent-settings.ts";
import type { ChosenModel } from "./model-choice.ts";
import type { CompanySettings } from "./settings.ts";

/** What this command keeps with a run, to go on with it in another process. Never a key. */
export interface RunAbout {
  readonly command: "troupe";
  /** Of this program, when the run began. */
  readonly version: string;
  readonly idea: string;
  /** The project's folder, absolute. */
  readonly out: string;
  readonly model: { readonly id: string; readonly baseURL?: string | undefined; readonly price?: TokenPrice | undefined };
  /** The bundled idea whose script answered. */
  readonly demo?: string | undefined;
  readonly seed?: string | undefined;
  /** Most rounds. */
  readonly rounds: number;
  readonly codeReview: boolean;
  readonly runTests: boolean;
  /** The sandbox that was wanted, and the one there was. */
  readonly sandbox: SandboxMode;
  readonly sandboxKind: Sandbox["kind"];
  readonly allowUnpriced: boolean;
  /** One agent works instead of the company. */
  readonly agent?: AgentSettings | undefined;
  /** Says which store it was begun with. */
  readonly seal: string;
}

const PriceSchema: z.ZodType<TokenPrice> = z.object({ input: z.number().nonnegative(), output: z.number().nonnegative() });

const AboutSchema: z.ZodType<RunAbout> = z.object({
  command: z.literal("troupe"),
  version: z.string(),
  idea: z.string(),
  out: z.string().refine(isAbsolute),
  model: z.object({ id: z.string().min(1), baseURL: z.url({ protocol: /^https?$/ }).optional(), price: PriceSchema.optional() }),
  demo: z.string().min(1).optional(),
  seed: z.string().optional(),
  rounds: z.int().positive(),
  codeReview: z.boolean(),
  runTests: z.boolean(),
  sandbox: z.enum(["auto", "bubblewrap", "none"]),
  sandboxKind: z.enum(["bubblewrap", "none", "refused"]),
  allowUnpriced: z.boolean(),
  agent: z
    .object({
      tools: z.array(z.string()),
      allow: z.array(z.string()),
      steps: z.int().positive(),
      commit: z.boolean().optional(),
      plan: z.boolean().optional(),
      mcp: z.string().refine(isAbsolute).optional(),
      mcpTools: z.array(z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.json()) })).optional(),
      dirty: z.array(z.string()).optional(),
    })
    .optional(),
  seal: z.string(),
});

/** What a run is begun with. */
export interface Beginning {
  readonly version: string;
  readonly idea: string;
  readonly folder: string;
  readonly settings: Pick<CompanySettings, "rounds" | "codeReview" | "runTests" | "allowUnpriced" | "seed" | "sandbox" | "agent">;
  readonly chosen: Pick<ChosenModel, "model" | "baseURL" | "demo" | "secrets">;
  readonly sandbox: Sandbox;
  readonly seal: string;
}

/** What is kept with a run that begins: a {@link RunAbout} as plain JSON. */
export function aboutFor({ version, idea, folder, settings, chosen, sandbox, seal }: Beginning): Json {
  const { rounds, codeReview, runTests, allowUnpriced, seed, agent } = settings;
  const { model, demo, secrets } = chosen;
  const { id, price } = model;
  const baseURL = placeOf(chosen.baseURL);
  const kept = price === undefined ? {} : { price: { input: price.input, output: price.output } };
  const about: RunAbout = {
    command: "troupe",
    version,
    idea: maskSecrets(secrets)(idea),
    out: folder,
    model: { id, ...(baseURL === undefined ? {} : { baseURL }), ...kept },
    ...(demo === undefined ? {} : { demo }),
    ...(seed === undefined ? {} : { seed }),
    rounds,
    codeReview,
    runTests,
    sandbox: settings.sandbox,
    sandboxKind: sandbox.kind,
    allowUnpriced,
    ...(agent === undefined ? {} : { agent }),
    seal,
  };
  return jsonRoundTrip(about) as unknown as Json;
}

/** What is kept of a base URL: where it leads, and nothing that may be secret in it. */
export function placeOf(baseURL: string | undefined): string | undefined {
  if (baseURL === undefined || !URL.canParse(baseURL)) return undefined;
  const { origin, pathname } = new URL(baseURL);
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

/** What a run keeps, if it was this command that began it. */
export function readAbout(about: Json): RunAbout | undefined {
  const parsed = AboutSchema.safeParse(about);
  return parsed.success ? parsed.data : undefined;
}

/**
 * What a run keeps.
 *
 * @throws UsageError `RUN_FOREIGN` when it was a program that began it: only that program has its team.
 */
export function aboutOf(runId: string, about: Json): RunAbout {
  const known = readAbout(about);
  if (known !== undefined) return known;
  throw new UsageError(
    "RUN_FOREIGN",
    `Expected a run that this command began, but ${runId} was begun by a program, which alone has its team. Go on with it there: team.resume("${runId}").`,
  );
}
