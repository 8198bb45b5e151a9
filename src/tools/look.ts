import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { z } from "zod";
import { ControlError, UsageError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { quoteOutside, seenText } from "../tool/shown-text.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { checkPath, visible } from "../workspace/path-rules.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { reasonOf } from "./tool-files.ts";
import { createRequire } from "node:module";

export interface LookOptions {
  readonly workspace: Workspace;
  /** Reads PDF files. Default: the package `unpdf`, which is not installed with this one; without it a PDF file is refused with that advice. */
  readonly readPdf?: ReadPdf;
}

const lookOptions: Known<LookOptions> = { workspace: kinds.workspace, readPdf: kinds.function };

const MAX_PICTURE = 3_750_000;
const MAX_DOCUMENT = 20 * 1024 * 1024;
const MAX_PAGES = 20;
const MAX_TEXT = 16_000;

const parameters = z.object({
  path: z.string().describe("Relative to the project, as docs/plan.png."),
  from: z.number().int().min(1).default(1).describe("Of a PDF file: the first page to read."),
});

/** Makes a tool that shows a picture of the project, or reads a PDF file. The first bytes of a file give its type. */
export function lookTool(options: LookOptions): Tool {
  checkGivenOptions("lookTool", options, lookOptions);
  const { workspace, readPdf = readWithUnpdf } = options;
  return defineTool({
    name: "look",
    description: "Looks at a picture of the project (PNG, JPEG, GIF or WebP), or reads the text of a PDF file, some pages at a time.",
    parameters,
    effect: "read",
    maxOutput: MAX_TEXT + 2_000,
    execute: async ({ path, from }, { signal }: ToolContext) => {
      try {
        const normal = checkPath(path);
        const bytes = await workspace.readBytes(normal, MAX_DOCUMENT);
        if (bytes === undefined)
          return toolFailure(`Expected a file at ${visible(normal)}, but nothing is there. View the folder to see what is.`);
        const mediaType = pictureIn(bytes);
        if (mediaType !== undefined) return pictureOf(normal, mediaType, bytes);
        return Buffer.from(bytes.subarray(0, 1024)).toString("latin1").includes("%PDF-")
          ? await documentOf(normal, bytes, from, readPdf, signal)
          : toolFailure(noneOf(normal));
      } catch (error) {
        return toolFailure(reasonOf(error));
      }
    },
  });
}

function pictureOf(path: string, mediaType: string, bytes: Uint8Array): ToolResult {
  if (bytes.length > MAX_PICTURE)
    return toolFailure(
      `Expected a picture of at most ${MAX_PICTURE} bytes, but ${path} has ${bytes.length}. Make a smaller copy of it and look at that.`,
    );
  const data = Buffer.from(bytes).toString("base64");
  return toolOutput(`${path}: a picture, ${mediaType}, ${bytes.length} bytes.`, { images: [{ mediaType, data }] });
}

async function documentOf(path: string, bytes: Uint8Array, from: number, readPdf: ReadPdf, signal: AbortSignal): Promise<ToolResult> {
  let read: Awaited<ReturnType<ReadPdf>>;
  try {
    read = await readPdf(bytes, { from, most: MAX_PAGES, signal });
  } catch (error) {
    if (signal.aborted || error instanceof ControlError) throw error;
    return toolFailure(`${path} could not be read as a PDF file: ${visible(thrownText(error), 400)}`);
  }
  const { pages, texts } = read;
  if (texts.length === 0) return toolFailure(`Expected a page from 1 to ${pages} of ${path}, got ${from}.`);
  const shown = fitting(texts.map((text, place) => `Page ${from + place}:\n${seenText(text)}`));
  if (texts.every((text) => text.trim() === ""))
    return toolFailure(`The pages of ${path} that were read have no text: they may be pictures.`);
  const next = from + shown.length;
  const rest = next > pages ? {} : { system: `Pages ${from} to ${next - 1} of ${pages}; read on with from: ${next}.` };
  return toolOutput(quoteOutside(`the file ${visible(path)}`, shown.join("\n\n").slice(0, MAX_TEXT)), rest);
}

function fitting(pages: readonly string[]): readonly string[] {
  let left = MAX_TEXT;
  const fit = pages.findIndex((page, place) => (left -= page.length + 2) < 0 && place > 0);
  return fit === -1 ? pages : pages.slice(0, fit);
}

function pictureIn(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) return "image/gif";
  return start.startsWith("RIFF") && start.slice(8) === "WEBP" ? "image/webp" : undefined;
}

function noneOf(path: string): string {
  return `Expected a picture (PNG, JPEG, GIF, WebP) or a PDF file, but the bytes of ${path} are neither. Texts are viewed with the editor.`;
}

/**
 * Reads pages of a PDF file: at most `most` of them, beginning with `from`, counted from 1. Returns the number of all pages, and the texts of those
 * that were read.
 *
 * @throws for bytes that are no PDF
 */
export type ReadPdf = (
  bytes: Uint8Array,
  pages: { readonly from: number; readonly most: number; readonly signal: AbortSignal },
) => Promise<{ readonly pages: number; readonly texts: readonly string[] }>;

interface PdfPackage {
  getDocumentProxy(bytes: Uint8Array, options: object): Promise<PdfDocument>;
}
interface PdfDocument {
  readonly numPages: number;
  getPage(page: number): Promise<{ getTextContent(): Promise<{ readonly items: readonly object[] }> }>;
  destroy(): Promise<void>;
}

const SAFELY = { isEvalSupported: false, useSystemFonts: false, disableFontFace: true, stopAtErrors: false, verbosity: 0 };

const readWithUnpdf: ReadPdf = async (bytes, { from, most, signal }) => {
  const { getDocumentProxy } = loadPackage();
  // It takes over the bytes, and refuses a Buffer.
  const document = await getDocumentProxy(new Uint8Array(bytes), SAFELY);
  try {
    const texts: string[] = [];
    for (let page = from; page <= document.numPages && texts.length < most; page++) {
      signal.throwIfAborted();
      texts.push(textOf((await (await document.getPage(page)).getTextContent()).items));
    }
    return { pages: document.numPages, texts };
  } finally {
    await document.destroy();
  }
};

/** By `require`: the user installs the package, and its types are not needed to compile this one. */
function loadPackage(): PdfPackage {
  try {
    return createRequire(import.meta.url)("unpdf") as PdfPackage;
  } catch (error) {
    throw new UsageError(
      "PACKAGE_MISSING",
      `Reading a PDF file needs the package unpdf, which could not be loaded (${thrownText(error)}). Run: npm install unpdf`,
      { cause: error },
    );
  }
}

function textOf(items: readonly object[]): string {
  const pieces = items.map((item) => {
    const { str, hasEOL } = item as { readonly str?: unknown; readonly hasEOL?: unknown };
    return `${typeof str === "string" ? str : ""}${hasEOL === true ? "\n" : ""}`;
  });
  return pieces.join("").trim();
}
