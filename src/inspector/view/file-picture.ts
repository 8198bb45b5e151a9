/** Types of pictures that run no code, by their first bytes. SVG is a text, and may run some. */
const TYPES: readonly (readonly [string, RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[\s\S]{4}WEBP/],
];
/** Characters of base64 that have the first 12 bytes. */
const HEAD = 16;

/** Returns a recorded file as the address of a picture; undefined for a file that is none. What it is follows from its bytes, not from its name. */
export function pictureUrl(base64: string): string | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return undefined;
  const head = atob(base64.slice(0, HEAD));
  const type = TYPES.find(([, begins]) => begins.test(head))?.[0];
  return type && `data:${type};base64,${base64}`;
}

/** The number of bytes that a text of base64 stands for. */
export function bytesIn(base64: string): number {
  return Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}
