import { resolve } from "node:path";
import type { PostgresOptions } from "../adapters/postgres-server.ts";
import type { RestateOptions } from "../adapters/restate.ts";
import { sleep } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { defined } from "../kernel/value-kind.ts";
import type { ObjectStore } from "../kernel/object-store.ts";
import { type Journal, newestRuns } from "../runtime/record/journal.ts";
import { type FleetDriver, eventsOf } from "../team/run-driver.ts";
import { wholeNumber } from "./option-values.ts";
import type { Flags } from "./options.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { findRun } from "./stored-run.ts";

export interface Fleet {
  readonly journal: Journal;
  readonly driver: FleetDriver;
}

/** Milliseconds for which a person waits for a database that is away. A worker waits longer. */
const PATIENCE = 10_000;

const POSTGRES = /^postgres(ql)?:\/\//;

export function fleetAddress({ host }: Session, { journal }: Flags): string {
  const url = (journal ?? host.env["TROUPE_JOURNAL"] ?? "").trim();
  if (POSTGRES.test(url)) return url;
  // Not shown: it may be a mistyped address with a password.
  const came = url === "" ? "none" : "something else";
  throw new UsageError(
    "OPTION_INVALID",
    `Expected the address of a Postgres database that begins with postgres://, got ${came}. Set TROUPE_JOURNAL, or give --journal.`,
  );
}

export async function withFleet<T>(session: Session, flags: Flags, work: (fleet: Fleet) => Promise<T>, logger?: Logger): Promise<T> {
  const engine = fleetEngine(session, flags);
  const o = {
    url: fleetAddress(session, flags),
    ...defined({ schema: flags.schema }),
    ...(logger === undefined ? { patience: PATIENCE } : { logger }),
  };
  const driver = await openedDriver(engine, o);
  const { postgres } = await import("../adapters/postgres.ts");
  const journal = postgres(o);
  try {
    return await work({ journal, driver });
  } finally {
    await driver.close();
    await journal.close();
  }
}

export const MAX_JOBS = 1_000;
export const LOOK = 250;
const MAX_ALIKE = 100;

export async function recordedRun(journal: Journal, given: string): Promise<string> {
  // Many runs may have ids that begin with the whole id of another.
  if ((await eventsOf(journal, given)) > 0) return given;
  const alike = await recordedLike(journal, given);
  if (alike.length === 0) throw unknownRun(given);
  return findRun(alike, given);
}

export async function knownRun({ journal, driver }: Fleet, given: string): Promise<string> {
  const jobs = await driver.list({ limit: MAX_JOBS });
  if (jobs.some(({ runId }) => runId === given) || (await eventsOf(journal, given)) > 0) return given;
  const waiting = jobs.flatMap(({ runId }) => (given !== "" && runId.startsWith(given) ? [runId] : []));
  const alike = new Set([...(await recordedLike(journal, given)), ...waiting]);
  if (alike.size > 0) return findRun([...alike], given);
  // The rest of a longer queue may have it.
  if (jobs.length === MAX_JOBS) return given;
  throw unknownRun(given);
}

export async function untilBegun({ host, interruptions, screen }: Session, { journal, driver }: Fleet, runId: string): Promise<void> {
  for (let looks = 0; ; looks += 1) {
    // The queue first: a run that begins and ends between the two looks is recorded.
    const jobs = await driver.list({ limit: MAX_JOBS });
    if ((await eventsOf(journal, runId)) > 0) return;
    if (jobs.length < MAX_JOBS && jobs.every((job) => job.runId !== runId)) throw unknownRun(runId);
    if (looks === 0) screen.say(`${shown(runId, 60)} waits for a worker.`);
    await sleep(host.clock, LOOK, interruptions.signal);
  }
}

async function recordedLike(journal: Journal, given: string): Promise<readonly string[]> {
  return (await newestRuns(journal, { limit: MAX_ALIKE, prefix: given })).map(({ runId }) => runId).toReversed();
}

function unknownRun(given: string): UsageError {
  const expected = `Expected the id of a run of the fleet, or its beginning, got "${shown(given, 80)}"`;
  return new UsageError("RUN_UNKNOWN", `${expected}. One that waits has no record yet. See: troupe ps`);
}

export type FleetEngine =
  | { readonly is: "graphile" }
  | { readonly is: "restate"; readonly server: Pick<RestateOptions, "ingress" | "admin" | "host" | "port"> };

