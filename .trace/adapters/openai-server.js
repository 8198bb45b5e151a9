import { UsageError } from "../kernel/errors.js";
import { modelError } from "../model/failure.js";
// ../../work/wt/lead/src/adapters/openai-server.ts
const OPENAI_URL = "https://api.openai.com/v1";
/** Parts of requests to a server that no error may contain. Versions of an API are no secret, and its complaints name them. */
function secretsOf({ apiKey, headers, query }) {globalThis.__t?.("adapters/openai-server.js#secretsOf@328");
	const asked = [...new URLSearchParams(query)].filter(([name]) => (globalThis.__t?.("adapters/openai-server.js#asked@431"),(!/version/i.test(name))));
	return [
		apiKey,
		...Object.values(headers),
		...asked.map(([, value]) => (globalThis.__t?.("adapters/openai-server.js#anonymous@532"),(value)))
	];
}
/** Their names. @internal */
const serverOptions = {
	model: true,
	apiKey: true,
	baseURL: true,
	organization: true,
	headers: true,
	stream: true,
	fetch: true
};
/** Where requests go, from options and environment. @throws ModelError `MODEL_AUTH`, UsageError `BASE_URL_INVALID` */
function serverOf(options) {globalThis.__t?.("adapters/openai-server.js#serverOf@846");
	const url = firstSet(options.baseURL, process.env["TROUPE_BASE_URL"], process.env["OPENAI_BASE_URL"]);
	const key = firstSet(options.apiKey, process.env["TROUPE_API_KEY"], process.env["OPENAI_API_KEY"]);
	if (url === void 0 && key === void 0) throw modelError("MODEL_AUTH", `Expected a way to reach ${options.model}, got neither a key nor a base URL. Set OPENAI_API_KEY, or TROUPE_BASE_URL to an OpenAI-compatible server such as http://127.0.0.1:11434/v1.`);
	if (key !== void 0 && !/^[\x21-\x7e]+$/.test(key)) throw modelError("MODEL_AUTH", `Expected the key for ${options.model} to be printable characters without spaces, got others. Copy it again.`);
	const { origin, pathname, search, hostname } = checkedUrl(url ?? OPENAI_URL);
	return {
		baseURL: `${origin}${pathname}`.replace(/\/+$/, ""),
		query: search,
		apiKey: key ?? "none",
		isOpenAI: hostname === "api.openai.com",
		streams: options.stream ?? true,
		organization: options.organization,
		headers: options.headers ?? {},
		fetch: options.fetch
	};
}
function checkedUrl(text) {globalThis.__t?.("adapters/openai-server.js#checkedUrl@1895");
	const url = URL.canParse(text) ? new URL(text) : void 0;
	if (url === void 0 || !/^https?:$/.test(url.protocol)) {
		const came = /^https?:\/\//i.test(text) ? "one that cannot be read" : "one without http:// or https:// in front";
		throw new UsageError("BASE_URL_INVALID", `Expected the base URL to be an http or https address such as http://127.0.0.1:11434/v1, got ${came}. Mend what sets it (baseURL or --base-url, else TROUPE_BASE_URL, else OPENAI_BASE_URL), or leave it out to ask OpenAI's own servers.`);
	}
	if (url.username !== "" || url.password !== "") throw new UsageError("BASE_URL_INVALID", `Expected a base URL without a user and password, got one with them for ${url.host}. Take them out, and give secrets as apiKey or headers.`);
	return url;
}
function firstSet(...values) {globalThis.__t?.("adapters/openai-server.js#firstSet@2685");
	return values.map((value) => (globalThis.__t?.("adapters/openai-server.js#anonymous@2735"),(value?.trim()))).find((value) => (globalThis.__t?.("adapters/openai-server.js#anonymous@2766"),(value !== void 0 && value !== "")));
}
/** The client's own timer stays out of the way: silence and total time are watched by the caller. The longest a timer can be. */
const NO_TIMEOUT = 2 ** 31 - 1;
/**
* A client of one server. Admin keys, organizations and projects that the client would pick up from the environment stay here: only OpenAI's
* own servers get them.
*/
function clientOf(Client, server, model) {globalThis.__t?.("adapters/openai-server.js#clientOf@3148");
	const { apiKey, baseURL, query, isOpenAI, organization, headers, fetch: send = fetch } = server;
	const within = (url, init) => (globalThis.__t?.("adapters/openai-server.js#within@3305"),(sendWithin(send, model, placeOf(url, query), init)));
	return new Client({
		apiKey,
		adminAPIKey: null,
		baseURL,
		...isOpenAI ? {} : {
			organization: null,
			project: null
		},
		...organization === void 0 ? {} : { organization },
		maxRetries: 0,
		timeout: NO_TIMEOUT,
		logLevel: "off",
		defaultHeaders: { ...headers },
		fetch: (url, init) => (globalThis.__t?.("adapters/openai-server.js#fetch@3659"),(carryOut(within, url, init)))
	});
}
/** The query stays as it was written: a list of names and values would lose names that stand twice. */
function placeOf(url, query) {globalThis.__t?.("adapters/openai-server.js#placeOf@3813");
	const place = new URL(url instanceof Request ? url.url : url);
	if (query !== "") place.search = place.search === "" ? query : `${query}&${place.search.slice(1)}`;
	return place;
}
/** A request that `fetch` could not carry out. It hides its reason from the client, which would take some reasons apart and drop the codes. */
var Unanswered = class extends Error {
	reason;
	constructor(reason) {globalThis.__t?.("adapters/openai-server.js#constructor@4230");
		super("the request was not answered");
		this.reason = reason;
	}
};
/** Servers put their complaint at the top of the body, or under `detail`; the client looks for it under `error` alone and drops the rest. */
async function carryOut(send, url, init) {globalThis.__t?.("adapters/openai-server.js#carryOut@4454");
	let response;
	try {
		response = await send(url, init);
	} catch (error) {
		throw init?.signal?.aborted === true ? error : new Unanswered(error);
	}
	if (response.ok) return response;
	const text = await response.text().catch(() => (globalThis.__t?.("adapters/openai-server.js#text@4726"),("")));
	const body = complaintOf(text);
	return new Response(body === void 0 ? text : JSON.stringify({ error: body }), {
		status: response.status,
		headers: plainHeaders(response.headers)
	});
}
function complaintOf(text) {globalThis.__t?.("adapters/openai-server.js#complaintOf@4927");
	let body;
	try {
		body = JSON.parse(text);
	} catch {
		return;
	}
	if (typeof body !== "object" || body === null || "error" in body) return void 0;
	const { detail, message } = body;
	const said = message ?? detail ?? body;
	return {
		...body,
		message: typeof said === "string" ? said : JSON.stringify(said)
	};
}
/** The body was decoded and may have been rewritten: what described its bytes is no longer true. */
function plainHeaders(headers) {globalThis.__t?.("adapters/openai-server.js#plainHeaders@5377");
	const plain = new Headers(headers);
	plain.delete("content-encoding");
	plain.delete("content-length");
	return plain;
}
/** Most redirects of one request. */
const MOST = 5;
/** Redirects that keep the method and the body of a request. All others turn it into a question without a prompt. */
const KEEPING = /* @__PURE__ */ new Set([307, 308]);
const REDIRECTS = /* @__PURE__ */ new Set([
	301,
	302,
	303,
	307,
	308
]);
/**
* Sends a request, and follows redirects within its origin that keep its method and body. Whoever answers at another origin was not chosen
* by the caller: the prompt and the key do not go there.
*
* @throws ModelError `MODEL_REDIRECTED`
*/
async function sendWithin(send, model, url, init = {}) {globalThis.__t?.("adapters/openai-server.js#sendWithin@6079");
	let at = url;
	for (let hops = 0;; hops++) {
		const response = await send(at.href, {
			...init,
			redirect: "manual"
		});
		if (!isRedirect(response)) return response;
		await response.body?.cancel().catch(() => {globalThis.__t?.("adapters/openai-server.js#anonymous@6347");});
		at = nextPlace(response, at, model, hops);
	}
}
/** Where `fetch` keeps the place from its caller, the answer is opaque. */
function isRedirect({ status, type }) {globalThis.__t?.("adapters/openai-server.js#isRedirect@6484");
	return type === "opaqueredirect" || REDIRECTS.has(status);
}
function nextPlace({ status, headers }, from, model, hops) {globalThis.__t?.("adapters/openai-server.js#nextPlace@6586");
	const location = headers.get("location") ?? "";
	const to = location !== "" && URL.canParse(location, from.href) ? new URL(location, from) : void 0;
	if (to === void 0) throw refused(model, status, `${from.origin} redirects to a place that it does not tell`);
	if (to.origin !== from.origin) throw refused(model, status, `${from.origin} redirects to ${originOf(to)}`);
	if (!KEEPING.has(status)) throw refused(model, status, `${from.origin} redirects by ${status}, which leaves the question behind`);
	if (hops === MOST) throw refused(model, status, `${from.origin} redirects more than ${MOST} times`);
	return to;
}
/** An address without an origin of its own, such as a file's, is told by its kind: what follows may be a secret. */
function originOf(url) {globalThis.__t?.("adapters/openai-server.js#originOf@7382");
	return url.origin === "null" ? `an address of the kind ${url.protocol}` : url.origin;
}
function refused(model, status, came) {globalThis.__t?.("adapters/openai-server.js#refused@7496");
	return modelError("MODEL_REDIRECTED", `Expected an answer from the server of ${model} itself, but ${came}. Nothing was sent there. Check the base URL, and set it to where the API is.`, { data: {
		...status === 0 ? {} : { status },
		mayHaveRun: false
	} });
}
export { Unanswered, carryOut, clientOf, secretsOf, sendWithin, serverOf, serverOptions };
