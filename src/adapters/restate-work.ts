import { randomUUID } from "node:crypto";
import type { Http2ServerResponse } from "node:http2";
import type { ObjectContext } from "@restatedev/restate-sdk";
import { sleep } from "../kernel/clock.ts";
import { AbortedError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import { type DeliveryHandler, parseRunJob, type RunJob, tried, type Handled, type Working, type WorkOptions } from "../team/run-driver.ts";
import { rejectedDelivery, triedJob, type TriedJob } from "./driver-works.ts";
import { answers, type RestateEndpoint, serveObjects } from "./restate-endpoint.ts";
import {
  forgetDeadWorkers,
  type RestatePresence,
  HANDLER,
  quoted,
  resendMark,
  type RestateCall,
  type RestateServer,
  serviceOf,
} from "./restate-server.ts";

const LOOK = 500;

const LOST = { is: "lost" } as const;

interface Slot {
  readonly token: string;
  readonly abort: AbortController;
  streams: number;
  verdict: Promise<Handled> | undefined;
  isSettled: boolean;
}

/**
 * A worker that the server of Restate calls. It owns the endpoint and at most `concurrency` calls. A call ends only with a recorded verdict, and its
 * path depends on recorded values alone (`#run`). A call that comes again while its handler works joins it (`#deliver`). A handler whose call was
 * ended is aborted, and a server that is away ends none (`#left`). RestateWork.W5 (`replaces`) a resubmitted job does not replace a submitted one,
 * whichever was sent first.
 */
export class RestateWork implements Working {
  readonly ended: Promise<void>;
  readonly drain: Promise<void>;
  readonly #presence: RestatePresence;
  readonly #server: RestateServer;
  readonly #handler: DeliveryHandler;
  readonly #options: WorkOptions;
  readonly #slots = new Map<string, Slot>();
  readonly #closing = new AbortController();
  #end: () => void = () => undefined;
  #emptied: () => void = () => undefined;
  #looked: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;
  /** Calls are refused before that, because no one could stop them. The server repeats them. */
  #isStarted = false;
  #endpoint: RestateEndpoint | undefined;
  #deployment = "";

  static async start(server: RestateServer, handler: DeliveryHandler, o: WorkOptions): Promise<RestateWork> {
    const work = new RestateWork(server, handler, o);
    const endpoint = await serveObjects(
      server.address,
      o.teams,
      { admits: (invocation, response) => work.#admits(invocation, response), run: (ctx, sent) => work.#run(ctx, sent) },
      work.#presence,
    );
    work.#endpoint = endpoint;
    try {
      for (const team of o.teams) await server.register(endpoint.uri(team));
      work.#deployment = await server.register(endpoint.presence);
    } catch (error) {
      await endpoint.close();
      throw error;
    }
    void forgetDeadWorkers(server).catch(() => undefined);
    work.#looked = work.#lookAround(endpoint);
    work.#isStarted = true;
    return work;
  }

  private constructor(server: RestateServer, handler: DeliveryHandler, o: WorkOptions) {
    this.#server = server;
    this.#handler = handler;
    this.#options = o;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    let drain = (): void => undefined;
    this.drain = new Promise((resolve) => (drain = resolve));
    const id = `worker-${randomUUID().slice(0, 13)}`;
    this.#presence = { id, since: server.address.clock.now(), jobs: () => this.#slots.size, drain };
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#closing.abort();
    await this.#looked;
    if (this.#slots.size > 0) await new Promise<void>((resolve) => (this.#emptied = resolve));
    // The next worker that begins removes it from a server that is away.
    await this.#server.remove(this.#deployment).catch(() => undefined);
    await this.#endpoint?.close();
    this.#end();
  }

  #admits(invocation: string, response: Http2ServerResponse): boolean {
    const isFull = !this.#isStarted || this.#closing.signal.aborted || this.#slots.size >= this.#options.concurrency;
    const known = this.#slots.get(invocation);
    if (known === undefined && isFull) return false;
    const slot = known ?? { token: randomUUID(), abort: new AbortController(), streams: 0, verdict: undefined, isSettled: false };
    this.#slots.set(invocation, slot);
    slot.streams += 1;
    response.once("close", () => {
      slot.streams -= 1;
      this.#left(invocation, slot);
    });
    return true;
  }

  async #run(ctx: ObjectContext, sent: unknown): Promise<void> {
    const { id } = ctx.request();
    const { job, attempts } = triedJob(sent);
    for (let attempt = attempts + 1; ; attempt += 1) {
      const token = await ctx.run("begun", () => this.#slots.get(id)?.token ?? "");
      const verdict = await ctx.run("ended", () => this.#deliver(id, token, { job, attempts: attempt }));
      if (verdict.is === "lost") continue;
      if (verdict.is === "done") return;
      const again: TriedJob = { job: verdict.job ?? job, attempts: tried(verdict, attempt) };
      ctx.genericSend({
        ...{ service: serviceOf(job.team), method: HANDLER, key: job.runId, delay: verdict.after },
        parameter: new TextEncoder().encode(JSON.stringify(again)),
        idempotencyKey: resendMark(id, attempt),
      });
      return;
    }
  }

  async #deliver(id: string, token: string, o: TriedJob): Promise<Handled | typeof LOST> {
    const slot = this.#slots.get(id);
    if (slot === undefined || slot.token !== token) return LOST;
    slot.verdict ??= this.#handled(id, slot, o).finally(() => {
      slot.isSettled = true;
      this.#left(id, slot);
    });
    return slot.verdict;
  }

  async #handled(id: string, { abort }: Slot, { job, attempts }: TriedJob): Promise<Handled> {
    if (await this.#isReplaced(id, job)) return { is: "done" };
    try {
      const verdict = await this.#handler({ ...job, attempt: attempts, signal: abort.signal });
      if (verdict.is === "done" || (await this.#isReplaced(id, job))) return { is: "done" };
      return verdict.job === undefined ? verdict : { ...verdict, job: parseRunJob(verdict.job) };
    } catch (error) {
      return rejectedDelivery(this.#server.address.logger, thrownText(error), attempts);
    }
  }

  /** True when another job replaces this one. Ends those that this one replaces: they wait for their time. */
  async #isReplaced(id: string, { runId, team }: RunJob): Promise<boolean> {
    try {
      const calls = (await this.#server.callsOf(runId)).filter(({ service }) => service === serviceOf(team));
      const mine = calls.find((call) => call.id === id);
      if (mine === undefined) return false;
      // A call that resubmits its own job is about to end, and leaves the run to it.
      const others = calls.filter((call) => call.sender !== id && call.id !== mine.sender);
      for (const call of others) if (replaces(mine, call)) await this.#server.kill(call.id);
      return others.some((call) => replaces(call, mine));
    } catch {
      // The server is away. A job that is delivered twice repeats nothing.
      return false;
    }
  }

  #left(id: string, slot: Slot): void {
    if (slot.streams > 0) return;
    if (slot.verdict !== undefined && !slot.isSettled) return void this.#askCancelled(id, slot);
    this.#slots.delete(id);
    if (this.#slots.size === 0) this.#emptied();
  }

  /** Asks whether a call whose connection broke was cancelled. Only a kept end counts: right after its start the server does not know all calls. */
  async #askCancelled(id: string, slot: Slot): Promise<void> {
    while (slot.streams === 0 && !slot.isSettled) {
      const [row] = await this.#server.rows(`SELECT status FROM sys_invocation WHERE id = ${quoted(id)}`).catch(() => []);
      const status = row?.["status"];
      if (status === "completed") slot.abort.abort(new AbortedError("the job of the run was cancelled"));
      if (status !== undefined) return;
      await sleep(this.#server.address.clock, LOOK);
    }
  }

  async #lookAround(endpoint: RestateEndpoint): Promise<void> {
    const { clock, logger } = this.#server.address;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await this.#look(endpoint).catch((error: unknown) => logger.debug("A look at the calls failed.", { reason: thrownText(error) }));
      await sleep(clock, LOOK, signal).catch(() => undefined);
    }
  }

  /**
   * Takes what the server cannot deliver. The server calls the newest deployment alone, and stays with one that has begun. So a worker takes
   * the address of a dead one, and with room makes itself the newest when another one refuses calls.
   */
  async #look(endpoint: RestateEndpoint): Promise<void> {
    const { teams, concurrency } = this.#options;
    const rows = await this.#server.rows(
      `SELECT DISTINCT i.target_service_name AS service, d.id AS deployment, d.endpoint AS uri, i.pinned_deployment_id IS NOT NULL AS is_pinned
       FROM sys_invocation i JOIN sys_deployment d ON d.id = coalesce(i.pinned_deployment_id, i.last_attempt_deployment_id)
       WHERE i.status = 'backing-off' AND i.target_service_name IN (${teams.map((team) => quoted(serviceOf(team))).join(", ")})`,
    );
    for (const { service, deployment, uri, is_pinned } of rows) {
      const team = teams.find((name) => serviceOf(name) === service);
      if (team === undefined || typeof uri !== "string" || endpoint.has(uri)) continue;
      if (!(await answers(uri))) await this.#server.move(String(deployment), endpoint.uri(team));
      else if (is_pinned !== true && this.#slots.size < concurrency) await this.#server.register(endpoint.uri(team));
    }
  }
}

/** True when a call replaces another one of its run. A worker resubmits without knowing newer jobs, so only equal origins compare times. */
function replaces(call: RestateCall, other: RestateCall): boolean {
  const isSubmitted = call.sender === undefined;
  return isSubmitted === (other.sender === undefined) ? call.since > other.since : isSubmitted;
}
