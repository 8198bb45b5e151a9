import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEachFile } from "../after-file.ts";

/** A way to a server on this machine, on which a test can meddle. */
export interface TcpProxy {
  readonly port: number;
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

/** @param wire passes on what comes from the client (near) and from the server (far) @param accepts asked at each new connection */
export async function tcpProxy(
  target: number,
  wire: (near: Socket, far: Socket) => void,
  accepts: () => boolean = () => true,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (!accepts()) return void near.destroy();
    const far = connect(target, "127.0.0.1");
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
    wire(near, far);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  running.add({ server, sockets });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cutAll() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
