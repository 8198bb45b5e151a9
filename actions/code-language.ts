/** Languages whose names are told apart, with the endings of their files and the words after a fence that name them. */
const LANGUAGES: readonly { readonly name: string; readonly endings: string; readonly words: string }[] = [
  { name: "JavaScript", endings: "js mjs cjs jsx ts mts cts tsx", words: "javascript node nodejs typescript ecmascript" },
  { name: "Python", endings: "py pyi pyw", words: "python python3 py3" },
  { name: "HTML", endings: "html htm xhtml svg xml vue svelte", words: "" },
  { name: "CSS", endings: "css scss sass less", words: "" },
  { name: "JSON", endings: "json jsonc json5", words: "" },
  { name: "YAML", endings: "yml yaml", words: "" },
  { name: "TOML", endings: "toml", words: "" },
  { name: "SQL", endings: "sql", words: "sqlite postgresql" },
  { name: "Markdown", endings: "md markdown mdx", words: "" },
  { name: "a shell", endings: "sh bash zsh ps1 bat", words: "shell console terminal shell-session powershell" },
  { name: "Rust", endings: "rs", words: "rust" },
  { name: "Go", endings: "go", words: "golang" },
  { name: "Java", endings: "java", words: "" },
  { name: "C", endings: "c h cc cpp hpp cxx", words: "c++" },
  { name: "Ruby", endings: "rb", words: "ruby" },
  { name: "PHP", endings: "php", words: "" },
];

const BY_WORD: ReadonlyMap<string, string> = new Map(
  LANGUAGES.flatMap(({ name, endings, words }) =>
    `${endings} ${words}`
      .trim()
      .split(" ")
      .map((word) => [word, name] as const),
  ),
);

/** The language of a file by its ending; undefined where it is not known. */
export function languageOfPath(path: string): string | undefined {
  const ending = /\.([A-Za-z0-9]+)$/.exec(path)?.[1];
  return ending === undefined ? undefined : BY_WORD.get(ending.toLowerCase());
}

/** The language that the text after a fence names; undefined where it names none that is known. */
export function languageOfInfo(info: string): string | undefined {
  const [word = ""] = info.toLowerCase().split(/[\s:,={]+/);
  return BY_WORD.get(word) ?? languageOfPath(word);
}

/** True for a text that shows its language: models often write a wrong tag over a page or a file of data. */
export function isInLanguage(text: string, language: string | undefined): boolean {
  if (language === "HTML") return /^\s*<[!?a-z]/i.test(text);
  return language === "JSON" && isJson(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
