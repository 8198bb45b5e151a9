import type { PostgresOptions } from "../adapters/postgres-server.ts";
import type { RestateOptions } from "../adapters/restate.ts";
import { UsageError } from "../kernel/errors.ts";
import type { FleetDriver } from "../team/run-driver.ts";
import { wholeNumber } from "./option-values.ts";
import type { Flags } from "./options.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";

/** The engine of a fleet: the queue in the database of its journal, or a server of Restate. */
export type FleetEngine =
  | { readonly is: "graphile" }
  | { readonly is: "restate"; readonly server: Pick<RestateOptions, "ingress" | "admin" | "host" | "port"> };

const INGRESS_PORT = "8080";
const ADMIN_PORT = "9070";
const KNOWN: readonly string[] = ["admin", "host", "port"];
const HINT = "Say graphile (the default), or restate://host:8080, with ?admin=http://host:9070 where that is another address.";

/** The engine, from the option or the environment. @throws UsageError `OPTION_INVALID` */
export function fleetEngine({ host }: Pick<Session, "host">, { engine }: Flags): FleetEngine {
  const given = (engine ?? host.env["TROUPE_ENGINE"] ?? "").trim();
  if (given === "" || given === "graphile") return { is: "graphile" };
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== "restate:") throw invalid(/^[\w-]{1,40}$/.test(given) ? `"${given}"` : "something else");
  // Such a text is not shown: it may have a password.
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

/** Opens the driver of an engine. @throws UsageError of the driver for an address that it refuses */
export async function openedDriver(engine: FleetEngine, o: PostgresOptions): Promise<FleetDriver> {
  if (engine.is === "graphile") return (await import("../adapters/graphile.ts")).graphileDriver(o);
  const { restateDriver } = await import("../adapters/restate.ts");
  return restateDriver({ ...engine.server, ...(o.logger === undefined ? {} : { logger: o.logger }) });
}

function invalid(came: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected --engine to be the engine of the fleet, got ${came}. ${HINT}`);
}
