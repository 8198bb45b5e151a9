import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { isCount } from "../kernel/value-kind.ts";
import { type FleetDriver, parseRunJob } from "../team/run-driver.ts";
import { engineDriver } from "./driver-works.ts";
import { serveObjects } from "./restate-endpoint.ts";
import { connectedWorkers, drainWorkers, RestateServer } from "./restate-server.ts";
import { RestateWork } from "./restate-work.ts";

/** Options of {@link restateDriver}. */
export interface RestateOptions {
  /** Takes calls of programs. Default `http://127.0.0.1:8080`. */
  readonly ingress?: string;
  /** Knows the workers and what waits. Default `http://127.0.0.1:9070`. */
  readonly admin?: string;
  /** The address of this machine on which the server reaches this process. Whoever reaches it can give it runs. Default `127.0.0.1`. */
  readonly host?: string;
  /** The port on which workers listen, for one call of `work`. Default 0: any that is free. */
  readonly port?: number;
  /** Limit in milliseconds on one call of the server, and on the wait for a server that is away. Default 10,000. */
  readonly timeout?: number;
  /** Receives failed deliveries. Default: none. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

const restateOptions: Known<RestateOptions> = {
  ingress: kinds.text,
  admin: kinds.text,
  host: { says: "the address of this machine", fits: (host) => typeof host === "string" && host !== "" },
  port: { says: "a whole number from 0 to 65535", fits: (port) => isCount(port) && port <= 65_535 },
  timeout: { says: "a positive number of milliseconds", fits: (ms) => Number.isFinite(ms) && (ms as number) > 0 },
  logger: kinds.logger,
  clock: kinds.clock,
};

/**
 * Delivers runs by a server of Restate 1.7, which you install and start yourself under its own licence (Business Source License 1.1). Each run is
 * a virtual object, and a job is a one-way call to it. A worker listens for the calls and tells the server where. The calls of a dead worker go to
 * another one within about a second. The package `@restatedev/restate-sdk` is loaded at the first use; without it, that call throws UsageError
 * `PACKAGE_MISSING`. On Node 20 that defines `Promise.withResolvers`. Other errors have the codes `DRIVER_UNREACHABLE` and `DRIVER_REFUSED`.
 *
 * @throws UsageError `RESTATE_URL_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { restateDriver } from "troupe/restate";
 *
 * export const driver = restateDriver({ ingress: "http://127.0.0.1:8080", admin: "http://127.0.0.1:9070" });
 * await driver.close();
 */
export function restateDriver(options: RestateOptions = {}): FleetDriver {
  checkKnownOptions("restateDriver", options, restateOptions);
  const { host = "127.0.0.1", port = 0, timeout = 10_000, logger = defaultLogger, clock = systemClock } = options;
  const [ingress, admin] = [
    originOf("ingress", options.ingress ?? "http://127.0.0.1:8080"),
    originOf("admin", options.admin ?? "http://127.0.0.1:9070"),
  ];
  const server = new RestateServer({ ingress, admin, host, port, timeout, logger, clock });
  return engineDriver({
    submit: async (given) => {
      const job = parseRunJob(given);
      await server.send({ job, attempts: 0 }, () => announce(server, job.team));
    },
    start: (handler, o) => RestateWork.start(server, handler, o),
    // RestateDriver.D1 no call of the run is left, not even one that another call sent at its end.
    cancel: (runId) => server.endCallsOf(runId),
    list: (limit) => server.list(limit),
    workers: () => connectedWorkers(server),
    drain: (worker) => drainWorkers(server, worker),
  });
}

/** An address with a password is refused, so that no error has it. */
function originOf(name: string, url: unknown): string {
  const { origin, protocol, href } = typeof url === "string" && URL.canParse(url) ? new URL(url) : new URL("about:blank");
  if (/^https?:$/.test(protocol) && href === `${origin}/`) return origin;
  throw new UsageError(
    "RESTATE_URL_INVALID",
    `Expected ${name} of restateDriver to be an address such as http://127.0.0.1:8080, without user and path, got something else.`,
  );
}

/** Announces the team of a job: the server keeps calls of known services alone, and asks an address for them. A worker replaces this address later. */
async function announce(server: RestateServer, team: string): Promise<void> {
  const endpoint = await serveObjects({ ...server.address, port: 0 }, [team], { admits: () => false, run: async () => undefined });
  try {
    await server.register(endpoint.uri(team));
  } finally {
    await endpoint.close();
  }
}
