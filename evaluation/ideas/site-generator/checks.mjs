const page = { path: "templates/page.html", content: "<title>{{title}}</title><main>{{{content}}}</main>\n" };
const site = { path: "site.json", content: '{"title":"My & Site","url":"https://example.org","pageSize":2}\n' };
const md = (path, front, body) => ({ path: `content/${path}`, content: `---\n${front}\n---\n${body}\n` });
const about = md("about.md", "title: About <me>", "# Who\n\nHello **you** and *me*, `a<b`.\n");
const posts = [
  md("posts/one.md", "title: One\ndate: 2026-01-01\ntags: News, Big Things", "First paragraph.\n\nSecond."),
  md("posts/two.md", "title: Two\ndate: 2026-02-01\ntags: News", "Two text."),
  md("posts/three.md", "title: Three\ndate: 2026-03-01", "Three text."),
];
const lists = {
  path: "templates/list.html",
  content: "p{{page}}/{{pages}} [{{previous}}] [{{next}}]{{#each items}} {{@index}}:{{title}}{{/each}}\n",
};
const build = { run: ["$", "build"] };
/** Builds one page and looks at it. */
const shows = (body, rule) => ({
  given: [site, page, md("index.md", "title: T", body)],
  steps: [{ ...build, files: [{ path: "public/index.html", ...rule }] }],
});

