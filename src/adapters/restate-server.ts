import { type Clock, sleep } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { TroupeError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { refusalText, type ServerTerms, unreachedText } from "../kernel/server-answer.ts";
import { isList, isRecord, isText, isCount } from "../kernel/value-kind.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";
import type { JobInfo, ConnectedWorker } from "../team/run-driver.ts";
import type { TriedJob } from "./driver-works.ts";

export interface RestateAddress {
  readonly ingress: string;
  readonly admin: string;
  readonly host: string;
  readonly port: number;
  readonly timeout: number;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface RestateCall {
  readonly id: string;
  readonly service: string;
  readonly since: string;
  /** The call that resubmitted its job by this one. Undefined for a job that was submitted. */
  readonly sender: string | undefined;
}

export const HANDLER = "run";
export const WORKER = "troupe-worker.";

const PREFIX = "troupe.";

const AGAIN = 25;
const AWAY = 100;
/** Milliseconds from the end of a call until all that it sent is in the tables. */
const UNSEEN = 250;
/** Milliseconds in which a living worker answers through the server. On a busy machine that takes seconds. */
const ANSWER = 5_000;

/** The name of the virtual object of a team: names of services have few letters. */
export function serviceOf(team: string): string {
  return `${PREFIX}${Buffer.from(team).toString("base64url")}`;
}

/** The key of a call by which another one resubmits its job. The server gives the call of a submitted job a key without a dot. */
export function resendMark(sender: string, attempts: number): string {
  return `${sender}.${attempts}`;
}

const MARK = /^(.+)\.(\d+)$/;

export class RestateServer {
  readonly address: RestateAddress;

  constructor(address: RestateAddress) {
    this.address = address;
  }

  /** Calls the object of a run without waiting for its answer. @param announce makes the service of a team known where it is not */
  async send(sent: TriedJob, announce: () => Promise<void>): Promise<void> {
    const { runId, team } = sent.job;
    const { ingress, timeout, clock } = this.address;
    const url = `${ingress}/${serviceOf(team)}/${encodeURIComponent(runId)}/${HANDLER}/send`;
    const until = clock.now() + timeout;
    for (let isAnnounced = false; ; isAnnounced = true) {
      const { status, text } = await this.#call("POST", url, sent);
      if (status < 300) return;
      if (status !== 404 || clock.now() > until) throw refused(url, status, text);
      await (isAnnounced ? sleep(clock, AGAIN) : announce());
    }
  }

  async register(uri: string): Promise<string> {
    const made = await this.#admin("POST", "/deployments", { uri, force: true });
    return isRecord(made) ? String(made["id"]) : "";
  }

  async remove(deployment: string): Promise<void> {
    await this.#once("DELETE", `${this.address.admin}/deployments/${deployment}?force=true`, undefined, ANSWER);
  }

  /** Calls the service of a worker, with a single try. @returns whether the server found it gone, or its answer. @throws without an answer in time */
  async askWorker(id: string, handler: "look" | "drain", limit?: number): Promise<{ readonly isGone: boolean; readonly value?: unknown }> {
    const { status, text } = await this.#once("POST", `${this.address.ingress}/${WORKER}${id}/${handler}`, undefined, limit ?? ANSWER);
    return status >= 300 ? { isGone: true } : { isGone: false, value: parsedJson(text) };
  }

  async move(deployment: string, uri: string): Promise<void> {
    await this.#admin("PATCH", `/deployments/${deployment}`, { uri });
  }

  async kill(invocation: string): Promise<void> {
    const url = `${this.address.admin}/invocations/${invocation}/kill`;
    const { status, text } = await this.#call("PATCH", url);
    if (status >= 300 && status !== 404 && status !== 409) throw refused(url, status, text);
  }

  callsOf(runId: string): Promise<readonly RestateCall[]> {
    return this.#callsOf(runId, "status <> 'completed'");
  }

  /** Ends the calls of a run, and what they send at their end. @throws TroupeError `DRIVER_REFUSED` when calls continue all the same */
  async endCallsOf(runId: string): Promise<void> {
    const { timeout, clock, admin } = this.address;
    const until = clock.now() + timeout;
    for (;;) {
      // The tables show a call that another one sent at its end only a moment later.
      const calls = await this.#callsOf(runId, `(status <> 'completed' OR completed_at > now() - interval '${UNSEEN} milliseconds')`);
      const present = calls.filter(({ isDone }) => !isDone);
      for (const { id } of present) await this.kill(id);
      if (calls.length === 0 || (present.length === 0 && clock.now() > until)) return;
      if (clock.now() > until) {
        const expected = `Expected the server of Restate at ${admin} to end the calls of run ${valueText(runId)} within ${timeout} ms`;
        throw new TroupeError("DRIVER_REFUSED", `${expected}, got calls that continue. Cancel it again.`);
      }
      await sleep(clock, AGAIN);
    }
  }

  async #callsOf(runId: string, condition: string): Promise<readonly (RestateCall & { readonly isDone: boolean })[]> {
    const rows = await this.rows(
      `SELECT id, target_service_name AS service, created_at AS since, idempotency_key AS mark, status = 'completed' AS is_done FROM sys_invocation
       WHERE target_service_name LIKE '${PREFIX}%' AND target_service_key = ${quoted(runId)} AND ${condition} ORDER BY created_at`,
    );
    return rows.map(({ id, service, since, mark, is_done }) => {
      const sender = MARK.exec(String(mark))?.[1];
      return { id: String(id), service: String(service), since: String(since), sender, isDone: is_done === true };
    });
  }

  async list(limit: number): Promise<readonly JobInfo[]> {
    // A call has one command for its input and two for each delivery.
    const rows = await this.rows(
      `SELECT * FROM (
         SELECT target_service_name AS service, target_service_key AS key, idempotency_key AS mark, created_at AS since,
           coalesce(journal_commands_size, 1) AS commands, status = 'running' AND journal_commands_size > 1 AS is_delivered,
           CASE WHEN status = 'scheduled' THEN scheduled_start_at END AS due,
           row_number() OVER (PARTITION BY target_service_name, target_service_key
             ORDER BY CASE WHEN status = 'running' AND journal_commands_size > 1 THEN 0 WHEN idempotency_key LIKE '%.%' THEN 2 ELSE 1 END, created_at DESC) AS place
         FROM sys_invocation WHERE target_service_name LIKE '${PREFIX}%' AND status <> 'completed'
       ) WHERE place = 1 ORDER BY since LIMIT ${limit}`,
    );
    return rows.map(({ service, key, mark, commands, is_delivered, due }) => ({
      runId: String(key),
      team: Buffer.from(String(service).slice(PREFIX.length), "base64url").toString(),
      state: is_delivered === true ? "delivered" : "waiting",
      attempts: Number(MARK.exec(String(mark))?.[2] ?? 0) + Math.ceil((Number(commands) - 1) / 2),
      ...(isText(due) ? { due: Date.parse(due) } : {}),
    }));
  }

  async rows(query: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const answer = await this.#admin("POST", "/query", { query });
    const rows: unknown = isRecord(answer) ? answer["rows"] : undefined;
    return isList(rows) ? rows.filter(isRecord) : [];
  }

  async #admin(method: string, path: string, body: unknown): Promise<unknown> {
    const url = `${this.address.admin}${path}`;
    const { status, text } = await this.#call(method, url, body);
    const answer = status < 300 ? parsedJson(text) : undefined;
    if (answer === undefined) throw refused(url, status, text);
    return answer;
  }

  /** Calls the server, again while it is away or begins. A call that is made twice does no harm: the second job replaces the first. */
  async #call(method: string, url: string, body?: unknown): Promise<Answer> {
    const { timeout, clock } = this.address;
    const until = clock.now() + timeout;
    for (;;) {
      const isLast = clock.now() + AWAY > until;
      try {
        const answer = await this.#once(method, url, body, timeout);
        if (answer.status < 500 || isLast) return answer;
      } catch (cause) {
        if (isLast) throw unreachable(url, cause);
      }
      await sleep(clock, AWAY);
    }
  }

  async #once(method: string, url: string, body: unknown, timeout: number): Promise<Answer> {
    const headers = { "content-type": "application/json", accept: "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(url, { method, headers, ...sent, signal: AbortSignal.timeout(timeout) });
    return { status: answer.status, text: await answer.text() };
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function unreachable(url: string, cause: unknown): TroupeError {
  return new TroupeError(
    "DRIVER_UNREACHABLE",
    `Expected a server of Restate at ${new URL(url).origin}, got no answer: ${unreachedText(cause) ?? thrownText(cause)}. Start it, or give its addresses: ingress, admin.`,
    { cause },
  );
}

const MAX_READ = 4_000;
const TERMS: ServerTerms = { token: "an address that lets this process in", address: "ingress and admin" };

function refused(url: string, status: number, text: string): TroupeError {
  const { origin, pathname } = new URL(url);
  return new TroupeError(
    "DRIVER_REFUSED",
    `Expected the server of Restate at ${origin} to accept a call of ${pathname}, got ${refusalText({ status, said: text.slice(0, MAX_READ) }, TERMS)} Check its version (1.7) and its addresses.`,
  );
}

export interface RestatePresence {
  readonly id: string;
  readonly since: number;
  jobs(): number;
  drain(): void;
}

/** A worker that the server lists. It may be gone. */
interface ListedWorker {
  readonly id: string;
  readonly deployment: string;
  readonly address: string;
  readonly uri: string;
  readonly listed: number;
}

/** Milliseconds until a question to a worker is given up. The server tries for ten seconds to reach a machine that has vanished. */
const FOUND_GONE = 15_000;

/** Returns the workers that the server did not find gone. It lists a dead one until another one begins, so the tables answer for a silent one. */
export async function connectedWorkers(server: RestateServer): Promise<readonly ConnectedWorker[]> {
  const listed = await listedWorkers(server);
  const answers = await Promise.all(listed.map(({ id }) => server.askWorker(id, "look", FOUND_GONE).catch(() => undefined)));
  const calls = answers.includes(undefined) ? await callsInHand(server) : [];
  const workers = listed.flatMap((worker, index): readonly ConnectedWorker[] => {
    const { id, address } = worker;
    const answer = answers[index];
    if (answer === undefined) return [{ id, address, since: worker.listed, jobs: jobsOf(worker, calls) }];
    const { since, jobs } = isRecord(answer.value) ? answer.value : {};
    return isCount(since) && isCount(jobs) ? [{ id, address, since, jobs }] : [];
  });
  return workers.sort((one, other) => one.since - other.since);
}

export async function drainWorkers(server: RestateServer, worker: string | undefined): Promise<void> {
  const listed = (await listedWorkers(server)).filter(({ id }) => worker === undefined || id === worker);
  await Promise.all(listed.map(({ id }) => server.askWorker(id, "drain").catch(() => undefined)));
}

/** Removes workers that the server cannot call any more from its list, so that the list stays as long as the fleet is large. */
export async function forgetDeadWorkers(server: RestateServer): Promise<void> {
  const forget = async ({ id, deployment }: ListedWorker): Promise<void> => {
    // No answer in time proves nothing: the server, or the network, may be slow.
    const answer = await server.askWorker(id, "look", FOUND_GONE).catch(() => undefined);
    if (answer?.isGone === true) await server.remove(deployment);
  };
  await Promise.all((await listedWorkers(server)).map(forget));
}

async function listedWorkers(server: RestateServer): Promise<readonly ListedWorker[]> {
  const rows = await server.rows(
    `SELECT s.name AS service, d.id AS deployment, d.endpoint AS uri, d.created_at AS listed
     FROM sys_service s JOIN sys_deployment d ON d.id = s.deployment_id
     WHERE s.name LIKE '${WORKER}%'`,
  );
  return rows.map(({ service, deployment, uri, listed }) => {
    const address = URL.canParse(String(uri)) ? new URL(String(uri)).hostname : "";
    const id = String(service).slice(WORKER.length);
    return { id, deployment: String(deployment), address, uri: String(uri), listed: Date.parse(String(listed)) };
  });
}

type CallsInHand = readonly (readonly [uri: string, count: number])[];

async function callsInHand(server: RestateServer): Promise<CallsInHand> {
  const rows = await server.rows(
    `SELECT d.endpoint AS uri, count(*) AS calls FROM sys_invocation i JOIN sys_deployment d ON d.id = i.pinned_deployment_id
     WHERE i.status <> 'completed' GROUP BY d.endpoint`,
  );
  return rows.map(({ uri, calls }) => [String(uri), Number(calls)]);
}

function jobsOf({ uri: own }: ListedWorker, calls: CallsInHand): number {
  const beside = own.slice(0, own.lastIndexOf("/") + 1);
  return calls.reduce((sum, [uri, count]) => (uri !== own && uri.startsWith(beside) ? sum + count : sum), 0);
}
