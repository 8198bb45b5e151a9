import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import generated from "@opentelemetry/otlp-transformer/build/src/generated/root.js";

/** A span as OpenTelemetry's own package decodes it. */
export interface DecodedSpan {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId?: Uint8Array;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: { toString(): string };
  readonly endTimeUnixNano: { toString(): string };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly links: readonly { readonly spanId: Uint8Array }[];
  readonly status?: { readonly code?: number };
}

interface DecodedRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly DecodedSpan[] }[] }[];
}

interface RequestType {
  decode(bytes: Uint8Array): DecodedRequest;
  fromObject(object: object): DecodedRequest;
  encode(request: DecodedRequest): { finish(): Uint8Array };
}

const { ExportTraceServiceRequest: requestType } = (
  generated as unknown as {
    readonly opentelemetry: {
      readonly proto: { readonly collector: { readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: RequestType } } } };
    };
  }
).opentelemetry.proto.collector.trace.v1;

/** A receiver of traces. */
export interface Receiver {
  readonly url: string;
  /** The spans that came, as they were decoded. */
  readonly spans: () => readonly DecodedSpan[];
  readonly requests: () => readonly { readonly path: string; readonly headers: IncomingMessage["headers"] }[];
  close(): Promise<void>;
}

/** An answer of a receiver; undefined: it takes the spans. */
export type Refusal = { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string } | undefined;

/** A receiver that decodes with OpenTelemetry's own package. @param refuses its answer to the nth request, from 0 */
export async function receiver(refuses: (nth: number) => Refusal = () => undefined): Promise<Receiver> {
  const spans: DecodedSpan[] = [];
  const requests: { path: string; headers: IncomingMessage["headers"] }[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const answer = refuses(requests.length);
      requests.push({ path: request.url ?? "", headers: request.headers });
      if (answer === undefined || answer.status === 200) spans.push(...spansIn(Buffer.concat(chunks), request.headers["content-type"]));
      response.writeHead(answer?.status ?? 200, { "content-type": "application/json", ...answer?.headers });
      response.end(answer?.body ?? "{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return { url: `http://127.0.0.1:${port}`, spans: () => spans, requests: () => requests, close };
}

/** The spans of a request, in the binary form or as JSON. */
export function spansIn(body: Uint8Array, type: string | undefined): readonly DecodedSpan[] {
  const isJson = type?.startsWith("application/json") === true;
  const request = isJson ? fromJson(Buffer.from(body).toString("utf8")) : requestType.decode(body);
  return request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
}

/** Reads OTLP/JSON, whose ids are hexadecimal digits, where JSON of Protobuf has base64. */
function fromJson(text: string): DecodedRequest {
  const request = JSON.parse(text, (key, value: unknown) => {
    const isId = key === "traceId" || key === "spanId" || key === "parentSpanId";
    return isId && typeof value === "string" ? Buffer.from(value, "hex") : value;
  }) as object;
  // By way of bytes, so that a field of a wrong kind does not pass.
  return requestType.decode(requestType.encode(requestType.fromObject(request)).finish());
}

/** The attribute of a span. */
export function attribute({ attributes }: DecodedSpan, name: string): unknown {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : (value["stringValue"] ?? value["boolValue"] ?? value["intValue"] ?? value["doubleValue"]);
}

export function hex(id: Uint8Array | undefined): string {
  return Buffer.from(id ?? []).toString("hex");
}
