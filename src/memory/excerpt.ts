/** How a text begins: its first characters, none of them cut in two. */
export function excerptOf(text: string, length: number): string {
  const start = Array.from(text.slice(0, 2 * length))
    .slice(0, length)
    .join("");
  return start === text ? text : `${start}…`;
}
