import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { defined } from "../kernel/value-kind.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { type ToolResult, toolFailure, toolOutput } from "../tool/tool-result.ts";
import { visible } from "../workspace/path-rules.ts";
import { readHtml } from "./html-text.ts";
import { quoteOutside, seenText } from "../tool/shown-text.ts";
import { getWeb, isBinary, textOfBytes, type WebAnswer } from "./web-request.ts";
import { webAccess, type WebAccess } from "./web-access.ts";

export interface WebFetchOptions extends WebAccess {
  /** Bytes of one page after decompression. Default 2 MiB. */
  readonly maxBytes?: number;
  /** Default 5. */
  readonly maxRedirects?: number;
  /** Milliseconds for one page, redirects included. Default 20,000. */
  readonly timeout?: number;
}

const webFetchOptions: Known<WebFetchOptions> = {
  ...webAccess,
  maxBytes: kinds.count,
  maxRedirects: kinds.count,
  timeout: kinds.milliseconds,
};

/** Characters of one piece of a page. */
const PIECE = 16_000;
const ERROR_PIECE = 1000;
const TIMEOUT = 20_000;

const parameters = z.object({
  url: z.string().describe("http or https address."),
  from: z.number().int().min(0).default(0).describe("First character to show, to read on in a long page."),
});

type FetchArguments = z.infer<typeof parameters>;

/** Makes a tool that fetches a page of the public internet as text; others are refused unless allowed. It needs permission: an address can carry data away. */
export function webFetchTool(options: WebFetchOptions = {}): Tool {
  checkKnownOptions("webFetchTool", options, webFetchOptions);
  return defineTool({
    name: "web_fetch",
    description: "Fetches a page from the web and gives its text, with links; long pages in pieces. Only public addresses can be reached.",
    parameters,
    effect: "read",
    // An address can send data of other pages away, and a page can ask for that.
    permission: "ask",
    timeout: (options.timeout ?? TIMEOUT) + 10_000,
    maxOutput: PIECE + 4000,
    execute: (args, ctx) => fetchPage(options, args, ctx),
  });
}

async function fetchPage(options: WebFetchOptions, { url, from }: FetchArguments, { signal, clock }: ToolContext): Promise<ToolResult> {
  const { maxBytes, maxRedirects, timeout = TIMEOUT } = options;
  const answer = await getWeb({ url, access: options, signal, clock, timeout, ...defined({ maxBytes, maxRedirects }) });
  if (answer.kind !== "answer") return toolFailure(`${visible(url)} was not fetched: ${visible(answer.reason, 400)}.`);
  const type = contentType(answer);
  const data = { url: answer.url, status: answer.status, contentType: type };
  const text = readPage(answer, type);
  if (answer.status < 200 || answer.status > 299) {
    const said = text === undefined || text === "" ? {} : { output: quoteOutside(visible(answer.url), text.slice(0, ERROR_PIECE)) };
    return toolFailure(`${visible(answer.url)} answered with status ${answer.status}.`, { ...said, data });
  }
  if (text === undefined)
    return toolFailure(
      `Expected text from ${visible(answer.url)}, got ${visible(type, 100)}, which is no text (${answer.body.length} bytes).`,
      { data },
    );
  const piece = text.slice(from, from + PIECE);
  if (piece === "") return toolOutput(text === "" ? "(the page has no text)" : `(the page ends at character ${text.length})`, { data });
  const notes = notesOf(answer, from, piece.length, text.length);
  return toolOutput(
    `${visible(answer.url)} (${visible(type, 100)})\n${quoteOutside("this page", piece)}`,
    notes === "" ? { data } : { data, system: notes },
  );
}

function notesOf({ isCut }: WebAnswer, from: number, shown: number, length: number): string {
  const end = from + shown;
  const rest = end < length ? `Characters ${from} to ${end} of ${length}; read on with from: ${end}.` : "";
  const cut = isCut ? "The page is larger than what is fetched; its end is missing." : "";
  return [rest, cut].filter((note) => note !== "").join(" ");
}

function contentType({ headers, body }: WebAnswer): string {
  const named = headers["content-type"]?.trim() ?? "";
  if (named !== "") return named.toLowerCase();
  return isBinary(body) ? "application/octet-stream" : "text/plain";
}

function readPage({ body, url }: WebAnswer, type: string): string | undefined {
  const [media = ""] = type.split(";");
  const isText = /^text\/|[/+](json|xml|yaml|javascript|ecmascript|x-ndjson)$|^application\/(x-sh|toml|sql|graphql)$/.test(media.trim());
  if (!isText || isBinary(body)) return undefined;
  const text = textOfBytes(body, type);
  if (!/html/.test(media)) return seenText(text);
  const page = readHtml(text, url);
  return seenText(page.title === "" ? page.text : `Title: ${page.title}\n\n${page.text}`);
}
