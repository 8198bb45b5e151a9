import type { OpenAI } from "openai";
import { carryOut } from "./openai-fetch.ts";
import { sendWithin } from "./openai-redirect.ts";
import type { OpenAIServer } from "./openai-server.ts";

/** The client's own timer stays out of the way: silence and total time are watched by the caller. The longest a timer can be. */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * A client of one server. Admin keys, organizations and projects that the client would pick up from the environment stay here: only OpenAI's
 * own servers get them.
 */
export function clientOf(Client: typeof OpenAI, server: OpenAIServer, model: string): OpenAI {
  const { apiKey, baseURL, query, isOpenAI, organization, headers, fetch: send = fetch } = server;
  const within: typeof fetch = (url, init) => sendWithin(send, model, placeOf(url, query), init);
  return new Client({
    apiKey,
    adminAPIKey: null,
    baseURL,
    ...(isOpenAI ? {} : { organization: null, project: null }),
    ...(organization === undefined ? {} : { organization }),
    maxRetries: 0,
    timeout: NO_TIMEOUT,
    logLevel: "off",
    defaultHeaders: { ...headers },
    fetch: (url, init) => carryOut(within, url, init),
  });
}

/** The query stays as it was written: a list of names and values would lose names that stand twice. */
function placeOf(url: Parameters<typeof fetch>[0], query: string): URL {
  const place = new URL(url instanceof Request ? url.url : url);
  if (query !== "") place.search = place.search === "" ? query : `${query}&${place.search.slice(1)}`;
  return place;
}
