import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { isCount } from "../kernel/value-kind.ts";
import {
  checkListLimit,
  checkWork,
  type ConnectedWorker,
  type DeliveryHandler,
  type FleetDriver,
  type JobInfo,
  parseRunJob,
  type RunJob,
  type Working,
  type WorkOptions,
} from "../team/run-driver.ts";
import { DriverWorks } from "./driver-works.ts";
import { serveObjects } from "./restate-endpoint.ts";
import { connectedWorkers, drainWorkers } from "./restate-presence.ts";
import { RestateServer } from "./restate-server.ts";
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
  return new Driver(new RestateServer({ ingress, admin, host, port, timeout, logger, clock }));
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

/**
 * See {@link restateDriver}. It owns the workers.
 *
 * RestateDriver.D1 (`cancel`) no call of the run is left, not even one that another call sent at its end.
 */
class Driver implements FleetDriver {
  readonly #server: RestateServer;
  readonly #works = new DriverWorks<RestateWork>();

  constructor(server: RestateServer) {
    this.#server = server;
  }

  async submit(given: RunJob): Promise<void> {
    this.#works.assertOpen();
    const job = parseRunJob(given);
    await this.#server.send({ job, attempts: 0 }, () => this.#announce(job.team));
  }

  async work(handler: DeliveryHandler, o: WorkOptions): Promise<Working> {
    checkWork(handler, o);
    return this.#works.start(() => RestateWork.start(this.#server, handler, o));
  }

  async cancel(runId: string): Promise<void> {
    this.#works.assertOpen();
    await this.#server.endCallsOf(runId);
  }

  async list({ limit }: { readonly limit: number }): Promise<readonly JobInfo[]> {
    checkListLimit(limit);
    this.#works.assertOpen();
    return this.#server.list(limit);
  }

  async workers(): Promise<readonly ConnectedWorker[]> {
    this.#works.assertOpen();
    return connectedWorkers(this.#server);
  }

  async drain(worker?: string): Promise<void> {
    this.#works.assertOpen();
    await drainWorkers(this.#server, worker);
  }

  close(): Promise<void> {
    return this.#works.close();
  }

  /** The server keeps calls of known services alone, and asks an address for them. A worker replaces this address later. */
  async #announce(team: string): Promise<void> {
    const endpoint = await serveObjects({ ...this.#server.address, port: 0 }, [team], { admits: () => false, run: async () => undefined });
    try {
      await this.#server.register(endpoint.uri(team));
    } finally {
      await endpoint.close();
    }
  }
}
