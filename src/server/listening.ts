import type { Server } from "node:http";
import { isIP } from "node:net";
import { UsageError } from "../kernel/errors.ts";
import { isLoopback } from "./guard.ts";

/** Options of `listen`. */
export interface ListenOptions {
  /** Default 0: a free one. */
  readonly port?: number;
  /** The address of this machine that is listened to. Default "127.0.0.1". Another than a loopback address needs tokens. */
  readonly hostname?: string;
}

/** A server that listens. */
export interface Listening {
  /** Such as `http://127.0.0.1:8080`. For all addresses (`0.0.0.0`, `::`) it has the loopback one. */
  readonly url: string;
  readonly port: number;
  /** Takes no more connections, and cuts those off that are still open after `grace` milliseconds. */
  close(grace: number): Promise<void>;
}

/** Milliseconds that a client may take to send the headers of a request, and a whole request; and between two looks for slower clients. */
const LIMITS = { headersTimeout: 15_000, requestTimeout: 60_000, connectionsCheckingInterval: 500 };
const MAX_PORT = 65_535;

export async function listenOn(
  fetch: (request: Request) => Promise<Response>,
  { port = 0, hostname = "127.0.0.1" }: ListenOptions,
  hasTokens: boolean,
): Promise<Listening> {
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT) {
    throw new UsageError("OPTION_INVALID", `Expected a port from 0 to ${MAX_PORT}, got ${String(port)}.`);
  }
  if (isIP(hostname) === 0 && hostname.includes(":")) {
    const [, name = "", number = ""] = /^\[?([^\]]+?)\]?:(\d{1,5})$/.exec(hostname) ?? [];
    const instead =
      number === "" ? "" : ` Write the name ${name} and the port ${number} apart (troupe serve --listen ${name} --port ${number}).`;
    throw new UsageError("OPTION_INVALID", `Expected the address to listen on without a port, got ${hostname.slice(0, 200)}.${instead}`);
  }
  if (!hasTokens && !isLoopback(hostname)) {
    throw new UsageError(
      "LISTEN_OPEN",
      `Expected tokens for a server that others reach, but ${hostname} is no loopback address and there are none. Give token or tenants.`,
    );
  }
  // Loaded here because a program with a server of its own never listens.
  const { createAdaptorServer } = await import("@hono/node-server");
  const server = createAdaptorServer({ fetch, serverOptions: LIMITS }) as Server;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenFailed(hostname, port, error)));
    server.listen(port, hostname, resolve);
  });
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return { port: bound, url: `http://${reachedAs(hostname)}:${bound}`, close: (grace) => closed(server, grace) };
}

function reachedAs(hostname: string): string {
  if (hostname === "0.0.0.0") return "127.0.0.1";
  if (isIP(hostname) !== 6) return hostname;
  const { hostname: written } = new URL(`http://[${hostname}]`);
  return written === "[::]" ? "[::1]" : written;
}

function closed(server: Server, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), grace);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

export function listenFailed(hostname: string, port: number, cause: Error): UsageError {
  return new UsageError("LISTEN_FAILED", `Expected to listen on ${hostname}:${port}, but ${cause.message}. Choose another port.`, {
    cause,
  });
}
