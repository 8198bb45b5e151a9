import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEachFile } from "../after-file.ts";
import { type Door, door } from "../server/served-team.ts";

/** A connection that waits at a gate. */
export interface Gate {
  /** Resolves when a client has sent the text. */
  readonly reached: Promise<void>;
  open(): void;
}

/** A way to a server on this machine that a test can close. */
export interface GatedProxy {
  readonly port: number;
  /** Keeps the connection whose client first sends a text from sending that, and what comes after it. */
  hold(text: string): Gate;
  /** Cuts all connections, and refuses new ones. */
  shut(): void;
}

const running = new Set<{ readonly server: Server; readonly sockets: Set<Socket> }>();
afterEachFile(() => {
  for (const { server, sockets } of running) {
    server.close();
    for (const socket of sockets) socket.destroy();
  }
});

export async function gatedProxy(target: number): Promise<GatedProxy> {
  const sockets = new Set<Socket>();
  let held: { readonly text: string; readonly reached: Door; readonly passed: Door } | undefined;
  let isShut = false;
  const server = createServer((near) => {
    if (isShut) return void near.destroy();
    const far = connect(target, "127.0.0.1");
    let before: Promise<void> = Promise.resolve();
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
    near.on("data", (data) => {
      if (held !== undefined && data.includes(held.text)) {
        before = held.passed.passed;
        held.reached.open();
        held = undefined;
      }
      void before.then(() => far.write(data));
    });
    far.on("data", (data) => near.write(data));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  running.add({ server, sockets });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    hold(text) {
      const [reached, passed] = [door(), door()];
      held = { text, reached, passed };
      return { reached: reached.passed, open: passed.open };
    },
    shut() {
      isShut = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
