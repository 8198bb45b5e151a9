import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from "vitepress";

const docs = fileURLToPath(new URL("..", import.meta.url));
const description = "A TypeScript runtime for teams of AI roles. Every run is a journal.";
/** The address of the repository, for links to its sources. Without one they are plain words. */
const repository = process.env["TROUPE_REPOSITORY"];

const read = (path: string): string => readFileSync(join(docs, path), "utf8");
const titleOf = (path: string): string => /^# (.+)$/m.exec(read(path))?.[1]?.replaceAll("`", "") ?? path;
const item = (path: string): DefaultTheme.SidebarItem => ({ text: titleOf(path), link: `/${path.replace(/\.md$/, "")}` });
const section = (text: string, collapsed: boolean, pages: readonly string[]): DefaultTheme.SidebarItem => ({
  text,
  collapsed,
  items: pages.map(item),
});
const guides = (...names: readonly string[]): readonly string[] => names.map((name) => `guides/${name}.md`);
const entries = existsSync(join(docs, "reference")) ? readdirSync(join(docs, "reference")).toSorted() : [];

const sidebar: DefaultTheme.SidebarItem[] = [
  section("Pipelines", false, [
    ...guides("pipelines"),
    "guide.md",
    ...guides("agents", "models", "chat", "guards", "waits", "memory", "conversations", "ports"),
  ]),
  section("A software company", false, guides("company", "crews", "processes", "workflows", "from-metagpt-openmanus")),
  section("Research", false, [
    ...guides("experiments", "coordination", "simulation", "policies", "exploring"),
    ...guides("failures", "populations", "determinism", "gallery"),
  ]),
  section("In operation", false, guides("inspect", "serve", "deploy", "fleet", "engines", "traces")),
  section("Reference", true, ["command.md", "guarantees.md", "promises.md", "design.md", ...entries.map((name) => `reference/${name}`)]),
];

/** The file of the repository that a link of a page leads to; undefined for a page of the site, and for addresses elsewhere. */
function sourceOf(href: string, page: string): string | undefined {
  const [path = "", anchor] = href.split("#");
  if (path === "" || /^\w+:/.test(path)) return undefined;
  const target = posix.join("docs", posix.dirname(page), path);
  const isPage = target.startsWith("docs/") && /\/$|\/[\w-]+(\.md)?$/.test(target);
  return isPage ? undefined : `${target}${anchor === undefined ? "" : `#${anchor}`}`;
}

/** Keeps Vue from reading `{{text}}` in code as an expression, and a number in the name of an example from being a line to mark. */
function withPlainCode({ core, renderer: { rules } }: MarkdownRenderer): void {
  const code = rules.code_inline;
  rules.code_inline = (...given) => code?.(...given).replace(/^<code/, "<code v-pre") ?? "";
  core.ruler.push("plain-code", ({ tokens }: { tokens: ReturnType<MarkdownRenderer["parse"]> }) => {
    for (const token of tokens) if (token.type === "fence") token.info = token.info.split(" ", 1)[0] ?? "";
  });
}

/** Leads links to other files to the repository. The pages are read there too, so they name these files as neighbors. */
function withRepository(md: MarkdownRenderer): void {
  md.core.ruler.push("repository", ({ tokens, env }: { tokens: ReturnType<typeof md.parse>; env: { relativePath?: string } }) => {
    let isPlain = false;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === "link_open") {
        const source = sourceOf(token.attrGet("href") ?? "", env.relativePath ?? "");
        isPlain = source !== undefined && repository === undefined;
        if (source !== undefined) token.attrs = isPlain ? [] : [["href", `${repository}/blob/main/${source}`]];
      }
      if (isPlain && token.type.startsWith("link_")) token.tag = "span";
    }
  });
}

/** The anchor of a heading as code hosts make it: the links of the pages hold there too. */
function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** The first sentence of a page below its title. */
function about(path: string): string {
  const [, text = ""] = read(path).split(/\n\n+/);
  return (
    /^[\s\S]*?[.?](?=\s|$)/
      .exec(text)?.[0]
      .replace(/\s+/g, " ")
      .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1") ?? ""
  );
}

function llms(): string {
  const lines = sidebar.flatMap(({ text = "", items = [] }) => [
    `\n## ${text}\n`,
    ...items.map(({ text: title, link = "" }) => `- [${title}](${link}.md): ${about(`${link.slice(1)}.md`)}`),
  ]);
  return `# Troupe\n\n> ${description}\n${lines.join("\n")}\n`;
}

export default defineConfig({
  title: "Troupe",
  description,
  lang: "en",
  cleanUrls: true,
  srcExclude: ["node_modules/**"],
  head: [["link", { rel: "icon", href: "/logo.svg" }]],
  markdown: {
    config: (md) => [withPlainCode, withRepository].forEach((change) => change(md)),
    theme: { light: "github-light", dark: "github-dark" },
    anchor: { slugify },
  },
  themeConfig: {
    logo: "/logo.svg",
    nav: [
      { text: "Pipelines", link: "/guides/pipelines" },
      { text: "A software company", link: "/guides/company" },
      { text: "Research", link: "/guides/experiments" },
      { text: "Reference", link: "/command" },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
    ...(repository === undefined ? {} : { socialLinks: [{ icon: "github", link: repository }] }),
  },
  /** Programs read the site too: each page as Markdown beside its HTML, and a list of them. */
  buildEnd({ pages, outDir }) {
    for (const page of pages) {
      mkdirSync(dirname(join(outDir, page)), { recursive: true });
      copyFileSync(join(docs, page), join(outDir, page));
    }
    writeFileSync(join(outDir, "llms.txt"), llms());
  },
});
