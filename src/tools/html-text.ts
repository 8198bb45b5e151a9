const UNREAD: ReadonlySet<string> = new Set("script style template svg math iframe object canvas audio video title".split(" "));
const BLOCKS: ReadonlySet<string> = new Set(
  "address article aside blockquote br dd details div dl dt fieldset figcaption figure footer form header hr main nav ol p pre section summary table tr ul".split(
    " ",
  ),
);
const HEADING = /^h[1-6]$/;
const MAX_LINK = 500;
const MAX_ATTRIBUTES = 4000;

/** The text of a page in one pass, with links as `[text](address)`. @param base makes links absolute */
export function readHtml(html: string, base: string): { readonly title: string; readonly text: string } {
  const title = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html.slice(0, 100_000))?.[1] ?? "";
  const reader = new PageReader(html, base);
  return { title: decodeEntities(title).replace(/\s+/g, " ").trim(), text: reader.read() };
}

/** Reads one page. It owns the place in the page, the output, and the open elements. Every step moves forward, so the time is linear. */
class PageReader {
  readonly #html: string;
  readonly #base: string;
  readonly #out: string[] = [];
  #at = 0;
  #preformatted = 0;
  #link: string | undefined;

  constructor(html: string, base: string) {
    this.#html = html;
    this.#base = base;
  }

  read(): string {
    while (this.#at < this.#html.length) {
      const open = this.#html.indexOf("<", this.#at);
      this.#text(this.#html.slice(this.#at, open === -1 ? undefined : open));
      if (open === -1) break;
      this.#at = open;
      this.#markup();
    }
    return tidied(this.#out.join(""));
  }

  #text(raw: string): void {
    if (raw === "") return;
    const text = decodeEntities(raw);
    this.#out.push(this.#preformatted > 0 ? text : text.replace(/\s+/g, " "));
  }

  #markup(): void {
    if (this.#html.startsWith("<!--", this.#at)) return this.#skipPast("-->", 4);
    if (/[!?]/.test(this.#html.charAt(this.#at + 1))) return this.#skipPast(">", 2);
    const name = /<(\/?)([a-z][a-z0-9]{0,20})/iy;
    name.lastIndex = this.#at;
    const found = name.exec(this.#html);
    if (found === null) {
      this.#out.push("<");
      this.#at += 1;
      return;
    }
    const end = this.#tagEnd(name.lastIndex);
    const attributes = this.#html.slice(name.lastIndex, Math.min(end, name.lastIndex + MAX_ATTRIBUTES));
    this.#at = end + 1;
    this.#tag((found[2] ?? "").toLowerCase(), found[1] === "/", attributes);
  }

  #skipPast(mark: string, from: number): void {
    const end = this.#html.indexOf(mark, this.#at + from);
    this.#at = end === -1 ? this.#html.length : end + mark.length;
  }

  #tagEnd(from: number): number {
    const mark = /[>"']/g;
    mark.lastIndex = from;
    for (let found = mark.exec(this.#html); found !== null; found = mark.exec(this.#html)) {
      if (found[0] === ">") return found.index;
      const close = this.#html.indexOf(found[0], found.index + 1);
      if (close === -1) break;
      mark.lastIndex = close + 1;
    }
    return this.#html.length;
  }

  #tag(name: string, isClosing: boolean, attributes: string): void {
    if (UNREAD.has(name)) return isClosing || attributes.endsWith("/") ? undefined : this.#skipElement(name);
    if (name === "a") return isClosing ? this.#closeLink() : this.#openLink(attributes);
    if (name === "pre") this.#preformatted = Math.max(0, this.#preformatted + (isClosing ? -1 : 1));
    if (name === "img" && !isClosing) this.#text(attribute(attributes, "alt"));
    if (name === "td" || name === "th") this.#out.push(isClosing ? " | " : "");
    if (name === "li" && !isClosing) this.#out.push("\n- ");
    if (HEADING.test(name)) this.#out.push(isClosing ? "\n\n" : `\n\n${"#".repeat(Number(name[1]))} `);
    if (BLOCKS.has(name)) this.#out.push("\n");
  }

  #skipElement(name: string): void {
    const close = new RegExp(`</${name}[\\s/>]`, "gi");
    close.lastIndex = this.#at;
    const found = close.exec(this.#html);
    this.#at = found === null ? this.#html.length : this.#tagEnd(found.index + name.length + 2) + 1;
  }

  #openLink(attributes: string): void {
    this.#closeLink();
    const href = decodeEntities(attribute(attributes, "href"));
    if (href === "" || href.startsWith("#") || href.length > MAX_LINK || !URL.canParse(href, this.#base)) return;
    const url = new URL(href, this.#base);
    if (url.protocol !== "http:" && url.protocol !== "https:") return;
    this.#link = url.href;
    this.#out.push("[");
  }

  #closeLink(): void {
    if (this.#link === undefined) return;
    this.#out.push(`](${this.#link})`);
    this.#link = undefined;
  }
}

function attribute(attributes: string, name: string): string {
  const found = new RegExp(`(?:^|[\\s"'/])${name}\\s{0,5}=\\s{0,5}(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(attributes);
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? "";
}

function tidied(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  return lines
    .filter((line, place) => line.trim() !== "" || (place > 0 && (lines[place - 1] ?? "").trim() !== ""))
    .map((line) => line.replace(/^ (?! )/, ""))
    .join("\n")
    .trim();
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ...["nbsp", "ensp", "emsp", "thinsp"].map((name) => [name, " "] as const),
  ["shy", ""],
  ...pairsIn(`amp & lt < gt > quot " apos ' copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „
laquo « raquo » lsaquo ‹ rsaquo › bull • middot · sect § para ¶ deg ° plusmn ± times × divide ÷ minus − frac12 ½ frac14 ¼
frac34 ¾ sup1 ¹ sup2 ² sup3 ³ micro µ euro € pound £ yen ¥ cent ¢ iexcl ¡ iquest ¿ larr ← uarr ↑ rarr → darr ↓ harr ↔ check ✓
infin ∞ ne ≠ le ≤ ge ≥ Auml Ä auml ä Ouml Ö ouml ö Uuml Ü uuml ü szlig ß Agrave À agrave à Aacute Á aacute á Acirc Â acirc â
Atilde Ã atilde ã Aring Å aring å AElig Æ aelig æ Ccedil Ç ccedil ç Egrave È egrave è Eacute É eacute é Ecirc Ê ecirc ê Euml
Ë euml ë Igrave Ì igrave ì Iacute Í iacute í Icirc Î icirc î Iuml Ï iuml ï Ntilde Ñ ntilde ñ Ograve Ò ograve ò Oacute Ó
oacute ó Ocirc Ô ocirc ô Otilde Õ otilde õ Oslash Ø oslash ø Ugrave Ù ugrave ù Uacute Ú uacute ú Ucirc Û ucirc û alpha α beta
β gamma γ delta δ lambda λ mu μ pi π sigma σ omega ω Delta Δ`),
]);

function pairsIn(text: string): (readonly [string, string])[] {
  return [...text.matchAll(/(\S+)\s+(\S+)/g)].map(([, name = "", character = ""]) => [name, character] as const);
}

const REFERENCE = /&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|([a-z][a-z0-9]{1,31}));/gi;

export function decodeEntities(text: string): string {
  return text.replace(REFERENCE, (written, hexadecimal?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return NAMED.get(name) ?? written;
    const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
    return code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) || code === 0 ? "\ufffd" : String.fromCodePoint(code);
  });
}