export const list = {
  size: "L",
  stack: "node",
  start: { bin: "sitegen" },
  quality: ["no packages"],
  checks: [
    {
      says: "pages get folders of their own",
      given: [site, page, about, md("index.md", "title: Home", "Hi")],
      steps: [
        {
          ...build,
          stdout: { matches: "wrote 2 pages\\s*$" },
          files: [
            { path: "public/about/index.html", contains: ["<strong>you</strong>", "<em>me</em>", "<code>a&lt;b</code>"] },
            { path: "public/index.html", contains: ["<p>Hi</p>"] },
          ],
        },
      ],
    },
    {
      says: "values are escaped",
      given: [site, page, about],
      steps: [{ ...build, files: [{ path: "public/about/index.html", contains: ["<title>About &lt;me&gt;</title>"] }] }],
    },
    {
      says: "--source and --out",
      given: [
        { ...page, path: "s/templates/page.html" },
        { path: "s/content/a.md", content: "# A\n" },
      ],
      steps: [{ run: ["$", "build", "--source", "s", "--out", "o"], files: [{ path: "o/a/index.html", contains: ["<title>A</title>"] }] }],
    },
    {
      says: "headings have ids, the second of a name another one",
      ...shows("## My Part\n\n## My Part", { contains: ['<h2 id="my-part">My Part</h2>', '<h2 id="my-part-2">My Part</h2>'] }),
    },
    {
      says: "code blocks",
      ...shows("```js\nlet a = 1 < 2;\n# no heading\n```", {
        contains: ["language-js", "let a = 1 &lt; 2;", "# no heading"],
        lacks: ["<h1"],
      }),
    },
    {
      says: "nested lists",
      ...shows("- a\n  - b\n- c\n\n1. one\n2. two", {
        matches:
          "<ul>\\s*<li>(<p>)?a(</p>)?\\s*<ul>\\s*<li>b</li>\\s*</ul>\\s*</li>\\s*<li>c</li>\\s*</ul>[\\s\\S]*<ol>\\s*<li>one</li>\\s*<li>two</li>\\s*</ol>",
      }),
    },
    {
      says: "raw HTML is text, and javascript links are none",
      ...shows("<script>x</script> [bad](javascript:alert(1)) [good](https://a.b/c)", {
        contains: ["&lt;script&gt;", '<a href="https://a.b/c">good</a>'],
        lacks: ["<script>", 'href="javascript'],
      }),
    },
    {
      says: "images, quotes and rules",
      ...shows("![a cat](cat.png)\n\n> wise\n\n---\n\nend", { contains: ['src="cat.png"', 'alt="a cat"', "<blockquote>", "<hr"] }),
    },
    {
      says: "links to Markdown files become links to pages",
      given: [site, page, about, md("index.md", "title: T", "[see](about.md)")],
      steps: [{ ...build, files: [{ path: "public/index.html", matches: 'href="(/about/|about/|\\./about/)"' }] }],
    },
    {
      says: "drafts are left out, or asked for",
      given: [site, page, md("a.md", "title: A", "a"), md("d.md", "title: D\ndraft: true", "d")],
      steps: [
        { ...build, stdout: { contains: ["wrote 1 page"] } },
        {
          run: ["$", "build", "--drafts"],
          stdout: { contains: ["wrote 2 pages"] },
          files: [{ path: "public/d/index.html", contains: ["<p>d</p>"] }],
        },
      ],
    },
    {
      says: "a named template, a partial, if, else and each",
      given: [
        site,
        page,
        {
          path: "templates/post.html",
          content: "{{> header}}{{#if date}}D{{date}}{{else}}none{{/if}}|{{#each tags}}<{{this}}>{{/each}}|{{nothing}}|{{site.title}}",
        },
        { path: "templates/header.html", content: "[H {{title}}]" },
        md("x.md", "title: X\ntemplate: post\ntags: a, b", "x"),
        md("y.md", "title: Y\ntemplate: post\ndate: 2026-01-02", "y"),
      ],
      steps: [
        {
          ...build,
          files: [
            { path: "public/x/index.html", equals: "[H X]none|<a><b>||My &amp; Site" },
            { path: "public/y/index.html", equals: "[H Y]D2026-01-02|||My &amp; Site" },
          ],
        },
      ],
    },
    {
      says: "posts are offered, the newest first, with excerpts",
      given: [
        site,
        { path: "templates/page.html", content: "{{#each posts}}{{title}}={{excerpt}}@{{url}};{{/each}}" },
        ...posts,
        md("index.md", "title: I", "i"),
      ],
      steps: [
        {
          ...build,
          files: [
            {
              path: "public/index.html",
              matches:
                "^Three=Three text\\.@\\S*/posts/three/;Two=Two text\\.@\\S*/posts/two/;One=First paragraph\\.@\\S*/posts/one/;\\s*$",
            },
          ],
        },
      ],
    },
    {
      says: "lists of posts have pages",
      given: [site, page, lists, ...posts],
      steps: [
        {
          ...build,
          files: [
            { path: "public/posts/index.html", matches: "^p1/2 \\[\\] \\[\\S*/posts/page/2/\\] 0:Three 1:Two\\s*$" },
            { path: "public/posts/page/2/index.html", matches: "^p2/2 \\[\\S*/posts/\\] \\[\\] 0:One\\s*$" },
          ],
        },
      ],
    },
    {
      says: "tags have pages",
      given: [site, page, lists, ...posts],
      steps: [
        {
          ...build,
          files: [
            { path: "public/tags/news/index.html", contains: ["0:Two 1:One"] },
            { path: "public/tags/big-things/index.html", contains: ["0:One"] },
          ],
        },
      ],
    },
    {
      says: "the feed is RSS with absolute links",
      given: [site, page, ...posts],
      steps: [
        {
          ...build,
          files: [
            { path: "public/feed.xml", contains: ["<rss", "My &amp; Site", "https://example.org/posts/three/", "<title>One</title>"] },
          ],
        },
      ],
    },
    {
      says: "the sitemap is sorted",
      given: [site, page, about, posts[0]],
      steps: [{ ...build, files: [{ path: "public/sitemap.txt", matches: "about/\\s*\\n\\S*posts/one/" }] }],
    },
    {
      says: "other files are copied",
      given: [site, page, about, { path: "static/css/a.css", content: "a{}" }, { path: "content/posts/pic.bin", base64: "AAEC/w==" }],
      steps: [
        {
          ...build,
          files: [
            { path: "public/css/a.css", equals: "a{}" },
            { path: "public/posts/pic.bin", base64: "AAEC/w==" },
          ],
        },
      ],
    },
    {
      says: "a folder of others is not emptied",
      given: [site, page, about, { path: "public/mine.txt", content: "mine" }],
      steps: [{ ...build, exit: 1, files: [{ path: "public/mine.txt", equals: "mine" }] }],
    },
    {
      says: "a folder of its own is emptied",
      given: [site, page, about, md("gone.md", "title: G", "g")],
      steps: [
        build,
        { run: ["rm", "content/gone.md"] },
        { ...build, gone: ["public/gone/index.html"], files: [{ path: "public/about/index.html" }] },
      ],
    },
    {
      says: "a wrong date is told with file and line, and nothing is written",
      given: [site, page, md("bad.md", "title: B\ndate: 2026-02-31", "b")],
      steps: [{ ...build, exit: 1, stderr: { matches: "bad\\.md:3", lacks: ["    at "] }, gone: ["public/bad/index.html"] }],
    },
    {
      says: "an unknown partial and a block without an end",
      given: [site, { path: "templates/page.html", content: "{{> nowhere}}" }, about],
      steps: [
        { ...build, exit: 1, stderr: { contains: ["nowhere"], lacks: ["    at "] } },
        { run: ["sh", "-c", "printf '{{#if title}}x' > templates/page.html"] },
        { ...build, exit: 1, stderr: { contains: ["page"], lacks: ["    at "] } },
      ],
    },
    {
      says: "check tells links that lead nowhere",
      given: [site, page, md("index.md", "title: T", "[ok](about.md) [no](/missing/) [out](https://x.y/)"), about],
      steps: [{ run: ["$", "check"], exit: 1, stdout: { matches: "index\\.md: \\S*missing", lacks: ["about", "x.y"] } }],
    },
    { says: "check of a sound site", given: [site, page, about], steps: [{ run: ["$", "check"], stdout: { equals: "" } }] },
    {
      says: "new post, and never twice",
      given: [site],
      steps: [
        {
          run: ["$", "new", "post", "My first post!"],
          stdout: { contains: ["content/posts/my-first-post.md"] },
          files: [
            {
              path: "content/posts/my-first-post.md",
              contains: ["title: My first post!", "draft: true"],
              matches: "date: \\d{4}-\\d\\d-\\d\\d",
            },
          ],
        },
        { run: ["$", "new", "post", "My first post!"], exit: 1 },
      ],
    },
    {
      says: "two pages with one address, and a wrong command",
      given: [site, page, md("a.md", "title: A", "a"), md("a/index.md", "title: B", "b")],
      steps: [
        { ...build, exit: 1, stderr: { contains: ["a.md", "a/index.md"] } },
        { run: ["$", "paint"], exit: 2 },
      ],
    },
  ],
};
