import { having, type Shape } from "../../kernel/argument.ts";

/** A journal, as those who are given one tell it from something else. */
export const aJournal: Shape = having("a journal", "create", "claim", "release", "append", "read", "runs", "remove");

/** One that is only read. */
export const aReadableJournal: Shape = having("a journal", "read", "runs");
