import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEachFile } from "../after-file.ts";

/** A way to a server on this machine that can lose its answers. */
export interface CuttingProxy {
  readonly port: number;
  /**
   * Lets the next request through, drops its answer, and cuts the connection. Resolves when that has happened.
   *
   * @param after requests that are answered before. Default 0
   */
  cutNextAnswer(after?: number): Promise<void>;
  /** Cuts all connections. */
  cutAll(): void;
}

const running = new Set<{ readonly server: Server; readonly sockets: Set<Socket> }>();
afterEachFile(() => {
  for (const { server, sockets } of running) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

export async function cuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cut: (() => void) | undefined;
  let answered = 0;
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    let isCut = false;
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    let done = (): void => {};
    near.on("data", (data) => {
      if (cut !== undefined && answered > 0) answered -= 1;
      else if (cut !== undefined) {
        isCut = true;
        done = cut;
        cut = undefined;
      }
      far.write(data);
    });
    far.on("data", (data) => {
      if (!isCut) return void near.write(data);
      near.destroy();
      far.destroy();
      done();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  running.add({ server, sockets });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cutNextAnswer: (after = 0) => {
      answered = after;
      return new Promise((resolve) => (cut = resolve));
    },
    cutAll: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
