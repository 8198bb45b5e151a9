/** A document of a title and sections; those without text are left out. Ends with a line break. */
export function sections(title: string, parts: readonly (readonly [heading: string, text: string])[]): string {
  const filled = parts.filter(([, text]) => text.trim() !== "");
  return `${[`# ${title}`, ...filled.map(([heading, text]) => `## ${heading}\n\n${text.trim()}`)].join("\n\n")}\n`;
}

/** A list of points. Lines of one point stay together. */
export function bullets(points: readonly string[]): string {
  return points.map((point) => `- ${point.trim().replace(/\n/g, "\n  ")}`).join("\n");
}

/** A text cut to a number of characters; what is left out is said at its end. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const kept = text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, "");
  return `${kept}\n[${text.length - kept.length} more characters are left out]`;
}
