import { modelError } from "../model/failure.ts";
import type { ModelError } from "../kernel/errors.ts";

/** Most redirects of one request. */
const MOST = 5;
/** Redirects that keep the method and the body of a request. All others turn it into a question without a prompt. */
const KEEPING: ReadonlySet<number> = new Set([307, 308]);
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Sends a request, and follows redirects within its origin that keep its method and body. Whoever answers at another origin was not chosen
 * by the caller: the prompt and the key do not go there.
 *
 * @throws ModelError `MODEL_REDIRECTED`
 */
export async function sendWithin(send: typeof fetch, model: string, url: URL, init: RequestInit = {}): Promise<Response> {
  let at = url;
  for (let hops = 0; ; hops++) {
    const response = await send(at.href, { ...init, redirect: "manual" });
    if (!isRedirect(response)) return response;
    // Nobody reads it, and an unread body keeps its connection.
    await response.body?.cancel().catch(() => {});
    at = nextPlace(response, at, model, hops);
  }
}

/** Where `fetch` keeps the place from its caller, the answer is opaque. */
function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || REDIRECTS.has(status);
}

function nextPlace({ status, headers }: Response, from: URL, model: string, hops: number): URL {
  const location = headers.get("location") ?? "";
  const to = location !== "" && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (to === undefined) throw refused(model, status, `${from.origin} redirects to a place that it does not tell`);
  if (to.origin !== from.origin) throw refused(model, status, `${from.origin} redirects to ${originOf(to)}`);
  if (!KEEPING.has(status)) throw refused(model, status, `${from.origin} redirects by ${status}, which leaves the question behind`);
  if (hops === MOST) throw refused(model, status, `${from.origin} redirects more than ${MOST} times`);
  return to;
}

/** An address without an origin of its own, such as a file's, is told by its kind: what follows may be a secret. */
function originOf(url: URL): string {
  return url.origin === "null" ? `an address of the kind ${url.protocol}` : url.origin;
}

function refused(model: string, status: number, came: string): ModelError {
  return modelError(
    "MODEL_REDIRECTED",
    `Expected an answer from the server of ${model} itself, but ${came}. Nothing was sent there. Check the base URL, and set it to where the API is.`,
    { data: { ...(status === 0 ? {} : { status }), mayHaveRun: false } },
  );
}
