import { createHash, timingSafeEqual } from "node:crypto";
import type { BudgetPool } from "../kernel/budget.ts";
import type { Clock } from "../kernel/clock.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { budgetPool, checkBudget, isBudgetPool } from "../model/budget-pool.ts";
import { Places, type PlacesOf } from "./admission.ts";
import { type LimitOptions, type ModelLimits, sharedLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import type { ServerSettings } from "./server-options.ts";

/** A limit on requests. */
export interface RequestRate {
  /** Requests per second in the long run. */
  readonly perSecond: number;
  /** Requests at once: 1 or more, since less would let none pass. */
  readonly burst: number;
}

const rateMembers: Known<RequestRate> = { perSecond: kinds.number, burst: kinds.number };

/** A user whose runs no one else sees. */
export interface Tenant {
  /** Small letters, digits and "-", at most 40. It begins the ids of the tenant's runs, so it never changes. */
  readonly name: string;
  /** A secret of at least 16 characters, sent as `Authorization: Bearer <token>`. */
  readonly token: string;
  /** Micro-dollars for all runs of the tenant together, past ones included; or a pool that is kept elsewhere. Default: no bound. */
  readonly budget?: MicroUsd | BudgetPool;
  /** Bounds on the model calls of all runs of the tenant together. Default: none. */
  readonly limits?: LimitOptions | ModelLimits;
  /** Limit on the runs under way. Default 1,000. */
  readonly runs?: number;
  /** Limit on the open streams of events, exports included. Default 1,000. */
  readonly streams?: number;
  /** Limit on the open requests and streams. Default 1,000, or as many as `streams` where that is more. */
  readonly connections?: number;
  /** Limit on the bytes of open requests. One request alone may have more, up to `bodyLimit`. Default 64,000,000. */
  readonly bytes?: number;
  /** Default: 200 per second, 1,000 at once. */
  readonly rate?: RequestRate;
}

const tenantOptions: Known<Tenant> = {
  name: kinds.text,
  token: kinds.secret,
  budget: kinds.checked,
  limits: kinds.checked,
  runs: kinds.size,
  streams: kinds.count,
  connections: kinds.size,
  bytes: kinds.count,
  rate: kinds.options(rateMembers),
};

const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;
const MIN_TOKEN = 16;
const LATER = "Try again when some are answered.";

const RUNS: PlacesOf = { code: "RUNS_TOO_MANY", what: "runs under way", advice: "Wait until one is at rest." };
const STREAMS: PlacesOf = { code: "STREAMS_TOO_MANY", what: "open streams", advice: "Close some, or raise the bound of the tenant." };
const CONNECTIONS: PlacesOf = { code: "CONNECTIONS_TOO_MANY", what: "requests and streams at once", advice: LATER };
const BYTES: PlacesOf = { code: "BYTES_TOO_MANY", what: "bytes of requests at once", advice: LATER };

/**
 * A tenant with what it uses at present. It owns the places of its runs and connections, and the requests that are left, not the money.
 *
 * TenantAccount.T1 (`owns`) a run belongs to the tenant whose name begins its id; without tenants every run belongs to the one user.
 * A client may name it without that beginning (`runIdOf`).
 * TenantAccount.T2 (`takeRequest`) no more requests pass than the rate allows.
 */
export class TenantAccount {
  readonly name: string;
  readonly pool: BudgetPool | undefined;
  readonly limits: ModelLimits | undefined;
  readonly runs: Places;
  readonly streams: Places;
  readonly bytes: Places;
  readonly #connections: Places;
  readonly #rate: RequestRate;
  readonly #clock: Clock;
  #left: number;
  #at: number;

  constructor(tenant: Partial<Tenant>, clock: Clock) {
    const { name = "", budget, limits, rate = { perSecond: 200, burst: 1_000 }, runs = 1_000, streams = 1_000 } = tenant;
    const { connections = Math.max(1_000, streams), bytes = 64_000_000 } = tenant;
    this.name = name;
    const of = name === "" ? "budget of all runs" : `budget of tenant ${name}`;
    this.pool = budget === undefined || isBudgetPool(budget) ? budget : budgetPool(budget, { name: of });
    this.limits = sharedLimits(limits);
    this.runs = new Places(runs, RUNS);
    this.streams = new Places(streams, STREAMS);
    this.bytes = new Places(bytes, BYTES);
    this.#connections = new Places(connections, CONNECTIONS);
    this.#rate = rate;
    this.#clock = clock;
    this.#left = rate.burst;
    this.#at = clock.now();
  }

  get prefix(): string {
    return this.name === "" ? "" : `${this.name}.`;
  }

  takeConnection(): () => void {
    return this.#connections.take(1, this.streams.taken);
  }

  owns(runId: string): boolean {
    return runId.startsWith(this.prefix);
  }

  /** Returns the run that a client names: by its whole id, or by the id that the client has chosen. One of another tenant is never meant. */
  runIdOf(id: string): string {
    return this.owns(id) ? id : `${this.prefix}${id}`;
  }

  takeRequest(): void {
    const now = this.#clock.now();
    const { perSecond, burst } = this.#rate;
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#at) / 1_000) * perSecond);
    this.#at = now;
    if (this.#left >= 1) {
      this.#left -= 1;
      return;
    }
    throw new UsageError("RATE_LIMITED", `Expected at most ${perSecond} requests per second, got more. Wait a second and try again.`);
  }
}

type TokenOwner = { readonly digest: Buffer; readonly account: TenantAccount };

/**
 * The tenants of a server by their tokens. It owns their accounts.
 *
 * Tenants.T1 (`of`) a token is compared as its hash, with every known one, in constant time: the answer takes no longer for a better guess.
 */
export class Tenants {
  readonly accounts: readonly TenantAccount[];
  readonly #owners: readonly TokenOwner[];

  constructor({ tenants, token, budget }: Pick<ServerSettings, "tenants" | "token" | "budget">, clock: Clock) {
    checkBudget(budget, "OPTION_INVALID");
    const one: Partial<Tenant> = budget === undefined ? {} : { budget };
    const owner = (tenant: Partial<Tenant>, secret: string): TokenOwner => {
      return { digest: hashOf(secret), account: new TenantAccount(tenant, clock) };
    };
    const known: TokenOwner[] = tenants.map((tenant) => owner(checked(tenant), tenant.token));
    if (token !== undefined) known.push(owner(one, checkedToken(token)));
    if (token !== undefined && tenants.length > 0) throw invalid("either tenants or one token", "both");
    if (budget !== undefined && tenants.length > 0) throw invalid("the budget of each tenant with the tenant", "one beside tenants");
    this.#owners = known;
    this.accounts = known.length === 0 ? [new TenantAccount(one, clock)] : known.map(({ account }) => account);
    assertDifferent(this.accounts.map(({ name }) => name));
    assertDifferent(known.map(({ digest }) => digest.toString("hex")));
  }

  get hasTokens(): boolean {
    return this.#owners.length > 0;
  }

  of(authorization: string | null | undefined): TenantAccount {
    const [only] = this.accounts;
    if (!this.hasTokens && only !== undefined) return only;
    const given = hashOf(/^Bearer ([^\s]+)$/i.exec(authorization ?? "")?.[1] ?? "");
    let found: TenantAccount | undefined;
    for (const { digest, account } of this.#owners) if (timingSafeEqual(digest, given)) found = account;
    if (found !== undefined) return found;
    throw new UsageError("TOKEN_INVALID", "Expected the token of a tenant, got none or another. Send it: Authorization: Bearer <token>.");
  }
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function assertDifferent(values: readonly string[]): void {
  if (new Set(values).size === values.length) return;
  throw new UsageError("OPTION_INVALID", "Expected tenants with names and tokens of their own, got two with the same one.");
}

function checked(tenant: Tenant): Tenant {
  checkKnownOptions("a tenant", tenant, tenantOptions);
  const { name, token, budget, rate, streams, bytes } = tenant;
  if (typeof name !== "string" || !NAME.test(name)) throw invalid("a name of small letters, digits and -, at most 40", String(name));
  checkedToken(token);
  checkBudget(budget, "OPTION_INVALID");
  for (const amount of [rate?.perSecond, streams, bytes]) {
    if (amount !== undefined && !(Number.isFinite(amount) && amount > 0)) throw invalid("bounds above 0", String(amount));
  }
  const { burst } = rate ?? { burst: 1 };
  if (!(Number.isFinite(burst) && burst >= 1)) throw invalid("a rate whose burst is 1 or more, so that a request can pass", String(burst));
  return tenant;
}

function checkedToken(token: string): string {
  if (typeof token === "string" && token.length >= MIN_TOKEN && !/\s/.test(token)) return token;
  throw invalid(`a token of at least ${MIN_TOKEN} characters without spaces`, "another");
}

function invalid(expected: string, got: string): UsageError {
  return new UsageError("OPTION_INVALID", `Expected ${expected} of a server, got ${got}.`);
}
