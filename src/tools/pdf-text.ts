import { createRequire } from "node:module";
import { UsageError } from "../kernel/errors.ts";
import { thrownText } from "../kernel/value-text.ts";

/** Which pages of a document are read. */
export interface PdfPages {
  /** The first page, from 1. */
  readonly from: number;
  /** Most pages. */
  readonly most: number;
  readonly signal: AbortSignal;
}

/** The text of some pages, and how many there are in all. */
export interface PdfText {
  readonly pages: number;
  readonly texts: readonly string[];
}

/** Reads pages of a PDF file. @throws for bytes that are none */
export type ReadPdf = (bytes: Uint8Array, pages: PdfPages) => Promise<PdfText>;

/** What is used of the package. */
interface PdfPackage {
  getDocumentProxy(bytes: Uint8Array, options: object): Promise<PdfDocument>;
}
interface PdfDocument {
  readonly numPages: number;
  getPage(page: number): Promise<{ getTextContent(): Promise<{ readonly items: readonly object[] }> }>;
  destroy(): Promise<void>;
}

/** No code of a document is run, and nothing is fetched for it. */
const SAFELY = { isEvalSupported: false, useSystemFonts: false, disableFontFace: true, stopAtErrors: false, verbosity: 0 };

/** Reads pages with the package `unpdf`. @throws UsageError `PACKAGE_MISSING`; what the package throws for bytes that are no PDF */
export const readWithUnpdf: ReadPdf = async (bytes, { from, most, signal }) => {
  const { getDocumentProxy } = loadPackage();
  // It takes the bytes for its own, and no Buffer.
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

/** By `require`: the package is the user's to install, and its types are not needed to compile this one. */
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
