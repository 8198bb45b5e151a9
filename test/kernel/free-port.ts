import { once } from "node:events";
import { createServer } from "node:net";

/** Below what systems give to whoever asks for any port: nobody is given one of these before the server that shall have it is there. */
const FIRST = 20_000;
const PORTS = 10_000;
/** Processes that test beside this one begin elsewhere. */
let next = (process.pid * 97) % PORTS;

/** A port of this machine that nobody listens on, and that is not given out twice. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + next;
    next = (next + 1) % PORTS;
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, "close");
    return port;
  }
}
