// The code that the pages show. Each block of a page names its source, `examples/01-hello.ts#hello`; it shows that region and the imports it uses.

/** The text between `// #region name` and its `// #endregion`, without its indentation and without the marks of other regions. */
export function region(source, name) {
  const lines = source.split("\n");
  const start = lines.findIndex((line) => line.trim() === `// #region ${name}`);
  if (start === -1) return undefined;
  let depth = 1;
  const end = lines.findIndex((line, index) => {
    if (index <= start) return false;
    if (/^\s*\/\/ #region\b/.test(line)) depth++;
    if (/^\s*\/\/ #endregion\b/.test(line)) depth--;
    return depth === 0;
  });
  return end === -1 ? undefined : outdented(lines.slice(start + 1, end));
}

/** The code of a block: the whole file where no region is named, else the imports that the region uses, an empty line and the region. */
export function shownCode(source, name) {
  if (name === undefined) return outdented(source.trim().split("\n"));
  const code = region(source, name);
  if (code === undefined) return undefined;
  const imports = importsOf(source, code);
  return imports.length === 0 ? code : `${imports.join("\n")}\n\n${code}`;
}

/** The import lines of a file, each with the names alone that the code uses. */
function importsOf(source, code) {
  const bare = code.replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$|"[^"\n]*"/gm, "");
  const isUsed = (name) => new RegExp(`(?<![\\w$.])${name}(?![\\w$])`).test(bare) || new RegExp(`\\.\\.\\.${name}\\b`).test(bare);
  return [...source.matchAll(/^import\s+([^;]*?)\s+from\s+("[^"]+");$/gm)].flatMap(([, names = "", from = ""]) => {
    const isList = names.includes("{");
    const list = isList ? names.slice(names.indexOf("{") + 1, names.indexOf("}")).split(",") : [names];
    const used = list.map((one) => one.trim()).filter((one) => one !== "" && isUsed(one.split(/\s+/).at(-1) ?? ""));
    if (used.length === 0) return [];
    if (!isList) return [`import ${used.join(", ")} from ${from};`];
    const isErased = names.startsWith("type ") || used.every((one) => one.startsWith("type "));
    const shown = isErased ? used.map((one) => one.replace(/^type /, "")) : used;
    return [`import ${isErased ? "type " : ""}{ ${shown.join(", ")} } from ${from};`];
  });
}

const BLOCK = /^```ts ((?:examples|templates\/ts)\/(?:[\w-]+\/)?[\w.-]+\.ts)(?:#([\w-]+))?\n[\s\S]*?^```$/gm;

/** A page with the code of the examples in each block that names its source. */
export function withExampleCode(page, read) {
  return page.replace(BLOCK, (block, path, name) => {
    const code = shownCode(read(path), name);
    return code === undefined ? block : `\`\`\`ts ${path}${name === undefined ? "" : `#${name}`}\n${code}\n\`\`\``;
  });
}

function outdented(lines) {
  const shown = lines.filter((line) => !/^\s*\/\/ #(end)?region\b/.test(line));
  const indent = Math.min(...shown.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length));
  return shown
    .map((line) => line.slice(Math.min(indent, line.length)))
    .join("\n")
    .trim();
}
