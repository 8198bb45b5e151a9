import { basename } from "node:path";
import { PassThrough } from "node:stream";
import { parsedJson } from "../kernel/json.ts";
import { isList, isRecord } from "../kernel/value-kind.ts";
import { thrownText } from "../kernel/value-text.ts";
import { cut, linesOf, membersOf, microUsd, type OutputReader, type Said, textIn } from "./agent-lines.ts";
import type { CodingTask } from "./coding-agent.ts";

/** The version of the Agent Client Protocol, https://agentclientprotocol.com. */
const VERSION = 1;
const AUTH_REQUIRED = -32_000;
const NO_METHOD = -32_601;

/** True for a command that names the protocol, such as `gemini --acp`, `opencode acp` or `claude-code-acp`. */
export function isAcp(command: readonly string[]): boolean {
  return command.some(
    (word, nth) => /^(?:--(?:experimental-)?acp|acp)$/.test(word) || (nth < 3 && /(?:^|[-/])acp(?:$|[-@.])/.test(basename(word))),
  );
}

interface AcpTask extends Pick<CodingTask, "folder" | "prompt" | "ask"> {
  readonly session: string | undefined;
  readonly said: Said;
  /** Ends the program before it has a result. */
  readonly fail: (error: Error) => void;
  /** Called when the result is there: the program may end. */
  readonly done: () => void;
}

type Members = Readonly<Record<string, unknown>>;

/**
 * One conversation by the Agent Client Protocol: an order, its questions, and its result. Files and commands are the agent's own: it offers none.
 *
 * Owns the requests without an answer. `AcpSession.P1` each request of the agent is answered: a permission by the user, anything else by
 * "unknown method" (`#asked`). `AcpSession.P2` a question that cannot be asked ends the program, and its error is kept (`unasked`).
 */
export class AcpSession implements OutputReader {
  readonly input: PassThrough = new PassThrough();
  /** Why a question could not be asked. */
  unasked: Error | undefined;
  readonly #task: AcpTask;
  readonly #lines: OutputReader;
  readonly #waiting = new Map<number, { readonly resolve: (result: Members) => void; readonly reject: (error: Error) => void }>();
  #last = 0;
  /** The agent repeats the past of a conversation that is loaded. */
  #isPast = true;

  constructor(task: AcpTask) {
    this.#task = task;
    this.#lines = linesOf((line) => this.#heard(line));
    this.#converse().catch((error: unknown) => {
      task.said.error ??= thrownText(error);
      task.fail(error as Error);
    });
  }

  take(chunk: Uint8Array): void {
    this.#lines.take(chunk);
  }

  end(): void {
    this.#lines.end();
  }

  async #converse(): Promise<void> {
    const { folder, prompt, said, session, done } = this.#task;
    const capabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
    const client = { protocolVersion: VERSION, clientCapabilities: capabilities, clientInfo: { name: "troupe", version: "1" } };
    const { agentCapabilities } = await this.#ask("initialize", client);
    const place = { cwd: folder, mcpServers: [] };
    const method = session === undefined ? undefined : continues(membersOf(agentCapabilities));
    const known =
      method &&
      (await this.#ask(method, { ...place, sessionId: session }).then(
        () => session,
        () => undefined,
      ));
    const sessionId = known ?? textIn((await this.#ask("session/new", place))["sessionId"]);
    if (sessionId !== undefined) said.session = sessionId;
    this.#isPast = false;
    const { stopReason } = await this.#ask("session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] });
    if (stopReason === "end_turn") said.isEnded = true;
    else said.error = `It stopped before the end of its work: ${textIn(stopReason) ?? "no reason"}.`;
    this.input.end();
    done();
  }

  #ask(method: string, params: Members): Promise<Members> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  #send(message: Members): void {
    this.input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #heard(line: string): void {
    const message = parsedJson(line);
    if (!isRecord(message)) return;
    const { id, method, params, result, error } = message;
    if (typeof method === "string") {
      if (id === undefined) this.#updated(membersOf(membersOf(params)["update"]));
      else void this.#asked(id, method, membersOf(params));
      return;
    }
    const waiting = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (error === undefined || error === null) waiting?.resolve(membersOf(result));
    else waiting?.reject(new Error(errorText(membersOf(error))));
  }

  #updated({ sessionUpdate: kind, content, cost }: Members): void {
    const { said } = this.#task;
    const { amount, currency } = membersOf(cost);
    if (kind === "usage_update" && currency === "USD") said.cost = microUsd(amount) ?? said.cost;
    if (this.#isPast) return;
    if (kind === "tool_call") said.text = "";
    if (kind === "agent_message_chunk") said.text = cut(said.text + (textIn(membersOf(content)["text"]) ?? ""));
  }

  async #asked(id: unknown, method: string, params: Members): Promise<void> {
    if (method !== "session/request_permission") return this.#send({ id, error: { code: NO_METHOD, message: "Method not found" } });
    const choices = (isList(params["options"]) ? params["options"] : []).map(membersOf).flatMap(({ optionId, name }) => {
      const value = textIn(optionId);
      return value === undefined ? [] : [{ value, label: textIn(name) ?? value }];
    });
    try {
      const text = callText(membersOf(params["toolCall"]));
      const optionId = choices.length === 0 ? undefined : await this.#task.ask({ text, choices });
      const outcome = optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
      this.#send({ id, result: { outcome } });
    } catch (error) {
      this.unasked = error as Error;
      this.#task.fail(this.unasked);
    }
  }
}

/** The method that continues a conversation; the one that repeats nothing first. */
function continues({ loadSession, sessionCapabilities }: Members): string | undefined {
  if (isRecord(membersOf(sessionCapabilities)["resume"])) return "session/resume";
  return loadSession === true ? "session/load" : undefined;
}

function callText({ title, locations, rawInput }: Members): string {
  const places = (isList(locations) ? locations : []).flatMap((one) => textIn(membersOf(one)["path"]) ?? []);
  const input = rawInput === undefined || rawInput === null ? "" : JSON.stringify(rawInput, null, 2);
  return [textIn(title) ?? "use a tool", ...places, input].filter((part) => part !== "").join("\n");
}

function errorText({ code, message, data }: Members): string {
  const { details } = membersOf(data);
  const text = [textIn(message), textIn(details)].filter((part) => part !== undefined).join(": ");
  return code === AUTH_REQUIRED ? `${text} Log in with its own command first, then resume the run.` : text;
}
