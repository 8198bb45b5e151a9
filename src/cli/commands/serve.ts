import { z } from "zod";
import { readPage } from "../../inspector/page-file.ts";
import { replaceDefaultLogger } from "../../kernel/default-logger.ts";
import { UsageError } from "../../kernel/errors.ts";
import { usd } from "../../model/money.ts";
import { isLoopback } from "../../server/guard.ts";
import { createServer, jsonLogger } from "../../server/index.ts";
import type { Tenant } from "../../server/tenants.ts";
import { secretsIn, valueIn, type Variables } from "../host.ts";
import type { Flags } from "../options.ts";
import { shown } from "../screen/text.ts";
import { servedCompany } from "../served-company.ts";
import { report, type Session } from "../session.ts";
import { keyOf, type Store, withStore } from "../store.ts";
import { readText } from "../text-file.ts";

const DEFAULT_PORT = 4711;
const MAX_BYTES = 256 * 1024;
/** Milliseconds that model calls get to end when the server is asked to end. */
const GRACE = 10_000;

export function serve(session: Session, flags: Flags): Promise<void> {
  const { host, interruptions } = session;
  const { port = DEFAULT_PORT, onTeamChange = "refuse", logLevel: level = "info" } = flags;
  return withStore(session, flags, async (store) => {
    await store.ready();
    const users = await usersOf(session, store, flags);
    const secrets = [...secretsIn(host.env), ...users.secrets];
    const logger = jsonLogger({ level, secrets, clock: host.clock, write: (line) => void host.stderr.write(line) });
    replaceDefaultLogger(logger);
    const teams = await servedCompany({ session, store, flags, logger });
    const server = createServer({
      ...{
        journal: store.journal,
        teams,
        logger,
        secrets,
        page: readPage,
        version: host.version,
        onTeamChange,
        clock: host.clock,
      },
      ...users.options,
      ...(flags.hostName === undefined ? {} : { hosts: flags.hostName }),
      ...(flags.origin === undefined ? {} : { origins: flags.origin }),
    });
    try {
      const { url } = await server.listen({ port, ...(flags.listen === undefined ? {} : { hostname: flags.listen }) });
      await server.ready();
      const address = users.shownToken === undefined ? url : `${url}/#token=${users.shownToken}`;
      const secret = users.shownToken === undefined ? "" : " The address has a token: keep it to yourself.";
      const told = `Serving at ${address}\nCtrl-C ends it, and its runs continue at the next start.${secret}`;
      await report(session, `${told}${warningOf(flags)}`, {
        type: "serving",
        url,
        address,
        store: store.path,
      });
      await interruptions.raised();
      return;
    } finally {
      await server.close({ grace: GRACE });
    }
  });
}

/** Returns the warning for a server that other machines reach; empty for one on a loopback address. */
function warningOf({ listen = "127.0.0.1", hostName }: Flags): string {
  if (isLoopback(listen)) return "";
  const names = hostName === undefined ? " Requests under another name than its address are refused: --host-name adds one." : "";
  return `\nWarning: other machines reach it, and plain HTTP shows tokens to the network. Put a proxy with TLS in front.${names}`;
}

async function usersOf({ host }: Session, store: Store, { tenants, totalBudget }: Flags) {
  if (tenants !== undefined) {
    if (totalBudget !== undefined) {
      throw new UsageError("OPTION_CONFLICT", "Expected --total-budget or --tenants, got both. Give each tenant of the file a budget.");
    }
    const known = tenantsIn(await readText(host, tenants, "the tenants", MAX_BYTES), host.env);
    return { options: { tenants: known }, secrets: known.map(({ token }) => token), shownToken: undefined };
  }
  const given = valueIn(host.env, "TROUPE_TOKEN");
  const token = given ?? (await keyOf(`${store.path}-token`)).trim();
  const budget = totalBudget === undefined ? {} : { budget: totalBudget };
  return { options: { token, ...budget }, secrets: [token], shownToken: given === undefined ? token : undefined };
}

const TenantsSchema = z.strictObject({
  tenants: z
    .array(
      z.strictObject({
        name: z.string(),
        /** The token, or the variable of the environment that holds it. */
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
  const parsed = TenantsSchema.safeParse(jsonIn(text));
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
    throw invalidTenants(issues.join("; "));
  }
  return parsed.data.tenants.map(({ token, budget, calls, name, runs, streams, rate }) => ({
    name,
    token: typeof token === "string" ? token : tokenFrom(env, token.env),
    ...(budget === undefined ? {} : { budget: usd(budget) }),
    ...(calls === undefined ? {} : { limits: { concurrency: calls } }),
    ...(runs === undefined ? {} : { runs }),
    ...(streams === undefined ? {} : { streams }),
    ...(rate === undefined ? {} : { rate }),
  }));
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalidTenants("it is no JSON");
  }
}

function tokenFrom(env: Variables, variable: string): string {
  const token = env[variable]?.trim() ?? "";
  if (token !== "") return token;
  throw invalidTenants(`the variable ${shown(variable, 60)} has no token`);
}

function invalidTenants(why: string): UsageError {
  const form = '{ "tenants": [{ "name": "acme", "token": { "env": "ACME_TOKEN" }, "budget": 20 }] }';
  return new UsageError("TENANTS_INVALID", `Expected tenants of the form ${form}, but ${shown(why, 300)}.`);
}