const INGRESS_PORT = "8080";
const ADMIN_PORT = "9070";
const KNOWN: readonly string[] = ["admin", "host", "port"];
const ENGINE_HINT = "Say graphile (the default), or restate://host:8080, with ?admin=http://host:9070 where that is another address.";

export function fleetEngine({ host }: Pick<Session, "host">, { engine }: Flags): FleetEngine {
  const given = (engine ?? host.env["TROUPE_ENGINE"] ?? "").trim();
  if (given === "" || given === "graphile") return { is: "graphile" };
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== "restate:") throw invalid(/^[\w-]{1,40}$/.test(given) ? `"${given}"` : "something else");
  // Not shown: it may have a password.
  const isPlain = url.username === "" && url.password === "" && url.hash === "" && ["", "/"].includes(url.pathname);
  if (url.hostname === "" || !isPlain) throw invalid("one with a user, a path or no host");
  const unknown = [...url.searchParams.keys()].find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) throw invalid(`an unknown parameter "${shown(unknown, 40)}", and known are ${KNOWN.join(", ")}`);
  const [own, port] = [url.searchParams.get("host"), url.searchParams.get("port")];
  return {
    is: "restate",
    server: {
      ingress: `http://${url.hostname}:${url.port === "" ? INGRESS_PORT : url.port}`,
      admin: url.searchParams.get("admin") ?? `http://${url.hostname}:${ADMIN_PORT}`,
      ...(own === null ? {} : { host: own }),
      ...(port === null ? {} : { port: wholeNumber("port of --engine", port, 65_535) }),
    },
  };
}

async function openedDriver(engine: FleetEngine, o: PostgresOptions): Promise<FleetDriver> {
  if (engine.is === "graphile") return (await import("../adapters/graphile.ts")).graphileDriver(o);
  const { restateDriver } = await import("../adapters/restate.ts");
  return restateDriver({ ...engine.server, ...defined({ logger: o.logger }) });
}

function invalid(came: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected --engine to be the engine of the fleet, got ${came}. ${ENGINE_HINT}`);
}

const FOLDER = ".troupe/workspaces";
const WORKSPACES_HINT = "Say file:/shared/dir, or s3://bucket/prefix?endpoint=https://host&region=name.";

export async function workerFolders({ host }: Session, flags: Flags) {
  const { workspaces } = flags;
  const folder = resolve(host.cwd, flags.folder ?? FOLDER);
  if (workspaces === undefined) {
    const { runFolder } = await import("../fleet/run-workspaces.ts");
    return { workspaces: { folderOf: (runId: string) => runFolder(folder, runId) }, moving: undefined };
  }
  const objects = await objectsAt(workspaces, host.cwd, host.env);
  const { runWorkspaces } = await import("../fleet/index.ts");
  const moving = runWorkspaces({ objects, folder });
  return { workspaces: moving, moving };
}

async function objectsAt(text: string, cwd: string, env: Readonly<Record<string, string | undefined>>): Promise<ObjectStore> {
  const { fileObjects, s3Objects } = await import("../adapters/objects.ts");
  if (/^file:./.test(text)) return fileObjects({ dir: resolve(cwd, text.slice("file:".length)) });
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Not shown: it may be an address with keys.
  if (url?.protocol !== "s3:" || url.username !== "")
    throw new UsageError("OPTION_INVALID", `Expected --workspaces as an address, got something else. ${WORKSPACES_HINT}`);
  const { AWS_ACCESS_KEY_ID: accessKeyId = "", AWS_SECRET_ACCESS_KEY: secretAccessKey = "", AWS_SESSION_TOKEN: sessionToken = "" } = env;
  if (accessKeyId === "" || secretAccessKey === "") {
    const expected = "Expected the keys of the account in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, got none";
    throw new UsageError("OPTION_INVALID", `${expected}. Set both.`);
  }
  const region = url.searchParams.get("region") ?? env["AWS_REGION"] ?? "us-east-1";
  const endpoint = url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  const prefix = url.pathname.replace(/^\/+|\/+$/g, "");
  const credentials = { accessKeyId, secretAccessKey, ...(sessionToken === "" ? {} : { sessionToken }) };
  return s3Objects({ endpoint, region, bucket: url.hostname, ...(prefix === "" ? {} : { prefix }), credentials });
}
