import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

/** A request as it came. */
interface Came {
  readonly method: string;
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly body: Buffer;
}

/** The way in which a stub answers a request wrongly; undefined: it answers rightly. */
export type S3Fault = "reset" | "reset-after" | "hang" | "stall" | { readonly status: number; readonly code?: string } | undefined;

export interface S3Stub {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  /** Decides for each request that came, by its number. */
  fault: (method: string, n: number) => S3Fault;
}

export const S3_KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI-secret" };

const sha256 = (bytes: Buffer | string): string => createHash("sha256").update(bytes).digest("hex");
const hmac = (key: Buffer | string, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const tagOf = (bytes: Buffer): string => `"${createHash("md5").update(bytes).digest("hex")}"`;

/** A server that speaks as much of S3 as a store of objects asks for: conditions, lists in pages, and signatures by their specification. */
export async function s3Stub(bucket = "runs", pageSize = 2, isCeph = false): Promise<S3Stub> {
  /** Ceph's gateway compares the tag as it comes with one without quotes, and answers so where there is no object too. */
  const shown = (tag: string): string => (isCeph ? tag.replaceAll('"', "") : tag);
  const objects = new Map<string, Buffer>();
  let count = 0;
  const stub = { endpoint: "", objects, fault: (): S3Fault => undefined } as { -readonly [K in keyof S3Stub]: S3Stub[K] };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const came = { method: request.method ?? "", url: new URL(request.url ?? "/", stub.endpoint), request, body: Buffer.concat(parts) };
      const fault = stub.fault(came.method, count++);
      if (fault === "hang") return;
      if (fault === "stall") return void response.writeHead(200, { "content-length": 10_000 }).write("rain");
      if (fault === "reset") return void request.socket.destroy();
      if (typeof fault === "object") return failed(response, fault.status, fault.code ?? "InternalError");
      if (fault === "reset-after") {
        const silent = { writeHead: () => silent, end: () => silent };
        answer(came, silent as unknown as ServerResponse);
        return void request.socket.destroy();
      }
      answer(came, response);
    });
  });
  const answer = (came: Came, response: ServerResponse): void => {
    if (!isSigned(came)) return failed(response, 403, "SignatureDoesNotMatch");
    const [, at, ...rest] = decodeURIComponent(came.url.pathname).split("/");
    if (at !== bucket) return failed(response, 404, "NoSuchBucket");
    const key = rest.join("/");
    return key === "" ? listed(came, response) : answerAbout(key, came, response);
  };
  const listed = ({ url }: Came, response: ServerResponse): void => {
    const [prefix, from] = [url.searchParams.get("prefix") ?? "", Number(url.searchParams.get("continuation-token") ?? 0)];
    const all = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
    const next = from + pageSize;
    const more = next < all.length ? `<NextContinuationToken>${next}</NextContinuationToken>` : "";
    const keys = all.slice(from, next).map((key) => `<Contents><Key>${key}</Key></Contents>`);
    response.writeHead(200).end(`<ListBucketResult>${more}${keys.join("")}</ListBucketResult>`);
  };
  const answerAbout = (key: string, { method, request: { headers }, body }: Came, response: ServerResponse): void => {
    const found = objects.get(key);
    if (method === "DELETE") {
      objects.delete(key);
      return void response.writeHead(204).end();
    }
    if (method === "GET") {
      if (found === undefined) return failed(response, 404, "NoSuchKey");
      return void response.writeHead(200, { etag: tagOf(found) }).end(found);
    }
    if (headers["if-none-match"] === "*" && found !== undefined) return failed(response, 412, "PreconditionFailed");
    const wanted = headers["if-match"];
    if (wanted !== undefined && found === undefined && !isCeph) return failed(response, 404, "NoSuchKey");
    if (wanted !== undefined && (found === undefined || wanted !== shown(tagOf(found)))) return failed(response, 412, "PreconditionFailed");
    objects.set(key, body);
    return void response.writeHead(200, { etag: tagOf(body) }).end();
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stub.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return stub;
}

/** The answer repeats the id of the key, as the real one does. */
function failed(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status).end(`<Error><Code>${code}</Code><AWSAccessKeyId>${S3_KEYS.accessKeyId}</AWSAccessKeyId></Error>`);
}

/** Checks the signature of version 4, as "Authenticating Requests (AWS Signature Version 4)" describes it. */
function isSigned({ method, url, request: { headers }, body }: Came): boolean {
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;
  const [, id, day = "", region = "", names = "", signature] = found.exec(headers.authorization ?? "") ?? [];
  if (id !== S3_KEYS.accessKeyId) return false;
  const hash = String(headers["x-amz-content-sha256"]);
  if (hash !== "UNSIGNED-PAYLOAD" && hash !== sha256(body)) return false;
  const query = [...url.searchParams].map((pair) => pair.map((text) => encodeURIComponent(text)).join("=")).sort();
  const lines = names.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, url.pathname, query.join("&"), lines.join(""), names, hash].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", String(headers["x-amz-date"]), scope, sha256(canonical)].join("\n");
  const key = [region, "s3", "aws4_request"].reduce((made, part) => hmac(made, part), hmac(`AWS4${S3_KEYS.secretAccessKey}`, day));
  return hmac(key, text).toString("hex") === signature;
}
