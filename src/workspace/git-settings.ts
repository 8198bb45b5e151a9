import { emailOf, personName } from "./commit-text.ts";
import type { CommitRequest } from "./workspace.ts";

/** Settings that keep a repository's or a user's configuration from running programs or asking questions. They win over every file. */
export const GIT_SETTINGS: readonly string[] = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.attributesFile=/dev/null",
  "core.quotePath=false",
  "commit.gpgSign=false",
  "gc.auto=0",
  "i18n.commitEncoding=UTF-8",
  "init.defaultBranch=main",
  "advice.detachedHead=false",
];

/** No configuration but the repository's own and ours; no questions; no network, also not for a repository that would fetch objects it lacks. */
export const BARE_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_AUTHOR_NAME: "Troupe",
  GIT_AUTHOR_EMAIL: emailOf("troupe"),
  GIT_COMMITTER_NAME: "Troupe",
  GIT_COMMITTER_EMAIL: emailOf("troupe"),
};

/** The author of a commit, and its date. */
export function personEnvironment(request: Pick<CommitRequest, "author" | "date">): Record<string, string> {
  const date = `@${Math.floor(request.date / 1000)} +0000`;
  return {
    GIT_AUTHOR_NAME: `${personName(request.author)} via Troupe`,
    GIT_AUTHOR_EMAIL: emailOf(request.author),
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_DATE: date,
  };
}
