/** Colours for one stream; each gives the text back as it is when colour is off. Named by what they say, so that a theme is one table. */
export interface Style {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly active: (text: string) => string;
}

/** What decides about colour. */
export interface ColorWish {
  /** `--no-color` was given. */
  readonly isOff: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTTY: boolean;
}

/** The 16 colours that every terminal themes itself: they are readable on dark and on light. */
const CODES: Readonly<Record<keyof Style, readonly [number, number]>> = {
  strong: [1, 22],
  faint: [2, 22],
  good: [32, 39],
  bad: [31, 39],
  warn: [33, 39],
  active: [36, 39],
};

/** Whether to use colour: `--no-color` wins, then FORCE_COLOR, NO_COLOR, TERM=dumb, and whether anybody looks. */
export function wantsColor({ isOff, env, isTTY }: ColorWish): boolean {
  if (isOff) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  if ((env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb") return false;
  return isTTY;
}

/** The style for a stream. */
export function styleFor(color: boolean): Style {
  const paint =
    (name: keyof Style) =>
    (text: string): string => {
      const [on, off] = CODES[name];
      return color && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text;
    };
  return {
    strong: paint("strong"),
    faint: paint("faint"),
    good: paint("good"),
    bad: paint("bad"),
    warn: paint("warn"),
    active: paint("active"),
  };
}
