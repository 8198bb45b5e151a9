const MOST = 200;

/** Returns JSON of bounded length, or a word for a value without a JSON form. Never throws. */
export function valueText(value: unknown): string {
  switch (typeof value) {
    case "function":
      return functionText(value);
    case "symbol":
      return "a symbol";
    case "bigint":
      return `${value}n`;
    case "object":
      return value === null ? "null" : objectText(value);
    case "string":
      return bounded(JSON.stringify(value));
    default:
      return String(value);
  }
}

/** An error's message, or its name without one; else the value itself. */
export function thrownText(thrown: unknown): string {
  if (thrown instanceof Error) return messageOf(thrown);
  return typeof thrown === "string" ? bounded(thrown) : valueText(thrown);
}

export function clauseText(sentence: string): string {
  return sentence.trimEnd().replace(/(?<!\.)\.$/, "");
}

function messageOf(error: Error): string {
  try {
    const message = String(error.message);
    return message === "" ? error.name : message;
  } catch {
    return "Error";
  }
}

export function listed(texts: readonly string[], most: number): string {
  const rest = texts.length > most ? ` and ${texts.length - most} more` : "";
  return texts.slice(0, most).join(", ") + rest;
}

/** Half a key would pass a mask of the whole one, so no word is cut. */
function bounded(text: string): string {
  if (text.length <= MOST) return text;
  return `${text.slice(0, MOST).replace(/[\w-]+$/, "")}... (${text.length} characters)`;
}

function functionText(value: object): string {
  try {
    const { name } = value as { readonly name?: unknown };
    return /^class\b/.test(Function.prototype.toString.call(value)) ? bounded(`the class ${String(name)}`) : "a function";
  } catch {
    return "a function";
  }
}

function objectText(value: object): string {
  try {
    const text: unknown = JSON.stringify(value);
    const kind = kindOf(value);
    if (typeof text !== "string" || (text === "{}" && kind !== "Object")) return bounded(`an object of the kind ${kind}`);
    return bounded(text);
  } catch {
    return "an object that is no JSON";
  }
}

function kindOf(value: object): string {
  const { constructor } = value as { readonly constructor?: { readonly name?: unknown } };
  return typeof constructor?.name === "string" && constructor.name !== "" ? constructor.name : "Object";
}

/** Characters that could control a terminal or hide text, except tab and line feed. Joiners stay: scripts and emoji need them. */
const STEERING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** `\x1b`, `\u202e` */
export function visibleText(text: string): string {
  return text.replace(STEERING, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  });
}

/** Characters that control a terminal, end a line, or have no shape; halves of surrogate pairs. */
const UNSHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Returns untrusted text on one line, at most `limit` of its characters, with `\u{7f}` for what cannot be shown. */
export function shownText(text: string, limit = 200): string {
  const shown = text.slice(0, limit).replace(UNSHOWN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return text.length > limit ? `${shown}...` : shown;
}

/** Control and format characters, separators of lines, halves of characters, and characters without a shape; all but the line feed. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\u2800]/gu;

/** Escapes all such characters as in JSON, joiners too: for text from outside. */
export function escapedText(text: string): string {
  return text.replace(UNSEEN, (character) =>
    character
      .split("")
      .map((half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Half characters and the character 0, which servers and stores refuse. */
const BROKEN = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\u0000/g;

/** A string that servers and stores take: half characters, from a person or from a cut, become the replacement character. */
export function wellFormed(text: string): string {
  return text.replace(BROKEN, "\ufffd");
}
