/** The parts of a well-formed XML text: its elements with their attributes, and its texts. */
export interface XmlParts {
  readonly elements: readonly { readonly name: string; readonly attributes: ReadonlyMap<string, string> }[];
  readonly texts: readonly string[];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** Reads XML strictly. Throws for tags that do not match, characters that XML cannot hold, and bare signs. */
export function xmlParts(text: string): XmlParts {
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u.test(text)) throw new Error("a character that XML cannot hold");
  const elements: { name: string; attributes: Map<string, string> }[] = [];
  const texts: string[] = [];
  const open: string[] = [];
  const token = /<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw new Error(`no XML at ${at}: ${text.slice(at, at + 60)}`);
    const [, end, name, attributes = "", alone, words] = found;
    if (words !== undefined) texts.push(plain(words));
    else if (name !== undefined && end === "/") {
      if (open.pop() !== name) throw new Error(`</${name}> ends what was not begun`);
    } else if (name !== undefined) {
      const pairs = [...attributes.matchAll(/([\w:-]+)="([^"]*)"/g)].map(([, key = "", value = ""]) => [key, plain(value)] as const);
      elements.push({ name, attributes: new Map(pairs) });
      if (alone !== "/") open.push(name);
    }
  }
  if (open.length > 0) throw new Error(`no end of ${open.join(", ")}`);
  return { elements, texts };
}

function plain(text: string): string {
  if (/&(?!(amp|lt|gt|quot|apos|nbsp|#\d+);)/.test(text)) throw new Error(`a bare & in ${text.slice(0, 60)}`);
  return text.replace(/&(#\d+|\w+);/g, (_, name: string) =>
    name.startsWith("#") ? String.fromCodePoint(Number(name.slice(1))) : (ENTITIES[name] ?? ""),
  );
}
