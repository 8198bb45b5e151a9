/** A request that `fetch` could not carry out. It hides its reason from the client, which would take some reasons apart and drop the codes. */
export class Unanswered extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super("the request was not answered");
    this.reason = reason;
  }
}

/** Servers put their complaint at the top of the body, or under `detail`; the client looks for it under `error` alone and drops the rest. */
export async function carryOut(send: typeof fetch, url: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await send(url, init);
  } catch (error) {
    throw init?.signal?.aborted === true ? error : new Unanswered(error);
  }
  if (response.ok) return response;
  const text = await response.text().catch(() => "");
  const body = complaintOf(text);
  return new Response(body === undefined ? text : JSON.stringify({ error: body }), {
    status: response.status,
    headers: plainHeaders(response.headers),
  });
}

function complaintOf(text: string): { readonly [key: string]: unknown } | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== "object" || body === null || "error" in body) return undefined;
  const { detail, message } = body as { readonly detail?: unknown; readonly message?: unknown };
  const said = message ?? detail ?? body;
  return { ...body, message: typeof said === "string" ? said : JSON.stringify(said) };
}

/** The body was decoded and may have been rewritten: what described its bytes is no longer true. */
function plainHeaders(headers: Headers): Headers {
  const plain = new Headers(headers);
  plain.delete("content-encoding");
  plain.delete("content-length");
  return plain;
}
