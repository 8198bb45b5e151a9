import { type TcpProxy, tcpProxy } from "./tcp-proxy.ts";

/** A way to a server on this machine that can lose its answers. */
export interface CuttingProxy extends TcpProxy {
  /**
   * Lets the next request through, drops its answer, and cuts the connection. Resolves when that has happened.
   *
   * @param after requests that are answered before. Default 0
   */
  cutNextAnswer(after?: number): Promise<void>;
}

export async function cuttingProxy(target: number): Promise<CuttingProxy> {
  let cut: (() => void) | undefined;
  let answered = 0;
  const proxy = await tcpProxy(target, (near, far) => {
    let isCut = false;
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
  return {
    ...proxy,
    cutNextAnswer: (after = 0) => {
      answered = after;
      return new Promise((resolve) => (cut = resolve));
    },
  };
}
