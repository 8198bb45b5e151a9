import { text as textOf } from "node:stream/consumers";
import { parsedJson } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { thrownText } from "../kernel/value-text.ts";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { type OpenAIBody, OpenAIBodySchema } from "./openai-body.ts";
import { isRaw, rawReply, refuse, sendJson, wholeReply, streamReply } from "./openai-stub-response.ts";
import { refusalOf, type StubReply } from "./stub-reply.ts";

/** Decides what happens with the n-th accepted request, from 0. */
export type StubHandler = (body: OpenAIBody, n: number) => StubReply | Promise<StubReply>;

/** The answers of the stub: always the same, one reply after another, or whatever a function says. */
export interface StubOptions {
  readonly reply?: StubReply;
  readonly replies?: readonly StubReply[];
  readonly handler?: StubHandler;
}

const stubOptions: Known<StubOptions> = { reply: kinds.checked, replies: kinds.iterable("replies"), handler: kinds.function };

/** A request the real server would refuse. */
export interface RejectedRequest {
  readonly body: unknown;
  readonly problem: string;
}

/** A running stub. */
export interface OpenAIStub extends AsyncDisposable {
  /** Its base URL, ending in `/v1`. It stays when the stub is closed, and then leads nowhere: so a server that is gone can be tried. */
  readonly url: string;
  /** Bodies of accepted requests, in the order they came. */
  readonly requests: readonly OpenAIBody[];
  /** Requests that OpenAI's server would refuse, and why. */
  readonly rejected: readonly RejectedRequest[];
  /** The `authorization` header of each accepted request. */
  readonly authorizations: readonly string[];
  /** Ends the server and every connection, also those that stall. */
  close(): Promise<void>;
}

/**
 * A small server on 127.0.0.1 that speaks OpenAI's protocol, streaming and not, and can cut, stall, reset, limit, refuse and lie. Every
 * request is checked against what the real server accepts, and refused as it would be.
 */
export async function openaiStub(options: StubOptions): Promise<OpenAIStub> {
  checkKnownOptions("openaiStub", options, stubOptions);
  const stub = new Stub(options);
  await stub.listen();
  return stub;
}

/** Owns the server and what came to it. */
class Stub implements OpenAIStub {
  readonly requests: OpenAIBody[] = [];
  readonly rejected: RejectedRequest[] = [];
  readonly authorizations: string[] = [];
  readonly #options: StubOptions;
  readonly #server: Server;
  #url = "";

  constructor(options: StubOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (!response.headersSent) refuse(response, 500, `The stub failed: ${thrownText(error)}`);
        response.destroy();
      });
    });
  }

  get url(): string {
    return this.#url;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", () => {
        this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    if (request.method === "GET" && path === "/v1/models") {
      return sendJson(response, 200, { object: "list", data: [{ id: "stub-model", object: "model", created: 0, owned_by: "stub" }] });
    }
    if (request.method !== "POST" || path !== "/v1/chat/completions")
      return refuse(response, 404, `Unknown request URL: ${request.method} ${path}.`);
    const body = parsedJson(await textOf(request));
    const parsed = OpenAIBodySchema.safeParse(body);
    if (!parsed.success) {
      const problem = z.prettifyError(parsed.error);
      this.rejected.push({ body, problem });
      return refuse(response, 400, problem);
    }
    const n = this.requests.push(parsed.data) - 1;
    const authorization = request.headers.authorization ?? "";
    this.authorizations.push(authorization);
    const reply = await this.#replyTo(parsed.data, n);
    if (reply === undefined) return refuse(response, 400, `The stub has no reply left for request ${n + 1}.`);
    if (isRaw(reply)) return rawReply(response, reply, parsed.data.stream === true);
    const isFault = typeof reply === "object" && "fault" in reply;
    const refusal = isFault ? refusalOf(reply, { model: parsed.data.model, authorization }) : undefined;
    if (refusal !== undefined) return void response.writeHead(refusal.status, refusal.headers).end(refusal.body);
    await (parsed.data.stream === true ? streamReply(response, parsed.data, reply) : wholeReply(response, parsed.data, reply));
  }

  async #replyTo(body: OpenAIBody, n: number): Promise<StubReply | undefined> {
    const { handler, replies, reply } = this.#options;
    if (handler !== undefined) return handler(body, n);
    return replies === undefined ? reply : replies[n];
  }
}
