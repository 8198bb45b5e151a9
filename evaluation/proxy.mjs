/** A proxy in front of a model: it keeps the requests, and the answers by role and number. */
import { createServer, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { AnswerKeys, keepAnswer, readReply } from "./answers.mjs";
import { withSlips } from "./slips.mjs";

/** Asks without a limit of time, which `fetch` has, so that a slow model is not asked again: whoever asks decides how long they wait. */
function asked(url, { method, headers, signal, body }) {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? overHttps : overHttp)(url, { method, headers, signal }, resolve);
    request.on("error", reject);
    request.end(body);
  });
}

async function pass(request, response, { upstream, keep, keys, requests, slips }) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const sent = Buffer.concat(chunks);
  const isChat = request.method === "POST" && request.url.endsWith("/chat/completions");
  const body = isChat ? JSON.parse(sent.toString()) : undefined;
  if (body !== undefined) requests.push(body);
  const there = new AbortController();
  response.on("close", () => there.abort());
  const url = new URL(upstream.replace(/\/v1\/?$/, "") + request.url);
  const headers = { "content-type": "application/json", authorization: request.headers.authorization ?? "" };
  const answer = await asked(url, { method: request.method, headers, signal: there.signal, body: isChat ? sent : undefined });
  response.writeHead(answer.statusCode, { "content-type": answer.headers["content-type"] ?? "application/json" });
  const received = [];
  const isWhole = slips !== undefined && body !== undefined && answer.statusCode === 200;
  for await (const chunk of answer) {
    received.push(chunk);
    // A comment of a stream says that the model is alive, so it is not held back.
    if (!isWhole || String(chunk).startsWith(":")) response.write(chunk);
  }
  const text = Buffer.concat(received).toString();
  const said = isWhole ? withSlips(text, slips) : text;
  response.end(isWhole ? said : undefined);
  if (body === undefined || answer.statusCode !== 200) return;
  const key = keys.next(body);
  if (keep !== undefined) keepAnswer(keep, key, readReply(said));
}

/**
 * Starts a proxy on a free port, or on a given one. With `slips` the model makes some. Failures of the model go through as they are and are not numbered.
 *
 * @returns `{ url, requests, close }`
 */
export async function startProxy({ upstream, keep, slips, port = 0 }) {
  const requests = [];
  const keys = new AnswerKeys();
  const server = createServer((request, response) => {
    pass(request, response, { upstream, keep, keys, requests, slips }).catch(() => response.destroy());
  });
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  const close = () =>
    new Promise((done) => {
      server.close(done);
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, close };
}
