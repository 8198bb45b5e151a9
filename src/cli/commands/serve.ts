import { randomBytes } from "node:crypto";
import { z } from "zod";
import { readPage } from "../../inspector/page-file.ts";
import { replaceDefaultLogger } from "../../kernel/default-logger.ts";
import { UsageError } from "../../kernel/errors.ts";
import { parsedJson } from "../../kernel/json.ts";
import { defined } from "../../kernel/value-kind.ts";
import { usd } from "../../model/money.ts";
import { isLoopback } from "../../server/guard.ts";
import { createServer, jsonLogger } from "../../server/index.ts";
import type { OpenedTeam, TeamRequest } from "../../server/server-options.ts";
import type { Tenant } from "../../server/tenants.ts";
import { Team } from "../../team/team.ts";
import { secretsIn, valueIn, type Variables } from "../host.ts";
import type { Flags } from "../options.ts";
import { shown } from "../screen/text.ts";
import { report, type Session } from "../session.ts";
import { conflict } from "../settings.ts";
import { keyOf, type Store, withRuns, withStore } from "../store.ts";
import { storedRun } from "../stored-run.ts";
import { readText } from "../text-file.ts";

const DEFAULT_PORT = 4711;
const MAX_BYTES = 256 * 1024;
/** Milliseconds that model calls get to end when the server is asked to end. */
const GRACE = 10_000;

export function serve(session: Session, flags: Flags): Promise<void> {
  const { host, interruptions } = session;
  const { port = DEFAULT_PORT, onTeamChange = "refuse", logLevel: level = "info", listen: hostname } = flags;
  return withStore(session, flags, async (store) => {
    await store.ready();
    const { shownToken, ...users } = await usersOf(session, store, flags);
    const secrets = [...secretsIn(host.env), ...users.secrets];
    const logger = jsonLogger({ level, secrets, clock: host.clock, write: (line) => void host.stderr.write(line) });
    replaceDefaultLogger(logger);
    const { servedCompany } = await import("../served-company.ts");
    const server = createServer({
      journal: store.journal,
      teams: await servedCompany({ session, store, flags, logger }),
      logger,
      secrets,
      page: readPage,
      version: host.version,
      onTeamChange,
      clock: host.clock,
      ...users.options,
      ...defined({ hosts: flags.hostName, origins: flags.origin }),
    });
    try {
      const { url } = await server.listen({ port, ...defined({ hostname }) });
      await server.ready();
      const address = shownToken === undefined ? url : `${url}/#token=${shownToken}`;
      const secret = shownToken === undefined ? "" : " The address has a token: keep it to yourself.";
      const text = `Serving at ${address}\nCtrl-C ends it, and its runs continue at the next start.${secret}`;
      await report(session, `${text}${warningOf(flags)}`, { type: "serving", url, address, store: store.path });
      await interruptions.raised();
    } finally {
      await server.close({ grace: GRACE });
    }
  });
}

function warningOf({ listen = "127.0.0.1", hostName }: Flags): string {
  if (isLoopback(listen)) return "";
  const names = hostName === undefined ? " Requests under another name than its address are refused: --host-name adds one." : "";
  return `\nWarning: other machines reach it, and plain HTTP shows tokens to the network. Put a proxy with TLS in front.${names}`;
}

async function usersOf({ host }: Session, store: Store, { tenants, totalBudget: budget }: Flags) {
  if (tenants !== undefined) {
    if (budget !== undefined) throw conflict("Expected --total-budget or --tenants, got both. Give each tenant of the file a budget.");
    const known = tenantsIn(await readText(host, tenants, "the tenants", MAX_BYTES), host.env);
    return { options: { tenants: known }, secrets: known.map(({ token }) => token), shownToken: undefined };
  }
  const given = valueIn(host.env, "TROUPE_TOKEN");
  const token = given ?? (await keyOf(`${store.path}-token`)).trim();
  return { options: { token, ...defined({ budget }) }, secrets: [token], shownToken: given === undefined ? token : undefined };
}

const TenantsSchema = z.strictObject({
  tenants: z
    .array(
      z.strictObject({
        name: z.string(),
        token: z.union([z.string(), z.strictObject({ env: z.string() })]),
        budget: z.number().positive().optional(),
        runs: z.int().positive().optional(),
        streams: z.int().positive().optional(),
        calls: z.int().positive().optional(),
        rate: z.strictObject({ perSecond: z.number().positive(), burst: z.number().min(1) }).optional(),
      }),
    )
    .min(1),
});

function tenantsIn(text: string, env: Variables): readonly Tenant[] {
  const json = parsedJson(text);
  if (json === undefined) throw invalidTenants("it is no JSON");
  const parsed = TenantsSchema.safeParse(json);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
    throw invalidTenants(issues.join("; "));
  }
  return parsed.data.tenants.map(({ name, token, budget, calls, ...limits }) => ({
    name,
    token: typeof token === "string" ? token : tokenFrom(env, token.env),
    ...defined({
      ...limits,
      budget: budget === undefined ? undefined : usd(budget),
      limits: calls === undefined ? undefined : { concurrency: calls },
    }),
  }));
}

function tokenFrom(env: Variables, variable: string): string {
  const token = valueIn(env, variable);
  if (token !== undefined) return token;
  throw invalidTenants(`the variable ${shown(variable, 60)} has no token`);
}

function invalidTenants(why: string): UsageError {
  const form = '{ "tenants": [{ "name": "acme", "token": { "env": "ACME_TOKEN" }, "budget": 20 }] }';
  return new UsageError("TENANTS_INVALID", `Expected tenants of the form ${form}, but ${shown(why, 300)}.`);
}

const TOKEN_BYTES = 24;

export function inspect(session: Session, { port = 0, ...flags }: Flags, id?: string): Promise<void> {
  const { host, interruptions } = session;
  return withRuns(session, flags, async ({ journal }) => {
    const run = id === undefined ? undefined : await storedRun(journal, id);
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    const server = createServer({ journal, teams: readOnly, token, page: readPage, recover: false, version: host.version });
    try {
      const { url } = await server.listen({ port });
      const address = `${url}/#token=${token}${run === undefined ? "" : `&run=${encodeURIComponent(run)}`}`;
      const text = `The inspector is at ${address}\nThe address has a token: keep it to yourself. Ctrl-C ends it.`;
      await report(session, text, { type: "inspector", url: address });
      await interruptions.raised();
    } finally {
      await server.close({ grace: 0 });
    }
  });
}

/** A team without roles: the page shows no actions, and a request for one is refused. */
async function readOnly({ purpose }: TeamRequest): Promise<OpenedTeam> {
  if (purpose === "look") return Promise.resolve({ team: new Team({ roles: [] }) });
  const text = "Expected a server with a team, but troupe inspect only reads. Use troupe answer, tell, resume or fork, or troupe serve.";
  throw new UsageError("READ_ONLY", text);
}
