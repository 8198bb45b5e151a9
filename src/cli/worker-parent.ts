import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";
import { onAbort } from "../kernel/abort.ts";
import { sleep } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { thrownText } from "../kernel/value-text.ts";
import { EXIT_CODES, type ExitCode, interruptionCode } from "./errors.ts";
import type { Host } from "./host.ts";
import type { Session } from "./session.ts";

const CHILD = "TROUPE_WORKER_CHILD";

/** Milliseconds until a worker that died is started again: doubled each time, up to the longest. */
const FIRST_PAUSE = 500;
const MAX_PAUSE = 30_000;
/** Milliseconds of work after which a death counts as the first again. */
const STEADY = 60_000;
const MAX_DEATHS = 10;

const DRAIN = "drain";
const STREAMS: StdioOptions = ["ignore", "inherit", "inherit", "ipc"];

export function isWorkerChild(host: Host): boolean {
  return host.env[CHILD] === "1" && process.send !== undefined;
}

export type ParentChannel = ReturnType<typeof toParent>;

export function toParent(drain: () => void) {
  const heard = (message: unknown): void => {
    if (message === DRAIN) drain();
  };
  process.on("message", heard);
  process.once("disconnect", drain);
  // The parent may have ended while the worker started.
  if (!process.connected) drain();
  // The parent may end at any moment: its end is a disconnect, and an undelivered message no failure.
  const send = (message: object): void => {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
  };
  return {
    ready: (identity: string) => send({ ready: identity }),
    drained: () => send({ drained: true }),
    close() {
      process.removeListener("message", heard);
      process.removeListener("disconnect", drain);
      if (process.connected) process.disconnect();
    },
  };
}

/**
 * Starts a worker in a process of its own, and again when it dies. It owns the child.
 *
 * WorkerParent.P1 a worker that was ready, or was killed, is started again after its death, with a growing pause, until it has died ten times in a row.
 * WorkerParent.P2 one that ends by itself before it was ready is not: its options or its module are wrong. WorkerParent.P3 the first signal lets
 * the child drain; the second, and the end of this process, kill it. WorkerParent.P4 a child whose module ends the process reports
 * COMMAND_UNFINISHED and counts as dead.
 */
export async function superviseWorker(
  { host, interruptions }: Session,
  logger: Logger,
  died: (identity: string) => Promise<void>,
): Promise<ExitCode> {
  const { clock } = host;
  let deaths = 0;
  let wasReady = false;
  for (;;) {
    const began = clock.now();
    const env = { ...process.env, [CHILD]: "1" };
    const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], { stdio: STREAMS, env });
    const { code, signal, identity, isDrained } = await childEnd(child, { host, interruptions });
    wasReady ||= identity !== undefined;
    if (!isDrained && identity !== undefined) {
      // Not awaited: a database that is away must not delay the restart.
      void died(identity).catch((error: unknown) =>
        logger.warn("The death of the worker could not be recorded.", { reason: thrownText(error) }),
      );
    }
    if (interruptions.first !== undefined) return code === 0 ? 0 : interruptionCode(interruptions.first);
    if (isDrained) return 0;
    if (!wasReady && signal === null) return EXIT_CODES.find((known) => known.code === code)?.code ?? 1;
    deaths = clock.now() - began > STEADY ? 1 : deaths + 1;
    if (deaths >= MAX_DEATHS) {
      logger.error("The worker died too often in a row, and is not started again.", { deaths, code, signal });
      return 1;
    }
    const pause = Math.min(FIRST_PAUSE * 2 ** (deaths - 1), MAX_PAUSE);
    logger.error("The worker died, and is started again.", { pid: child.pid, code, signal, pause });
    await sleep(clock, pause, interruptions.signal).catch(() => undefined);
    // Nothing is left to be drained.
    if (interruptions.first !== undefined) return 0;
  }
}

interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The name by which the journal knows its process; undefined for one that was never ready. */
  readonly identity: string | undefined;
  readonly isDrained: boolean;
}

function childEnd(child: ChildProcess, { host, interruptions }: Pick<Session, "host" | "interruptions">): Promise<ChildEnd> {
  return new Promise((resolve) => {
    let identity: string | undefined;
    let isDrained = false;
    const kill = (): void => void child.kill("SIGKILL");
    const offExit = host.onExit(kill);
    const drain = (): void => {
      if (child.connected) child.send(DRAIN, () => undefined);
    };
    const letGo = onAbort(interruptions.signal, drain);
    if (interruptions.signal.aborted) drain();
    child.on("message", (message) => {
      if (isRecord(message) && typeof message["ready"] === "string") identity = message["ready"];
      if (isRecord(message) && message["drained"] === true) isDrained = true;
      // A signal may have come before the child listened.
      if (interruptions.signal.aborted) drain();
    });
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      offExit();
      letGo();
      resolve({ code, signal, identity, isDrained });
    };
    child.once("error", () => end(1, null));
    child.once("close", end);
  });
}
