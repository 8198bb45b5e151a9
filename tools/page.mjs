import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./root.mjs";

const FOLDER = join(root, "src/inspector/page");
/** The place of the embedded runs: inert JSON, which the export of a run replaces. */
const EMBEDDED = '<script type="application/json" id="troupe-runs">[]</script>';

/**
 * Joins the page of the inspector into one file of HTML: its script and its style stand in it, and it loads nothing. Writes nothing.
 *
 * The policy in the page names both by their hash, so no other script and no other style runs. A server sends the same policy as a header.
 *
 * @returns the text of the file
 */
export async function bundlePage() {
  const [script, style] = [await bundleScript(), readStyle()];
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="referrer" content="no-referrer"><title>Troupe</title>',
    `<link rel="icon" href="${ICON}"><style>${style}</style></head>`,
    `<body><div id="app">${LOADING}</div>${EMBEDDED}<script type="module">${script}</script></body>${notices()}</html>\n`,
  ].join("");
}

/** The packages in the script. Their licences ask that copies carry them. */
const BUNDLED = ["diff", "preact", "@preact/signals", "@preact/signals-core"];

function notices() {
  const licences = BUNDLED.map((name) => `${name}\n${readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8").trim()}`);
  return `<!--\n${licences.join("\n\n").replaceAll("--", "- -")}\n-->`;
}

/** Seen while the browser reads the runs of a large file: the script comes behind them. */
const LOADING = '<main class="empty"><h1>Reading the runs</h1><p>They appear here once all of this page has been read.</p></main>';

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#4a3aa7"/><path d="M3.5 5h9M8 5v7" stroke="#fff" stroke-width="1.8" stroke-linecap="round"/></svg>',
)}`;

async function bundleScript() {
  const { rolldown } = await import("rolldown");
  const bundled = await rolldown({
    input: join(FOLDER, "main.tsx"),
    cwd: root,
    platform: "browser",
    tsconfig: false,
    transform: { target: "es2023", jsx: { runtime: "automatic", importSource: "preact" }, typescript: { onlyRemoveTypeImports: true } },
    // The fold shares files with code that needs Node. What the page does not use of them is left out.
    external: (id) => id.startsWith("node:"),
    treeshake: { moduleSideEffects: (id) => id.endsWith("main.tsx") || id.includes("node_modules") },
    experimental: { attachDebugInfo: "none" },
    plugins: [withoutZod, withoutFiles],
    onLog: (_, { message }) => {
      throw new Error(`The page of the inspector: ${message}`);
    },
  });
  try {
    const { output } = await bundled.generate({ format: "es", minify: true, comments: false });
    const [{ code, imports, dynamicImports }] = output;
    const needed = [...imports, ...dynamicImports].filter((name) => code.includes(`"${name}"`));
    if (needed.length > 0) throw new Error(`The page of the inspector needs ${needed.join(", ")}, which no browser has.`);
    return code.trim().replaceAll("</script", "<\\/script");
  } finally {
    await bundled.close();
  }
}

/**
 * Stands for zod, which would be half of the page. The fold shares classes with code that reads the JSON of users by schemas; the page reads
 * events alone, which a journal has checked. A schema that is asked for here is a mistake, so it fails.
 */
const withoutZod = {
  name: "without-zod",
  resolveId: (id) => (id === "zod" ? "\0zod" : undefined),
  load: (id) =>
    id === "\0zod"
      ? `const refuse = () => { throw new Error("This page has no schemas."); };
    export const z = { lazy: () => undefined, object: refuse, array: refuse, prettifyError: refuse };`
      : undefined,
};

/** Stands for the making of files, which needs the hashes of Node. The page makes no messages. */
const withoutFiles = {
  name: "without-files",
  load: (id) =>
    /[\\/]message[\\/]given-files\.ts$/.test(id)
      ? `export const messageFiles = () => { throw new Error("This page makes no files."); }; export const hashOf = messageFiles;`
      : undefined,
};

/** The styles of the page and of its panels, without comments and without the spaces that only people read. */
function readStyle() {
  const own = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".css"));
  // The colours and sizes stand in the first file.
  const files = ["page.css", ...own.filter((file) => file !== "page.css").sort()];
  return files
    .map((file) => readFileSync(join(FOLDER, file), "utf8"))
    .join("\n")
    .replace(/\/\*[^]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{};,>]) ?/g, "$1")
    .trim();
}

function hashOf(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
