/** Answers of a model, kept by the role that asked and by the number of its question: `engineer-alex-03.json`. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Characters of one token. */
const TOKEN = 4;

function textOf(content) {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : "";
}

/** The role that asks: the profile and the name that its system message or the end of its task tells, else `agent`. */
export function roleOf({ messages = [] }) {
  const said = (wanted) => messages.filter(({ role }) => wanted.includes(role)).map(({ content }) => textOf(content));
  const ROLE = /You are (?:an? )?([^,.\n]{1,40}?), named ([^,.\n]{1,40})[,.\n]/;
  const told =
    ROLE.exec(said(["system", "developer"]).join("\n")) ?? ROLE.exec(said(["user"]).join("\n").split("\n## Your role\n").at(1) ?? "");
  if (told === null) return "agent";
  return `${told[1]}-${told[2]}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

/** Numbers the questions of each role in one run. */
export class AnswerKeys {
  #counts = new Map();

  next(body) {
    const role = roleOf(body);
    const count = (this.#counts.get(role) ?? 0) + 1;
    this.#counts.set(role, count);
    return `${role}-${String(count).padStart(2, "0")}`;
  }
}

/** Reads a reply of the chat API, streamed or whole. */
export function readReply(text) {
  if (!text.startsWith("data:") && !text.startsWith(":")) {
    const { message = {}, finish_reason: finish } = JSON.parse(text).choices[0];
    return { content: message.content ?? "", tool_calls: (message.tool_calls ?? []).map((call) => call.function), finish };
  }
  const reply = { content: "", tool_calls: [], finish: undefined };
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: {")) continue;
    const [choice] = JSON.parse(line.slice("data: ".length)).choices;
    if (choice === undefined) continue;
    reply.content += choice.delta?.content ?? "";
    reply.finish = choice.finish_reason ?? reply.finish;
    for (const { index, function: part = {} } of choice.delta?.tool_calls ?? []) {
      const call = (reply.tool_calls[index] ??= { name: "", arguments: "" });
      call.name += part.name ?? "";
      call.arguments += part.arguments ?? "";
    }
  }
  return reply;
}

/** Keeps an answer: `{ content, tool_calls: [{ name, arguments }], finish }`. */
export function keepAnswer(folder, key, { content, tool_calls: calls = [], finish }) {
  mkdirSync(folder, { recursive: true });
  const kept = { ...(content ? { content } : {}), ...(calls.length === 0 ? {} : { tool_calls: calls.map(parsedCall) }), finish };
  writeFileSync(join(folder, `${key}.json`), `${JSON.stringify(kept, undefined, 1)}\n`);
}

/** Arguments are kept as JSON where they are JSON, so that people can read them. */
function parsedCall({ name, arguments: given }) {
  try {
    return { name, arguments: JSON.parse(given) };
  } catch {
    return { name, arguments: given };
  }
}

/** The kept answer as a reply of the stub of `troupe/testing`, or undefined. */
export function keptAnswer(folder, key, body) {
  const file = join(folder, `${key}.json`);
  if (!existsSync(file)) return undefined;
  const { content = "", tool_calls: calls, finish } = JSON.parse(readFileSync(file, "utf8"));
  return replyOf({ content, calls, finish }, key, body);
}

/** A reply with the usage that its characters make. */
export function replyOf({ content = "", calls = [], finish }, key, body) {
  const toolCalls = calls.map(({ name, arguments: given }, n) => ({
    id: `${key}-${n}`,
    name,
    arguments: typeof given === "string" ? given : JSON.stringify(given),
  }));
  const said = content.length + (toolCalls.length === 0 ? 0 : JSON.stringify(toolCalls).length);
  return {
    text: content,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    finishReason: finish ?? (toolCalls.length === 0 ? "stop" : "tool_calls"),
    usage: { prompt_tokens: Math.ceil(lengthOf(body) / TOKEN), completion_tokens: Math.ceil(said / TOKEN) },
  };
}

/** A request in the order in which a provider reads it. */
function promptText({ tools = [], messages = [] }) {
  return JSON.stringify(tools) + messages.map((message) => JSON.stringify(message)).join("");
}

function lengthOf(body) {
  return promptText(body).length;
}

function commonPrefix(one, other) {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

/**
 * The share of the characters of all requests that stand in lines which an earlier request had too: those in all, and those that no provider
 * can have cached, because something else stands before them.
 */
export function repeatedShares(bodies) {
  const seen = new Set();
  const texts = bodies.map((body) => linesOf(body).join("\n"));
  const sums = { all: 0, repeated: 0, paid: 0 };
  for (const [n, text] of texts.entries()) {
    const cached = texts.slice(0, n).reduce((most, earlier) => Math.max(most, commonPrefix(text, earlier)), 0);
    let at = 0;
    for (const line of text.split("\n")) {
      at += line.length + 1;
      sums.all += line.length;
      if (!seen.has(line)) continue;
      sums.repeated += line.length;
      if (at > cached) sums.paid += line.length;
    }
    for (const line of text.split("\n")) seen.add(line);
  }
  const share = (sum) => (sums.all === 0 ? 0 : sum / sums.all);
  return { repeated: share(sums.repeated), paid: share(sums.paid) };
}

/** The lines of a request: of its tools, its messages, and the arguments of the calls in them. */
function linesOf({ tools = [], messages = [] }) {
  const calls = (message) => (message.tool_calls ?? []).map((call) => call.function.arguments.replaceAll("\\n", "\n"));
  return [
    ...tools.map((tool) => JSON.stringify(tool)),
    ...messages.flatMap((message) => [message.role, textOf(message.content), ...calls(message)]),
  ];
}

/** The share of the characters of all requests that repeat the beginning of an earlier request, so that a provider can have cached them. */
export function cacheableShare(bodies) {
  const texts = bodies.map(promptText);
  const shared = texts.map((text, n) => texts.slice(0, n).reduce((most, earlier) => Math.max(most, commonPrefix(text, earlier)), 0));
  const all = texts.reduce((sum, text) => sum + text.length, 0);
  return all === 0 ? 0 : shared.reduce((sum, length) => sum + length, 0) / all;
}
