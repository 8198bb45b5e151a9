import { isRecord } from "../kernel/value-kind.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Shape, takes } from "../kernel/argument.ts";
import { listenFailed } from "../server/listening.ts";
import type { Worker } from "./worker.ts";

/** A server that reports the health of a worker. */
export interface HealthProbe {
  readonly url: string;
  close(): Promise<void>;
}

const aWorker: Shape = { says: "a worker", fits: (value) => isRecord(value) && "runs" in value && "isDraining" in value };
const aPort: Shape = {
  says: "a port: a whole number from 0 to 65535",
  fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
};

/**
 * Answers `GET /health` on a port of the loopback address: 200 while the worker takes runs, 503 while it drains, with `{ status, runs }`.
 *
 * @param port 0: a free one
 * @throws UsageError `ARGUMENT_INVALID`; `LISTEN_FAILED` for a taken port
 */
export async function serveHealth(worker: Pick<Worker, "runs" | "isDraining">, port: number): Promise<HealthProbe> {
  takes("serveHealth", "worker", worker, aWorker);
  takes("serveHealth", "port", port, aPort);
  const server = createServer((request, response) => {
    const isKnown = request.method === "GET" && request.url === "/health";
    const { runs, isDraining } = worker;
    response.writeHead(!isKnown ? 404 : isDraining ? 503 : 200, { "content-type": "application/json" });
    response.end(isKnown ? JSON.stringify({ status: isDraining ? "draining" : "working", runs }) : "{}");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listenFailed("127.0.0.1", port, error)));
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}/health`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
