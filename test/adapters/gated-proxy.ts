import { type Door, door } from "../server/served-team.ts";
import { type TcpProxy, tcpProxy } from "./tcp-proxy.ts";

/** A connection that waits at a gate. */
export interface Gate {
  /** Resolves when a client has sent the text. */
  readonly reached: Promise<void>;
  open(): void;
}

/** A way to a server on this machine that a test can close. */
export interface GatedProxy extends TcpProxy {
  /** Keeps the connection whose client first sends a text from sending that, and what comes after it. */
  hold(text: string): Gate;
  /** Cuts all connections, and refuses new ones. */
  shut(): void;
}

export async function gatedProxy(target: number): Promise<GatedProxy> {
  let held: { readonly text: string; readonly reached: Door; readonly passed: Door } | undefined;
  let isShut = false;
  const wire: Parameters<typeof tcpProxy>[1] = (near, far) => {
    let before: Promise<void> = Promise.resolve();
    near.on("data", (data) => {
      if (held !== undefined && data.includes(held.text)) {
        before = held.passed.passed;
        held.reached.open();
        held = undefined;
      }
      void before.then(() => far.write(data));
    });
    far.on("data", (data) => near.write(data));
  };
  const proxy = await tcpProxy(target, wire, () => !isShut);
  return {
    ...proxy,
    hold(text) {
      const [reached, passed] = [door(), door()];
      held = { text, reached, passed };
      return { reached: reached.passed, open: passed.open };
    },
    shut() {
      isShut = true;
      proxy.cutAll();
    },
  };
}
