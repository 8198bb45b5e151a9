import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { listenFailed } from "../server/listening.ts";
import type { Worker } from "./worker.ts";

interface HealthProbe {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Answers `GET /health` on a port of the loopback address: 200 while the worker takes runs, 503 while it drains, with `{ status, runs }`.
 *
 * @param port 0: a free one
 * @throws UsageError `LISTEN_FAILED` for a taken port
 */
export async function serveHealth(worker: Pick<Worker, "runs" | "isDraining">, port: number): Promise<HealthProbe> {
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
