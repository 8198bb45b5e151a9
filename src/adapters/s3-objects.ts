import type { AwsClient } from "aws4fetch";
import { type Shape, takes } from "../kernel/argument.ts";
import { abortWith, throwIfAborted, withTimeout } from "../kernel/abort.ts";
import { type Clock, sleep, systemClock } from "../kernel/clock.ts";
import { TimeoutError, TroupeError, UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import {
  checkKeyCount,
  checkObjectKey,
  checkObjectSize,
  checkPut,
  OBJECT_BYTES,
  type ObjectCall,
  objectConflict,
  type ObjectStore,
  ObjectStoreError,
  type PutOptions,
  type StoredObject,
} from "../kernel/object-store.ts";
import { refusalText, type ServerTerms, unreachedText } from "../kernel/server-answer.ts";
import { clauseText } from "../kernel/value-text.ts";
import { optionalPackage } from "./optional-package.ts";

/** The keys of an account. No error and no log shows them. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** Options of {@link s3Objects}. */
export interface S3ObjectsOptions {
  /** Such as `https://s3.eu-central-1.amazonaws.com`, without the bucket. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Precedes every key. Default: nothing. */
  readonly prefix?: string;
  /** Default `us-east-1`. */
  readonly region?: string;
  readonly credentials: S3Credentials;
  /** Bytes of one object. Default 256 MiB. */
  readonly mostBytes?: number;
  /** Retries of a request without an answer, or with one that means "later". Default 4, after 0.2, 0.4, 0.8 and 1.6 seconds. */
  readonly retries?: number;
  /** Milliseconds of one try, besides the time that its bytes take at 128 KiB a second. Default 60,000. */
  readonly timeout?: number;
  readonly clock?: Clock;
}

const aPart = (says: string, form: RegExp): Shape => ({ says, fits: (value) => typeof value === "string" && form.test(value) });

const aKey: Shape = { says: "a text that is not empty", fits: (value) => typeof value === "string" && value !== "", isSecret: true };
const s3Credentials: Known<S3Credentials> = kinds.each(aKey, "accessKeyId", "secretAccessKey", "sessionToken");
const s3ObjectsOptions: Known<S3ObjectsOptions> = {
  endpoint: kinds.secret,
  bucket: aPart("the name of a bucket", /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  prefix: kinds.text,
  region: aPart("the name of a region", /^[a-z0-9-]{1,50}$/),
  credentials: { ...kinds.options(s3Credentials, "accessKeyId", "secretAccessKey"), isSecret: true },
  mostBytes: kinds.count,
  retries: kinds.count,
  timeout: { says: "milliseconds above 0", fits: (value) => Number.isFinite(value) && (value as number) > 0 },
  clock: kinds.clock,
};

const MIN_BYTES_PER_SECOND = 128 * 1024;
const FIRST_PAUSE = 200;
/** Answers that mean "later": 409 is a condition that was decided at the same time. */
const LATER: ReadonlySet<number> = new Set([409, 429, 500, 502, 503, 504]);
/** Bytes of one answer to a list of at most 1,000 keys, and of an error. */
const LIST_BYTES = 4 * 1024 * 1024;

/**
 * A store of objects in a bucket, by the protocol of S3. The server must know conditional writes (`If-None-Match`, `If-Match`), as AWS, MinIO,
 * Cloudflare R2 and Ceph do. The package `aws4fetch` is loaded at the first use; without it, that call throws UsageError `PACKAGE_MISSING`.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { s3Objects } from "troupe/objects";
 *
 * export const objects = s3Objects({
 *   endpoint: "https://s3.eu-central-1.amazonaws.com",
 *   region: "eu-central-1",
 *   bucket: "our-runs",
 *   credentials: { accessKeyId: process.env["AWS_ACCESS_KEY_ID"] ?? "key", secretAccessKey: process.env["AWS_SECRET_ACCESS_KEY"] ?? "secret" },
 * });
 */
export function s3Objects(options: S3ObjectsOptions): ObjectStore {
  checkGivenOptions("s3Objects", options, s3ObjectsOptions);
  const { endpoint, bucket, prefix, region = "us-east-1", credentials, clock = systemClock } = options;
  const { mostBytes = OBJECT_BYTES, retries = 4, timeout = 60_000 } = options;
  const base = endpointOf(endpoint);
  for (const name of ["bucket", "credentials"] as const) takes("s3Objects", name, options[name], s3ObjectsOptions[name]);
  if (prefix !== undefined) checkObjectKey(prefix);
  const root = `${base.origin}${base.pathname.replace(/\/+$/, "")}/${bucket}`;
  const before = prefix === undefined ? "" : `${prefix}/`;
  return new S3Objects({ root, before, shown: base.host, region, credentials, mostBytes, retries, timeout, clock });
}

function endpointOf(endpoint: unknown): URL {
  const url = typeof endpoint === "string" && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" && url.search === "") return url;
  throw new UsageError(
    "OPTION_INVALID",
    "Expected the address of an S3 server such as https://s3.eu-central-1.amazonaws.com, without user and password, got something else.",
  );
}

interface S3Settings extends Required<Omit<S3ObjectsOptions, "endpoint" | "bucket" | "prefix">> {
  readonly root: string;
  readonly before: string;
  readonly shown: string;
}

interface S3Request extends ObjectCall {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly bytes?: Uint8Array;
  readonly key: string;
  readonly most: number;
}

interface S3Answer {
  readonly status: number;
  readonly tag: string;
  readonly bytes: Uint8Array;
  /** The code of an error. Its other members may have the key id and what was signed. */
  readonly code: string;
  readonly isMissing: boolean;
}

/**
 * Owns the client. S3Objects.S1 (`put`) a condition that fails after a try without an answer is decided by the stored bytes: the try may have been
 * done. S3Objects.S2 (`#refused`) no error has more of an answer than its code. S3Objects.S4 (`put`) a server that compares tags without their
 * quotes, as Ceph's gateway does, is asked without them after its first refusal.
 */
class S3Objects implements ObjectStore {
  readonly #settings: S3Settings;
  #client: Promise<AwsClient> | undefined;
  #comparesBare = false;

  constructor(settings: S3Settings) {
    this.#settings = settings;
  }

  async put(key: string, bytes: Uint8Array, options: PutOptions = {}): Promise<string> {
    checkObjectKey(key);
    checkPut(options);
    checkObjectSize(key, bytes.length, this.#settings.mostBytes);
    const { ifNone, ifMatch, signal } = options;
    const put = (isBare: boolean): Promise<S3Answer & { readonly tries: number }> => {
      const match = ifMatch === undefined ? {} : { "if-match": isBare ? ifMatch.replaceAll('"', "") : ifMatch };
      const headers = { ...(ifNone === true ? { "if-none-match": "*" } : {}), ...match };
      return this.#ask({ method: "PUT", path: this.#path(key), headers, bytes, key, signal, most: LIST_BYTES });
    };
    const isBare = this.#comparesBare;
    let answer = await put(isBare);
    if (answer.status === 412 && ifMatch !== undefined && !isBare && (await this.get(key, { signal }))?.tag === ifMatch) {
      answer = await put(true);
      if (answer.status === 200) this.#comparesBare = true;
    }
    if (answer.status === 200) return answer.tag;
    // A store without the object answers If-Match with 404.
    if (answer.status !== 412 && !(answer.isMissing && ifMatch !== undefined)) throw this.#refused(answer);
    const found = answer.tries === 0 ? undefined : await this.get(key, { signal });
    if (found === undefined || Buffer.compare(found.bytes, bytes) !== 0) throw objectConflict(key);
    return found.tag;
  }

  async get(key: string, { signal }: ObjectCall = {}): Promise<StoredObject | undefined> {
    checkObjectKey(key);
    const answer = await this.#ask({ method: "GET", path: this.#path(key), key, signal, most: this.#settings.mostBytes });
    if (answer.status === 200) return { bytes: answer.bytes, tag: answer.tag };
    if (answer.isMissing) return undefined;
    throw this.#refused(answer);
  }

  async list(folder: string, { signal }: ObjectCall = {}): Promise<readonly string[]> {
    checkObjectKey(folder);
    const { before } = this.#settings;
    const keys: string[] = [];
    for (let token: string | undefined = ""; token !== undefined;) {
      const query = new URLSearchParams({ "list-type": "2", prefix: `${before}${folder}/` });
      if (token !== "") query.set("continuation-token", token);
      const answer = await this.#ask({ method: "GET", path: `/?${query.toString()}`, key: folder, signal, most: LIST_BYTES });
      if (answer.status !== 200) throw this.#refused(answer);
      const text = new TextDecoder().decode(answer.bytes);
      for (const [, key = ""] of text.matchAll(/<Key>([^<]*)<\/Key>/g)) if (isOurs(key, before)) keys.push(key.slice(before.length));
      checkKeyCount(folder, keys.length);
      token = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(text)?.[1];
    }
    return keys.sort();
  }

  async remove(key: string, { signal }: ObjectCall = {}): Promise<void> {
    checkObjectKey(key);
    const answer = await this.#ask({ method: "DELETE", path: this.#path(key), key, signal, most: LIST_BYTES });
    if (answer.status >= 300 && !answer.isMissing) throw this.#refused(answer);
  }

  #path(key: string): string {
    return `/${this.#settings.before}${key}`;
  }

  async #ask(request: S3Request): Promise<S3Answer & { readonly tries: number }> {
    const { retries, clock } = this.#settings;
    throwIfAborted(request.signal);
    const client = await (this.#client ??= loadedClient(this.#settings));
    for (let tries = 0; ; tries++) {
      try {
        const answer = await this.#try(client, request);
        if (tries >= retries || !LATER.has(answer.status)) return { ...answer, tries };
      } catch (error) {
        throwIfAborted(request.signal);
        if (error instanceof TroupeError && !(error instanceof TimeoutError)) throw error;
        if (tries >= retries) throw this.#unreachable(error);
      }
      await sleep(clock, FIRST_PAUSE * 2 ** Math.min(tries, 10), request.signal);
    }
  }

  async #try(client: AwsClient, { method, path, headers = {}, bytes, key, signal, most }: S3Request): Promise<S3Answer> {
    const { root, clock, timeout } = this.#settings;
    const outer = signal ?? new AbortController().signal;
    const ending = new AbortController();
    const letGo = abortWith(ending, outer);
    const within = <T>(count: number, work: () => Promise<T>): Promise<T> =>
      withTimeout(clock, timeout + (count / MIN_BYTES_PER_SECOND) * 1_000, "a request to a store of objects", outer, work);
    try {
      const response = await within(bytes?.length ?? 0, async () => {
        const body = bytes === undefined ? {} : { body: Buffer.from(bytes) };
        const signed = await client.sign(root + path, { method, headers, ...body });
        // A redirect would take the signature to another server.
        return fetch(signed, { signal: ending.signal, redirect: "manual" });
      });
      const { status } = response;
      const length = Math.min(Number(response.headers.get("content-length") ?? most), most);
      const came = await within(length, () => bytesOf(response, key, most));
      const code = /<Code>([A-Za-z0-9]{1,60})<\/Code>/.exec(new TextDecoder().decode(came.subarray(0, 10_000)))?.[1] ?? "";
      const isMissing = status === 404 && code !== "NoSuchBucket";
      return { status, tag: response.headers.get("etag") ?? "", bytes: came, code, isMissing };
    } finally {
      letGo();
      // Ends a body that was not read.
      ending.abort();
    }
  }

  #unreachable(cause: unknown): ObjectStoreError {
    const { shown, retries } = this.#settings;
    const why = unreachedText(cause) ?? (cause instanceof TimeoutError ? cause.message : "the connection failed");
    return new ObjectStoreError(
      "OBJECTS_UNREACHABLE",
      `Expected an answer of the store of objects at ${shown}, got none in ${retries + 1} tries: ${clauseText(why)}. Look at the server and the network.`,
      { cause },
    );
  }

  #refused({ status, code }: S3Answer): ObjectStoreError {
    const said = refusalText({ status, said: code }, TERMS);
    return new ObjectStoreError(
      "OBJECTS_REFUSED",
      `Expected the store of objects at ${this.#settings.shown} to agree, got ${said} Look at the bucket, the keys of the account and their rights.`,
      { data: { status, code } },
    );
  }
}

const TERMS: ServerTerms = { token: "the key id and the key of an account that has the right", address: "the address and the bucket" };

/** A bucket may hold keys of others. */
function isOurs(key: string, before: string): boolean {
  try {
    checkObjectKey(key.slice(before.length));
    return key.startsWith(before);
  } catch {
    return false;
  }
}

async function bytesOf(response: Response, key: string, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let count = 0;
  if (response.body === null) return new Uint8Array();
  const body: AsyncIterable<Uint8Array> = response.body;
  for await (const part of body) {
    count += part.length;
    checkObjectSize(key, count, most);
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}

async function loadedClient({ credentials, region }: S3Settings): Promise<AwsClient> {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const { AwsClient: Client } = await optionalPackage("aws4fetch", "1", () => import("aws4fetch"));
  const session = sessionToken === undefined ? {} : { sessionToken };
  return new Client({ accessKeyId, secretAccessKey, ...session, service: "s3", region, retries: 0 });
}
