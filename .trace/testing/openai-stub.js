import { checkKnownOptions } from "../kernel/known-options.js";
import { OpenAIBodySchema } from "./openai-body.js";
import { isRaw, rawReply, refuse, sendJson, streamReply, wholeReply } from "./openai-stub-response.js";
import { refusalOf } from "./stub-reply.js";
import { z } from "zod";
import { createServer } from "node:http";
// ../../work/wt/lead/src/testing/openai-stub.ts
const stubOptions = {
	reply: true,
	replies: true,
	handler: true
};
/**
* A small server on 127.0.0.1 that speaks OpenAI's protocol, streaming and not, and can cut, stall, reset, limit, refuse and lie. Every
* request is checked against what the real server accepts, and refused as it would be.
*
* @example
* import { openai } from "troupe/openai";
* import { openaiStub } from "troupe/testing";
*
* const server = await openaiStub({ reply: { text: "Hello!" } });
* const model = openai({ model: "any", baseURL: server.url });
* const { content } = await model.chat({ messages: [{ role: "user", content: "Hi" }] }, { signal: AbortSignal.timeout(30_000) });
* console.log(content, server.requests.length); // Hello! 1
* await server.close();
*/
async function openaiStub(options) {globalThis.__t?.("testing/openai-stub.js#openaiStub@1129");
	checkKnownOptions("openaiStub", options, stubOptions);
	const stub = new Stub(options);
	await stub.listen();
	return stub;
}
/**
* Owns the server and what came to it. What a request may be stands in openai-body.ts, what a reply can be in stub-reply.ts; how one is
* written, whole or broken, in openai-stub-response.ts, openai-stub-stream.ts and openai-stub-raw.ts.
*/
var Stub = class {
	requests = [];
	rejected = [];
	authorizations = [];
	#options;
	#server;
	#url = "";
	constructor(options) {globalThis.__t?.("testing/openai-stub.js#constructor@1656");
		this.#options = options;
		this.#server = createServer((request, response) => {globalThis.__t?.("testing/openai-stub.js#anonymous@1725");
			this.#answer(request, response).catch((error) => {globalThis.__t?.("testing/openai-stub.js#anonymous@1791");
				if (!response.headersSent) refuse(response, 500, `The stub failed: ${error instanceof Error ? error.message : String(error)}`);
				response.destroy();
			});
		});
	}
	get url() {globalThis.__t?.("testing/openai-stub.js#url get@1984");
		return this.#url;
	}
	listen() {globalThis.__t?.("testing/openai-stub.js#listen@2019");
		return new Promise((resolve, reject) => {globalThis.__t?.("testing/openai-stub.js#anonymous@2045");
			this.#server.once("error", reject);
			this.#server.listen(0, "127.0.0.1", () => {globalThis.__t?.("testing/openai-stub.js#anonymous@2146");
				this.#url = `http://127.0.0.1:${this.#server.address().port}/v1`;
				resolve();
			});
		});
	}
	close() {globalThis.__t?.("testing/openai-stub.js#close@2261");
		return new Promise((resolve) => {globalThis.__t?.("testing/openai-stub.js#anonymous@2287");
			this.#server.close(() => (globalThis.__t?.("testing/openai-stub.js#anonymous@2324"),(resolve())));
			this.#server.closeAllConnections();
		});
	}
	[Symbol.asyncDispose]() {globalThis.__t?.("testing/openai-stub.js#Stub@2412");
		return this.close();
	}
	async #answer(request, response) {globalThis.__t?.("testing/openai-stub.js#answer@2457");
		const path = request.url ?? "";
		if (request.method === "GET" && path === "/v1/models") return sendJson(response, 200, {
			object: "list",
			data: [{
				id: "stub-model",
				object: "model",
				created: 0,
				owned_by: "stub"
			}]
		});
		if (request.method !== "POST" || path !== "/v1/chat/completions") return refuse(response, 404, `Unknown request URL: ${request.method} ${path}.`);
		const body = await bodyOf(request);
		const parsed = OpenAIBodySchema.safeParse(body);
		if (!parsed.success) {
			const problem = z.prettifyError(parsed.error);
			this.rejected.push({
				body,
				problem
			});
			return refuse(response, 400, problem);
		}
		const n = this.requests.push(parsed.data) - 1;
		const authorization = request.headers.authorization ?? "";
		this.authorizations.push(authorization);
		const reply = await this.#replyTo(parsed.data, n);
		if (reply === void 0) return refuse(response, 400, `The stub has no reply left for request ${n + 1}.`);
		if (isRaw(reply)) return rawReply(response, reply, parsed.data.stream === true);
		const refusal = typeof reply === "object" && "fault" in reply ? refusalOf(reply, {
			model: parsed.data.model,
			authorization
		}) : void 0;
		if (refusal !== void 0) {
			response.writeHead(refusal.status, refusal.headers).end(refusal.body);
			return;
		}
		await (parsed.data.stream === true ? streamReply(response, parsed.data, reply) : wholeReply(response, parsed.data, reply));
	}
	async #replyTo(body, n) {globalThis.__t?.("testing/openai-stub.js#replyTo@3940");
		const { handler, replies, reply } = this.#options;
		if (handler !== void 0) return handler(body, n);
		return replies === void 0 ? reply : replies[n];
	}
};
async function bodyOf(request) {globalThis.__t?.("testing/openai-stub.js#bodyOf@4112");
	const chunks = [];
	for await (const chunk of request) chunks.push(chunk);
	try {
		return JSON.parse(Buffer.concat(chunks).toString("utf8"));
	} catch {
		return;
	}
}
export { openaiStub };
