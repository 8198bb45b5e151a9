import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { parsedJson } from "../kernel/json.ts";
import { maskSecrets } from "../kernel/mask.ts";
import { thrownText } from "../kernel/value-text.ts";
import { type Dialect, type DialectPlace, dialectShape, isFresh, type KeptLessons, type Lesson } from "../model/dialect.ts";
import { secretsIn } from "./host.ts";
import { shown } from "./screen/text.ts";
import type { Session } from "./session.ts";
import { isPrivate } from "./text-file.ts";

/** `tenant` is empty: a command has one user. */
const LessonSchema = z.strictObject({
  tenant: z.string(),
  baseURL: z.string(),
  model: z.string(),
  dialect: dialectShape,
  at: z.number(),
});
export type KeptLesson = Readonly<z.infer<typeof LessonSchema>>;

const FileSchema = z.array(LessonSchema).max(10_000);
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_LESSONS = 1_000;

type Place = { readonly path: string };

export const dialectsFile = ({ path }: Place): string => `${path}-dialects.json`;

/** A folder may come from another person, so only a file that is private to the user is read. */
export function keptDialects(session: Pick<Session, "host" | "screen">, place: Place): KeptLessons {
  const { host, screen } = session;
  const mask = maskSecrets(secretsIn(host.env));
  const isOf = (lesson: KeptLesson, { baseURL, model }: DialectPlace): boolean =>
    lesson.tenant === "" && lesson.baseURL === mask(baseURL) && lesson.model === mask(model);
  let first: readonly KeptLesson[] | undefined;
  return {
    of(at) {
      first ??= readDialects(session, place);
      return first.filter((lesson) => isOf(lesson, at));
    },
    add(at, { dialect, at: since }: Lesson) {
      // Read again: other processes learn too.
      const others = readDialects(session, place).filter((one) => !(isOf(one, at) && dialectText(one.dialect) === dialectText(dialect)));
      const lesson = { tenant: "", baseURL: mask(at.baseURL), model: mask(at.model), dialect, at: since };
      try {
        write(dialectsFile(place), [...others, lesson].slice(-MAX_LESSONS));
      } catch (error) {
        screen.warn(`A lesson about a server is not kept: ${thrownText(error)}`);
      }
    },
  };
}

/** Lessons that still hold. A damaged file is ignored with a warning, and rewritten. */
export function readDialects({ host, screen }: Pick<Session, "host" | "screen">, place: Place): readonly KeptLesson[] {
  const file = dialectsFile(place);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  try {
    if (!isPrivate(stats) || stats.size > MAX_BYTES) throw new Error("it is not a file of yours alone, or it is too large");
    const { data } = FileSchema.safeParse(parsedJson(readFileSync(file, "utf8")));
    if (data === undefined) throw new Error("it is damaged");
    return data.filter((lesson) => isFresh(lesson, host.clock.now()));
  } catch (error) {
    screen.say(screen.style.warn(`${shown(file, 300)} is ignored and rewritten: ${shown(thrownText(error), 200)}`));
    try {
      write(file, []);
    } catch {
      // The next command warns again.
    }
    return [];
  }
}

function write(file: string, lessons: readonly KeptLesson[]): void {
  const draft = `${file}-${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(draft, `${JSON.stringify(lessons, null, 1)}\n`, { flag: "wx", mode: 0o600 });
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

export function dialectText(dialect: Dialect): string {
  return Object.entries(dialect)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => `${name}=${String(one)}`))
    .join(",");
}
