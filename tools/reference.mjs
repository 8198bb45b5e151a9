// npm run reference
// Writes docs/reference/ from the doc comments of the entry points, and the code of the examples into the other pages.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { entries, openProgram } from "./api.mjs";
import { withExampleCode } from "./example-code.mjs";
import { root } from "./root.mjs";

const KINDS = [
  ["class", "Classes"],
  ["function", "Functions"],
  ["constant", "Constants"],
  ["type", "Types"],
];

/** The pages of the reference, by their paths. */
export function referencePages(program) {
  const homes = new Map();
  const all = entries.map((entry) => ({ entry, exports: program.exportsOf(entry) }));
  for (const { entry, exports } of all) {
    for (const one of exports)
      if (!homes.has(one.id)) homes.set(one.id, { page: entry.page, name: one.name, heading: headingOf(one, exports) });
  }
  const pages = all.map(({ entry, exports }) => [`docs/reference/${entry.page}`, pageOf(entry, exports, homes)]);
  return new Map([["docs/reference/README.md", contents()], ...pages]);
}

/** The examples of all entry points: file names and code, and the classes and functions of the root entry that have none. */
export function docExamples(program) {
  const all = entries.map((entry) => program.exportsOf(entry));
  const missing = all[0].filter(({ kind, doc }) => /class|function/.test(kind) && doc.examples.length === 0).map(({ name }) => name);
  const documented = new Map(all.flat().map((one) => [one.id, one]));
  const named = [...documented.values()].flatMap(({ name, doc }) =>
    doc.examples.map((code, n) => [`${name}${n === 0 ? "" : n + 1}.ts`, code]),
  );
  return { missing, examples: Object.fromEntries(named) };
}

function contents() {
  const list = entries.map(({ name, page }) => `- [\`${name}\`](${page})`).join("\n");
  return `# Reference\n\nEvery name that the package exports, one page for each entry point. These pages are made from the doc comments of the source by\n\`npm run reference\`; change the comments, not the pages. The [guide](../guide.md) explains how the parts work together.\n\n${list}\n`;
}

function pageOf({ name, source }, exports, homes) {
  const { page } = entries.find((entry) => entry.name === name);
  const link = (id) => linkTo(id, page, homes);
  const sections = KINDS.flatMap(([kind, title]) => {
    const items = exports.filter((one) => one.kind === kind).toSorted((a, b) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1));
    return items.length === 0 ? [] : [{ title, items }];
  });
  const index = sections.map(({ title, items }) => `${title}: ${items.map((one) => `[\`${one.name}\`](${link(one.id)})`).join(", ")}.`);
  const byName = new Map([...homes].map(([id, home]) => [home.name, link(id)]));
  const body = sections.flatMap(({ title, items }) => {
    const own = items.filter((one) => homes.get(one.id).page === page && homes.get(one.id).name === one.name);
    return own.length === 0 ? [] : [`## ${title}`, ...own.map((one) => itemText(one, homes.get(one.id).heading, byName))];
  });
  return `${[`# ${name}`, `Made from the doc comments of \`${source}\` by \`npm run reference\`.`, ...index, ...body].join("\n\n")}\n`;
}

/** Anchors ignore case, so a name is marked where a function of its name in other case has the anchor. */
function headingOf({ name, kind }, exports) {
  const isTaken = exports.some((other) => other.name !== name && other.name.toLowerCase() === name.toLowerCase());
  return isTaken && kind !== "function" ? `${name} (${kind})` : name;
}

function linkTo(id, page, homes) {
  const home = homes.get(id);
  return `${home.page === page ? "" : home.page}#${home.heading
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-")}`;
}

/** An exported name. Members without a doc comment are shown in the declaration, the others below it. */
function itemText({ name, declaration, doc, members }, heading, links) {
  const plain = members.filter((one) => docText(one.doc, links) === "").map((one) => `  ${one.declaration.replaceAll("\n", "\n  ")};`);
  const told = members.filter((one) => docText(one.doc, links) !== "").map((one) => memberText(name, one, links));
  const whole = plain.length === 0 ? declaration : `${declaration} {\n${plain.join("\n")}\n}`;
  return [`### ${heading}`, fenced(whole), docText(doc, links), ...told].filter((part) => part !== "").join("\n\n");
}

function memberText(owner, { name, declaration, doc }, links) {
  return [`#### ${owner}.${name.replaceAll('"', "")}`, fenced(declaration), docText(doc, links)].join("\n\n");
}

function docText({ text, params, returns, throws, examples }, links) {
  const lists = [
    ...params.map((one) => `- ${one.replace(/^(\S+)\s+/, "`$1`: ")}`),
    ...returns.map((one) => `- Returns ${one}`),
    ...throws.map((one) => `- Throws ${one}`),
  ];
  const prose = [text, lists.join("\n")].filter((part) => part !== "").map((part) => linked(part, links));
  return [...prose, ...examples.map(fenced)].join("\n\n");
}

/** The links of a comment as links of the page. */
function linked(text, links) {
  return text.replace(/\{@link ([\w.]+)\}/g, (_, name) => {
    const [own = ""] = name.split(".");
    const target = links.get(own);
    return target === undefined ? `\`${name}\`` : `[\`${name}\`](${target})`;
  });
}

function fenced(code) {
  return `\`\`\`ts\n${code}\n\`\`\``;
}

/** The pages below docs/ and skills/ and at the root that show code of the examples, as they should be. */
function codePages() {
  const guides = readdirSync(`${root}docs`, { recursive: true }).map((path) => `docs/${path.replaceAll("\\", "/")}`);
  const own = guides.filter((path) => path.endsWith(".md") && !/^docs\/(reference|node_modules|\.vitepress)\//.test(path));
  const paths = ["README.md", "skills/troupe/SKILL.md", ...own];
  const read = (path) => readFileSync(`${root}${path}`, "utf8");
  return new Map(paths.map((path) => [path, withExampleCode(read(path), read)]));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const program = openProgram();
  const pages = referencePages(program);
  program.close();
  rmSync(`${root}docs/reference`, { recursive: true, force: true });
  mkdirSync(`${root}docs/reference`);
  for (const [path, text] of [...pages, ...codePages()]) writeFileSync(`${root}${path}`, text);
  process.stdout.write(`${pages.size} pages in docs/reference\n`);
}
